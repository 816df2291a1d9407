//! Events as JSON Lines.

use super::super::Problem;
use super::super::json::{self, Strict};
use super::event::{Event, Kind};
use serde::Deserialize;
use serde_json::Value;

/// A line as written. Other names are not read.
#[derive(Debug, Deserialize)]
struct Line {
    r#type: String,
    #[serde(default)]
    process: Value,
    #[serde(default)]
    f: Option<String>,
    #[serde(default)]
    value: Strict,
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    time: Option<i64>,
    #[serde(default)]
    error: Option<Strict>,
}

/// The event of a line.
pub(super) fn event(text: &[u8], number: usize) -> Result<Event, Problem> {
    let line: Line = json::line(text, number)?;
    let refuse = |problem: String| Problem::at(number, problem).showing(text);
    let kind = Kind::parse(&line.r#type)
        .ok_or_else(|| refuse(format!("`type` is invoke, ok, fail or info, not {:?}", line.r#type)))?;
    let process = match &line.process {
        Value::Number(process) => {
            Some(process.as_u64().ok_or_else(|| refuse(format!("{process} is the number of no process")))?)
        }
        Value::String(name) => other_process(name).map_err(refuse)?,
        Value::Null => Some(0),
        other => return Err(refuse(format!("`process` is a number or \"nemesis\", not {other}"))),
    };
    Ok(Event {
        kind,
        unnamed: line.process.is_null(),
        process,
        f: line.f,
        value: line.value.0,
        index: line.index,
        time: line.time.map(|time| u64::try_from(time).unwrap_or(0)),
        error: line.error.map(|Strict(error)| error.as_str().map_or_else(|| error.to_string(), str::to_owned)),
        line: number,
    })
}

/// A process that is not told by its number: the nemesis is no client.
pub(super) fn other_process(name: &str) -> Result<Option<u64>, String> {
    match name {
        "nemesis" => Ok(None),
        _ => name.parse().map(Some).map_err(|_| format!("`process` is a number or \"nemesis\", not {name:?}")),
    }
}
