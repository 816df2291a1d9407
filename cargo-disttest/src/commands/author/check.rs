//! `author --check`: whether the test files are what the plan says.

use super::files::{File, Source};
use super::manifests::{Manifest, manifests};
use super::report::{Problem, Report, diff_of};
use super::tell_of_lacking;
use crate::author::FileChange;
use crate::commands::Context;
use crate::console::visible;
use crate::exit_code::{End, Outcome};
use crate::plan_file::PlanFile;
use crate::targets::Found;
use crate::workspace::Workspace;
use std::path::PathBuf;

/// `--check`: everything that keeps the test files from being what the plan says.
pub(super) fn check(
    context: &Context,
    workspace: &Workspace,
    plan: &PlanFile,
    found: &Found,
    files: &[File<'_>],
) -> Outcome {
    let rust = files.iter().filter(|file| matches!(file.source, Source::Rust(_))).map(|file| file.placed);
    let manifests = manifests(workspace, rust)?;
    let refused = found.refusals.iter().map(|(id, diagnostic)| Problem {
        line: None,
        ..Problem::new(Some(id), std::path::Path::new(&plan.shown), "refused", &diagnostic.message, String::new())
    });
    let problems = files.iter().flat_map(problems_of).chain(manifests.iter().map(entry_missing)).chain(refused);
    let mut problems: Vec<Problem> = problems.collect();
    if files.is_empty() && problems.is_empty() {
        // A gate that looked at nothing must not be green.
        let message = "there is no test file to check: none of the scenarios can be authored";
        let path = std::path::Path::new(&plan.shown);
        problems.push(Problem::new(None, path, "nothing-checked", message, String::new()));
    }
    let paths: Vec<(PathBuf, &String)> =
        files.iter().filter_map(|file| Some((file.placed.path(), file.before.as_ref()?))).collect();
    tell_of_lacking(context, found, paths.iter().map(|(path, text)| (path.as_path(), *text)));
    let end = if problems.is_empty() { End::Clean } else { End::Drift };
    let report = Report::of_check(plan, found, files, problems);
    if context.json() {
        report.print(context)?;
        return Ok(end);
    }
    for problem in &report.problems {
        context.console.diff(&problem.diff);
    }
    for Problem { scenario, path, line, message, .. } in &report.problems {
        let scenario = scenario.as_ref().map(|id| format!("{}: ", plan.written(id))).unwrap_or_default();
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        context.console.error(visible(&format!("{path}{line}: {scenario}{message}")));
    }
    if report.problems.is_empty() {
        context.console.status("Up to date", format_args!("{} test files of {}", files.len(), plan.shown));
    } else {
        context.console.next(&report.next);
    }
    Ok(end)
}

fn entry_missing(manifest: &Manifest) -> Problem {
    let diff = diff_of(&manifest.path, Some(&manifest.before), &manifest.after);
    Problem::new(None, &manifest.path, "manifest", "it lacks entries for the test files", diff)
}

fn problems_of(file: &File<'_>) -> Vec<Problem> {
    let path = file.placed.path();
    let id = Some(file.id);
    let diff = |after: &str| diff_of(&path, file.before.as_deref(), after);
    let (problem, unfilled) = match &file.change {
        FileChange::UpToDate { unfilled } => (None, unfilled.as_slice()),
        FileChange::Create { text } => {
            (Some(Problem::new(id, &path, "missing", "it was never written", diff(text))), &[][..])
        }
        FileChange::Update { text, unfilled, .. } => {
            (Some(Problem::new(id, &path, "drift", "it is not what the plan says", diff(text))), unfilled.as_slice())
        }
        FileChange::Conflict { reason, overwrite, .. } => {
            (Some(Problem::new(id, &path, "edited", reason, diff(overwrite))), &[][..])
        }
    };
    let unfilled = unfilled.iter().map(|region| Problem {
        line: Some(region.line),
        ..Problem::new(id, &path, "unfilled", &format!("{} is not filled", region.name), String::new())
    });
    problem.into_iter().chain(unfilled).collect()
}
