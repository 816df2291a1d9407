//! What a reviewer wants to see first: counts, scenarios with their state, coverage with its gaps.

use super::matrix;
use super::state::State;
use crate::diagnostics::plain;
use disttest_runtime::base::diagnostic::Spanned;
use disttest_runtime::plan::{Budget, Id, Plan, PlanMode, Scenario};

/// The state of each scenario or arm by its id; empty when nobody looked.
pub(crate) type States = Vec<(String, State)>;

/// Gaps that are spelt out below the matrix; the rest is counted.
const GAPS: usize = 20;

/// The summary. `states` tells what is on disk, where that is known.
pub(crate) fn summary(plan: &Plan, states: &States) -> String {
    let slug = plan.header.slug.as_ref().map_or("(no title)", |s| s.value.as_str());
    let mut out = format!("{} ({})\n", plain(slug), mode(plan));
    for (n, what) in counts(plan) {
        out.push_str(&format!("  {n:>4} {}\n", number(n as u64, what)));
    }
    if !plan.scenarios.is_empty() {
        out.push_str("\nScenarios\n");
        plan.scenarios.iter().for_each(|s| scenario_lines(&mut out, plan, s, states));
    }
    if !plan.claims.is_empty() {
        out.push_str("\nCoverage: claims × hypotheses, in each cell the scenarios that falsify the one by the other\n");
        out.push_str(&matrix::text(plan));
        gap_lines(&mut out, plan);
    }
    out
}

fn counts(plan: &Plan) -> [(usize, (&'static str, &'static str)); 14] {
    let serious = plan.scenarios.iter().filter(|s| s.is_serious(plan)).count();
    let own = plan.scenarios.iter().filter(|s| s.model_block.is_some()).count();
    let arms = plan.scenarios.iter().flat_map(|s| &s.arms);
    let in_arms = arms.clone().filter(|arm| arm.model_block.is_some()).count();
    [
        (plan.claims.len(), ("claim", "claims")),
        (plan.missing_claims.len(), ("missing claim", "missing claims")),
        (plan.inventory.len(), ("existing test", "existing tests")),
        (plan.hypotheses.len(), ("hypothesis", "hypotheses")),
        (plan.coverage.len(), ("coverage row", "coverage rows")),
        (plan.techniques.len(), ("technique", "techniques")),
        (plan.environment.len(), ("environment requirement", "environment requirements")),
        (plan.scenarios.len(), ("scenario", "scenarios")),
        (arms.count(), ("arm", "arms")),
        (serious, ("serious scenario", "serious scenarios")),
        (own + in_arms, ("§7.M block", "§7.M blocks")),
        (plan.adequacy.len(), ("adequacy row", "adequacy rows")),
        (plan.residual.len(), ("residual uncertainty", "residual uncertainties")),
        (plan.confidence.aspects.len(), ("rated aspect", "rated aspects")),
    ]
}

pub(crate) fn mode(plan: &Plan) -> &'static str {
    match plan.header.mode {
        PlanMode::ChangeScoped => "change-scoped",
        PlanMode::ProjectWide => "project-wide",
    }
}

fn scenario_lines(out: &mut String, plan: &Plan, scenario: &Scenario, states: &States) {
    let kind = if scenario.is_serious(plan) { "serious" } else { "plain" };
    let id = scenario.id.value.to_string();
    out.push_str(&format!("  {:<5} {}  [{kind}]\n", scenario.id.value.written(), plain(&scenario.name.value)));
    out.push_str(&format!("        falsifies {}; closes {}\n", listed(&scenario.falsifies), listed(&scenario.closes)));
    match &scenario.budgets {
        None => out.push_str("        budgets   MISSING\n"),
        Some(budgets) => {
            out.push_str(&format!("        smoke     {}\n", budget_words(&budgets.smoke)));
            out.push_str(&format!("        hardening {}\n", budget_words(&budgets.hardening)));
        }
    }
    let target = scenario.target.as_ref().map_or_else(|| "none: it cannot be authored".to_owned(), |t| plain(&t.value));
    out.push_str(&format!("        target    {target}\n"));
    let state = |id: &str| states.iter().find(|(other, _)| other == id).map(|(_, state)| plain(&state.sentence()));
    if let Some(state) = state(&id) {
        out.push_str(&format!("        state     {state}\n"));
    }
    for arm in &scenario.arms {
        let id = arm.id.value.to_string();
        let name = arm.name.as_deref().map(|n| format!(": {}", plain(n))).unwrap_or_default();
        let state = state(&id).map(|state| format!("  [{state}]")).unwrap_or_default();
        out.push_str(&format!("        arm {}{name}{state}\n", arm.id.value.written()));
    }
}

fn gap_lines(out: &mut String, plan: &Plan) {
    let gaps = matrix::gaps(plan);
    if gaps.is_empty() {
        return;
    }
    out.push_str("\nGaps\n");
    gaps.iter().take(GAPS).for_each(|gap| out.push_str(&format!("  {gap}\n")));
    if gaps.len() > GAPS {
        out.push_str(&format!("  … and {} more\n", gaps.len() - GAPS));
    }
}

fn listed(ids: &[Spanned<Id>]) -> String {
    if ids.is_empty() {
        return "NOTHING".to_owned();
    }
    ids.iter().map(|id| id.value.written()).collect::<Vec<_>>().join(", ")
}

fn budget_words(budget: &Budget) -> String {
    let Budget { nodes, seconds, faults, seeds, operations } = budget;
    let counted = |n: &u64, words| format!("{n} {}", number(*n, words));
    let operations = if *operations == 0 {
        String::new()
    } else {
        format!(" × {}", counted(operations, ("operation", "operations")))
    };
    let (nodes, faults) = (counted(nodes, ("node", "nodes")), counted(faults, ("fault", "faults")));
    format!("{nodes} × {seconds}s × {faults} × {}{operations}", counted(seeds, ("seed", "seeds")))
}

/// The singular or the plural.
fn number(n: u64, (one, many): (&'static str, &'static str)) -> &'static str {
    if n == 1 { one } else { many }
}

#[cfg(test)]
mod tests {
    use super::*;
    use disttest_runtime::plan;

    const PLAN: &str = include_str!("../../../disttest-runtime/tests-data/plans/register.md");

    #[test]
    fn the_summary_is_what_its_snapshot_says() {
        let plan = plan::check(PLAN).0;
        let states = vec![
            ("S1".to_owned(), State::Unfilled(vec!["workload".to_owned(), "oracle".to_owned()])),
            ("S2".to_owned(), State::NotAuthorable("it has no target".to_owned())),
        ];
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/snapshots/summary.txt");
        let shown = summary(&plan, &states);
        if std::env::var_os("DISTTEST_BLESS").is_some() {
            std::fs::write(path, &shown).expect("the snapshot can be written");
        }
        assert_eq!(shown, std::fs::read_to_string(path).unwrap_or_default(), "DISTTEST_BLESS=1 writes it anew");
    }
}
