//! Headings of scenarios that stand where nothing counts: in code, comments and quotations.

use super::Reader;
use super::head::head;
use super::line::Line;
use super::source::Place;
use crate::base::diagnostic::{Severity, Span};
use crate::plan::Id;
use crate::plan::labels::{self, FALSIFIES};
use crate::plan::rules::report;
use rustc_hash::FxHashSet;

impl Reader<'_> {
    /// Tells each of them, so that no scenario is lost without a word. That is an error where a fence of code has
    /// swallowed one with its fields: a fence above it was never closed.
    pub(super) fn hidden_scenarios(&mut self) {
        let source = self.source;
        let known: FxHashSet<Id> = self.plan.scenarios.iter().map(|s| s.id.value.clone()).collect();
        for (span, place) in &source.hidden {
            let what = match place {
                Place::Comment => "a comment",
                Place::Quotation => "a quotation",
            };
            for (id, at) in headings(source.text, *span) {
                self.hidden(&id, at, what, Severity::Note);
            }
        }
        for code in &source.codes {
            let found = headings(source.text, code.span);
            if found.is_empty() {
                continue;
            }
            // What a scenario falsifies stands below its heading; what a skeleton does, in the lines it starts with.
            let below = |at: &Span| source.text.get(at.end..code.span.end).unwrap_or("").lines().any(says_falsifies);
            let prose = matches!(code.language.as_str(), "" | "text" | "txt" | "md" | "markdown");
            let last = found.iter().rev().find(|(_, at)| below(at)).map_or(0, |(_, at)| at.end);
            for (id, at) in found {
                // A skeleton in a language whose comments start with `#` names its own scenario.
                let comment = known.contains(&id) && !source.text[at.start..].starts_with("###");
                let swallowed = code.fenced && !prose && at.end <= last;
                if swallowed && !known.contains(&id) {
                    self.hidden(&id, at, "a code fence, which the fence above it was to end,", Severity::Error);
                } else if prose || !comment {
                    self.hidden(&id, at, "code", Severity::Note);
                }
            }
        }
    }

    fn hidden(&mut self, id: &Id, span: Span, what: &str, severity: Severity) {
        let message = format!("scenario {id} stands in {what} and is not read");
        let mut told = report("hidden-scenario", span, message, "take it out of there if it is to count");
        told.severity = severity;
        self.told.push(told);
    }
}

/// Headings of scenarios in a part of the text, whatever it is.
fn headings(text: &str, span: Span) -> Vec<(Id, Span)> {
    let mut out = Vec::new();
    let mut start = span.start;
    for line in text.get(span.start..span.end).unwrap_or("").split_inclusive(['\n', '\r']) {
        let bare = line.trim_start_matches(|c: char| c.is_whitespace() || c == '>');
        let bare = bare.strip_prefix("<!--").unwrap_or(bare).trim();
        if bare.starts_with("##") {
            let found = head(&Line::part(0, bare), true).and_then(|head| head.id);
            let at = start + line.find(bare).unwrap_or(0);
            out.extend(found.map(|id| (id.value, Span::new(at, at + bare.len()))));
        }
        start += line.len();
    }
    out
}

fn says_falsifies(line: &str) -> bool {
    let bare = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let label = bare.split([':', '*']).next().unwrap_or("");
    labels::find(labels::SCENARIO, label) == Some(FALSIFIES)
}
