//! Rules about budgets.

use super::Context;
use crate::plan::labels::{EXIT_CRITERIA, FAULTS, HARDENING, RELEASE, SMOKE};
use crate::plan::model::Scenario;
use crate::plan::no_fault::{self, NoFault};
use crate::plan::rules::report;
use crate::plan::told::Told;
use crate::plan::{Budget, Release};

/// Tiers, in order.
const TIERS: [&str; 3] = [SMOKE, HARDENING, RELEASE];

/// Each scenario has its three tiers; where its arms bring their own, each arm has them.
pub(super) fn missing_budgets(context: &Context<'_>, out: &mut Told) {
    for scenario in &context.plan.scenarios {
        // What is written and cannot be read, `TBD` included, the parser has told.
        let lacking = TIERS.into_iter().filter(|label| scenario.field(label).is_none());
        let own = |label: &&str| scenario.arms.iter().any(|arm| arm.own(label).is_some());
        let (some_have, missing): (Vec<&str>, Vec<&str>) = lacking.partition(own);
        missing_in_arms(scenario, &some_have, out);
        if missing.is_empty() {
            continue;
        }
        let legacy = scenario.field(EXIT_CRITERIA);
        let instead = legacy.map_or("", |_| "; `Exit criteria` alone is the old form");
        let message = format!("{} has no {}{instead}", scenario.id.value, missing.join(", no "));
        let help = match missing[0] {
            RELEASE => "write `- **Release budget:** not provided — <reason>. Revisit when: <condition>.`".to_owned(),
            tier => format!("write `- **{tier}:** 3 nodes × 60s × 1 fault × 1 seed`"),
        };
        // A tier that is there and says nothing is the place; else the old field; else the scenario.
        let written =
            scenario.fields.iter().find(|f| f.label == missing[0] && !f.value.value.is_empty()).map(|f| f.value.span);
        let span = written.or(legacy.map(|f| f.span)).unwrap_or(scenario.id.span);
        out.push(report("missing-budgets", span, message, help));
    }
}

/// Arms without one of the tiers `labels`, which other arms of the scenario have.
fn missing_in_arms(scenario: &Scenario, labels: &[&str], out: &mut Told) {
    for arm in &scenario.arms {
        let missing: Vec<&str> = labels.iter().filter(|label| arm.own(label).is_none()).copied().collect();
        if !missing.is_empty() {
            let message = format!("{} has no {}, nor has its scenario", arm.id.value, missing.join(", no "));
            let help = format!("write `- **{}:** …` in the arm, or in its scenario for all arms", missing[0]);
            out.push(report("missing-budgets", arm.id.span, message, help));
        }
    }
}

/// The format knows no exception for a system that is one process by nature (format §5).
const ONE_NODE: &str = "raise it on every dimension, the nodes included. A system that is one process by nature: write \
                        `1 node` for smoke and `2 nodes` for hardening, which starts two independent instances (give \
                        each keys and data of its own)";

/// Smoke and hardening, each for itself: one that cannot be read must not hide how weak another is.
fn tiers(scenario: &Scenario) -> (Option<Budget>, Option<Budget>) {
    match &scenario.budgets {
        Some(budgets) => (Some(budgets.smoke), Some(budgets.hardening)),
        None => (scenario.smoke(), scenario.hardening()),
    }
}

/// Hardening is stronger than smoke.
pub(super) fn budget_not_stronger(context: &Context<'_>, out: &mut Told) {
    for scenario in &context.plan.scenarios {
        let (Some(smoke), Some(hardening)) = tiers(scenario) else { continue };
        let weak = hardening.not_stronger_than(&smoke);
        if !weak.is_empty() {
            let span = scenario.field(HARDENING).map_or(scenario.id.span, |f| f.span);
            let message = format!(
                "{}: the hardening budget is not stronger than smoke on {}",
                scenario.id.value,
                weak.join(", ")
            );
            let help = match weak.contains(&"nodes") {
                true => ONE_NODE,
                false => "raise it on every dimension",
            };
            out.push(report("budget-not-stronger", span, message, help));
        }
    }
}

/// Budgets and `Faults` agree on whether there are faults.
pub(super) fn budget_faults(context: &Context<'_>, out: &mut Told) {
    for scenario in &context.plan.scenarios {
        let Some(field) = scenario.field(FAULTS) else { continue };
        let (smoke, hardening) = tiers(scenario);
        let asks = |tier: Option<Budget>| tier.is_some_and(|budget| budget.faults > 0);
        let planned = no_fault::read(&field.value) == NoFault::Planned;
        let id = &scenario.id.value;
        let span = scenario.field(HARDENING).map_or(scenario.id.span, |f| f.span);
        if planned && hardening.is_some() && !asks(hardening) {
            let message = format!("{id} plans a fault, and its hardening budget asks for none");
            out.push(report("budget-faults", span, message, "name the number of fault windows"));
        }
        if !planned && (asks(hardening) || asks(smoke)) {
            let message = format!("{id} plans no fault, and its budgets ask for some");
            out.push(report("budget-faults", span, message, "delete the faults from the budgets, or plan them"));
        }
    }
}

/// A smoke run of a planned fault has a window to land it in.
pub(super) fn smoke_without_fault(context: &Context<'_>, out: &mut Told) {
    for scenario in &context.plan.scenarios {
        let (Some(smoke), Some(field)) = (tiers(scenario).0, scenario.field(FAULTS)) else { continue };
        if smoke.faults > 0 || no_fault::read(&field.value) != NoFault::Planned {
            continue;
        }
        let span = scenario.field(SMOKE).map_or(scenario.id.span, |f| f.span);
        let message = format!(
            "{} plans a fault, and its smoke budget asks for none: a smoke run proves no fault, and is \
             INCONCLUSIVE-fault-not-proven",
            scenario.id.value
        );
        out.push(report("smoke-without-fault", span, message, "ask for `1 fault` at least"));
    }
}

/// Seeds that must agree before a scenario can pass hardening (format §9, item 11).
const SEEDS: u64 = 3;

/// A hardening tier that can never be passed.
pub(super) fn hardening_seeds(context: &Context<'_>, out: &mut Told) {
    for scenario in &context.plan.scenarios {
        let Some(hardening) = tiers(scenario).1.filter(|b| b.seeds < SEEDS && b.faults > 0) else { continue };
        let (id, seeds) = (&scenario.id.value, hardening.seeds);
        let span = scenario.field(HARDENING).map_or(scenario.id.span, |f| f.span);
        let noun = if seeds == 1 { "seed" } else { "seeds" };
        let message = format!("{id}: with {seeds} {noun} the hardening tier is PARTIAL-model at best");
        out.push(report("hardening-seeds", span, message, "ask for three seeds or more"));
    }
}

/// Release is no weaker than hardening.
pub(super) fn release_not_stronger(context: &Context<'_>, out: &mut Told) {
    for scenario in &context.plan.scenarios {
        let Some(budgets) = &scenario.budgets else { continue };
        let Release::Budget(release) = &budgets.release else { continue };
        let weak: Vec<&str> = release.shortfalls(&budgets.hardening).into_iter().map(|(name, ..)| name).collect();
        if !weak.is_empty() {
            let span = scenario.field(RELEASE).map_or(scenario.id.span, |f| f.span);
            let message =
                format!("{}: the release budget is weaker than hardening on {}", scenario.id.value, weak.join(", "));
            out.push(report("release-not-stronger", span, message, "raise it, or write `not provided — …`"));
        }
    }
}
