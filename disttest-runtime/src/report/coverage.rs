//! What the run covered of the plan: hypotheses, surfaces, release budgets, adequacy, confidence.

use super::case::{Case, canonical, parents};
use super::doc::Doc;
use super::escape::{cell, inline};
use crate::plan::{Category, Id, Plan, Release};
use crate::verdict::{Verdict, parent_of};

/// Section 5: every hypothesis, the unexercised ones with the reason.
pub(super) fn hypotheses(doc: &mut Doc, plan: Option<&Plan>, cases: &[Case<'_>]) {
    let Some(plan) = plan else {
        return doc.block("The plan is not at hand: its hypotheses are unknown.");
    };
    let line = |h: &crate::plan::Hypothesis| {
        let id = &h.id.value;
        let closing: Vec<&Case<'_>> = cases.iter().filter(|case| closes(case, id)).collect();
        format!("{id} {} — {}", inline(&h.title), inline(&exercised(&closing)))
    };
    let lines: Vec<String> = plan.hypotheses.iter().map(line).collect();
    doc.bullets(&lines, "The plan names no hypothesis.");
}

fn closes(case: &Case<'_>, id: &Id) -> bool {
    case.planned.is_some_and(|scenario| scenario.closes.iter().any(|closed| &closed.value == id))
}

fn exercised(closing: &[&Case<'_>]) -> String {
    if closing.is_empty() {
        return "not exercised: no scenario closes it".to_owned();
    }
    let concluded = |case: &&&Case<'_>| case.verdict().is_pass() || case.verdict().is_fail();
    let told = |case: &&Case<'_>| format!("{} ({})", case.id, case.verdict());
    if closing.iter().any(|case| concluded(&case)) {
        return format!("exercised by {}", closing.iter().map(told).collect::<Vec<_>>().join(", "));
    }
    let why = |case: &&Case<'_>| format!("{} ({}): {}", case.id, case.verdict(), case.headline());
    format!("not exercised to a conclusion: {}", closing.iter().map(why).collect::<Vec<_>>().join("; "))
}

/// Section 6.
pub(super) fn surfaces(doc: &mut Doc, plan: Option<&Plan>, cases: &[Case<'_>]) {
    let wanted: Vec<&Case<'_>> = cases.iter().filter(|case| has_surfaces(plan, case)).collect();
    if wanted.is_empty() {
        return doc.block("No boundary or fairness scenarios in this plan.");
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    let joined = parents(cases);
    for case in &wanted {
        rows.push(surface_row(case));
        let last_arm = wanted.iter().rfind(|other| parent_of(&other.id) == parent_of(&case.id));
        if let Some(parent) = parent_of(&case.id)
            && last_arm.is_some_and(|last| last.id == case.id)
        {
            rows.extend(joined.iter().filter(|(id, ..)| id == parent).map(|(id, _, verdict)| parent_row(id, *verdict)));
        }
    }
    let columns = ["Scenario / arm", "Surface", "Planned", "Executed", "Verdict", "Downgrade reason"];
    doc.table(&columns, &rows, "");
    let missing: Vec<String> =
        wanted.iter().filter(|case| !attempted(case)).map(|case| inline(surface(case))).collect();
    match missing.is_empty() {
        true => doc.block("All planned surfaces were executed."),
        false => doc.block(format!("**Missing surfaces this run did not cover:** {}", missing.join(", "))),
    }
}

fn has_surfaces(plan: Option<&Plan>, case: &Case<'_>) -> bool {
    let of_claim = |id: &str| plan?.claim(&Id::parse(id)?).map(|claim| claim.categories.clone());
    let of_plan = case.claims().iter().filter_map(|id| of_claim(id)).flatten().any(Category::gates_surfaces);
    let declared = case.ran.as_ref().map(|(record, _)| &record.declared.falsifies);
    let of_attribute = declared.is_some_and(|f| f.iter().any(|(_, c)| c.iter().any(|c| c.gates_surfaces())));
    parent_of(&case.id).is_some() || of_plan || of_attribute
}

fn surface<'a>(case: &'a Case<'_>) -> &'a str {
    case.id.split_once('/').map_or(case.name.as_str(), |(_, arm)| arm)
}

fn attempted(case: &Case<'_>) -> bool {
    case.ran.is_some() && case.verdict() != Verdict::NotRun
}

fn surface_row(case: &Case<'_>) -> Vec<String> {
    let reason = if case.verdict().is_pass() { String::new() } else { case.headline() };
    let executed = if attempted(case) { "yes" } else { "no" };
    let planned = if case.planned.is_some() { "yes" } else { "unknown" };
    vec![
        cell(&case.id),
        cell(surface(case)),
        planned.into(),
        executed.into(),
        case.verdict().to_string(),
        cell(&reason),
    ]
}

fn parent_row(id: &str, verdict: Verdict) -> Vec<String> {
    let reason = if verdict.is_pass() { "—" } else { "joined from the arms above" };
    vec![cell(id), "(aggregate)".into(), "—".into(), "—".into(), verdict.to_string(), reason.into()]
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
fn claims(plan: Option<&Plan>, cases: &[Case<'_>]) -> Vec<String> {
    if let Some(plan) = plan {
        return plan.claims.iter().map(|claim| claim.id.value.to_string()).collect();
    }
    let mut ids: Vec<String> = cases.iter().flat_map(|case| case.claims()).map(|id| canonical(&id)).collect();
    ids.sort();
    ids.dedup();
    ids
}

fn falsifying<'c, 'a>(cases: &'c [Case<'a>], claim: &str) -> Vec<&'c Case<'a>> {
    cases.iter().filter(|case| case.claims().iter().any(|id| canonical(id) == claim)).collect()
}

/// Section 8.
pub(super) fn adequacy(doc: &mut Doc, plan: Option<&Plan>, cases: &[Case<'_>]) {
    let row = |claim: String| {
        let ran = falsifying(cases, &claim);
        let verdicts: Vec<String> = ran.iter().map(|case| format!("{} {}", case.id, case.verdict())).collect();
        let ran_text = if verdicts.is_empty() { "no scenario falsifies it".to_owned() } else { verdicts.join(", ") };
        vec![cell(&claim), cell(&argument(plan, &claim)), cell(&ran_text), cell(after(&ran))]
    };
    let rows: Vec<Vec<String>> = claims(plan, cases).into_iter().map(row).collect();
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

fn after(ran: &[&Case<'_>]) -> &'static str {
    let any = |wanted: fn(Verdict) -> bool| ran.iter().any(|case| wanted(case.verdict()));
    let all = |wanted: fn(Verdict) -> bool| !ran.is_empty() && ran.iter().all(|case| wanted(case.verdict()));
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
pub(super) fn confidence(doc: &mut Doc, plan: Option<&Plan>, cases: &[Case<'_>]) {
    let (mut more, mut less, mut same) = (Vec::new(), Vec::new(), Vec::new());
    for claim in claims(plan, cases) {
        let ran = falsifying(cases, &claim);
        let told = ran.iter().map(|case| format!("{} {}", case.id, case.verdict())).collect::<Vec<_>>().join(", ");
        let entry = if told.is_empty() { format!("{claim} (no scenario)") } else { format!("{claim} ({told})") };
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
