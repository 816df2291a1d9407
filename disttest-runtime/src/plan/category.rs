//! The eleven claim categories and which of them make a scenario serious.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Category of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Nothing bad happens.
    Safety,
    /// Something good eventually happens.
    Liveness,
    /// What was acknowledged stays.
    Durability,
    /// A number is kept: latency, throughput.
    #[serde(rename = "performance-SLO")]
    PerformanceSlo,
    /// Operators can do their work.
    Operational,
    /// Doing it twice is doing it once.
    Idempotency,
    /// Transaction-isolation anomalies.
    Isolation,
    /// Order is kept.
    Ordering,
    /// Who is in the cluster.
    Membership,
    /// Tenancy, authorisation, namespace, routing, protocol and compatibility borders.
    Boundary,
    /// Every group gets its share.
    Fairness,
}

impl Category {
    /// All categories, in the order of the format.
    pub const ALL: [Category; 11] = [
        Category::Safety,
        Category::Liveness,
        Category::Durability,
        Category::PerformanceSlo,
        Category::Operational,
        Category::Idempotency,
        Category::Isolation,
        Category::Ordering,
        Category::Membership,
        Category::Boundary,
        Category::Fairness,
    ];

    /// The exact word of the format.
    pub fn as_str(self) -> &'static str {
        match self {
            Category::Safety => "safety",
            Category::Liveness => "liveness",
            Category::Durability => "durability",
            Category::PerformanceSlo => "performance-SLO",
            Category::Operational => "operational",
            Category::Idempotency => "idempotency",
            Category::Isolation => "isolation",
            Category::Ordering => "ordering",
            Category::Membership => "membership",
            Category::Boundary => "boundary",
            Category::Fairness => "fairness",
        }
    }

    /// True when a claim of this category makes the scenario that falsifies it serious (it needs §7.M).
    pub fn gates_model_block(self) -> bool {
        matches!(
            self,
            Category::Safety
                | Category::Durability
                | Category::Idempotency
                | Category::Isolation
                | Category::Ordering
                | Category::Membership
        )
    }

    /// True when a claim of this category asks for a surface decomposition (§7.M.S).
    pub fn gates_surfaces(self) -> bool {
        matches!(self, Category::Boundary | Category::Fairness)
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
