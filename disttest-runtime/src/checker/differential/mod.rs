//! Differential: two implementations get the same inputs, and their answers are compared.

#[cfg(test)]
mod tests;

use super::conclusion::{Found, brief, lacks, says_nothing};
use super::{Answer, Checker, Evidence, Limits, Violation};
use crate::history::notation::short;
use crate::history::{Effect, History, Op};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

type Apply<S> = dyn Fn(&mut S, &Op) -> Result<Value, String> + Send + Sync;
type Allows = dyn Fn(&Op, &Value) -> bool + Send + Sync;

/// Difference that is declared, and why it is none.
#[derive(Clone)]
struct Allowed {
    reason: String,
    allows: Arc<Allows>,
}

/// Compares what the system under test answered with what another implementation answers to the same operations in the
/// same order, from the same start.
///
/// The order must be known: an operation that another one on the same key overlapped in time, or that follows one of
/// unknown outcome on its key, leaves the key unknown from there on ([`Differential::whole`]: all of it; clients that
/// take turns, or a key for each client, give an order). Failed operations are not applied. Of each key only the first
/// difference is told: what follows may follow from it. A difference that [`Differential::allow`] declares is counted
/// as a check and no violation; a declaration without a reason makes the answer unknown.
///
/// [`compare`] does the same for inputs and answers of any type, outside of a history.
///
/// Required: `complete_ts`, `output`. Witness: the operation, both answers. O(n log n) and one call of the other
/// implementation an operation. Source: plan format §7, pattern 6.
#[derive(Clone)]
pub struct Differential<S> {
    other: String,
    start: S,
    apply: Arc<Apply<S>>,
    allowed: Vec<Allowed>,
    per_key: bool,
}

impl<S> fmt::Debug for Differential<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Differential").field("other", &self.other).finish_non_exhaustive()
    }
}

impl<S: Clone + Send + Sync> Differential<S> {
    /// Compares with `apply` on `start`, one for each key; `other` names it in the explanation.
    pub fn against(
        other: &str,
        start: S,
        apply: impl Fn(&mut S, &Op) -> Result<Value, String> + Send + Sync + 'static,
    ) -> Differential<S> {
        let other = other.to_owned();
        Differential { other, start, apply: Arc::new(apply), allowed: Vec::new(), per_key: true }
    }

    /// One state for all keys.
    pub fn whole(mut self) -> Differential<S> {
        self.per_key = false;
        self
    }

    /// Differences of which `allows` holds, given the operation and the other's answer, are none, for this reason.
    pub fn allow(mut self, reason: &str, allows: impl Fn(&Op, &Value) -> bool + Send + Sync + 'static) -> Self {
        self.allowed.push(Allowed { reason: reason.trim().to_owned(), allows: Arc::new(allows) });
        self
    }

    /// Runs the operations of one key; how many could be compared or applied before the order was lost.
    fn follow(&self, key: Option<&str>, ops: &[&Op], found: &mut Found) -> u64 {
        let (mut state, mut told, mut taken) = (self.start.clone(), false, 0);
        for (at, op) in ops.iter().enumerate() {
            if let Some(next) = ops.get(at + 1).filter(|next| op.complete_ts.is_none_or(|end| end >= next.invoke_ts)) {
                let (named, this, next) = (named(key), op.op_id, next.op_id);
                found.doubt(format!("{named}: operations {this} and {next} overlap, so their order is not known"));
                return taken;
            }
            taken += 1;
            match op.effect() {
                Effect::Failed => continue,
                // The last one of its key: nothing follows that could show whether it took effect.
                Effect::Unknown => return taken,
                Effect::Acknowledged => {}
            }
            let answer = match (self.apply)(&mut state, op) {
                Ok(answer) => answer,
                Err(why) => {
                    found.doubt(format!("operation {} is not understood by {}: {why}", op.op_id, self.other));
                    return taken;
                }
            };
            found.fired += 1;
            let allowed = || self.allowed.iter().any(|it| (it.allows)(op, &answer));
            if answer != op.output && !allowed() && !std::mem::replace(&mut told, true) {
                found.violations.push(Violation {
                    anomaly: "implementations-differ".to_owned(),
                    key: key.map(str::to_owned),
                    ops: vec![op.op_id],
                    explanation: format!(
                        "operation {} on {} was answered `{}`, and {} answers {} after the same {at} operations before it.",
                        op.op_id,
                        named(key),
                        short(op),
                        self.other,
                        brief(&answer.to_string())
                    ),
                });
            }
        }
        taken
    }
}

