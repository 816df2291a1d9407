//! What makes a history too weak to rest a verdict on (plan format, section 3).

use super::access::{Entry, Touch};
use super::{Effect, History, Op};
use crate::base::time::Nanos;
use std::collections::BTreeMap;
use std::time::Duration;

/// When a fault acted, as far as histories are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultSpan {
    /// Number of the window.
    pub epoch: u64,
    /// When it was injected.
    pub from: Nanos,
    /// When it was healed, or the end of the run.
    pub to: Nanos,
}

/// The stamp of an operation and the bounds of a window are taken by different threads, so an operation that touches
/// a window for less than this may lack the stamp or have it.
const EDGE: Duration = Duration::from_millis(5);

/// Timestamps above this many nanoseconds (32 years) are no monotonic clock of a run but wall-clock time.
const WALL_CLOCK: u64 = 1_000_000_000_000_000_000;

/// What makes `history` weak for a scenario on `model` under `faults`: one sentence each, with a count and the first
/// operation. Empty when nothing does. O(operations × windows).
pub fn weakness(history: &History, model: Option<&str>, faults: &[FaultSpan]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rule = |what: &str, breaks: &dyn Fn(&Op) -> bool| {
        let mut broken = history.ops().iter().filter(|op| breaks(op));
        if let Some(first) = broken.next() {
            let count = 1 + broken.count();
            let of = history.ops().len();
            found.push(format!("{what}: {count} of {of} operations, first operation {}", first.op_id));
        }
    };
    rule("no completion and no timeout_marker", &|op| op.complete_ts.is_none() && !op.timeout_marker);
    rule("fault_epoch is missing though a fault overlapped", &|op| {
        op.fault_epoch.is_none() && faults.iter().any(|span| surely_overlaps(op, span))
    });
    rule("fault_epoch names a window that the operation did not overlap", &|op| {
        op.fault_epoch.is_some_and(|epoch| !faults.iter().any(|span| span.epoch == epoch && may_overlap(op, span)))
    });
    rule("timestamps are wall-clock time", &|op| op.invoke_ts.0 > WALL_CLOCK);
    if let Some(model) = model {
        let needs = Needs::of(model);
        rule("node_seen is missing on a completed operation", &|op| {
            needs.node && op.node_seen.is_none() && op.effect() == Effect::Acknowledged
        });
        rule("key is missing", &|op| needs.key && op.key.is_none());
        rule(&format!("op_type is not of a {model} ({})", needs.op_types.join(", ")), &|op| {
            !needs.op_types.is_empty() && !needs.op_types.contains(&op.op_type.as_str())
        });
        rule(needs.answer, &|op| op.effect() == Effect::Acknowledged && !(needs.answers)(op));
        if matches!(model, "register" | "map" | "log") {
            found.extend(nothing_written(history));
        }
        if matches!(model, "register" | "map") {
            found.extend(one_value_only(history));
        }
    }
    found
}

/// Reads of what nobody wrote agree with each other whatever the system does with writes.
fn nothing_written(history: &History) -> Option<String> {
    let writes = |op: &&Op| {
        let value = Touch::of(op).is_ok_and(|touch| touch.surely_writes());
        op.effect() == Effect::Acknowledged && (value || matches!(Entry::of(op), Ok(Entry::Append { .. })))
    };
    let of = history.ops().len();
    (!history.ops().iter().any(|op| writes(&op))).then(|| {
        format!("no write was acknowledged among {of} operations: nothing could be lost, stale or out of order")
    })
}

