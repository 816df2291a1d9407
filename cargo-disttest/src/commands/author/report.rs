//! What `author` did or would do, for people and for programs.

use super::decide::{Action, Decided};
use super::files::File;
use super::manifests::Manifest;
use crate::author::diff::unified;
use crate::author::{FileChange, manifest};
use crate::cli::AuthorArgs;
use crate::commands::{Context, shorter};
use crate::exit_code::{End, Failure};
use crate::plan_file::PlanFile;
use crate::targets::Found;
use serde::Serialize;
use std::path::Path;

/// `disttest.author/1`.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) schema: &'static str,
    pub(super) plan: String,
    /// `--check`: nothing is written, and `problems` says what is wrong.
    pub(super) check: bool,
    pub(super) dry_run: bool,
    /// What `files` and `manifests` say was done; false when it was only planned.
    pub(super) written: bool,
    pub(super) files: Vec<ReportFile>,
    pub(super) manifests: Vec<ReportManifest>,
    /// Scenarios without a file.
    pub(super) not_authored: Vec<NotAuthored>,
    /// With `--check`: everything that keeps the files from being what the plan says.
    pub(super) problems: Vec<Problem>,
    pub(super) next: String,
}

#[derive(Serialize)]
pub(super) struct NotAuthored {
    scenario: String,
    why: String,
}

#[derive(Serialize)]
pub(super) struct Problem {
    pub(super) scenario: Option<String>,
    pub(super) path: String,
    pub(super) line: Option<usize>,
    /// `missing`, `drift`, `edited`, `unfilled`, `manifest`, `refused`.
    pub(super) kind: &'static str,
    pub(super) message: String,
    pub(super) diff: String,
}

impl Problem {
    pub(super) fn new(scenario: Option<&str>, path: &Path, kind: &'static str, message: &str, diff: String) -> Problem {
        let path = shorter(path).display().to_string();
        Problem { scenario: scenario.map(str::to_owned), path, line: None, kind, message: message.to_owned(), diff }
    }
}

#[derive(Serialize)]
pub(super) struct ReportFile {
    pub(super) scenario: String,
    pub(super) path: String,
    pub(super) action: Action,
    /// Why the file was in the way, or why it was left.
    pub(super) reason: Option<String>,
    pub(super) note: Option<String>,
    /// Filled regions that were kept.
    pub(super) kept: Vec<String>,
    /// Regions that are to be filled.
    pub(super) unfilled: Vec<ReportRegion>,
    pub(super) diff: String,
}

#[derive(Serialize)]
pub(super) struct ReportRegion {
    name: String,
    line: usize,
}

#[derive(Serialize)]
pub(super) struct ReportManifest {
    path: String,
    diff: String,
    /// Lines to paste, with --no-manifest.
    paste: Option<String>,
}

