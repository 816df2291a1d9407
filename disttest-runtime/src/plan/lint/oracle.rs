//! Rules about oracles: there is one, and a machine can check it.

use super::context::Part;
use super::{Context, enumerated, is_unfilled};
use crate::base::diagnostic::Spanned;
use crate::plan::names::checker_mentions;
use crate::plan::rules::report;
use crate::plan::told::Told;
use crate::plan::{Category, Id};
use std::sync::LazyLock;

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
    "gracefully",
    "correctly",
    "properly",
    "successfully",
    "as intended",
    "health check",
    "healthcheck",
    "health endpoint",
    "no data loss",
    "no anomal",
    "no regression",
    "no failure",
    "test passes",
    "tests pass",
    "returns 200",
    "returns ok",
    "remains consistent",
    "stays consistent",
    "is consistent",
    "are consistent",
    "remains available",
    "stays available",
    "recovers",
    "is acceptable",
    "is reasonable",
    "are acceptable",
    "are reasonable",
    "is fast",
    "are fast",
    "be fast",
    "stays fast",
    "fast enough",
    "good enough",
    "is quick",
    "is low",
    "stays low",
    "stay low",
    "remains low",
    "is responsive",
    "stays responsive",
    "no degradation",
    "no slowdown",
    "smoothly",
    "look normal",
    "looks normal",
    "nothing unusual",
    "nothing suspicious",
    "no suspicious",
    "as designed",
    "as documented",
    "seem to",
    "seems to",
    "comes back",
    "come back",
    "run fine",
    "runs fine",
    "everything is in order",
    "no alert",
    "is intact",
    "are intact",
    "stays intact",
    "is green",
    "are green",
    "green build",
    "make sense",
    "makes sense",
    "in general",
    "visual",
    "manual review",
    "manual check",
    "checked by hand",
    "a person look",
    "a person read",
    "a person check",
    "a person inspect",
    "a person review",
    "a person decide",
    "a person judge",
    "a human look",
    "a human read",
    "a human check",
    "a human inspect",
    "a human review",
    "a human decide",
    "a human judge",
    "somebody look",
    "somebody read",
    "somebody check",
    "somebody inspect",
    "somebody review",
    "somebody decide",
    "somebody judge",
    "someone look",
    "someone read",
    "someone check",
    "someone inspect",
    "someone review",
    "someone decide",
    "someone judge",
    "a reviewer look",
    "a reviewer read",
    "a reviewer check",
    "a reviewer inspect",
    "a reviewer review",
    "a reviewer decide",
    "a reviewer judge",
    "an operator look",
    "an operator read",
    "an operator check",
    "an operator inspect",
    "an operator review",
    "an operator decide",
    "an operator judge",
    "an engineer look",
    "an engineer read",
    "an engineer check",
    "an engineer inspect",
    "an engineer review",
    "an engineer decide",
    "an engineer judge",
    "we look",
    "we check",
    "we inspect",
    "we review",
    "we decide",
    "we judge",
    "looked at",
    "by eye",
    "by a person",
    "by a human",
    "by somebody",
    "human review",
    "human judg",
    "see exit criteria",
    "tbd",
];

/// What is wrong with an oracle, if anything. A vague phrase beside something that a machine can check is no matter.
pub(super) fn weakness(oracle: Option<&Spanned<String>>) -> Option<Weakness> {
    let Some(text) = oracle.map(|o| o.value.as_str()).filter(|t| !is_unfilled(t)) else {
        return Some(Weakness::Missing);
    };
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let vague = vague(&flat);
    vague.filter(|_| !is_checkable(text, &flat)).map(Weakness::Vague)
}

/// The first vague phrase of a text, by its place in the list. One walk over the words for all phrases.
fn vague(flat: &str) -> Option<&'static str> {
    static BY_FIRST: LazyLock<[Vec<usize>; 256]> = LazyLock::new(|| {
        std::array::from_fn(|first| {
            (0..VAGUE.len()).filter(|at| usize::from(VAGUE[*at].as_bytes()[0]) == first).collect()
        })
    });
    let by_first = &*BY_FIRST;
    let mut found: Option<usize> = None;
    let mut inside = false;
    for (start, c) in flat.char_indices() {
        let opens = !std::mem::replace(&mut inside, c.is_alphanumeric()) && inside;
        if !opens {
            continue;
        }
        let rest = &flat[start..];
        let first = rest.as_bytes()[0];
        let at = by_first[usize::from(first)].iter().copied().find(|at| rest.starts_with(VAGUE[*at]));
        found = [found, at].into_iter().flatten().min();
    }
    found.map(|at| VAGUE[at])
}