/// A key that is overwritten with the value it has looks the same whether the write was kept, lost or seen too late.
/// Weak when every key that was written more than once got one value only.
fn one_value_only(history: &History) -> Option<String> {
    // Of each key: its first value, how many writes were acknowledged, whether another value occurs.
    let mut keys: BTreeMap<Option<&str>, (&serde_json::Value, u64, bool)> = BTreeMap::new();
    for op in history.ops().iter().filter(|op| op.effect() != Effect::Failed) {
        let Some(value) = Touch::of(op).ok().and_then(|touch| touch.written()) else { continue };
        let key = keys.entry(op.key.as_deref()).or_insert((value, 0, false));
        key.1 += u64::from(op.effect() == Effect::Acknowledged);
        key.2 |= key.0 != value;
    }
    let again: Vec<_> = keys.into_iter().filter(|(_, (_, writes, _))| *writes > 1).collect();
    let (name, (value, writes, _)) = again.iter().find(|(_, (.., other))| !other)?;
    let all = again.iter().all(|(_, (.., other))| !other);
    all.then(|| {
        let name = name.map_or_else(|| "the object".to_owned(), |name| format!("key {name:?}"));
        format!(
            "writes cannot be told apart: {name} was written {writes} times with the one value {value}, and so it is \
             with every key; write a value that no other operation writes"
        )
    })
}

fn surely_overlaps(op: &Op, span: &FaultSpan) -> bool {
    // Without a completion the end is unknown: only its invocation is sure to lie inside.
    let end = op.complete_ts.unwrap_or(op.invoke_ts);
    end > span.from.plus(EDGE) && op.invoke_ts.plus(EDGE) < span.to
}

fn may_overlap(op: &Op, span: &FaultSpan) -> bool {
    op.complete_ts.is_none_or(|end| end.plus(EDGE) >= span.from) && op.invoke_ts <= span.to.plus(EDGE)
}

/// Fields that a model needs beyond the rest.
struct Needs {
    key: bool,
    node: bool,
    op_types: &'static [&'static str],
    /// What is said of a completed operation that `answers` refuses.
    answer: &'static str,
    answers: fn(&Op) -> bool,
}

impl Needs {
    fn of(model: &str) -> Needs {
        let any = Needs { key: false, node: false, op_types: &[], answer: "", answers: |_| true };
        match model {
            "register" => Needs { node: true, op_types: &["read", "write", "cas"], ..any },
            "map" => Needs { key: true, node: true, op_types: MAP, ..any },
            "queue" => Needs { op_types: &["enqueue", "dequeue"], ..any },
            "log" => Needs {
                op_types: &["append", "read"],
                answer: "the answer of a read has no offset",
                answers: |op| {
                    op.output.get("offset").is_some() || !matches!(Entry::of(op), Ok(Entry::Read(_)) | Err(_))
                },
                ..any
            },
            "lock" => Needs { op_types: &["acquire", "release"], ..any },
            "lease" => Needs { op_types: &["acquire", "renew", "release"], ..any },
            "session" => Needs {
                answer: "the answer of a write has no version",
                answers: |op| op.op_type != "write" || !op.output.is_null(),
                ..any
            },
            "membership-table" => Needs { node: true, op_types: &["join", "leave", "view"], ..any },
            "counter" => Needs {
                op_types: &["inc", "read"],
                answer: "input is not the delta or output is not the value after it",
                // An object holds the delta and an idempotency key.
                answers: |op| {
                    let delta = op.input.is_number() || op.input.is_object();
                    (op.op_type != "inc" || delta) && op.output.is_number()
                },
                ..any
            },
            "ledger" => Needs { key: true, op_types: &["credit", "debit", "balance"], ..any },
            _ => any,
        }
    }
}

