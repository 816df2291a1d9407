//! The decision tree: one total function.

use super::Verdict;
use serde::{Deserialize, Serialize};

/// Facts of a scenario, as far as the tree cares.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {}

/// The branch that decided, and every cap that lowered it afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Why {
    /// The first step is the branch of the tree; the others lowered its verdict (or explain a note).
    pub steps: Vec<Step>,
}

/// One step of the decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Stable kebab-case name of the branch, gate or audit, such as `fault-not-proven`, `budget-gate`, `weak-oracle-11`.
    pub rule: String,
    /// The verdict after this step.
    pub verdict: Verdict,
    /// In one sentence, with the numbers.
    pub reason: String,
}
