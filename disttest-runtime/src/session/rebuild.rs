//! Everything derived in a session, built again from what is on disk: running it twice changes no byte.

use super::{Belief, Depth, Layout, disk, manifest};
use crate::plan::{Id, Plan, as_spelt};
use crate::report;
use crate::verdict::{Event, ScenarioRecord, SessionRecord};
use std::fs;
use std::io;
use std::path::PathBuf;

/// Writes `findings/*.md`, `session-log.md` and the manifest; gives the SHA-256 of the manifest. The caller holds the
/// lock of the session.
pub(super) fn rebuild(
    layout: &Layout,
    session: &SessionRecord,
    plan: Option<&Plan>,
    depth: Depth,
) -> io::Result<String> {
    let belief = Belief { layout, home: layout.dir(), plan, environment: &session.environment, depth };
    for (path, text) in render(&belief, session, &recorded(&belief)?) {
        disk::write_atomic(&path, text.as_bytes())?;
    }
    if layout.page().exists() {
        fs::remove_file(layout.page())?;
    }
    manifest::write_manifest(layout.dir())
}

/// Every report of a session as it follows from `records`, with its place. Linear in the records and their events.
pub fn render(belief: &Belief<'_>, session: &SessionRecord, records: &[ScenarioRecord]) -> Vec<(PathBuf, String)> {
    let Belief { layout, plan, .. } = *belief;
    let events = timeline(layout, records);
    let of_one = |record: &ScenarioRecord| {
        (layout.finding(&record.declared.id), report::scenario_markdown(plan, session, record, &events))
    };
    let mut files: Vec<(PathBuf, String)> = records.iter().map(of_one).collect();
    files.push((layout.report(), report::report_markdown(plan, session, records, &events)));
    files.push((layout.session_log(), report::session_log_markdown(plan, session, records, &events)));
    if let Some(plan) = plan {
        for (_, text) in &mut files {
            *text = as_spelt(plan, text).into_owned();
        }
    }
    // Programs find a scenario by one spelling of its id.
    files.push((layout.report_json(), report::report_json(plan, session, records)));
    files.push((layout.junit(), report::junit_xml(plan, session, records)));
    files
}

/// What is believed of each scenario folder, in the order of their ids. Scenarios of the plan without any test have no
/// record; the reports count them as NOT-RUN.
pub fn recorded(belief: &Belief<'_>) -> io::Result<Vec<ScenarioRecord>> {
    let mut folders: Vec<_> = fs::read_dir(belief.layout.artifacts())?.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let names = folders.iter().filter(|path| path.is_dir()).filter_map(|path| path.file_name());
    let mut records: Vec<ScenarioRecord> = names.filter_map(|name| belief.record(&name.to_string_lossy())).collect();
    records.sort_by_key(|record| order(&record.declared.id));
    Ok(records)
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
