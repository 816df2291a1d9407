//! What came of judging executions once more.

/// Checks that were made again, and where they say something else.
#[derive(Debug, Default)]
pub(super) struct Rejudged {
    /// Checks of histories, those of damaged copies included.
    pub(super) checks: usize,
    /// Where what was recorded does not follow.
    pub(super) contradictions: Vec<String>,
    /// What could not be derived again.
    pub(super) open: Vec<String>,
}

impl Rejudged {
    pub(super) fn add(&mut self, other: Rejudged) {
        self.checks += other.checks;
        self.contradictions.extend(other.contradictions);
        for open in other.open {
            // The same of every seed is said once.
            if !self.open.contains(&open) {
                self.open.push(open);
            }
        }
    }
}
