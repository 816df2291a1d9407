//! Histories of one atomic object that the library generates none of.

use disttest_runtime::base::rng::Rng;
use disttest_runtime::base::time::Nanos;
use disttest_runtime::history::{History, Op};
use serde_json::{Value, json};
use std::collections::{BTreeSet, VecDeque};

/// The object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// `enqueue` of a new value, `dequeue`.
    Queue,
    /// `push` of a new value, `pop`.
    Stack,
    /// `add` of a new element, `contains`.
    Set,
}

#[derive(Default)]
struct Object {
    held: VecDeque<Value>,
    elements: BTreeSet<u64>,
}

/// `operations` of `clients`, each at an instant between its invocation and its completion; `unknown` in a thousand of
/// unknown outcome, of which half take effect.
pub(crate) fn atomic(clients: u64, operations: u64, unknown: u64, act: Act) -> History {
    let mut rng = Rng::stream(operations, "atomic");
    let mut free: Vec<(u64, u64)> = (0..clients).map(|client| (rng.below(100), client)).collect();
    let (mut ops, mut moments): (Vec<Op>, Vec<(u64, usize)>) = (Vec::new(), Vec::new());
    for op_id in 0..operations {
        let client = (0..free.len()).min_by_key(|client| free[*client]).unwrap_or(0);
        let (from, process_id) = free[client];
        let by = from + 1 + rng.below(100);
        let lost = rng.chance(unknown, 1000);
        free[client] = (by + 1 + rng.below(10), if lost { clients + op_id } else { process_id });
        if !lost || rng.chance(1, 2) {
            moments.push((from + rng.below(by - from + 1), op_id as usize));
        }
        let (op_type, input) = choose(act, op_id, rng.chance(1, 2), &mut rng);
        ops.push(Op {
            op_id,
            process_id,
            invoke_ts: Nanos(from),
            complete_ts: (!lost).then_some(Nanos(by)),
            op_type: op_type.to_owned(),
            key: None,
            input,
            output: Value::Null,
            error: None,
            timeout_marker: lost,
            node_seen: None,
            fault_epoch: None,
        });
    }
    moments.sort_unstable();
    let mut object = Object::default();
    for (_, at) in moments {
        let answer = object.perform(&ops[at].op_type, &ops[at].input);
        if !ops[at].timeout_marker {
            ops[at].output = answer;
        }
    }
    History::new(ops).expect("a history")
}

fn choose(act: Act, id: u64, first: bool, rng: &mut Rng) -> (&'static str, Value) {
    match (act, first) {
        (Act::Queue, true) => ("enqueue", json!(id)),
        (Act::Queue, false) => ("dequeue", Value::Null),
        (Act::Stack, true) => ("push", json!(id)),
        (Act::Stack, false) => ("pop", Value::Null),
        (Act::Set, true) => ("add", json!(id)),
        (Act::Set, false) => ("contains", json!(rng.below(id + 1))),
    }
}

impl Object {
    fn perform(&mut self, op_type: &str, input: &Value) -> Value {
        let number = input.as_u64().unwrap_or(0);
        match op_type {
            "enqueue" | "push" => self.held.push_back(input.clone()),
            "dequeue" => return self.held.pop_front().unwrap_or_default(),
            "pop" => return self.held.pop_back().unwrap_or_default(),
            "add" => return json!(self.elements.insert(number)),
            _ => return json!(self.elements.contains(&number)),
        }
        Value::Null
    }
}
