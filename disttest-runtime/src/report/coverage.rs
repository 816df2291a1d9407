//! What the run covered of the plan: hypotheses, surfaces, release budgets, adequacy, confidence.

use super::case::{Case, Whole, canonical};
use super::doc::Doc;
use super::escape::{cell, inline};
use crate::plan::{Category, Id, Plan, Release, Surface, Tester};
use crate::verdict::{Verdict, parent_of};
use std::collections::BTreeSet;

/// Section 5: every hypothesis, the unexercised ones with the reason.
pub(super) fn hypotheses(doc: &mut Doc, plan: Option<&Plan>, wholes: &[Whole<'_, '_>]) {
    let Some(plan) = plan else {
        return doc.block("The plan is not at hand: its hypotheses are unknown.");
    };
    let line = |h: &crate::plan::Hypothesis| {
        let id = &h.id.value;
        let closing: Vec<&Whole<'_, '_>> = wholes.iter().filter(|whole| closes(whole, id)).collect();
        format!("{id} {} — {}", inline(&h.title), inline(&exercised(&closing)))
    };
    let lines: Vec<String> = plan.hypotheses.iter().map(line).collect();
    doc.bullets(&lines, "The plan names no hypothesis.");
}

fn closes(whole: &Whole<'_, '_>, id: &Id) -> bool {
    whole.planned.is_some_and(|scenario| scenario.closes.iter().any(|closed| &closed.value == id))
}

fn exercised(closing: &[&Whole<'_, '_>]) -> String {
    if closing.is_empty() {
        return "not exercised: no scenario closes it".to_owned();
    }
    let told = |whole: &&Whole<'_, '_>| format!("{} ({})", whole.id, whole.verdict);
    if closing.iter().any(|whole| whole.verdict.is_pass() || whole.verdict.is_fail()) {
        return format!("exercised by {}", closing.iter().map(told).collect::<Vec<_>>().join(", "));
    }
    let why = |whole: &&Whole<'_, '_>| format!("{} ({}): {}", whole.id, whole.verdict, whole.headline);
    format!("not exercised to a conclusion: {}", closing.iter().map(why).collect::<Vec<_>>().join("; "))
}

/// Section 6: every arm, every listed surface that has none, then its scenario.
pub(super) fn surfaces(doc: &mut Doc, plan: Option<&Plan>, wholes: &[Whole<'_, '_>]) {
    let wanted: Vec<&Whole<'_, '_>> = wholes.iter().filter(|whole| covers(plan, whole)).collect();
    if wanted.is_empty() {
        return doc.block("No boundary or fairness scenarios in this plan.");
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for whole in &wanted {
        rows.extend(whole.parts.iter().map(|part| surface_row(part)));
        rows.extend(without_arm(whole).map(|name| armless_row(whole, &name)));
        rows.extend(whole.joined.then(|| parent_row(whole)));
    }
    let columns = ["Scenario / arm", "Surface", "Planned", "Executed", "Verdict", "Downgrade reason"];
    doc.table(&columns, &rows, "");
    let mut missing: Vec<String> = wanted.iter().flat_map(|whole| untested(whole)).collect();
    if plan.is_none() {
        missing.push("others are unknown, since the plan is not at hand".to_owned());
    }
    match missing.is_empty() {
        true => doc.block("All planned surfaces were executed."),
        false => doc.block(format!("**Missing surfaces this run did not cover:** {}", missing.join(", "))),
    }
    let collapsed: Vec<String> = wanted.iter().flat_map(|whole| by_word_of_plan(whole)).collect();
    if !collapsed.is_empty() {
        let told = "Tested by no arm of their own, but, as the plan says, together with others";
        doc.block(format!("{told}: {}", collapsed.join(", ")));
    }
}

fn covers(plan: Option<&Plan>, whole: &Whole<'_, '_>) -> bool {
    let listed = whole.planned.is_some_and(|scenario| scenario.surfaces.is_some());
    listed || whole.parts.iter().any(|part| has_surfaces(plan, part))
}

/// What the plan wants tested and nothing that came to a conclusion did test.
fn untested(whole: &Whole<'_, '_>) -> Vec<String> {
    let listed = listed(whole);
    let mut missing: Vec<String> = listed.iter().filter_map(|surface| untested_surface(whole, surface)).collect();
    let told = |part: &Case<'_>| {
        let own = |surface: &Surface| matches!(&surface.tested_by, Some(Tester::Own(id)) if is(part, id));
        listed.iter().any(own)
    };
    let others = whole.parts.iter().filter(|part| !concluded(part) && !told(part));
    missing.extend(others.map(|part| missing_surface(part)));
    if listed.is_empty() && whole.planned.is_some_and(|scenario| scenario.arm_ids().is_empty()) {
        missing.push(format!("others of {} are unknown, since the plan lists none", inline(&whole.id)));
    }
    missing
}

