//! Why a transactional history was refused, and where.

use std::fmt;

/// An event that contradicts the events before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its position among all events, from 0.
    pub position: u64,
    /// Its index, as the history gives it.
    pub index: Option<u64>,
    /// What is wrong, in one clause.
    pub problem: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "event with index {index}: {}", self.problem),
            None => write!(f, "event {}: {}", self.position, self.problem),
        }
    }
}

impl std::error::Error for Refusal {}

/// Text that is no transactional history, or one that contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Line, from 1.
    pub line: usize,
    /// Column in bytes, from 1.
    pub column: usize,
    /// What is wrong, in one clause.
    pub problem: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.problem)
    }
}

impl std::error::Error for ReadError {}
