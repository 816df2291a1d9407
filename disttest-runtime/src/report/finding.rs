//! Findings: one for each kind of violation of a scenario, and one where its oracle never judged (D17).

use super::case::{Case, planned};
use super::doc::Doc;
use super::escape::{block, code, inline};
use super::evidence::run_name;
use super::terminal::command;
use crate::plan::{Category, Plan};
use crate::verdict::{End, Facts, RunRecord, ScenarioRecord, Seen, does_not_count};
use serde::Serialize;
use std::collections::BTreeSet;

/// One finding. The texts are raw: whoever prints them escapes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// In one line.
    pub title: String,
    /// Id and name of the scenario.
    pub scenario: String,
    /// Hypotheses that the scenario closes.
    pub hypotheses: String,
    /// What happened, in one paragraph.
    pub happened: String,
    /// The witness, line by line; empty when there is none.
    pub witness: String,
    /// Command that runs it again.
    pub reproducer: String,
    /// `SUT`, `harness`, `checker`, `environment`, or the interim words of the format.
    pub reduction: &'static str,
    /// Suggested TaxDC labels and severity.
    pub classification: String,
    /// Folder of the run, relative to the session.
    pub folder: String,
    /// What was measured there.
    pub evidence: String,
    /// What could be the cause, as far as the facts tell.
    pub cause: String,
    /// What to do next.
    pub next: String,
}

/// Interim reduction class: nobody has swapped harness, checker or host yet.
const UNKNOWN: &str = "Unknown — pending re-run on alternative harness/host";

/// Findings of `record`, most telling first.
pub fn findings(plan: Option<&Plan>, record: &ScenarioRecord) -> Vec<Finding> {
    let facts = super::case::facts(record);
    let mut kinds = BTreeSet::new();
    let told = facts.violations.first().into_iter().chain(&facts.violations.seen);
    let mut all: Vec<Finding> = told
        .filter(|seen| kinds.insert((seen.checker.clone(), seen.anomaly.clone())))
        .map(|seen| of_violation(plan, record, &facts, seen))
        .collect();
    let broken = record.runs.iter().find(|(_, run)| !matches!(run.end, End::Judged | End::EnvMissing { .. }));
    if let (Some((folder, run)), Some(why)) = (broken, facts.never_judged.first()) {
        all.push(of_harness(plan, record, folder, run, why));
    }
    all
}

/// Findings of all cases, numbered from 1 in the order of the scenarios.
pub(super) fn add_all(doc: &mut Doc, plan: Option<&Plan>, cases: &[Case<'_>]) {
    let records = cases.iter().filter_map(|case| case.ran.as_ref().map(|(record, _)| *record));
    let all: Vec<Finding> = records.flat_map(|record| findings(plan, record)).collect();
    if all.is_empty() {
        doc.block("No findings.");
    }
    for (i, finding) in all.iter().enumerate() {
        add(doc, i + 1, finding, "../");
    }
}

/// Adds one finding; `root` leads from the document to the session's folder.
pub(super) fn add(doc: &mut Doc, number: usize, finding: &Finding, root: &str) {
    doc.heading(3, &format!("Finding F{number}: {}", inline(&finding.title)));
    doc.fields(&[
        ("Scenario", inline(&finding.scenario)),
        ("Hypothesis addressed", inline(&finding.hypotheses)),
        ("What happened", inline(&finding.happened)),
    ]);
    if !finding.witness.trim().is_empty() {
        doc.block(block(&finding.witness, 0));
    }
    doc.fields(&[
        ("Reproducer", code(&finding.reproducer)),
        ("Reduction classification", finding.reduction.to_owned()),
        ("Classification", inline(&finding.classification)),
        ("Evidence", format!("{} in {}", inline(&finding.evidence), code(&format!("{root}{}", finding.folder)))),
        ("Hypothesised root cause", inline(&finding.cause)),
        ("Suggested next action", inline(&finding.next)),
    ]);
}

fn of_violation(plan: Option<&Plan>, record: &ScenarioRecord, facts: &Facts, seen: &Seen) -> Finding {
    let place = seen.place.as_ref().map_or(String::new(), |place| format!(" on {place}"));
    let (folder, run) = run_of(record, seen);
    let by_node = matches!(seen.checker.as_str(), "process-watch");
    let blame = if seen.attributed { "a planned fault had landed in that run" } else { "attributed to no fault" };
    let windows = run.map_or_else(String::new, |run| landed(record, run));
    let again = same_kind(record, facts, seen);
    Finding {
        title: format!("{}{place} violates {}", seen.anomaly, facts.claims),
        scenario: scenario_name(record),
        hypotheses: hypotheses(plan, record),
        happened: format!(
            "{} reported {}{place} in {}; {blame}; {again}",
            seen.checker,
            seen.anomaly,
            run.map_or_else(|| format!("seed {}", seen.seed), run_name)
        ),
        witness: seen.explanation.clone(),
        reproducer: command(record, seen.seed),
        reduction: if by_node { "SUT" } else { UNKNOWN },
        classification: taxdc(record, run, seen, by_node),
        folder,
        evidence: run.map_or_else(|| "no record".to_owned(), |run| evidence(run, seen, &windows)),
        cause: cause(plan, record, seen),
        next: next(record, seen, by_node),
    }
}

fn run_of<'a>(record: &'a ScenarioRecord, seen: &Seen) -> (String, Option<&'a RunRecord>) {
    let found = record.runs.iter().find(|(_, run)| run.request.run_id == seen.run_id);
    found.map_or((String::new(), None), |(folder, run)| (folder.clone(), Some(run)))
}

