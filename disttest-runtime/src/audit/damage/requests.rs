//! Damage to effects of requests.

use super::{Edit, read_at};
use crate::base::rng::Rng;
use crate::history::{Effect, History, Op};
use serde_json::{Value, json};

fn is_read(op: &Op) -> bool {
    matches!(op.op_type.as_str(), "read" | "get" | "balance" | "read-set" | "dump")
}

/// A read shows an effect twice: an entry stands twice, or a sum is larger than all requests together come to.
pub(super) fn twice(history: &History, seed: u64) -> Option<Edit> {
    let mut rng = Rng::stream(seed, "duplicated-effect");
    let ops = history.ops();
    let shows = |op: &Op| entries(&op.output).is_some_and(|list| !list.is_empty()) || op.output.is_i64();
    let reads = (0..ops.len()).filter(|at| is_read(&ops[*at]) && ops[*at].effect() == Effect::Acknowledged);
    let mut reads: Vec<usize> = reads.filter(|at| shows(&ops[*at])).collect();
    // Late reads show the most.
    reads.drain(..reads.len() - reads.len().min(8));
    let read = *rng.pick(&reads)?;
    let op = &ops[read];
    let mut output = op.output.clone();
    let detail = match &mut output {
        Value::Number(_) => {
            let tries = ops.iter().filter(|op| !is_read(op) && op.effect() != Effect::Failed);
            let all = tries.map(|op| 1 + amounts(&op.input)).fold(1_i64, i64::saturating_add);
            let more = op.output.as_i64()?.checked_add(all)?;
            output = json!(more);
            format!("{} shows {more} instead of {}", read_at(op), op.output)
        }
        _ => {
            let list = entries_mut(&mut output)?;
            let entry = rng.pick(list)?.clone();
            let detail = format!("{} shows {entry} once more", read_at(op));
            list.push(entry);
            detail
        }
    };
    Some(Edit { changes: vec![(read, output)], detail })
}

/// The list of a read's answer: the answer itself, or the one list in it.
fn entries(output: &Value) -> Option<&Vec<Value>> {
    match output {
        Value::Array(list) => Some(list),
        Value::Object(fields) => {
            let mut lists = fields.values().filter_map(Value::as_array);
            lists.next().filter(|_| lists.next().is_none())
        }
        _ => None,
    }
}

fn entries_mut(output: &mut Value) -> Option<&mut Vec<Value>> {
    match output {
        Value::Array(list) => Some(list),
        Value::Object(fields) => fields.values_mut().find_map(Value::as_array_mut),
        _ => None,
    }
}

/// What the numbers in an input come to at most.
fn amounts(input: &Value) -> i64 {
    match input {
        Value::Number(number) => number.as_i64().map_or(0, i64::saturating_abs),
        Value::Array(list) => list.iter().map(amounts).fold(0, i64::saturating_add),
        Value::Object(fields) => fields.values().map(amounts).fold(0, i64::saturating_add),
        _ => 0,
    }
}
