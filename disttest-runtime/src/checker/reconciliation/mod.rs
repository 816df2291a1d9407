//! Reconciliation across replicas: after convergence, each replica has the same state.

mod snapshot;
#[cfg(test)]
mod tests;

pub use snapshot::Snapshot;

use super::conclusion::{Found, brief, lacks, says_nothing};
use super::{Answer, Checker, Evidence, Limits, Violation, recipe};
use crate::base::time::Nanos;
use crate::history::{Effect, History, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use snapshot::{Settled, Shown, differs};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Checks that replicas show the same state at quiescence.
///
/// First convergence: of each replica and key, the answers at quiescence are looked at in order; the last of them must
/// agree with one that was complete at least the settling time before it began, and with all in between. Where they do
/// not, the replica was still changing, and the answer is unknown; so it is when a replica was not asked at all, not
/// asked for a key that another showed, or only once, or not during the same time as the others (all replicas are asked,
/// and then all of them again). Only then states are compared, each replica's with the first's;
/// with equality that is every pair.
///
/// [`ReconciliationAcrossReplicas::of_reads`] takes the states from the history: completed `read`, `get`, `view` or
/// `dump` operations that began after everything else had ended (operations of unknown outcome: been invoked), with
/// `node_seen` as the replica. [`ReconciliationAcrossReplicas::of_snapshots`] takes states that the caller read, with the
/// times at which it did; no operation counts as consumed then, and those before the end of the last change are left out.
///
/// Required: `node_seen` (or snapshots). Witness: the first key that differs, what each replica shows, the first path
/// inside that differs, the reads. O(n log n). Source: plan format §7, pattern 13.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReconciliationAcrossReplicas {
    settle: Duration,
    replicas: Vec<String>,
    snapshots: Option<Vec<Snapshot>>,
}

impl ReconciliationAcrossReplicas {
    /// States are final reads of the history. `replicas` are all that there are.
    pub fn of_reads<R: Into<String>>(replicas: impl IntoIterator<Item = R>, settle: Duration) -> Self {
        let replicas = replicas.into_iter().map(Into::into).collect();
        ReconciliationAcrossReplicas { settle, replicas, snapshots: None }
    }

    /// States are handed in.
    pub fn of_snapshots<R: Into<String>>(
        replicas: impl IntoIterator<Item = R>,
        settle: Duration,
        snapshots: Vec<Snapshot>,
    ) -> Self {
        ReconciliationAcrossReplicas { snapshots: Some(snapshots), ..Self::of_reads(replicas, settle) }
    }

    /// What makes every answer unknown.
    fn misuse(&self) -> Option<String> {
        let distinct: BTreeSet<&String> = self.replicas.iter().collect();
        if distinct.len() < 2 || distinct.len() < self.replicas.len() {
            return Some("fewer than two replicas are declared, or one twice: nothing to compare".to_owned());
        }
        self.settle.is_zero().then(|| "no time to settle is declared: two equal states at once show nothing".to_owned())
    }
}

fn reads(op: &Op) -> bool {
    matches!(op.op_type.as_str(), "read" | "get" | "view" | "dump")
}

/// When everything that is no read had ended.
fn quiet(history: &History) -> Nanos {
    let changes = history.ops().iter().filter(|op| !reads(op));
    changes.map(|op| op.complete_ts.unwrap_or(op.invoke_ts)).max().unwrap_or_default()
}

fn is_final(op: &Op, quiet: Nanos) -> bool {
    reads(op) && op.effect() == Effect::Acknowledged && op.invoke_ts > quiet
}

impl Checker for ReconciliationAcrossReplicas {
    fn name(&self) -> &str {
        "reconciliation-across-replicas"
    }

