//! L1: the test plan: typed model with source positions, parser, lint. Pure: a text in, a plan and diagnostics out.

mod arms;
mod budget;
mod category;
mod digest;
#[cfg(test)]
mod generate;
#[cfg(test)]
mod hostile;
mod id;
mod index;
mod labels;
mod lint;
mod model;
#[cfg(test)]
mod mutations;
pub mod names;
mod no_fault;
mod parse;
mod references;
mod render;
mod requirements;
mod resolve;
mod rules;
mod spelt;
mod suppress;
mod surfaces;
mod tiers;
mod told;
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
pub use render::{render, render_in_references};
pub use resolve::{Fault, Resolved, resolve, resolve_arm};
pub use rules::{RULES, Rule, rule};
pub use spelt::as_spelt;
pub use suppress::{Scope, Suppressed, Suppression, may_be_suppressed, suppress, suppressions};
pub(crate) use surfaces::{Surface, Tester};

use crate::base::diagnostic::Diagnostic;

/// Everything there is to say about a text: [`parse`], then [`lint()`], then what [`resolve`] could not fill in, in
/// the order of the text.
pub fn check(text: &str) -> (Plan, Vec<Diagnostic>) {
    let (plan, mut found, masked) = parse::parse_masked(text);
    found.extend(lint::lint_all(&plan, text, &masked));
    found.sort_by_key(|d| (d.span.start, d.span.end));
    let spelling = spelt::Spelling::of(&plan);
    for diagnostic in &mut found {
        diagnostic.message = spelling.apply(&diagnostic.message).into_owned();
        diagnostic.help = diagnostic.help.as_deref().map(|help| spelling.apply(help).into_owned());
    }
    (plan, found)
}

/// As [`check`], with the plan's own suppressions applied: what is told of it unless somebody sets levels, and what is
/// not. A test, an attribute or a verdict never looks at suppressions; they ask [`check`].
pub fn told(text: &str) -> (Plan, Vec<Diagnostic>, Vec<Suppressed>) {
    let (plan, mut found) = check(text);
    let (allowed, wrong) = suppressions(&plan, text);
    found.extend(wrong);
    let (kept, suppressed) = suppress(&allowed, found);
    (plan, kept, suppressed)
}

/// True for a text that is such a plan at all, whole or damaged. Another text deserves one sentence, not a hundred
/// errors: a README with numbered sections, the test plan of another method, another format.
pub fn is_a_plan(plan: &Plan) -> bool {
    let title = usize::from(plan.header.slug.is_some());
    let sections: usize = plan.sections.iter().map(|s| parse::marks_of_section(&s.number, &s.title)).sum();
    let header: usize = plan
        .header
        .fields
        .iter()
        .map(|f| match f.label.as_str() {
            "Plan mode" => 2,
            "SUT" | "Change under test" => 1,
            _ => 0,
        })
        .sum();
    let falsifies =
        |s: &Scenario| s.field(FALSIFIES).is_some() || s.model_block.is_some() || s.model_block_not_applicable;
    let scenarios = if plan.scenarios.iter().any(falsifies) { 3 } else { 0 };
    let titled = title == 1 && (plan.sections.is_empty() || sections > 0) && plan.appendices.is_empty();
    titled || title + sections + header + scenarios >= 3
}
