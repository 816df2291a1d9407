//! Histories with known answers.

#[cfg(test)]
mod conformance;
mod reference;
mod scenarios;
pub(super) mod simulate;
mod table;
