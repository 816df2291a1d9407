//! Everything derived in a session, built again from what is on disk: running it twice changes no byte.

use super::scenario::{SCENARIO_SCHEMA, judge, not_run};
use super::{Layout, disk, manifest, path_safe};
use crate::plan::{Id, Plan, Tier};
use crate::report;
use crate::verdict::{Declared, DeclaredFault, Drift, Event, ScenarioRecord, SessionRecord, Verdict};
use std::fs;
use std::io;
use std::path::Path;

/// Writes `findings/*.md`, `session-log.md` and the manifest; gives the SHA-256 of the manifest. The caller holds the
/// lock of the session.
pub(super) fn rebuild(layout: &Layout, session: &SessionRecord, plan: Option<&Plan>) -> io::Result<String> {
    // Scenarios of the plan without any test have no record; the reports count them as NOT-RUN.
    let mut records = recorded(layout)?;
    records.sort_by_key(|record| order(&record.declared.id));
    let events = timeline(layout, &records);
    for record in &records {
        let text = report::scenario_markdown(plan, session, record, &events);
        disk::write_atomic(&layout.finding(&record.declared.id), text.as_bytes())?;
    }
    let findings = report::report_markdown(plan, session, &records, &events);
    disk::write_atomic(&layout.report(), findings.as_bytes())?;
    let log = report::session_log_markdown(plan, session, &records, &events);
    disk::write_atomic(&layout.session_log(), log.as_bytes())?;
    manifest::write_manifest(layout.dir())
}

/// The record of each scenario folder. One that cannot be trusted is replaced by a NOT-RUN that says so, never left
/// out and never taken over.
fn recorded(layout: &Layout) -> io::Result<Vec<ScenarioRecord>> {
    let mut folders: Vec<_> = fs::read_dir(layout.artifacts())?.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let records = folders.iter().filter(|path| path.is_dir()).filter_map(|folder| {
        let name = folder.file_name()?.to_string_lossy().into_owned();
        match disk::read_json::<ScenarioRecord>(&folder.join("scenario.json")) {
            Ok(None) => None,
            Ok(Some(record)) => match distrust(layout, &name, &record) {
                None => Some(record),
                Some(why) => Some(rejected(&name, record.tier, why)),
            },
            Err(why) => Some(rejected(&name, Tier::Smoke, why)),
        }
    });
    Ok(records.collect())
}

/// Why a scenario record that stands in folder `name` is not one of this session.
fn distrust(layout: &Layout, name: &str, record: &ScenarioRecord) -> Option<String> {
    if record.schema != SCENARIO_SCHEMA {
        return Some(format!("its record has the schema `{}`, not {SCENARIO_SCHEMA}", record.schema));
    }
    if path_safe(&record.declared.id) != name {
        return Some(format!("its folder holds the record of {}", record.declared.id));
    }
    let elsewhere = |(folder, run): &&(String, crate::verdict::RunRecord)| {
        layout.dir().join(folder) != Path::new(&run.request.run_dir) || run.request.scenario != record.declared.id
    };
    let foreign = record.runs.iter().find(elsewhere);
    foreign.map(|(folder, _)| format!("the execution in {folder} is not of this session")).or_else(|| underived(record))
}

/// Why the verdict of a record is not what its own executions come to. What was not attempted has a reason of its own.
fn underived(record: &ScenarioRecord) -> Option<String> {
    if record.runs.is_empty() && record.verdict == Verdict::NotRun {
        return None;
    }
    let ScenarioRecord { declared, tier, runs, drift, unfilled, lacking, .. } = record;
    let derived = judge(declared, *tier, runs.clone(), drift.clone(), unfilled.clone(), lacking.clone());
    let same = (derived.verdict, derived.tier_met) == (record.verdict, record.tier_met);
    (!same).then(|| format!("its record says {}, its executions come to {}", record.verdict, derived.verdict))
}

fn rejected(name: &str, tier: Tier, why: String) -> ScenarioRecord {
    not_run(&nameless(name.replacen("__", "/", 1)), tier, Drift::None, Vec::new(), "record-rejected", why)
}

/// All that is known of a scenario whose record cannot be trusted.
fn nameless(id: String) -> Declared {
    Declared {
        id,
        name: String::new(),
        test: String::new(),
        plan: String::new(),
        scenario_sha256: String::new(),
        falsifies: Vec::new(),
        model: None,
        checkers: Vec::new(),
        fault: DeclaredFault::None { reason: "unknown: its record was rejected".to_owned() },
        budgets: None,
        shares_nothing: false,
        package: String::new(),
        target: String::new(),
        surface: None,
        negative_controls: Vec::new(),
    }
}

/// Numbers in order, arms behind their scenario; what is no id comes last.
fn order(id: &str) -> (u32, String) {
    (Id::parse(id).map_or(u32::MAX, |id| id.number()), id.to_owned())
}

/// The events of all processes by time; progress lines are left out.
fn timeline(layout: &Layout, records: &[ScenarioRecord]) -> Vec<Event> {
    let mut events = Vec::new();
    for record in records {
        events.extend(disk::read_json_lines::<Event>(&layout.scenario_events(&record.declared.id)));
        for (folder, _) in &record.runs {
            events.extend(disk::read_json_lines::<Event>(&layout.dir().join(folder).join("events.jsonl")));
        }
    }
    events.retain(|event| event.event != "progress");
    events.sort_by_key(|event| event.unix_ms);
    events
}
