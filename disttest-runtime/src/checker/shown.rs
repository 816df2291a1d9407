//! Versions that operations showed, and the highest of those that were complete.

use super::settling::Settling;
use super::version::Version;
use crate::base::time::Nanos;
use crate::history::Op;

/// What operations showed, in their order. `None` is what there was before every version.
pub(super) struct Shown(Vec<(Option<Version>, u32)>);

impl Shown {
    /// For about so many operations.
    pub(super) fn new(expected: usize) -> Shown {
        Shown(Vec::with_capacity(expected))
    }

    /// The number of what the next operation shows: `at` is where it stands in the history.
    pub(super) fn add(&mut self, version: Option<Version>, at: u32) -> u32 {
        self.0.push((version, at));
        self.0.len() as u32 - 1
    }

    pub(super) fn version(&self, number: u32) -> Option<Version> {
        self.0[number as usize].0
    }

    /// The operation that showed it.
    pub(super) fn op(&self, number: u32) -> usize {
        self.0[number as usize].1 as usize
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.0.len() * size_of::<(Option<Version>, u32)>()
    }
}

/// The highest of what some operations showed, as they complete. There is one for each session and key, so it holds
/// numbers only.
pub(super) struct Highest {
    settling: Settling<u32>,
    number: u32,
}

const NONE: u32 = u32::MAX;

impl Default for Highest {
    fn default() -> Highest {
        Highest { settling: Settling::default(), number: NONE }
    }
}

impl Highest {
    /// The highest of what had completed before `op` began, the last one of equal ones.
    pub(super) fn before(&mut self, op: &Op, shown: &Shown) -> Option<u32> {
        while let Some((_, number)) = self.settling.before(op.invoke_ts) {
            if self.number == NONE || shown.0[self.number as usize] < shown.0[number as usize] {
                self.number = number;
            }
        }
        (self.number != NONE).then_some(self.number)
    }

    /// What counts from `complete` on.
    pub(super) fn completes(&mut self, complete: Nanos, number: u32) {
        self.settling.push(complete, number);
    }
}
