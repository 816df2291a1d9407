//! What a suppression covers, and what it can never cover.

use super::*;
use crate::plan::{check, parse};

const PLAN: &str = include_str!("../../../tests-data/plans/register.md");

/// The rules that are told of `text` and those that are suppressed.
fn told(text: &str) -> (Vec<String>, Vec<String>) {
    let (_, kept, suppressed) = crate::plan::told(text);
    (kept.into_iter().map(|d| d.rule).collect(), suppressed.into_iter().map(|s| s.diagnostic.rule).collect())
}

/// The plan with `edits` made.
fn edited(edits: &[(&str, &str)]) -> String {
    edits.iter().fold(PLAN.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    })
}

const S2: &str = "### Scenario S2";
/// Breaks `hypothesis-without-scenario` in §4 and `scenario-without-hypothesis` in S2.
const NO_CLOSES: (&str, &str) = ("- **Closes:** H3\n", "");

#[test]
fn the_plan_itself_has_nothing_to_suppress() {
    assert_eq!(told(PLAN), (vec![], vec![]));
    assert_eq!(suppressions(&parse(PLAN).0, PLAN), (vec![], vec![]));
}

#[test]
fn a_suppression_covers_what_it_stands_at_and_nothing_else() {
    let comment = "<!-- disttest:allow(scenario-without-hypothesis) — it is a canary -->";
    let kept = ["hypothesis-without-scenario"];
    let covered = |text: &str, expect: bool| {
        let (told, suppressed) = told(text);
        if expect {
            assert_eq!((told.as_slice(), suppressed.len()), (kept.map(str::to_owned).as_slice(), 1), "{text}");
        } else {
            assert!(told.contains(&"scenario-without-hypothesis".to_owned()), "{text}");
            assert!(told.contains(&"unused-suppression".to_owned()) && suppressed.is_empty(), "{told:?}\n{text}");
        }
    };
    let at = |place: &str, text: String| edited(&[NO_CLOSES, (place, &text)]);
    let s2_line = PLAN.lines().find(|line| line.starts_with(S2)).expect("it is there");
    // The scenario, from above, on and below its heading.
    covered(&at(S2, format!("{comment}\n{S2}")), true);
    covered(&at(S2, format!("{comment}\n\n---\n\n<!-- another -->\n\n{S2}")), true);
    covered(&at(s2_line, format!("{s2_line} {comment}")), true);
    covered(&at(s2_line, format!("{s2_line}\n{comment}")), true);
    covered(&at("- **Workload:** ", format!("- **Workload:** {comment} ")), false);
    covered(&at("- **Oracle:** client p99", format!("- **Oracle:** {comment} client p99")), true);
    // Its section, and the whole plan.
    covered(&at("## 7. Scenarios\n", format!("## 7. Scenarios\n\n{comment}\n\nText.\n")), true);
    covered(&at("**Date:**", format!("{comment}\n\n**Date:**")), true);
    covered(&format!("\u{feff}{}", at("**Date:**", format!("{comment}\n\n**Date:**"))), true);
    // Another scenario, another section.
    covered(&at("### Scenario S1", format!("{comment}\n### Scenario S1")), false);
    covered(&at("## 6b.", format!("{comment}\n\n## 6b.")), false);
    covered(&at("## 7b.", format!("## 7b. x\n\n{comment}\n\n## 7b.")), false);
    // Text between comment and heading: it is the scenario above that is meant.
    covered(&at(S2, format!("{comment}\n\nText.\n\n{S2}")), false);
    // No comment at all.
    for other in
        [format!("```\n{comment}\n```"), format!("`{comment}`"), format!("> {comment}"), format!("    {comment}")]
    {
        let (told, suppressed) = told(&at(s2_line, format!("{s2_line}\n\n{other}\n\n")));
        assert!(suppressed.is_empty() && told.contains(&"scenario-without-hypothesis".to_owned()), "{other}");
    }
}

