//! What `author` did or would do, for people and for programs.

use super::decide::{Action, Decided};
use super::manifests::Manifest;
use crate::author::diff::unified;
use crate::author::manifest;
use crate::cli::AuthorArgs;
use crate::commands::{Context, shorter};
use crate::exit_code::{End, Failure};
use crate::plan_file::PlanFile;
use serde::Serialize;
use std::path::Path;

/// `disttest.author/1`.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) schema: &'static str,
    pub(super) plan: String,
    pub(super) dry_run: bool,
    pub(super) files: Vec<ReportFile>,
    pub(super) manifests: Vec<ReportManifest>,
    pub(super) next: String,
}

#[derive(Serialize)]
pub(super) struct ReportFile {
    pub(super) scenario: String,
    pub(super) path: String,
    pub(super) action: Action,
    /// Why the file was in the way.
    pub(super) reason: Option<String>,
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
    pub(super) fn new(plan: &PlanFile, files: &[Decided<'_>], manifests: &[Manifest], args: &AuthorArgs) -> Report {
        let files: Vec<ReportFile> = files.iter().map(report_file).collect();
        let manifests = manifests.iter().map(|manifest| ReportManifest {
            path: shorter(&manifest.path).display().to_string(),
            diff: diff_of(&manifest.path, Some(&manifest.before), &manifest.after),
            paste: args.no_manifest.then(|| manifest::to_paste(&manifest.before, &manifest.after)),
        });
        let open = files.iter().any(|file| !file.unfilled.is_empty() || file.action == Action::Create);
        let next = if open {
            format!("fill the regions, then cargo disttest run {}", plan.shown)
        } else {
            format!("cargo disttest run {}", plan.shown)
        };
        let schema = "disttest.author/1";
        Report { schema, plan: plan.shown.clone(), dry_run: args.dry_run, manifests: manifests.collect(), files, next }
    }
}

fn report_file(file: &Decided<'_>) -> ReportFile {
    ReportFile {
        scenario: file.target.wanted.attribute.id.clone(),
        path: shorter(&file.path).display().to_string(),
        action: file.action,
        reason: file.reason.clone(),
        kept: file.kept.clone(),
        unfilled: file.unfilled.iter().map(|r| ReportRegion { name: r.name.clone(), line: r.line }).collect(),
        diff: file.after.as_deref().map_or(String::new(), |after| diff_of(&file.path, file.before.as_deref(), after)),
    }
}

pub(super) fn diff_of(path: &Path, before: Option<&str>, after: &str) -> String {
    unified(&shorter(path).display().to_string(), before, after)
}

pub(super) fn show(context: &Context, report: &Report, args: &AuthorArgs) -> Result<(), Failure> {
    let console = &context.console;
    if context.json() {
        let json = serde_json::to_string_pretty(report).map_err(|error| Failure::new(End::Bug, error.to_string()))?;
        console.result(json);
        return Ok(());
    }
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
    Ok(())
}

pub(super) fn tell(context: &Context, file: &ReportFile, dry_run: bool) {
    let console = &context.console;
    let (done, planned) = match file.action {
        Action::UpToDate => ("Up to date", "Up to date"),
        Action::Create => ("Created", "Would create"),
        Action::Update => ("Updated", "Would update"),
        Action::Overwrite => ("Overwrote", "Would write"),
        Action::Skip => ("Skipped", "Would skip"),
        Action::Sibling => ("Created", "Would create"),
    };
    let why = file.reason.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    console.status(if dry_run { planned } else { done }, format_args!("{} {}{why}", file.scenario, file.path));
    if file.action == Action::Update && !file.kept.is_empty() {
        let kept = file.kept.join(", ");
        console.warning(format_args!(
            "{}: {} changed in the plan; the code in {kept} was kept as it was. Does it still do what the plan says?",
            file.path, file.scenario
        ));
    }
    if file.action == Action::Sibling {
        console.warning(format_args!(
            "{}: cargo takes a file directly in tests/ for a test target and this one will not compile as such: merge \
             it, then delete it",
            file.path
        ));
    }
    for region in &file.unfilled {
        console.status("To fill", format_args!("{}:{} {}", file.path, region.line, region.name));
    }
}
