//! One operation a line, for tests and for witnesses: `c1 write x 1 [0..5]`.
//!
//! ```text
//! [#ID] cCLIENT OP_TYPE KEY [INPUT] [-> OUTPUT] [!ERROR] [FROM..TO] [@NODE] [^EPOCH]
//! ```
//!
//! `KEY` is `-` for none; `INPUT` and `OUTPUT` are JSON, or else bare words; `ERROR` is words up to the interval. An
//! interval without `TO` is an operation whose outcome is unknown. Without `#ID` lines are numbered from 0. Empty lines
//! and lines that begin with `//` are skipped.

use super::{Effect, History, HistoryError, Op};
use crate::base::time::Nanos;
use serde_json::Value;

/// Reads a history in the notation of this module.
pub fn history(text: &str) -> Result<History, HistoryError> {
    let mut ops = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with("//") {
            continue;
        }
        let op = op(line, ops.len() as u64)
            .ok_or_else(|| HistoryError::at_line("notation", index + 1, None, format!("cannot read `{line}`")))?;
        ops.push(op);
    }
    History::new(ops)
}

fn op(line: &str, number: u64) -> Option<Op> {
    let (head, tail) = line.rsplit_once('[')?;
    let (interval, marks) = tail.split_once(']')?;
    let (from, to) = interval.split_once("..")?;
    let complete_ts = if to.trim().is_empty() { None } else { Some(Nanos(to.trim().parse().ok()?)) };
    let (head, error) = split_at_mark(head, "!");
    let (head, output) = split_at_mark(head, "->");
    let (op_id, head) = match head.strip_prefix('#') {
        Some(rest) => {
            let (id, rest) = rest.split_once(' ')?;
            (id.parse().ok()?, rest)
        }
        None => (number, head),
    };
    let mut words = head.trim().splitn(4, ' ');
    let process_id = words.next()?.strip_prefix('c')?.parse().ok()?;
    let op_type = words.next()?.to_owned();
    let key = words.next().filter(|key| *key != "-").map(str::to_owned);
    let input = words.next().map_or(Value::Null, value);
    let mark = |sign: char| marks.split_whitespace().find_map(|word| word.strip_prefix(sign));
    Some(Op {
        op_id,
        process_id,
        invoke_ts: Nanos(from.trim().parse().ok()?),
        complete_ts,
        op_type,
        key,
        input,
        output: output.map_or(Value::Null, value),
        error: error.map(str::to_owned),
        timeout_marker: complete_ts.is_none(),
        node_seen: mark('@').map(str::to_owned),
        fault_epoch: mark('^').and_then(|epoch| epoch.parse().ok()),
    })
}

/// `head` before a mark that stands after a space, and what follows the mark.
fn split_at_mark<'a>(head: &'a str, mark: &str) -> (&'a str, Option<&'a str>) {
    match head.find(&format!(" {mark}")) {
        Some(at) => (&head[..at], Some(head[at + 1 + mark.len()..].trim())),
        None => (head.trim_end(), None),
    }
}

fn value(text: &str) -> Value {
    serde_json::from_str(text.trim()).unwrap_or_else(|_| Value::String(text.trim().to_owned()))
}

/// `op` in the notation of this module, with its id.
pub fn line(op: &Op) -> String {
    let mut line = format!("#{} {}", op.op_id, short(op));
    line.push_str(&match op.complete_ts {
        Some(complete) => format!(" [{}..{}]", op.invoke_ts.0, complete.0),
        None => format!(" [{}..]", op.invoke_ts.0),
    });
    if let Some(node) = &op.node_seen {
        line.push_str(&format!(" @{node}"));
    }
    if let Some(epoch) = op.fault_epoch {
        line.push_str(&format!(" ^{epoch}"));
    }
    line
}

/// `op` without its id and times: `c1 read x -> 1`.
pub fn short(op: &Op) -> String {
    let mut line = format!("c{} {} {}", op.process_id, op.op_type, op.key.as_deref().unwrap_or("-"));
    if !op.input.is_null() {
        line.push_str(&format!(" {}", op.input));
    }
    if op.effect() == Effect::Acknowledged && (!op.output.is_null() || reads(op)) || !op.output.is_null() {
        line.push_str(&format!(" -> {}", op.output));
    }
    if let Some(error) = &op.error {
        line.push_str(&format!(" !{error}"));
    }
    line
}

/// An operation whose null answer means "nothing there", and is shown.
fn reads(op: &Op) -> bool {
    matches!(op.op_type.as_str(), "read" | "get")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) {
        let history = history(text).expect("valid");
        assert_eq!(line(&history.ops()[0]), text);
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        check("#3 c1 write x 1 [0..5]");
        check("#3 c1 write x 1 [0..]");
        check("#3 c12 cas x [1,2] -> true [7..9] @n2 ^4");
        check("#3 c12 cas x [1,2] -> false !it differed [7..9]");
        check("#3 c1 read - -> null [0..5]");
        check("#3 c1 append log {\"v\":[1]} -> 4 [0..5]");
    }

    #[test]
    fn nonsense_names_its_line() {
        let error = history("\n// fine\nc1 write x 1").expect_err("no interval");
        assert_eq!(error.line, Some(3));
    }
}
