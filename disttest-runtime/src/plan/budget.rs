//! Budgets as data: what a run must reach to earn a tier.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A tier of effort; the order is that of strength.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Quick look.
    #[default]
    Smoke,
    /// What a hardening claim needs.
    Hardening,
    /// Long, repeated, statistical.
    Release,
}

impl Tier {
    /// The word of the format.
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::Smoke => "smoke",
            Tier::Hardening => "hardening",
            Tier::Release => "release",
        }
    }

    /// Reads the word of the format.
    pub fn parse(text: &str) -> Option<Tier> {
        [Tier::Smoke, Tier::Hardening, Tier::Release].into_iter().find(|tier| tier.as_str() == text)
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Minimum effort on each dimension, or the effort measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Size of the configuration: nodes (or tenants, shards: what the plan counts).
    pub nodes: u64,
    /// Duration of the workload of one seed, in whole seconds.
    pub seconds: u64,
    /// Fault windows of one seed (that landed, when measured).
    pub faults: u64,
    /// Seeds.
    pub seeds: u64,
    /// Operations of one seed; 0 when the plan names no number.
    #[serde(default)]
    pub operations: u64,
}

impl Budget {
    /// True when `self` reaches `floor` on every dimension.
    pub fn meets(&self, floor: &Budget) -> bool {
        self.shortfalls(floor).is_empty()
    }

    /// Each dimension on which `self` stays below `floor`, as (name, has, needs).
    pub fn shortfalls(&self, floor: &Budget) -> Vec<(&'static str, u64, u64)> {
        self.dimensions()
            .into_iter()
            .zip(floor.dimensions())
            .filter(|((_, has), (_, needs))| has < needs)
            .map(|((name, has), (_, needs))| (name, has, needs))
            .collect()
    }

    /// Dimensions on which `self` (the hardening tier) is not strictly stronger than `smoke`. A dimension that
    /// neither names is no dimension of the plan.
    pub fn not_stronger_than(&self, smoke: &Budget) -> Vec<&'static str> {
        self.dimensions()
            .into_iter()
            .zip(smoke.dimensions())
            .filter(|((_, hard), (_, smoke))| hard <= smoke && (*hard, *smoke) != (0, 0))
            .map(|((name, _), _)| name)
            .collect()
    }

    fn dimensions(&self) -> [(&'static str, u64); 5] {
        [
            ("nodes", self.nodes),
            ("seconds", self.seconds),
            ("faults", self.faults),
            ("seeds", self.seeds),
            ("operations", self.operations),
        ]
    }
}

/// The release tier of a plan: a budget, or the disclosure that there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Release {
    /// A concrete budget.
    Budget(Budget),
    /// `not provided — <reason>. Revisit when: <condition>.`
    NotProvided {
        /// Why there is none.
        reason: String,
        /// When to look again.
        revisit: String,
    },
}

/// The three tiers of a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budgets {
    /// Needed for PASS-smoke.
    pub smoke: Budget,
    /// Needed for PASS-hardening; stronger than smoke on every dimension.
    pub hardening: Budget,
    /// The release gate or its disclosure.
    pub release: Release,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_is_met_only_on_every_dimension() {
        let floor = Budget { nodes: 3, seconds: 10, faults: 1, seeds: 1, operations: 0 };
        assert!(floor.meets(&floor));
        let short = Budget { seconds: 9, ..floor };
        assert_eq!(short.shortfalls(&floor), [("seconds", 9, 10)]);
        assert_eq!(floor.not_stronger_than(&floor), ["nodes", "seconds", "faults", "seeds"]);
    }
}
