//! Evidence in words: what the oracles did and what the faults showed. Unescaped: callers escape.

use super::case::Case;
use crate::verdict::{Declared, DeclaredFault, Facts, RunRecord, ScenarioRecord, Scope, does_not_count};
use std::collections::BTreeMap;

/// `linearizability per key (register), no-lost-ack`.
pub(super) fn oracle(declared: &Declared) -> String {
    let names = declared.checkers.iter().map(|(name, scope)| match scope {
        Scope::PerKey => format!("{name} per key"),
        Scope::Whole => name.clone(),
    });
    let names = names.collect::<Vec<_>>().join(", ");
    match (&declared.model, names.is_empty()) {
        (Some(model), _) => format!("{names} (model {model})"),
        (None, true) => "the criterion of the plan's Oracle field".to_owned(),
        (None, false) => names,
    }
}

/// What the oracles of all runs did, in numbers.
pub(super) fn execution(facts: &Facts) -> String {
    let oracle = &facts.oracle;
    if facts.executions == 0 {
        return "none: nothing ran".to_owned();
    }
    format!(
        "{} operations recorded ({} acknowledged, {} unknown) in {} runs; {} taken into account over all checkers, {} \
         checks; {} damaged histories rejected",
        oracle.operations,
        oracle.acknowledged,
        oracle.unknown,
        facts.executions,
        oracle.consumed,
        oracle.fired,
        oracle.rejected
    )
}

/// What shows that the faults landed, or why it is not shown.
pub(super) fn landing(case: &Case<'_>) -> String {
    let Some((record, facts)) = &case.ran else { return "none: nothing ran".to_owned() };
    match &record.declared.fault {
        DeclaredFault::None { .. } if facts.landing.not_proven.is_empty() => "n/a — no fault (PASS-smoke)".to_owned(),
        _ if facts.executions == 0 => "none: nothing ran".to_owned(),
        _ => {
            let mut text = format!("{} of {} windows landed", facts.landing.landed, facts.landing.windows);
            let counts = by_nemesis(record);
            if !counts.is_empty() {
                text = format!("{text} ({counts})");
            }
            if let Some(example) = example(record) {
                text = format!("{text}; {example}");
            }
            if let Some(why) = facts.landing.not_proven.first() {
                text = format!("{text}; not proven: {why}");
            }
            text
        }
    }
}

/// `hard-kill 2 of 3, pause 1 of 1`.
fn by_nemesis(record: &ScenarioRecord) -> String {
    let mut counts: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for window in record.runs.iter().flat_map(|(_, run)| &run.windows) {
        let (landed, all) = counts.entry(&window.nemesis).or_default();
        *all += 1;
        *landed += u32::from(does_not_count(&record.declared, window).is_none());
    }
    counts.iter().map(|(name, (landed, all))| format!("{name} {landed} of {all}")).collect::<Vec<_>>().join(", ")
}

/// The first landed window with both sides' readings.
fn example(record: &ScenarioRecord) -> Option<String> {
    let windows = record.runs.iter().flat_map(|(_, run)| run.windows.iter().map(move |w| (run, w)));
    let (run, window) = windows.into_iter().find(|(_, w)| does_not_count(&record.declared, w).is_none())?;
    Some(format!(
        "first: {} window {} {} ({}): injector {}; victim {}",
        run_name(run),
        window.epoch,
        window.nemesis,
        window.detail,
        window.injector.why,
        window.victim.why
    ))
}

/// `seed 7`, `seed 7 re-run 1`.
pub(super) fn run_name(run: &RunRecord) -> String {
    match run.request.rerun {
        0 => format!("seed {}", run.request.seed),
        n => format!("seed {} re-run {n}", run.request.seed),
    }
}