fn has_phrase(flat: &str, phrase: &str) -> bool {
    let starts = |at: usize| !flat[..at].chars().next_back().is_some_and(char::is_alphanumeric);
    flat.match_indices(phrase).any(|(at, _)| starts(at))
}

/// Words of a property over all of something, or of a comparison. They count in clauses without a vague phrase only:
/// `every request works` compares nothing.
const PROPERTIES: &[&str] = &[
    "every ",
    "each ",
    "for all",
    "forall",
    "exactly ",
    "at least ",
    "at most ",
    "no more than ",
    "within ",
    "zero ",
    "equal",
    "match",
    "identical",
    "same as ",
    "subset",
    "superset",
    "is a prefix",
    "invariant",
    "monoton",
    "non-decreasing",
    "strictly increasing",
    "converge",
    "is read back",
    "sum of ",
    "checksum",
    "sha256",
    "byte for byte",
    "no two ",
    "none of the ",
    "must not ",
];

/// True for a bound in words: `within 30 s`, `at most two`, `below 5%`.
fn bounded(flat: &str) -> bool {
    const BOUNDS: &[&str] = &[
        "within",
        "at most",
        "at least",
        "no more than",
        "no less than",
        "fewer than",
        "less than",
        "more than",
        "below",
        "above",
        "under",
        "exactly",
    ];
    let number = |rest: &str| {
        let word = rest.trim_start().trim_start_matches(['~', '±']);
        word.starts_with(|c: char| c.is_ascii_digit())
            || ["zero ", "one ", "two ", "three "].iter().any(|n| word.starts_with(n))
    };
    BOUNDS.iter().any(|bound| super::passage::places(flat, bound).any(|at| number(&flat[at.end..])))
}

/// A checker of the catalogue, a comparison, or a property that stands beside the vague phrase.
fn is_checkable(text: &str, flat: &str) -> bool {
    let checker = || checker_mentions(text).iter().any(|m| m.affirmed);
    let compared = ["<=", ">=", "==", "≤", "≥", "!=", "≠"].iter().any(|sign| flat.contains(sign))
        || [" < ", " > ", " = "].iter().any(|sign| flat.contains(sign));
    let property = |clause: &str| vague(clause).is_none() && PROPERTIES.iter().any(|word| has_phrase(clause, word));
    compared
        || bounded(flat)
        || checker()
        || flat.split(['.', ';', ',', ':']).flat_map(|part| part.split(" and ")).any(property)
}

