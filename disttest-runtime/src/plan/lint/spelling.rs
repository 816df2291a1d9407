//! Rules about names that are almost names of the format, which a search for the right ones would pass over.

use super::Context;
use super::respell::{self, respelt};
use crate::base::diagnostic::{Diagnostic, Spanned};
use crate::plan::labels::FAULTS;
use crate::plan::model::ModelBlock;
use crate::plan::names::{misspelt, spellings};
use crate::plan::rules::report;

/// Shortest word outside of backticks that is taken for a name: no common word is that long.
const LONG: usize = 12;

/// A misspelt checker would not run, and beside another one nobody would miss it.
pub(super) fn misspelt_checker(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for field in blocks(context).filter_map(|block| block.checker.as_ref()) {
        let long = field.value.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
        let long = long.filter(|word| word.chars().count() >= LONG && !word.ends_with("ly"));
        tell("misspelt-checker", context, field, quoted(&field.value).chain(long), out);
    }
}

/// A misspelt nemesis would not act, a misspelt signal would not be read.
pub(super) fn misspelt_nemesis(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let faults = context.plan.scenarios.iter().filter_map(|scenario| scenario.field(FAULTS));
    for field in blocks(context).filter_map(|block| block.nemesis.as_ref()).chain(faults) {
        tell("misspelt-nemesis", context, field, quoted(&field.value), out);
    }
}

fn blocks<'p>(context: &'p Context<'_>) -> impl Iterator<Item = &'p ModelBlock> {
    let of_scenarios = context.plan.scenarios.iter().filter_map(|scenario| scenario.model_block.as_ref());
    let arms = context.plan.scenarios.iter().flat_map(|scenario| &scenario.arms);
    of_scenarios.chain(arms.filter_map(|arm| arm.model_block.as_ref()))
}

/// What stands in backticks, up to a colon (`metric:<name>`).
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).map(|name| name.split(':').next().unwrap_or(name).trim())
}

fn tell<'t>(
    rule: &'static str,
    context: &Context<'_>,
    field: &Spanned<String>,
    words: impl Iterator<Item = &'t str>,
    out: &mut Vec<Diagnostic>,
) {
    let found: std::collections::BTreeMap<&str, &str> =
        words.filter_map(|word| Some((word, misspelt(word)?))).collect();
    for (word, meant) in found {
        let message = format!("`{word}` is no name of the format, and close to one");
        let told = report(rule, field.span, message, format!("write `{meant}` if that is meant"));
        out.push(respelt(told, &context.masked, field.span, word, respell::meant(word, spellings())));
    }
}
