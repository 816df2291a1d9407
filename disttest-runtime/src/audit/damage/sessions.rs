//! Damage to what a session reads.

use super::{Edit, read_at};
use crate::base::rng::Rng;
use crate::history::access::Touch;
use crate::history::{Effect, History, Op};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// A read shows what its session had seen replaced: of three reads, one after another, the last shows what the first did.
pub(super) fn read_back(history: &History, seed: u64) -> Option<Edit> {
    let mut rng = Rng::stream(seed, "read-went-back");
    let ops = history.ops();
    let mut sessions: BTreeMap<(u64, Option<&str>), Vec<usize>> = BTreeMap::new();
    let mut writers: HashMap<(Option<&str>, &Value), (u32, usize)> = HashMap::new();
    for (at, op) in ops.iter().enumerate().filter(|(_, op)| op.effect() != Effect::Failed) {
        if let Some(value) = Touch::of(op).ok().and_then(|touch| touch.written()) {
            let writer = writers.entry((op.key.as_deref(), value)).or_insert((0, at));
            writer.0 += 1;
        }
        let reads = matches!(op.op_type.as_str(), "read" | "get" | "read-set" | "poll" | "consume" | "scan");
        if reads && op.effect() == Effect::Acknowledged && !op.output.is_null() {
            sessions.entry((op.process_id, op.key.as_deref())).or_default().push(at);
        }
    }
    let mut places = Vec::new();
    for reads in sessions.values() {
        for three in reads.windows(3) {
            let [first, second, third] = [three[0], three[1], three[2]].map(|at| &ops[at]);
            let apart = first.complete_ts < Some(second.invoke_ts) && second.complete_ts < Some(third.invoke_ts);
            let writer =
                |op: &Op| writers.get(&(op.key.as_deref(), &op.output)).copied().filter(|writer| writer.0 == 1);
            let newer = match (writer(first), writer(second)) {
                (Some((_, old)), Some((_, new))) => {
                    let acknowledged = ops[old].effect() == Effect::Acknowledged;
                    acknowledged && ops[old].complete_ts < Some(ops[new].invoke_ts)
                }
                (None, None) => differs_everywhere(&first.output, &second.output),
                _ => false,
            };
            if apart && newer {
                places.push((three[0], three[2]));
            }
        }
    }
    let (first, third) = *rng.pick(&places)?;
    let detail = format!(
        "{} shows {} again instead of {}, though its session had seen something newer in between",
        read_at(&ops[third]),
        ops[first].output,
        ops[third].output
    );
    Some(Edit { changes: vec![(third, ops[first].output.clone())], detail })
}

/// Whatever part of an answer is its version, these two have different ones.
fn differs_everywhere(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| differs_everywhere(a, b)))
        }
        (Value::Array(_), Value::Array(_)) => false,
        (a, b) => a != b,
    }
}
