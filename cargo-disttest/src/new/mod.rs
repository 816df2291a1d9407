//! A plan from the template, with the repository's own facts in it: read here, written by `commands/new.rs`.

pub(crate) mod crates;
pub(crate) mod history;
pub(crate) mod inventory;
pub(crate) mod language;
pub(crate) mod quiet_change;
pub(crate) mod slug;
pub(crate) mod sources;
pub(crate) mod template;
pub(crate) mod tools;

use crates::Crates;
use history::History;
use inventory::Harness;
use language::Language;
use tools::Tool;

/// What is known of the repository that a plan is written for.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Its cargo packages, if it has any.
    pub crates: Crates,
    /// Its git history, if it has one.
    pub history: Option<History>,
    /// Its tests and other harnesses.
    pub inventory: Vec<Harness>,
    /// Harnesses beyond those in `inventory` that were counted and left out.
    pub more_harnesses: usize,
    /// Tools that it seems to need, found or not.
    pub tools: Vec<Tool>,
    /// Language of its tests.
    pub language: Language,
}
