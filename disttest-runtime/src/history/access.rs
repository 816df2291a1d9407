//! What an operation says, in the vocabulary of the built-in operation types.
//!
//! Two families. Operations on a value that is overwritten: `read`/`get`, `write`/`put`, `delete`, and `cas` with input
//! `[from, to]` and output `true` or `false`. Operations on entries that are never overwritten: `append` (or `add`) of
//! an input, whose output may be the offset it got; `read` of `{"offset": n, "value": v}` or
//! `{"offset": n, "values": […], "end": true|false}`, or of a bare list, which is all there is, from offset 0 to the end.

use super::{Effect, Op};
use serde_json::Value;

/// What an operation does to a value that is overwritten.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Touch<'a> {
    /// It reads; the answer, if one came. A completed read that answers null saw nothing.
    Read(Option<&'a Value>),
    /// It writes this value.
    Write(&'a Value),
    /// It removes the value; whether there was one, if the answer says so.
    Delete(Option<bool>),
    /// It writes `to` if the value is `from`; whether it did, if the answer says so.
    Cas {
        /// Value it asks for.
        from: &'a Value,
        /// Value it writes.
        to: &'a Value,
        /// Its answer.
        done: Option<bool>,
    },
}

static NULL: Value = Value::Null;

impl<'a> Touch<'a> {
    /// Reads `op`; `Err` says what is not understood.
    pub fn of(op: &'a Op) -> Result<Touch<'a>, String> {
        let completed = op.effect() == Effect::Acknowledged;
        match op.op_type.as_str() {
            "read" | "get" => Ok(Touch::Read(completed.then_some(&op.output))),
            "write" | "put" => Ok(Touch::Write(&op.input)),
            "delete" => Ok(Touch::Delete(op.output.as_bool())),
            "cas" => {
                let [from, to] = op.input.as_array().map_or(&[][..], Vec::as_slice) else {
                    return Err(format!("the input of a cas is [from, to], not {}", op.input));
                };
                if !op.output.is_null() && !op.output.is_boolean() {
                    return Err(format!("a cas answers true or false, not {}", op.output));
                }
                Ok(Touch::Cas { from, to, done: op.output.as_bool() })
            }
            other => Err(format!("`{other}` is none of read/get, write/put, delete, cas")),
        }
    }

    /// The value it writes if it takes effect (null for a delete); `None` for reads and a cas that did not.
    pub fn written(&self) -> Option<&'a Value> {
        match self {
            Touch::Write(value) => Some(value),
            Touch::Cas { to, done, .. } if *done != Some(false) => Some(to),
            Touch::Delete(found) if *found != Some(false) => Some(&NULL),
            _ => None,
        }
    }

    /// True when an acknowledgement of it says that its value was written.
    pub fn surely_writes(&self) -> bool {
        match self {
            Touch::Write(_) => true,
            Touch::Delete(found) => *found != Some(false),
            Touch::Cas { done, .. } => *done == Some(true),
            Touch::Read(_) => false,
        }
    }
}

/// What an operation does to entries that are never overwritten.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entry<'a> {
    /// It appends this value; the offset it got, if the answer says so.
    Append {
        /// The value.
        value: &'a Value,
        /// The offset in the answer.
        offset: Option<u64>,
    },
    /// It reads; what it saw, if an answer came.
    Read(Option<Seen<'a>>),
}

/// What a read of entries saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen<'a> {
    /// Offset of the first value.
    pub offset: u64,
    /// Values from `offset` on.
    pub values: &'a [Value],
    /// The answer says that nothing follows. An answer without values says so too.
    pub end: bool,
}