#[test]
fn rules_reasons_and_marks_are_read_as_people_write_them() {
    let check = |comment: &str, expect: &[(&str, &str)]| {
        let text = edited(&[("**Date:**", &format!("{comment}\n\n**Date:**"))]);
        let (found, wrong) = suppressions(&parse(&text).0, &text);
        let found: Vec<(&str, &str)> = found.iter().map(|s| (s.rule.as_str(), s.reason.as_str())).collect();
        assert_eq!((found.as_slice(), wrong.len()), (expect, 0), "{comment} {wrong:?}");
    };
    let one = [("missing-header", "an old plan")];
    check("<!-- disttest:allow(missing-header) — an old plan -->", &one);
    check("<!-- disttest:allow(missing-header) – an old plan -->", &one);
    check("<!-- disttest:allow(missing-header) -- an old plan -->", &one);
    check("<!-- disttest:allow(missing-header) - an old plan -->", &one);
    check("<!-- disttest:allow(missing-header): an old plan -->", &one);
    check("<!--disttest:allow(`missing-header`)—an old\n     plan-->", &one);
    check("<!-- disttest: allow ( missing-header ) an old plan -->", &one);
    check(
        "<!-- disttest:allow(missing-header, missing-section,) — an old plan -->",
        &[("missing-header", "an old plan"), ("missing-section", "an old plan")],
    );
    check("<!-- a comment about disttest:allow(x) -->", &[]);
}

#[test]
fn a_suppression_that_does_not_count_is_told() {
    let check = |comment: &str, expect: &[&str], help: &str| {
        let text = edited(&[("**Date:**", &format!("{comment}\n\n**Date:**"))]);
        let (found, wrong) = suppressions(&parse(&text).0, &text);
        let rules: Vec<&str> = wrong.iter().map(|d| d.rule.as_str()).collect();
        assert_eq!(rules, expect, "{comment}");
        assert!(found.is_empty(), "{comment}");
        assert!(wrong.iter().all(|d| &text[d.span.start..d.span.end] == comment), "{comment}");
        assert!(wrong.iter().any(|d| d.help.as_deref().unwrap_or("").contains(help)), "{comment} {wrong:?}");
    };
    check("<!-- disttest:allow(missing-header) -->", &["suppression-without-reason"], "allow(missing-header) — why");
    check("<!-- disttest:allow(missing-header) — -->", &["suppression-without-reason"], "say why");
    check("<!-- disttest:allow(missing-header) — TODO. -->", &["suppression-without-reason"], "say why");
    check("<!-- disttest:allow(missing-headr) — old -->", &["unknown-suppression"], "did you mean `missing-header`");
    check("<!-- disttest:allow(nothing-like-it-x) — old -->", &["unknown-suppression"], "in the brackets");
    check("<!-- disttest:allow() — old -->", &["unknown-suppression"], "allow(rule-name)");
    check("<!-- disttest:ignore(missing-header) — old -->", &["unknown-suppression"], "allow(rule-name)");
    check("<!-- disttest:allow(missing-header — old -->", &["unknown-suppression"], "allow(rule-name)");
    check("<!-- disttest:allow(missing-oracle) — old -->", &["suppression-refused"], "mend");
    check("<!-- disttest:allow(missing-oracle) -->", &["suppression-without-reason", "suppression-refused"], "mend");
}

#[test]
fn what_a_run_relies_on_is_never_suppressed() {
    for name in RULES.iter().map(|rule| rule.name).filter(|name| !may_be_suppressed(name)) {
        let text = format!("<!-- disttest:allow({name}) — we know better -->\n\n{PLAN}");
        let (found, wrong) = suppressions(&parse(&text).0, &text);
        assert_eq!((found.len(), wrong[0].rule.as_str()), (0, "suppression-refused"), "{name}");
    }
    let text = edited(&[
        ("- **Oracle:** client p99 <= 500 ms over the whole run\n", ""),
        ("**Date:**", "<!-- disttest:allow(missing-oracle) — we know better -->\n\n**Date:**"),
    ]);
    assert_eq!(told(&text), (vec!["suppression-refused".to_owned(), "missing-oracle".to_owned()], vec![]));
    // Nor by whoever makes a suppression by hand.
    let (_, diagnostics) = check(&text);
    let by_hand = Suppression {
        rule: "missing-oracle".to_owned(),
        reason: "we know better".to_owned(),
        span: Span::new(0, 1),
        covers: Span::new(0, text.len()),
        scope: Scope::Plan,
    };
    assert!(suppress(&[by_hand], diagnostics).0.iter().any(|d| d.rule == "missing-oracle"));
}

