//! Sequential consistency: some order of all operations that keeps the order of each session is legal.

mod saturation;
mod search;
#[cfg(test)]
mod tests;

use super::{Answer, Checker, Evidence, Limits, Linearizability, Outcome, Violation, recipe};
use crate::history::{Effect, History, Op, notation};
use crate::model::{Atoms, Model};
use search::{Found, Search, Session};
use std::collections::BTreeMap;

/// Checks that a history is sequentially consistent (Lamport, IEEE ToC C-28(9), 1979): real time counts within a session
/// (a `process_id`), not between sessions. Weaker than [`Linearizability`]: a read may be stale, as long as all sessions
/// can agree on one order.
///
/// Needs: `process_id` (a client that reconnects is a new session), and operations of one session one after the other. An
/// operation of unknown outcome takes effect at any time after what its session did before, or never; a failed one never
/// did. Unlike linearizability the property is not one of single objects: [`SequentialConsistency::whole`] orders all keys
/// together, [`SequentialConsistency::per_key`] asks for an order of each key only (cache consistency), which is weaker.
///
/// Deciding is NP-complete, even for one register (Gibbons and Korach, SIAM J. Comput. 26(4), 1997). A linearizable
/// history is sequentially consistent, which is decided first. Where values of registers are written once, most other
/// histories are decided by what must come before what, in polynomial time. The search after that is exponential in the
/// number of sessions, and unknown is the answer where its limits end it. Its steps are bounded by [`SequentialConsistency::effort`]
/// besides, since memory grows with them.
#[derive(Clone, Debug)]
pub struct SequentialConsistency<M> {
    model: M,
    per_key: bool,
    effort: u64,
}

/// Steps of search in one check, unless told otherwise.
const EFFORT: u64 = 5_000_000;

/// Operations of a witness that are listed, at most.
const LISTED: usize = 20;

impl<M: Model + Clone> SequentialConsistency<M> {
    /// One order of the operations on all keys.
    pub fn whole(model: M) -> SequentialConsistency<M> {
        SequentialConsistency { model, per_key: false, effort: EFFORT }
    }

    /// An order of the operations on each key, by itself.
    pub fn per_key(model: M) -> SequentialConsistency<M> {
        SequentialConsistency { model, per_key: true, effort: EFFORT }
    }

    /// Steps of search after which the answer is unknown, in place of five million.
    pub fn effort(self, steps: u64) -> SequentialConsistency<M> {
        SequentialConsistency { effort: steps, ..self }
    }

    fn linearizability(&self) -> Linearizability<M> {
        match self.per_key {
            true => Linearizability::per_key(self.model.clone()),
            false => Linearizability::whole(self.model.clone()),
        }
    }

    /// Operations by what has an order of its own.
    fn groups<'h>(&self, history: &'h History) -> Vec<Vec<&'h Op>> {
        let mut groups: BTreeMap<Option<&str>, Vec<&Op>> = BTreeMap::new();
        for op in history.ops().iter().filter(|op| op.effect() != Effect::Failed) {
            groups.entry(op.key.as_deref().filter(|_| self.per_key)).or_default().push(op);
        }
        groups.into_values().collect()
    }

    /// The sessions of `ops`, their calls, and the number of objects.
    fn session<'h>(&self, ops: &[&'h Op], atoms: &mut Atoms) -> (Vec<Session<'h, M>>, usize) {
        let mut objects: BTreeMap<Option<&str>, usize> = BTreeMap::new();
        let mut sessions: BTreeMap<u64, Session<'h, M>> = BTreeMap::new();
        for op in ops {
            // What does not fit was refused before.
            let Ok(call) = self.model.call(op, atoms) else { continue };
            let key = op.key.as_deref().filter(|_| self.model.one_object_per_key());
            let count = objects.len();
            let object = *objects.entry(key).or_insert(count);
            sessions.entry(op.process_id).or_default().push(op, call, object);
        }
        (sessions.into_values().collect(), objects.len())
    }
}

/// A session whose operations overlap: the first that does, in a sentence.
fn overlapping(history: &History) -> Option<String> {
    let mut last: BTreeMap<u64, &Op> = BTreeMap::new();
    let ops = history.ops().iter().filter(|op| op.effect() == Effect::Acknowledged);
    let mut overlaps = ops.filter(|op| {
        let before = last.insert(op.process_id, op);
        before.is_some_and(|before| before.complete_ts > Some(op.invoke_ts))
    });
    let first = overlaps.next()?;
    let count = 1 + overlaps.count();
    Some(format!(
        "operation {} and {count} in all: process_id {} had an operation in flight: a session does one after the other",
        first.op_id, first.process_id
    ))
}

