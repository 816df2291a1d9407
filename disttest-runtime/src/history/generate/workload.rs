//! Seeded histories of workloads that are right by construction: clients act on one atomic object.
//!
//! As in the module above each operation takes effect at one instant between its invocation and its completion, one of
//! unknown outcome at some later instant or never, a failed one never.

use super::objects::Store;
use crate::base::rng::Rng;
use crate::base::time::Nanos;
use crate::history::{History, Op};
use serde_json::{Value, json};

/// What clients act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// `add` of a new element, `read` of all.
    Set,
    /// `transfer`s between eight accounts that hold 100 together, `read` of all balances.
    Bank,
    /// `add` and `dec` of 1 to 5, `read`.
    Counter,
    /// `generate`.
    Ids,
    /// `enqueue` of a new element, `dequeue`; a `drain` at the end.
    Queue,
    /// `txn`s that write a new key, or read a group of three keys.
    Inserts,
    /// `send`s to three logs with offsets, `poll`s, and `txn`s of both; at the end a new client polls all.
    Logs,
}

impl Workload {
    /// All of them.
    pub const ALL: [Workload; 7] = [
        Workload::Set,
        Workload::Bank,
        Workload::Counter,
        Workload::Ids,
        Workload::Queue,
        Workload::Inserts,
        Workload::Logs,
    ];
}

/// How much of it.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Clients; each has one operation in flight at a time.
    pub clients: u64,
    /// Operations, final ones not counted.
    pub operations: u64,
    /// Reads (dequeues, polls), per thousand.
    pub reads: u64,
    /// Operations of unknown outcome, per thousand.
    pub unknown: u64,
    /// Operations known to have failed, per thousand.
    pub failed: u64,
}

impl Default for Size {
    fn default() -> Size {
        Size { clients: 4, operations: 100, reads: 400, unknown: 0, failed: 20 }
    }
}

/// A history of `workload` that is right. Equal seeds give equal histories.
pub fn workload(workload: Workload, size: Size, seed: u64) -> History {
    let mut world = World {
        workload,
        size,
        rng: Rng::stream(seed, "workload"),
        next: 0,
        calls: Vec::with_capacity(size.operations as usize),
    };
    world.run();
    world.finish();
    world.answer()
}

/// An operation takes about this long.
const STEP: u64 = 1000;

/// An operation to be, and the instant of its effect.
struct Call {
    op: Op,
    instant: Option<u64>,
}

struct World {
    workload: Workload,
    size: Size,
    rng: Rng,
    next: u64,
    calls: Vec<Call>,
}

impl World {
    fn run(&mut self) {
        let clients = self.size.clients.max(1);
        let mut free: Vec<(u64, u64)> = (0..clients).map(|client| (self.rng.below(STEP), client)).collect();
        let mut next_process = clients;
        for _ in 0..self.size.operations {
            let client = (0..free.len()).min_by_key(|client| free[*client]).unwrap_or(0);
            let (at, process) = free[client];
            let (op_type, input) = self.choose();
            let end = at + 1 + self.rng.below(STEP);
            let fate = self.rng.below(1000);
            let (mut complete, mut error, mut instant) = (Some(end), None, Some(at + self.rng.below(end - at + 1)));
            if fate < self.size.unknown {
                complete = None;
                // A process whose operation hangs is replaced.
                free[client].1 = next_process;
                next_process += 1;
                let reach = if self.rng.chance(1, 4) { 20 * STEP } else { STEP };
                instant = self.rng.chance(1, 2).then(|| at + self.rng.below(reach));
            } else if fate < self.size.unknown + self.size.failed {
                error = Some("refused".to_owned());
                instant = None;
            }
            self.call(process, (at, complete), op_type, input, error, instant);
            free[client].0 = end + 1 + self.rng.below(STEP / 4);
        }
    }

    /// After everything, what shows the final state.
    fn finish(&mut self) {
        let quiet = self.calls.iter().map(|call| call.op.invoke_ts.0).max().unwrap_or(0) + 30 * STEP;
        let (op_type, input, process) = match self.workload {
            Workload::Ids | Workload::Inserts => return,
            Workload::Queue => ("drain", Value::Null, 0),
            Workload::Logs => ("poll", json!([["poll"]]), u64::MAX),
            _ => ("read", Value::Null, 0),
        };
        self.call(process, (quiet, Some(quiet + STEP)), op_type, input, None, Some(quiet + STEP / 2));
    }

