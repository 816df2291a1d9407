//! Histories as JSON Lines: one operation a line, all twelve names, null where unused.
//!
//! [`read`] is for what a recorder of ours wrote and takes nothing less. [`read_foreign`] is for files of others: an
//! absent name means null (format decision D14), and what had to be assumed is told.

use super::{History, HistoryError, Op};
use crate::base::time::Nanos;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

/// The twelve names, in the order we write them.
pub const NAMES: [&str; 12] = [
    "op_id",
    "process_id",
    "invoke_ts",
    "complete_ts",
    "op_type",
    "key",
    "input",
    "output",
    "error",
    "timeout_marker",
    "node_seen",
    "fault_epoch",
];

/// A file written by someone else.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// The history.
    pub history: History,
    /// What was absent or contradictory, and what was assumed: one sentence each.
    pub assumed: Vec<String>,
}

/// Reads a recorded history; `source` names the text in errors.
///
/// Every line must hold all twelve names; a cut or empty line is an error, never dropped. A text that was cut exactly
/// between two lines cannot be told from a shorter one: compare the number of operations and the digest with the
/// record of the run.
pub fn read(text: impl BufRead, source: &str) -> Result<History, HistoryError> {
    let (ops, lines) = parse(text, source, Blank::Refuse, &mut |line, op_id, number| match line.absent().first() {
        Some(name) => Err(HistoryError::at_line(source, number, op_id, format!("`{name}` is missing"))),
        None => line.into_op().map_err(|problem| HistoryError::at_line(source, number, op_id, problem)),
    })?;
    assemble(ops, &lines, source)
}

/// Reads a history recorded by another tool. Empty lines are skipped; absent names mean null.
///
/// An operation that is marked as timed out and yet has a completion is taken as timed out.
pub fn read_foreign(text: impl BufRead, source: &str) -> Result<Foreign, HistoryError> {
    let mut assumed: BTreeMap<String, usize> = BTreeMap::new();
    let (ops, lines) = parse(text, source, Blank::Skip, &mut |line, op_id, number| {
        for name in line.absent() {
            *assumed.entry(format!("`{name}` is absent, taken as null")).or_default() += 1;
        }
        let mut op = line.into_op().map_err(|problem| HistoryError::at_line(source, number, op_id, problem))?;
        if op.timeout_marker && op.complete_ts.take().is_some() {
            let what = "marked as timed out and yet completed, taken as timed out".to_owned();
            *assumed.entry(what).or_default() += 1;
        }
        Ok(op)
    })?;
    let history = assemble(ops, &lines, source)?;
    let assumed = assumed.into_iter().map(|(what, count)| format!("{count} operations: {what}")).collect();
    Ok(Foreign { history, assumed })
}

/// Writes `history` by invocation, one line each, the last one ended too.
pub fn write(history: &History, out: &mut impl Write) -> io::Result<()> {
    for op in history.ops() {
        serde_json::to_writer(&mut *out, op)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

type Take<'a> = dyn FnMut(Line, Option<u64>, usize) -> Result<Op, HistoryError> + 'a;

/// What to do with a line of white space.
#[derive(PartialEq)]
enum Blank {
    Refuse,
    Skip,
}

fn parse(
    mut text: impl BufRead,
    source: &str,
    blank: Blank,
    take: &mut Take<'_>,
) -> Result<(Vec<Op>, Vec<usize>), HistoryError> {
    let (mut ops, mut lines) = (Vec::new(), Vec::new());
    let mut buffer = Vec::new();
    for number in 1.. {
        buffer.clear();
        let read = text
            .read_until(b'\n', &mut buffer)
            .map_err(|e| HistoryError::at_line(source, number, None, format!("cannot be read: {e}")))?;
        if read == 0 {
            break;
        }
        if blank == Blank::Skip && buffer.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let line: Line = serde_json::from_slice(&buffer).map_err(|e| {
            let what =
                if e.is_eof() || buffer.last() != Some(&b'\n') { "the line is cut off" } else { "not an operation" };
            HistoryError::at_line(source, number, None, format!("{what}: {e}"))
        })?;
        let op_id = line.op_id.0;
        ops.push(take(line, op_id, number)?);
        lines.push(number);
    }
    Ok((ops, lines))
}

/// Validates, and puts line numbers to what was refused.
fn assemble(ops: Vec<Op>, lines: &[usize], source: &str) -> Result<History, HistoryError> {
    if let Err((index, problem)) = super::validate::all(&ops) {
        return Err(HistoryError::at_line(source, lines[index], Some(ops[index].op_id), problem));
    }
    History::new(ops)
}

/// A field that knows whether its name was there.
#[derive(Debug, Default)]
struct Field<T>(Option<T>, bool);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Field(Option::deserialize(deserializer)?, true))
    }
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
    key: Field<String>,
    input: Field<Value>,
    output: Field<Value>,
    error: Field<String>,
    timeout_marker: Field<bool>,
    node_seen: Field<String>,
    fault_epoch: Field<u64>,
}