    fn cannot_detect(&self) -> Vec<String> {
        vec![
            "divergence that was repaired before quiescence".to_owned(),
            "replicas that agree on a wrong or an incomplete state".to_owned(),
            "keys that were read on no replica, and replicas that are not declared".to_owned(),
            "a replica that answers reads from another".to_owned(),
        ]
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("reconciliation-across-replicas", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        let quiet = quiet(history);
        let bare = || history.ops().iter().filter(|op| is_final(op, quiet) && op.node_seen.is_none());
        let first = bare().next().filter(|_| self.snapshots.is_none());
        first.map(|op| lacks("node_seen is missing", op.op_id, bare().count() as u64)).into_iter().collect()
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut evidence = Evidence { recorded: history.ops().len() as u64, ..Evidence::default() };
        evidence.peak_bytes = evidence.recorded * 48;
        let mut found = Found::default();
        let stop = || limits.exceeded(evidence.recorded * 48).map(|why| format!("stopped by {why}"));
        match says_nothing(history).or_else(|| self.misuse()).or_else(stop) {
            Some(why) => found.doubt(why),
            None => self.judge(history, &mut found, &mut evidence),
        }
        evidence.fired = found.fired;
        let outcome = found.outcome();
        Answer { checker: self.name().to_owned(), model: None, outcome, evidence, cannot_detect: self.cannot_detect() }
    }
}

impl ReconciliationAcrossReplicas {
    fn judge(&self, history: &History, found: &mut Found, evidence: &mut Evidence) {
        let quiet = quiet(history);
        // Of each key, of each replica, what it showed, in order.
        let mut keys: BTreeMap<&str, BTreeMap<&str, Vec<Shown<'_>>>> = BTreeMap::new();
        match &self.snapshots {
            Some(snapshots) => {
                for (snapshot, (key, value)) in snapshots.iter().flat_map(|s| s.state.iter().map(move |it| (s, it))) {
                    if snapshot.from > quiet {
                        let shown = Shown::of_snapshot(snapshot, value);
                        keys.entry(key).or_default().entry(&snapshot.replica).or_default().push(shown);
                    }
                }
                snapshot::absent(snapshots, quiet, &mut keys);
            }
            None => {
                for op in history.ops().iter().filter(|op| is_final(op, quiet)) {
                    let Some(replica) = op.node_seen.as_deref() else {
                        found.doubt(format!("read {} does not say which replica answered it", op.op_id));
                        continue;
                    };
                    let key = op.key.as_deref().unwrap_or("");
                    keys.entry(key).or_default().entry(replica).or_default().push(Shown::of_read(op));
                }
            }
        }
        if keys.is_empty() {
            return found.doubt("no state was read after everything else had ended");
        }
        for (key, shown) in &keys {
            evidence.partitions += 1;
            if let Some(settled) = self.settled(key, shown, found) {
                self.compare(key, &settled, found);
            }
        }
        if self.snapshots.is_none() {
            let judged = |op: &&Op| keys.contains_key(op.key.as_deref().unwrap_or(""));
            evidence.consumed = history.ops().iter().filter(judged).count() as u64;
        }
    }

    /// The settled state of each declared replica; `None`, with doubts, where one is missing or still changing.
    fn settled<'a>(
        &self,
        key: &str,
        shown: &BTreeMap<&str, Vec<Shown<'a>>>,
        found: &mut Found,
    ) -> Option<Vec<(&str, Settled<'a>)>> {
        let mut settled = Vec::new();
        for replica in &self.replicas {
            let Some(all) = shown.get(replica.as_str()) else {
                found.doubt(format!("replica {replica} was not asked for {key:?} at quiescence"));
                continue;
            };
            match snapshot::settled(all, self.settle) {
                Ok(state) => settled.push((replica.as_str(), state)),
                Err(why) => found.doubt(format!("replica {replica} has not converged on {key:?}: {why}")),
            }
        }
        for stranger in shown.keys().filter(|name| !self.replicas.iter().any(|replica| replica == *name)) {
            found.doubt(format!("replica {stranger} answered and is not declared"));
        }
        // Something late may have landed everywhere between the last look at one and the first at another.
        let since = settled.iter().max_by_key(|(_, state)| state.since);
        let until = settled.iter().min_by_key(|(_, state)| state.until);
        if let (Some((late, from)), Some((early, to))) = (since, until)
            && from.since > to.until
        {
            found.doubt(format!("{late} and {early} were not looked at during the same time for {key:?}"));
            return None;
        }
        (settled.len() == self.replicas.len()).then_some(settled)
    }

    fn compare(&self, key: &str, settled: &[(&str, Settled<'_>)], found: &mut Found) {
        let Some(((first, state), others)) = settled.split_first() else { return };
        let mut odd = None;
        for (replica, other) in others {
            found.fired += 1;
            if odd.is_none() && state.last.value != other.last.value {
                odd = Some((replica, other));
            }
        }
        let Some((replica, other)) = odd else { return };
        let all: Vec<String> = settled.iter().map(|(name, it)| format!("{name} shows {}", it.last.text())).collect();
        let path = differs(state.last.value, other.last.value);
        found.violations.push(Violation {
            anomaly: "diverged-replicas".to_owned(),
            key: Some(key.to_owned()),
            ops: settled.iter().filter_map(|(_, state)| state.last.op).collect(),
            explanation: format!(
                "Replicas had settled (each showed the same twice, {} ms apart), and {first} and {replica} differ on \
                 {key:?}{path}: {}.",
                self.settle.as_millis(),
                all.join(", ")
            ),
        });
    }
}

/// A value in few words; absent is not null.
fn text(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| brief(&value.to_string()))
}
