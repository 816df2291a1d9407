//! Diagnostics: which are told of a plan, at which level, and how.

pub(crate) mod github;
pub(crate) mod json;
pub(crate) mod levels;
pub(crate) mod sarif;
mod text;
pub(crate) mod told;

pub(crate) use text::{MOST, plain, render_most};
pub use text::{count, render};
