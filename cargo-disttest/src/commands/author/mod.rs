//! `author`: writes the test files of a plan.

mod check;
mod decide;
mod dirty;
mod files;
mod manifests;
mod missing;
mod report;
mod review;

use super::{Context, failed, shorter};
use crate::author::write::{self, Edit};
use crate::cli::AuthorArgs;
use crate::exit_code::{End, Failure, Outcome};
use crate::new::inventory::count;
use crate::plan_file::PlanFile;
use crate::targets::{self, Found};
use crate::todo::lacking::lacking;
use crate::workspace::Workspace;
use crate::{console, git, harness};
use decide::{Decided, Decision, decide};
use files::compute;
use manifests::{Manifest, manifests, tell_of_paths};
use report::{Report, show_diffs, tell};
use std::path::{Path, PathBuf};

pub(crate) use missing::{author_missing, author_mode};

/// Does it.
pub(super) fn run(context: &Context, args: &AuthorArgs) -> Outcome {
    let workspace = context.workspace_of(&args.plan)?;
    let plan = context.plan(&workspace, &args.plan)?;
    let found = found(context, &workspace, &plan, &args.scenario)?;
    if let Some(from) = &args.from_harness {
        let plan = found.targets.first().map(|target| target.wanted.attribute.plan.as_str());
        harness::is_package(from, plan).map_err(|why| failed(End::WrongUsage)(format!("--from-harness: {why}")))?;
    }
    let mut files = compute(context, &workspace, &found, args.from_harness.as_deref())?;
    if args.check {
        return check::check(context, &workspace, &plan, &found, &files);
    }
    if !args.allow_dirty {
        files.iter_mut().for_each(dirty::respect);
    }
    let Decision { files, conflicts, quit } = decide(context, files, args)?;
    let rust = files.iter().filter(|file| file.is_ours() && file.rust).map(|file| file.placed);
    let manifests = manifests(&workspace, rust)?;
    let mut report = Report::new(&plan, &found, &files, &manifests, args);
    if !context.json() {
        show_diffs(context, &report, args);
    }
    let writes = !args.dry_run && conflicts.is_empty();
    if writes {
        write(context, &files, &manifests, args)?;
        tell_of_paths(context, &manifests);
    }
    report.written = writes;
    if context.json() {
        report.print(context)?;
    }
    if !conflicts.is_empty() {
        return Err(in_the_way(&conflicts));
    }
    report.files.iter().for_each(|file| tell(context, &plan, file, args.dry_run));
    let ours = files.iter().filter(|file| file.is_ours());
    let texts = ours.filter_map(|file| Some((file.path.as_path(), file.after.as_ref().or(file.before.as_ref())?)));
    tell_of_lacking(context, &found, texts);
    context.console.next(&report.next);
    Ok(match (quit, found.refusals.is_empty()) {
        (true, _) => End::Conflict,
        (false, false) => End::SkeletonRefused,
        (false, true) => End::Clean,
    })
}

/// The targets of the plan, once everything that is wrong with them is told.
fn found(context: &Context, workspace: &Workspace, plan: &PlanFile, ids: &[String]) -> Result<Found, Failure> {
    let found = targets::find(workspace, plan, ids)?;
    let refusals = found.refusals.iter().map(|(_, diagnostic)| diagnostic);
    let told: Vec<_> = found.diagnostics.iter().chain(&found.notes).chain(refusals).cloned().collect();
    context.show(plan, &told);
    if found.refused() {
        return Err(Failure::new(End::UnsafeTarget, format!("{} is not authored: see above", plan.shown)));
    }
    for (scenario, why) in found.not_authored() {
        let id = plan.written(scenario);
        context.console.warning(console::visible(&format!("{id} cannot be authored: {why}")));
    }
    Ok(found)
}

/// Code that was kept does not follow the plan by itself. `files`: where each is, and its text.
fn tell_of_lacking<'a>(context: &Context, found: &Found, files: impl Iterator<Item = (&'a Path, &'a String)>) {
    for (path, text) in files {
        let Some(target) = found.targets.iter().find(|target| target.placed.path() == path) else { continue };
        let path = shorter(path).display().to_string();
        for one in lacking(&target.wanted, text) {
            context.console.warning(console::visible(&format!("{path}:{}: {}", one.line, one.message())));
        }
    }
}

fn in_the_way(conflicts: &[String]) -> Failure {
    let list = conflicts.join("\n  ");
    Failure::new(
        End::Conflict,
        format!(
            "nothing was written; in the way:\n  {list}\nchoose: --on-conflict skip (leave it), overwrite (regions that \
             can be read are kept), or sibling (write <name>.new.<suffix> beside it)"
        ),
    )
}

/// Writes all of it or nothing, and stages it.
fn write(context: &Context, files: &[Decided<'_>], manifests: &[Manifest], args: &AuthorArgs) -> Result<(), Failure> {
    let edits = edits(files, manifests, args.no_manifest);
    // People's own changes of a manifest must not be staged along with ours.
    let mixed: Vec<PathBuf> =
        manifests.iter().map(|m| m.path.clone()).filter(|path| git::has_unstaged_changes(path)).collect();
    write::write_checked(&edits, &header).map_err(failed(End::Unwritable))?;
    stage(context, &edits, &mixed);
    Ok(())
}

/// A test file without its header is refused even when it is written already (format §14).
fn header(path: &Path) -> Option<&'static str> {
    (!path.ends_with("Cargo.toml")).then_some("AUTO-GENERATED from test plan:")
}

fn edits(files: &[Decided<'_>], manifests: &[Manifest], no_manifest: bool) -> Vec<Edit> {
    let files = files.iter().filter_map(|file| {
        let after = file.after.clone()?;
        (file.before.as_ref() != Some(&after)).then(|| Edit {
            path: file.path.clone(),
            before: file.before.clone(),
            after,
        })
    });
    let manifests = manifests.iter().filter(|_| !no_manifest).map(|manifest| Edit {
        path: manifest.path.clone(),
        before: Some(manifest.before.clone()),
        after: manifest.after.clone(),
    });
    files.chain(manifests).collect()
}

fn stage(context: &Context, edits: &[Edit], mixed: &[PathBuf]) {
    let console = &context.console;
    let paths: Vec<PathBuf> = edits.iter().map(|edit| edit.path.clone()).filter(|path| !mixed.contains(path)).collect();
    for path in mixed.iter().filter(|path| edits.iter().any(|edit| edit.path == **path)) {
        let path = shorter(path).display().to_string();
        console.warning(format_args!(
            "{path} is written and not staged: it has changes of yours that are not staged either"
        ));
    }
    match git::stage(&paths) {
        Ok(staged) => {
            for (path, rule) in &staged.ignored {
                let path = shorter(path).display().to_string();
                let told =
                    format!("{path} is written and not staged: git ignores it ({rule}), so nobody else will have it");
                console.warning(console::visible(&told));
            }
            if staged.files > 0 {
                console.status("Staged", count(staged.files, "file"));
            }
        }
        Err(why) => console.warning(console::visible(&format!("written, but not staged: {why}"))),
    }
}
