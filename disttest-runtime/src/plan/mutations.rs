//! Any text gives a plan and diagnostics: mutated plans, hostile texts, and the time they take.

use super::*;
use crate::base::rng::Rng;
use proptest::prelude::*;
use std::path::Path;

const PLAN: &str = include_str!("../../tests-data/plans/register.md");

/// Every plan of the repository: those of this crate's tests, and those below `tests/`.
pub(super) fn plans() -> Vec<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in [here.join("tests-data/plans"), here.join("../tests")] {
        markdown_below(&folder, &mut found);
    }
    found.sort();
    found.dedup();
    assert!(found.iter().any(|text| text == PLAN));
    found.retain(|text| is_a_plan(&parse(text).0));
    found
}

fn markdown_below(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            markdown_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let bytes = std::fs::read(&path).expect("a file of the repository can be read");
            found.push(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}

/// Where to cut (in ten-thousandths of the text), how much, and the piece to put there.
pub(super) type Edit = (usize, usize, usize);

/// A few edits.
pub(super) fn edits() -> impl Strategy<Value = Vec<Edit>> {
    prop::collection::vec((0_usize..10_000, 0_usize..40, 0..PIECES.len()), 1..12)
}

/// The text with the edits made, one after the other.
pub(super) fn edited(text: &str, edits: &[Edit]) -> String {
    let mut text = text.to_owned();
    for (at, cut, piece) in edits {
        let mut start = at * text.len() / 10_000;
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = (start + cut).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.replace_range(start..end.max(start), PIECES[*piece]);
    }
    text
}

/// A text of pieces and nothing else.
pub(super) fn pieces() -> impl Strategy<Value = String> {
    prop::collection::vec(0..PIECES.len(), 0..60).prop_map(|all| all.into_iter().map(|i| PIECES[i]).collect())
}

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
    "# Test Plan: x\n",
    "**Plan mode:** project-wide\n",
    "## 4. H\n",
    "## 6. T\n",
    "## 8. N\n",
    "## Appendix\n",
    "## 2. SUT\n",
    "## 1c. M\n",
    "### T1. x\n",
    "H2. **x** — y\n",
    "  - Could falsify: C1\n",
    "- **Skeleton:**\n\n",
    "  ```rust\n",
    "  ```\n",
    "- ",
    "  ",
    "---\n",
    "===\n",
    "| ID | Claim | Category |\n|---|---|---|\n",
    "| C1 | x | safety |\n",
    "| Test | Pins |\n|---|---|\n",
    "not applicable",
    "<div>\n",
    "#### x\n",
    "\u{a0}",
    "\r",
    "~~~\n",
    "1. ",
    "<br>",
    " — ",
    "&#67;",
    "&#10;",
    "&#38;",
    "<details>\n",
    "</div>\n\n",
    "<pre>\n",
    "<!-- x -->\n",
    "- **Closes:** H1\n",
    "- **Checker:** ",
    "| Claim | My verdict | Verdict |\n|---|---|---|\n",
    "| ... |",
    "...",
    "# ",
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
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn mutated_plans_never_panic(edits in edits()) {
        exercise(&edited(PLAN, &edits));
    }

    #[test]
    fn texts_of_pieces_never_panic(text in pieces()) {
        exercise(&text);
    }
}

#[test]
fn ten_random_bytes_in_any_plan_never_panic() {
    for (i, plan) in plans().into_iter().enumerate() {
        let mut rng = Rng::new(i as u64);
        for _ in 0..24 {
            let mut bytes = plan.as_bytes().to_vec();
            for _ in 0..10 {
                let at = rng.below(bytes.len() as u64) as usize;
                bytes[at] = rng.below(256) as u8;
            }
            exercise(&String::from_utf8_lossy(&bytes));
        }
    }
}

#[test]
fn hostile_texts_are_read_to_the_end() {
    for kind in hostile::KINDS {
        let text = hostile::text(kind, 20_000);
        exercise(&text);
        let plan = parse(&text).0;
        let again = parse(&render(&plan)).0;
        assert!(again.without_spans() == plan.without_spans(), "{}", kind.name);
    }
}

#[test]
fn texts_that_are_no_plans_are_known_as_such() {
    let check = |text: &str, expect: bool| assert_eq!(is_a_plan(&parse(text).0), expect, "{text:?}");
    check(PLAN, true);
    // Damaged, or only begun.
    check(PLAN.split_once('\n').expect("the plan has lines").1, true);
    check(&PLAN.replace("## 1b.", "## ").replace("# Test Plan", "# Plan"), true);
    check(&PLAN[PLAN.find("## 7. Scenarios").expect("the section is there")..], true);
    check("# Test Plan: x\n", true);
    check("# Test Plan: x\n\n**Date:** today\n**Plan mode:** change-scoped\n", true);
    check("# Test Plan: p\n\n## 7. Scenarios\n\n### Scenario S1: a\n", true);
    check("## 7. Scenarios\n\n### S01: a_b\n\n- **Falsifies if it FAILs:** C1\n", true);
    check("## 1b. Claims under test\n\n## 1c. Missing claims discovered\n", true);
    check("## 1b. Behauptungen\n\n## 6b. Umgebung\n\n## 7b. Argument\n", true);
    // Another thing altogether.
    for other in [
        "",
        "\u{feff}",
        "fn main() {}\n",
        "plan:\n  - name: x\n    steps: [a, b]\n",
        "\u{0}\u{1}\u{2}PNG\u{fffd}\u{fffd}",
        "{\"schema\": \"x/1\"}",
        "# A project\n\n## 1. Install\n\n## 2. Use\n\n## 3. Licence\n",
        "# A project\n\n## Scope\n\n## Scenarios\n\n### Scenario S1: Baseline\n\nEmit a stream.\n\n### Scenario S2: Lag\n",
        "# Testplan: Warenkorb\n\n**Version:** 1.0\n**Status:** Entwurf\n\n## 1. Einleitung\n\n## 2. Testobjekte\n\n## 3. Testumgebung\n\n### Testfall TF-1: Anmelden\n\n- **Schritte:** ...\n",
        "# Test Plan: Checkout\n\n**Version**: 1.0\n**Date**: 27 March\n**Status**: Ready\n\n## 1. Introduction\n\n## 2. Test items\n\n## 3. Features to be tested\n\n## 4. Approach\n\n## 5. Pass/fail criteria\n\n## 6. Environmental needs\n",
        "# Test Plan: Slicing and filtering\n\n## Scope\n\n## Test cases\n\n### S1: Filter by date\n\n**Steps:** click\n",
        "# Notes on §7.M\n\nThe block `§7.M` has a model.\n",
    ] {
        check(other, false);
    }
}

#[test]
fn no_prefix_of_a_plan_panics() {
    for end in (0..PLAN.len()).step_by(97).filter(|end| PLAN.is_char_boundary(*end)) {
        exercise(&PLAN[..end]);
    }
}
