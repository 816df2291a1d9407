//! Harness library of `cargo disttest`.
//!
//! A test gathers facts; a pure function turns facts into one of ten verdicts; nothing else can make one.
//! The modules form layers (see `ARCHITECTURE.md`): each may import lower layers only.
#![forbid(unsafe_op_in_unsafe_fn)]

pub mod base;

pub mod fault;
pub mod history;
pub mod plan;

pub mod checker;
pub mod model;

pub mod audit;
pub mod report;
pub mod verdict;

pub mod cluster;
pub mod harness;
pub mod nemesis;
pub mod recorder;
pub mod run;
pub mod session;

pub use disttest_macros::scenario;
pub use harness::main_of_tests;

/// Result of scenario code: any error a scenario returns means that its oracle never judged.
pub type Result<T, E = anyhow::Error> = std::result::Result<T, E>;

/// What a scenario file imports.
pub mod prelude {
    pub use crate::Result;
    pub use crate::checker::{Linearizability, NoLostAck};
    pub use crate::model::{Log, MapModel, Register};
}
