//! Seeded histories that are linearizable by construction: clients act on one atomic object per key.
//!
//! For tests of checkers and of harnesses. Each operation takes effect at one instant between its invocation and its
//! completion; an operation whose outcome is unknown takes effect at some later instant, or never; a failed one never.

mod faults;
mod objects;
mod workload;

pub use faults::{Fault, plant};
pub use workload::{Size, Workload, workload};

use super::{History, Op};
use crate::base::rng::Rng;
use crate::base::time::Nanos;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The object that clients act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// `read`, `write`.
    Register,
    /// `read`, `write`, `cas`.
    CasRegister,
    /// `get`, `put`, `delete`.
    Map,
    /// `append`, `read` of one entry, of a range, or of the end.
    Log,
}

/// What to generate.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The object.
    pub object: Object,
    /// Clients; each has one operation in flight at a time.
    pub clients: u64,
    /// Keys.
    pub keys: u64,
    /// Operations, final reads not counted.
    pub operations: u64,
    /// Operations of unknown outcome, per thousand.
    pub unknown: u64,
    /// Operations known to have failed, per thousand.
    pub failed: u64,
    /// `None`: each value is written once. `Some(n)`: values are drawn from `0..n`.
    pub values: Option<u64>,
    /// At the end, after everything completed, each client reads each key.
    pub final_reads: bool,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape {
            object: Object::Register,
            clients: 4,
            keys: 1,
            operations: 100,
            unknown: 10,
            failed: 10,
            values: None,
            final_reads: true,
        }
    }
}

/// A linearizable history of `shape`. Equal seeds give equal histories.
pub fn history(shape: Shape, seed: u64) -> History {
    let mut world = World::new(shape, seed);
    for _ in 0..shape.operations {
        world.invoke();
    }
    if shape.final_reads {
        world.read_everything();
    }
    world.apply();
    History::new(world.ops).expect("generated operations are valid")
}

/// An operation takes about this long.
const STEP: u64 = 1000;

struct World {
    shape: Shape,
    rng: Rng,
    /// When each client is free again, and under which process id it goes on.
    clients: Vec<(u64, u64)>,
    next_process: u64,
    next_value: u64,
    ops: Vec<Op>,
    /// (instant of effect, index), for operations that take effect.
    effects: Vec<(u64, usize)>,
    /// Index of the first final read.
    finals: usize,
}

impl World {
    fn new(shape: Shape, seed: u64) -> World {
        let mut rng = Rng::stream(seed, "history");
        let clients = (0..shape.clients.max(1)).map(|client| (rng.below(STEP), client)).collect();
        let next_process = shape.clients.max(1);
        World {
            shape,
            rng,
            clients,
            next_process,
            next_value: 0,
            ops: Vec::new(),
            effects: Vec::new(),
            finals: usize::MAX,
        }
    }

    /// The client that is free first invokes an operation.
    fn invoke(&mut self) {
        let client = (0..self.clients.len()).min_by_key(|client| self.clients[*client]).unwrap_or(0);
        let (at, process) = self.clients[client];
        let (op_type, input) = self.choose();
        let key = format!("k{}", self.rng.below(self.shape.keys.max(1)));
        let end = at + 1 + self.rng.below(STEP);
        let fate = self.rng.below(1000);
        let unknown = fate < self.shape.unknown;
        let failed = !unknown && fate < self.shape.unknown + self.shape.failed;
        self.push(process, (at, (!unknown).then_some(end)), op_type, key, input);
        let index = self.ops.len() - 1;
        if unknown {
            // A process whose operation hangs is replaced, as a client that gave up its session.
            self.ops[index].error = self.rng.chance(1, 2).then(|| "timeout".to_owned());
            self.next_process += 1;
            self.clients[client].1 = self.next_process;
            if self.rng.chance(1, 2) {
                let reach = if self.rng.chance(1, 4) { 20 * STEP } else { STEP };
                let instant = at + self.rng.below(reach);
                self.effects.push((instant, index));
            }
        } else if failed {
            self.ops[index].error = Some("refused".to_owned());
        } else {
            let instant = at + self.rng.below(end - at + 1);
            self.effects.push((instant, index));
        }
        self.clients[client].0 = end + 1 + self.rng.below(STEP / 4);
    }

