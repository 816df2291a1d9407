//! Linearizability: some order of the operations, each at an instant between its invocation and its completion, is legal.

mod budget;
#[cfg(test)]
mod differential;
mod explain;
mod object;
mod search;
mod settle;
mod shrink;
#[cfg(test)]
mod tests;
mod visited;

use super::{Answer, Checker, Evidence, Limits, Outcome, Violation, recipe};
use crate::history::{Effect, History, Op};
use crate::model::{Atoms, Model};
use object::Object;
use rustc_hash::FxHashMap;
use settle::Found;
use std::collections::BTreeMap;

/// Checks that a history is linearizable (Herlihy and Wing, TOPLAS 1990) with respect to a model.
///
/// An operation of unknown outcome may take effect at any time after its invocation, or never; a failed one never did.
/// Operations that share a timestamp are taken as concurrent. An empty history, or one in which no completed operation
/// observes anything, is unknown, never valid. The operations of an object on which something was acknowledged and
/// nothing observed are not counted as consumed: no answer could have contradicted them.
///
/// Deciding is NP-complete in general. Registers, maps, queues and growing sets whose values are put once take
/// O(n log n), stacks O(n²) at worst; otherwise the search is exponential in the number of operations in flight at once on
/// one object, not in their number. Objects of large histories are decided in parallel; the answer is the same.
#[derive(Clone, Debug)]
pub struct Linearizability<M> {
    model: M,
    per_key: bool,
}

impl<M: Model> Linearizability<M> {
    /// Checks the whole history against one object (or, where the model has an object per key, each key).
    pub fn whole(model: M) -> Linearizability<M> {
        Linearizability { model, per_key: false }
    }

    /// Checks the operations of each key by themselves, each against an object of its own.
    pub fn per_key(model: M) -> Linearizability<M> {
        Linearizability { model, per_key: true }
    }

    /// Completed operations of `history` that some state forbids. Without any, whatever fits the model is linearizable
    /// (in the order of completions), which shows nothing of the system: [`Checker::check`] answers unknown.
    /// Linear in the history.
    pub fn observing(&self, history: &History) -> u64 {
        self.objects(history, &mut Atoms::default()).0.iter().map(|object| object.observing).sum()
    }

    fn by_key(&self) -> bool {
        self.per_key || self.model.one_object_per_key()
    }

    /// Operations by object, with what cannot be judged.
    fn objects<'h>(&self, history: &'h History, atoms: &mut Atoms) -> (Vec<Object<'h, M>>, Vec<String>) {
        let mut objects: Vec<Object<'h, M>> = Vec::new();
        let mut place: FxHashMap<Option<&str>, usize> = FxHashMap::default();
        let mut misfits = Misfits::default();
        let mut first: Option<&str> = None;
        for op in history.ops() {
            if self.by_key() && op.key.is_none() {
                misfits.add(op, "it has no key");
            }
            if !self.by_key() && op.effect() != Effect::Failed {
                let key = op.key.as_deref().unwrap_or("");
                // Comparing empty strings byte by byte costs more than everything else here.
                let differs = |seen: &str| seen.len() != key.len() || !key.is_empty() && seen != key;
                if differs(first.get_or_insert(key)) {
                    misfits.add(op, "another key than before in a check of one object: check per key");
                }
            }
            let at = if self.by_key() { *place.entry(op.key.as_deref()).or_insert(objects.len()) } else { 0 };
            if at == objects.len() {
                objects.push(Object::new(op.key.as_deref().filter(|_| self.by_key())));
                if !self.by_key() {
                    objects[at].reserve(history.ops().len());
                }
            }
            if let Err(problem) = objects[at].add(op, &self.model, atoms) {
                misfits.add(op, &problem);
            }
        }
        objects.sort_by_key(|object| object.key);
        (objects, misfits.into_sentences())
    }
}

/// Operations that do not fit, by what does not fit.
#[derive(Default)]
struct Misfits(BTreeMap<String, (u64, u64)>);

impl Misfits {
    fn add(&mut self, op: &Op, problem: &str) {
        self.0.entry(problem.to_owned()).or_insert((op.op_id, 0)).1 += 1;
    }

    fn into_sentences(self) -> Vec<String> {
        let sentence = |(problem, (first, count)): (String, (u64, u64))| {
            format!("operation {first} and {count} in all: {problem}")
        };
        self.0.into_iter().map(sentence).collect()
    }
}

