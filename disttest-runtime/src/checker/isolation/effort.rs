//! What a check may still spend.

use crate::checker::Limits;

/// Steps between two questions to the limits.
const PATIENCE: u64 = 1 << 16;

/// Why a check was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stopped(pub(super) String);

/// Counts steps and asks the limits now and then.
pub(super) struct Effort<'a> {
    limits: &'a dyn Limits,
    /// Steps made: edges looked at, versions compared.
    pub(super) steps: u64,
    next_question: u64,
    held: u64,
    /// Most bytes held at once.
    pub(super) peak_bytes: u64,
}

impl<'a> Effort<'a> {
    pub(super) fn new(limits: &'a dyn Limits) -> Effort<'a> {
        Effort { limits, steps: 0, next_question: 0, held: 0, peak_bytes: 0 }
    }

    /// What the check holds from now on.
    pub(super) fn holds(&mut self, bytes: u64) -> Result<(), Stopped> {
        self.held = bytes;
        self.peak_bytes = self.peak_bytes.max(bytes);
        self.ask()
    }

    pub(super) fn spend(&mut self, steps: u64) -> Result<(), Stopped> {
        self.steps += steps;
        if self.steps < self.next_question {
            return Ok(());
        }
        self.ask()
    }

    fn ask(&mut self) -> Result<(), Stopped> {
        self.next_question = self.steps + PATIENCE;
        self.limits.exceeded(self.held).map_or(Ok(()), |why| Err(Stopped(why)))
    }
}
