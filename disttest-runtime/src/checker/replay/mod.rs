//! Replay equivalence: replaying the log from the start gives the state that was observed.

mod log;
mod states;
#[cfg(test)]
mod tests;

pub use states::{Observed, Replay};

use super::conclusion::{Found, lacks, says_nothing};
use super::{Answer, Checker, Evidence, Limits, Outcome, recipe};
use crate::history::access::Entry;
use crate::history::{Effect, History, Op};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Checks logs (`append`, `read` of [`crate::history::access`]): the log of each key as it is read from offset 0 to its
/// end after all acknowledged appends, compared with everything that clients were told before. [`Replay`] is the same
/// for states of a type of your own.
///
/// Step by step from offset 0: an acknowledged append is at its offset; what an earlier read showed is what is replayed
/// there; no entry is missing of which an append was acknowledged without an offset, or that was read before. And each
/// entry comes from one append: more copies of a value than operations that may have appended it are entries that no
/// operation made. Appends of unknown outcome may be anywhere or nowhere; failed ones nowhere. The log is empty when the
/// history begins. Keys without acknowledged appends are not judged; a key that was not read from its start to its end
/// is unknown.
///
/// Required: `op_type` append or read, offsets in the answers of reads. Witness: the first offset that differs, with the
/// operations. O(n log n). Source: plan format §7, pattern 3.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReplayEquivalence;

impl ReplayEquivalence {
    /// Of the logs in a history.
    pub fn of_log() -> ReplayEquivalence {
        ReplayEquivalence
    }
}

/// Why `op` is none of a log.
fn problem(op: &Op) -> Option<String> {
    match Entry::of(op) {
        Err(problem) => Some(problem),
        Ok(Entry::Append { .. }) if op.op_type != "append" => {
            Some(format!("`{}` is no operation of a log", op.op_type))
        }
        Ok(Entry::Read(Some(seen))) if seen.offset > LARGEST => Some(format!("{} is no offset of a log", seen.offset)),
        Ok(_) => None,
    }
}

/// Offsets beyond this are nonsense, and adding to them would overflow.
const LARGEST: u64 = 1 << 60;

impl Checker for ReplayEquivalence {
    fn name(&self) -> &str {
        "replay-equivalence"
    }

    fn cannot_detect(&self) -> Vec<String> {
        vec![
            "stale reads: a read that shows an earlier part of the log agrees with it".to_owned(),
            "entries that were wrong from the moment they were acknowledged without an offset, if nobody read them before"
                .to_owned(),
            "state beside the log: snapshots, indices, caches".to_owned(),
            "whether operations of unknown outcome took effect".to_owned(),
        ]
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("replay-equivalence", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        let mut problems: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for op in history.ops() {
            if let Some(problem) = problem(op) {
                problems.entry(problem).or_insert((op.op_id, 0)).1 += 1;
            }
        }
        problems.iter().map(|(problem, (first, count))| lacks(problem, *first, *count)).collect()
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut evidence = Evidence { recorded: history.ops().len() as u64, ..Evidence::default() };
        let outcome = judge(history, limits, &mut evidence);
        Answer { checker: self.name().to_owned(), model: None, outcome, evidence, cannot_detect: self.cannot_detect() }
    }
}

fn judge(history: &History, limits: &dyn Limits, evidence: &mut Evidence) -> Outcome {
    let odd = || {
        let (op, problem) = history.ops().iter().find_map(|op| Some((op, problem(op)?)))?;
        Some(format!("the history does not fit: operation {}: {problem}", op.op_id))
    };
    if let Some(why) = says_nothing(history).or_else(odd) {
        return Outcome::Unknown { why };
    }
    let mut keys: BTreeMap<Option<&str>, Vec<&Op>> = BTreeMap::new();
    for op in history.ops() {
        keys.entry(op.key.as_deref()).or_default().push(op);
    }
    evidence.peak_bytes = evidence.recorded * 64;
    let mut found = Found::default();
    for (key, ops) in &keys {
        if let Some(why) = limits.exceeded(evidence.peak_bytes) {
            found.doubt(format!("stopped by {why}"));
            break;
        }
        let acknowledged = |op: &&&Op| op.op_type == "append" && op.effect() == Effect::Acknowledged;
        if ops.iter().any(|op| acknowledged(&op)) {
            log::judge(*key, ops, &mut found);
            evidence.consumed += ops.len() as u64;
            evidence.partitions += 1;
        }
    }
    evidence.fired = found.fired;
    found.outcome()
}
