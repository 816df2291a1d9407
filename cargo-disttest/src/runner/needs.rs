//! What a plan must say before anything runs (D2).

use crate::plan_file::PlanFile;
use disttest_runtime::base::diagnostic::LineIndex;
use disttest_runtime::plan::{Scenario, blockers};

/// What each of `scenarios` lacks, with what to write; empty when all can run.
pub(crate) fn lacking(plan: &PlanFile, scenarios: &[&Scenario], allow_missing_budgets: bool) -> Vec<String> {
    let lines = LineIndex::new(&plan.text);
    let asked = |id: &disttest_runtime::plan::Id| {
        // An arm is asked for with its scenario.
        scenarios
            .iter()
            .any(|scenario| (scenario.id.value.letter(), scenario.id.value.number()) == (id.letter(), id.number()))
    };
    let mut lacking = Vec::new();
    for blocker in blockers(&plan.plan).into_iter().filter(|blocker| asked(&blocker.id)) {
        let budgets = blocker.lacks == BUDGETS;
        if budgets && allow_missing_budgets {
            continue;
        }
        let at = lines.position(&plan.text, blocker.span.start);
        let hint = if budgets { " (--allow-missing-budgets runs it, capped at PASS-smoke)" } else { "" };
        lacking.push(format!(
            "{}:{}:{}: {} has no {}: {}{hint}",
            plan.shown,
            at.line,
            at.column,
            blocker.id,
            blocker.lacks.trim_start_matches("an "),
            blocker.help
        ));
    }
    lacking
}

const BUDGETS: &str = "budget tiers";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_for_missing_budgets_is_the_plans() {
        let plan = disttest_runtime::plan::parse("# Test Plan: p\n\n## 7. Scenarios\n\n### Scenario S1: a\n").0;
        assert!(blockers(&plan).iter().any(|blocker| blocker.lacks == BUDGETS), "{:?}", blockers(&plan));
    }
}
