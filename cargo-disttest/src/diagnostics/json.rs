//! Diagnostics in the JSON of `plan`.

use super::told::{By, Told, Untold};
use disttest_runtime::base::diagnostic::{Diagnostic, LineIndex, Span};
use serde_json::{Value, json};

/// One diagnostic: `rule`, `severity`, `message`, `file`, `line`, `column`, `end_line`, `end_column`, `help`, `edits`.
/// Lines and columns count from 1, columns in characters; the end is the first place that is not meant any more.
pub(crate) fn diagnostic(diagnostic: &Diagnostic, file: &str, text: &str, index: &LineIndex) -> Value {
    let place = Place::of(diagnostic.span, text, index);
    let edit = |edit: &disttest_runtime::base::diagnostic::Edit| {
        let place = Place::of(edit.span, text, index);
        json!({
            "line": place.line,
            "column": place.column,
            "end_line": place.end_line,
            "end_column": place.end_column,
            "start": edit.span.start,
            "end": edit.span.end,
            "replacement": edit.replacement,
        })
    };
    json!({
        "rule": diagnostic.rule,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "file": file,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "help": diagnostic.help,
        "edits": diagnostic.edits.iter().map(edit).collect::<Vec<_>>(),
    })
}

/// `suppressed[]`: each with its `rule`, `line`, `reason`, and `by` (`plan` or `configuration`).
pub(crate) fn suppressed(told: &Told) -> Value {
    let one = |untold: &Untold| {
        let mut value = diagnostic(&untold.diagnostic, &told.shown, &told.text, &told.index);
        value["reason"] = json!(untold.reason);
        match &untold.by {
            By::Comment(span) => {
                value["by"] = json!("plan");
                value["comment_line"] = json!(told.index.position(&told.text, span.start).line);
            }
            By::Setting(place) => {
                value["by"] = json!("configuration");
                value["setting"] = json!(place);
            }
        }
        value
    };
    told.untold.iter().map(one).collect()
}

struct Place {
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

impl Place {
    fn of(span: Span, text: &str, index: &LineIndex) -> Place {
        let (start, end) = (index.position(text, span.start), index.position(text, span.end.max(span.start)));
        Place { line: start.line, column: start.column, end_line: end.line, end_column: end.column }
    }
}
