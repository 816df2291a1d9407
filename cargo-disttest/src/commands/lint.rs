//! `plan`: reads and lints plans.

use super::{Context, shorter};
use crate::cli::PlanArgs;
use crate::exit_code::{End, Failure, Outcome};
use crate::plan_file::PlanFile;
use std::path::PathBuf;

/// Does it. A file that cannot be read does not keep the others from being linted.
pub(super) fn run(context: &Context, args: &PlanArgs) -> Outcome {
    let (plans, failures) = load(context, args)?;
    let unreadable = !failures.is_empty();
    for failure in failures {
        context.console.error(crate::console::visible(&failure.message));
    }
    Ok(match (plans.iter().any(PlanFile::has_errors), unreadable) {
        (true, _) => End::PlanErrors,
        (false, true) => End::Unreadable,
        (false, false) => End::Clean,
    })
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
