//! `findings/<scenario>.md`: all that one scenario showed, written as soon as it ends.

use super::case::facts;
use super::doc::Doc;
use super::escape::{cell, inline};
use super::evidence::run_name;
use super::session_log::timeline;
use super::{checks, evidence, finding};
use crate::checker::Outcome;
use crate::plan::Plan;
use crate::verdict::{
    Bite, DeclaredFault, End, Event, Facts, RunRecord, ScenarioRecord, SessionRecord, does_not_count,
};

/// The page of one scenario or arm.
pub fn scenario_markdown(
    plan: Option<&Plan>,
    session: &SessionRecord,
    record: &ScenarioRecord,
    events: &[Event],
) -> String {
    let facts = facts(record);
    let mut doc = Doc::default();
    head(&mut doc, session, record);
    doc.heading(2, "Why");
    why(&mut doc, record);
    doc.heading(2, "Runs");
    runs(&mut doc, record);
    doc.heading(2, "Oracle");
    oracle(&mut doc, record, &facts);
    controls(&mut doc, record);
    doc.heading(2, "Fault windows");
    windows(&mut doc, record);
    doc.heading(2, "Findings");
    let found = finding::findings(plan, record);
    if found.is_empty() {
        doc.block("No findings.");
    }
    for (i, finding) in found.iter().enumerate() {
        finding::add(&mut doc, i + 1, finding, "../");
    }
    doc.heading(2, "Timeline");
    let mine: Vec<Event> = events.iter().filter(|event| event.scenario == record.declared.id).cloned().collect();
    timeline(&mut doc, &mine);
    doc.heading(2, "Notes");
    doc.bullets(&notes(record), "None.");
    doc.heading(2, "Green-but-broken check");
    checks::add(&mut doc, &facts.checklist);
    doc.finish()
}

fn head(doc: &mut Doc, session: &SessionRecord, record: &ScenarioRecord) {
    let declared = &record.declared;
    let fault = match &declared.fault {
        DeclaredFault::Planned { nemeses, .. } => nemeses.join(", "),
        DeclaredFault::None { reason } => format!("none: {reason}"),
    };
    let claims = declared.falsifies.iter().map(|(claim, categories)| {
        let words = categories.iter().map(|c| c.as_str()).collect::<Vec<_>>().join(", ");
        format!("{claim} ({words})")
    });
    doc.heading(1, &format!("{} {}: {}", inline(&declared.id), inline(&declared.name), record.verdict));
    let mut fields = vec![
        ("Plan", inline(&session.plan)),
        ("Commit under test", inline(&session.commit)),
        ("Session", format!("{} @ {}", inline(&session.slug), inline(&session.started))),
        ("Tier asked for", record.tier.to_string()),
        ("Budget tier met", record.tier_met.map_or("—", |tier| tier.as_str()).to_owned()),
        ("Falsifies", inline(&claims.collect::<Vec<_>>().join("; "))),
        ("Oracle", inline(&evidence::oracle(declared))),
        ("Fault planned", inline(&fault)),
    ];
    fields.extend(declared.surface.as_ref().map(|surface| ("Surface", inline(surface))));
    if !declared.negative_controls.is_empty() {
        fields.push(("Negative controls declared", inline(&declared.negative_controls.join("; "))));
    }
    doc.fields(&fields);
}

fn why(doc: &mut Doc, record: &ScenarioRecord) {
    let row = |step: &crate::verdict::Step| vec![cell(&step.rule), step.verdict.to_string(), cell(&step.reason)];
    let rows: Vec<Vec<String>> = record.why.steps.iter().map(row).collect();
    doc.table(&["Step", "Verdict after it", "Reason"], &rows, "No reason on record.");
}

fn runs(doc: &mut Doc, record: &ScenarioRecord) {
    let row = |(folder, run): &(String, RunRecord)| {
        let m = &run.measured;
        vec![
            run_name(run),
            cell(&ended(&run.end)),
            m.nodes.to_string(),
            m.seconds.to_string(),
            m.faults.to_string(),
            format!(
                "{} ({} acknowledged, {} failed, {} unknown)",
                run.operations.recorded, run.operations.acknowledged, run.operations.failed, run.operations.unknown
            ),
            cell(run.history_sha256.as_deref().unwrap_or("")),
            cell(folder),
        ]
    };
    let rows: Vec<Vec<String>> = record.runs.iter().map(row).collect();
    let columns = ["Run", "End", "Nodes", "Seconds", "Faults", "Operations", "History SHA-256", "Folder"];
    doc.table(&columns, &rows, "Nothing ran.");
}

