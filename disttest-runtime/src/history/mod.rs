//! L1: histories: the record of an operation, a validated history, its JSON Lines form. Pure.

mod op;

pub use op::{Effect, Op};

/// A validated history.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    ops: Vec<Op>,
}

impl History {
    /// Operations by invocation.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }
}