fn untested_surface(whole: &Whole<'_, '_>, surface: &Surface) -> Option<String> {
    let why = match &surface.tested_by {
        None => format!("{} has no arm for it", whole.id),
        Some(by) if tests_of(whole, by.id()).any(concluded) => return None,
        Some(by) => told_tester(whole, by),
    };
    Some(format!("{} ({})", inline(&surface.name), inline(&why)))
}

/// `S5/sdk NOT-RUN`, `in S5/api PASS-smoke`.
fn told_tester(whole: &Whole<'_, '_>, by: &Tester) -> String {
    let verdict = tests_of(whole, by.id()).next().map_or(Verdict::NotRun, Case::verdict);
    match by {
        Tester::Own(id) => format!("{id} {verdict}"),
        Tester::Collapsed(id) => format!("in {id} {verdict}"),
    }
}

fn tests_of<'c, 'a>(whole: &Whole<'c, 'a>, id: &Id) -> impl Iterator<Item = &'c Case<'a>> {
    whole.parts.iter().copied().filter(move |part| is(part, id))
}

fn is(case: &Case<'_>, id: &Id) -> bool {
    canonical(&case.id) == id.to_string()
}

fn listed(whole: &Whole<'_, '_>) -> Vec<Surface> {
    whole.planned.map(|scenario| scenario.listed_surfaces()).unwrap_or_default()
}

/// Listed surfaces that no arm is for.
fn without_arm(whole: &Whole<'_, '_>) -> impl Iterator<Item = String> {
    listed(whole).into_iter().filter(|surface| surface.tested_by.is_none()).map(|surface| surface.name)
}

/// Listed surfaces that the plan collapses into something else, and what came of that.
fn by_word_of_plan(whole: &Whole<'_, '_>) -> Vec<String> {
    let told = |surface: Surface| match &surface.tested_by {
        Some(by @ Tester::Collapsed(_)) => Some(format!("{} ({})", inline(&surface.name), told_tester(whole, by))),
        _ => None,
    };
    listed(whole).into_iter().filter_map(told).collect()
}

fn has_surfaces(plan: Option<&Plan>, case: &Case<'_>) -> bool {
    let of_claim = |id: &str| plan?.claim(&Id::parse(id)?).map(|claim| claim.categories.clone());
    let of_plan = case.claims().iter().filter_map(|id| of_claim(id)).flatten().any(Category::gates_surfaces);
    let declared = case.ran.as_ref().map(|(record, _)| &record.declared.falsifies);
    let of_attribute = declared.is_some_and(|f| f.iter().any(|(_, c)| c.iter().any(|c| c.gates_surfaces())));
    parent_of(&case.id).is_some() || of_plan || of_attribute
}