fn ended(end: &End) -> String {
    match end {
        End::Judged => "judged".to_owned(),
        End::Error { message } => format!("error: {message}"),
        End::Panicked { message } => format!("panicked: {message}"),
        End::TimedOut { seconds } => format!("timed out after {seconds} s"),
        End::Died { how } => format!("died: {how}"),
        End::EnvMissing { what } => format!("environment: {what}"),
    }
}

fn oracle(doc: &mut Doc, record: &ScenarioRecord, facts: &Facts) {
    doc.block(inline(&evidence::execution(facts)));
    let mut rows = Vec::new();
    for (_, run) in &record.runs {
        for answer in &run.answers {
            let said = match &answer.outcome {
                Outcome::Valid => "valid".to_owned(),
                Outcome::Invalid { violations } => format!("invalid, violations: {}", violations.len()),
                Outcome::Unknown { why } => format!("unknown: {why}"),
            };
            let (e, limits) = (&answer.evidence, answer.cannot_detect.join("; "));
            let taken = format!("{} of {}", e.consumed, e.recorded);
            rows.push(vec![
                run_name(run),
                cell(&answer.checker),
                cell(&said),
                taken,
                e.fired.to_string(),
                cell(&limits),
            ]);
        }
    }
    let columns = ["Run", "Checker", "Answer", "Operations taken", "Checks", "Cannot detect"];
    doc.table(&columns, &rows, "No checker ran.");
    doc.block("Damaged copies of the history, which the checker must reject:");
    let row = |run: &RunRecord, t: &crate::verdict::Tooth| {
        vec![run_name(run), cell(&t.checker), cell(&t.damage), bite(t.bite).to_owned(), cell(&t.detail)]
    };
    let teeth = record.runs.iter().flat_map(|(_, run)| run.teeth.iter().map(move |t| row(run, t)));
    let columns = ["Run", "Checker", "Damage", "Checker said", "What was changed"];
    doc.table(&columns, &teeth.collect::<Vec<_>>(), "None were shown.");
}

/// What was tried of what must be denied; nothing where nothing must be.
fn controls(doc: &mut Doc, record: &ScenarioRecord) {
    let mut rows = Vec::new();
    for (_, run) in &record.runs {
        for trial in &run.controls {
            let result = trial.judge();
            let (word, why) = result.told();
            rows.push(vec![run_name(run), cell(&trial.control), word.to_owned(), cell(why)]);
        }
    }
    if !rows.is_empty() || !record.declared.negative_controls.is_empty() {
        doc.block("Negative controls, each of which must hold in every run:");
        doc.table(&["Run", "Control", "Result", "Evidence"], &rows, "None was tried.");
    }
}

fn bite(bite: Bite) -> &'static str {
    match bite {
        Bite::Rejected => "rejected",
        Bite::Accepted => "ACCEPTED",
        Bite::Undecided => "undecided",
        Bite::NotApplicable => "not applicable",
    }
}

fn windows(doc: &mut Doc, record: &ScenarioRecord) {
    let mut rows = Vec::new();
    for (_, run) in &record.runs {
        for w in &run.windows {
            let counts = does_not_count(&record.declared, w)
                .map_or_else(|| "landed".to_owned(), |why| format!("not counted: {why}"));
            let held = format!("{:.1} s", w.held.as_duration().as_secs_f64());
            let recovered = if w.recovered { w.recovery.clone() } else { format!("NOT RECOVERED: {}", w.recovery) };
            rows.push(vec![
                run_name(run),
                w.epoch.to_string(),
                cell(&format!("{} ({})", w.nemesis, w.detail)),
                held,
                cell(&counts),
                cell(&w.injector.why),
                cell(&w.victim.why),
                cell(&recovered),
            ]);
        }
    }
    let columns = ["Run", "Window", "Fault", "Held", "Counts", "Injector side", "Victim side", "Recovery"];
    doc.table(
        &columns,
        &rows,
        if record.declared.fault.is_planned() { "No fault was injected." } else { "No fault is planned." },
    );
}

fn notes(record: &ScenarioRecord) -> Vec<String> {
    let mut notes: Vec<String> =
        record.harness.note().map(|note| format!("{note}: the repository holds no test of it")).into_iter().collect();
    for (_, run) in &record.runs {
        let name = run_name(run);
        notes.extend(
            run.preconditions.iter().filter(|p| !p.ok).map(|p| format!("{name}: {} failed: {}", p.name, p.evidence)),
        );
        let died = |d: &crate::verdict::NodeDeath| {
            let allowed = if d.allowed { ", allowed by the test" } else { "" };
            format!("{name}: node {} exited by itself ({}){allowed}", d.node, d.how)
        };
        notes.extend(run.deaths.iter().map(died));
        notes.extend(run.notes.iter().map(|note| format!("{name}: {note}")));
    }
    notes.into_iter().map(|note| inline(&note)).collect()
}
