//! Everything derived in a session, built again from what is on disk: running it twice changes no byte.

use super::{Belief, Depth, Layout, disk, manifest};
use crate::plan::{Id, Plan, as_spelt};
use crate::report;
use crate::verdict::{Event, ScenarioRecord, SessionRecord};
use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::Path;

/// Writes `findings/*.md`, `session-log.md` and the manifest; gives the SHA-256 of the manifest. The caller holds the
/// lock of the session.
pub(super) fn rebuild(
    layout: &Layout,
    session: &SessionRecord,
    plan: Option<&Plan>,
    depth: Depth,
) -> io::Result<String> {
    // Scenarios of the plan without any test have no record; the reports count them as NOT-RUN.
    let mut records = recorded(&Belief { layout, plan, environment: &session.environment, depth })?;
    records.sort_by_key(|record| order(&record.declared.id));
    let events = timeline(layout, &records);
    let write = |path: &Path, text: String| {
        let spelt = plan.map_or(Cow::Borrowed(text.as_str()), |plan| as_spelt(plan, &text));
        disk::write_atomic(path, spelt.as_bytes())
    };
    for record in &records {
        let text = report::scenario_markdown(plan, session, record, &events);
        write(&layout.finding(&record.declared.id), text)?;
    }
    let findings = report::report_markdown(plan, session, &records, &events);
    write(&layout.report(), findings)?;
    let log = report::session_log_markdown(plan, session, &records, &events);
    write(&layout.session_log(), log)?;
    manifest::write_manifest(layout.dir())
}

/// What is believed of each scenario folder.
fn recorded(belief: &Belief<'_>) -> io::Result<Vec<ScenarioRecord>> {
    let mut folders: Vec<_> = fs::read_dir(belief.layout.artifacts())?.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let names = folders.iter().filter(|path| path.is_dir()).filter_map(|path| path.file_name());
    Ok(names.filter_map(|name| belief.record(&name.to_string_lossy())).collect())
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
