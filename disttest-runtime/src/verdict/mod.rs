//! L3: verdicts. A test gathers facts; [`decide`] walks the decision tree. Pure and total.

mod arms;
pub mod checklist;
mod controls;
mod effort;
mod facts;
mod landing;
mod oracle;
mod record;
mod seen;
mod state;
mod tree;
mod why;

pub use arms::{aggregate, parent_of, root_of};
#[cfg(test)]
pub(crate) use controls::tests::held;
pub use controls::{Attempt, Channel, ControlResult, Denial, Exchange, Trial};
pub use effort::{Effort, strongest_allowed, test_is_ok, tier_met};
pub use facts::Facts;
pub use landing::{Landing, does_not_count};
pub use oracle::{OracleFacts, Weakness};
pub use record::*;
pub use seen::{Seen, Violations, reproduces, violates};
pub use state::{SessionVerdict, Verdict};
pub use tree::decide;
pub use why::{Step, Why};
#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod mutations;
#[cfg(test)]
mod table;
