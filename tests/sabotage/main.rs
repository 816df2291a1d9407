//! Runs of abd-store that somebody sabotages: `SABOTAGE` names the one thing that is wrong with a run, nothing in it
//! gives the healthy twin. `table.rs` says which verdict each must come to.
#![allow(unexpected_cfgs, reason = "the attribute asks for rust-analyzer")]

mod body;
mod checkers;
mod faults;
mod store;

mod budget;
mod checker;
mod edited;
mod filters;
mod helped;
mod increments;
mod longer;
mod namespaces;
mod register;
mod unfilled;

use std::sync::OnceLock;

/// What is wrong with this run; empty for the healthy twin.
fn sabotage() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| std::env::var("SABOTAGE").unwrap_or_default())
}

fn on(name: &str) -> bool {
    sabotage() == name
}

disttest_runtime::main!();
