//! What was found of one file.

use super::makers::Scope;
use crate::exit_code::End;
use crate::import::{Imported, Problem};
use disttest_runtime::checker::{Answer, Outcome};
use disttest_runtime::history::{Effect, Op};
use disttest_runtime::txn::{Status, Txns};
use std::time::Duration;

/// What a file came to.
#[derive(Debug)]
pub(crate) enum Judged {
    /// It cannot be read, or cannot be.
    Unreadable(Problem),
    /// It could not be read within the limits.
    Undecided(Undecided),
    /// It was read, and each checker answered.
    Read(Box<Checked>),
}

/// A file that was not read to its end.
#[derive(Debug)]
pub(crate) struct Undecided {
    /// Why.
    pub why: String,
    /// How long reading took.
    pub read_in: Duration,
}

/// A file and the answers about it.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The history.
    pub imported: Imported,
    /// Its operations as the file tells them.
    pub counts: Counts,
    /// How long reading took.
    pub read_in: Duration,
    /// The answers, one a checker.
    pub answers: Vec<One>,
}

/// One checker's answer.
#[derive(Debug)]
pub(crate) struct One {
    /// What it said.
    pub answer: Answer,
    /// What was judged together.
    pub scope: Scope,
    /// What a reader must not overlook.
    pub warnings: Vec<String>,
    /// The weakest consistency models that the history cannot have had.
    pub not: Vec<&'static str>,
    /// Stronger ones that follow from those.
    pub also_not: Vec<&'static str>,
    /// What the history lacks for it (format decision D14: told, not refused).
    pub missing: Vec<String>,
    /// How long it took.
    pub elapsed: Duration,
    /// Memory of the process, at most, so far.
    pub peak_bytes: u64,
}

impl Judged {
    /// How `check` ends when this is all there is.
    pub(crate) fn end(&self) -> End {
        match self {
            Judged::Unreadable(_) => End::Unreadable,
            Judged::Undecided(_) => End::NothingConcluded,
            Judged::Read(checked) => {
                checked.answers.iter().map(One::end).max_by_key(badness).unwrap_or(End::NothingConcluded)
            }
        }
    }
}

impl One {
    fn end(&self) -> End {
        match self.answer.outcome {
            Outcome::Valid => End::Clean,
            Outcome::Invalid { .. } => End::Violation,
            Outcome::Unknown { .. } => End::NothingConcluded,
        }
    }

    /// `valid`, `invalid` or `unknown`.
    pub(crate) fn word(&self) -> &'static str {
        match self.answer.outcome {
            Outcome::Valid => "valid",
            Outcome::Invalid { .. } => "invalid",
            Outcome::Unknown { .. } => "unknown",
        }
    }
}

/// The worst end of all. A violation outranks what cannot be read, and that what is unknown.
pub(crate) fn worst(ends: impl Iterator<Item = End>) -> End {
    ends.max_by_key(badness).unwrap_or(End::NothingConcluded)
}

fn badness(end: &End) -> u8 {
    match end {
        End::Clean => 0,
        End::NothingConcluded => 1,
        End::Violation => 3,
        _ => 2,
    }
}

/// Operations by what is known of their effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Completed.
    pub acknowledged: usize,
    /// Known not to have taken effect.
    pub failed: usize,
    /// Nobody knows.
    pub unknown: usize,
}

impl Counts {
    /// Of transactions.
    pub(crate) fn of_txns(txns: &Txns) -> Counts {
        let with = |status| txns.all().filter(|txn| txns.status(*txn) == status).count();
        Counts { acknowledged: with(Status::Ok), failed: with(Status::Fail), unknown: with(Status::Info) }
    }

    /// Of these.
    pub(crate) fn of(ops: &[Op]) -> Counts {
        let mut counts = Counts::default();
        for op in ops {
            match op.effect() {
                Effect::Acknowledged => counts.acknowledged += 1,
                Effect::Failed => counts.failed += 1,
                Effect::Unknown => counts.unknown += 1,
            }
        }
        counts
    }
}

impl Checked {
    /// The operations of the first violation, in the order in which they began.
    pub(crate) fn witness(&self, one: &One) -> Vec<Op> {
        match &one.answer.outcome {
            Outcome::Invalid { violations } => {
                violations.first().map_or_else(Vec::new, |first| self.imported.ops(&first.ops))
            }
            _ => Vec::new(),
        }
    }
}
