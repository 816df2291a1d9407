//! Effort measured against the tiers of the plan (format.md §5), and what that makes of a test's result (D18).

use super::record::RUN_SCHEMA;
use super::{Declared, End, RunRecord, Verdict, landing};
use crate::plan::{Budget, Release, Tier};
use std::collections::BTreeSet;

/// What was measured and which tier it meets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// The weakest seed on each dimension, and the number of seeds.
    pub measured: Budget,
    /// The tier met, if any. `None` also for a plan without budgets.
    pub met: Option<Tier>,
    /// The plan has budget tiers.
    pub has_budgets: bool,
    /// Where `measured` stays below smoke: (dimension, has, needs).
    pub below_smoke: Vec<(&'static str, u64, u64)>,
    /// Where `measured` stays below hardening.
    pub below_hardening: Vec<(&'static str, u64, u64)>,
    /// Dimensions on which the declared hardening tier is not stronger than smoke: then it is none.
    pub hardening_not_stronger: Vec<&'static str>,
    /// What the plan says of its release tier.
    pub release: Option<Release>,
}

impl Effort {
    /// Measures `runs`. Linear in the windows and runs.
    pub(super) fn gather(declared: &Declared, runs: &[RunRecord]) -> Effort {
        let measured = measure(declared, runs);
        let Some(budgets) = &declared.budgets else { return Effort { measured, ..Effort::default() } };
        let below_smoke = measured.shortfalls(&budgets.smoke);
        let below_hardening = measured.shortfalls(&budgets.hardening);
        let hardening_not_stronger = budgets.hardening.not_stronger_than(&budgets.smoke);
        let hardening = below_smoke.is_empty() && below_hardening.is_empty() && hardening_not_stronger.is_empty();
        let release = matches!(&budgets.release, Release::Budget(floor) if measured.meets(floor));
        let met = match (below_smoke.is_empty(), hardening, release) {
            (_, true, true) => Some(Tier::Release),
            (_, true, false) => Some(Tier::Hardening),
            (true, false, _) => Some(Tier::Smoke),
            (false, false, _) => None,
        };
        let release = Some(budgets.release.clone());
        Effort { measured, met, has_budgets: true, below_smoke, below_hardening, hardening_not_stronger, release }
    }
}

/// The tier whose budget the runs met on every dimension, whatever they found. `None` below smoke, and for a plan
/// without budgets.
pub fn tier_met(declared: &Declared, runs: &[RunRecord]) -> Option<Tier> {
    Effort::gather(declared, runs).met
}

/// The strongest verdict that the plan allows: without a fault, or without budgets, no more than PASS-smoke.
pub fn strongest_allowed(declared: &Declared) -> Verdict {
    match (declared.fault.is_planned(), &declared.budgets) {
        (true, Some(_)) => Verdict::PassHardening,
        _ => Verdict::PassSmoke,
    }
}

/// D18: the test is ok when the verdict is the strongest that its plan allows and the tier met is at least the one
/// asked for. When smoke is asked for, any PASS will do.
pub fn test_is_ok(declared: &Declared, verdict: Verdict, met: Option<Tier>, asked: Tier) -> bool {
    match asked {
        Tier::Smoke => verdict.is_pass(),
        Tier::Hardening | Tier::Release => verdict == strongest_allowed(declared) && met >= Some(asked),
    }
}

/// "seconds 9 of 10, seeds 1 of 3".
pub(super) fn shortfalls_text(shortfalls: &[(&str, u64, u64)]) -> String {
    shortfalls.iter().map(|(name, has, needs)| format!("{name} {has} of {needs}")).collect::<Vec<_>>().join(", ")
}

/// First executions whose oracle judged: what counts as effort. Re-runs and broken runs never do.
pub(super) fn counted<'a>(declared: &Declared, runs: &'a [RunRecord]) -> Vec<&'a RunRecord> {
    runs.iter()
        .filter(|run| run.request.rerun == 0 && run.end == End::Judged)
        .filter(|run| run.schema == RUN_SCHEMA && run.request.scenario == declared.id)
        .collect()
}

fn measure(declared: &Declared, runs: &[RunRecord]) -> Budget {
    let runs = counted(declared, runs);
    let least = |of: &dyn Fn(&RunRecord) -> u64| runs.iter().map(|run| of(run)).min().unwrap_or(0);
    Budget {
        nodes: least(&|run| run.measured.nodes),
        // A number that stands in two places counts as the smaller one.
        seconds: least(&|run| run.measured.seconds.min(run.workload.as_duration().as_secs())),
        faults: least(&|run| run.measured.faults.min(landing::landed_windows(declared, run))),
        seeds: distinct_seeds(&runs),
        operations: least(&|run| run.measured.operations.min(run.operations.recorded)),
    }
}

/// Seeds that count: two records with one seed, one run id or one history are one.
fn distinct_seeds(runs: &[&RunRecord]) -> u64 {
    let seeds: BTreeSet<u64> = runs.iter().filter(|run| run.measured.seeds > 0).map(|run| run.request.seed).collect();
    let ids: BTreeSet<&str> = runs.iter().map(|run| run.request.run_id.as_str()).collect();
    let histories: BTreeSet<&str> = runs.iter().filter_map(|run| run.history_sha256.as_deref()).collect();
    seeds.len().min(ids.len()).min(histories.len()) as u64
}