#[test]
fn what_the_whole_plan_lacks_is_suppressed_for_the_whole_plan_only() {
    let comment = "<!-- disttest:allow(missing-section) — an excerpt -->";
    let start = PLAN.find("## 7b.").expect("it is there");
    let short = &PLAN[..start];
    let (_, suppressed) = told(&short.replacen(S2, &format!("{comment}\n{S2}"), 1));
    assert_eq!(suppressed.len(), 0);
    let (kept, suppressed) = told(&short.replacen("**Date:**", &format!("{comment}\n\n**Date:**"), 1));
    assert_eq!((kept.contains(&"missing-section".to_owned()), suppressed.len()), (false, 5));
}

#[test]
fn the_narrowest_suppression_counts_and_the_others_are_unused() {
    let comment = |why: &str| format!("<!-- disttest:allow(scenario-without-hypothesis) — {why} -->");
    let text = edited(&[
        NO_CLOSES,
        ("**Date:**", &format!("{}\n\n**Date:**", comment("whole plan"))),
        (S2, &format!("{}\n{}\n{S2}", comment("first"), comment("second"))),
    ]);
    let (plan, diagnostics) = check(&text);
    let (found, _) = suppressions(&plan, &text);
    let (kept, suppressed) = suppress(&found, diagnostics);
    assert_eq!(suppressed.iter().map(|s| s.reason.as_str()).collect::<Vec<_>>(), ["first"]);
    assert_eq!(kept.iter().filter(|d| d.rule == "unused-suppression").count(), 2, "{kept:?}");
}

#[test]
fn a_suppression_changes_no_digest_and_nothing_of_the_model_but_places() {
    let text = edited(&[(S2, &format!("<!-- disttest:allow(missing-header) — old -->\n{S2}"))]);
    let (with, without) = (parse(&text).0, parse(PLAN).0);
    for (a, b) in with.scenarios.iter().zip(&without.scenarios) {
        assert_eq!(crate::plan::scenario_digest(&with, a), crate::plan::scenario_digest(&without, b));
    }
}

#[test]
fn many_suppressions_and_many_findings_are_held_against_each_other_quickly() {
    let mut text = String::from("# Test Plan: x\n\n## 7. Scenarios\n\n");
    for n in 1..4000 {
        text.push_str(&format!("<!-- disttest:allow(missing-field) — old -->\n### Scenario S{n}: a{n}\n\n"));
    }
    let (plan, diagnostics) = check(&text);
    let (found, wrong) = suppressions(&plan, &text);
    assert_eq!((found.len(), wrong.len()), (3999, 0));
    let (kept, suppressed) = suppress(&found, diagnostics);
    assert_eq!(suppressed.len(), 4 * 3999);
    assert!(kept.iter().all(|d| d.rule != "missing-field" && d.rule != "unused-suppression"));
}

proptest::proptest! {
    /// Whatever stands round and in a comment: nothing panics, a comment is one for the parser as well, and what a run
    /// relies on is told.
    #[test]
    fn any_text_round_a_suppression_is_read(
        before in "[<>!`~# \\n\\r*|-]{0,40}",
        inside in "[a-z,() `—:\\n-]{0,40}",
        after in "[<>!`~# \\n*|-]{0,40}",
        at in 0..400_usize,
    ) {
        let at = PLAN.floor_char_boundary(at * PLAN.len() / 400);
        let text = format!("{}{before}<!-- disttest:allow(missing-oracle{inside} -->{after}{}", &PLAN[..at], &PLAN[at..]);
        let (plan, diagnostics) = check(&text);
        let lost = diagnostics.iter().filter(|d| !may_be_suppressed(&d.rule)).count();
        let (found, wrong) = suppressions(&plan, &text);
        let (kept, _) = suppress(&found, diagnostics);
        proptest::prop_assert!(found.iter().all(|s| may_be_suppressed(&s.rule)));
        proptest::prop_assert!(wrong.iter().all(|d| text.get(d.span.start..d.span.end).is_some()));
        proptest::prop_assert_eq!(kept.iter().filter(|d| !may_be_suppressed(&d.rule)).count(), lost);
    }
}
