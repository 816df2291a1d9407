//! L1: the test plan: typed model with source positions, parser, lint. Pure: a text in, a plan and diagnostics out.

mod budget;
mod category;
mod digest;
mod id;
mod index;
mod labels;
mod lint;
mod model;
#[cfg(test)]
mod mutations;
#[cfg(test)]
mod hostile;
pub mod names;
mod no_fault;
mod parse;
mod resolve;
mod rules;
mod without_spans;

pub use budget::{Budget, Budgets, Release, Tier};
pub use category::Category;
pub use digest::{plan_digest, scenario_digest, scenario_parts};
pub use id::Id;
pub use labels::{
    CLOSES, EXIT_CRITERIA, FALSIFIES, FAULTS, HARDENING, LANGUAGE, NOTES, ORACLE, RELEASE, SKELETON, SMOKE, TARGET,
};
pub use lint::{Blocker, blockers, lint};
pub use model::*;
pub use parse::parse;
pub use resolve::{Fault, Resolved, resolve, resolve_arm};
pub use rules::{RULES, Rule, rule};

use crate::base::diagnostic::Diagnostic;

/// Everything there is to say about a text: [`parse`], then [`lint()`], then what [`resolve`] could not fill in, in
/// the order of the text.
pub fn check(text: &str) -> (Plan, Vec<Diagnostic>) {
    let (plan, mut told) = parse(text);
    told.extend(lint(&plan, text));
    for scenario in &plan.scenarios {
        if scenario.arms.is_empty() {
            told.extend(resolve(&plan, scenario).1);
        }
        told.extend(scenario.arms.iter().flat_map(|arm| resolve_arm(&plan, scenario, arm).1));
    }
    told.sort_by_key(|d| (d.span.start, d.span.end));
    (plan, told)
}

/// True for a text that is such a plan at all: it has the title, a scenario, or two of the numbered sections. Another
/// text deserves one sentence, not a hundred errors.
pub fn is_a_plan(plan: &Plan) -> bool {
    let known = |number: &str| ["1b", "1c", "6b", "7b", "7c", "7d"].contains(&number);
    let sections = plan.sections.iter().filter(|s| known(&s.number)).count();
    plan.header.slug.is_some() || !plan.scenarios.is_empty() || sections >= 2
}