const MAP: &[&str] = &["get", "put", "delete", "read", "write", "cas"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::notation::history;

    const MS: u64 = 1_000_000;

    fn check(text: &str, model: &str, expect: &[&str]) {
        let faults = [FaultSpan { epoch: 1, from: Nanos(100 * MS), to: Nanos(200 * MS) }];
        let text = text.replace("ms", "000000");
        let mut got = weakness(&history(&text).expect("valid"), Some(model), &faults);
        // Short examples of another rule have no write.
        let no_write = |text: &str| text.starts_with("no write was acknowledged");
        got.retain(|got| !no_write(got) || expect.iter().any(|expect| no_write(expect)));
        assert_eq!(got.len(), expect.len(), "{text}: {got:?}");
        for (got, expect) in got.iter().zip(expect) {
            assert!(got.starts_with(expect), "{text}: {got}");
        }
    }

    #[test]
    fn a_complete_history_is_not_weak() {
        check(
            "c1 write x 1 [1ms..2ms] @n1\nc1 read x -> 1 [120ms..150ms] @n1 ^1\nc2 read x [150ms..] ^1",
            "register",
            &[],
        );
        check("c1 append x 1 -> 0 [1ms..2ms]\nc1 read x -> {\"offset\":0,\"value\":1} [3ms..4ms]", "log", &[]);
    }

    #[test]
    fn each_rule_names_the_first_operation() {
        check("c1 read x -> 1 [120ms..150ms] @n1", "register", &["fault_epoch is missing though a fault overlapped"]);
        check("c1 read x [120ms..]", "register", &["fault_epoch is missing"]);
        check("c1 read x -> 1 [220ms..250ms] @n1 ^1", "register", &["fault_epoch names a window"]);
        check("c1 read x -> 1 [120ms..150ms] @n1 ^2", "register", &["fault_epoch names a window"]);
        check("c1 read x -> 1 [1ms..2ms]", "register", &["node_seen is missing"]);
        check("c1 get - -> 1 [1ms..2ms] @n1", "map", &["key is missing"]);
        check("c1 push x 1 [1ms..2ms] @n1", "map", &["op_type is not of a map"]);
        check("c1 read x -> [1] [1ms..2ms]", "log", &["the answer of a read has no offset"]);
        check("c1 read x -> 1 [2000000000000ms..2000000000001ms] @n1", "register", &["timestamps are wall-clock"]);
    }

    #[test]
    fn a_workload_without_an_acknowledged_write_shows_nothing() {
        check("c1 read x -> null [1ms..2ms] @n1", "register", &["no write was acknowledged among 1"]);
        check("c1 write x 1 [1ms..] @n1\nc1 get x -> 1 [3ms..4ms] @n1", "map", &["no write was acknowledged"]);
        check("c1 write x 1 !no [1ms..2ms] @n1", "register", &["no write was acknowledged"]);
        check("c1 cas x [null,1] -> true [1ms..2ms] @n1", "register", &[]);
        check("c1 read x -> {\"offset\":0,\"values\":[]} [1ms..2ms]", "log", &["no write was acknowledged"]);
        check("c1 read x -> 1 [1ms..2ms] @n1", "counter", &[]);
    }

    #[test]
    fn a_workload_that_writes_one_value_cannot_show_a_lost_write() {
        let weak = ["writes cannot be told apart: key \"x\" was written 2 times with the one value 1"];
        check(
            "c1 write x 1 [1ms..2ms] @n1\nc1 write x 1 [3ms..4ms] @n1\nc1 write y 1 [3ms..4ms] @n1",
            "register",
            &weak,
        );
        check("c1 write x 1 [1ms..2ms] @n1\nc1 write x 2 [3ms..4ms] @n1", "register", &[]);
        check("c1 write x 1 [1ms..2ms] @n1\nc1 write y 1 [3ms..4ms] @n1", "register", &[]);
        check("c1 put x 1 [1ms..2ms] @n1\nc1 delete x [3ms..4ms] @n1\nc1 put x 1 [5ms..6ms] @n1", "map", &[]);
    }

    #[test]
    fn an_edge_shorter_than_the_tolerance_is_not_held_against_the_recorder() {
        check("c1 read x -> 1 [90ms..104ms] @n1\nc1 read x -> 1 [199ms..250ms] @n1", "register", &[]);
        check("c1 read x -> 1 [90ms..98ms] @n1 ^1\nc1 read x -> 1 [203ms..250ms] @n1 ^1", "register", &[]);
    }

    #[test]
    fn a_missing_completion_without_a_marker_is_weak() {
        let mut ops = history("c1 write x 1 [0..] @n1").expect("valid").into_ops();
        ops[0].timeout_marker = false;
        let weak = weakness(&History::new(ops).expect("valid"), None, &[]);
        assert_eq!(weak, ["no completion and no timeout_marker: 1 of 1 operations, first operation 0"]);
    }
}
