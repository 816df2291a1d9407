//! What the decision tree looks at, gathered from declarations and records. Pure; linear in the records.

use super::checklist::Checklist;
use super::record::{NOT_REACHED, RUN_SCHEMA};
use super::{Declared, Drift, Effort, End, Landing, OracleFacts, Precondition, RunRecord, Violations};

/// Facts of one scenario over all its seeds, attempts and re-runs. Each list is empty when nothing is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Claims it falsifies, for wording: `C1, C2`.
    pub claims: String,
    /// §7.M applies.
    pub serious: bool,
    /// A fault is planned.
    pub fault_planned: bool,
    /// Names of unfilled regions.
    pub unfilled: Vec<String>,
    /// Executions on record.
    pub executions: usize,
    /// Violations seen in any of them.
    pub violations: Violations,
    /// Capabilities and preconditions that were missing.
    pub env_missing: Vec<String>,
    /// Executions whose oracle never judged, with the reason (D17).
    pub never_judged: Vec<String>,
    /// Faults.
    pub landing: Landing,
    /// Oracles.
    pub oracle: OracleFacts,
    /// Effort.
    pub effort: Effort,
    /// The ten red flags and the fourteen weak-oracle items.
    pub checklist: Checklist,
    /// Drift.
    pub drift: Drift,
}

impl Facts {
    /// Reads what was declared and every record: first executions, attempts and re-runs alike. What is wrong in any
    /// of them is wrong with the scenario: retrying hides nothing.
    pub fn gather(declared: &Declared, runs: &[RunRecord], drift: &Drift, unfilled: &[String]) -> Facts {
        let (landing, attributed) = Landing::gather(declared, runs);
        let oracle = OracleFacts::gather(declared, runs);
        let effort = Effort::gather(declared, runs);
        let checklist = Checklist::gather(declared, runs, &landing, &oracle, &effort);
        Facts {
            claims: declared.falsifies.iter().map(|(claim, _)| claim.as_str()).collect::<Vec<_>>().join(", "),
            serious: declared.is_serious(),
            fault_planned: declared.fault.is_planned(),
            unfilled: unfilled.to_vec(),
            executions: runs.len(),
            violations: Violations::gather(runs, &attributed),
            env_missing: runs.iter().flat_map(|run| env_missing(declared, run)).collect(),
            never_judged: runs.iter().filter_map(|run| never_judged(declared, run)).collect(),
            landing,
            oracle,
            effort,
            checklist,
            drift: drift.clone(),
        }
    }

    /// These facts, of a scenario that was started although something it requires was missing.
    #[must_use]
    pub fn lacking(mut self, lacking: &[String]) -> Facts {
        self.env_missing.splice(0..0, lacking.iter().cloned());
        self
    }
}

/// Preconditions of every scenario, then those of a scenario with a fault.
const PRECONDITIONS: [&str; 4] = ["cluster up", "observability live", "baseline captured", "fault plane responsive"];

fn env_missing(declared: &Declared, run: &RunRecord) -> Vec<String> {
    let place = run.place();
    if let End::EnvMissing { what } = &run.end {
        return vec![format!("{place}: {what}")];
    }
    let reached = |p: &&Precondition| p.ok || p.evidence != NOT_REACHED;
    let failed = run.preconditions.iter().filter(reached).filter(|p| !p.ok);
    let mut missing: Vec<String> =
        failed.map(|p| format!("{place}: precondition \"{}\" failed: {}", p.name, p.evidence)).collect();
    let required = if declared.fault.is_planned() { 4 } else { 2 };
    let unchecked = |name: &&&str| !run.preconditions.iter().filter(reached).any(|p| p.name == **name);
    if run.end == End::Judged {
        let absent = PRECONDITIONS[..required].iter().filter(unchecked);
        missing.extend(absent.map(|name| format!("{place}: precondition \"{name}\" was never checked")));
    }
    missing
}

fn never_judged(declared: &Declared, run: &RunRecord) -> Option<String> {
    let why = match &run.end {
        End::Judged if run.schema != RUN_SCHEMA => format!("its record is `{}`, not `{RUN_SCHEMA}`", run.schema),
        End::Judged if run.request.scenario != declared.id => {
            format!("its record belongs to {}, not to {}", run.request.scenario, declared.id)
        }
        End::Judged | End::EnvMissing { .. } => return None,
        End::Error { message } => format!("it ended with an error: {message}"),
        End::Panicked { message } => format!("it panicked: {message}"),
        End::TimedOut { seconds } => format!("it ran longer than its deadline of {seconds} s"),
        End::Died { how } => format!("its process died: {how}"),
    };
    Some(format!("{}: {why}", run.place()))
}
