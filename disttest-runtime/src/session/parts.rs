//! The parts of lower layers that sessions stand on, by the names this module uses.

use crate::plan::{Plan, Scenario, Tier};
use crate::verdict::{self, Declared, Drift, Event, Facts, RunRecord, ScenarioRecord, SessionRecord, Verdict, Why};

pub(crate) fn parse(_text: &str) -> Plan {
    Plan::default()
}

pub(crate) fn scenario_digest(_plan: &Plan, _scenario: &Scenario) -> String {
    String::new()
}

pub(crate) fn decide(
    declared: &Declared,
    runs: &[RunRecord],
    drift: &Drift,
    unfilled: &[String],
) -> (Verdict, Why, Option<Tier>) {
    let (verdict, why) = verdict::decide(&Facts::gather(declared, runs, drift, unfilled));
    (verdict, why, verdict::tier_met(declared, runs))
}

pub(crate) fn scenario_markdown(
    _plan: Option<&Plan>,
    _session: &SessionRecord,
    record: &ScenarioRecord,
    _events: &[Event],
) -> String {
    format!("{}\n", record.verdict)
}

pub(crate) fn report_markdown(
    _plan: Option<&Plan>,
    _session: &SessionRecord,
    records: &[ScenarioRecord],
    _events: &[Event],
) -> String {
    records.iter().map(|r| format!("{} {}\n", r.declared.id, r.verdict)).collect()
}

pub(crate) fn session_log_markdown(
    _plan: Option<&Plan>,
    _session: &SessionRecord,
    _records: &[ScenarioRecord],
    events: &[Event],
) -> String {
    events.iter().map(|e| format!("{} {}\n", e.scenario, e.event)).collect()
}
