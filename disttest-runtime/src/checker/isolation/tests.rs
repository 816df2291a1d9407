//! Histories with known answers.

#[cfg(test)]
mod conformance;
mod reference;
mod scenarios;
mod simulate;
mod table;
