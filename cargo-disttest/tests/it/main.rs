//! The binary, run as a user runs it, in packages made for the occasion.
#![expect(clippy::unwrap_used, reason = "tests")]

mod author;
mod help;
mod languages;
mod package;
mod plan;
mod review;
mod run;
