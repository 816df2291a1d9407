//! What is told of one file, and what is not told and why.

use super::levels::Levels;
use disttest_runtime::base::diagnostic::{Diagnostic, LineIndex, Severity, Span};
use disttest_runtime::plan::{self, Plan};
use std::path::PathBuf;

/// A diagnostic that is not told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Untold {
    /// What was found.
    pub diagnostic: Diagnostic,
    /// Why it may be passed over.
    pub reason: String,
    /// Who says so.
    pub by: By,
}

/// Who says that a finding may be passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// A comment in the plan.
    Comment(Span),
    /// A setting: `.config/disttest.toml:3`, `--allow`.
    Setting(String),
}

/// A file and all there is to tell of it.
#[derive(Debug)]
pub(crate) struct Told {
    /// The file, as it was named.
    pub shown: String,
    /// Where it is.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// Lines and columns of the text.
    pub index: LineIndex,
    /// What is told.
    pub diagnostics: Vec<Diagnostic>,
    /// What is not told.
    pub untold: Vec<Untold>,
}

impl Told {
    /// What `found` in `text` comes to once the plan's own suppressions and the levels are applied.
    pub(crate) fn new(shown: &str, path: PathBuf, text: &str, found: Found, levels: &Levels) -> Told {
        let (diagnostics, untold) = found.at(levels);
        let index = LineIndex::new(text);
        Told { shown: shown.to_owned(), path, text: text.to_owned(), index, diagnostics, untold }
    }

    /// True when an error is told.
    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    /// `2 errors, 1 warning, 3 suppressed`; `no complaints` when there is nothing to tell.
    pub(crate) fn count(&self) -> String {
        let mut words = super::count(&self.diagnostics);
        if words.is_empty() {
            words.push_str("no complaints");
        }
        let by_comment = self.untold.iter().filter(|untold| matches!(untold.by, By::Comment(_))).count();
        let by_setting = self.untold.len() - by_comment;
        for (n, word) in [(by_comment, "suppressed"), (by_setting, "allowed by configuration")] {
            if n > 0 {
                words.push_str(&format!(", {n} {word}"));
            }
        }
        words
    }
}

/// Everything found in a plan, before anybody's wishes.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    diagnostics: Vec<Diagnostic>,
    suppressions: Vec<plan::Suppression>,
}

impl Found {
    /// `diagnostics` are those of [`plan::check`] of `text`.
    pub(crate) fn new(plan: &Plan, text: &str, mut diagnostics: Vec<Diagnostic>) -> Found {
        let (suppressions, wrong) = plan::suppressions(plan, text);
        diagnostics.extend(wrong);
        diagnostics.sort_by_key(|d| (d.span.start, d.span.end));
        Found { diagnostics, suppressions }
    }

    /// What is wrong with a configuration file.
    pub(crate) fn of_config(diagnostics: Vec<Diagnostic>) -> Found {
        Found { diagnostics, suppressions: Vec::new() }
    }

    /// What is told, and what is not.
    pub(crate) fn at(self, levels: &Levels) -> (Vec<Diagnostic>, Vec<Untold>) {
        let (kept, suppressed) = plan::suppress(&self.suppressions, self.diagnostics);
        let (kept, allowed) = levels.apply(kept);
        let by_comment = suppressed.into_iter().map(|s| Untold {
            diagnostic: s.diagnostic,
            reason: s.reason,
            by: By::Comment(s.by),
        });
        (kept, by_comment.chain(allowed).collect())
    }
}
