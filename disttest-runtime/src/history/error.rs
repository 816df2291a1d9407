//! Why a history was refused, and where.

use std::fmt;

/// A history that cannot be: names the operation and, when it came from text, the source and line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryError {
    /// Name of the text it was read from, such as `history.jsonl`.
    pub source: Option<String>,
    /// Line in that text, from 1.
    pub line: Option<usize>,
    /// The operation, when its id could be read.
    pub op_id: Option<u64>,
    /// What is wrong, in one clause.
    pub problem: String,
}

impl HistoryError {
    pub(crate) fn at_op(op_id: u64, problem: impl Into<String>) -> HistoryError {
        HistoryError { source: None, line: None, op_id: Some(op_id), problem: problem.into() }
    }

    pub(crate) fn at_line(source: &str, line: usize, op_id: Option<u64>, problem: impl Into<String>) -> HistoryError {
        HistoryError { source: Some(source.to_owned()), line: Some(line), op_id, problem: problem.into() }
    }
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.source, self.line) {
            (Some(source), Some(line)) => write!(f, "{source}:{line}: ")?,
            (Some(source), None) => write!(f, "{source}: ")?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        if let Some(op_id) = self.op_id {
            write!(f, "operation {op_id}: ")?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for HistoryError {}
