//! `findings/report.md`: every section of the format, in order; an empty one says so in the prescribed words.

use super::case::{Case, Whole, cases, verdict_of, wholes};
use super::doc::Doc;
use super::escape::{cell, code, inline};
use super::session_log::utc;
use super::{checks, coverage, evidence, finding};
use crate::plan::Plan;
use crate::verdict::{Event, Harness, ScenarioRecord, SessionRecord, Verdict};

/// The findings report of a session. `plan` is `None` when it cannot be read any more; then the sections that need it
/// say so. Linear in the records, apart from sorting by id.
pub fn report_markdown(
    plan: Option<&Plan>,
    session: &SessionRecord,
    scenarios: &[ScenarioRecord],
    events: &[Event],
) -> String {
    let cases = cases(plan, scenarios);
    let wholes = wholes(plan, &cases);
    let mut doc = Doc::default();
    doc.heading(1, &format!("Findings: {} @ {}", inline(&session.slug), inline(&session.started)));
    doc.fields(&[
        ("Plan", inline(&session.plan)),
        ("Commit under test", inline(&session.commit)),
        ("Session dir", inline(&session.dir)),
    ]);
    doc.heading(2, "Summary");
    summary(&mut doc, plan, session, &wholes, events);
    doc.heading(2, "Scenario results");
    results(&mut doc, &wholes);
    doc.heading(2, "Findings");
    finding::add_all(&mut doc, plan, &cases);
    doc.heading(2, "Coverage summary");
    coverage::hypotheses(&mut doc, plan, &wholes);
    doc.heading(2, "Surface coverage (boundary and fairness scenarios)");
    coverage::surfaces(&mut doc, plan, &wholes);
    doc.heading(2, "Release-budget disclosures");
    coverage::release_budgets(&mut doc, &cases);
    doc.heading(2, "Adequacy assessment vs the plan's coverage argument");
    coverage::adequacy(&mut doc, plan, &wholes);
    doc.heading(2, "Confidence delta");
    coverage::confidence(&mut doc, plan, &wholes);
    doc.heading(2, "Green-but-broken check");
    green_but_broken(&mut doc, &cases);
    doc.finish()
}

fn summary(doc: &mut Doc, plan: Option<&Plan>, session: &SessionRecord, wholes: &[Whole<'_, '_>], events: &[Event]) {
    let (verdict, told) = verdict_of(wholes);
    doc.block(format!("**{verdict}** — {told}."));
    let line = |id: &str, name: &str, verdict: Verdict, tier: &str, why: &str| {
        format!("{} {}: {verdict} (tier met: {tier}) — {}", inline(id), inline(name), inline(why))
    };
    let mut lines = Vec::new();
    for whole in wholes {
        let of_part = |part: &&Case<'_>| line(&part.id, &part.name, part.verdict(), part.tier(), &part.headline());
        lines.extend(whole.parts.iter().map(of_part));
        let of_whole = || line(&whole.id, whole.name, whole.verdict, whole.tier(), &whole.headline);
        lines.extend(whole.joined.then(of_whole));
    }
    doc.bullets(&lines, "No scenario is registered for this plan.");
    let mut notes = vec![format!("Tier asked for: {}.", session.tier)];
    let times = || events.iter().map(|event| event.unix_ms);
    if let (Some(first), Some(last)) = (times().min(), times().max()) {
        notes.push(format!("Ran from {} to {} (UTC).", utc(first), utc(last)));
    }
    if !session.sut_args.is_empty() {
        notes.push(format!("The system under test was given extra arguments: {}.", code(&session.sut_args.join(" "))));
    }
    if session.missing_budgets_allowed {
        notes.push("Missing budget tiers were allowed: such scenarios earn at most PASS-smoke.".to_owned());
    }
    notes.extend(ephemeral(session, wholes));
    if plan.is_none() {
        notes.push("The plan could not be read: coverage, adequacy and drift are not established.".to_owned());
    }
    notes.push(
        "Every verdict is derived from the files of this session; whoever controls the machine, the test binary and \
         the log can lie."
            .to_owned(),
    );
    doc.block("Notes:");
    doc.bullets(&notes, "");
}

/// Which scenarios have no test in the repository.
fn ephemeral(session: &SessionRecord, wholes: &[Whole<'_, '_>]) -> Option<String> {
    let cases = wholes.iter().flat_map(|whole| &whole.parts);
    let is = |case: &&&Case<'_>| case.ran.as_ref().is_some_and(|(record, _)| record.harness == Harness::Ephemeral);
    let ids: Vec<&str> = cases.filter(is).map(|case| case.id.as_str()).collect();
    let folder = session.harness.as_ref().map_or_else(String::new, |folder| format!(" ({})", code(folder)));
    let ids = inline(&ids.join(", "));
    (!ids.is_empty()).then(|| format!("The repository holds no test of {ids}: {}{folder}.", Harness::EPHEMERAL))
}

fn results(doc: &mut Doc, wholes: &[Whole<'_, '_>]) {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for whole in wholes {
        rows.extend(whole.parts.iter().map(|part| row(part)));
        rows.extend(whole.joined.then(|| aggregate_row(whole)));
    }
    let columns = [
        "ID",
        "Scenario",
        "[Verdict][vt]",
        "Oracle",
        "Oracle execution evidence",
        "Nemesis landing evidence",
        "Artifact link",
    ];
    doc.table(&columns, &rows, "No scenario results.");
    doc.block("[vt]: ../references/verdict-taxonomy.md");
}

fn row(case: &Case<'_>) -> Vec<String> {
    let oracle = case.ran.as_ref().map_or_else(String::new, |(record, _)| evidence::oracle(&record.declared));
    let execution = case.ran.as_ref().map_or_else(|| "none: nothing ran".to_owned(), |(_, f)| evidence::execution(f));
    vec![
        cell(&case.id),
        cell(&case.name),
        case.verdict().to_string(),
        cell(&oracle),
        cell(&execution),
        cell(&evidence::landing(case)),
        link(case),
    ]
}

/// Ids are letters, digits, `-`, `_` and `/`; anything else gets no link.
fn link(case: &Case<'_>) -> String {
    let slug = case.slug();
    let safe = slug.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    if case.ran.is_none() || !safe || slug.is_empty() {
        return "—".to_owned();
    }
    format!("[details]({slug}.md), [artifacts](../artifacts/{slug}/)")
}

fn aggregate_row(whole: &Whole<'_, '_>) -> Vec<String> {
    let dash = || "—".to_owned();
    let oracle = "joined from its arms".to_owned();
    let verdict = whole.verdict.to_string();
    vec![cell(&whole.id), cell(whole.name), verdict, oracle, cell(&whole.headline), dash(), dash()]
}

fn green_but_broken(doc: &mut Doc, cases: &[Case<'_>]) {
    if cases.is_empty() {
        doc.block("No scenarios.");
    }
    for case in cases {
        doc.heading(3, &format!("{} {}", inline(&case.id), inline(&case.name)));
        match &case.ran {
            Some((_, facts)) => checks::add(doc, &facts.checklist),
            None => doc.block("Nothing ran: no item is checked."),
        }
    }
}
