//! The oracle: declared checkers over the recorded history, then damaged copies of it that they must reject.

use super::core::Core;
use super::limits::{CheckLimits, check_within};
use super::{Landed, Recorded, teeth};
use crate::audit::weight::{Weight, weigh};
use crate::checker::{Answer, Checker, Outcome};
use crate::history::History;
use anyhow::{Result, bail};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Checkers over the history of a run.
#[must_use = "an oracle that does not judge finds nothing"]
pub struct Oracle {
    core: Arc<Core>,
    recorded: Recorded,
    checkers: Vec<Arc<dyn Checker>>,
    limits: CheckLimits,
}

impl fmt::Debug for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.checkers.iter().map(|checker| checker.name()).collect();
        f.debug_struct("Oracle").field("checkers", &names).finish_non_exhaustive()
    }
}

/// Proof that an oracle judged (not what it found). Only [`Oracle::judge`] makes one.
#[derive(Debug)]
#[must_use = "return it"]
pub struct Judged {
    pub(super) run_id: String,
}

impl Oracle {
    pub(crate) fn new(core: Arc<Core>, recorded: Recorded) -> Oracle {
        Oracle { core, recorded, checkers: Vec::new(), limits: CheckLimits::default() }
    }

    /// Adds a checker.
    pub fn check(mut self, checker: impl Checker + 'static) -> Oracle {
        self.checkers.push(Arc::new(checker));
        self
    }

    /// Limits of each check, in place of 60 s and 4 GiB.
    pub fn limits(mut self, limits: CheckLimits) -> Oracle {
        self.limits = limits;
        self
    }

    /// Runs every checker. When all say valid, shows each damaged copies of the history, which it must reject.
    ///
    /// What they say is recorded, not returned: the verdict is derived from the record. Blocks until they are done.
    /// Errors: history or faults of another run; no checker.
    pub fn judge(self, landed: Landed) -> Result<Judged> {
        let run_id = self.core.request.run_id.clone();
        if self.recorded.run_id != run_id {
            bail!("the history is of run {}, this is {run_id}", self.recorded.run_id);
        }
        if landed.run_id != run_id {
            bail!("the faults are of run {}, this is {run_id}", landed.run_id);
        }
        if self.checkers.is_empty() {
            bail!("an oracle without checkers judges nothing");
        }
        self.core.judging.store(true, Ordering::Relaxed);
        match &self.recorded.history {
            Ok(history) => self.examine(history),
            Err(why) => {
                let weak = format!("what was recorded is no possible history: {why}");
                self.core.events.say("oracle: undecided", weak.clone());
                self.core.facts().history_weak.push(weak);
            }
        }
        self.core.judging.store(false, Ordering::Relaxed);
        self.core.facts().judged = true;
        Ok(Judged { run_id })
    }

    fn examine(&self, history: &Arc<History>) {
        self.weigh(history);
        let mut all_valid = true;
        for checker in &self.checkers {
            let lacks = checker.missing(history).into_iter().map(|lack| format!("{}: {lack}", checker.name()));
            self.core.facts().history_lacks.extend(lacks);
            self.core.events.say("progress", format!("checking {}", checker.name()));
            let answer = check_within(checker, history, self.limits, &self.core.stop);
            all_valid &= answer.outcome == Outcome::Valid;
            self.core.events.say(format!("oracle: {}", word(&answer)), said(&answer));
            let mut facts = self.core.facts();
            facts.answers.push(answer);
            facts.recipes.push(checker.recipe());
        }
        // A violation stands as it is, and an unknown is no PASS: neither needs to show that it can tell.
        if all_valid {
            for checker in &self.checkers {
                let say = |what: String| self.core.events.say("progress", what);
                let trial =
                    teeth::Trial { history, seed: self.core.request.seed, limits: self.limits, stop: &self.core.stop };
                let teeth = teeth::show(checker, &trial, &say);
                self.core.facts().teeth.extend(teeth);
            }
        }
    }

    fn weigh(&self, history: &History) {
        let mut facts = self.core.facts();
        let checkers: Vec<&str> = self.core.entry.checkers.iter().map(|(checker, _)| *checker).collect();
        let landed = facts.assessed.iter().map(|assessed| assessed.landed);
        let windows: Vec<_> = facts.windows.iter().zip(landed).collect();
        let Weight { weak, notes } = weigh(history, self.core.entry.model, &checkers, &windows, self.core.clock.now());
        notes.into_iter().for_each(|note| facts.note(note));
        facts.history_weak.extend(weak);
    }
}

fn word(answer: &Answer) -> &'static str {
    match answer.outcome {
        Outcome::Valid => "valid",
        Outcome::Invalid { .. } => "invalid",
        Outcome::Unknown { .. } => "unknown",
    }
}

fn said(answer: &Answer) -> String {
    let evidence = &answer.evidence;
    let what = match &answer.outcome {
        Outcome::Valid => String::new(),
        Outcome::Invalid { violations } => {
            violations.first().map(|v| format!("; {}: {}", v.anomaly, v.explanation)).unwrap_or_default()
        }
        Outcome::Unknown { why } => format!("; {why}"),
    };
    format!("{}: {} of {} operations{what}", answer.checker, evidence.consumed, evidence.recorded)
}
