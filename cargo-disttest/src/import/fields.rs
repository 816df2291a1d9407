//! Our own histories: JSON Lines of the twelve names, one operation a line.
//!
//! More lenient than the reader of a recorder's own file (`history::jsonl`): an absent name means null (format decision
//! D14), empty lines are skipped, and an operation that is marked as timed out and yet has a completion is taken as
//! timed out, as some recorders stamp the moment at which they gave up. All that is told.

use super::json::{self, Field, Strict};
use super::keys::Keys;
use super::lines::Lines;
use super::{Assumed, Pace, Problem, Raw, Stopped};
use disttest_runtime::base::time::Nanos;
use disttest_runtime::checker::Limits;
use disttest_runtime::history::Op;
use disttest_runtime::history::jsonl::NAMES;
use serde::Deserialize;
use serde_json::Value;
use std::io::BufRead;

/// Reads a history.
pub(super) fn read(mut lines: Lines<impl BufRead>, limits: &dyn Limits) -> Result<Raw, Stopped> {
    let (mut raw, mut pace) = (Raw::default(), Pace::new(limits));
    let mut keys = Keys::default();
    let (mut absent, mut assumed, mut orders) = (Absent::default(), Assumed::default(), Orders::default());
    while let Some((text, number)) = lines.next()? {
        pace.step()?;
        let line: Line = json::line(text, number)?;
        absent.see(&line, number);
        let mut op = line.into_op(&mut keys, number).map_err(|problem| problem.showing(text))?;
        if op.timeout_marker && op.complete_ts.take().is_some() {
            assumed.add("marked as timed out and yet completed, taken as timed out", number);
        } else if !op.timeout_marker && op.complete_ts.is_none() {
            assumed.add("neither completed nor marked as timed out, taken as of unknown outcome", number);
        }
        orders.see(&op, number).map_err(|problem| problem.showing(text))?;
        raw.ops.push(op);
        raw.lines.push(number);
    }
    raw.assumed = absent.sentence(raw.ops.len()).into_iter().chain(assumed.sentences("operation")).collect();
    raw.assumed.extend(orders.gaps());
    Ok(raw)
}

/// A line as written. Names beyond the twelve are extensions, and are not read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line {
    op_id: Field<u64>,
    process_id: Field<u64>,
    invoke_ts: Field<Nanos>,
    complete_ts: Field<Nanos>,
    op_type: Field<String>,
    key: Field<Strict>,
    input: Field<Strict>,
    output: Field<Strict>,
    error: Field<String>,
    timeout_marker: Field<bool>,
    node_seen: Field<String>,
    fault_epoch: Field<u64>,
}

impl Line {
    fn present(&self) -> [bool; 12] {
        [
            self.op_id.present,
            self.process_id.present,
            self.invoke_ts.present,
            self.complete_ts.present,
            self.op_type.present,
            self.key.present,
            self.input.present,
            self.output.present,
            self.error.present,
            self.timeout_marker.present,
            self.node_seen.present,
            self.fault_epoch.present,
        ]
    }

    fn into_op(self, keys: &mut Keys, number: usize) -> Result<Op, Problem> {
        fn need<T>(field: Field<T>, name: &str, number: usize) -> Result<T, Problem> {
            field.value.ok_or_else(|| Problem::at(number, format!("`{name}` is missing or null")))
        }
        let value = |field: Field<Strict>| field.value.unwrap_or_default().0;
        Ok(Op {
            op_id: need(self.op_id, "op_id", number)?,
            process_id: need(self.process_id, "process_id", number)?,
            invoke_ts: need(self.invoke_ts, "invoke_ts", number)?,
            complete_ts: self.complete_ts.value,
            op_type: need(self.op_type, "op_type", number)?,
            key: keys.text(&self.key.value.map_or(Value::Null, |key| key.0), number)?,
            input: value(self.input),
            output: value(self.output),
            error: self.error.value,
            timeout_marker: self.timeout_marker.value.unwrap_or(false),
            node_seen: self.node_seen.value,
            fault_epoch: self.fault_epoch.value,
        })
    }
}

/// Names that were not there: how often, and the line of the first time.
#[derive(Debug, Default)]
struct Absent([(usize, usize); 12]);

