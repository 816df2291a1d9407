//! Weak oracles 1 to 14: evidence that is too weak alone (format.md §9, D6).

use super::super::landing::{is_failover, is_partition, names_of};
use super::super::{ControlResult, DeclaredFault, Trial, parent_of};
use super::{AuditItem, Found, Inputs, item};
use crate::plan::Category;
use std::collections::BTreeSet;

type Check = fn(&Inputs<'_>) -> Found;

/// Title and check of each, in order.
const ORACLES: [(&str, Check); 14] = [
    ("Final state only", whole_history),
    ("Logs only", client_history),
    ("Health checks only", consistency_checker),
    ("Single successful failover", repeated_failover),
    ("No-error metrics", unknown_outcomes),
    ("Short runs", long_enough),
    ("Symmetric partitions only", one_way_cut),
    ("Client libraries that hide retries", hidden_retries),
    ("Wall-clock timestamps", monotonic),
    ("One cluster topology", topologies),
    ("One seed", seeds),
    ("Single surface only", surfaces),
    ("Positive control only", negative_controls),
    ("Latency margin without per-group breakdown (aggregate-p99 only)", per_group),
];

/// Seeds that must agree before a PASS-hardening stands.
const SEEDS: u64 = 3;

pub(super) fn evaluate(inputs: &Inputs<'_>) -> Vec<AuditItem> {
    let oracle = |(i, (title, check)): (usize, &(&str, Check))| {
        let found = if inputs.runs.is_empty() { Found::unchecked("nothing ran") } else { check(inputs) };
        item(i + 1, title, found)
    };
    ORACLES.iter().enumerate().map(oracle).collect()
}

/// Runs in which no checker went through all operations.
fn uncovered(inputs: &Inputs<'_>) -> usize {
    let covers = |run: &super::RunRecord| {
        run.answers.iter().any(|a| a.evidence.fired > 0 && a.evidence.consumed >= run.operations.recorded.max(1))
    };
    inputs.runs.iter().filter(|run| !covers(run)).count()
}

/// Fine when every run was covered; says how many were not.
fn covered(inputs: &Inputs<'_>, evidence: String) -> Found {
    match uncovered(inputs) {
        0 => Found::check(true, evidence),
        n => Found::check(
            false,
            format!("{n} of {} runs without a checker over the whole history; {evidence}", inputs.runs.len()),
        ),
    }
}

fn checkers(inputs: &Inputs<'_>) -> String {
    let names: BTreeSet<&str> = inputs.runs.iter().flat_map(|r| r.answers.iter().map(|a| a.checker.as_str())).collect();
    if names.is_empty() { "no checker".to_owned() } else { names.into_iter().collect::<Vec<_>>().join(", ") }
}

fn whole_history(inputs: &Inputs<'_>) -> Found {
    let (names, consumed) = (checkers(inputs), inputs.oracle.consumed);
    covered(inputs, format!("{names} went through {consumed} operations, not only the final state"))
}

fn client_history(inputs: &Inputs<'_>) -> Found {
    covered(inputs, format!("the oracle reads {} operations recorded by clients", inputs.oracle.operations))
}

fn consistency_checker(inputs: &Inputs<'_>) -> Found {
    covered(inputs, format!("{} made {} checks", checkers(inputs), inputs.oracle.fired))
}

fn planned(inputs: &Inputs<'_>, wanted: fn(&str) -> bool) -> bool {
    let DeclaredFault::Planned { nemeses, .. } = &inputs.declared.fault else { return false };
    nemeses.iter().flat_map(|nemesis| names_of(nemesis)).any(wanted)
}

fn repeated_failover(inputs: &Inputs<'_>) -> Found {
    if !planned(inputs, is_failover) {
        return Found::not_applicable("no nemesis of the scenario takes a process away");
    }
    let failovers = inputs.landing.failovers;
    Found::check(failovers >= 2, format!("{failovers} landed windows took a process away"))
}

fn unknown_outcomes(inputs: &Inputs<'_>) -> Found {
    let (unknown, all) = (inputs.oracle.unknown, inputs.oracle.operations);
    let evidence = format!("{unknown} of {all} operations are recorded with an unknown outcome (timeout_marker)");
    match inputs.oracle.weak.iter().find(|weak| weak.rule == "weak-history") {
        Some(weak) => Found::check(false, format!("{evidence}; {}", weak.reason)),
        None => covered(inputs, evidence),
    }
}

fn long_enough(inputs: &Inputs<'_>) -> Found {
    let effort = inputs.effort;
    let seconds = effort.measured.seconds;
    match effort.below_hardening.iter().find(|(name, ..)| *name == "seconds") {
        _ if !effort.has_budgets => Found::unchecked("the plan has no budget that justifies a duration"),
        Some((_, has, needs)) => Found::check(false, format!("{has} s in the shortest seed of {needs} s")),
        None => Found::check(seconds > 0, format!("{seconds} s in the shortest seed, as the hardening budget asks")),
    }
}

fn one_way_cut(inputs: &Inputs<'_>) -> Found {
    if !planned(inputs, is_partition) {
        return Found::not_applicable("no partition is planned");
    }
    let (one_way, both) = (inputs.landing.asymmetric, inputs.landing.symmetric);
    Found::check(one_way > 0, format!("{one_way} one-way and {both} two-way cuts landed"))
}

fn hidden_retries(_: &Inputs<'_>) -> Found {
    Found::not_applicable(
        "each call of the scenario's client is one recorded operation; retries below that call, if its library makes \
         any, are not visible here",
    )
}

fn monotonic(inputs: &Inputs<'_>) -> Found {
    let wall = |run: &super::RunRecord| run.history_weak.iter().any(|why| why.to_lowercase().contains("wall"));
    let evidence = "invocations and completions are stamped by the run's monotonic clock, never by the scenario";
    Found::check(!inputs.runs.iter().any(wall), evidence)
}

fn topologies(inputs: &Inputs<'_>) -> Found {
    let sizes: BTreeSet<u64> = inputs.runs.iter().map(|run| run.measured.nodes).collect();
    let text = sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    match sizes.len() {
        0 | 1 => Found::not_applicable(format!(
            "the result is for {text} nodes, which the budget names; no other size is claimed"
        )),
        _ => Found::check(true, format!("ran with {text} nodes")),
    }
}

fn seeds(inputs: &Inputs<'_>) -> Found {
    let seeds = inputs.effort.measured.seeds;
    Found::check(seeds >= SEEDS, format!("{seeds} seeds agree, {SEEDS} are needed"))
}

fn falsifies(inputs: &Inputs<'_>, category: Category) -> bool {
    inputs.declared.falsifies.iter().any(|(_, categories)| categories.contains(&category))
}

fn surfaces(inputs: &Inputs<'_>) -> Found {
    let id = &inputs.declared.id;
    if !falsifies(inputs, Category::Boundary) {
        return Found::not_applicable("no boundary claim is falsified");
    }
    match parent_of(id) {
        Some(parent) => Found::check(true, format!("{id} is one surface of {parent}, whose verdict joins its arms")),
        None => Found::check(false, "a boundary claim is tested on one surface, without arms"),
    }
}

fn negative_controls(inputs: &Inputs<'_>) -> Found {
    if !falsifies(inputs, Category::Boundary) {
        return Found::not_applicable("no boundary claim is falsified");
    }
    let declared = &inputs.declared.negative_controls;
    if declared.is_empty() {
        return Found::unchecked("a boundary claim without a declared negative control");
    }
    let mut held = 0;
    for control in declared {
        for run in inputs.runs {
            let trials = run.controls.iter().filter(|trial| trial.control == *control);
            let results: Vec<ControlResult> = trials.map(Trial::judge).collect();
            if results.is_empty() {
                return Found::unchecked(format!("the negative control \"{control}\" never ran in {}", run.place()));
            }
            if let Some(open) = results.iter().find(|result| !matches!(result, ControlResult::Held { .. })) {
                let (word, why) = open.told();
                let evidence = format!("the negative control \"{control}\" in {}: {word}: {why}", run.place());
                return Found::check(false, evidence);
            }
            held += results.len();
        }
    }
    let (controls, runs) = (declared.len(), inputs.runs.len());
    Found::check(true, format!("{held} trials of {controls} negative controls held in {runs} runs, each with its twin"))
}

/// The checker that measures groups.
const FAIRNESS: &str = "fairness";

fn per_group(inputs: &Inputs<'_>) -> Found {
    if !falsifies(inputs, Category::Fairness) {
        return Found::not_applicable("no fairness claim is falsified");
    }
    // Of each run, the groups that were compared; the least of them is what all runs show.
    let groups = |run: &super::RunRecord| {
        let by_group = run.answers.iter().filter(|a| a.checker == FAIRNESS && a.evidence.fired > 0);
        by_group.map(|a| a.evidence.partitions).max().unwrap_or(0)
    };
    match inputs.runs.iter().map(groups).min() {
        Some(groups) if groups > 1 => Found::check(
            true,
            format!("`{FAIRNESS}` compared at least {groups} groups in each of {} runs", inputs.runs.len()),
        ),
        _ => Found::unchecked(format!("`{FAIRNESS}` did not compare two groups in every run")),
    }
}
