//! Violations that runs saw, and whether a re-run of the same seed saw the same one (format.md D5).

use super::{ControlResult, RunRecord};
use crate::checker::Outcome;

/// Anomaly kind of a node that exited though no nemesis killed it (D17).
pub(super) const NODE_DEATH: &str = "unexpected-node-exit";
/// Stands in the place of a checker's name for violations that the runtime itself observed.
pub(super) const RUNTIME: &str = "process-watch";

/// Stands in the place of a checker's name for what a negative control shows.
const CONTROL: &str = "negative-control";

/// One violation in one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Seed of the run.
    pub seed: u64,
    /// 0 for the first execution of the seed.
    pub rerun: u32,
    /// Id of the execution; two violations of one execution are no reproduction.
    pub run_id: String,
    /// The checker that rejected the history, `negative-control`, or `process-watch`.
    pub checker: String,
    /// Anomaly kind.
    pub anomaly: String,
    /// The key, or the node.
    pub place: Option<String>,
    /// Operations of the witness; empty for what no history shows.
    pub ops: Vec<u64>,
    /// The witness as text.
    pub explanation: String,
    /// A planned fault was proven to have landed in that run; otherwise the violation is attributed to no fault.
    pub attributed: bool,
}

/// All violations of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violations {
    /// In order of the runs.
    pub seen: Vec<Seen>,
    /// Index into `seen` of a violation that a re-run of its seed repeated.
    pub reproduced: Option<usize>,
    /// Re-runs made of the seed that `first()` names.
    pub reruns: usize,
    /// Those of them that violated with the same checker and anomaly.
    pub repeated: usize,
}

impl Violations {
    /// Collects from `runs`; `attributed` says for each run whether a planned fault was proven.
    pub(super) fn gather(runs: &[RunRecord], attributed: &[bool]) -> Violations {
        let seen: Vec<Seen> = runs.iter().zip(attributed).flat_map(|(run, proven)| of_run(run, *proven)).collect();
        let reproduced = seen.iter().position(|first| seen.iter().any(|again| repeats(first, again)));
        let mut all = Violations { seen, reproduced, reruns: 0, repeated: 0 };
        let Some(told) = all.first() else { return all };
        let reruns: Vec<&RunRecord> =
            runs.iter().filter(|r| r.request.seed == told.seed && r.request.rerun > 0).collect();
        let again = |run: &&&RunRecord| all.seen.iter().any(|s| s.run_id == run.request.run_id && same_kind(told, s));
        (all.reruns, all.repeated) = (reruns.len(), reruns.iter().filter(again).count());
        all
    }

    /// The violation to tell first: a reproduced one, else the earliest.
    pub fn first(&self) -> Option<&Seen> {
        self.seen.get(self.reproduced.unwrap_or(0))
    }
}

/// True when `run` saw a violation: a checker rejected its history, what must be denied was not, or a node died and was
/// not allowed to.
pub fn violates(run: &RunRecord) -> bool {
    !of_run(run, false).is_empty()
}

/// True when `again`, another execution of the seed of `first`, saw a violation that `first` saw too (D5).
pub fn reproduces(first: &RunRecord, again: &RunRecord) -> bool {
    let again = of_run(again, false);
    of_run(first, false).iter().any(|seen| again.iter().any(|other| repeats(seen, other)))
}

fn same_kind(a: &Seen, b: &Seen) -> bool {
    (a.seed, &a.checker, &a.anomaly) == (b.seed, &b.checker, &b.anomaly)
}

/// `again` is a re-run of the execution `first` and shows the same.
fn repeats(first: &Seen, again: &Seen) -> bool {
    same_kind(first, again) && again.rerun > first.rerun && again.run_id != first.run_id
}

/// Every violation that a record holds, however its code ended.
fn of_run(run: &RunRecord, attributed: bool) -> Vec<Seen> {
    let seen = |checker: &str, anomaly: &str, place: Option<String>, ops: &[u64], explanation: String| Seen {
        seed: run.request.seed,
        rerun: run.request.rerun,
        run_id: run.request.run_id.clone(),
        checker: checker.to_owned(),
        anomaly: anomaly.to_owned(),
        place,
        ops: ops.to_vec(),
        explanation,
        attributed,
    };
    let mut all = Vec::new();
    for answer in &run.answers {
        let Outcome::Invalid { violations } = &answer.outcome else { continue };
        for v in violations {
            all.push(seen(&answer.checker, &v.anomaly, v.key.clone(), &v.ops, v.explanation.clone()));
        }
        if violations.is_empty() {
            all.push(seen(&answer.checker, "unnamed-anomaly", None, &[], "the checker gave no witness".to_owned()));
        }
    }
    for trial in &run.controls {
        let (anomaly, why) = match trial.judge() {
            ControlResult::Granted { why } => ("denied-access-granted", why),
            ControlResult::Observed { why } => ("denied-access-observed", why),
            ControlResult::Held { .. } | ControlResult::NotShown { .. } => continue,
        };
        let key = trial.attempts.iter().find_map(|attempt| attempt.exchange.op.key.clone());
        all.push(seen(CONTROL, anomaly, key, &[], format!("{}: {why}", trial.control)));
    }
    for death in run.deaths.iter().filter(|death| !death.allowed) {
        let explanation = format!("node {} exited though no nemesis killed it: {}", death.node, death.how);
        all.push(seen(RUNTIME, NODE_DEATH, Some(death.node.clone()), &[], explanation));
    }
    all
}
