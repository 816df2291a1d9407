//! L2: checkers: a history in, an answer with evidence out. Pure: time and memory limits are handed in.

mod ahead;
mod bank;
mod baseline;
mod comments;
mod compose;
mod conclusion;
mod conservation;
mod counter;
mod differential;
mod exactly_once;
mod exclusion;
mod fairness;
mod freshness;
mod inquiry;
mod invariant;
pub mod isolation;
mod kafka;
mod keys;
mod linearizability;
mod liveness;
mod long_fork;
mod monotonic_read;
mod no_lost_ack;
mod outcome;
mod pairs;
mod percentile;
mod places;
#[cfg(test)]
mod planted;
mod pointer;
mod prefix_order;
#[cfg(test)]
mod promises;
mod recipe;
mod reconciliation;
#[cfg(test)]
pub(crate) mod reference;
mod replay;
mod sequential_consistency;
mod session_consistency;
mod set;
mod settling;
mod shown;
mod slo;
mod subkeys;
#[cfg(test)]
mod theory;
mod total_queue;
mod unique_ids;
mod version;
mod work;

pub use bank::Bank;
pub use baseline::{Better, Interval, StatisticalBaseline};
pub use comments::Comments;
pub use compose::{Compose, worst};
pub use conservation::{Conservation, Measure};
pub use counter::CounterBounds;
pub use differential::{Compared, Difference, Differential, compare};
pub use exactly_once::ExactlyOnce;
pub use exclusion::Exclusion;
pub use fairness::{Dimension, Fairness, Figures};
pub use freshness::Freshness;
pub use invariant::{Invariant, Quiescence, Rule};
pub use isolation::Serializability;
pub use kafka::Kafka;
pub use linearizability::Linearizability;
pub use liveness::Liveness;
pub use long_fork::LongFork;
pub use monotonic_read::MonotonicRead;
pub use no_lost_ack::NoLostAck;
pub use outcome::{Answer, Evidence, Outcome, Violation};
pub use percentile::Percentile;
pub use prefix_order::PrefixOrder;
pub use recipe::{Recipe, rebuild};
pub use reconciliation::{ReconciliationAcrossReplicas, Snapshot};
pub use replay::{Observed, Replay, ReplayEquivalence};
pub use sequential_consistency::SequentialConsistency;
pub use session_consistency::{Guarantee, SessionConsistency};
pub use set::{Set, SetFull};
pub use slo::{Bound, MetricSlo, Sample, Statistic};
pub use subkeys::Subkeys;
pub use total_queue::TotalQueue;
pub use unique_ids::UniqueIds;
pub use version::Version;

use crate::history::History;

/// What a checker may spend. The caller owns the clock; a checker asks often and stops with
/// [`Outcome::Unknown`] when told to. A checker may ask from several threads.
pub trait Limits: Sync {
    /// `None` to go on; otherwise why to stop, such as "60 s of checking". `bytes` is what the checker holds now.
    fn exceeded(&self, bytes: u64) -> Option<String>;

    /// Threads that a checker may use at once. The answer does not depend on it.
    fn threads(&self) -> usize {
        1
    }
}

/// No limit: for tests and small histories.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlimited;

impl Limits for Unlimited {
    fn exceeded(&self, _bytes: u64) -> Option<String> {
        None
    }
}

/// A property of histories.
///
/// Users implement it for their own properties. The harness trusts no implementation: before any PASS it must
/// reject damaged copies of the recorded history, and its evidence is compared with what was recorded.
pub trait Checker: Send + Sync {
    /// The name a plan and an attribute use, such as `linearizability`.
    fn name(&self) -> &str;

    /// The model it checks against, if any, such as `register`.
    fn model(&self) -> Option<&str> {
        None
    }

    /// What a valid answer of this checker does not exclude; never empty.
    fn cannot_detect(&self) -> Vec<String>;

    /// Its settings as data, from which [`rebuild`] makes it again: what lets `cargo disttest verify` judge a recorded history
    /// once more, on another machine. `None` for a checker that is code of its author, and for one that holds such code.
    fn recipe(&self) -> Option<Recipe> {
        None
    }

    /// Fields and operation types the checker needs and `history` lacks; empty when it can judge.
    fn missing(&self, history: &History) -> Vec<String>;

    /// Judges `history`.
    fn check(&self, history: &History, limits: &dyn Limits) -> Answer;
}
