//! `[k v]` as value `v` of key `k`.

use super::super::keys::Keys;
use super::super::{Problem, Raw, Tuples};
use disttest_runtime::history::{Effect, Op};
use serde_json::Value;

/// Takes the values apart, if they are to be.
pub(super) fn keys(raw: &mut Raw, tuples: Tuples) -> Result<(), Problem> {
    match tuples {
        Tuples::Never => return Ok(()),
        Tuples::Detect if !looks_independent(&raw.ops) => return Ok(()),
        Tuples::Detect | Tuples::Always => {}
    }
    let mut keys = Keys::default();
    for (op, line) in raw.ops.iter_mut().zip(&raw.lines) {
        split(op, &mut keys, *line)?;
    }
    if tuples == Tuples::Detect {
        raw.assumed.push("every value is a pair `[key value]`, taken apart (--whole leaves them)".to_owned());
    }
    Ok(())
}

/// Every value is a pair, and the invocation of every read says only the key.
fn looks_independent(ops: &[Op]) -> bool {
    let reads = ops.iter().filter(|op| is_read(op));
    reads.clone().next().is_some()
        && ops.iter().all(|op| {
            let pair = pair(&op.input);
            match pair {
                Some((_, value)) if is_read(op) => value.is_null(),
                Some((_, value)) if op.op_type == "cas" => value.as_array().is_some_and(|ends| ends.len() == 2),
                Some(_) => op.op_type != "txn",
                None => false,
            }
        })
        && ops
            .iter()
            .filter(|op| op.effect() == Effect::Acknowledged && is_read(op))
            .all(|op| pair(&op.output).is_some())
}

fn is_read(op: &Op) -> bool {
    matches!(op.op_type.as_str(), "read" | "get" | "dequeue")
}

/// `[k v]` with a key that can be one.
fn pair(value: &Value) -> Option<(&Value, &Value)> {
    match value.as_array().map(Vec::as_slice) {
        Some([key @ (Value::Number(_) | Value::String(_)), value]) => Some((key, value)),
        _ => None,
    }
}

fn split(op: &mut Op, keys: &mut Keys, line: usize) -> Result<(), Problem> {
    let refuse = |what: &str, value: &Value| {
        Problem::at(line, format!("per key, the value of an operation is `[key value]`; the {what} is {value}"))
    };
    let (key, input) = pair(&op.input).ok_or_else(|| refuse("invocation's", &op.input))?;
    if op.op_type == "cas" && input.as_array().is_none_or(|ends| ends.len() != 2) {
        return Err(refuse("cas'", &op.input));
    }
    if op.effect() == Effect::Acknowledged && !op.output.is_null() && op.output != true {
        let (answered, output) = pair(&op.output).ok_or_else(|| refuse("completion's", &op.output))?;
        if answered != key {
            return Err(Problem::at(line, format!("asks for the key {key}, and the answer is of the key {answered}")));
        }
        op.output = output.clone();
    }
    op.key = keys.text(key, line)?;
    op.input = input.clone();
    Ok(())
}
