//! Which scenarios a command line selects, and the lists that runners and IDEs read.

use super::argv::CommandLine;
use super::catalog::Entry;
use libtest_mimic::FormatSetting;
use serde_json::json;
use std::fmt::Write;

/// A selected scenario.
#[derive(Debug)]
pub(crate) struct Selected<'a> {
    /// The scenario.
    pub(crate) entry: &'a Entry,
    /// Why it is shown as ignored in place of being run.
    pub(crate) ignored: Option<String>,
}

/// The scenarios that `line` selects for a run, and how many it leaves out. An unfilled scenario is ignored unless
/// `strict`, or unless the line asks for ignored ones.
pub(crate) fn select<'a>(entries: &'a [Entry], line: &CommandLine, strict: bool) -> (Vec<Selected<'a>>, usize) {
    let runs_ignored = line.arguments.ignored || line.arguments.include_ignored;
    let selected: Vec<Selected<'_>> = entries
        .iter()
        .filter(|entry| matches(&entry.name, line))
        .filter(|entry| !line.arguments.ignored || is_ignored(entry, strict))
        .map(|entry| {
            let ignored = entry.ignore_reason().filter(|_| !strict && !runs_ignored);
            Selected { entry, ignored }
        })
        .collect();
    let left_out = entries.len() - selected.len();
    (selected, left_out)
}

/// The list that `--list` prints: lines of `name: test`, or libtest's JSON events. Nothing else may reach stdout.
pub(crate) fn list(entries: &[Entry], line: &CommandLine, strict: bool) -> String {
    let (selected, _) = select(entries, line, strict);
    if line.arguments.format == Some(FormatSetting::Json) {
        return list_json(&selected, strict);
    }
    selected.iter().fold(String::new(), |mut text, selected| {
        writeln!(text, "{}: test", selected.entry.name).expect("writing to a string");
        text
    })
}

fn list_json(selected: &[Selected<'_>], strict: bool) -> String {
    let discovered = selected.iter().map(|selected| {
        let entry = selected.entry;
        let reason = entry.ignore_reason().filter(|_| !strict);
        json!({
            "type": "test", "event": "discovered", "name": entry.name,
            "ignore": reason.is_some(), "ignore_message": reason.unwrap_or_default(),
            "source_path": entry.registration.file, "start_line": entry.registration.line, "start_col": 1,
            "end_line": entry.registration.line, "end_col": 1,
            "disttest": { "id": entry.declared.id, "plan": entry.declared.plan, "unfilled": entry.unfilled },
        })
    });
    let ignored = selected.iter().filter(|selected| is_ignored(selected.entry, strict)).count();
    let mut lines = vec![json!({ "type": "suite", "event": "discovery" })];
    lines.extend(discovered);
    lines.push(json!({
        "type": "suite", "event": "completed", "tests": selected.len(), "benchmarks": 0, "total": selected.len(),
        "ignored": ignored,
    }));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn is_ignored(entry: &Entry, strict: bool) -> bool {
    !strict && !entry.unfilled.is_empty()
}

fn matches(name: &str, line: &CommandLine) -> bool {
    let is = |filter: &String| if line.arguments.exact { name == filter } else { name.contains(filter.as_str()) };
    // `--bench` without `--test` asks for benchmarks only; a scenario is none.
    let only_benches = line.arguments.bench && !line.arguments.test;
    !only_benches && (line.filters.is_empty() || line.filters.iter().any(is)) && !line.arguments.skip.iter().any(is)
}