impl Line {
    fn absent(&self) -> Vec<&'static str> {
        let there = [
            self.op_id.1,
            self.process_id.1,
            self.invoke_ts.1,
            self.complete_ts.1,
            self.op_type.1,
            self.key.1,
            self.input.1,
            self.output.1,
            self.error.1,
            self.timeout_marker.1,
            self.node_seen.1,
            self.fault_epoch.1,
        ];
        NAMES.iter().zip(there).filter(|(_, there)| !there).map(|(name, _)| *name).collect()
    }

    fn into_op(self) -> Result<Op, String> {
        let need = |name: &str| format!("`{name}` is missing or null");
        Ok(Op {
            op_id: self.op_id.0.ok_or_else(|| need("op_id"))?,
            process_id: self.process_id.0.ok_or_else(|| need("process_id"))?,
            invoke_ts: self.invoke_ts.0.ok_or_else(|| need("invoke_ts"))?,
            complete_ts: self.complete_ts.0,
            op_type: self.op_type.0.ok_or_else(|| need("op_type"))?,
            key: self.key.0,
            input: self.input.0.unwrap_or(Value::Null),
            output: self.output.0.unwrap_or(Value::Null),
            error: self.error.0,
            timeout_marker: self.timeout_marker.0.unwrap_or(false),
            node_seen: self.node_seen.0,
            fault_epoch: self.fault_epoch.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::notation::history;

    const GOOD: &str = r#"{"op_id":0,"process_id":1,"invoke_ts":0,"complete_ts":5,"op_type":"write","key":"x","input":1,"output":null,"error":null,"timeout_marker":false,"node_seen":"n1","fault_epoch":null}"#;

    fn check(text: &str, expect: &str) {
        let error = read(text.as_bytes(), "h.jsonl").expect_err(expect);
        assert!(error.to_string().contains(expect), "{error}\nexpected: {expect}");
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let written =
            history("c1 write x {\"a\":[1]} [0..5] @n1\nc2 read x !timeout [3..] ^2\nc3 read - -> null [4..9]")
                .expect("valid");
        let mut text = Vec::new();
        write(&written, &mut text).expect("memory");
        assert_eq!(read(&text[..], "h").expect("reads back"), written);
    }

    #[test]
    fn errors_name_file_line_and_operation() {
        check(&format!("{GOOD}\n{}", &GOOD[..100]), "h.jsonl:2: the line is cut off");
        check(&format!("{GOOD}\n{GOOD}\n"), "h.jsonl:2: operation 0: its id was used before");
        check(&format!("{GOOD}\n\n"), "h.jsonl:2: ");
        check("{\"op_id\":3}\n", "h.jsonl:1: operation 3: `process_id` is missing");
        check("[1]\n", "h.jsonl:1: ");
        check("{\"op_id\":true}\n", "h.jsonl:1: not an operation");
        check(
            &GOOD.replace("\"complete_ts\":5", "\"complete_ts\":null").replace("\"output\":null", "\"output\":2"),
            "h.jsonl:1: operation 0: has an output although",
        );
        check(&GOOD.replace("\"op_id\":0", "\"op_id\":0,\"op_id\":1"), "duplicate field");
        for name in NAMES {
            let value: Value = serde_json::from_str(GOOD).expect("JSON");
            let mut fields = value.as_object().expect("object").clone();
            fields.remove(name);
            check(&serde_json::to_string(&fields).expect("JSON"), &format!("`{name}` is missing"));
        }
    }

    #[test]
    fn a_cut_at_any_byte_is_an_error_or_whole_lines() {
        let text = format!("{GOOD}\n{}\n", GOOD.replace("\"op_id\":0", "\"op_id\":1"));
        for end in 0..text.len() {
            let whole = text[..end].lines().filter(|line| line.ends_with('}')).count();
            let cut = !text[..end].is_empty() && !text[..end].trim_end().ends_with('}');
            match read(&text.as_bytes()[..end], "h") {
                Ok(history) => assert!(!cut && history.ops().len() == whole, "cut at {end}"),
                Err(_) => assert!(cut, "cut at {end}"),
            }
        }
    }

    #[test]
    fn a_foreign_file_may_lack_names_and_says_so() {
        let text = r#"{"op_id":0,"process_id":1,"invoke_ts":0,"op_type":"write"}

{"op_id":1,"process_id":1,"invoke_ts":7,"complete_ts":9,"op_type":"read","timeout_marker":true}"#;
        let foreign = read_foreign(text.as_bytes(), "h").expect("readable");
        assert_eq!(foreign.history.ops().len(), 2);
        assert_eq!(foreign.history.ops()[1].complete_ts, None);
        assert!(foreign.assumed.contains(&"1 operations: `complete_ts` is absent, taken as null".to_owned()));
        assert!(foreign.assumed.iter().any(|what| what.contains("marked as timed out and yet completed")));
        let error = read_foreign(&b"{\"op_id\":1}"[..], "h").expect_err("no process");
        assert_eq!(error.to_string(), "h:1: operation 1: `process_id` is missing or null");
    }
}
