//! What the oracles of all runs did, and why they may be too weak (tree steps 5 to 7; D11, D19; DESIGN.md §2).

use super::{Bite, Declared, NO_ANSWERS, RunRecord, Scope, Tooth};
use crate::checker::{Answer, Outcome};

/// A reason for INCONCLUSIVE-oracle-too-weak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakness {
    /// Stable kebab-case name: `weak-history`, `checker-undecided`, `no-teeth`, ….
    pub rule: &'static str,
    /// In one sentence.
    pub reason: String,
}

/// Facts about oracles, over all runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OracleFacts {
    /// Declared checkers that did not run (step 5).
    pub did_not_run: Vec<String>,
    /// Weak history, undecided or toothless checkers, checks of nothing (step 6).
    pub weak: Vec<Weakness>,
    /// Checkers that took fewer operations into account than were recorded (step 7).
    pub subset: Vec<String>,
    /// A serious scenario lacks this part of §7.M: no hardening claim.
    pub incomplete_block: Vec<&'static str>,
    /// Operations recorded in all runs.
    pub operations: u64,
    /// Of these, acknowledged.
    pub acknowledged: u64,
    /// Of these, of unknown outcome.
    pub unknown: u64,
    /// Operations taken into account, summed over checkers and runs.
    pub consumed: u64,
    /// Elementary checks, summed likewise.
    pub fired: u64,
    /// Damaged histories that were rejected.
    pub rejected: u64,
}

/// The checker for which judging key by key is a weaker claim than judging the whole: an order of each key alone need
/// not join to one order of all, unless the model is one of independent keys, and then a plan says `per_key`.
const LINEARIZABILITY: &str = "linearizability";

/// Names of the tooth that is no damage but the unchanged history. It must be accepted, which may also be recorded as
/// "no damage applies".
const CONTROLS: [&str; 2] = ["control", "undamaged-control"];

impl OracleFacts {
    /// Facts of all `runs`.
    pub(super) fn gather(declared: &Declared, runs: &[RunRecord]) -> OracleFacts {
        let mut all = OracleFacts::default();
        if declared.is_serious() && declared.checkers.is_empty() {
            all.did_not_run.push("a serious scenario declares no checker".to_owned());
        }
        if declared.is_serious() && declared.model.is_none() {
            all.incomplete_block.push("Model under test");
        }
        for run in runs {
            all.add_counts(run);
            all.add_history(run);
            all.add_declared(declared, run);
            for answer in &run.answers {
                all.add_answer(declared, run, answer);
            }
            all.add_teeth(declared, run);
        }
        all
    }

    fn weak(&mut self, rule: &'static str, run: &RunRecord, reason: impl AsRef<str>) {
        self.weak.push(Weakness { rule, reason: format!("{}: {}", run.place(), reason.as_ref()) });
    }

    fn add_counts(&mut self, run: &RunRecord) {
        let ops = &run.operations;
        self.operations = self.operations.saturating_add(ops.recorded);
        self.acknowledged = self.acknowledged.saturating_add(ops.acknowledged);
        self.unknown = self.unknown.saturating_add(ops.unknown);
        if ops.acknowledged == 0 {
            self.weak("vacuous", run, format!("none of {} recorded operations was acknowledged", ops.recorded));
        }
        let by_outcome = ops.acknowledged.saturating_add(ops.failed).saturating_add(ops.unknown);
        if by_outcome != ops.recorded {
            let reason = format!("{} operations are recorded, but {by_outcome} have an outcome", ops.recorded);
            self.weak("weak-history", run, reason);
        }
    }

    fn add_history(&mut self, run: &RunRecord) {
        if run.history_sha256.as_deref().is_none_or(str::is_empty) {
            self.weak("no-history", run, "no history was written");
        }
        if !run.history_lacks.is_empty() {
            self.weak("history-lacks-fields", run, format!("the history lacks {}", run.history_lacks.join("; ")));
        }
        if !run.history_weak.is_empty() {
            self.weak("weak-history", run, format!("the history is weak: {}", run.history_weak.join("; ")));
        }
    }

    fn add_declared(&mut self, declared: &Declared, run: &RunRecord) {
        for (name, _) in &declared.checkers {
            if !run.answers.iter().any(|answer| &answer.checker == name) {
                self.did_not_run.push(format!("{}: the declared checker `{name}` did not run", run.place()));
            }
        }
        if run.answers.is_empty() {
            self.weak("no-oracle", run, "no checker ran at all");
        }
    }