impl Absent {
    fn see(&mut self, line: &Line, number: usize) {
        for ((count, first), present) in self.0.iter_mut().zip(line.present()) {
            if !present {
                *first = if *count == 0 { number } else { *first };
                *count += 1;
            }
        }
    }

    /// What is said of them.
    fn sentence(&self, of: usize) -> Option<String> {
        let absent = NAMES.iter().zip(self.0).filter(|(_, (count, _))| *count > 0);
        let always: Vec<String> =
            absent.clone().filter(|(_, (count, _))| *count == of).map(|(name, _)| format!("`{name}`")).collect();
        let always = (!always.is_empty()).then(|| format!("{} in every operation", always.join(", ")));
        let some = absent.filter(|(_, (count, _))| *count < of);
        let some = some.map(|(name, (count, first))| format!("`{name}` in {count} (line {first} the first)"));
        let all: Vec<String> = always.into_iter().chain(some).collect();
        (!all.is_empty()).then(|| format!("absent, taken as null: {}", all.join("; ")))
    }
}

/// The orders that the lines of a history may stand in: by invocation, by operation id, by completion. Lines that are
/// in none of them were moved, and nobody knows what else was done to them.
#[derive(Debug, Default)]
struct Orders {
    last_invoke: Nanos,
    last_id: Option<u64>,
    last_complete: Nanos,
    by_invoke: Broken,
    by_id: Broken,
    by_complete: Broken,
    /// Smallest and largest id, and how many there are.
    ids: Option<(u64, u64, u64)>,
}

/// The first line that is out of an order.
type Broken = Option<usize>;

impl Orders {
    fn see(&mut self, op: &Op, number: usize) -> Result<(), Problem> {
        let broken = |into: &mut Broken, is: bool| {
            if is {
                into.get_or_insert(number);
            }
        };
        broken(&mut self.by_invoke, op.invoke_ts < self.last_invoke);
        broken(&mut self.by_id, self.last_id.is_some_and(|last| op.op_id < last));
        broken(&mut self.by_complete, op.complete_ts.is_some_and(|at| at < self.last_complete));
        self.last_invoke = op.invoke_ts;
        self.last_id = Some(op.op_id);
        self.last_complete = op.complete_ts.unwrap_or(self.last_complete);
        let ids = self.ids.get_or_insert((op.op_id, op.op_id, 0));
        *ids = (ids.0.min(op.op_id), ids.1.max(op.op_id), ids.2 + 1);
        match (self.by_invoke, self.by_id, self.by_complete) {
            (Some(a), Some(b), Some(c)) => {
                let problem = format!(
                    "the lines are in no order: not by invocation (line {a}), nor by op_id (line {b}), nor by \
                     completion (line {c}); somebody moved them. If that is how it was recorded: \
                     jq -s -c 'sort_by(.invoke_ts)[]' FILE"
                );
                Err(Problem::at(number, problem))
            }
            _ => Ok(()),
        }
    }