impl<M: Model> Checker for Linearizability<M> {
    fn name(&self) -> &str {
        "linearizability"
    }

    fn model(&self) -> Option<&str> {
        Some(self.model.name())
    }

    fn cannot_detect(&self) -> Vec<String> {
        let mut list = vec![
            "violations in runs, interleavings and faults that did not happen here".to_owned(),
            "what no completed operation observed: a wrong state that nobody read".to_owned(),
            "effects of operations whose outcome is unknown, beyond what later operations saw".to_owned(),
            "misbehaviour shorter than the clock of the history can tell apart".to_owned(),
        ];
        if self.by_key() {
            list.push("relations between keys, such as one key's update becoming visible before another's".to_owned());
        }
        list
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::against("linearizability", &self.model, self.per_key, None)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        self.objects(history, &mut Atoms::default()).1
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut atoms = Atoms::default();
        let start = self.model.start(&mut atoms);
        let (objects, misfits) = self.objects(history, &mut atoms);
        let mut evidence = Evidence { recorded: history.ops().len() as u64, ..Evidence::default() };
        let outcome = match reason_not_to_judge(&objects, &misfits) {
            Some(why) => Outcome::Unknown { why },
            None => self.judge(&objects, &start, &mut atoms, limits, &mut evidence),
        };
        let mut cannot_detect = self.cannot_detect();
        cannot_detect.extend(never_observed(&objects));
        Answer {
            checker: self.name().to_owned(),
            model: Some(self.model.name().to_owned()),
            outcome,
            evidence,
            cannot_detect,
        }
    }
}

/// What is said of objects that nothing observed, if there are any.
fn never_observed<M: Model>(objects: &[Object<'_, M>]) -> Option<String> {
    let blind: Vec<&Object<'_, M>> = objects.iter().filter(|object| !object.is_observed()).collect();
    let first = blind.first()?;
    let ops: u64 = blind.iter().map(|object| object.recorded).sum();
    Some(format!(
        "anything on {} of {} objects, {} the first, that were written and never read: {ops} operations not counted",
        blind.len(),
        objects.len(),
        first.label()
    ))
}

fn reason_not_to_judge<M: Model>(objects: &[Object<'_, M>], misfits: &[String]) -> Option<String> {
    if !misfits.is_empty() {
        return Some(format!("the history does not fit the model: {}", misfits.join("; ")));
    }
    if objects.is_empty() {
        return Some("the history is empty".to_owned());
    }
    let observing: u64 = objects.iter().map(|object| object.observing).sum();
    (observing == 0).then(|| "no completed operation observes anything: nothing could contradict the model".to_owned())
}

impl<M: Model> Linearizability<M> {
    fn judge(
        &self,
        objects: &[Object<'_, M>],
        start: &M::State,
        atoms: &mut Atoms,
        limits: &dyn Limits,
        evidence: &mut Evidence,
    ) -> Outcome {
        let (mut violations, mut undecided): (Vec<Violation>, Vec<String>) = (Vec::new(), Vec::new());
        let settled = settle::all(&self.model, start, objects, limits);
        for (object, settled) in objects.iter().zip(settled) {
            evidence.fired += settled.steps;
            evidence.peak_bytes = evidence.peak_bytes.max(settled.peak_bytes);
            match settled.found {
                Found::Order => {}
                Found::NoOrder(core) => {
                    violations.push(explain::violation(&self.model, start, object, &core, atoms));
                }
                Found::Stopped(why) => {
                    undecided.push(format!("{}: stopped by {why}", object.label()));
                    continue;
                }
            }
            if object.is_observed() {
                evidence.consumed += object.recorded;
            }
            evidence.partitions += 1;
        }
        // A violation outranks what is unknown.
        if !violations.is_empty() {
            violations.sort_by_key(|violation| violation.ops.len());
            Outcome::Invalid { violations }
        } else if !undecided.is_empty() {
            let of = objects.len();
            let count = undecided.len();
            undecided.truncate(3);
            let why = format!(
                "{count} of {of} objects undecided ({}); it would take more time or memory, or fewer operations in flight",
                undecided.join("; ")
            );
            Outcome::Unknown { why }
        } else {
            Outcome::Valid
        }
    }
}
