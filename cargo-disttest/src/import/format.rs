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
    /// Jepsen's events as EDN: one map after the other, or one vector of them.
    Edn,
}

impl Format {
    /// The name it has on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Jsonl => "jsonl",
            Format::JepsenJsonl => "jepsen-jsonl",
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
        InputFormat::Edn => Some(Format::Edn),
    };
    Ok((found, Box::new(BufReader::with_capacity(1 << 16, Cursor::new(start).chain(rest)))))
}

/// The text up to the end of its first line that holds something, or more.
fn look(mut bytes: Box<dyn BufRead>) -> std::io::Result<(Vec<u8>, Box<dyn BufRead>)> {
    let mut start = Vec::new();
    loop {
        let (more, rest) = source::peek(bytes, 4096)?;
        bytes = rest;
        start.extend_from_slice(&more);
        if more.len() < 4096 || start.len() >= LOOKED_AT || first_line(&start).is_some() {
            return Ok((start, bytes));
        }
    }
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
    let mut significant = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    let (first, second) = (significant.next(), significant.next());
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
            if object.get("op_id").is_some() || object.get("invoke_ts").is_some() {
                Ok(Format::Jsonl)
            } else if object.get("type").is_some() {
                Ok(Format::JepsenJsonl)
            } else {
                refuse(
                    "is no history: neither `op_id` (an operation a line) nor `type` (Jepsen's events) is among the \
                     names of the first line; --input-format says which it is",
                )
            }
        }
        (Some(b'['), Some(b'{')) if json_array(text) => {
            refuse("is a JSON array: a history is one object a line (`jq -c '.[]' FILE`)")
        }
        (Some(b'{' | b'[' | b'(' | b'#' | b';'), _) => Ok(Format::Edn),
        _ => refuse(
            "is no history: JSON Lines or EDN begin with `{`, `[`, `(`, `#` or `;`; --input-format says which it is",
        ),
    }
}

/// `[{"` begins JSON; EDN has a keyword there.
fn json_array(text: &[u8]) -> bool {
    let significant: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(3).collect();
    significant == b"[{\""
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
        check("", "nothing");
        check(" \n\n", "nothing");
    }

    #[test]
    fn what_is_no_history_is_refused_with_its_place() {
        check("\n[{\"type\":\"ok\"}]", "h:2: is a JSON array");
        check("{\"a\":1}", "h:1: is no history: neither `op_id`");
        check("{\"op_id\":", "h:1:9: is no JSON");
        check("op_id,process_id\n", "h:1: is no history");
        check("\0\0", "h:1: is no history");
    }
}
