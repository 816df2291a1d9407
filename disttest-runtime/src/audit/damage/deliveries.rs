//! Damage to what consumers of queues and logs see.

use super::values::fresh;
use super::{Edit, read_at};
use crate::base::rng::Rng;
use crate::history::{Effect, History, Op};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn produces(op: &Op) -> bool {
    matches!(op.op_type.as_str(), "enqueue" | "append" | "produce" | "publish" | "send")
}

fn consumes(op: &Op) -> bool {
    let consumes = matches!(op.op_type.as_str(), "dequeue" | "read" | "consume" | "poll" | "receive");
    consumes && op.effect() == Effect::Acknowledged && !op.output.is_null()
}

/// A consumer sees an element that nobody produced.
pub(super) fn phantom(history: &History, seed: u64) -> Option<Edit> {
    let mut rng = Rng::stream(seed, "phantom-delivery");
    let ops = history.ops();
    let sample = ops.iter().find(|op| produces(op)).map(|op| &op.input)?;
    let places: Vec<usize> = (0..ops.len()).filter(|at| consumes(&ops[*at])).collect();
    let read = *rng.pick(&places)?;
    let value = fresh(history, sample, &mut rng);
    let with = |values: &[Value]| {
        let mut values = values.to_vec();
        match rng.clone().below(values.len().max(1) as u64) as usize {
            at if at < values.len() => values[at] = value.clone(),
            _ => values.push(value.clone()),
        }
        json!(values)
    };
    let mut output = ops[read].output.clone();
    let dequeues = ops[read].op_type == "dequeue";
    match &mut output {
        Value::Object(fields) if fields.contains_key("offset") => match fields.get_mut("values") {
            Some(Value::Array(values)) => {
                let values = with(values);
                fields.insert("values".to_owned(), values);
            }
            _ => drop(fields.insert("value".to_owned(), value.clone())),
        },
        Value::Array(values) if !dequeues => output = with(values),
        _ => output = value.clone(),
    }
    let detail = format!("{} shows {value}, which nobody produced", read_at(&ops[read]));
    Some(Edit { changes: vec![(read, output)], detail })
}

/// What a consumer took first from a queue comes last, behind everything else that it took.
pub(super) fn reorder(history: &History, seed: u64) -> Option<Edit> {
    let mut rng = Rng::stream(seed, "reordered-delivery");
    let ops = history.ops();
    let mut made: BTreeMap<(Option<&str>, String), Option<usize>> = BTreeMap::new();
    let mut consumers: BTreeMap<(u64, Option<&str>), Vec<usize>> = BTreeMap::new();
    for (at, op) in ops.iter().enumerate().filter(|(_, op)| op.effect() != Effect::Failed) {
        let key = op.key.as_deref();
        if produces(op) {
            // A value that was produced twice has no place.
            made.entry((key, op.input.to_string())).and_modify(|held| *held = None).or_insert(Some(at));
        } else if op.op_type == "dequeue" && consumes(op) {
            consumers.entry((op.process_id, key)).or_default().push(at);
        }
    }
    let maker = |take: usize| made.get(&(ops[take].key.as_deref(), ops[take].output.to_string())).copied().flatten();
    let mut best: Vec<&Vec<usize>> = Vec::new();
    for takes in consumers.values() {
        let apart = takes.windows(2).all(|two| ops[two[0]].complete_ts < Some(ops[two[1]].invoke_ts));
        let first = takes.first().and_then(|take| maker(*take)).filter(|at| ops[*at].effect() == Effect::Acknowledged);
        let later = |take: &usize| {
            let end = first.and_then(|first| ops[first].complete_ts);
            end.is_some() && maker(*take).is_some_and(|at| end < Some(ops[at].invoke_ts))
        };
        if takes.len() < 2 || !apart || !takes[1..].iter().all(later) {
            continue;
        }
        // The longest ones: the first element is overtaken by the most.
        let longest = best.first().map_or(0, |takes| takes.len());
        if takes.len() > longest {
            best.clear();
        }
        if takes.len() >= longest {
            best.push(takes);
        }
    }
    let takes = *rng.pick(&best)?;
    let next = takes.iter().cycle().skip(1);
    let changes = takes.iter().zip(next).map(|(at, next)| (*at, ops[*next].output.clone())).collect();
    let detail = format!(
        "client {} takes {} last instead of first, behind {} later elements",
        ops[takes[0]].process_id,
        ops[takes[0]].output,
        takes.len() - 1
    );
    Some(Edit { changes, detail })
}
