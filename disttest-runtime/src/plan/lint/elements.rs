//! Rules about claims and hypotheses, and about ids.

use super::Context;
use super::respell::{meant, respelt};
use crate::base::diagnostic::{Diagnostic, Span, Spanned};
use crate::plan::parse::{ids_in, nearest_category};
use crate::plan::rules::report;
use crate::plan::{Category, Id, Plan};
use std::collections::HashSet;

/// Each id is defined once.
pub(super) fn duplicate_id(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let plan = context.plan;
    let mut seen: HashSet<&Id> = HashSet::new();
    let arms = plan.scenarios.iter().flat_map(|s| s.arms.iter().map(|a| &a.id));
    let ids = (plan.claims.iter().map(|c| &c.id))
        .chain(plan.missing_claims.iter().map(|m| &m.id))
        .chain(plan.hypotheses.iter().map(|h| &h.id))
        .chain(plan.scenarios.iter().map(|s| &s.id))
        .chain(arms);
    for id in ids {
        if !seen.insert(&id.value) {
            let message = format!("{} is defined for the second time", id.value);
            out.push(report("duplicate-id", id.span, message, "give it a number of its own"));
        }
    }
}

/// What is defined in a plan.
struct Defined<'p>(HashSet<&'p Id>);

impl<'p> Defined<'p> {
    fn of(plan: &'p Plan) -> Defined<'p> {
        let arms = plan.scenarios.iter().flat_map(|s| s.arms.iter().map(|a| &a.id.value));
        let ids = (plan.claims.iter().map(|c| &c.id.value))
            .chain(plan.hypotheses.iter().map(|h| &h.id.value))
            .chain(plan.scenarios.iter().map(|s| &s.id.value));
        Defined(ids.chain(arms).collect())
    }

    fn check(&self, id: &Id, span: Span, out: &mut Vec<Diagnostic>) {
        if !self.0.contains(id) {
            let place = match id.letter() {
                'C' => "§1b",
                'H' => "§4",
                _ => "§7",
            };
            let message = format!("{id} is not defined in {place}");
            out.push(report("undefined-id", span, message, format!("define {id} in {place}, or name another")));
        }
    }
}

/// Each id that is used is defined.
pub(super) fn undefined_id(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let plan = context.plan;
    let defined = Defined::of(plan);
    let used = (plan.hypotheses.iter().flat_map(|h| &h.claims))
        .chain(plan.scenarios.iter().flat_map(|s| s.falsifies.iter().chain(&s.closes)));
    used.for_each(|id| defined.check(&id.value, id.span, out));
    let cells = (plan.adequacy.iter().map(|r| (r, "Claim", 'C')))
        .chain(plan.adequacy.iter().map(|r| (r, "Scenarios that exercise the threats", 'S')))
        .chain(plan.environment.iter().map(|r| (r, "Used by scenarios", 'S')))
        .chain(plan.coverage.iter().map(|r| (r, "Claim", 'C')))
        .chain(plan.coverage.iter().map(|r| (r, "Hypothesis", 'H')))
        .chain(plan.coverage.iter().map(|r| (r, "Recommended scenario", 'S')))
        .chain(plan.confidence.aspects.iter().map(|r| (r, "Claim", 'C')));
    for (row, column, letter) in cells {
        ids_in(row.cell(column), letter).iter().for_each(|id| defined.check(id, row.span, out));
    }
}

/// Category words.
pub(super) fn unknown_category(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for claim in &context.plan.claims {
        let id = &claim.id.value;
        let words: Vec<&str> = Category::ALL.iter().map(|c| c.as_str()).collect();
        for word in &claim.unknown_categories {
            let message = format!("{id}: `{word}` is no claim category; it gates like `safety` until fixed");
            let help = format!("did you mean `{}`? The categories are {}", nearest_category(word), words.join(", "));
            let told = report("unknown-category", claim.category_text.span, message, help);
            let right = meant(word, words.iter().copied());
            out.push(respelt(told, &context.masked, claim.category_text.span, word, right));
        }
        let bare = claim.category_text.value.trim_matches(|c: char| !c.is_alphanumeric());
        if bare.is_empty() || (claim.unknown_categories.is_empty() && claim.categories.is_empty()) {
            let message = format!("{id} has no category; it gates like `safety` until it has");
            out.push(report(
                "unknown-category",
                claim.category_text.span,
                message,
                format!("write one of {}", words.join(", ")),
            ));
        }
    }
}

const BOUNDARY_WORDS: &[&str] =
    &["tenan", "authz", "authoriz", "authoris", "namespace", "routing", "cross-account", "cross account"];

/// An access border called `isolation` (format D12).
pub(super) fn boundary_wording(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for claim in &context.plan.claims {
        let isolation =
            claim.categories.contains(&Category::Isolation) && !claim.categories.contains(&Category::Boundary);
        let text = claim.text.value.to_lowercase();
        if let Some(word) = BOUNDARY_WORDS.iter().find(|w| isolation && text.contains(**w)) {
            let message = format!(
                "{}: `{word}…` speaks of an access border; `isolation` means transaction anomalies",
                claim.id.value
            );
            out.push(report(
                "boundary-wording",
                claim.category_text.span,
                message,
                "write `boundary` if that is meant",
            ));
        }
    }
}

/// A hypothesis names a claim.
pub(super) fn hypothesis_without_claim(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for hypothesis in context.plan.hypotheses.iter().filter(|h| h.claims.is_empty()) {
        let message = format!("{} names no claim that it could falsify", hypothesis.id.value);
        let help = "add `- Could falsify: C1`, or drop it, or move it to §1c";
        out.push(report("hypothesis-without-claim", hypothesis.id.span, message, help));
    }
}

/// A scenario closes each hypothesis.
pub(super) fn hypothesis_without_scenario(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let closed: HashSet<&Id> = context.plan.scenarios.iter().flat_map(|s| &s.closes).map(|id| &id.value).collect();
    for hypothesis in context.plan.hypotheses.iter().filter(|h| !closed.contains(&h.id.value)) {
        let id = &hypothesis.id.value;
        let message = format!("no scenario closes {id}");
        out.push(report(
            "hypothesis-without-scenario",
            hypothesis.id.span,
            message,
            format!("add `- **Closes:** {id}` to a scenario"),
        ));
    }
}

/// A scenario falsifies each claim, or the plan discloses that none does.
pub(super) fn claim_not_falsified(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let plan = context.plan;
    let falsified: HashSet<&Id> = plan.scenarios.iter().flat_map(|s| &s.falsifies).map(|id| &id.value).collect();
    let residual = plan.residual.iter().flat_map(|r| r.cells.iter().map(|(_, text)| text));
    let disclosed: HashSet<Id> =
        residual.chain(plan.not_covered.iter().map(|s| &s.value)).flat_map(|text| ids_in(text, 'C')).collect();
    for claim in &plan.claims {
        let id = &claim.id.value;
        if !falsified.contains(id) && !disclosed.contains(id) {
            let message = format!("no scenario falsifies {id}");
            let help = format!("add {id} to a scenario's `Falsifies if it FAILs`, or disclose it in §7c or §8");
            out.push(report("claim-not-falsified", claim.id.span, message, help));
        }
    }
}

/// §7b has a row for each claim.
pub(super) fn claim_not_argued(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let plan = context.plan;
    if plan.adequacy.is_empty() {
        return;
    }
    let argued: HashSet<Id> = plan.adequacy.iter().flat_map(|r| ids_in(r.cell("Claim"), 'C')).collect();
    let missing = plan.claims.iter().map(|c| &c.id).filter(|id: &&Spanned<Id>| !argued.contains(&id.value));
    for id in missing {
        let message = format!("§7b has no row for {}", id.value);
        out.push(report("claim-not-argued", id.span, message, "argue there how it could fail and what would show it"));
    }
}
