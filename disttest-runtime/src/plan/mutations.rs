//! Any text gives a plan and diagnostics: mutated plans, hostile texts, and the time they take.

use super::*;
use proptest::prelude::*;

const PLAN: &str = include_str!("../../tests-data/plans/register.md");

/// Pieces that mean something to the parser.
const PIECES: &[&str] = &[
    "\n",
    "\r\n",
    "|",
    "`",
    "```\n",
    "<!--",
    "-->",
    "> ",
    "### Scenario S3: x\n",
    "## 7. S\n",
    "## 1b. C\n",
    "#### §7.M\n",
    "§7.M.S",
    "- **Oracle:**",
    "**",
    "C1–C9",
    "H1. **",
    "\u{feff}",
    "é",
    "\t",
    "    ",
    "\\",
    "| --- |",
    "#### Arm S1/x\n",
    "not provided",
    "× 9999999999999999999 nodes",
    "none —",
    "{{",
    "}}",
    "1.5h",
    "\0",
    "other(",
];

/// All that may be done to a text; every span of the answer must lie in it, at character borders.
fn exercise(text: &str) {
    let (plan, told) = check(text);
    for diagnostic in &told {
        assert!(text.get(diagnostic.span.start..diagnostic.span.end).is_some(), "{diagnostic:?}");
    }
    for scenario in &plan.scenarios {
        assert!(text.get(scenario.span.start..scenario.span.end).is_some());
        let fields = scenario.fields.iter().chain(scenario.arms.iter().flat_map(|a| &a.fields));
        for field in fields {
            assert!(text.get(field.value.span.start..field.value.span.end).is_some(), "{field:?}");
        }
        assert_eq!(scenario_digest(&plan, scenario).len(), 64);
        let parts = scenario_parts(&plan, scenario);
        let labels: std::collections::HashSet<&String> = parts.iter().map(|(label, _)| label).collect();
        assert_eq!(labels.len(), parts.len(), "part labels are unique");
    }
    let again = parse(text).0;
    assert_eq!(again, plan, "the same text gives the same plan");
    let _ = (blockers(&plan), is_a_plan(&plan));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn mutated_plans_never_panic(edits in prop::collection::vec((0_usize..9000, 0_usize..40, 0..PIECES.len()), 1..12)) {
        let mut text = PLAN.to_owned();
        for (at, cut, piece) in edits {
            let mut start = at.min(text.len());
            while !text.is_char_boundary(start) { start -= 1; }
            let mut end = (start + cut).min(text.len());
            while !text.is_char_boundary(end) { end -= 1; }
            text.replace_range(start..end.max(start), PIECES[piece]);
        }
        exercise(&text);
    }

    #[test]
    fn mutated_bytes_never_panic(edits in prop::collection::vec((0_usize..9000, any::<u8>()), 10)) {
        let mut bytes = PLAN.as_bytes().to_vec();
        for (at, byte) in edits {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        exercise(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn texts_of_pieces_never_panic(pieces in prop::collection::vec(0..PIECES.len(), 0..60)) {
        exercise(&pieces.into_iter().map(|i| PIECES[i]).collect::<String>());
    }
}

#[test]
fn texts_that_are_no_plans_are_known_as_such() {
    let check = |text: &str, expect: bool| assert_eq!(is_a_plan(&parse(text).0), expect, "{text:?}");
    check(PLAN, true);
    check("", false);
    check("# A project\n\n## 1. Install\n\n## 2. Use\n", false);
    check("fn main() {}\n", false);
}

#[test]
fn no_prefix_of_a_plan_panics() {
    for end in (0..PLAN.len()).step_by(97).filter(|end| PLAN.is_char_boundary(*end)) {
        exercise(&PLAN[..end]);
    }
}
