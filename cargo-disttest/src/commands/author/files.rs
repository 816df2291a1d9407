//! The test files of a plan, and what is to happen to each.

use super::super::{Context, failed};
use crate::author::formatter::{self, Formatted};
use crate::author::{FileChange, file_change, foreign, rustfmt, write};
use crate::console::visible;
use crate::exit_code::{End, Failure};
use crate::harness;
use crate::targets::{ForeignTarget, Found, Target};
use crate::workspace::{Placed, Workspace};
use std::cell::RefCell;
use std::path::Path;

/// A file and what is to happen to it.
pub(super) struct File<'a> {
    pub(super) id: &'a str,
    pub(super) placed: &'a Placed,
    pub(super) source: Source<'a>,
    pub(super) before: Option<String>,
    pub(super) change: FileChange,
}

/// What a file is made from.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    Rust(&'a Target),
    Foreign(&'a ForeignTarget),
}

impl File<'_> {
    /// Our lines of `text`, in which white space does not count.
    pub(super) fn frame_of(&self, text: &str) -> Option<String> {
        match self.source {
            Source::Rust(_) => crate::author::regions::parse(text).ok().map(|pieces| pieces.squashed_frame()),
            Source::Foreign(target) => foreign::frame_of(target.foreign.language, text),
        }
    }

    /// Something to say when it is written for the first time.
    pub(super) fn note(&self) -> Option<String> {
        let new = matches!(self.change, FileChange::Create { .. });
        match self.source {
            Source::Rust(target) if new && !target.skeleton => Some("no skeleton in the plan: synthesized".to_owned()),
            Source::Rust(_) => None,
            Source::Foreign(target) => {
                let language = target.foreign.language.as_str();
                Some(format!("written in {language}: `cargo disttest run` does not run it"))
            }
        }
    }
}

/// What is to happen to each file, in plan order.
pub(super) fn compute<'a>(
    context: &Context,
    workspace: &Workspace,
    found: &'a Found,
    from_harness: Option<&Path>,
) -> Result<Vec<File<'a>>, Failure> {
    let rust = found.targets.iter().map(|target| rust(target, from_harness));
    let foreign = found.foreign.iter().map(|target| foreign_file(context, workspace, target));
    let mut files = rust.chain(foreign).collect::<Result<Vec<_>, _>>()?;
    files.sort_by_key(|file| found.order.iter().position(|id| id == file.id));
    for file in &mut files {
        if let FileChange::Conflict { reason, .. } = &mut file.change {
            // It quotes the file, which anybody may have written.
            *reason = visible(reason);
        }
    }
    Ok(files)
}

fn rust<'a>(target: &'a Target, from_harness: Option<&Path>) -> Result<File<'a>, Failure> {
    let before = write::read(&target.placed.path()).map_err(failed(End::Unreadable))?;
    let member = &target.placed.member;
    let format = |text: &str| rustfmt::format(text, &member.root, member.edition);
    let promoted = match (&before, from_harness) {
        (None, Some(from)) => harness::promoted(from, &target.wanted, &format).map_err(failed(End::Conflict))?,
        _ => None,
    };
    let change = match promoted {
        Some(text) => FileChange::Create { text },
        None => file_change(&target.wanted, before.as_deref(), &format),
    };
    let (id, placed) = (target.wanted.attribute.id.as_str(), &target.placed);
    Ok(File { id, placed, source: Source::Rust(target), before, change })
}

fn foreign_file<'a>(context: &Context, workspace: &Workspace, target: &'a ForeignTarget) -> Result<File<'a>, Failure> {
    let path = target.placed.path();
    let before = write::read(&path).map_err(failed(End::Unreadable))?;
    let language = target.foreign.language;
    let told = RefCell::new(None);
    let format = |text: &str| match formatter::format(language, text, &path, &workspace.root) {
        Formatted::Text(formatted, name) => {
            if !foreign::is_same(language, text, &formatted) {
                let why = "would change more than its layout: it stays as the plan has it";
                told.replace(Some(format!("{name} {why}: {}", path.display())));
            }
            Some(formatted)
        }
        Formatted::Refused(name) => {
            told.replace(Some(format!("{name} cannot read {}: it stays as it is", path.display())));
            None
        }
        Formatted::Missing(names) => {
            told.replace(Some(format!("{} is not formatted: no {} here", path.display(), names.join(" and no "))));
            None
        }
    };
    let change = foreign::foreign_change(&target.foreign, before.as_deref(), &format);
    if let Some(told) = told.into_inner() {
        context.console.detail(told);
    }
    let (id, placed) = (target.foreign.wanted.attribute.id.as_str(), &target.placed);
    Ok(File { id, placed, source: Source::Foreign(target), before, change })
}
