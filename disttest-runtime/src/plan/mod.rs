//! L1: the test plan: typed model with source positions, parser, lint. Pure: a text in, a plan and diagnostics out.

mod budget;
mod category;
mod id;
mod labels;
mod model;
pub mod names;
mod no_fault;
mod parse;
mod rules;

pub use budget::{Budget, Budgets, Release, Tier};
pub use category::Category;
pub use id::Id;
pub use labels::{
    CLOSES, EXIT_CRITERIA, FALSIFIES, FAULTS, HARDENING, LANGUAGE, NOTES, ORACLE, RELEASE, SKELETON, SMOKE, TARGET,
};
pub use model::*;
pub use parse::parse;
pub use rules::{RULES, Rule, rule};
