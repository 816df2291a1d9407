//! Author mode of `run`: the test files that are missing are written before it builds.

use super::decide::{Action, Decided};
use super::files::{File, Source, compute};
use super::manifests::{manifests, tell_of_paths};
use super::{edits, found, header, stage};
use crate::author::{FileChange, write};
use crate::commands::{Context, failed, shorter};
use crate::exit_code::{End, Outcome};
use crate::git;
use crate::plan_file::PlanFile;
use std::path::Path;

/// `DIST_TEST_AUTHOR_MODE=1`: the operator wants tests written at their targets (format §14).
pub(crate) fn author_mode() -> bool {
    std::env::var_os("DIST_TEST_AUTHOR_MODE").is_some_and(|value| value == "1")
}

/// Writes the files of the scenarios `ids` (none: of all) that do not exist, and what their packages need in their
/// manifests; with what is filled in the ephemeral package `from_harness`, if there is one. Files that exist are left as they are, whatever is in them. Says on stderr what it wrote; the workspace
/// must be loaded again afterwards.
pub(crate) fn author_missing(
    context: &Context,
    plan: &PlanFile,
    ids: &[String],
    from_harness: Option<&Path>,
) -> Outcome {
    let workspace = context.workspace_of(&plan.path)?;
    let found = found(context, &workspace, plan, ids)?;
    let files =
        compute(context, &workspace, &found, from_harness.filter(|folder| folder.join("Cargo.toml").is_file()))?;
    let rust = files.iter().filter(|file| matches!(file.source, Source::Rust(_))).map(|file| file.placed);
    let manifests = manifests(&workspace, rust)?;
    let created: Vec<Decided<'_>> = files.iter().filter_map(created).collect();
    if created.is_empty() && manifests.is_empty() {
        return Ok(End::Clean);
    }
    let edits = edits(&created, &manifests, false);
    let mixed: Vec<_> =
        manifests.iter().map(|m| m.path.clone()).filter(|path| git::has_unstaged_changes(path)).collect();
    write::write_checked(&edits, &header).map_err(failed(End::Unwritable))?;
    for edit in &edits {
        let verb = if edit.before.is_none() { "Created" } else { "Updated" };
        context.console.status(verb, format_args!("{} (author mode)", shorter(&edit.path).display()));
    }
    tell_of_paths(context, &manifests);
    stage(context, &edits, &mixed);
    Ok(End::Clean)
}

fn created<'a>(file: &File<'a>) -> Option<Decided<'a>> {
    let FileChange::Create { text } = &file.change else {
        return None;
    };
    Some(Decided {
        id: file.id,
        placed: file.placed,
        rust: matches!(file.source, Source::Rust(_)),
        action: Action::Create,
        path: file.placed.path(),
        before: None,
        after: Some(text.clone()),
        kept: Vec::new(),
        unfilled: Vec::new(),
        reason: None,
        note: None,
    })
}