    /// What is said of ids that are not there.
    fn gaps(&self) -> Option<String> {
        let (least, most, count) = self.ids?;
        let missing = (most - least).saturating_sub(count - 1);
        (missing > 0).then(|| {
            format!(
                "{missing} op_ids between {least} and {most} are not there: what these operations did is not known \
                 to the check"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Imported, InputFormat, Packing, Reading, Stopped, Tuples, read_from};
    use disttest_runtime::checker::Unlimited;
    use disttest_runtime::history::jsonl;
    use std::io::Cursor;

    fn read(text: &str) -> Result<Imported, String> {
        let reading = Reading { format: InputFormat::Jsonl, tuples: Tuples::Detect };
        let bytes = Box::new(Cursor::new(text.as_bytes().to_vec()));
        read_from(bytes, Packing::Plain, reading, &Unlimited).map_err(|stopped| match stopped {
            Stopped::Refused(problem) => problem.place("h") + ": " + &problem.problem,
            Stopped::Limit(limit) => limit,
        })
    }

    fn op(id: u64, invoke: u64, rest: &str) -> String {
        format!("{{\"op_id\":{id},\"process_id\":1,\"invoke_ts\":{invoke},\"op_type\":\"read\"{rest}}}\n")
    }

    fn check(text: &str, expect: &str) {
        let problem = read(text).expect_err(expect);
        assert!(problem.contains(expect), "{text}: {problem}");
    }

    #[test]
    fn what_a_recorder_of_ours_writes_is_read_as_it_was() {
        let text = "{\"op_id\":0,\"process_id\":1,\"invoke_ts\":0,\"complete_ts\":5,\"op_type\":\"write\",\"key\":\"x\",\
                    \"input\":{\"a\":[1,null]},\"output\":null,\"error\":null,\"timeout_marker\":false,\"node_seen\":\"n1\",\
                    \"fault_epoch\":2}\n";
        let imported = read(text).expect("readable");
        assert!(imported.assumed.is_empty(), "{:?}", imported.assumed);
        let mut again = Vec::new();
        jsonl::write(imported.history(), &mut again).expect("memory");
        assert_eq!(String::from_utf8(again).expect("UTF-8"), text);
    }

    #[test]
    fn what_cannot_have_happened_is_refused_with_its_line() {
        let good = op(0, 0, ",\"complete_ts\":5");
        check(&format!("{good}{good}"), "h:2: operation 0 was told before, at line 1");
        check(&format!("{good}{}", op(1, 9, ",\"complete_ts\":8")), "h:2: operation 1 completed at 8 ns, before");
        check(
            &format!("{good}\n{}", op(1, 9, ",\"timeout_marker\":true,\"output\":3")),
            "h:3: operation 1 has an output",
        );
        check(&format!("{good}{}", op(1, 9, ",\"output\":3")), "h:2: operation 1 has an output");
        check(
            &op(1, 9, ",\"complete_ts\":9,\"output\":3,\"error\":\"no\""),
            "h:1: operation 1 has both an output and an error",
        );
        check(&format!("{good}{}", &good[..30]), "h:2:30: the line is cut off");
        check(&format!("{good}{}", good.trim_end().trim_end_matches('}')), "h:2:72: the line is cut off");
        check(&format!("{good}{{\"op_id\":1}}\n"), "h:2: `process_id` is missing or null");
        check(&op(0, 0, ",\"op_id\":1"), "duplicate field `op_id`");
        check(&op(0, 0, ",\"key\":[1]"), "h:1: a key is a text or a number, not [1]");
        check(&op(0, 0, ",\"error\":7"), "h:1:");
        check(&format!("{}{}", op(0, 0, ",\"key\":1"), op(1, 1, ",\"key\":\"1\"")), "h:2: the key \"1\" is a text");
        let lines = [op(0, 0, ",\"complete_ts\":5"), op(1, 6, ",\"complete_ts\":7"), op(2, 8, ",\"complete_ts\":9")];
        check(&format!("{}{}{}", lines[1], lines[0], lines[2]), "h:2: the lines are in no order");
        check(&format!("{}{}{}", lines[0], lines[2], lines[1]), "h:3: the lines are in no order");
    }

    #[test]
    fn absent_names_are_null_and_what_was_assumed_is_told() {
        let imported = read(&format!("{}{}", op(3, 0, ""), op(9, 2, ",\"complete_ts\":5,\"timeout_marker\":true")));
        let imported = imported.expect("readable");
        assert_eq!(imported.history().ops().len(), 2);
        let assumed = imported.assumed.join("; ");
        for expect in [
            "absent, taken as null: `key`, `input`, `output`, `error`, `node_seen`, `fault_epoch` in every operation",
            "`complete_ts` in 1 (line 1 the first)",
            "1 operation: neither completed nor marked",
            "1 operation: marked as timed out and yet completed",
            "5 op_ids between 3 and 9 are not there",
        ] {
            assert!(assumed.contains(expect), "{assumed}");
        }
        assert_eq!(imported.line(9), Some(2));
    }

    #[test]
    fn histories_in_the_order_of_their_completions_are_read() {
        let text = format!("{}{}", op(5, 3, ",\"complete_ts\":5"), op(1, 0, ",\"complete_ts\":9"));
        assert_eq!(read(&text).expect("readable").history().ops()[0].op_id, 1);
    }

    #[test]
    fn a_cut_anywhere_is_refused_or_leaves_whole_lines() {
        let text = format!("{}{}", op(0, 0, ",\"complete_ts\":5"), op(1, 6, ",\"complete_ts\":7"));
        for end in 0..text.len() {
            let cut = &text[..end];
            let whole = cut.is_empty() || cut.trim_end().ends_with('}');
            assert_eq!(read(cut).is_ok(), whole, "{cut}");
        }
    }
}