fn same_kind(record: &ScenarioRecord, facts: &Facts, seen: &Seen) -> String {
    let reruns = record.runs.iter().filter(|(_, r)| r.request.seed == seen.seed && r.request.rerun > 0);
    let ids: BTreeSet<&str> = reruns.map(|(_, run)| run.request.run_id.as_str()).collect();
    let same = |s: &&Seen| (&s.checker, &s.anomaly) == (&seen.checker, &seen.anomaly);
    let again: BTreeSet<&str> = facts.violations.seen.iter().filter(same).map(|s| s.run_id.as_str()).collect();
    let seeds: BTreeSet<u64> = facts.violations.seen.iter().filter(same).map(|s| s.seed).collect();
    let seeds = seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let repeated = ids.intersection(&again).count();
    match ids.len() {
        0 => format!("seed {} was not run again; seen with seeds {seeds}", seen.seed),
        n => format!("{repeated} of {n} re-runs of seed {} saw it again; seen with seeds {seeds}", seen.seed),
    }
}

fn landed(record: &ScenarioRecord, run: &RunRecord) -> String {
    let landed = run.windows.iter().filter(|w| does_not_count(&record.declared, w).is_none());
    landed.map(|w| format!("{} ({})", w.nemesis, w.detail)).collect::<Vec<_>>().join(", ")
}

fn evidence(run: &RunRecord, seen: &Seen, windows: &str) -> String {
    let shown = seen.ops.iter().take(20).map(u64::to_string).collect::<Vec<_>>().join(", ");
    let witness = match seen.ops.len() {
        0 => String::new(),
        n => format!("witness of {n} operations of {} (op_id {shown}); ", run.operations.recorded),
    };
    let windows = if windows.is_empty() { "no fault landed".to_owned() } else { format!("landed: {windows}") };
    format!("{witness}{windows}; record, history and logs")
}

fn cause(plan: Option<&Plan>, record: &ScenarioRecord, seen: &Seen) -> String {
    let closes = planned(plan, &record.declared.id).map_or(&[][..], |scenario| &scenario.closes);
    let hypotheses = closes.iter().filter_map(|id| plan?.hypothesis(&id.value));
    let texts: Vec<String> = hypotheses.map(|h| format!("{} ({})", h.title, h.id.value)).collect();
    match texts.is_empty() {
        true => format!("not analysed; the witness shows {}", seen.anomaly),
        false => format!("not analysed; the plan suspects: {}", texts.join("; ")),
    }
}

