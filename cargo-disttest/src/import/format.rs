//! Which format a text is in.

use super::{Problem, source};
use serde_json::Value;
use std::io::{BufRead, BufReader, Cursor, Read};

/// Bytes that are looked at, at most.
const LOOKED_AT: usize = 1 << 20;

/// A format of histories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// One operation a line: our twelve names.
    Jsonl,
    /// One event of Jepsen's a line, as JSON.
    JepsenJsonl,
    /// A JSON array of operations with our twelve names.
    Json,
    /// A JSON array of Jepsen's events.
    JepsenJson,
    /// Jepsen's events as EDN: one map after the other, or one vector of them.
    Edn,
}

impl Format {
    /// The name it has on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Jsonl => "jsonl",
            Format::JepsenJsonl => "jepsen-jsonl",
            Format::Json => "json",
            Format::JepsenJson => "jepsen-json",
            Format::Edn => "edn",
        }
    }
}

/// The format that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum InputFormat {
    /// Told by the first value of the file
    #[default]
    Auto,
    /// JSON Lines, one operation a line: op_id, process_id, invoke_ts, …
    Jsonl,
    /// JSON Lines, one event a line as Jepsen has them: type, f, value, process
    JepsenJsonl,
    /// A JSON array of operations, as in jsonl
    Json,
    /// A JSON array of events, as in jepsen-jsonl
    JepsenJson,
    /// EDN, one map after the other or one vector of them
    Edn,
}

/// The format of `bytes`, none when there is nothing in them; and all bytes again, but a byte-order mark.
pub(super) fn detect(
    bytes: Box<dyn BufRead>,
    asked: InputFormat,
) -> Result<(Option<Format>, Box<dyn BufRead>), Problem> {
    let (mut start, rest) = look(bytes).map_err(|error| Problem::at(1, format!("cannot be read: {error}")))?;
    if start.starts_with(b"\xef\xbb\xbf") {
        start.drain(..3);
    }
    let found = match asked {
        _ if start.iter().all(u8::is_ascii_whitespace) && start.len() < LOOKED_AT => None,
        InputFormat::Auto => Some(guess(&start)?),
        InputFormat::Jsonl => Some(Format::Jsonl),
        InputFormat::JepsenJsonl => Some(Format::JepsenJsonl),
        InputFormat::Json => Some(Format::Json),
        InputFormat::JepsenJson => Some(Format::JepsenJson),
        InputFormat::Edn => Some(Format::Edn),
    };
    Ok((found, Box::new(BufReader::with_capacity(1 << 16, Cursor::new(start).chain(rest)))))
}

/// The text up to the end of its first line that holds something, or of the first object of an array; or more.
fn look(mut bytes: Box<dyn BufRead>) -> std::io::Result<(Vec<u8>, Box<dyn BufRead>)> {
    let mut start = Vec::new();
    loop {
        let (more, rest) = source::peek(bytes, 4096)?;
        bytes = rest;
        start.extend_from_slice(&more);
        if more.len() < 4096 || start.len() >= LOOKED_AT || is_enough(&start) {
            return Ok((start, bytes));
        }
    }
}

/// The format can be told from it.
fn is_enough(start: &[u8]) -> bool {
    match beginning(start).as_slice() {
        [b'[', b'{', b'"'] => !matches!(first_object(start), Some(Err(error)) if error.is_eof()),
        [b'[', ..] => start.contains(&b':') || start.contains(&b'#'),
        _ => first_line(start).is_some(),
    }
}

/// The first three bytes that are no blanks.
fn beginning(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(3).collect()
}

/// The first object of a JSON array.
fn first_object(start: &[u8]) -> Option<serde_json::Result<Value>> {
    let inside = start.iter().position(|byte| *byte == b'[')? + 1;
    serde_json::Deserializer::from_slice(&start[inside..]).into_iter().next()
}

/// The first line that holds something, if all of it is there.
fn first_line(start: &[u8]) -> Option<&[u8]> {
    let blank = start.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let line = &start[blank..];
    line.iter().position(|byte| *byte == b'\n').map(|end| &line[..end])
}

