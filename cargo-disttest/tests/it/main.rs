//! The binary, run as a user runs it, in packages made for the occasion.
#![expect(clippy::unwrap_used, reason = "tests")]

mod author;
mod help;
mod package;
mod plan;
mod run;
mod snapshot;
mod told;
