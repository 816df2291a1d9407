//! L3: verdicts. A test gathers facts; [`decide`] walks the decision tree. Pure and total.

mod facts;
mod record;
mod state;
mod tree;

pub use record::*;
pub use state::{SessionVerdict, Verdict};
pub use tree::{Facts, Step, Why};
