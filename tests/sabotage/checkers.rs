//! Checkers that are not what they say.

use crate::sabotage;
use disttest_runtime::checker::{Answer, Checker, Evidence, Limits, Outcome, Violation};
use disttest_runtime::history::History;
use std::sync::atomic::{AtomicU64, Ordering};

/// `inner`, sabotaged.
pub(crate) struct Twisted<C> {
    inner: C,
    calls: AtomicU64,
}

impl<C> Twisted<C> {
    pub(crate) fn new(inner: C) -> Twisted<C> {
        Twisted { inner, calls: AtomicU64::new(0) }
    }
}

impl<C: Checker> Checker for Twisted<C> {
    fn name(&self) -> &str {
        match sabotage() {
            "checker-of-another-name" => "linearizability-of-mine",
            _ => self.inner.name(),
        }
    }

    fn model(&self) -> Option<&str> {
        match sabotage() {
            "checker-of-another-model" => Some("map"),
            _ => self.inner.model(),
        }
    }

    fn cannot_detect(&self) -> Vec<String> {
        self.inner.cannot_detect()
    }

    fn missing(&self, history: &History) -> Vec<String> {
        self.inner.missing(history)
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let all = history.ops().len() as u64;
        let evidence = Evidence { recorded: all, consumed: all, fired: all, partitions: 1, peak_bytes: 0 };
        match sabotage() {
            "checker-accepts-everything" => self.says(Outcome::Valid, evidence),
            "checker-makes-no-check" => self.says(Outcome::Valid, Evidence { fired: 0, ..evidence }),
            "checker-undecided" => self.says(Outcome::Unknown { why: "out of memory".to_owned() }, evidence),
            "checker-panics" => panic!("index out of bounds"),
            "checker-rejects-whatever-comes-later" if call > 0 => self.says(invalid(), evidence),
            "checker-consumes-fewer" => {
                let mut answer = self.inner.check(history, limits);
                answer.evidence.consumed -= 10;
                answer
            }
            "checker-consumes-more-than-there-is" => {
                let mut answer = self.inner.check(history, limits);
                answer.evidence.consumed += 10;
                answer
            }
            _ => self.inner.check(history, limits),
        }
    }
}

impl<C: Checker> Twisted<C> {
    fn says(&self, outcome: Outcome, evidence: Evidence) -> Answer {
        Answer {
            checker: self.name().to_owned(),
            model: self.model().map(str::to_owned),
            outcome,
            evidence,
            cannot_detect: self.cannot_detect(),
        }
    }
}

fn invalid() -> Outcome {
    let explanation = "it has come to reject everything".to_owned();
    let violation = Violation { anomaly: "non-linearizable".to_owned(), key: None, ops: vec![0], explanation };
    Outcome::Invalid { violations: vec![violation] }
}
