//! Pictures of a plan for people: summary, coverage matrix, graph. Pure: the caller reads files and prints.

pub(crate) mod graph;
pub(crate) mod matrix;
pub(crate) mod state;
pub(crate) mod summary;

use disttest_runtime::base::diagnostic::Spanned;
use disttest_runtime::plan::{Id, Plan};

fn has(ids: &[Spanned<Id>], id: &Id) -> bool {
    ids.iter().any(|other| other.value == *id)
}

/// The scenarios that falsify `claim`.
fn falsifying<'p>(plan: &'p Plan, claim: &'p Id) -> impl Iterator<Item = &'p disttest_runtime::plan::Scenario> {
    plan.scenarios.iter().filter(move |scenario| has(&scenario.falsifies, claim))
}
