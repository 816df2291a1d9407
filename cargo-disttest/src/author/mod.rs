//! From a plan to test files: what would change is computed from texts alone, shown, and only then written.

pub(crate) mod attribute;
pub(crate) mod change;
mod comments;
pub(crate) mod diff;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod foreign;
pub(crate) mod formatter;
pub(crate) mod frame;
pub(crate) mod language;
mod lex;
pub(crate) mod manifest;
mod parts;
pub(crate) mod prose;
pub(crate) mod regions;
pub(crate) mod rustfmt;
pub(crate) mod shadow;
pub(crate) mod skeleton;
pub(crate) mod target;
pub(crate) mod write;

pub(crate) use change::{FileChange, Unfilled, file_change};
pub(crate) use frame::{Arm, Wanted};
