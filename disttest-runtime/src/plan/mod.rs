//! L1: the test plan: typed model with source positions, parser, lint. Pure: a text in, a plan and diagnostics out.

mod budget;
mod category;
mod id;
mod model;

pub use budget::{Budget, Budgets, Release, Tier};
pub use category::Category;
pub use id::Id;
pub use model::*;
