//! The engine on made-up changes, and what the real ones do to a plan.

use super::*;
use disttest_runtime::base::diagnostic::Span;
use disttest_runtime::plan;

const PLAN: &str = include_str!("../../../disttest-runtime/tests-data/plans/register.md");

fn told(rule: &str) -> Diagnostic {
    Diagnostic { rule: rule.to_owned(), ..Diagnostic::default() }
}

/// A finder that writes `to` for every `from`, one diagnostic each.
fn replacing<'a>(from: &'a str, to: &'a str) -> impl Fn(&str) -> Vec<Diagnostic> + 'a {
    move |text| {
        let found = text.match_indices(from);
        found.map(|(at, _)| told("r").with_edit(Span::new(at, at + from.len()), to)).collect()
    }
}

#[test]
fn changes_are_made_until_there_are_none() {
    let check = |text: &str, from: &str, to: &str, expect: &str, count: usize| {
        let out = mend(text, replacing(from, to));
        assert_eq!((out.text.as_str(), out.refused.as_slice()), (expect, [].as_slice()));
        assert_eq!(out.mended.get("r").copied().unwrap_or(0), count, "{text}");
    };
    check("a b a b a", "a", "c", "c b c b c", 3);
    check("aa", "a", "b", "bb", 2);
    check("aaaa", "aa", "b", "bb", 2);
    check("nothing", "x", "y", "nothing", 0);
    check("\u{feff}é a\r\nx", "a", "1\n2", "\u{feff}é 1\r\n2\r\nx", 1);
    check("a", "a", "1\n2", "1\n2", 1);
}

#[test]
fn edits_of_one_finding_are_made_together_or_not_at_all() {
    let find = |text: &str| {
        if !text.starts_with("one") {
            return Vec::new();
        }
        let broken = told("broken").with_edit(Span::new(0, 3), "X").with_edit(Span::new(90, 91), "X");
        let overlaps_itself = told("itself").with_edit(Span::new(0, 3), "X").with_edit(Span::new(2, 4), "X");
        let good = told("good").with_edit(Span::new(0, 3), "1").with_edit(Span::new(8, 13), "3");
        let overlaps = told("late").with_edit(Span::new(4, 7), "2").with_edit(Span::new(10, 11), "X");
        vec![broken, overlaps_itself, good, overlaps]
    };
    let out = mend("one two three", find);
    assert_eq!(out.text, "1 two 3");
    assert_eq!(out.mended.keys().collect::<Vec<_>>(), ["good"]);
}

#[test]
fn a_change_that_never_ends_is_stopped() {
    let out = mend("a", replacing("a", "aa b"));
    assert_eq!((out.text.as_str(), out.refused.len()), ("a", 1), "it mends nothing");
    let undo = |text: &str| {
        let to = if text == "a" { "b" } else { "a" };
        vec![told(to).with_edit(Span::new(0, 1), to)]
    };
    assert!(mend("a", undo).refused[0].contains("64 rounds"));
}

#[test]
fn a_change_that_would_alter_what_the_plan_promises_is_not_made() {
    let check = |from: &str, to: &str, why: &str| {
        let out = mend(PLAN, replacing(from, to));
        assert_eq!(out.text, PLAN, "{from}");
        assert!(out.refused.iter().any(|refused| refused.contains(why)), "{from}: {:?}", out.refused);
    };
    check("### Scenario S2", "### Scenario S9", "an id would come or go");
    check("- **Closes:** H3", "- **Closes:** H1", "more errors");
    check("**Closes:** H1, H2", "**Closes:** H2, H1", "hypotheses of S1");
    check("× 3 seeds", "× 4 seeds", "budgets of S1");
    check("tests/auto/s1_linearizable_register.rs", "tests/auto/s1.rs", "target of S1");
    check(
        "`asymmetric-data-cut` and `hard-kill`; injector",
        "`asymmetric-data-cut`; injector",
        "S1 would ask for less",
    );
    check("`linearizability` per key, and", "nothing, and", "S1 would ask for less");
    check("16 clients, half", "half", "S1 would ask for less");
    check("| durability |", "| safety |", "a claim would change");
    check("are linearizable.", "are good.", "a claim would change");
    check("# Test Plan: quorum-register", "# Test Plan: other", "header");
}

/// What the real changes are allowed to touch in a scenario: the spelling of names, and a sentence that says nothing
/// new. `edits` break a sound plan, `touched` are the parts that differ from the sound one after the repair.
#[test]
fn the_changes_of_our_own_rules_mend_what_they_are_for_and_nothing_else() {
    let check = |from: &str, to: &str, rule: &str| {
        assert!(PLAN.contains(from), "{from}");
        for line_break in ["\n", "\r\n"] {
            let sound = PLAN.replace('\n', line_break);
            let broken = PLAN.replacen(from, to, 1).replace('\n', line_break);
            let out = mend(&broken, |text| plan::check(text).1);
            let rules: Vec<&str> = out.mended.keys().map(String::as_str).collect();
            assert_eq!((rules, out.refused.len()), (vec![rule], 0), "{from} -> {to}");
            assert_eq!(plan::check(&out.text).1, [], "{from} -> {to}:\n{}", out.text);
            let ((mended, _), (sound, _)) = (plan::parse(&out.text), plan::parse(&sound));
            for (a, b) in mended.scenarios.iter().zip(&sound.scenarios) {
                assert_eq!(plan::scenario_parts(&mended, a), plan::scenario_parts(&sound, b), "{from} -> {to}");
            }
            assert_eq!(mend(&out.text, |text| plan::check(text).1).text, out.text, "a second time changes nothing");
            assert!(!out.text.replace("\r\n", "").contains('\r'));
            assert_eq!(out.text.replace("\r\n", "").contains('\n'), line_break == "\n");
        }
    };
    check("| safety |", "| saftey |", "unknown-category");
    check("| durability |", "| Durabilty |", "unknown-category");
    check("`linearizability` per key, and", "`linearizabilty` per key, and", "misspelt-checker");
    check("§7.M: not applicable (no gated claim category falsified)\n", "", "model-block-not-stated");
}

#[test]
fn a_guess_is_not_made() {
    for (from, to) in [("| safety |", "| correctness |"), ("| safety |", "| |")] {
        let broken = PLAN.replacen(from, to, 1);
        let out = mend(&broken, |text| plan::check(text).1);
        assert_eq!(out.text, broken, "{to}");
    }
}
