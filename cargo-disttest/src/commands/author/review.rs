//! The review on a terminal: one file at a time, its diff, and one key for what becomes of it.

use super::files::File;
use crate::author::FileChange;
use crate::author::diff::unified;
use crate::cli::AuthorArgs;
use crate::commands::{Context, shorter};

/// What somebody said of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Write it.
    Accept,
    /// Leave it.
    Skip,
    /// Write it beside the one that is there.
    Sibling,
    /// Leave it and all that come after it.
    Quit,
}

/// Lines of a diff that are shown unasked.
const SHOWN: usize = 40;
const KEYS: &str = "[a]ccept  [s]kip  write a [n]ew file beside it  [d]iff in full  [A]ccept all  [q]uit ?";

/// A review in progress.
pub(super) struct Review<'a> {
    context: &'a Context,
    possible: bool,
    number: usize,
    of: usize,
    /// Said once for all that are left.
    for_all: Option<Word>,
}

impl<'a> Review<'a> {
    pub(super) fn new(context: &'a Context, args: &AuthorArgs, of: usize) -> Review<'a> {
        let possible = !args.dry_run && !context.json() && context.console.is_interactive();
        Review { context, possible, number: 0, of, for_all: None }
    }

    /// Somebody is there to be asked.
    pub(super) fn is_possible(&self) -> bool {
        self.possible
    }

    /// It was ended before its last file.
    pub(super) fn has_quit(&self) -> bool {
        self.for_all == Some(Word::Quit)
    }

    /// What is said of `file`; `None` when nobody is there.
    pub(super) fn ask(&mut self, file: &File<'_>) -> Option<Word> {
        if !self.possible {
            return None;
        }
        if self.for_all.is_some() {
            return self.for_all;
        }
        self.number += 1;
        let console = &self.context.console;
        let shown = shorter(&file.placed.path()).display().to_string();
        let (why, after) = match &file.change {
            FileChange::Conflict { reason, overwrite, .. } => (reason.as_str(), overwrite.as_str()),
            FileChange::Create { text } => ("a new file", text.as_str()),
            FileChange::Update { text, .. } => ("the plan changed; filled regions are kept", text.as_str()),
            FileChange::UpToDate { .. } => return Some(Word::Accept),
        };
        let diff = unified(&shown, file.before.as_deref(), after);
        self.excerpt(&diff);
        let question = format!("[{}/{}] {shown} ({}): {why}\n{KEYS}", self.number, self.of, file.id);
        loop {
            // Input that ends is no consent.
            let word = match console.key(&question, "asndAqoy").unwrap_or('q') {
                'a' | 'o' | 'y' => Word::Accept,
                's' => Word::Skip,
                'n' => Word::Sibling,
                'A' => *self.for_all.insert(Word::Accept),
                'q' => *self.for_all.insert(Word::Quit),
                _ => {
                    console.diff(&diff);
                    continue;
                }
            };
            return Some(word);
        }
    }

    fn excerpt(&self, diff: &str) {
        let console = &self.context.console;
        let lines = diff.lines().count();
        if lines <= SHOWN {
            return console.diff(diff);
        }
        let first: String = diff.split_inclusive('\n').take(SHOWN).collect();
        console.diff(&first);
        console.status("Diff", format_args!("{} more lines: d shows them", lines - SHOWN));
    }
}
