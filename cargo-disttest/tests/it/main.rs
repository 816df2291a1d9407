//! The binary, run as a user runs it, in packages made for the occasion.
#![expect(clippy::unwrap_used, reason = "tests")]

mod author;
mod check;
mod default_mode;
mod evidence;
mod explain;
mod formatters;
#[cfg(target_os = "linux")]
mod heal;
mod help;
mod languages;
mod new;
mod package;
mod plan;
mod probe;
mod questions;
mod review;
mod run;
mod snapshot;
mod stub;
mod terminal;
mod todo;
mod told;
mod verify;