/// As the attribute names it, else the plan, else the part of the id behind the slash.
fn surface<'a>(case: &'a Case<'_>) -> &'a str {
    let declared = case.ran.as_ref().and_then(|(record, _)| record.declared.surface.as_deref());
    let arm = || Id::parse(&case.id).and_then(|id| case.planned?.arm(&id));
    let of_id = || case.id.split_once('/').map_or(case.name.as_str(), |(_, arm)| arm);
    declared.unwrap_or_else(|| arm().map_or_else(of_id, |arm| arm.surface()))
}

fn missing_surface(case: &Case<'_>) -> String {
    format!("{} ({} {})", inline(surface(case)), inline(&case.id), case.verdict())
}

/// It passed or failed: whatever else came of it, nobody knows how the surface behaves.
fn concluded(case: &Case<'_>) -> bool {
    case.ran.is_some() && (case.verdict().is_pass() || case.verdict().is_fail())
}

fn armless_row(whole: &Whole<'_, '_>, name: &str) -> Vec<String> {
    let dash = || "—".to_owned();
    vec![dash(), cell(name), "yes".into(), "no".into(), dash(), cell(&format!("{} has no arm for it", whole.id))]
}

/// The plan has this very scenario or arm.
fn is_planned(case: &Case<'_>) -> bool {
    let Some(scenario) = case.planned else { return false };
    let arms = scenario.arm_ids();
    Id::parse(&case.id).is_some_and(|id| arms.contains(&id) || (arms.is_empty() && id == scenario.id.value))
}

fn attempted(case: &Case<'_>) -> bool {
    case.ran.is_some() && case.verdict() != Verdict::NotRun
}

fn surface_row(case: &Case<'_>) -> Vec<String> {
    let reason = if case.verdict().is_pass() { String::new() } else { case.headline() };
    let executed = if attempted(case) { "yes" } else { "no" };
    let planned = match (case.planned, is_planned(case)) {
        (_, true) => "yes",
        (Some(_), false) => "no",
        (None, false) => "unknown",
    };
    vec![
        cell(&case.id),
        cell(surface(case)),
        planned.into(),
        executed.into(),
        case.verdict().to_string(),
        cell(&reason),
    ]
}

fn parent_row(whole: &Whole<'_, '_>) -> Vec<String> {
    let reason = if whole.verdict.is_pass() { "—".to_owned() } else { cell(&whole.headline) };
    let planned = if whole.planned.is_some() { "yes" } else { "unknown" };
    let attempts = whole.parts.iter().filter(|part| attempted(part)).count();
    let executed = format!("{attempts} of {}", whole.parts.len());
    vec![cell(&whole.id), "(aggregate)".into(), planned.into(), executed, whole.verdict.to_string(), reason]
}

/// Section 7. The words of the plan are lifted as they stand.
pub(super) fn release_budgets(doc: &mut Doc, cases: &[Case<'_>]) {
    let rows: Vec<Vec<String>> = cases.iter().filter_map(release_row).collect();
    let columns = ["Scenario", "Reason release budget was not provided", "Revisit when"];
    let empty = if cases.is_empty() { "No scenarios." } else { "All scenarios declared a concrete release budget." };
    doc.table(&columns, &rows, empty);
}

fn release_row(case: &Case<'_>) -> Option<Vec<String>> {
    let declared = case.ran.as_ref().and_then(|(record, _)| record.declared.budgets.as_ref());
    let budgets = declared.or_else(|| case.planned.and_then(|planned| planned.budgets.as_ref()));
    let (reason, revisit) = match budgets.map(|budgets| &budgets.release) {
        Some(Release::Budget(_)) => return None,
        Some(Release::NotProvided { reason, revisit }) => (reason.as_str(), revisit.as_str()),
        None => ("the scenario declares no budget tiers", ""),
    };
    Some(vec![cell(&case.id), cell(reason), cell(revisit)])
}

/// Ids of all claims: the plan's, else those that the records name.
fn claims(plan: Option<&Plan>, wholes: &[Whole<'_, '_>]) -> Vec<String> {
    if let Some(plan) = plan {
        return plan.claims.iter().map(|claim| claim.id.value.to_string()).collect();
    }
    let ids: BTreeSet<String> = wholes.iter().flat_map(Whole::claims).collect();
    ids.into_iter().collect()
}

fn falsifying<'w, 'c, 'a>(wholes: &'w [Whole<'c, 'a>], claim: &str) -> Vec<&'w Whole<'c, 'a>> {
    wholes.iter().filter(|whole| whole.claims().contains(claim)).collect()
}

