//! Operations and values whose memory is asked for a block ahead.
//!
//! The names and values of a history lie scattered over memory. Who looks at one operation after the other waits for each
//! of them; asked for a block at a time they arrive together, which takes a fraction of that time.

use crate::history::Op;
use serde_json::Value;
use std::borrow::Borrow;
use std::hint::black_box;

/// Operations, or values, asked for at once: few enough to stay near until they are looked at.
const BLOCK: usize = 32;

/// What of an operation is going to be looked at, beside its own fields: type and key always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    /// Nothing else.
    Names,
    /// Its input.
    Inputs,
    /// Its output.
    Outputs,
}

/// `ops`, one after the other.
pub(super) fn ahead<T: Borrow<Op>>(ops: &[T], parts: Parts) -> impl Iterator<Item = &T> {
    ops.chunks(BLOCK).flat_map(move |block| {
        fetch(block, parts);
        block
    })
}

/// `values`, one after the other, with what is in them.
pub(super) fn ahead_within(values: &[Value]) -> impl Iterator<Item = &Value> {
    values.chunks(BLOCK).flat_map(|block| {
        fetch_values(|| block.iter());
        block
    })
}

/// What values point to first, and then what that points to: what can be asked for at once is asked for at once.
fn fetch_values<'v, I: Iterator<Item = &'v Value>>(values: impl Fn() -> I) {
    black_box(values().map(outside).sum::<usize>());
    black_box(values().map(inside).sum::<usize>());
}

fn fetch<T: Borrow<Op>>(block: &[T], parts: Parts) {
    let ops = || block.iter().map(T::borrow);
    black_box(ops().map(names).sum::<usize>());
    match parts {
        Parts::Names => {}
        Parts::Inputs => fetch_values(|| ops().map(|op| &op.input)),
        Parts::Outputs => fetch_values(|| ops().map(|op| &op.output)),
    }
}

fn names(op: &Op) -> usize {
    byte(&op.op_type) + op.key.as_deref().map_or(0, byte)
}

fn byte(text: &str) -> usize {
    text.as_bytes().first().copied().map_or(0, usize::from)
}

/// The first thing that a value points to.
fn outside(value: &Value) -> usize {
    match value {
        Value::String(text) => byte(text),
        Value::Object(fields) => fields.iter().next().map_or(0, |(name, _)| name.len()),
        Value::Array(values) => values.first().map_or(0, |value| usize::from(value.is_null())),
        _ => 0,
    }
}

/// What a small object holds: names and texts.
fn inside(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.iter().take(BLOCK).map(|(name, value)| byte(name) + outside(value)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::notation::history;
    use serde_json::json;

    #[test]
    fn every_operation_comes_once_and_in_order() {
        for count in [0, 1, 31, 32, 33, 100] {
            let line = |at: usize| format!("c1 write x {{\"a\":[{at}],\"b\":\"t\"}} [{at}..{at}]\n");
            let history = history(&(0..count).map(line).collect::<String>()).expect("valid");
            for parts in [Parts::Names, Parts::Inputs, Parts::Outputs] {
                let got: Vec<u64> = ahead(history.ops(), parts).map(|op| op.invoke_ts.0).collect();
                assert_eq!(got, (0..count as u64).collect::<Vec<u64>>());
            }
        }
    }

    #[test]
    fn every_value_comes_once_and_in_order() {
        let values: Vec<Value> = (0..70).map(|at| json!({"at": at, "text": "t", "none": null})).collect();
        assert!(ahead_within(&values).eq(&values));
    }
}
