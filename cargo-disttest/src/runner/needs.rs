//! What a plan must say before anything runs (D2).

use crate::plan_file::PlanFile;
use disttest_runtime::base::diagnostic::LineIndex;
use disttest_runtime::plan::Scenario;

/// Rules of the lint that mean "this scenario has no oracle".
const ORACLE_RULES: [&str; 3] = ["missing-oracle", "weak-oracle", "vague-oracle"];

/// What each of `scenarios` lacks, with what to write; empty when all can run.
pub(crate) fn lacking(plan: &PlanFile, scenarios: &[&Scenario], allow_missing_budgets: bool) -> Vec<String> {
    let lines = LineIndex::new(&plan.text);
    let mut lacking = Vec::new();
    for scenario in scenarios {
        let at = lines.position(&plan.text, scenario.id.span.start);
        let at = format!("{}:{}:{}: {}", plan.shown, at.line, at.column, scenario.id.value);
        if scenario.field("Oracle").is_none() || oracle_refused(plan, scenario) {
            lacking.push(format!(
                "{at} has no oracle. Write `- **Oracle:** …` with a property that a program can check, such as \
                 \"linearizability per key, then no-lost-ack at quiescence\""
            ));
        }
        if scenario.budgets.is_none() && !allow_missing_budgets {
            lacking.push(format!(
                "{at} has no budget tiers. Write `- **Smoke budget:** 3 nodes × 10 s × 1 fault × 1 seed`, a stronger \
                 `- **Hardening budget:** …`, and `- **Release budget:** …` or \"not provided — <reason>. Revisit \
                 when: <condition>.\" (--allow-missing-budgets runs it, capped at PASS-smoke)"
            ));
        }
    }
    lacking
}

fn oracle_refused(plan: &PlanFile, scenario: &Scenario) -> bool {
    let inside = |start| (scenario.span.start..scenario.span.end).contains(&start);
    plan.diagnostics.iter().any(|d| ORACLE_RULES.contains(&d.rule.as_str()) && inside(d.span.start))
}
