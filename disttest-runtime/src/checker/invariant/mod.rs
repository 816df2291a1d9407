//! Invariants over a typed state that a history builds: at quiescence, or after every step.

mod quiescence;
#[cfg(test)]
mod tests;

pub use quiescence::Quiescence;

use super::conclusion::{Found, brief, lacks, says_nothing};
use super::{Answer, Checker, Evidence, Limits, Outcome, Violation};
use crate::base::time::Nanos;
use crate::history::{History, Op};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What a rule says of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It says nothing of this state: it did not fire.
    Silent,
    /// It fired, and holds.
    Holds,
    /// It fired, and is broken: what the state shows.
    Broken(String),
}

impl Rule {
    /// Holds, or is broken with what `shows` says.
    pub fn check(holds: bool, shows: impl FnOnce() -> String) -> Rule {
        if holds { Rule::Holds } else { Rule::Broken(shows()) }
    }
}

type Fold<S> = dyn Fn(&mut S, &Op) -> Result<(), String> + Send + Sync;
type Judge<S> = dyn Fn(&S) -> Rule + Send + Sync;

/// Checks rules over a state that is built from the operations, in the order of their ends: an acknowledged or failed
/// operation stands at its completion, one of unknown outcome at its invocation (it may take effect from then on, or
/// never: what that means for the state is for the caller's fold to say, by `op.effect()`).
///
/// [`Invariant::over_final_state`] is the checker `invariant-over-final-state`: its rules are judged once, at
/// quiescence, which is checked first ([`Quiescence`]). [`Invariant::at_every_step`] is `property-assertion`: its rules
/// are judged after each operation. Either can keep a state for each key ([`Invariant::per_key`]). How often each rule
/// fired is in [`Invariant::fires`] and, summed, in the evidence; a rule that never fired makes the answer unknown. So
/// does an operation that the fold refuses to understand.
///
/// ```
/// use disttest_runtime::checker::{Checker, Invariant, Quiescence, Rule, Unlimited};
/// use disttest_runtime::history::{Effect, notation::history};
///
/// // What was counted, between the increments that were acknowledged and those that may have happened.
/// let counted = Invariant::over_final_state((0, 0, None), |(least, most, read), op| {
///     match (op.op_type.as_str(), op.effect()) {
///         ("inc", Effect::Acknowledged) => (*least, *most) = (*least + 1, *most + 1),
///         ("inc", Effect::Unknown) => *most += 1,
///         ("read", Effect::Acknowledged) => *read = op.output.as_i64(),
///         _ => {}
///     }
///     Ok(())
/// })
/// .per_key()
/// .quiescent(Quiescence { background_work: Some(0), replicas_converged: Some(true) })
/// .rule("the count is what was acknowledged", |(least, most, read)| match read {
///     None => Rule::Silent,
///     Some(read) => Rule::check((least..=most).contains(&read), || format!("{read}, not in {least}..={most}")),
/// });
/// let lost = history("c1 inc k [0..1]\nc1 inc k [2..3]\nc2 read k -> 1 [5..6]").expect("a history");
/// assert!(matches!(counted.check(&lost, &Unlimited).outcome, disttest_runtime::checker::Outcome::Invalid { .. }));
/// ```
///
/// Required: what the fold reads, and for the final state a read after everything else completed, of each key. Witness:
/// the rule, the key, the last operation that went into the state (and for the final state the reads), and the state as
/// `Debug` writes it. Cost: O(n log n) for the order, then one call of the fold an operation and one of each rule a step
/// (or a key). Source: plan format §7, patterns 2 and 12.
#[derive(Clone)]
pub struct Invariant<S> {
    start: S,
    fold: Arc<Fold<S>>,
    rules: Vec<(String, Arc<Judge<S>>)>,
    reads: Vec<String>,
    per_key: bool,
    /// `None` at every step.
    quiescence: Option<Quiescence>,
}

impl<S> fmt::Debug for Invariant<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules: Vec<&str> = self.rules.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Invariant").field("rules", &rules).finish_non_exhaustive()
    }
}

/// The state of one key (or of all) and the last operation in it.
struct Part<S> {
    state: S,
    last: u64,
    /// Of the final phase.
    reads: Vec<u64>,
}