impl<M: Model + Clone> Checker for SequentialConsistency<M> {
    fn name(&self) -> &str {
        "sequential-consistency"
    }

    fn model(&self) -> Option<&str> {
        Some(self.model.name())
    }

    fn cannot_detect(&self) -> Vec<String> {
        let mut list = vec![
            "stale reads, as long as one order of all sessions explains them: real time between sessions does not count"
                .to_owned(),
            "violations in runs, interleavings and faults that did not happen here".to_owned(),
            "what no completed operation observed".to_owned(),
            "a reconnect that kept its process_id, or two clients that share one".to_owned(),
        ];
        if self.per_key {
            list.push("relations between keys: each key has an order of its own".to_owned());
        }
        list
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::against("sequential-consistency", &self.model, self.per_key, Some(self.effort))
    }

    fn missing(&self, history: &History) -> Vec<String> {
        let mut missing = self.linearizability().missing(history);
        missing.extend(overlapping(history));
        missing
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let strong = self.linearizability().check(history, limits);
        let mut evidence = strong.evidence;
        let missing = self.missing(history);
        let outcome = match strong.outcome {
            _ if !missing.is_empty() => {
                Outcome::Unknown { why: format!("the history does not fit: {}", missing.join("; ")) }
            }
            Outcome::Valid => Outcome::Valid,
            Outcome::Unknown { why } if evidence.fired == 0 => Outcome::Unknown { why },
            Outcome::Unknown { .. } | Outcome::Invalid { .. } => self.judge(history, limits, &mut evidence),
        };
        if matches!(outcome, Outcome::Unknown { .. }) {
            evidence.consumed = 0;
        }
        Answer {
            checker: self.name().to_owned(),
            model: Some(self.model.name().to_owned()),
            outcome,
            evidence,
            cannot_detect: self.cannot_detect(),
        }
    }
}

impl<M: Model + Clone> SequentialConsistency<M> {
    fn judge(&self, history: &History, limits: &dyn Limits, evidence: &mut Evidence) -> Outcome {
        let mut atoms = Atoms::default();
        let start = self.model.start(&mut atoms);
        let (mut violations, mut undecided) = (Vec::new(), None);
        for ops in self.groups(history) {
            let (sessions, objects) = self.session(&ops, &mut atoms);
            let mut search = Search::new(&self.model, &start, objects, limits, self.effort);
            match search.run(&sessions, |_| true) {
                Found::Order => {}
                Found::Stopped(why) => undecided = Some(why),
                Found::None => {
                    let core = search.shrink(&sessions);
                    violations.push(violation(&sessions, &core, self.per_key));
                }
            }
            evidence.fired += search.steps;
            evidence.peak_bytes = evidence.peak_bytes.max(search.peak_bytes);
        }
        match (violations.is_empty(), undecided) {
            (false, _) => {
                evidence.consumed = history.ops().len() as u64;
                Outcome::Invalid { violations }
            }
            (true, Some(why)) => Outcome::Unknown { why: format!("stopped by {why}: fewer sessions would help") },
            (true, None) => {
                evidence.consumed = history.ops().len() as u64;
                Outcome::Valid
            }
        }
    }
}

/// The violation whose reason is `core`: operations by id.
fn violation<M: Model>(sessions: &[Session<'_, M>], core: &[u64], per_key: bool) -> Violation {
    let all: usize = sessions.iter().map(|session| session.ops.len()).sum();
    let mut lines = vec![format!(
        "These {} operations have no legal order that keeps the order of each session, even if each of the {} others may \
         have taken effect at any time, or never (id, client, operation, [began..completed] in ns), by session:",
        core.len(),
        all - core.len()
    )];
    let told = sessions.iter().flat_map(|session| &session.ops).filter(|op| core.contains(&op.op_id));
    lines.extend(told.clone().take(LISTED).map(|op| format!("  {}", notation::line(op))));
    if core.len() > LISTED {
        lines.push(format!("  … and {} more", core.len() - LISTED));
    }
    let key = told.clone().next().and_then(|op| op.key.clone()).filter(|_| per_key);
    Violation {
        anomaly: "not-sequentially-consistent".to_owned(),
        key,
        ops: told.map(|op| op.op_id).collect(),
        explanation: lines.join("\n"),
    }
}