impl Report {
    pub(super) fn new(
        plan: &PlanFile,
        found: &Found,
        files: &[Decided<'_>],
        manifests: &[Manifest],
        args: &AuthorArgs,
    ) -> Report {
        let files: Vec<ReportFile> = files.iter().map(report_file).collect();
        let entries = manifests.iter().map(|manifest| ReportManifest {
            path: shorter(&manifest.path).display().to_string(),
            diff: diff_of(&manifest.path, Some(&manifest.before), &manifest.after),
            paste: args.no_manifest.then(|| manifest::to_paste(&manifest.before, &manifest.after)),
        });
        let changed = |file: &ReportFile| !matches!(file.action, Action::UpToDate | Action::Skip | Action::Conflict);
        let pending = !manifests.is_empty() || files.iter().any(changed);
        let open = files.iter().any(|file| !file.unfilled.is_empty() || file.action == Action::Create);
        let next = if args.dry_run && pending {
            format!("cargo disttest author {}  # nothing is written yet", plan.shown)
        } else if open {
            format!("fill the regions, then cargo disttest run {}", plan.shown)
        } else {
            format!("cargo disttest run {}", plan.shown)
        };
        Report { dry_run: args.dry_run, manifests: entries.collect(), files, next, ..Report::empty(plan, found) }
    }

    pub(super) fn of_check(plan: &PlanFile, found: &Found, files: &[File<'_>], problems: Vec<Problem>) -> Report {
        let files = files.iter().map(checked_file).collect();
        let next = match problems.iter().all(|problem| problem.kind == "unfilled") {
            true if problems.is_empty() => format!("cargo disttest run {}", plan.shown),
            true => format!("fill the regions, then cargo disttest author {} --check", plan.shown),
            false => format!("cargo disttest author {}", plan.shown),
        };
        Report { check: true, files, problems, next, ..Report::empty(plan, found) }
    }

    fn empty(plan: &PlanFile, found: &Found) -> Report {
        let refused = found.refusals.iter().map(|(id, diagnostic)| (id.clone(), diagnostic.message.clone()));
        let left_out = found.not_authored().cloned().chain(refused);
        Report {
            schema: "disttest.author/1",
            plan: plan.shown.clone(),
            check: false,
            dry_run: false,
            written: false,
            files: Vec::new(),
            manifests: Vec::new(),
            not_authored: left_out.map(|(scenario, why)| NotAuthored { scenario, why }).collect(),
            problems: Vec::new(),
            next: String::new(),
        }
    }

    pub(super) fn print(&self, context: &Context) -> Result<(), Failure> {
        let json = serde_json::to_string_pretty(self).map_err(|error| Failure::new(End::Bug, error.to_string()))?;
        context.console.result(json);
        Ok(())
    }
}

fn report_file(file: &Decided<'_>) -> ReportFile {
    ReportFile {
        scenario: file.id.to_owned(),
        path: shorter(&file.path).display().to_string(),
        action: file.action,
        reason: file.reason.clone(),
        note: file.note.clone(),
        kept: file.kept.clone(),
        unfilled: file.unfilled.iter().map(|r| ReportRegion { name: r.name.clone(), line: r.line }).collect(),
        diff: file.after.as_deref().map_or(String::new(), |after| diff_of(&file.path, file.before.as_deref(), after)),
    }
}

/// A file as `--check` finds it; its diff stands with its problem.
fn checked_file(file: &File<'_>) -> ReportFile {
    let (action, reason, open) = match &file.change {
        FileChange::UpToDate { unfilled } => (Action::UpToDate, None, unfilled.as_slice()),
        FileChange::Create { .. } => (Action::Create, None, &[][..]),
        FileChange::Update { unfilled, .. } => (Action::Update, None, unfilled.as_slice()),
        FileChange::Conflict { reason, .. } => (Action::Conflict, Some(reason.clone()), &[][..]),
    };
    ReportFile {
        scenario: file.id.to_owned(),
        path: shorter(&file.placed.path()).display().to_string(),
        action,
        reason,
        note: file.note(),
        kept: Vec::new(),
        unfilled: open.iter().map(|r| ReportRegion { name: r.name.clone(), line: r.line }).collect(),
        diff: String::new(),
    }
}

pub(super) fn diff_of(path: &Path, before: Option<&str>, after: &str) -> String {
    unified(&shorter(path).display().to_string(), before, after)
}

pub(super) fn show_diffs(context: &Context, report: &Report, args: &AuthorArgs) {
    let console = &context.console;
    // A dry run is asked for its diff; otherwise `-q` means that nobody reads it.
    let diffs = args.dry_run || !context.common.quiet;
    for file in report.files.iter().filter(|_| diffs) {
        console.diff(&file.diff);
    }
    for manifest in &report.manifests {
        match &manifest.paste {
            Some(text) => console.result(format_args!("Add to {}:\n\n{text}", manifest.path)),
            None if diffs => console.diff(&manifest.diff),
            None => {}
        }
    }
}

pub(super) fn tell(context: &Context, plan: &PlanFile, file: &ReportFile, dry_run: bool) {
    let console = &context.console;
    let (done, planned) = match file.action {
        Action::UpToDate => ("Up to date", "Up to date"),
        Action::Create => ("Created", "Would create"),
        Action::Update => ("Updated", "Would update"),
        Action::Overwrite => ("Overwrote", "Would write"),
        Action::Skip => ("Skipped", "Would skip"),
        Action::Sibling => ("Created", "Would create"),
        Action::Conflict => ("In the way", "In the way"),
    };
    let new = matches!(file.action, Action::Create | Action::Sibling);
    let told = file.reason.iter().chain(file.note.iter().filter(|_| new)).cloned().collect::<Vec<_>>().join("; ");
    let why = if told.is_empty() { told } else { format!(" ({told})") };
    let id = plan.written(&file.scenario);
    console.status(if dry_run { planned } else { done }, format_args!("{id} {}{why}", file.path));
    if file.action == Action::Update && !file.kept.is_empty() {
        let kept = file.kept.join(", ");
        console.warning(format_args!(
            "{}: {id} changed in the plan; the code in {kept} was kept as it was. Does it still do what the plan says?",
            file.path
        ));
    }
    if file.action == Action::Sibling {
        console.warning(format_args!(
            "{}: build tools may take it for a test of its own, which it is not: merge it, then delete it",
            file.path
        ));
    }
    for region in &file.unfilled {
        console.status("To fill", format_args!("{}:{} {}", file.path, region.line, region.name));
    }
}
