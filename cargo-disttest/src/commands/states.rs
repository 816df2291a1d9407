//! How far each scenario of a plan has come: looks at the test files, writes nothing.

use super::Context;
use crate::author::{FileChange, file_change, write};
use crate::plan_file::PlanFile;
use crate::targets::{self, Target};
use crate::views::state::State;
use crate::views::summary::States;

/// The state of each scenario; empty where no workspace stands round the plan.
pub(super) fn states(context: &Context, plan: &PlanFile) -> States {
    let Ok(workspace) = context.workspace_of(&plan.path) else { return States::new() };
    let Ok(found) = targets::find(&workspace, plan, &[]) else { return States::new() };
    let mut states: States =
        found.targets.iter().map(|target| (target.wanted.attribute.id.clone(), state(target))).collect();
    states.extend(found.left_out.iter().map(|(id, why)| (id.clone(), State::NotAuthorable(why.clone()))));
    let missing = plan.plan.scenarios.iter().map(|s| s.id.value.to_string());
    let missing: Vec<String> = missing.filter(|id| !states.iter().any(|(other, _)| other == id)).collect();
    states.extend(missing.into_iter().map(|id| (id, State::NotAuthorable("the plan has errors there".to_owned()))));
    states
}

fn state(target: &Target) -> State {
    let existing = match write::read(&target.placed.path()) {
        Ok(existing) => existing,
        Err(why) => return State::Edited(why),
    };
    let names = |unfilled: Vec<crate::author::Unfilled>| unfilled.into_iter().map(|region| region.name).collect();
    // White space does not count for drift, so no formatter is started.
    match file_change(&target.wanted, existing.as_deref(), &|_| None) {
        FileChange::Create { .. } => State::NotAuthored,
        FileChange::Update { .. } => State::Drifted,
        FileChange::Conflict { reason, .. } => State::Edited(reason),
        FileChange::UpToDate { unfilled } if unfilled.is_empty() => State::Filled,
        FileChange::UpToDate { unfilled } => State::Unfilled(names(unfilled)),
    }
}
