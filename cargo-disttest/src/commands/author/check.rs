//! `author --check`: whether the test files are what the plan says.

use super::File;
use super::manifests::manifests;
use super::report::diff_of;
use crate::author::FileChange;
use crate::commands::{Context, shorter};
use crate::exit_code::{End, Failure, Outcome};
use crate::plan_file::PlanFile;
use crate::workspace::Workspace;
use serde::Serialize;
use std::path::Path;

/// `--check`: everything that keeps the test files from being what the plan says.
pub(super) fn check(context: &Context, workspace: &Workspace, plan: &PlanFile, files: &[File<'_>]) -> Outcome {
    let mut problems: Vec<Problem> = files.iter().flat_map(problems_of).collect();
    for manifest in manifests(workspace, files.iter().map(|file| file.target))? {
        let diff = diff_of(&manifest.path, Some(&manifest.before), &manifest.after);
        problems.push(Problem::new(None, &manifest.path, "manifest", "it lacks entries for the test files", diff));
    }
    let fix = format!("cargo disttest author {}", plan.shown);
    if context.json() {
        let report = CheckReport { schema: "disttest.author-check/1", plan: plan.shown.clone(), problems, fix };
        let json = serde_json::to_string_pretty(&report).map_err(|error| Failure::new(End::Bug, error.to_string()))?;
        context.console.result(json);
        return Ok(if report.problems.is_empty() { End::Clean } else { End::Drift });
    }
    for problem in &problems {
        context.console.diff(&problem.diff);
    }
    for Problem { scenario, path, line, message, .. } in &problems {
        let scenario = scenario.as_ref().map(|id| format!("{id}: ")).unwrap_or_default();
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        context.console.error(format_args!("{path}{line}: {scenario}{message}"));
    }
    if problems.is_empty() {
        context.console.status("Up to date", format_args!("{} test files of {}", files.len(), plan.shown));
        return Ok(End::Clean);
    }
    context.console.next(&fix);
    Ok(End::Drift)
}

/// `disttest.author-check/1`.
#[derive(Serialize)]
struct CheckReport {
    schema: &'static str,
    plan: String,
    problems: Vec<Problem>,
    fix: String,
}

#[derive(Serialize)]
struct Problem {
    scenario: Option<String>,
    path: String,
    line: Option<usize>,
    /// `missing`, `drift`, `edited`, `unfilled`, `manifest`.
    kind: &'static str,
    message: String,
    diff: String,
}

impl Problem {
    fn new(scenario: Option<&str>, path: &Path, kind: &'static str, message: &str, diff: String) -> Problem {
        let path = shorter(path).display().to_string();
        Problem { scenario: scenario.map(str::to_owned), path, line: None, kind, message: message.to_owned(), diff }
    }
}

fn problems_of(file: &File<'_>) -> Vec<Problem> {
    let path = file.target.placed.path();
    let id = Some(file.target.wanted.attribute.id.as_str());
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
