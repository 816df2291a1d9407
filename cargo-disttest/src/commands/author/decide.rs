//! What is to happen to each file, with the user's word where one is in the way.

use super::File;
use crate::author::FileChange;
use crate::author::Unfilled;
use crate::author::diff::unified;
use crate::author::write;
use crate::cli::{AuthorArgs, OnConflict};
use crate::commands::{Context, failed, shorter};
use crate::exit_code::{End, Failure};
use crate::targets::Target;
use serde::Serialize;
use std::path::PathBuf;

/// A file whose fate is sealed.
pub(super) struct Decided<'a> {
    pub(super) target: &'a Target,
    pub(super) action: Action,
    pub(super) path: PathBuf,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) kept: Vec<String>,
    pub(super) unfilled: Vec<Unfilled>,
    pub(super) reason: Option<String>,
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
}

impl Decided<'_> {
    /// The target holds our file once this is done.
    pub(super) fn is_ours(&self) -> bool {
        !matches!(self.action, Action::Skip | Action::Sibling)
    }
}

pub(super) fn decide<'a>(
    context: &Context,
    files: Vec<File<'a>>,
    args: &AuthorArgs,
) -> Result<Vec<Decided<'a>>, Failure> {
    let mut decided = Vec::new();
    let mut conflicts = Vec::new();
    for File { target, before, change } in files {
        let path = target.placed.path();
        let plain = |action, after, kept, unfilled| Decided {
            target,
            action,
            path: path.clone(),
            before: before.clone(),
            after,
            kept,
            unfilled,
            reason: None,
        };
        match change {
            FileChange::UpToDate { unfilled } => decided.push(plain(Action::UpToDate, None, Vec::new(), unfilled)),
            FileChange::Create { text } => decided.push(plain(Action::Create, Some(text), Vec::new(), Vec::new())),
            FileChange::Update { text, kept, unfilled } => {
                decided.push(plain(Action::Update, Some(text), kept, unfilled));
            }
            FileChange::Conflict { reason, overwrite, sibling } => {
                let shown = shorter(&path).display().to_string();
                let choice = choose(context, args, &shown, &reason, before.as_deref(), &overwrite);
                let told = |file| Decided { reason: Some(reason.clone()), ..file };
                match choice {
                    None => conflicts.push(format!("{shown}: {reason}")),
                    Some(Action::Sibling) => {
                        decided.push(beside(told(plain(Action::Sibling, Some(sibling), vec![], vec![])))?);
                    }
                    Some(Action::Skip) => decided.push(told(plain(Action::Skip, None, vec![], vec![]))),
                    Some(action) => decided.push(told(plain(action, Some(overwrite), vec![], vec![]))),
                }
            }
        }
    }
    if conflicts.is_empty() {
        return Ok(decided);
    }
    let list = conflicts.join("\n  ");
    Err(Failure::new(
        End::Conflict,
        format!(
            "nothing was written; in the way:\n  {list}\nchoose: --on-conflict skip (leave it), overwrite (regions that \
             can be read are kept), or sibling (write <name>.new.rs beside it)"
        ),
    ))
}

/// What to do with a file in the way; `None` when nobody says.
fn choose(
    context: &Context,
    args: &AuthorArgs,
    shown: &str,
    reason: &str,
    before: Option<&str>,
    overwrite: &str,
) -> Option<Action> {
    match args.on_conflict {
        OnConflict::Skip => Some(Action::Skip),
        OnConflict::Overwrite => Some(Action::Overwrite),
        OnConflict::Sibling => Some(Action::Sibling),
        OnConflict::Ask if args.dry_run || context.json() => None,
        OnConflict::Ask => loop {
            let question =
                format!("{shown}: {reason}.\n[o]verwrite, [s]kip, write a [n]ew file beside it, or show the [d]iff?");
            match context.console.ask(&question)?.to_lowercase().as_str() {
                "o" | "overwrite" => return Some(Action::Overwrite),
                "s" | "skip" => return Some(Action::Skip),
                "n" | "new" | "sibling" => return Some(Action::Sibling),
                "d" | "diff" => context.console.diff(&unified(shown, before, overwrite)),
                _ => {}
            }
        },
    }
}

/// The file beside it. One that is there already is somebody's work, too.
fn beside(file: Decided<'_>) -> Result<Decided<'_>, Failure> {
    let path = file.path.with_extension("new.rs");
    let before = write::read(&path).map_err(failed(End::Unreadable))?;
    match &before {
        Some(text) if Some(text) != file.after.as_ref() => {
            let message = format!("{} exists: merge it, delete it, or choose another --on-conflict", path.display());
            Err(Failure::new(End::Conflict, message))
        }
        _ => Ok(Decided { path, before, ..file }),
    }
}
