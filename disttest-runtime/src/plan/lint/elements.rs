//! Rules about claims, and about ids.

use super::passage::Passage;
use super::respell::{self, respelt};
use super::{Context, enumerated};
use crate::base::diagnostic::{Span, Spanned};
use crate::plan::labels::{CLOSES, FALSIFIES};
use crate::plan::parse::{ids_in, nearest_category};
use crate::plan::rules::report;
use crate::plan::told::Told;
use crate::plan::{Category, Id};
use rustc_hash::{FxHashMap, FxHashSet};

/// Each id is defined once.
pub(super) fn duplicate_id(context: &Context<'_>, out: &mut Told) {
    let plan = context.plan;
    let mut seen: FxHashSet<&Id> = FxHashSet::default();
    let arms = plan.scenarios.iter().flat_map(|s| s.arms.iter().map(|a| &a.id));
    let techniques: Vec<Spanned<Id>> = plan.techniques.iter().filter_map(|t| technique_id(&t.name)).collect();
    let ids = (plan.claims.iter().map(|c| &c.id))
        .chain(plan.missing_claims.iter().map(|m| &m.id))
        .chain(plan.hypotheses.iter().map(|h| &h.id))
        .chain(plan.scenarios.iter().map(|s| &s.id))
        .chain(arms)
        .chain(&techniques);
    for id in ids {
        if !seen.insert(&id.value) {
            let message = format!("{} is defined for the second time", id.value);
            out.push(report("duplicate-id", id.span, message, "give it a number of its own"));
        }
    }
}

/// The id that the name of a technique starts with: `T1. Jepsen + Elle`.
pub(super) fn technique_id(name: &Spanned<String>) -> Option<Spanned<Id>> {
    let word = name.value.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    let id = Id::parse(word).filter(|id| id.letter() == 'T')?;
    Some(Spanned::new(id, Span::new(name.span.start, name.span.start + word.len())))
}

/// What is defined in a plan.
struct Defined(FxHashSet<Id>);

impl Defined {
    fn of(context: &Context<'_>) -> Defined {
        let plan = context.plan;
        let arms = plan.scenarios.iter().flat_map(|s| s.arms.iter().map(|a| &a.id.value));
        let ids = (plan.claims.iter().map(|c| &c.id.value))
            .chain(plan.missing_claims.iter().map(|m| &m.id.value))
            .chain(plan.hypotheses.iter().map(|h| &h.id.value))
            .chain(plan.scenarios.iter().map(|s| &s.id.value));
        let techniques = plan.techniques.iter().filter_map(|t| technique_id(&t.name)).map(|id| id.value);
        Defined(ids.chain(arms).cloned().chain(techniques).collect())
    }

    /// The ids of a text that are not defined.
    fn missing(&self, text: &str, letter: char) -> impl Iterator<Item = Id> {
        ids_in(text, letter).into_iter().filter(|id| !self.0.contains(id))
    }

    /// Tells each of these where it stands in `span`; one that a range only implies, at the whole of it.
    fn tell(&self, context: &Context<'_>, ids: &[Id], span: Span, out: &mut Told) {
        let mut places = FxHashMap::default();
        for (id, place) in context.ids(span) {
            places.entry(id).or_insert(place);
        }
        ids.iter().for_each(|id| self.check(id, places.get(id).copied().unwrap_or(span), out));
    }

    fn check(&self, id: &Id, span: Span, out: &mut Told) {
        if !self.0.contains(id) && !out.only_counts("undefined-id") {
            let place = match id.letter() {
                'C' => "§1b",
                'M' => "§1c",
                'H' => "§4",
                'T' => "§6",
                _ => "§7",
            };
            let message = format!("{id} is not defined in {place}");
            out.push(report("undefined-id", span, message, format!("define {id} in {place}, or name another")));
        }
    }
}

/// Each id that is used is defined.
pub(super) fn undefined_id(context: &Context<'_>, out: &mut Told) {
    let plan = context.plan;
    let defined = Defined::of(context);
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
        let missing: Vec<Id> = defined.missing(row.cell(column), letter).collect();
        if !missing.is_empty() {
            defined.tell(context, &missing, context.cell(row, column), out);
        }
    }
    let in_scenarios = plan.scenarios.iter().flat_map(|s| {
        let with = |label: &'static str, letter: char| s.field(label).map(|field| (field, letter));
        [with(FALSIFIES, 'M'), with(CLOSES, 'M'), with("Technique", 'T')].into_iter().flatten()
    });
    let addressed = |f: &&crate::plan::model::Field| f.label == "Hypotheses it addresses";
    let in_techniques = plan.techniques.iter().flat_map(|t| t.fields.iter().filter(addressed).map(|f| (&f.value, 'H')));
    // Techniques need no ids; where none has one, a `T4` in prose is something else.
    let numbered = plan.techniques.iter().any(|t| technique_id(&t.name).is_some());
    for (field, letter) in in_scenarios.chain(in_techniques).filter(|(_, letter)| numbered || *letter != 'T') {
        let missing: Vec<Id> = defined.missing(&field.value, letter).collect();
        if !missing.is_empty() {
            defined.tell(context, &missing, field.span, out);
        }
    }
}