impl<'a> Entry<'a> {
    /// Reads `op`; `Err` says what is not understood.
    pub fn of(op: &'a Op) -> Result<Entry<'a>, String> {
        match op.op_type.as_str() {
            "append" | "add" => Ok(Entry::Append { value: &op.input, offset: offset_of(op)? }),
            "read" | "read-set" if op.effect() == Effect::Acknowledged => {
                seen(&op.output).map(|seen| Entry::Read(Some(seen)))
            }
            "read" | "read-set" => Ok(Entry::Read(None)),
            other => Err(format!("`{other}` is none of append/add, read")),
        }
    }
}

/// The offset an append answers: a number, or the `offset` of an object. Anything else (`"OK"`) says nothing. An `add`
/// has no offsets.
fn offset_of(op: &Op) -> Result<Option<u64>, String> {
    if op.op_type == "add" {
        return Ok(None);
    }
    match &op.output {
        Value::Number(number) => {
            number.as_u64().map(Some).ok_or_else(|| format!("an append answers its offset, not {number}"))
        }
        Value::Object(fields) => Ok(fields.get("offset").and_then(Value::as_u64)),
        _ => Ok(None),
    }
}

fn seen(output: &Value) -> Result<Seen<'_>, String> {
    if let Value::Array(values) = output {
        return Ok(Seen { offset: 0, values, end: true });
    }
    let offset = output.get("offset").and_then(Value::as_u64);
    let values = match (output.get("value"), output.get("values")) {
        (Some(value), None) => Some(std::slice::from_ref(value)),
        (None, Some(Value::Array(values))) => Some(values.as_slice()),
        _ => None,
    };
    match (offset, values) {
        (Some(offset), Some(values)) => {
            let end = values.is_empty() || output.get("end").and_then(Value::as_bool) == Some(true);
            Ok(Seen { offset, values, end })
        }
        _ => Err(format!(
            "a read of entries answers a list, {{\"offset\", \"value\"}} or {{\"offset\", \"values\"}}, not {output}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::notation::history;

    fn touch(line: &str, expect: &str) {
        let history = history(line).expect("valid");
        assert_eq!(format!("{:?}", Touch::of(&history.ops()[0])), expect, "{line}");
    }

    fn entry(line: &str, expect: &str) {
        let history = history(line).expect("valid");
        assert_eq!(format!("{:?}", Entry::of(&history.ops()[0])), expect, "{line}");
    }

    #[test]
    fn operations_on_a_value_are_understood() {
        touch("c1 read x -> null [0..1]", "Ok(Read(Some(Null)))");
        touch("c1 get x [0..]", "Ok(Read(None))");
        touch("c1 put x 1 [0..1]", "Ok(Write(Number(1)))");
        touch("c1 delete x -> false [0..1]", "Ok(Delete(Some(false)))");
        touch("c1 cas x [1,2] [0..]", "Ok(Cas { from: Number(1), to: Number(2), done: None })");
        touch("c1 cas x 1 [0..]", "Err(\"the input of a cas is [from, to], not 1\")");
        touch("c1 swap x 1 [0..]", "Err(\"`swap` is none of read/get, write/put, delete, cas\")");
    }

    #[test]
    fn operations_on_entries_are_understood() {
        entry("c1 append x 1 -> 7 [0..1]", "Ok(Append { value: Number(1), offset: Some(7) })");
        entry("c1 append x 1 -> OK [0..1]", "Ok(Append { value: Number(1), offset: None })");
        entry("c1 add x 1 -> 1 [0..1]", "Ok(Append { value: Number(1), offset: None })");
        entry("c1 read x -> [5] [0..1]", "Ok(Read(Some(Seen { offset: 0, values: [Number(5)], end: true })))");
        entry(
            "c1 read x -> {\"offset\":3,\"value\":5} [0..1]",
            "Ok(Read(Some(Seen { offset: 3, values: [Number(5)], end: false })))",
        );
        entry(
            "c1 read x -> {\"offset\":3,\"values\":[]} [0..1]",
            "Ok(Read(Some(Seen { offset: 3, values: [], end: true })))",
        );
        entry("c1 read x [0..]", "Ok(Read(None))");
    }
}