impl<S: Clone + fmt::Debug + Send + Sync> Invariant<S> {
    fn new<F>(start: S, fold: F, quiescence: Option<Quiescence>) -> Invariant<S>
    where
        F: Fn(&mut S, &Op) -> Result<(), String> + Send + Sync + 'static,
    {
        let reads = ["read", "get", "view", "dump", "balance", "read-set"].map(str::to_owned).to_vec();
        Invariant { start, fold: Arc::new(fold), rules: Vec::new(), reads, per_key: false, quiescence }
    }

    /// Rules at quiescence over what `fold` makes of `start` and all operations. Unknown until
    /// [`Invariant::quiescent`] says that it was verified.
    pub fn over_final_state<F>(start: S, fold: F) -> Invariant<S>
    where
        F: Fn(&mut S, &Op) -> Result<(), String> + Send + Sync + 'static,
    {
        Invariant::new(start, fold, Some(Quiescence::default()))
    }

    /// Rules after every operation, over what `fold` makes of `start` and the operations so far.
    pub fn at_every_step<F>(start: S, fold: F) -> Invariant<S>
    where
        F: Fn(&mut S, &Op) -> Result<(), String> + Send + Sync + 'static,
    {
        Invariant::new(start, fold, None)
    }

    /// Adds a rule.
    pub fn rule(mut self, name: &str, judge: impl Fn(&S) -> Rule + Send + Sync + 'static) -> Invariant<S> {
        self.rules.push((name.to_owned(), Arc::new(judge)));
        self
    }

    /// A state for each key.
    pub fn per_key(mut self) -> Invariant<S> {
        self.per_key = true;
        self
    }

    /// What was measured about quiescence before the final reads. Says nothing at every step.
    pub fn quiescent(mut self, measured: Quiescence) -> Invariant<S> {
        self.quiescence = self.quiescence.map(|_| measured);
        self
    }

    /// Operation types that only read, in place of `read`, `get`, `view`, `dump`, `balance`, `read-set`.
    pub fn reads<R: Into<String>>(mut self, types: impl IntoIterator<Item = R>) -> Invariant<S> {
        self.reads = types.into_iter().map(Into::into).collect();
        self
    }

    /// How often each rule fires on `history`.
    pub fn fires(&self, history: &History, limits: &dyn Limits) -> Vec<(String, u64)> {
        let (_, fires, _) = self.walk(history, limits);
        self.rules.iter().map(|(name, _)| name.clone()).zip(fires).collect()
    }

    fn walk(&self, history: &History, limits: &dyn Limits) -> (Found, Vec<u64>, u64) {
        let (mut found, mut fires) = (Found::default(), vec![0; self.rules.len()]);
        let mut parts: BTreeMap<Option<&str>, Part<S>> = BTreeMap::new();
        let mut broken: Vec<bool> = vec![false; self.rules.len()];
        let quiet = self.quiescence.as_ref().and_then(|_| quiescence::from(history, &self.reads));
        let mut order: Vec<&Op> = history.ops().iter().collect();
        order.sort_by_key(|op| (end(op), op.op_id));
        for (count, op) in order.iter().enumerate() {
            if let Some(why) = (count % 1024 == 0).then(|| limits.exceeded(count as u64 * 8)).flatten() {
                found.doubt(format!("stopped by {why}"));
                break;
            }
            let key = op.key.as_deref().filter(|_| self.per_key);
            let fresh = || Part { state: self.start.clone(), last: 0, reads: Vec::new() };
            let part = parts.entry(key).or_insert_with(fresh);
            if let Err(why) = (self.fold)(&mut part.state, op) {
                found.doubt(format!("operation {} is not understood: {why}", op.op_id));
                break;
            }
            part.last = op.op_id;
            if self.quiescence.is_none() {
                self.judge(key, part, &mut found, &mut fires, &mut broken);
            } else if quiet.is_some_and(|quiet| quiescence::is_final(op, quiet, &self.reads)) {
                part.reads.push(op.op_id);
            }
        }
        if let Some(measured) = self.quiescence.as_ref().filter(|_| found.doubts.is_empty()) {
            found.doubts.extend(measured.doubts(history, quiet, &self.reads));
            if found.doubts.is_empty() {
                for (key, part) in &parts {
                    match part.reads.is_empty() {
                        true => found.doubt(format!("{} has no final read", named(*key))),
                        false => self.judge(*key, part, &mut found, &mut fires, &mut broken),
                    }
                }
            }
        }
        for ((name, _), fired) in self.rules.iter().zip(&fires) {
            if *fired == 0 {
                found.doubt(format!("the rule `{name}` never fired"));
            }
            found.fired += fired;
        }
        (found, fires, parts.len() as u64)
    }