fn next(record: &ScenarioRecord, seen: &Seen, by_node: bool) -> String {
    if by_node {
        return "read the node's log, run the reproducer, confirm that the SUT is to blame".to_owned();
    }
    let again = if record.verdict == crate::verdict::Verdict::FailReproducible {
        "run the reproducer"
    } else {
        "run the reproducer until it shows again"
    };
    format!(
        "{again}, check the witness of {} by hand, then swap workload, checker and host to classify it",
        seen.checker
    )
}

fn of_harness(plan: Option<&Plan>, record: &ScenarioRecord, folder: &str, run: &RunRecord, why: &str) -> Finding {
    Finding {
        title: format!("the oracle of {} never judged", record.declared.id),
        scenario: scenario_name(record),
        hypotheses: hypotheses(plan, record),
        happened: why.to_owned(),
        witness: String::new(),
        reproducer: command(record, run.request.seed),
        reduction: "harness",
        classification: "n/a — the test failed before it could say anything about the SUT".to_owned(),
        folder: folder.to_owned(),
        evidence: "output of the test (test.log) and what was recorded until then".to_owned(),
        cause: "the scenario's own code, or what it calls, failed".to_owned(),
        next: "read test.log, repair the test, run it again".to_owned(),
    }
}

fn scenario_name(record: &ScenarioRecord) -> String {
    format!("{} {}", record.declared.id, record.declared.name)
}

fn hypotheses(plan: Option<&Plan>, record: &ScenarioRecord) -> String {
    let closes = planned(plan, &record.declared.id).map_or(&[][..], |scenario| &scenario.closes);
    let ids: Vec<String> = closes.iter().map(|id| id.value.to_string()).collect();
    if ids.is_empty() { "unknown: the plan is not at hand or names none".to_owned() } else { ids.join(", ") }
}

/// Labels suggested from what landed and what is claimed (format.md §18). A person decides.
fn taxdc(record: &ScenarioRecord, run: Option<&RunRecord>, seen: &Seen, by_node: bool) -> String {
    let has = |wanted: &[&str]| {
        let counted = |run: &RunRecord| {
            let mut windows = run.windows.iter().filter(|w| does_not_count(&record.declared, w).is_none());
            windows.any(|w| wanted.iter().any(|word| w.nemesis.contains(word)))
        };
        seen.attributed && run.is_some_and(counted)
    };
    let primary = if by_node {
        "Fault-handling"
    } else if has(&["kill", "stop", "restart"]) && seen.anomaly.contains("lost") {
        "Crash-recovery"
    } else if has(&["cut", "partition", "isolation"]) {
        "Partition"
    } else if has(&["kill", "stop", "restart"]) {
        "Crash-recovery"
    } else if has(&["pause", "latency", "clock"]) {
        "Timing"
    } else {
        "Ordering"
    };
    let (secondary, severity) = secondary(record, by_node);
    format!("suggested: primary {primary}; secondary {secondary}; severity {severity}")
}

fn secondary(record: &ScenarioRecord, by_node: bool) -> (String, &'static str) {
    let claimed: BTreeSet<Category> = record.declared.falsifies.iter().flat_map(|(_, c)| c.iter().copied()).collect();
    let labels = [
        (Category::Safety, "Safety"),
        (Category::Durability, "Durability"),
        (Category::Idempotency, "Idempotency / dedup"),
        (Category::Liveness, "Liveness"),
        (Category::Membership, "Leadership / election"),
    ];
    let named: Vec<&str> = labels.iter().filter(|(c, _)| claimed.contains(c)).map(|(_, label)| *label).collect();
    let named = if named.is_empty() { "none".to_owned() } else { named.join(", ") };
    // A node that exits is a loss of availability until somebody shows that it also broke a safety claim.
    let severity = match by_node {
        true => "P1",
        false if claimed.iter().any(|c| c.gates_model_block()) => "P0",
        false => "P2",
    };
    (named, severity)
}