/// Each scenario, or each of its arms, has an oracle.
pub(super) fn missing_oracle(context: &Context<'_>, out: &mut Told) {
    for owner in context.cases.iter().filter(|o| o.weakness == Some(Weakness::Missing)) {
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
pub(super) fn vague_oracle(context: &Context<'_>, out: &mut Told) {
    for owner in &context.cases {
        let (Some(oracle), Some(Weakness::Vague(phrase))) = (owner.oracle(), owner.weakness) else {
            continue;
        };
        let help = "name a checker, or compare a measured number with a threshold";
        let Some(passage) = owner.passage(Part::Oracle) else { continue };
        // A phrase may end within a word: `a person look` stands for `a person looks`.
        let whole = |at: usize| {
            let rest = &passage.text[at + phrase.len()..];
            at..at + phrase.len() + rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len())
        };
        let place = passage.text.find(phrase).map(whole);
        let said = place.clone().map_or(phrase, |place| &passage.text[place]);
        let span = place.map_or(oracle.span, |place| passage.span(&place));
        let message = format!("{}: `{said}` is nothing a machine can check; it counts as no oracle", owner.id.value);
        out.push(report("vague-oracle", span, message, help));
    }
}

/// A formula over groups (format §7, pattern 14).
pub(super) fn fairness_formula(context: &Context<'_>, out: &mut Told) {
    const GROUPS: &[&str] = &[
        "group*",
        "by_group",
        "worst*",
        "min_*",
        "max_*",
        "tenant*",
        "shard*",
        "queue*",
        "partition*",
        "region*",
        "priorit*",
        "user*",
        "over clients",
        "of clients",
        "client id*",
        "customer*",
        "account*",
        "stream*",
        "topic*",
        "jain*",
        "table*",
        "class*",
        "per-*",
        "per",
        "each",
        "every",
        "spread",
        "ratio",
    ];
    for case in context.cases.iter().filter(|c| context.falsifies(c.scenario, |k| k == Category::Fairness)) {
        let (Some(oracle), Some(passage)) = (case.oracle(), case.passage(Part::Oracle)) else { continue };
        if case.weakness == Some(Weakness::Missing) {
            continue;
        }
        let compares =
            ["<=", ">=", "==", "≤", "≥", "<", ">", "at most", "at least", "no more than", "no less than", "within"]
                .iter()
                .any(|sign| passage.text.contains(sign));
        if !compares || !passage.text.contains("group") && !passage.has(GROUPS) {
            let message = format!("{}: a fairness claim needs a formula over groups", case.id.value);
            let help = "write one, such as `worst_group_p99 / aggregate_p99 <= 1.5` or `min_group_throughput >= 100/s`";
            out.push(report("fairness-formula", oracle.span, message, help));
        }
    }
}

/// What the oracle of a serious scenario cannot see.
pub(super) fn oracle_blind_spot(context: &Context<'_>, out: &mut Told) {
    const SAID: &[&str] = &[
        "cannot detect*",
        "can't detect*",
        "does not detect*",
        "not detect*",
        "cannot see*",
        "does not see*",
        "cannot show*",
        "blind*",
        "misses",
        "does not catch*",
        "cannot catch*",
        "undetected",
        "out of its sight",
        "does not check*",
        "not checked",
        "cannot tell*",
        "does not cover*",
    ];
    let silent: Vec<&super::context::Case<'_>> = context
        .cases
        .iter()
        .filter(|case| case.serious && case.weakness.is_none())
        .filter(|case| {
            ![Part::Oracle, Part::Checker].into_iter().filter_map(|part| case.passage(part)).any(|p| p.has(SAID))
        })
        .collect();
    if let Some(first) = silent.first() {
        let ids: Vec<&Id> = silent.iter().map(|case| &case.id.value).collect();
        let message = format!("the oracle does not say what it cannot detect: {}", enumerated(&ids));
        let span = first.oracle().map_or(first.id.span, |oracle| oracle.span);
        out.push(report("oracle-blind-spot", span, message, "end it with `Cannot detect: …`"));
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
        check("a person looks at it", Some(Weakness::Vague("a person look")));
        check("the history is read by somebody", Some(Weakness::Vague("by somebody")));
        check("every history is checked by a human", Some(Weakness::Vague("by a human")));
        check("linearizability per key; a person looks at every FAIL", None);
        check("every acknowledged write is read back; an operator is told", None);
        check("TBD", Some(Weakness::Missing));
        check("", Some(Weakness::Missing));
        check("linearizability per key; no errors in the log", None);
        check("error_rate <= 0.1%, no errors else", None);
        check("every acknowledged write is read back at quiescence", None);
        check("networks heal", None);
        check("every acknowledged write is read at quiescence; recovery works without an operator", None);
        check("every request works", Some(Weakness::Vague("works")));
        check("the system recovers gracefully", Some(Weakness::Vague("gracefully")));
        check("health checks only", Some(Weakness::Vague("health check")));
        for nothing in ["nothing unusual in dashboards", "data is intact", "the cluster is green", "TBD by QA"] {
            let oracle = Spanned::new(nothing.to_owned(), Span::default());
            assert!(matches!(weakness(Some(&oracle)), Some(Weakness::Vague(_))), "{nothing}");
        }
        check("the worker comes back", Some(Weakness::Vague("comes back")));
        check("the worker comes back within 30 s", None);
        check("the leader recovers in less than two seconds", None);
        check("reads should be fast", Some(Weakness::Vague("be fast")));
        check("latency stays low: p99 <= 20 ms", None);
        check("no unauthorised access", Some(Weakness::Vague("no unauthori")));
        check("no leak: the rows that tenant A reads are a subset of those that it wrote", None);
        assert_eq!(weakness(None), Some(Weakness::Missing));
    }
}