    fn choose(&mut self) -> (&'static str, Value) {
        let kinds: &[&'static str] = match self.shape.object {
            Object::Register => &["read", "write"],
            Object::CasRegister => &["read", "write", "cas"],
            Object::Map => &["get", "put", "get", "put", "delete"],
            Object::Log => &["read", "append"],
        };
        let kind = self.rng.pick(kinds).copied().unwrap_or("read");
        let input = match kind {
            "write" | "put" | "append" => self.value(),
            "cas" => json!([self.old_value(), self.value()]),
            _ => Value::Null,
        };
        (kind, input)
    }

    fn value(&mut self) -> Value {
        match self.shape.values {
            Some(few) => json!(self.rng.below(few.max(1))),
            None => {
                self.next_value += 1;
                json!(self.next_value)
            }
        }
    }

    fn old_value(&mut self) -> Value {
        match self.shape.values {
            Some(few) => json!(self.rng.below(few.max(1))),
            None => json!(self.next_value.saturating_sub(self.rng.below(4))),
        }
    }

    fn push(&mut self, process: u64, span: (u64, Option<u64>), op_type: &str, key: String, input: Value) {
        self.ops.push(Op {
            op_id: self.ops.len() as u64,
            process_id: process,
            invoke_ts: Nanos(span.0),
            complete_ts: span.1.map(Nanos),
            op_type: op_type.to_owned(),
            key: Some(key),
            input,
            output: Value::Null,
            error: None,
            timeout_marker: span.1.is_none(),
            node_seen: Some(format!("n{}", 1 + process % 3)),
            fault_epoch: None,
        });
    }

    fn read_everything(&mut self) {
        let quiet = self.clients.iter().map(|(free, _)| *free).max().unwrap_or(0) + STEP;
        let op_type = if self.shape.object == Object::Map { "get" } else { "read" };
        self.finals = self.ops.len();
        for client in 0..self.clients.len() {
            for key in 0..self.shape.keys.max(1) {
                let at = quiet + key * 2 * STEP + self.rng.below(STEP);
                let end = at + 1 + self.rng.below(STEP / 2);
                self.push(self.clients[client].1, (at, Some(end)), op_type, format!("k{key}"), Value::Null);
                self.effects.push((at + self.rng.below(end - at + 1), self.ops.len() - 1));
            }
        }
    }

    /// Lets all effects happen in the order of their instants, and answers.
    fn apply(&mut self) {
        let mut effects = std::mem::take(&mut self.effects);
        effects.sort_unstable();
        let mut objects: BTreeMap<String, Atomic> = BTreeMap::new();
        for (_, index) in effects {
            // A final read of a log reads all of it.
            let how = if index >= self.finals { (2, 0) } else { (self.rng.below(3), self.rng.next_u64()) };
            let op = &mut self.ops[index];
            let object = objects.entry(op.key.clone().unwrap_or_default()).or_default();
            let output = object.act(&op.op_type, &op.input, self.shape.object == Object::Log, how);
            if !op.timeout_marker {
                op.output = output;
            }
        }
    }
}

/// The object behind one key.
#[derive(Default)]
struct Atomic {
    value: Value,
    entries: Vec<Value>,
}

impl Atomic {
    fn act(&mut self, op_type: &str, input: &Value, log: bool, (how, from): (u64, u64)) -> Value {
        match op_type {
            "read" if log => self.read_entries(how, from),
            "read" | "get" => self.value.clone(),
            "write" | "put" => {
                self.value = input.clone();
                Value::Null
            }
            "delete" => json!(!std::mem::take(&mut self.value).is_null()),
            "cas" => {
                let done = self.value == input[0];
                if done {
                    self.value = input[1].clone();
                }
                json!(done)
            }
            _ => {
                self.entries.push(input.clone());
                json!(self.entries.len() - 1)
            }
        }
    }

    fn read_entries(&self, how: u64, from: u64) -> Value {
        let length = self.entries.len() as u64;
        match how {
            0 if length > 0 => {
                let offset = from % length;
                json!({"offset": offset, "value": self.entries[offset as usize]})
            }
            1 => json!({"offset": length, "values": []}),
            _ => {
                let offset = from % (length + 1);
                json!({"offset": offset, "values": self.entries[offset as usize..], "end": true})
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_histories_of_the_asked_size() {
        for object in [Object::Register, Object::CasRegister, Object::Map, Object::Log] {
            let shape = Shape { object, clients: 3, keys: 2, ..Shape::default() };
            assert_eq!(history(shape, 7), history(shape, 7));
            assert_ne!(history(shape, 7), history(shape, 8));
            assert_eq!(history(shape, 7).ops().len(), 106);
        }
    }
}
