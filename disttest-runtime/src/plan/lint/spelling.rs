//! Rules about names that are almost names of the format, which a search for the right ones would pass over.

use super::Context;
use super::respell::{self, respelt};
use crate::base::diagnostic::{Span, Spanned};
use crate::base::nearest::distance;
use crate::plan::labels::{self, FAULTS, NOTES};
use crate::plan::model::{Field, ModelBlock};
use crate::plan::names::{misspelt, spellings};
use crate::plan::rules::report;
use crate::plan::told::Told;
use std::collections::{BTreeMap, HashMap};

/// Shortest word outside of backticks that is taken for a name: no common word is that long.
const LONG: usize = 12;

/// So many misspelt names of one field are told.
const MOST: usize = 32;

/// Known names that words were meant to be, each word looked up once.
type Seen = HashMap<String, Option<&'static str>>;

/// A misspelt checker would not run, and beside another one nobody would miss it.
pub(super) fn misspelt_checker(context: &Context<'_>, out: &mut Told) {
    let mut seen = Seen::new();
    for field in blocks(context).filter_map(|block| block.checker.as_ref()) {
        let long = field.value.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
        let long = long.filter(|word| word.chars().count() >= LONG && !word.ends_with("ly"));
        tell(context, "misspelt-checker", field, quoted(&field.value).chain(long), &mut seen, out);
    }
}

/// A misspelt nemesis would not act, a misspelt signal would not be read.
pub(super) fn misspelt_nemesis(context: &Context<'_>, out: &mut Told) {
    let mut seen = Seen::new();
    let faults = context.plan.scenarios.iter().filter_map(|scenario| scenario.field(FAULTS));
    for field in blocks(context).filter_map(|block| block.nemesis.as_ref()).chain(faults) {
        tell(context, "misspelt-nemesis", field, quoted(&field.value), &mut seen, out);
    }
}

fn blocks<'p>(context: &Context<'p>) -> impl Iterator<Item = &'p ModelBlock> {
    let of_scenarios = context.plan.scenarios.iter().filter_map(|scenario| scenario.model_block.as_ref());
    let arms = context.plan.scenarios.iter().flat_map(|scenario| &scenario.arms);
    of_scenarios.chain(arms.filter_map(|arm| arm.model_block.as_ref()))
}

/// What stands in backticks, up to a colon (`metric:<name>`).
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).map(|name| name.split(':').next().unwrap_or(name).trim())
}

fn tell<'t>(
    context: &Context<'_>,
    rule: &'static str,
    field: &Spanned<String>,
    words: impl Iterator<Item = &'t str>,
    seen: &mut Seen,
    out: &mut Told,
) {
    let mut found: BTreeMap<&str, &str> = BTreeMap::new();
    for word in words {
        if !seen.contains_key(word) {
            seen.insert(word.to_owned(), misspelt(word));
        }
        if let Some(Some(meant)) = seen.get(word) {
            found.insert(word, meant);
        }
    }
    // More would be no field that a person wrote.
    for (word, meant) in found.into_iter().take(MOST) {
        let message = format!("`{word}` is no name of the format, and close to one");
        let place = context.word(field.span, word).unwrap_or(field.span);
        let told = report(rule, place, message, format!("write `{meant}` if that is meant"));
        out.push(respelt(told, context.masked, field.span, word, respell::meant(word, spellings())));
    }
}

/// A label that is almost one of the format: its field is kept, and read by nobody.
pub(super) fn misspelt_label(context: &Context<'_>, out: &mut Told) {
    let mut seen: HashMap<&str, Option<&'static str>> = HashMap::new();
    for scenario in &context.plan.scenarios {
        let arms =
            scenario.arms.iter().flat_map(|arm| arm.fields.iter().chain(arm.model_block.iter().flat_map(|b| &b.other)));
        let own = scenario.fields.iter().chain(scenario.model_block.iter().flat_map(|block| &block.other));
        for field in own.chain(scenario.surfaces.iter().flatten()).chain(arms) {
            let label = field.label.as_str();
            let meant = *seen.entry(label).or_insert_with(|| label_meant(label));
            let Some(meant) = meant else { continue };
            let message = format!("{}: `{label}` is no label of the format, and close to one", scenario.id.value);
            let place = label_before(context, field);
            let told = report(
                "misspelt-label",
                place.unwrap_or(field.value.span),
                message,
                format!("write `{meant}` if that is meant"),
            );
            out.push(match place {
                Some(place) => told.with_edit(place, meant),
                None => told,
            });
        }
    }
}

/// The label that this one, which is none, was meant to be.
fn label_meant(label: &str) -> Option<&'static str> {
    let sets = [labels::SCENARIO, labels::MODEL_BLOCK, labels::SURFACES];
    if label == NOTES
        || !(5..=40).contains(&label.chars().count())
        || sets.iter().any(|set| labels::find(set, label).is_some())
    {
        return None;
    }
    let lower = label.to_lowercase();
    let length = lower.chars().count();
    let allowed = if length < 8 { 1 } else { 2 };
    // Of another length, it is no misspelling of that one.
    let known = sets.iter().flat_map(|set| set.iter()).map(|label| label.name);
    let known = known.filter(|name| name.chars().count().abs_diff(length) <= allowed);
    let near = known.map(|name| (distance(&lower, &name.to_lowercase()), name)).filter(|(off, _)| *off <= allowed);
    near.min_by_key(|(off, _)| *off).map(|(_, name)| name)
}

/// Where the label of a field stands: in front of its value.
fn label_before(context: &Context<'_>, field: &Field) -> Option<Span> {
    let mut from = field.value.span.start.saturating_sub(160);
    while !context.masked.is_char_boundary(from) {
        from += 1;
    }
    let before = context.masked.get(from..field.value.span.start)?;
    let at = from + before.rfind(field.label.as_str())?;
    Some(Span::new(at, at + field.label.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_are_almost_ones_of_the_format_are_known() {
        let check = |label: &str, expect: Option<&str>| assert_eq!(label_meant(label), expect, "{label}");
        check("Worklaod", Some("Workload"));
        check("Falsfies if it FAILs", Some("Falsifies if it FAILs"));
        check("Smoke budgett", Some("Smoke budget"));
        check("Oracle", None);
        check("Background", None);
        check("Priority", None);
        check("Model", None);
        check("Notes", None);
    }
}
