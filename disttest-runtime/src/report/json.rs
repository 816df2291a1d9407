//! `findings/report.json`: what the findings report says, for programs (`disttest.report/1`).

use super::case::{Case, Whole, cases, verdict_of, wholes};
use super::finding::{Finding, findings};
use crate::audit::{AuditItem, Checklist};
use crate::checker::Answer;
use crate::fault::Assessment;
use crate::plan::{Plan, Release, Tier};
use crate::verdict::{
    Declared, End, Harness, OpCounts, RunRecord, ScenarioRecord, SessionRecord, SessionVerdict, Step, Tooth, Verdict,
};
use serde::Serialize;

/// The document. Names are stable within a schema version; programs must pass over names that they do not know.
#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    plan: &'a str,
    slug: &'a str,
    started: &'a str,
    commit: &'a str,
    session_dir: &'a str,
    tier: Tier,
    verdict: SessionVerdict,
    headline: String,
    scenarios: Vec<Scenario<'a>>,
    hypotheses: Vec<Hypothesis>,
    findings: Vec<Found>,
    release_disclosures: Vec<Disclosure>,
}

/// A scenario with its arms; one without arms is its only part.
#[derive(Serialize)]
struct Scenario<'a> {
    id: String,
    name: &'a str,
    verdict: Verdict,
    tier_met: Option<Tier>,
    headline: String,
    claims: Vec<String>,
    parts: Vec<Part<'a>>,
}

/// A scenario without arms, or an arm: what has a verdict of its own.
#[derive(Serialize)]
struct Part<'a> {
    id: &'a str,
    verdict: Verdict,
    tier_met: Option<Tier>,
    headline: String,
    ephemeral: bool,
    /// Null when nothing of the session is about it.
    declared: Option<&'a Declared>,
    why: &'a [Step],
    runs: Vec<Run<'a>>,
    red_flags: &'a [AuditItem],
    weak_oracles: &'a [AuditItem],
}

/// One execution.
#[derive(Serialize)]
struct Run<'a> {
    folder: &'a str,
    seed: u64,
    rerun: u32,
    end: &'a End,
    operations: OpCounts,
    seconds: f64,
    windows: &'a [Assessment],
    answers: &'a [Answer],
    teeth: &'a [Tooth],
    history_sha256: Option<&'a str>,
}

#[derive(Serialize)]
struct Hypothesis {
    id: String,
    title: String,
    /// Scenarios that close it, each with its verdict.
    closed_by: Vec<(String, Verdict)>,
}

#[derive(Serialize)]
struct Found {
    id: String,
    #[serde(flatten)]
    finding: Finding,
}

#[derive(Serialize)]
struct Disclosure {
    scenario: String,
    reason: String,
    revisit: String,
}

/// The findings report of a session as indented JSON. Linear in the records.
pub fn report_json(plan: Option<&Plan>, session: &SessionRecord, scenarios: &[ScenarioRecord]) -> String {
    let cases = cases(plan, scenarios);
    let wholes = wholes(plan, &cases);
    let (verdict, headline) = verdict_of(&wholes);
    let found = scenarios.iter().flat_map(|record| findings(plan, record));
    let report = Report {
        schema: "disttest.report/1",
        plan: &session.plan,
        slug: &session.slug,
        started: &session.started,
        commit: &session.commit,
        session_dir: &session.dir,
        tier: session.tier,
        verdict,
        headline,
        scenarios: wholes.iter().map(scenario).collect(),
        hypotheses: hypotheses(plan, &wholes),
        findings: found.zip(1..).map(|(finding, n)| Found { id: format!("F{n}"), finding }).collect(),
        release_disclosures: cases.iter().filter_map(disclosure).collect(),
    };
    // Strings, numbers and lists of them: nothing that JSON has no form for.
    let mut text = serde_json::to_string_pretty(&report).expect("a report is JSON");
    text.push('\n');
    text
}

fn scenario<'a>(whole: &Whole<'a, 'a>) -> Scenario<'a> {
    Scenario {
        id: whole.id.clone(),
        name: whole.name,
        verdict: whole.verdict,
        tier_met: whole.parts.iter().map(|part| part.tier_met()).min().flatten(),
        headline: whole.headline.clone(),
        claims: whole.claims().into_iter().collect(),
        parts: whole.parts.iter().map(|part| self::part(part)).collect(),
    }
}

fn part<'a>(case: &'a Case<'a>) -> Part<'a> {
    const NONE: &Checklist = &Checklist { red_flags: Vec::new(), weak_oracles: Vec::new() };
    let record = case.ran.as_ref().map(|(record, _)| *record);
    let checklist = case.ran.as_ref().map_or(NONE, |(_, facts)| &facts.checklist);
    Part {
        id: &case.id,
        verdict: case.verdict(),
        tier_met: case.tier_met(),
        headline: case.headline(),
        ephemeral: record.is_some_and(|record| record.harness == Harness::Ephemeral),
        declared: record.map(|record| &record.declared),
        why: record.map_or(&[], |record| &record.why.steps),
        runs: record.map_or(&[][..], |record| &record.runs).iter().map(run).collect(),
        red_flags: &checklist.red_flags,
        weak_oracles: &checklist.weak_oracles,
    }
}

fn run((folder, run): &(String, RunRecord)) -> Run<'_> {
    Run {
        folder,
        seed: run.request.seed,
        rerun: run.request.rerun,
        end: &run.end,
        operations: run.operations,
        seconds: run.workload.as_duration().as_secs_f64(),
        windows: &run.windows,
        answers: &run.answers,
        teeth: &run.teeth,
        history_sha256: run.history_sha256.as_deref(),
    }
}

fn hypotheses(plan: Option<&Plan>, wholes: &[Whole<'_, '_>]) -> Vec<Hypothesis> {
    let of = |hypothesis: &crate::plan::Hypothesis| {
        let id = &hypothesis.id.value;
        let closing = wholes.iter().filter(|whole| {
            whole.planned.is_some_and(|scenario| scenario.closes.iter().any(|closed| closed.value == *id))
        });
        let closed_by = closing.map(|whole| (whole.id.clone(), whole.verdict)).collect();
        Hypothesis { id: id.to_string(), title: hypothesis.title.clone(), closed_by }
    };
    plan.iter().flat_map(|plan| &plan.hypotheses).map(of).collect()
}

fn disclosure(case: &Case<'_>) -> Option<Disclosure> {
    let budgets = case.ran.as_ref()?.0.declared.budgets.as_ref()?;
    let Release::NotProvided { reason, revisit } = &budgets.release else { return None };
    Some(Disclosure { scenario: case.id.clone(), reason: reason.clone(), revisit: revisit.clone() })
}
