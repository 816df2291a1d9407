//! From what a checker found to its outcome: a violation outranks a doubt, and a doubt outranks valid.

use super::{Outcome, Violation};
use crate::history::{Effect, History};

/// What a checker found so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Violations, most telling first.
    pub(super) violations: Vec<Violation>,
    /// What could not be judged, and why.
    pub(super) doubts: Vec<String>,
    /// Elementary checks made.
    pub(super) fired: u64,
}

/// Doubts that an outcome lists; the rest are counted.
const LISTED: usize = 5;

impl Found {
    /// Something that cannot be judged.
    pub(super) fn doubt(&mut self, why: impl Into<String>) {
        self.doubts.push(why.into());
    }

    /// The outcome: invalid with any violation, else unknown with any doubt or without any check, else valid.
    pub(super) fn outcome(mut self) -> Outcome {
        if !self.violations.is_empty() {
            return Outcome::Invalid { violations: self.violations };
        }
        if self.doubts.is_empty() && self.fired == 0 {
            self.doubt("nothing was compared, so nothing could have been found");
        }
        let more = self.doubts.len().saturating_sub(LISTED);
        self.doubts.truncate(LISTED);
        match (self.doubts.is_empty(), more) {
            (true, _) => Outcome::Valid,
            (false, 0) => Outcome::Unknown { why: self.doubts.join("; ") },
            (false, more) => Outcome::Unknown { why: format!("{}; and {more} more", self.doubts.join("; ")) },
        }
    }
}

/// Why `history` can be no evidence for anything, if so: it is empty, or nothing was acknowledged.
pub(super) fn says_nothing(history: &History) -> Option<String> {
    match history.ops() {
        [] => Some("the history is empty".to_owned()),
        ops if !ops.iter().any(|op| op.effect() == Effect::Acknowledged) => {
            Some(format!("none of {} operations was acknowledged", ops.len()))
        }
        _ => None,
    }
}

/// At most 120 characters of `text`.
pub(super) fn brief(text: &str) -> String {
    if text.chars().count() <= 120 { text.to_owned() } else { text.chars().take(117).chain("…".chars()).collect() }
}

/// `what` with the operation ids, first and count in all, as `missing` lists say it.
pub(super) fn lacks(what: &str, first: u64, count: u64) -> String {
    format!("operation {first} and {count} in all: {what}")
}
