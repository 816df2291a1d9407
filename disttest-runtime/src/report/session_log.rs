//! `session-log.md` (format.md §13).

use super::case::{Case, Whole, cases, wholes};
use super::doc::Doc;
use super::escape::{cell, code, inline};
use super::evidence;
use crate::plan::Plan;
use crate::verdict::{Event, RunRecord, ScenarioRecord, SessionRecord};
use std::time::{Duration, UNIX_EPOCH};

/// Boxes of the preconditions: what the log calls them, and what a run record calls them.
const BOXES: [(&str, &str); 4] = [
    ("cluster up", "cluster up"),
    ("observability live", "observability live"),
    ("baseline captured", "baseline captured"),
    ("fault plane verified", "fault plane responsive"),
];

/// The session log. Progress events are counted, not listed.
pub fn session_log_markdown(
    plan: Option<&Plan>,
    session: &SessionRecord,
    scenarios: &[ScenarioRecord],
    events: &[Event],
) -> String {
    let cases = cases(plan, scenarios);
    let mut doc = Doc::default();
    doc.heading(1, &format!("Session log: {} @ {}", inline(&session.slug), inline(&session.started)));
    doc.fields(&[
        ("SUT", inline(&session.sut)),
        ("Plan", inline(&session.plan)),
        ("Commit under test", inline(&session.commit)),
        ("Session dir", inline(&session.dir)),
        ("Operator", inline(&session.operator)),
    ]);
    doc.heading(2, "Toolbox discovered");
    let tool = |(path, role): &(String, String)| format!("{} — {}", code(path), inline(role));
    doc.bullets(&session.toolbox.iter().map(tool).collect::<Vec<_>>(), "None discovered.");
    doc.heading(2, "Environment capability matrix");
    let row = |(a, b, c, d): &(String, String, String, String)| vec![cell(a), cell(b), cell(c), cell(d)];
    let rows: Vec<Vec<String>> = session.environment.iter().map(row).collect();
    doc.table(
        &["Requirement", "Present?", "Version", "Source"],
        &rows,
        "The plan requires nothing, or is not at hand.",
    );
    doc.heading(2, "Preconditions check");
    doc.bullets(&BOXES.map(|(shown, name)| precondition(shown, name, scenarios)), "");
    doc.heading(2, "Scenario timeline");
    timeline(&mut doc, events);
    doc.heading(2, "Scenario verdicts");
    let rows: Vec<Vec<String>> = wholes(plan, &cases).iter().flat_map(verdict_rows).collect();
    doc.table(&["Scenario / arm", "Budget tier met", "Verdict", "Notes"], &rows, "No scenarios.");
    doc.heading(2, "Artifacts");
    doc.bullets(&artifacts(&cases), "None.");
    doc.finish()
}

/// Ticked when every run that got anywhere checked it and found it so.
fn precondition(shown: &str, name: &str, scenarios: &[ScenarioRecord]) -> String {
    let runs: Vec<&RunRecord> = scenarios.iter().flat_map(|s| s.runs.iter().map(|(_, run)| run)).collect();
    let checked: Vec<_> = runs.iter().filter_map(|run| run.preconditions.iter().find(|p| p.name == name)).collect();
    let held = checked.iter().filter(|p| p.ok).count();
    let failed = checked.iter().find(|p| !p.ok);
    let mark = if !runs.is_empty() && held == runs.len() { "x" } else { " " };
    let told = match (failed, checked.first()) {
        (Some(p), _) => format!("; failed: {}", p.evidence),
        (None, Some(p)) => format!("; first: {}", p.evidence),
        (None, None) => String::new(),
    };
    format!("[{mark}] {shown} — held in {held} of {} runs{}", runs.len(), inline(&told))
}

/// Events in order of time, as a table.
pub(super) fn timeline(doc: &mut Doc, events: &[Event]) {
    let mut told: Vec<&Event> = events.iter().filter(|event| event.event != "progress").collect();
    told.sort_by_key(|event| event.unix_ms);
    let row = |event: &&Event| {
        let scenario =
            event.seed.map_or_else(|| event.scenario.clone(), |seed| format!("{} seed {seed}", event.scenario));
        vec![utc(event.unix_ms), cell(&scenario), cell(&event.event), cell(&event.notes)]
    };
    let rows: Vec<Vec<String>> = told.iter().map(row).collect();
    doc.table(&["Time (UTC)", "Scenario", "Event", "Notes"], &rows, "No event was recorded.");
    let progress = events.len() - told.len();
    if progress > 0 {
        doc.block(format!("Progress lines left out here: {progress}; they stand in `events.jsonl` of the runs."));
    }
}

/// RFC 3339, in whole seconds; an impossible time is shown as its number.
pub(super) fn utc(unix_ms: u64) -> String {
    // 9999-12-31T23:59:59Z, the last second that RFC 3339 can write.
    if unix_ms / 1000 > 253_402_300_799 {
        return format!("{unix_ms} ms");
    }
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(unix_ms)).to_string()
}

/// Each arm, then the scenario; a scenario without arms alone.
fn verdict_rows(whole: &Whole<'_, '_>) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = whole.parts.iter().map(|part| verdict_row(part)).collect();
    rows.extend(whole.joined.then(|| {
        let verdict = whole.verdict.to_string();
        vec![cell(&whole.id), whole.tier().to_owned(), verdict, cell(&format!("(aggregate) {}", whole.headline))]
    }));
    rows
}

fn verdict_row(case: &Case<'_>) -> Vec<String> {
    let notes = format!("{}; landing: {}", case.headline(), evidence::landing(case));
    vec![cell(&case.id), case.tier().to_owned(), case.verdict().to_string(), cell(&notes)]
}

fn artifacts(cases: &[Case<'_>]) -> Vec<String> {
    let mut all = vec!["`findings/report.md` — findings report".to_owned()];
    for case in cases.iter().filter(|case| case.ran.is_some()) {
        all.push(format!("{} — {} in detail", code(&format!("findings/{}.md", case.slug())), inline(&case.id)));
    }
    for case in cases {
        let runs = case.ran.iter().flat_map(|(record, _)| &record.runs);
        all.extend(
            runs.map(|(folder, run)| format!("{} — {} {}", code(folder), inline(&case.id), evidence::run_name(run))),
        );
    }
    all.push("`MANIFEST.sha256` — hashes of all files of the session".to_owned());
    all
}
