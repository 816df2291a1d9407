//! Rules about oracles: there is one, and a machine can check it.

use super::{Context, is_unfilled};
use crate::base::diagnostic::{Diagnostic, Spanned};
use crate::plan::names::{CHECKERS, mentions};
use crate::plan::rules::report;

/// Why an oracle is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Weakness {
    /// There is none.
    Missing,
    /// It says this, and nothing a machine could check.
    Vague(&'static str),
}

/// Phrases of oracles that check nothing, in lower case.
const VAGUE: &[&str] = &[
    "look fine",
    "looks fine",
    "look right",
    "looks right",
    "look good",
    "looks good",
    "look ok",
    "looks ok",
    "looks correct",
    "look correct",
    "no error",
    "no exception",
    "no leak",
    "no unauthori",
    "works",
    "as expected",
    "behaves correctly",
    "behaves properly",
    "seems fine",
    "seems right",
    "is fine",
    "are fine",
    "is healthy",
    "stays healthy",
    "are healthy",
    "nothing breaks",
    "no crash",
    "no panic",
    "is ok",
    "is stable",
    "stays up",
    "manual inspection",
    "inspect manually",
    "eyeball",
    "is correct",
    "are correct",
    "no problems",
    "no issues",
];

/// What is wrong with an oracle, if anything. A vague phrase beside something that a machine can check is no matter.
pub(super) fn weakness(oracle: Option<&Spanned<String>>) -> Option<Weakness> {
    let Some(text) = oracle.map(|o| o.value.as_str()).filter(|t| !is_unfilled(t)) else {
        return Some(Weakness::Missing);
    };
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let vague = VAGUE.iter().find(|phrase| has_phrase(&flat, phrase));
    vague.filter(|_| !is_checkable(text, &flat)).map(|phrase| Weakness::Vague(phrase))
}

fn has_phrase(flat: &str, phrase: &str) -> bool {
    let starts = |at: usize| !flat[..at].chars().next_back().is_some_and(char::is_alphanumeric);
    flat.match_indices(phrase).any(|(at, _)| starts(at))
}

/// A checker of the catalogue, or a comparison.
fn is_checkable(text: &str, flat: &str) -> bool {
    let checker = mentions(CHECKERS, text).iter().any(|m| m.affirmed);
    let compared = ["<=", ">=", "==", "≤", "≥", "!=", "≠"].iter().any(|sign| flat.contains(sign))
        || [" < ", " > ", " = "].iter().any(|sign| flat.contains(sign));
    checker || compared
}

/// Each scenario, or each of its arms, has an oracle.
pub(super) fn missing_oracle(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for owner in context.owners().filter(|o| weakness(o.oracle()) == Some(Weakness::Missing)) {
        let span = owner.oracle().filter(|o| !o.value.is_empty()).map_or(owner.id.span, |o| o.span);
        let message = format!("{} has no oracle", owner.id.value);
        out.push(report(
            "missing-oracle",
            span,
            message,
            "write `- **Oracle:** <a machine-checkable property or threshold>`",
        ));
    }
}

/// Each oracle is machine-checkable.
pub(super) fn vague_oracle(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for owner in context.owners() {
        let (Some(oracle), Some(Weakness::Vague(phrase))) = (owner.oracle(), weakness(owner.oracle())) else {
            continue;
        };
        let message = format!("{}: `{phrase}` is nothing a machine can check; it counts as no oracle", owner.id.value);
        let help = "name a checker, or compare a measured number with a threshold";
        out.push(report("vague-oracle", oracle.span, message, help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::diagnostic::Span;

    #[test]
    fn an_oracle_without_anything_to_check_is_vague() {
        let check = |text: &str, expect: Option<Weakness>| {
            let oracle = Spanned::new(text.to_owned(), Span::default());
            assert_eq!(weakness(Some(&oracle)), expect, "{text}");
        };
        check("logs look fine", Some(Weakness::Vague("look fine")));
        check("No errors in the log.", Some(Weakness::Vague("no error")));
        check("the output looks\nright", Some(Weakness::Vague("looks right")));
        check("it works", Some(Weakness::Vague("works")));
        check("No errors; linearizability is not checked", Some(Weakness::Vague("no error")));
        check("TBD", Some(Weakness::Missing));
        check("", Some(Weakness::Missing));
        check("linearizability per key; no errors in the log", None);
        check("error_rate <= 0.1%, no errors else", None);
        check("every acknowledged write is read back at quiescence", None);
        check("networks heal", None);
        assert_eq!(weakness(None), Some(Weakness::Missing));
    }
}