    /// Judges every rule on one state. Each rule is told once: what comes after its first break may follow from it.
    fn judge(&self, key: Option<&str>, part: &Part<S>, found: &mut Found, fires: &mut [u64], broken: &mut [bool]) {
        for (at, (name, judge)) in self.rules.iter().enumerate() {
            let shown = match judge(&part.state) {
                Rule::Silent => continue,
                Rule::Holds => None,
                Rule::Broken(shown) => Some(shown),
            };
            fires[at] += 1;
            let Some(shown) = shown.filter(|_| !std::mem::replace(&mut broken[at], true)) else { continue };
            let ops = if part.reads.is_empty() { vec![part.last] } else { part.reads.clone() };
            let when = match self.quiescence {
                Some(_) => format!("at quiescence (final reads {})", listed(&part.reads)),
                None => format!("after operation {}", part.last),
            };
            found.violations.push(Violation {
                anomaly: "broken-invariant".to_owned(),
                key: key.map(str::to_owned),
                ops,
                explanation: format!(
                    "`{name}` is broken on {} {when}: {shown}. The state is {}.",
                    named(key),
                    brief(&format!("{:?}", part.state))
                ),
            });
        }
    }
}

/// When an operation stands in the order.
fn end(op: &Op) -> Nanos {
    op.complete_ts.unwrap_or(op.invoke_ts)
}

fn named(key: Option<&str>) -> String {
    key.map_or_else(|| "the whole state".to_owned(), |key| format!("key {key:?}"))
}

fn listed(ops: &[u64]) -> String {
    let shown: Vec<String> = ops.iter().take(10).map(u64::to_string).collect();
    let more = if ops.len() > 10 { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

impl<S: Clone + fmt::Debug + Send + Sync> Checker for Invariant<S> {
    fn name(&self) -> &str {
        if self.quiescence.is_some() { "invariant-over-final-state" } else { "property-assertion" }
    }

    fn cannot_detect(&self) -> Vec<String> {
        let mut list = vec![
            "what no rule says, and what the state leaves out".to_owned(),
            "whether operations of unknown outcome took effect".to_owned(),
        ];
        list.push(match self.quiescence {
            Some(_) => "anything that was wrong before quiescence and right again then".to_owned(),
            None => "states that no client was told of: steps stand in the order of their completions".to_owned(),
        });
        list
    }

    fn missing(&self, history: &History) -> Vec<String> {
        let keyless = || history.ops().iter().filter(|op| op.key.is_none());
        let mut list = Vec::new();
        if let Some(first) = keyless().next().filter(|_| self.per_key) {
            list.push(lacks("key is missing", first.op_id, keyless().count() as u64));
        }
        if self.quiescence.is_some() && quiescence::from(history, &self.reads).is_none() {
            list.push("no completed read after everything else".to_owned());
        }
        list
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut evidence = Evidence { recorded: history.ops().len() as u64, ..Evidence::default() };
        let no_rule = || self.rules.is_empty().then(|| "no rule is declared".to_owned());
        let outcome = match says_nothing(history).or_else(no_rule) {
            Some(why) => Outcome::Unknown { why },
            None => {
                let (found, _, parts) = self.walk(history, limits);
                evidence.fired = found.fired;
                evidence.partitions = parts;
                evidence.consumed = if found.fired > 0 { evidence.recorded } else { 0 };
                evidence.peak_bytes = evidence.recorded * 8;
                found.outcome()
            }
        };
        Answer { checker: self.name().to_owned(), model: None, outcome, evidence, cannot_detect: self.cannot_detect() }
    }
}
