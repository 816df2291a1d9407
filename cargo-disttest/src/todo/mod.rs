//! What is still to be written in the test files of a plan, with code to start from.

mod examples;
pub(crate) mod fills;
mod foreign;
pub(crate) mod item;
pub(crate) mod lacking;
pub(crate) mod offers;
pub(crate) mod operations;
mod owner;
pub(crate) mod sibling;
pub(crate) mod snippets;
pub(crate) mod support;
pub(crate) mod transactions;
