//! Replay of a log of any type into a state of any type.

use super::super::conclusion::{Found, brief, says_nothing};
use super::super::{Answer, Checker, Evidence, Limits, Outcome, Violation};
use crate::history::History;
use std::fmt;
use std::sync::Arc;

/// A state that was observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed<S> {
    /// How many entries of the log it follows.
    pub after: usize,
    /// The state.
    pub state: S,
    /// Where it was seen, such as `snapshot of n2`.
    pub from: String,
}

type Apply<S, E> = dyn Fn(&mut S, &E) + Send + Sync;
type Same<S> = dyn Fn(&S, &S) -> bool + Send + Sync;

/// Replays a log from a start, and compares with states that were observed after some of its entries.
///
/// Unknown: nothing observed after the first entry; a state after more entries than the log has; a log that changes
/// nothing, as the comparison sees it: it could tell no two states apart, so equality would say nothing (the guard
/// against an over-lenient comparison).
///
/// The log and the states are handed in, so no operation of the history counts as consumed. Witness: the first step
/// whose state differs, with both states. Cost: one application and at most one comparison with the start an entry, and
/// one comparison a state. Source: plan format §7, pattern 3.
#[derive(Clone)]
pub struct Replay<S, E> {
    start: S,
    log: Vec<E>,
    apply: Arc<Apply<S, E>>,
    same: Arc<Same<S>>,
    observed: Vec<Observed<S>>,
}

impl<S, E> fmt::Debug for Replay<S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").field("entries", &self.log.len()).finish_non_exhaustive()
    }
}

impl<S, E> Replay<S, E>
where
    S: Clone + PartialEq + fmt::Debug + Send + Sync + 'static,
    E: fmt::Debug + Send + Sync,
{
    /// Replays `log` into `start` by `apply`.
    pub fn new(start: S, log: Vec<E>, apply: impl Fn(&mut S, &E) + Send + Sync + 'static) -> Replay<S, E> {
        Replay { start, log, apply: Arc::new(apply), same: Arc::new(S::eq), observed: Vec::new() }
    }

    /// Adds a state that was observed.
    pub fn observed(mut self, state: Observed<S>) -> Replay<S, E> {
        self.observed.push(state);
        self
    }

    /// Compares by `same`, in place of `==`.
    pub fn compare(mut self, same: impl Fn(&S, &S) -> bool + Send + Sync + 'static) -> Replay<S, E> {
        self.same = Arc::new(same);
        self
    }

    fn judge(&self, limits: &dyn Limits) -> Found {
        let mut found = Found::default();
        let mut states: Vec<&Observed<S>> = self.observed.iter().collect();
        states.sort_by_key(|state| state.after);
        if let Some(beyond) = states.iter().find(|state| state.after > self.log.len()) {
            let (from, after, length) = (&beyond.from, beyond.after, self.log.len());
            found.doubt(format!("{from} follows {after} entries, and the log has {length}: it is truncated"));
        }
        if states.iter().all(|state| state.after == 0) {
            found.doubt("no state was observed after an entry of the log");
        }
        let mut left = states.into_iter().peekable();
        let (mut state, mut told_apart) = (self.start.clone(), false);
        for step in 0..=self.log.len() {
            if let Some(why) = (step % 256 == 0).then(|| limits.exceeded(0)).flatten() {
                found.doubt(format!("stopped by {why}"));
                return found;
            }
            if let Some(entry) = step.checked_sub(1).and_then(|at| self.log.get(at)) {
                (self.apply)(&mut state, entry);
                told_apart = told_apart || !(self.same)(&self.start, &state);
            }
            while let Some(seen) = left.next_if(|seen| seen.after == step) {
                found.fired += 1;
                if !(self.same)(&state, &seen.state) && found.violations.is_empty() {
                    found.violations.push(self.violation(step, &state, seen));
                }
            }
        }
        if !told_apart {
            found.doubt("no entry of the log changes the state, as far as the comparison can tell");
        }
        found
    }

    fn violation(&self, step: usize, state: &S, seen: &Observed<S>) -> Violation {
        let last = step.checked_sub(1).and_then(|at| self.log.get(at));
        let last =
            last.map_or_else(String::new, |entry| format!(", the last of them {}", brief(&format!("{entry:?}"))));
        Violation {
            anomaly: "replay-differs".to_owned(),
            key: None,
            ops: Vec::new(),
            explanation: format!(
                "After {step} entries{last}, the replay gives {}, and {} shows {}.",
                brief(&format!("{state:?}")),
                seen.from,
                brief(&format!("{:?}", seen.state))
            ),
        }
    }
}

impl<S, E> Checker for Replay<S, E>
where
    S: Clone + PartialEq + fmt::Debug + Send + Sync + 'static,
    E: fmt::Debug + Send + Sync,
{
    fn name(&self) -> &str {
        "replay-equivalence"
    }

    fn cannot_detect(&self) -> Vec<String> {
        vec![
            "what the state leaves out, and what the comparison calls equal".to_owned(),
            "states between those that were observed".to_owned(),
            "entries that never reached the log that was handed in".to_owned(),
            "what the history shows: no operation of it is judged".to_owned(),
        ]
    }

    fn missing(&self, _history: &History) -> Vec<String> {
        Vec::new()
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut evidence = Evidence { recorded: history.ops().len() as u64, partitions: 1, ..Evidence::default() };
        let outcome = match says_nothing(history) {
            Some(why) => Outcome::Unknown { why },
            None => {
                let found = self.judge(limits);
                evidence.fired = found.fired;
                found.outcome()
            }
        };
        Answer { checker: self.name().to_owned(), model: None, outcome, evidence, cannot_detect: self.cannot_detect() }
    }
}