fn told(ran: &[&Whole<'_, '_>]) -> String {
    ran.iter().map(|whole| whole.told()).collect::<Vec<_>>().join(", ")
}

/// Section 8.
pub(super) fn adequacy(doc: &mut Doc, plan: Option<&Plan>, wholes: &[Whole<'_, '_>]) {
    let row = |claim: String| {
        let ran = falsifying(wholes, &claim);
        let ran_text = if ran.is_empty() { "no scenario falsifies it".to_owned() } else { told(&ran) };
        vec![cell(&claim), cell(&argument(plan, &claim)), cell(&ran_text), cell(after(&ran))]
    };
    let rows: Vec<Vec<String>> = claims(plan, wholes).into_iter().map(row).collect();
    let columns = ["Claim", "Plan's adequacy argument", "What actually ran", "Adequacy after this run"];
    doc.table(&columns, &rows, "The plan names no claim.");
}

fn argument(plan: Option<&Plan>, claim: &str) -> String {
    let Some(plan) = plan else { return "the plan is not at hand".to_owned() };
    let names = |text: &str| text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| canonical(word) == claim);
    let rows = plan.adequacy.iter().filter(|row| names(row.cell("Claim")));
    let texts: Vec<&str> = rows.map(|row| row.cell("Why these are sufficient")).filter(|t| !t.is_empty()).collect();
    if texts.is_empty() { "none in the plan".to_owned() } else { texts.join("; ") }
}

fn after(ran: &[&Whole<'_, '_>]) -> &'static str {
    let any = |wanted: fn(Verdict) -> bool| ran.iter().any(|whole| wanted(whole.verdict));
    let all = |wanted: fn(Verdict) -> bool| !ran.is_empty() && ran.iter().all(|whole| wanted(whole.verdict));
    if any(Verdict::is_fail) {
        "refuted: a scenario that falsifies it observed a violation"
    } else if all(|v| v == Verdict::PassHardening) {
        "as argued: no violation observed under the tested threats"
    } else if all(Verdict::is_pass) {
        "weaker than argued: part of it was run only as smoke"
    } else if any(Verdict::is_pass) {
        "weaker than argued: not every scenario came to a conclusion"
    } else {
        "not supported by this run"
    }
}

/// Section 9, in the conservative words of the plan format.
pub(super) fn confidence(doc: &mut Doc, plan: Option<&Plan>, wholes: &[Whole<'_, '_>]) {
    let (mut more, mut less, mut same) = (Vec::new(), Vec::new(), Vec::new());
    for claim in claims(plan, wholes) {
        let ran = falsifying(wholes, &claim);
        let entry = if ran.is_empty() { format!("{claim} (no scenario)") } else { format!("{claim} ({})", told(&ran)) };
        match after(&ran) {
            text if text.starts_with("refuted") => less.push(entry),
            text if text.starts_with("as argued") => more.push(entry),
            _ => same.push(entry),
        }
    }
    let line = |label: &str, entries: &[String], words: &str| match entries {
        [] => format!("**{label}:** none"),
        entries => format!("**{label}:** {words}: {}", inline(&entries.join("; "))),
    };
    let lines = [
        line("More", &more, "we have not observed a violation under the tested threats"),
        line("Less", &less, "we have observed a violation"),
        line("Unchanged", &same, "this run does not settle it"),
    ];
    doc.bullets(&lines, "");
}
