use super::super::{Plan, parse, render, render_in_references};
use proptest::prelude::*;
use std::sync::LazyLock;

const REGISTER: &str = include_str!("../../../tests-data/plans/register.md");

/// The plan of `text`, and the plan of what is rendered of it.
fn round(text: &str) -> (Plan, Plan, String) {
    let plan = parse(text).0;
    let page = render(&plan);
    let again = parse(&page).0;
    (plan.without_spans(), again.without_spans(), page)
}

/// Fails with the first place where two plans differ.
fn assert_same(text: &str) {
    let (plan, again, page) = round(text);
    if plan != again {
        let (a, b) = (format!("{plan:#?}"), format!("{again:#?}"));
        let differing = a.lines().zip(b.lines()).enumerate().find(|(_, (x, y))| x != y);
        let (i, (x, y)) = differing.unwrap_or((0, ("", "")));
        let around: Vec<&str> = a.lines().skip(i.saturating_sub(6)).take(8).collect();
        panic!("line {i}: {x} became {y}\n{}\n\n=== text ===\n{text:?}\n\n=== rendered ===\n{page}", around.join("\n"));
    }
    assert_eq!(render(&parse(&page).0), page, "rendering is idempotent");
    let quoted = render_in_references(&parse(text).0);
    assert!(parse(&quoted).0.without_spans() == plan, "{text:?} differs in references:\n{quoted}");
}

#[test]
fn a_plan_in_the_form_of_the_template_is_rendered_as_it_is_written() {
    assert_same(REGISTER);
    let (_, _, page) = round(REGISTER);
    let skip_blank =
        |text: &str| text.lines().filter(|l| !l.is_empty() && *l != "---").map(str::to_owned).collect::<Vec<_>>();
    let (written, rendered) = (skip_blank(REGISTER), skip_blank(&page));
    // The groups of hypotheses become the subsystem of each.
    let differing: Vec<&String> = rendered.iter().filter(|line| !written.contains(line)).collect();
    assert_eq!(
        differing,
        [
            "H2. **An acknowledgement precedes the quorum** — the write is lost when the node that took it dies.",
            "  - Subsystem: Read path",
            "  - Subsystem: Load",
            "- **What it would catch that other techniques miss:** stale reads across nodes",
            "- **Cost / wall-clock estimate:** two minutes",
            "- **What it would catch that other techniques miss:** queueing",
            "- **Cost / wall-clock estimate:** one minute",
        ]
    );
}

#[test]
fn everything_survives_a_round() {
    for text in [
        "",
        "\n\n",
        "no plan at all\n",
        "# Test Plan: x\n**Date:** y\n\nA note.\n\n---\n\nAnother.\n\n**Odd label:** z\n  more\n  > not a quote > x\n",
        "# Test Plan: `C#`\n\n## 0. S\n\n```\n## 4. x\n```\n\n## 0. Twice\n\ntext\n",
        "## 1b. C\n\n| ID | Claim | Category |\n|---|---|---|\n| C1 | a \\| `b\\|c` <br> d | odd / safety |\n| C2 | |\n",
        "## 3. I\n\n| Test | Owner |\n|---|---|\n| a | b |\n| c |\n\n| Test | Pins | Owner |\n|---|---|---|\n| a | b | c |\n",
        "## 4. H\n\nProse.\n\n- **H1. T.** s Could falsify **C1**\n  - **Pitfall:** P1\n\n### Sub\n\nH2: plain **b** — c\nH3. ****\n\nAfter.\n",
        "## 6. T\n\nTwo.\n\n**T1. Bold name**\n\n- **Cost:** c\n\nnote\n\n### 7. Scenarios\n",
        "## 7. S\n\n### S1: a\n\n- **Workload:**\n  - one\n  - two\n\nA note.\n\n```\ncode\n```\n\n- **Unknown:** x\n\n#### A heading of its own that is far too long to be the label of any bullet, as headings may be\n\ntext\n",
        "## 7. S\n\n### S1: a\n- **Skeleton language:** go\n- **Skeleton:** short\n  ```go\n  package a\n\n  \tfunc x() {}\n  ```\n",
        "## 7. S\n\n### S1: a\n\n```rust\n// AUTO-GENERATED from test plan: x\n```\n\n```\nAUTO-GENERATED from test plan: y\n```\n",
        "## 7. S\n\n### S5: a\n#### §7.M\n- **Checker:**\n#### §7.M.S\nwhy\n- **Surfaces:** a, b\n#### Arm S5/api: x\n- **Oracle:** o\n##### §7.M\n- Model: map\n- **Odd:** y\n#### S5/sdk\n",
        "## 7. S\n\n### S1: a\n#### §7.M\n\n§7.M: not\napplicable (x)\n\n§7.M.S: not applicable\n- **Checker:** c\n",
        "## Scenario S1: a\n- **Oracle:** x\n\n## 8. N\n\n- a\n  b\n- - -x\n\npara\n\n## Appendix #\n\n| a |\n|---|\n",
        "## 7d. C\n\nOne.\n\nTwo > x\n\n| Claim | Aspect | Confidence | Reason |\n|---|---|---|---|\n| C1 | a | low | b |\n",
        "## 1c. M\n\nAll appear aligned.\n\n**Note:** odd\n\n- **Persistence:** disk\n- **Ordering:** none\n",
        "## 2. SUT\n\nProse.\n\n- **Persistence:** disk\n- **Odd:** x\n\nMore prose.\n",
        "## 5. C\n\n| Claim | Status | Gap |\n|---|---|---|\n| C1 | partial | x |\n\n| H | Claims | Verdict |\n|---|---|---|\n| H1 | C1 | covered |\n",
        "<div>\n## 1c. M\n  ```\n## Appendix\n- x\n<!-- y\n## 2. S\n",
        "## 7. S\n\n### S1: `a <!-- b`\n#### Arm S1/api: ``a` <!-- -->``\n",
        "## 7. S\n\n### S1: a\n- **Oracle:** x <!-- y\n\n  z --> w\n- **Workload:** `<!-- q -->`\n",
    ] {
        assert_same(text);
    }
}

#[test]
fn the_plans_of_this_workspace_survive_a_round() {
    plans().iter().for_each(|text| assert_same(text));
}

/// Read once: a case takes one of them.
fn plans() -> &'static [String] {
    static PLANS: LazyLock<Vec<String>> = LazyLock::new(super::super::mutations::plans);
    &PLANS
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases * 2, ..ProptestConfig::default() })]

    #[test]
    fn mutated_plans_survive_a_round(plan in any::<prop::sample::Index>(), edits in super::super::mutations::edits()) {
        assert_same(&super::super::mutations::edited(plan.get::<String>(plans()), &edits));
    }

    #[test]
    fn texts_of_pieces_survive_a_round(pieces in super::super::mutations::pieces()) {
        assert_same(&pieces);
    }

    #[test]
    fn generated_plans_survive_a_round(plan in super::super::generate::plan()) {
        let again = parse(&render(&plan)).0;
        prop_assert_eq!(again.without_spans(), plan);
    }
}
