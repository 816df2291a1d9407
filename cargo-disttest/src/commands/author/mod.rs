//! `author`: writes the test files of a plan.

mod check;
mod decide;
mod manifests;
mod report;

use super::{Context, failed};
use crate::author::write::{self, Edit};
use crate::author::{FileChange, file_change, rustfmt};
use crate::cli::AuthorArgs;
use crate::exit_code::{End, Failure, Outcome};
use crate::git;
use crate::harness;
use crate::targets::{self, Target};
use crate::workspace::Workspace;
use decide::{Decided, decide};
use manifests::{Manifest, manifests};
use report::{Report, show, tell};
use std::path::PathBuf;

/// Does it.
pub(super) fn run(context: &Context, args: &AuthorArgs) -> Outcome {
    let workspace = context.workspace()?;
    let plan = context.plan(&workspace, &args.plan)?;
    let found = targets::find(&workspace, &plan, &args.scenario)?;
    context.show(&plan, &found.diagnostics);
    if found.refused() {
        return Err(Failure::new(End::UnsafeTarget, format!("{} is not authored: see above", plan.shown)));
    }
    for (scenario, why) in &found.left_out {
        context.console.warning(format_args!("{scenario} is not written: {why}"));
    }
    let files = found.targets.iter().map(|target| compute(target, args)).collect::<Result<Vec<_>, _>>()?;
    if args.check {
        return check::check(context, &workspace, &plan, &files);
    }
    let decided = decide(context, files, args)?;
    let manifests = manifests(&workspace, decided.iter().filter(|file| file.is_ours()).map(|file| file.target))?;
    let report = Report::new(&plan, &decided, &manifests, args);
    show(context, &report, args)?;
    let edits = if args.dry_run { Vec::new() } else { edits(&decided, &manifests, args) };
    write::write_all(&edits).map_err(failed(End::Unwritable))?;
    stage(context, &workspace, &edits);
    report.files.iter().for_each(|file| tell(context, file, args.dry_run));
    context.console.next(&report.next);
    Ok(End::Clean)
}

/// A file and what is to happen to it.
struct File<'a> {
    target: &'a Target,
    before: Option<String>,
    change: FileChange,
}

fn compute<'a>(target: &'a Target, args: &AuthorArgs) -> Result<File<'a>, Failure> {
    let before = write::read(&target.placed.path()).map_err(failed(End::Unreadable))?;
    let member = &target.placed.member;
    let format = |text: &str| rustfmt::format(text, &member.root, member.edition);
    let promoted = match (&before, &args.from_harness) {
        (None, Some(from)) => harness::promoted(from, &target.wanted, &format).map_err(failed(End::Conflict))?,
        _ => None,
    };
    let change = match promoted {
        Some(text) => FileChange::Create { text },
        None => file_change(&target.wanted, before.as_deref(), &format),
    };
    Ok(File { target, before, change })
}

fn edits(files: &[Decided<'_>], manifests: &[Manifest], args: &AuthorArgs) -> Vec<Edit> {
    let files = files.iter().filter_map(|file| {
        let after = file.after.clone()?;
        (file.before.as_ref() != Some(&after)).then(|| Edit {
            path: file.path.clone(),
            before: file.before.clone(),
            after,
        })
    });
    let manifests = manifests.iter().filter(|_| !args.no_manifest).map(|manifest| Edit {
        path: manifest.path.clone(),
        before: Some(manifest.before.clone()),
        after: manifest.after.clone(),
    });
    files.chain(manifests).collect()
}

fn stage(context: &Context, workspace: &Workspace, edits: &[Edit]) {
    let paths: Vec<PathBuf> = edits.iter().map(|edit| edit.path.clone()).collect();
    match git::stage(&workspace.root, &paths) {
        Ok(true) => context.console.status("Staged", format_args!("{} files", paths.len())),
        Ok(false) => {}
        Err(why) => context.console.warning(format_args!("written, but not staged: {why}")),
    }
}
