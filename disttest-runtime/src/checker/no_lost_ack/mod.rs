//! No lost acknowledgement: what was acknowledged is there at quiescence.

mod append_only;
mod finals;
mod overwritable;
#[cfg(test)]
mod tests;

use super::{Answer, Checker, Evidence, Limits, Outcome, Violation, recipe};
use crate::history::{History, Op};
use finals::Finals;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Checks that every acknowledged write is visible in the final reads.
///
/// Final reads are completed reads that were invoked after every acknowledged write of the whole history had completed
/// (earlier ones prove nothing: the fault may have come after them); of each client, its last one of a key counts.
/// An operation of unknown outcome is never acknowledged, and may take effect at any time after its invocation. A key
/// with acknowledged writes and without a final read is unknown; so is a history without any acknowledged write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoLostAck {
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    Overwritable,
    AppendOnly,
}

/// What one key shows.
struct Found {
    /// The loss, if any.
    lost: Option<Violation>,
    /// Why it cannot be judged, if so.
    unread: Option<String>,
    /// Comparisons made.
    fired: u64,
}

impl NoLostAck {
    /// For registers and maps (`read`/`get`, `write`/`put`, `delete`, `cas`): an acknowledged write must be visible, or
    /// what is visible must be another write of its key that could have overwritten it, that is, one that had not
    /// completed before it began.
    pub fn overwritable() -> NoLostAck {
        NoLostAck { kind: Kind::Overwritable }
    }

    /// For logs and sets (`append`/`add`, `read`): every acknowledged entry must be there, at its offset if it got one,
    /// as often as it was acknowledged (an `add` once).
    pub fn append_only() -> NoLostAck {
        NoLostAck { kind: Kind::AppendOnly }
    }

    /// Whether `op` is an acknowledged write; `Err` says what is not understood.
    fn is_acknowledged_write(&self, op: &Op) -> Result<bool, String> {
        match self.kind {
            Kind::Overwritable => overwritable::is_acknowledged_write(op),
            Kind::AppendOnly => append_only::is_acknowledged_write(op),
        }
    }
}

impl Checker for NoLostAck {
    fn name(&self) -> &str {
        "no-lost-ack"
    }

    fn cannot_detect(&self) -> Vec<String> {
        let mut list = vec![
            "stale or wrong answers before quiescence".to_owned(),
            "writes that were lost and then restored before the final reads".to_owned(),
            "effects of failed operations, duplicated effects, values that nobody wrote beside what was acknowledged"
                .to_owned(),
            "whether operations of unknown outcome took effect".to_owned(),
        ];
        if self.kind == Kind::Overwritable {
            list.push("a lost write that a later write of its key overwrote anyway".to_owned());
        }
        list
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("no-lost-ack", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        let mut problems: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        let finals = Finals::of(history, |op| {
            self.is_acknowledged_write(op).unwrap_or_else(|problem| {
                problems.entry(problem).or_insert((op.op_id, 0)).1 += 1;
                false
            })
        });
        let mut list: Vec<String> = problems
            .into_iter()
            .map(|(problem, (first, count))| format!("operation {first} and {count} in all: {problem}"))
            .collect();
        list.extend(finals.unread().map(|key| finals.say_unread(key)));
        list
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut evidence = Evidence { recorded: history.ops().len() as u64, ..Evidence::default() };
        let outcome = self.judge(history, limits, &mut evidence);
        Answer { checker: self.name().to_owned(), model: None, outcome, evidence, cannot_detect: self.cannot_detect() }
    }
}

impl NoLostAck {
    fn judge(&self, history: &History, limits: &dyn Limits, evidence: &mut Evidence) -> Outcome {
        let mut misfit = None;
        let finals = Finals::of(history, |op| {
            self.is_acknowledged_write(op).unwrap_or_else(|problem| {
                misfit.get_or_insert((op.op_id, problem));
                false
            })
        });
        if let Some((op, problem)) = misfit {
            return Outcome::Unknown { why: format!("the history does not fit: operation {op}: {problem}") };
        }
        if finals.last_ack.is_none() {
            return Outcome::Unknown { why: "the history has no acknowledged write that could be lost".to_owned() };
        }
        let (mut violations, mut unread) = (Vec::new(), Vec::new());
        for (key, ops) in &finals.keys {
            if let Some(why) = limits.exceeded(evidence.recorded * 16) {
                unread.push(format!("stopped by {why}"));
                break;
            }
            let found = match self.kind {
                Kind::Overwritable => overwritable::judge(*key, ops, &finals),
                Kind::AppendOnly => append_only::judge(*key, ops, &finals),
            };
            evidence.fired += found.fired;
            evidence.consumed += ops.all.len() as u64;
            evidence.partitions += 1;
            violations.extend(found.lost);
            unread.extend(found.unread);
        }
        evidence.peak_bytes = evidence.recorded * 16;
        if !violations.is_empty() {
            Outcome::Invalid { violations }
        } else if !unread.is_empty() {
            let count = unread.len();
            unread.truncate(5);
            Outcome::Unknown { why: format!("{count} keys cannot be judged: {}", unread.join("; ")) }
        } else {
            Outcome::Valid
        }
    }
}

/// The violation for a key: the first lost write, the read that misses it, and how many more.
fn lost(key: Option<&str>, writes: &[&Op], read: &Op, why: &str) -> Violation {
    let first = writes[0];
    let mut explanation = format!(
        "{} was acknowledged to client {} at {} ns (operation {}), and the final read of client {} (operation {}, \
         [{}..{}] ns) answered {}: {why}.",
        crate::history::notation::short(first),
        first.process_id,
        first.complete_ts.map_or(0, |at| at.0),
        first.op_id,
        read.process_id,
        read.op_id,
        read.invoke_ts.0,
        read.complete_ts.map_or(0, |at| at.0),
        brief(&read.output.to_string()),
    );
    if writes.len() > 1 {
        let ids: Vec<String> = writes.iter().take(20).map(|op| op.op_id.to_string()).collect();
        let more = if writes.len() > 20 { ", …" } else { "" };
        explanation.push_str(&format!(" {} acknowledged writes are lost: {}{more}.", writes.len(), ids.join(", ")));
    }
    Violation {
        anomaly: "lost-acknowledged-write".to_owned(),
        key: key.map(str::to_owned),
        ops: vec![first.op_id, read.op_id],
        explanation,
    }
}

fn brief(text: &str) -> String {
    if text.chars().count() <= 120 { text.to_owned() } else { text.chars().take(117).chain("…".chars()).collect() }
}