    fn choose(&mut self) -> (&'static str, Value) {
        let read = self.rng.below(1000) < self.size.reads;
        match (self.workload, read) {
            (Workload::Set | Workload::Bank | Workload::Counter, true) => ("read", Value::Null),
            (Workload::Set, false) => ("add", self.new_value()),
            (Workload::Bank, false) => {
                let (from, to) = (self.rng.below(8), self.rng.below(8));
                ("transfer", json!({"from": from, "to": to, "amount": 1 + self.rng.below(5)}))
            }
            (Workload::Counter, false) => {
                let amount = json!(1 + self.rng.below(5));
                (if self.rng.chance(1, 5) { "dec" } else { "add" }, amount)
            }
            (Workload::Ids, _) => ("generate", Value::Null),
            (Workload::Queue, true) => ("dequeue", Value::Null),
            (Workload::Queue, false) => ("enqueue", self.new_value()),
            (Workload::Inserts, false) => ("txn", json!([["w", self.new_value(), 1]])),
            (Workload::Inserts, true) => {
                let group = self.rng.below(self.next / 3 + 1).max((self.next / 3).saturating_sub(2));
                let mut keys: Vec<u64> = (1..4).map(|key| 3 * group + key).collect();
                self.rng.shuffle(&mut keys);
                ("txn", Value::Array(keys.into_iter().map(|key| json!(["r", key, null])).collect()))
            }
            (Workload::Logs, read) => self.choose_log(read),
        }
    }

    fn choose_log(&mut self, read: bool) -> (&'static str, Value) {
        let mut micros = Vec::new();
        let both = self.rng.chance(1, 5);
        if read || both {
            micros.push(json!(["poll"]));
        }
        if !read || both {
            for _ in 0..1 + self.rng.below(3) {
                micros.push(json!(["send", self.rng.below(3), self.new_value()]));
            }
        }
        let op_type = match (both, read) {
            (true, _) => "txn",
            (false, true) => "poll",
            (false, false) => "send",
        };
        (op_type, Value::Array(micros))
    }

    fn new_value(&mut self) -> Value {
        self.next += 1;
        json!(self.next)
    }

    fn call(
        &mut self,
        process: u64,
        (invoke, complete): (u64, Option<u64>),
        op_type: &str,
        input: Value,
        error: Option<String>,
        instant: Option<u64>,
    ) {
        let op = Op {
            op_id: self.calls.len() as u64,
            process_id: process,
            invoke_ts: Nanos(invoke),
            complete_ts: complete.map(Nanos),
            op_type: op_type.to_owned(),
            key: None,
            input,
            output: Value::Null,
            error,
            timeout_marker: complete.is_none(),
            node_seen: Some(format!("n{}", 1 + process % 3)),
            fault_epoch: None,
        };
        self.calls.push(Call { op, instant });
    }

    /// Lets all effects happen in the order of their instants, and answers.
    fn answer(mut self) -> History {
        let mut order: Vec<(u64, usize)> =
            self.calls.iter().enumerate().filter_map(|(at, call)| Some((call.instant?, at))).collect();
        order.sort_unstable();
        let mut store = Store::new(self.workload);
        for (_, at) in order {
            let op = &mut self.calls[at].op;
            match store.act(op, &mut self.rng) {
                Ok(output) if !op.timeout_marker => op.output = output,
                Err(refused) if !op.timeout_marker => op.error = Some(refused.to_owned()),
                _ => {}
            }
        }
        History::new(self.calls.into_iter().map(|call| call.op).collect()).expect("generated operations are valid")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_histories() {
        for kind in Workload::ALL {
            let size = Size { unknown: 50, ..Size::default() };
            assert_eq!(workload(kind, size, 7), workload(kind, size, 7));
            assert_ne!(workload(kind, size, 7), workload(kind, size, 8));
            assert!(workload(kind, size, 7).ops().len() >= 100);
        }
    }
}
