//! What is to happen to each file, with the user's word where one is in the way.

use super::files::{File, Source};
use super::review::{Review, Word};
use crate::author::{FileChange, Unfilled, write};
use crate::cli::{AuthorArgs, OnConflict};
use crate::commands::{Context, failed, shorter};
use crate::exit_code::{End, Failure};
use crate::workspace::Placed;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A file whose fate is sealed.
pub(super) struct Decided<'a> {
    pub(super) id: &'a str,
    pub(super) placed: &'a Placed,
    /// Built by cargo, so that its package needs an entry for it.
    pub(super) rust: bool,
    pub(super) action: Action,
    pub(super) path: PathBuf,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) kept: Vec<String>,
    pub(super) unfilled: Vec<Unfilled>,
    pub(super) reason: Option<String>,
    pub(super) note: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Action {
    UpToDate,
    Create,
    Update,
    Overwrite,
    Skip,
    Sibling,
    /// In the way, and nobody said what to do with it.
    Conflict,
}

impl Decided<'_> {
    /// The target holds our file once this is done.
    pub(super) fn is_ours(&self) -> bool {
        !matches!(self.action, Action::Skip | Action::Sibling | Action::Conflict)
    }
}

/// All of them.
pub(super) struct Decision<'a> {
    pub(super) files: Vec<Decided<'a>>,
    /// Files in the way that nobody decided on: path and reason.
    pub(super) conflicts: Vec<String>,
    /// The review was ended before its last file.
    pub(super) quit: bool,
}

pub(super) fn decide<'a>(context: &Context, files: Vec<File<'a>>, args: &AuthorArgs) -> Result<Decision<'a>, Failure> {
    let asked = |file: &File<'_>| match file.change {
        FileChange::UpToDate { .. } => false,
        FileChange::Create { .. } | FileChange::Update { .. } => args.review,
        FileChange::Conflict { .. } => true,
    };
    let questions = files.iter().filter(|file| asked(file)).count();
    let mut review = Review::new(context, args, questions);
    if args.review && questions > 0 && !review.is_possible() {
        let message = "--review needs a terminal (--dry-run shows the diff without one)";
        return Err(Failure::new(End::WrongUsage, message));
    }
    let mut decision = Decision { files: Vec::new(), conflicts: Vec::new(), quit: false };
    for file in files {
        let word = if asked(&file) { said(&mut review, &file, args) } else { Some(Word::Accept) };
        if word.is_none() {
            let shown = shorter(&file.placed.path()).display().to_string();
            let reason = match &file.change {
                FileChange::Conflict { reason, .. } => reason.as_str(),
                _ => "it is new or changed, and nobody looked at it",
            };
            decision.conflicts.push(format!("{shown}: {reason}"));
        }
        decision.files.push(decided(file, word)?);
    }
    decision.quit = review.has_quit();
    if decision.quit {
        // Nothing that was not looked at is written once somebody had enough.
        leave_unseen(&mut decision.files, args);
    }
    Ok(decision)
}

/// What is said of one file; `None` when nobody says.
fn said(review: &mut Review<'_>, file: &File<'_>, args: &AuthorArgs) -> Option<Word> {
    let conflict = matches!(file.change, FileChange::Conflict { .. });
    match args.on_conflict {
        OnConflict::Skip if conflict => Some(Word::Skip),
        OnConflict::Overwrite if conflict => Some(Word::Accept),
        OnConflict::Sibling if conflict => Some(Word::Sibling),
        _ => review.ask(file),
    }
}

fn decided<'a>(file: File<'a>, word: Option<Word>) -> Result<Decided<'a>, Failure> {
    let note = file.note();
    let File { id, placed, source, before, change } = file;
    let path = placed.path();
    let rust = matches!(source, Source::Rust(_));
    let plain = |action, after| Decided {
        id,
        placed,
        rust,
        action,
        path,
        before,
        after,
        kept: Vec::new(),
        unfilled: Vec::new(),
        reason: None,
        note,
    };
    let skipped = |word: Word| (word == Word::Quit).then(|| "not looked at".to_owned());
    Ok(match (change, word) {
        (FileChange::UpToDate { unfilled }, _) => Decided { unfilled, ..plain(Action::UpToDate, None) },
        (FileChange::Create { text }, Some(Word::Accept)) => plain(Action::Create, Some(text)),
        (FileChange::Update { text, kept, unfilled }, Some(Word::Accept)) => {
            Decided { kept, unfilled, ..plain(Action::Update, Some(text)) }
        }
        (FileChange::Create { text } | FileChange::Update { text, .. }, Some(Word::Sibling)) => {
            beside(plain(Action::Sibling, Some(text)))?
        }
        (FileChange::Create { .. } | FileChange::Update { .. }, Some(word)) => {
            Decided { reason: skipped(word), ..plain(Action::Skip, None) }
        }
        (FileChange::Create { .. } | FileChange::Update { .. }, None) => plain(Action::Conflict, None),
        (FileChange::Conflict { reason, overwrite, sibling }, word) => {
            let told = |file| Decided { reason: Some(reason), ..file };
            match word {
                None => told(plain(Action::Conflict, None)),
                Some(Word::Accept) => told(plain(Action::Overwrite, Some(overwrite))),
                Some(Word::Sibling) => beside(told(plain(Action::Sibling, Some(sibling))))?,
                Some(Word::Skip | Word::Quit) => told(plain(Action::Skip, None)),
            }
        }
    })
}

/// Files that needed no question are left alone, too, when a review is given up.
fn leave_unseen(files: &mut [Decided<'_>], args: &AuthorArgs) {
    let routine = |file: &&mut Decided<'_>| !args.review && matches!(file.action, Action::Create | Action::Update);
    for file in files.iter_mut().filter(routine) {
        file.action = Action::Skip;
        file.after = None;
        file.kept.clear();
        file.reason = Some("the review was ended".to_owned());
    }
}

/// The file beside it. One that is there already is somebody's work, too.
fn beside(file: Decided<'_>) -> Result<Decided<'_>, Failure> {
    let path = sibling(&file.path);
    let before = write::read(&path).map_err(failed(End::Unreadable))?;
    match &before {
        Some(text) if Some(text) != file.after.as_ref() => {
            let message = format!("{} exists: merge it, delete it, or choose another --on-conflict", path.display());
            Err(Failure::new(End::Conflict, message))
        }
        _ => Ok(Decided { path, before, ..file }),
    }
}

/// `<stem>.new.<suffix>`.
fn sibling(path: &Path) -> PathBuf {
    let suffix = path.extension().map(|suffix| suffix.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_extension(format!("new.{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sibling_keeps_the_suffix() {
        let check = |path: &str, expect: &str| assert_eq!(sibling(Path::new(path)), Path::new(expect));
        check("tests/s1.rs", "tests/s1.new.rs");
        check("pkg/a_test.go", "pkg/a_test.new.go");
        check("a.test.ts", "a.test.new.ts");
        check("s.sh", "s.new.sh");
    }
}
