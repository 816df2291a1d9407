//! `plan`: reads and lints plans.

use super::states::states;
use super::{Context, shorter};
use crate::cli::PlanArgs;
use crate::console::visible;
use crate::diagnostics;
use crate::exit_code::{End, Failure, Outcome};
use crate::plan_file::PlanFile;
use crate::views::graph::{Drawing, draw};
use crate::views::summary::summary;
use std::path::PathBuf;

/// Does it. A file that cannot be read does not keep the others from being linted.
pub(crate) fn run(context: &Context, args: &PlanArgs) -> Outcome {
    let (plans, failures) = load(context, args)?;
    for plan in &plans {
        match args.graph {
            Some(drawing) => print_graph(context, plan, drawing),
            None if context.json() => print_json(context, plan)?,
            None => print_text(context, plan)?,
        }
    }
    let unreadable = !failures.is_empty();
    for failure in failures {
        context.console.error(visible(&failure.message));
    }
    Ok(match (plans.iter().any(PlanFile::has_errors), unreadable) {
        (true, _) => End::PlanErrors,
        (false, true) => End::Unreadable,
        (false, false) => End::Clean,
    })
}

/// One document a line, so that several plans are one stream.
fn print_json(context: &Context, plan: &PlanFile) -> Result<(), Failure> {
    let json = super::plan::json(&plan.plan, &plan.text, &plan.shown, &states(context, plan), &plan.diagnostics);
    let json = serde_json::to_string(&json).map_err(|error| Failure::new(End::Bug, error.to_string()))?;
    context.console.result(json);
    Ok(())
}

/// The picture alone on stdout, so that it can be piped; how many complaints there are goes to stderr.
fn print_graph(context: &Context, plan: &PlanFile, drawing: Drawing) {
    context.console.result_text(&draw(&plan.plan, drawing));
    if plan.has_errors() {
        let told = diagnostics::count(&plan.diagnostics);
        context.console.error(format_args!("{}: {told}; cargo disttest plan {0} shows them", plan.shown));
    }
}

fn print_text(context: &Context, plan: &PlanFile) -> Result<(), Failure> {
    let console = &context.console;
    console.result_text(&diagnostics::render(&plan.shown, &plan.text, &plan.diagnostics, true));
    if !context.common.quiet {
        if !plan.diagnostics.is_empty() {
            console.result("");
        }
        console.result(format_args!("{}:", plan.shown));
        console.result_text(&summary(&plan.plan, &states(context, plan), &plan.diagnostics));
    }
    let next = if plan.has_errors() { "correct the errors, then cargo disttest plan" } else { "cargo disttest author" };
    console.next(format_args!("{next} {}", plan.shown));
    Ok(())
}

fn load(context: &Context, args: &PlanArgs) -> Result<(Vec<PlanFile>, Vec<Failure>), Failure> {
    let mut plans = Vec::new();
    let mut failures = Vec::new();
    let mut keep = |result: Result<PlanFile, Failure>| match result {
        Ok(plan) => plans.push(plan),
        Err(failure) => failures.push(failure),
    };
    if args.plans.is_empty() {
        let workspace = context.workspace()?;
        let all: Vec<PathBuf> = workspace.plans();
        if all.is_empty() {
            let message = "there is no docs/testing-plans/*.md in this workspace; name a plan".to_owned();
            return Err(Failure::new(End::Unreadable, message));
        }
        all.iter().for_each(|path| keep(PlanFile::load(&shorter(path))));
    }
    for named in &args.plans {
        // A plan that is there needs no workspace round it.
        let loaded = if named.exists() { PlanFile::load(named) } else { context.plan(&context.workspace()?, named) };
        keep(loaded);
    }
    Ok((plans, failures))
}