/// Category words.
pub(super) fn unknown_category(context: &Context<'_>, out: &mut Told) {
    for claim in &context.plan.claims {
        let id = &claim.id.value;
        let words: Vec<&str> = Category::ALL.iter().map(|c| c.as_str()).collect();
        // A cell of more such words than there are categories is told by those.
        for word in claim.unknown_categories.iter().take(Category::ALL.len()) {
            let message = format!("{id}: `{word}` is no claim category; it gates like `safety` until fixed");
            let meant = nearest_category(word);
            let help = format!("did you mean `{meant}`? The categories are {}", words.join(", "));
            let cell = claim.category_text.span;
            let place = Passage::new(context.masked, cell);
            let span = place.find(word).map_or(cell, |at| place.span(&at));
            let told = report("unknown-category", span, message, help);
            // A slip of the pen is put right; what an unknown word means is for its author to say.
            out.push(respelt(told, context.masked, cell, word, respell::meant(word, words.iter().copied())));
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

/// A scenario falsifies each claim, or the plan discloses that none does.
pub(super) fn claim_not_falsified(context: &Context<'_>, out: &mut Told) {
    let plan = context.plan;
    let falsified: FxHashSet<&Id> = plan.scenarios.iter().flat_map(|s| &s.falsifies).map(|id| &id.value).collect();
    let residual = plan.residual.iter().flat_map(|r| r.cells.iter().map(|(_, text)| text));
    let disclosed: FxHashSet<Id> =
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

/// A claim that nobody suspects of anything.
pub(super) fn claim_without_hypothesis(context: &Context<'_>, out: &mut Told) {
    let plan = context.plan;
    let suspected: FxHashSet<&Id> = plan.hypotheses.iter().flat_map(|h| &h.claims).map(|id| &id.value).collect();
    let bare: Vec<&Spanned<Id>> =
        plan.claims.iter().map(|c| &c.id).filter(|id| !suspected.contains(&id.value)).collect();
    let (Some(first), false) = (bare.first(), plan.hypotheses.is_empty()) else { return };
    let ids: Vec<&Id> = bare.iter().map(|id| &id.value).collect();
    let message = format!("no hypothesis could falsify {}", enumerated(&ids));
    let help = "ask of each how it could fail; that is a row of §4";
    out.push(report("claim-without-hypothesis", first.span, message, help));
}

/// A claim names who makes it.
pub(super) fn claim_without_source(context: &Context<'_>, out: &mut Told) {
    for claim in context.plan.claims.iter().filter(|claim| super::is_unfilled(&claim.source)) {
        let message = format!("{} names no source", claim.id.value);
        let help = "name the page, the file or the code that promises it, or mark it `(inferred)`";
        out.push(report("claim-without-source", claim.id.span, message, help));
    }
}

/// Rows of §1b, by the id of their claim.
fn row_of(context: &Context<'_>, id: &Spanned<Id>) -> Span {
    let text = context.masked;
    let start = text[..id.span.start].rfind('\n').map_or(0, |i| i + 1);
    let end = text[id.span.end..].find('\n').map_or(text.len(), |i| id.span.end + i);
    Span::new(start, end)
}

/// `no`, `yes`, `partial — <why>`.
pub(super) fn inferred_word(context: &Context<'_>, out: &mut Told) {
    for claim in context.plan.claims.iter().filter(|claim| !claim.inferred.is_empty()) {
        let bare = claim.inferred.replace(['*', '`'], "").to_lowercase();
        let word = bare.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
        let why =
            bare.trim_start().strip_prefix("partial").unwrap_or("").chars().filter(|c| c.is_alphanumeric()).count() > 2;
        let message = match word {
            "no" | "yes" => continue,
            "partial" if why => continue,
            "partial" => format!("{}: `partial` does not say which part is inferred", claim.id.value),
            _ => format!("{}: `{}` does not say whether the claim is inferred", claim.id.value, claim.inferred),
        };
        let row = row_of(context, &claim.id);
        let last = context.slice(row).rfind(claim.inferred.as_str());
        let span = last.map_or(claim.id.span, |at| Span::new(row.start + at, row.start + at + claim.inferred.len()));
        out.push(report("inferred-word", span, message, "write `no`, `yes` or `partial — <why>`"));
    }
}

/// An inferred claim says so where it is read.
pub(super) fn inferred_not_marked(context: &Context<'_>, out: &mut Told) {
    let unmarked = |claim: &&crate::plan::Claim| {
        let yes = claim.inferred.trim_start_matches(['*', '`', ' ']).to_lowercase().starts_with("yes");
        yes && ![&claim.text.value, &claim.source, &claim.inferred]
            .iter()
            .any(|text| text.to_lowercase().contains("(inferred"))
    };
    let claims: Vec<&Spanned<Id>> = context.plan.claims.iter().filter(unmarked).map(|claim| &claim.id).collect();
    if let Some(first) = claims.first() {
        let ids: Vec<&Id> = claims.iter().map(|id| &id.value).collect();
        let message = format!("inferred, and not marked so: {}", enumerated(&ids));
        out.push(report("inferred-not-marked", first.span, message, "add `(inferred)` behind the claim"));
    }
}