fn guess(start: &[u8]) -> Result<Format, Problem> {
    let blank = start.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let line = 1 + start[..blank].iter().filter(|byte| **byte == b'\n').count();
    let text = first_line(start).unwrap_or(&start[blank..]);
    let mut bytes = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    let (first, second) = (bytes.next(), bytes.next());
    let refuse = |problem: &str| Err(Problem::at(line, problem).showing(text));
    match (first, second) {
        (Some(b'{'), Some(b'"')) => {
            let object: Value = match serde_json::from_slice(text) {
                Ok(object) => object,
                Err(error) => {
                    let at = Problem { column: Some(error.column().max(1)), ..Problem::at(line, "") };
                    return Err(Problem { problem: format!("is no JSON: {error}"), ..at.showing(text) });
                }
            };
            match of_operations(&object) {
                Some(true) => Ok(Format::Jsonl),
                Some(false) => Ok(Format::JepsenJsonl),
                None => refuse(NEITHER),
            }
        }
        (Some(b'['), _) if beginning(start) == b"[{\"" => match first_object(start) {
            Some(Ok(object)) => match of_operations(&object) {
                Some(true) => Ok(Format::Json),
                Some(false) => Ok(Format::JepsenJson),
                None => refuse(NEITHER),
            },
            // What is wrong with it is told, with its place, when it is read.
            _ => Ok(Format::JepsenJson),
        },
        (Some(b'{' | b'[' | b'(' | b'#' | b';'), _) => Ok(Format::Edn),
        _ => refuse(
            "is no history: JSON Lines or EDN begin with `{`, `[`, `(`, `#` or `;`; --input-format says which it is",
        ),
    }
}

const NEITHER: &str = "is no history: neither `op_id` (an operation an object) nor `type` (Jepsen's events) is among the \
                       names of the first object; --input-format says which it is";

/// An operation of ours, or an event of Jepsen's; none when it is neither.
fn of_operations(object: &Value) -> Option<bool> {
    let has = |name: &str| object.get(name).is_some();
    if has("op_id") || has("invoke_ts") { Some(true) } else { has("type").then_some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let got = match detect(Box::new(Cursor::new(text.as_bytes().to_vec())), InputFormat::Auto) {
            Ok((format, mut rest)) => {
                let mut all = String::new();
                rest.read_to_string(&mut all).expect("memory");
                assert_eq!(all, text.trim_start_matches('\u{feff}'));
                format.map_or("nothing".to_owned(), |format| format.name().to_owned())
            }
            Err(problem) => problem.render("h"),
        };
        assert!(got.contains(expect), "{text:?}: {got}");
    }

    #[test]
    fn the_first_value_tells_the_format() {
        check("{\"op_id\":1}", "jsonl");
        check("\n  {\"invoke_ts\":1}\n{", "jsonl");
        check("\u{feff}{\"type\":\"ok\",\"f\":\"read\"}\r\n", "jepsen-jsonl");
        check("{:type :ok}", "edn");
        check("[{:type :ok}]", "edn");
        check("[", "edn");
        check("; from a run\n{:type :ok}", "edn");
        check("#jepsen.history.Op{:type :ok}", "edn");
        check("({:value \"a\"})", "edn");
        check("{}", "edn");
        check("[{\"type\":\"ok\"}]", "jepsen-json");
        check("\n[\n  {\n    \"process\": 1,\n    \"type\": \"ok\"\n  }\n]", "jepsen-json");
        check("[{\"op_id\":0},", "json");
        check(&format!("[{{\"f\":\"{}\",\"op_id\":0}}]", "x".repeat(9000)), "json");
        check("[{\"type\":", "jepsen-json");
        check("[\n{:type :ok}]", "edn");
        check("", "nothing");
        check(" \n\n", "nothing");
    }

    #[test]
    fn what_is_no_history_is_refused_with_its_place() {
        check("\n[{\"a\":\"ok\"}]", "h:2: is no history: neither `op_id`");
        check("{\"a\":1}", "h:1: is no history: neither `op_id`");
        check("{\"op_id\":", "h:1:9: is no JSON");
        check("op_id,process_id\n", "h:1: is no history");
        check("\0\0", "h:1: is no history");
    }
}
