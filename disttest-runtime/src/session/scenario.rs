//! The record of one scenario: judged from its executions, or not run for a reason.

use crate::plan::Tier;
use crate::verdict::{self, Declared, Drift, Facts, Harness, RunRecord, ScenarioRecord, Step, Verdict, Why};

/// The schema of [`ScenarioRecord`].
pub(crate) const SCENARIO_SCHEMA: &str = "disttest.scenario/1";

/// Judges `runs`: (folder relative to the session, record), re-runs included. `lacking` is what was missing before the
/// first of them.
pub fn judge(
    declared: &Declared,
    tier: Tier,
    runs: Vec<(String, RunRecord)>,
    drift: Drift,
    unfilled: Vec<String>,
    lacking: Vec<String>,
) -> ScenarioRecord {
    let records: Vec<RunRecord> = runs.iter().map(|(_, record)| record.clone()).collect();
    let (verdict, why) = verdict::decide(&Facts::gather(declared, &records, &drift, &unfilled).lacking(&lacking));
    let tier_met = verdict::tier_met(declared, &records);
    ScenarioRecord {
        schema: SCENARIO_SCHEMA.to_owned(),
        declared: declared.clone(),
        unfilled,
        lacking,
        tier,
        tier_met,
        runs,
        drift,
        verdict,
        why,
        harness: Harness::default(),
    }
}

/// What the test runner is told of `record` when `asked` was asked for (D18).
pub fn test_is_ok(record: &ScenarioRecord, asked: Tier) -> bool {
    verdict::test_is_ok(&record.declared, record.verdict, record.tier_met, asked)
}

/// A scenario that was not attempted, with the reason a reader needs.
pub fn not_run(
    declared: &Declared,
    tier: Tier,
    drift: Drift,
    unfilled: Vec<String>,
    rule: &str,
    reason: String,
) -> ScenarioRecord {
    let mut record = judge(declared, tier, Vec::new(), drift, unfilled, Vec::new());
    record.verdict = Verdict::NotRun;
    record.tier_met = None;
    record.why = Why { steps: vec![Step { rule: rule.to_owned(), verdict: Verdict::NotRun, reason }] };
    record
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::plan::Budget;
    use crate::verdict::{DeclaredFault, RunRequest};

    pub(crate) fn declared(id: &str) -> Declared {
        Declared {
            id: id.to_owned(),
            name: "name".to_owned(),
            test: format!("tests::{id}"),
            plan: "docs/plan.md".to_owned(),
            scenario_sha256: String::new(),
            falsifies: Vec::new(),
            model: None,
            checkers: Vec::new(),
            fault: DeclaredFault::None { reason: "none".to_owned() },
            budgets: None,
            shares_nothing: false,
            package: "store".to_owned(),
            target: "s1".to_owned(),
            surface: None,
            negative_controls: Vec::new(),
        }
    }

    pub(crate) fn request(scenario: &str, seed: u64) -> RunRequest {
        RunRequest {
            schema: "disttest.request/1".to_owned(),
            run_id: format!("{scenario}-{seed}"),
            scenario: scenario.to_owned(),
            seed,
            rerun: 0,
            tier: Tier::Smoke,
            budget: Budget::default(),
            run_dir: String::new(),
            log_dir: String::new(),
            sut_args: Vec::new(),
        }
    }

    #[test]
    fn a_scenario_that_was_not_attempted_says_why() {
        let record =
            not_run(&declared("S1"), Tier::Smoke, Drift::None, Vec::new(), "missing-budgets", "no budgets".into());
        assert_eq!((record.verdict, record.tier_met), (Verdict::NotRun, None));
        assert_eq!(record.why.steps[0].reason, "no budgets");
    }
}