    fn add_answer(&mut self, declared: &Declared, run: &RunRecord, answer: &Answer) {
        let (name, evidence) = (&answer.checker, &answer.evidence);
        self.consumed = self.consumed.saturating_add(evidence.consumed);
        self.fired = self.fired.saturating_add(evidence.fired);
        if let Outcome::Unknown { why } = &answer.outcome {
            self.weak("checker-undecided", run, format!("`{name}` could not decide: {why}"));
            return;
        }
        if let (Some(wanted), Some(used)) = (&declared.model, &answer.model)
            && bare(wanted) != bare(used)
        {
            self.weak("model-mismatch", run, format!("`{name}` judged against `{used}`, declared is `{wanted}`"));
        }
        if evidence.fired == 0 {
            self.weak("vacuous", run, format!("`{name}` made no check"));
        }
        let (given, had) = (evidence.recorded, run.operations.recorded);
        if given > had || evidence.consumed > given {
            let taken = evidence.consumed;
            self.weak(
                "foreign-history",
                run,
                format!("`{name}` took {taken} of {given} operations, the run has {had}"),
            );
        } else if evidence.consumed < had {
            let taken = evidence.consumed;
            self.subset.push(format!("{}: `{name}` took {taken} of {had} operations into account", run.place()));
        }
        let whole = declared.checkers.iter().any(|(declared, scope)| declared == name && *scope == Scope::Whole);
        if whole && name == LINEARIZABILITY && evidence.partitions > 1 {
            let parts = evidence.partitions;
            let reason = format!("`{name}` judged {parts} keys each for itself, declared is the whole history");
            self.subset.push(format!("{}: {reason}", run.place()));
        }
    }

    fn add_teeth(&mut self, declared: &Declared, run: &RunRecord) {
        for tooth in run.teeth.iter().filter(|tooth| tooth.damage == NO_ANSWERS) {
            // Rejecting it, or leaving it open, is no skill and counts for none.
            if tooth.bite == Bite::Accepted {
                let reason = format!("`{}` calls a history valid in which nothing was ever answered", tooth.checker);
                self.weak("no-teeth", run, reason);
            }
        }
        for tooth in run.teeth.iter().filter(|tooth| tooth.damage != NO_ANSWERS) {
            match (is_control(tooth), tooth.bite) {
                (true, Bite::Accepted) | (_, Bite::NotApplicable) => {}
                (false, Bite::Rejected) => self.rejected += 1,
                (true, _) => {
                    self.weak("no-teeth", run, format!("`{}` does not accept the unchanged history", tooth.checker));
                }
                (false, Bite::Accepted) => self.weak("no-teeth", run, toothless("accepted", tooth)),
                (false, Bite::Undecided) => self.weak("no-teeth", run, toothless("could not decide on", tooth)),
            }
        }
        let rejects = |name: &str| {
            let skilled = |t: &Tooth| !is_control(t) && t.damage != NO_ANSWERS;
            run.teeth.iter().any(|t| t.checker == name && skilled(t) && t.bite == Bite::Rejected)
        };
        let shown = |name: &str| run.teeth.iter().any(|t| t.checker == name && !is_control(t));
        let valid = run.answers.iter().filter(|answer| answer.outcome == Outcome::Valid);
        for name in valid.map(|answer| answer.checker.as_str()).filter(|name| !shown(name)) {
            self.weak("no-teeth", run, format!("`{name}` was shown no other history than the one it calls valid"));
        }
        for (name, _) in declared.checkers.iter().filter(|(name, _)| !rejects(name)) {
            self.weak("no-teeth", run, format!("`{name}` rejected no damaged copy of the history"));
        }
    }
}

fn is_control(tooth: &Tooth) -> bool {
    CONTROLS.contains(&tooth.damage.as_str())
}

fn toothless(what: &str, tooth: &Tooth) -> String {
    format!("`{}` {what} a history damaged by `{}` ({})", tooth.checker, tooth.damage, tooth.detail)
}

/// `name` of `other(name)`, of `other("name")` and of `name`; of a model of ours the name it answers, however it is spelt.
fn bare(model: &str) -> &str {
    if let Some(entry) = crate::model::find(model) {
        return entry.name;
    }
    let inner = model.strip_prefix("other(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(model);
    inner.trim().trim_matches('"')
}
