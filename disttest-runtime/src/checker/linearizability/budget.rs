//! What a search may still spend.

use crate::checker::Limits;

/// Steps between two questions to the limits.
const PATIENCE: u64 = 4096;

/// Counts steps and asks the limits now and then.
pub(super) struct Budget<'a> {
    limits: &'a dyn Limits,
    /// Steps made.
    pub(super) steps: u64,
    next_question: u64,
    /// Steps after which to stop, for work that is worth only so much.
    pub(super) cap: Option<u64>,
    /// Largest memory seen, in bytes.
    pub(super) peak_bytes: u64,
}

impl<'a> Budget<'a> {
    pub(super) fn new(limits: &'a dyn Limits) -> Budget<'a> {
        Budget { limits, steps: 0, next_question: 0, cap: None, peak_bytes: 0 }
    }

    pub(super) fn step(&mut self) {
        self.steps += 1;
    }

    /// Why to stop, if so. `bytes` is asked only when the limits are.
    pub(super) fn stop(&mut self, bytes: impl Fn() -> u64) -> Option<String> {
        if self.cap.is_some_and(|cap| self.steps > cap) {
            return Some("the effort set aside for it".to_owned());
        }
        if self.steps < self.next_question {
            return None;
        }
        self.next_question = self.steps + PATIENCE;
        let bytes = bytes();
        self.peak_bytes = self.peak_bytes.max(bytes);
        self.limits.exceeded(bytes)
    }
}