fn named(key: Option<&str>) -> String {
    key.map_or_else(|| "the whole history".to_owned(), |key| format!("key {key:?}"))
}

impl<S: Clone + Send + Sync> Checker for Differential<S> {
    fn name(&self) -> &str {
        "differential"
    }

    fn cannot_detect(&self) -> Vec<String> {
        let mut list = vec![
            format!("a defect that {} shares", self.other),
            "anything under concurrency: only operations whose order is known are compared".to_owned(),
            "whether operations of unknown outcome took effect".to_owned(),
        ];
        list.extend(self.allowed.iter().map(|allowed| format!("what is allowed: {}", allowed.reason)));
        list
    }

    fn missing(&self, history: &History) -> Vec<String> {
        let keyless = || history.ops().iter().filter(|op| op.key.is_none());
        let first = keyless().next().filter(|_| self.per_key && history.ops().iter().any(|op| op.key.is_some()));
        first.map(|op| lacks("key is missing", op.op_id, keyless().count() as u64)).into_iter().collect()
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut evidence = Evidence { recorded: history.ops().len() as u64, ..Evidence::default() };
        evidence.peak_bytes = evidence.recorded * 8;
        let mut found = Found::default();
        if let Some(why) = says_nothing(history) {
            found.doubt(why);
        } else if let Some(nameless) = self.allowed.iter().position(|allowed| allowed.reason.is_empty()) {
            found.doubt(format!("allowed difference {} has no reason", nameless + 1));
        } else {
            let mut keys: BTreeMap<Option<&str>, Vec<&Op>> = BTreeMap::new();
            for op in history.ops() {
                keys.entry(op.key.as_deref().filter(|_| self.per_key)).or_default().push(op);
            }
            for (key, ops) in keys {
                if let Some(why) = limits.exceeded(evidence.peak_bytes) {
                    found.doubt(format!("stopped by {why}"));
                    break;
                }
                evidence.consumed += self.follow(key, &ops, &mut found);
                evidence.partitions += 1;
            }
        }
        evidence.fired = found.fired;
        let outcome = found.outcome();
        Answer { checker: self.name().to_owned(), model: None, outcome, evidence, cannot_detect: self.cannot_detect() }
    }
}

/// The first input on which two implementations differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference<I, O> {
    /// Position among the inputs.
    pub at: usize,
    /// The input.
    pub input: I,
    /// What the one answers.
    pub one: O,
    /// What the other answers.
    pub other: O,
}

/// What [`compare`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared<I, O> {
    /// Inputs compared.
    pub inputs: usize,
    /// Differences that were allowed.
    pub allowed: usize,
    /// The first that was not.
    pub first: Option<Difference<I, O>>,
}

/// Gives each of `inputs` to `one` and to `other`, in order, up to the first difference that `allowed` does not explain
/// with a reason. Without inputs nothing is compared, which is no evidence: see [`Compared::inputs`].
pub fn compare<I: Clone, O: PartialEq>(
    inputs: &[I],
    mut one: impl FnMut(&I) -> O,
    mut other: impl FnMut(&I) -> O,
    allowed: impl Fn(&I, &O, &O) -> Option<&'static str>,
) -> Compared<I, O> {
    let mut compared = Compared { inputs: 0, allowed: 0, first: None };
    for (at, input) in inputs.iter().enumerate() {
        let (a, b) = (one(input), other(input));
        compared.inputs += 1;
        if a == b {
            continue;
        }
        if allowed(input, &a, &b).is_some_and(|reason| !reason.trim().is_empty()) {
            compared.allowed += 1;
            continue;
        }
        compared.first = Some(Difference { at, input: input.clone(), one: a, other: b });
        break;
    }
    compared
}
