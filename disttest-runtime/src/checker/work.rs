//! A check under way: what it may still spend, what it found, what does not fit.

use super::keys::Keys;
use super::{Answer, Checker, Evidence, Limits, Outcome, Violation};
use crate::history::{History, Op};
use std::collections::BTreeMap;

/// Operations between two questions to the limits.
const PATIENCE: u64 = 4096;

/// Violations that are told; more are counted only.
const TOLD: usize = 100;

pub(super) struct Work<'l> {
    limits: &'l dyn Limits,
    next_question: u64,
    steps: u64,
    /// Checks made, memory held.
    pub(super) evidence: Evidence,
    pub(super) violations: Vec<Violation>,
    /// Why it stopped before the end, if so.
    stopped: Option<String>,
    /// Operations that cannot be judged, by what they lack: first, count.
    problems: BTreeMap<String, (u64, u64)>,
}

impl<'l> Work<'l> {
    pub(super) fn new(history: &History, limits: &'l dyn Limits) -> Work<'l> {
        let evidence = Evidence { recorded: history.ops().len() as u64, ..Evidence::default() };
        Work {
            limits,
            next_question: 0,
            steps: 0,
            evidence,
            violations: Vec::new(),
            stopped: None,
            problems: BTreeMap::new(),
        }
    }

    /// False when it must stop. `bytes` is asked now and then only.
    pub(super) fn goes_on(&mut self, bytes: impl FnOnce() -> usize) -> bool {
        self.steps += 1;
        if self.steps > self.next_question {
            self.next_question = self.steps + PATIENCE;
            let bytes = bytes() as u64;
            self.evidence.peak_bytes = self.evidence.peak_bytes.max(bytes);
            self.stopped = self.stopped.take().or_else(|| self.limits.exceeded(bytes));
        }
        self.stopped.is_none()
    }

    /// `op` cannot be judged.
    pub(super) fn lacks(&mut self, op: &Op, problem: String) {
        self.problems.entry(problem).or_insert((op.op_id, 0)).1 += 1;
    }

    /// Some operation cannot be judged.
    pub(super) fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    /// A violation, made only when it will be told.
    pub(super) fn violates(&mut self, violation: impl FnOnce() -> Violation) {
        if self.violations.len() < TOLD {
            self.violations.push(violation());
        }
    }

    /// What does not fit, a sentence each.
    pub(super) fn sentences(&self) -> Vec<String> {
        let sentence = |(problem, (first, count)): (&String, &(u64, u64))| {
            format!("operation {first} and {count} in all: {problem}")
        };
        self.problems.iter().map(sentence).collect()
    }

    /// The answer of `checker`; `blind` says why nothing could have contradicted it when no check was made.
    pub(super) fn answer(mut self, checker: &dyn Checker, keys: &Keys<'_>, blind: &str) -> Answer {
        (self.evidence.consumed, self.evidence.partitions) = keys.observed();
        let problems = self.sentences();
        let outcome = if !self.violations.is_empty() {
            Outcome::Invalid { violations: self.violations }
        } else if let Some(why) = self.stopped {
            Outcome::Unknown { why: format!("stopped by {why}; it would take more time or memory") }
        } else if !problems.is_empty() {
            Outcome::Unknown { why: format!("the history does not say enough: {}", problems.join("; ")) }
        } else if self.evidence.recorded == 0 {
            Outcome::Unknown { why: "the history is empty".to_owned() }
        } else if self.evidence.fired == 0 {
            Outcome::Unknown { why: blind.to_owned() }
        } else {
            Outcome::Valid
        };
        let mut cannot_detect = checker.cannot_detect();
        cannot_detect.extend(keys.unobserved());
        Answer {
            checker: checker.name().to_owned(),
            model: checker.model().map(str::to_owned),
            outcome,
            evidence: self.evidence,
            cannot_detect,
        }
    }
}

/// `op` as a witness tells it: `operation 3 (c1 read x -> 1, [5..7] ns)`.
pub(super) fn told(op: &Op) -> String {
    let short = crate::history::notation::short(op);
    let short: String =
        if short.chars().count() <= 160 { short } else { short.chars().take(157).chain("…".chars()).collect() };
    match op.complete_ts {
        Some(complete) => format!("operation {} ({short}, [{}..{}] ns)", op.op_id, op.invoke_ts.0, complete.0),
        None => format!("operation {} ({short}, [{}..] ns, outcome unknown)", op.op_id, op.invoke_ts.0),
    }
}
