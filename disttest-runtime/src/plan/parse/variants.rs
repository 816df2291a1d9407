//! The variants that format §2 asks a parser to accept, and more of what real plans hold: one table each.

use crate::base::diagnostic::{Diagnostic, Severity, Spanned};
use crate::plan::*;

fn ids<'a>(list: impl IntoIterator<Item = &'a Spanned<Id>>) -> String {
    list.into_iter().map(|id| id.value.to_string()).collect::<Vec<_>>().join(" ")
}

fn rules(told: &[Diagnostic]) -> Vec<&str> {
    told.iter().map(|d| d.rule.as_str()).collect()
}

#[test]
fn no_scenario_is_dropped_without_a_word() {
    let fields = "- **Falsifies if it FAILs:** C1\n- **Oracle:** x\n";
    let check = |body: &str, scenarios: &str, expect: &[&str]| {
        let (plan, told) = parse(&format!("# Test Plan: x\n\n## 7. Scenarios\n\n{body}"));
        assert_eq!(
            (ids(plan.scenarios.iter().map(|s| &s.id)).as_str(), rules(&told)),
            (scenarios, expect.to_vec()),
            "{body}"
        );
    };
    // Every level, with and without the word, under a group.
    for level in 1..=6 {
        let marks = "#".repeat(level);
        check(&format!("{marks} Scenario S1: a_b\n{fields}"), "S1", &[]);
        check(&format!("{marks} S1: a_b\n{fields}"), "S1", &[]);
    }
    check(&format!("### Safety\n\n#### S1: a\n{fields}\n### Liveness\n\n#### S2: b\n{fields}"), "S1 S2", &[]);
    check(&format!("## Safety\n\n### S1: a\n{fields}\n## Liveness\n\n### S2: b\n{fields}"), "S1 S2", &[]);
    check(&format!("## 7.1 Safety\n\n### S1: a\n{fields}\n## 7.2 Liveness\n\n### S2: b\n{fields}"), "S1 S2", &[]);
    check(&format!("S1: a\n-----\n{fields}\nScenario S2: b\n------\n{fields}"), "S1 S2", &[]);
    check(&format!("### S1 a_b\n{fields}---\n### `S2` — `c_d`\n{fields}***\n"), "S1 S2", &[]);
    // A heading over the fields of a scenario that names none.
    for lost in ["### a_b_c", "### 1. a_b", "### Scenario: a", "### Scenario one", "### a_b (S3)", "#### Test S3: a"] {
        check(&format!("{lost}\n{fields}"), "", &["unreadable-scenario"]);
        check(&format!("### S1: a\n{fields}\n{lost}\n{fields}"), "S1", &["unreadable-scenario"]);
    }
    check(fields, "", &["unreadable-scenario"]);
    let row = "| ID | Name |\n|---|---|\n| S1 | a_b |\n| `S2` | c_d |\n";
    check(row, "", &["unreadable-scenario", "unreadable-scenario"]);
    check(&format!("{row}\n### S2: c_d\n{fields}"), "S2", &["unreadable-scenario"]);
    check(&format!("{row}\n### S1: a_b\n{fields}\n### S2: c_d\n{fields}"), "S1 S2", &[]);
    check(&format!("### S1 Driver A — a_b\n{fields}\n### S2 Driver B — c_d\n{fields}"), "S1 S2", &[]);
    check(&format!("### S1.1: a_b\n{fields}"), "", &["unreadable-scenario"]);
    // A fence within the longer fence of a skeleton, and the lines that the skeleton starts with.
    let docstring = "- **Skeleton:**\n\n  ````python\n  # Falsifies: C1\n  ```\n  ### Scenario S7: x\n  ```\n  ````\n";
    let hidden = |text: &str| parse(text).1.into_iter().map(|told| (told.rule, told.severity)).collect::<Vec<_>>();
    let told = hidden(&format!("# Test Plan: x\n\n## 7. Scenarios\n\n### S1: a\n{fields}{docstring}"));
    assert_eq!(told, [("hidden-scenario".to_owned(), Severity::Note)]);
    check(
        &format!("### S1: a\n{fields}\n**Scenario S2: b**\n\n{fields}"),
        "S1",
        &["duplicate-field", "duplicate-field"],
    );
    // Code, comments and quotations.
    check("```\n### Scenario S1: a\n```\n", "", &["hidden-scenario"]);
    check("<!--\n### S1: a\n-->\n", "", &["hidden-scenario"]);
    check("text <!-- ### S1: a --> text\n", "", &["hidden-scenario"]);
    check("> ### Scenario S1: a\n> more\n", "", &["hidden-scenario"]);
    check("x\n\n    ### Scenario S1: a\n", "", &["hidden-scenario"]);
    check(&format!("```\n### S1: a\n{fields}"), "", &["unclosed-fence", "hidden-scenario"]);
    check("<!--\n### S1: a\n", "", &["unclosed-comment", "hidden-scenario"]);
    // A skeleton whose comments start with `#` names its own scenario.
    let python = "- **Skeleton:**\n\n  ```python\n  # Scenario: S1 a\n  ## Scenario S1: a\n  ```\n";
    check(&format!("### S1: a\n{fields}{python}"), "S1", &[]);
    // Sub-headings that carry the scenario's own id, and arms, are no scenarios.
    check(&format!("### S1: a\n{fields}\n#### S1 — model, history and checker\n\n- **Model:** log\n"), "S1", &[]);
    check(&format!("### S1: a\n{fields}\n#### Arm S1/b: c\n\n{fields}"), "S1", &[]);
    check("### Overview\n\nThe scenarios S1–S4 below.\n\n### Safety (S1–S4)\n", "", &[]);
}

#[test]
fn a_fence_that_swallows_a_scenario_is_an_error() {
    let skeleton = "- **Falsifies if it FAILs:** C1\n- **Skeleton:**\n\n```rust\nfn a() {}\n";
    let text = format!("## 7. S\n\n### S1: a\n{skeleton}\n### S2: b\n{skeleton}```\n");
    let (plan, told) = parse(&text);
    assert_eq!((plan.scenarios.len(), rules(&told)), (1, vec!["hidden-scenario"]));
    assert_eq!(told[0].severity, Severity::Error);
    assert_eq!(&text[told[0].span.start..told[0].span.end], "### S2: b");
}

#[test]
fn scenarios_outside_their_section_are_read_and_told() {
    let fields = "- **Falsifies if it FAILs:** C1\n";
    let check = |text: &str, scenarios: &str, expect: &[&str]| {
        let (plan, told) = parse(text);
        assert_eq!(
            (ids(plan.scenarios.iter().map(|s| &s.id)).as_str(), rules(&told)),
            (scenarios, expect.to_vec()),
            "{text}"
        );
    };
    check(&format!("## Scenario S1: a\n{fields}"), "S1", &["scenario-outside-section"]);
    check(&format!("## 8. Not covered\n\n### Scenario S1: a\n{fields}"), "S1", &["scenario-outside-section"]);
    check(&format!("## 6b. Environment\n\n### S1: a\n{fields}"), "S1", &["scenario-outside-section"]);
    check(&format!("### Scenario S1: a\n{fields}\n## 8. Not covered\n"), "S1", &["scenario-outside-section"]);
    check(&format!("## Scenarios\n\n### S1: a\n{fields}"), "S1", &["section-heading"]);
    check(&format!("# 7. Scenarios\n\n## S1: a\n{fields}"), "S1", &["section-heading"]);
    check(&format!("## §7 — Scenarios\n\n### S1: a\n{fields}"), "S1", &[]);
    check("## 0. Summary\n\n### Scenario: the happy path\n\n### S1: a shop\n", "", &[]);
}

#[test]
fn model_blocks_are_counted_in_every_spelling() {
    let check = |block: &str, filled: bool, said: bool| {
        let (plan, _) = parse(&format!("## 7. S\n\n### S1: a\n\n- **Oracle:** x\n\n{block}\n\n---\n\n### S2: b\n"));
        let scenario = &plan.scenarios[0];
        assert_eq!((scenario.model_block.is_some(), scenario.model_block_not_applicable), (filled, said), "{block}");
        assert!(scenario.field("Oracle").is_some_and(|oracle| oracle.value == "x"), "{block}");
        assert_eq!(plan.scenarios.len(), 2, "{block}");
    };
    let fields =
        "- Model: log\n- **History**: default schema\n- **checker:** prefix\n- Nemesis + landing: kill; pid gone\n";
    for heading in [
        "#### §7.M — Model / history / checker discipline",
        "#### §7.M",
        "### §7.M",
        "###### 7.m — model",
        "7.M",
        "Sec.7.M",
        "Sec. 7.M:",
        "Section 7.M",
        "§7.M (model / history / checker discipline)",
        "**§7.M — Model / history / checker discipline**",
        "- **§7.M:**",
        "#### Model / history / checker discipline",
        "#### S1 — model, history and checker",
    ] {
        check(&format!("{heading}\n\n{fields}"), true, false);
        check(&format!("{heading}\n{fields}"), true, false);
    }
    for sentence in [
        "§7.M: not applicable (no gated claim category falsified)",
        "§7.M: not applicable.",
        "**§7.M:** not applicable",
        "§7.M not applicable (liveness only)",
        "§7.M — N/A (liveness only)",
        "#### §7.M — not applicable (liveness only)",
        "#### §7.M\n§7.M: not applicable (no gated claim\ncategory falsified).",
        "#### §7.M\n\nNot applicable: the claim is about\nlatency.",
        "#### §7.M — Model / history / checker discipline\n\nThis block is not applicable here.",
        "7.M: not\napplicable",
    ] {
        check(sentence, false, true);
    }
    // What is said of one field is not said of the block.
    check("#### §7.M\n- **Nemesis:** none. §7.M reduction: not applicable (no fault).", true, false);
    check("#### §7.M\n\nA reduction is not applicable.\n\n- **Model:** log", true, false);
}

#[test]
fn labels_are_known_in_every_spelling() {
    let check = |line: &str, label: &str| {
        let (plan, _) = parse(&format!("## 7. S\n\n### S1: a\n\n{line} some value\n"));
        let found = plan.scenarios[0].field(label).map(|f| f.value.as_str());
        assert_eq!(found, Some("some value"), "{line}");
    };
    check("- Falsifies if it fails:", "Falsifies if it FAILs");
    check("- **FALSIFIES IF IT FAILS:**", "Falsifies if it FAILs");
    check("- **Falsifies if it FAILs**:", "Falsifies if it FAILs");
    check("- **Falsifies if it FAILs:**      ", "Falsifies if it FAILs");
    check("- **Workload**          :", "Workload");
    check("* **Workload:**", "Workload");
    check("1. **Workload:**", "Workload");
    check("**Workload:**", "Workload");
    check("Workload:", "Workload");
    check("-\t**Workload:**", "Workload");
    check("- **Background:**", "Background");
    let (plan, _) = parse(
        "## 7. S\n\n### S1: a\n\n#### §7.M\n\n- Model: log\n- History: h\n- Nemesis + landing: n\n- Reduction: r\n- Ambiguous: a\n",
    );
    let block = plan.scenarios[0].model_block.as_ref().expect("the block is there");
    let values = [&block.model, &block.history, &block.nemesis, &block.reduction, &block.ambiguous];
    let values: Vec<&str> = values.into_iter().flatten().map(|v| v.value.as_str()).collect();
    assert_eq!((values, block.other.len()), (vec!["log", "h", "n", "r", "a"], 0));
}

#[test]
fn tables_are_read_whatever_their_columns() {
    let check = |table: &str, expect: &[(&str, &str, &str)]| {
        let (plan, _) = parse(&format!("## 1b. Claims\n\n{table}\n"));
        let found: Vec<(String, &str, &str)> = plan
            .claims
            .iter()
            .map(|c| (c.id.value.to_string(), c.text.value.as_str(), c.category_text.value.as_str()))
            .collect();
        let found: Vec<(&str, &str, &str)> = found.iter().map(|(a, b, c)| (a.as_str(), *b, *c)).collect();
        assert_eq!(found, expect, "{table}");
    };
    check("| Category | Claim | ID |\n|---|---|---|\n| safety | a | C1 |", &[("C1", "a", "safety")]);
    check(
        "| # | Guarantee | Kind | Owner |\n|:--|:-:|--:|---|\n| **C1** | a | safety | me |",
        &[("C1", "a", "safety")],
    );
    check("ID | Claim | Category\n---|---|---\nC1 | a | safety", &[("C1", "a", "safety")]);
    check("| ID | Claim | Category |\n|---|---|---|\n| ~~C1~~ | ~~a~~ | safety |", &[("C1", "~~a~~", "safety")]);
    check(
        "| ID | Claim | Category |\n|---|---|---|\n| `C1` | `a|b` \\| c | safety |",
        &[("C1", "`a|b` | c", "safety")],
    );
    check("| ID | Claim | Category |\n|---|---|---|\n| [C1](#c1) | a<br>b | safety |", &[("C1", "a\nb", "safety")]);
    check(
        "| ID | Claim | Category |\n|---|---|---|\n| C1 | a | safety |\n\n| C2 | b | liveness |",
        &[("C1", "a", "safety"), ("C2", "b", "liveness")],
    );
    check(
        "### Log\n\n| ID | Claim | Category |\n|---|---|---|\n| C1 | a | safety |\n\n### Net\n\n| ID | Claim | Category |\n|---|---|---|\n| C2 | b | safety |",
        &[("C1", "a", "safety"), ("C2", "b", "safety")],
    );
    // A legend is no table of claims.
    check("| Category | Meaning |\n|---|---|\n| safety | bad things never happen |", &[]);
}

#[test]
fn a_section_is_quiet_about_tables_of_another_kind() {
    let check = |text: &str, expect: &[&str]| assert_eq!(rules(&parse(text).1), expect, "{text}");
    check("## 1b. C\n\n| Category | Meaning |\n|---|---|\n| safety | x |\n", &[]);
    check("## 1b. C\n\n- C7 is told, for no row defines it\n", &["unreadable-claim"]);
    check(
        "## 4. H\n\nH1. **a** — b\n  - Could falsify: C1\n\n| Pitfall row | Applies | Hypothesis |\n|---|---|---|\n| 1, lost updates | y | H1 |\n",
        &[],
    );
    check("## 4. H\n\nH1. **a** — b\n  - Could falsify: C1\n\n| H | Class |\n|---|---|\n| H1 | durability |\n", &[]);
    check(
        "## 6b. E\n\n| Requirement | Version | Scenarios | Install |\n|---|---|---|---|\n| a | b | all | c |\n\n| Legend | Meaning |\n|---|---|\n| x | y |\n",
        &[],
    );
    let (plan, told) = parse(
        "## 3. I\n\n| Test | Area | Invariants pinned | Catches |\n|---|---|---|---|\n| a | b | c | d |\n\n\
         | Test | Area | Invariants pinned | Catches |\n|---|---|---|---|\n| e | f | g | h |\n",
    );
    assert_eq!((plan.inventory.len(), rules(&told)), (2, vec![]));
    assert_eq!(plan.inventory[1].cell("Invariant pinned"), "g");
}

#[test]
fn the_coverage_matrix_may_be_split_in_two() {
    let (plan, told) = parse(
        "## 5. Coverage matrix\n\n### 5a. Summary\n\n| Claim | Status today | Worst gap | Top scenario(s) |\n|---|---|---|---|\n\
         | C1 (terms) | partial | no crash variant | S01 |\n\n### 5b. Detail\n\n\
         | H | Claims | Existing test | Verdict | Gap kind | Scenario |\n|---|---|---|---|---|---|\n\
         | H1 | C1,C4 | none | not covered | no test | S01 |\n",
    );
    assert_eq!(rules(&told), Vec::<&str>::new());
    assert_eq!(plan.coverage.len(), 2);
    let cells = |row: &Row| ["Claim", "Hypothesis", "Verdict", "Recommended scenario"].map(|c| row.cell(c).to_owned());
    assert_eq!(cells(&plan.coverage[0]), ["C1 (terms)", "", "partial", "S01"]);
    assert_eq!(cells(&plan.coverage[1]), ["C1,C4", "H1", "not covered", "S01"]);
    let (_, told) = parse("## 5. C\n\n| Claim | Hypothesis | Verdict |\n|---|---|---|\n| C1 | H1 | partial |\n");
    assert_eq!(rules(&told), ["missing-column"; 3]);
}

#[test]
fn filler_rows_are_told_and_do_not_count_unless_they_have_an_id() {
    let (plan, told) = parse(
        "## 1c. M\n\n| ID | Behavior the code relies on | Source / evidence | Suggested action |\n|---|---|---|---|\n\
         | ... | ... | ... | ... |\n| M2 | … | ... | ... |\n| | | | |\n| M3 | a | b | c |\n",
    );
    assert_eq!(ids(plan.missing_claims.iter().map(|m| &m.id)), "M2 M3");
    assert_eq!(rules(&told), ["filler-row", "filler-row"]);
}

#[test]
fn hypotheses_of_long_plans_are_read() {
    let (plan, told) = parse(
        "## 4. Failure-mode hypotheses\n\nGrouped. Pn is a pitfall.\n\n### Core\n\n\
         - **H1. Completeness under a cut.** An old leader\n  returns (C4, C22). Could falsify **C1, C4,\n  C5**. Suspected because: it\n  is intricate. Pitfall: **P3**.\n\
         - **H02. Divergence.** Could\n  falsify **C1–C3**, surfaces **M2**.\n- **H3. Flapping.** Could regress **C29** (drops).\n\n\
         ### Log\n\n1. **H4** — a torn write\n   - Could falsify: C9\n   - **Pitfall:** P7\n\n\
         #### H5: a title\n\n- Could falsify: C2\n\n**H6: bold title** — a sentence.\n- Could falsify: C3\n\n\
         Coverage: correctness H1; durability could falsify C40.\n",
    );
    assert_eq!(rules(&told), Vec::<&str>::new());
    let found: Vec<String> = plan
        .hypotheses
        .iter()
        .map(|h| format!("{} {} [{}] {}", h.id.value, h.title, ids(&h.claims), h.subsystem.as_deref().unwrap_or("")))
        .collect();
    assert_eq!(
        found,
        [
            "H1 Completeness under a cut [C1 C4 C5] Core",
            "H2 Divergence [C1 C2 C3] Core",
            "H3 Flapping [C29] Core",
            "H4 a torn write [C9] Log",
            "H5 a title [C2] Log",
            "H6 bold title [C3] Log",
        ]
    );
    assert_eq!(plan.hypotheses[5].text, "a sentence.");
    assert_eq!(plan.hypotheses[3].other[0].value.value, "P7");
}

#[test]
fn techniques_may_carry_ids() {
    let (plan, told) = parse(
        "## 6. Technique selection\n\nTwo of them.\n\n### T1. Jepsen + Elle (cycles)\n- **Hypotheses addressed:** H1\n\
         - **What it catches that other techniques miss:** x\n- **Reference:** r\n- **Cost:** c\n\n\
         - **T2 — Fuzzing**\n  - **Hypotheses it addresses:** H2\n\n### Technique T3: Simulation\n\n### Property testing\n",
    );
    assert_eq!(rules(&told), Vec::<&str>::new());
    let found: Vec<String> =
        plan.techniques.iter().map(|t| t.id.as_ref().map_or("-".into(), |id| id.value.to_string())).collect();
    assert_eq!(found, ["T1", "T2", "T3", "-"]);
    let labels: Vec<&str> = plan.techniques[0].fields.iter().map(|f| f.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "Hypotheses it addresses",
            "What it would catch that other techniques miss",
            "Reference",
            "Cost / wall-clock estimate"
        ]
    );
    let id = plan.techniques[2].id.as_ref().expect("the third has an id");
    assert_eq!(plan.technique(&id.value).map(|t| t.name.value.as_str()), Some("Technique T3: Simulation"));
}

#[test]
fn techniques_may_be_items_of_a_plain_list() {
    let (plan, told) = parse(
        "## 6. Technique selection\n\nTwo of them:\n\n1. Histories:\n   - **Hypotheses it addresses:** H1\n\
         \x20  - **Reference:** r\n2. Load\n\n   - **Hypotheses it addresses:** H2\n",
    );
    assert_eq!(rules(&told), Vec::<&str>::new());
    let found: Vec<(&str, usize)> = plan.techniques.iter().map(|t| (t.name.value.as_str(), t.fields.len())).collect();
    assert_eq!(found, [("Histories", 2), ("Load", 1)]);
    // A list under a technique is none of techniques.
    let (plan, _) = parse("## 6. T\n\n- **Load**\n  - **Cost:** c\n- a remark\n  - **Cost:** d\n- another\n");
    assert_eq!(plan.techniques.len(), 1);
}

#[test]
fn skeletons_are_fenced_blocks() {
    let check = |field: &str, skeleton: Option<&str>, expect: &[&str]| {
        let (plan, told) = parse(&format!("## 7. S\n\n### S1: a\n\n{field}\n\n#### §7.M: not applicable\n"));
        let found = plan.scenarios[0].skeleton.as_ref().map(|s| s.value.as_str());
        assert_eq!((found, rules(&told)), (skeleton, expect.to_vec()), "{field}");
    };
    check("- **Skeleton:**\n  ```rust\n  fn a() {}\n  ```", Some("fn a() {}\n"), &[]);
    check("- **Skeleton:** minimal\n\n  ```rust\n  fn a() {}\n  ```", Some("fn a() {}\n"), &[]);
    check("- **Skeleton:**\n\n```rust\nfn a() {}\n```", Some("fn a() {}\n"), &[]);
    check("#### Skeleton\n\n~~~rust\nfn a() {}\n~~~", Some("fn a() {}\n"), &[]);
    check(
        "```rust\n// AUTO-GENERATED from test plan: p.md\n```",
        Some("// AUTO-GENERATED from test plan: p.md\n"),
        &[],
    );
    check("- **Skeleton:** as S1 with another driver", None, &["skeleton-not-fenced"]);
    check("- **Skeleton:**\n\n      fn a() {}", None, &["skeleton-not-fenced"]);
    check("```rust\nfn a() {}\n```", None, &[]);
    check("- **Skeleton language:** clojure", None, &["unknown-skeleton-language"]);
}

#[test]
fn underlined_headings_are_headings() {
    let (plan, told) = parse(
        "Test Plan: x\n============\n\n**Plan mode:** project wide\n\n1b. Claims under test\n---------------------\n\n\
         | ID | Claim | Category | Source | Inferred? |\n|---|---|---|---|---|\n| C1 | a | safety | b | no |\n\n\
         §7 — Scenarios\n--------------\n\nScenario S1: a\n--------------\n\n- **Oracle:** x\n\n§7.M: not applicable\n---\n",
    );
    assert_eq!(rules(&told), Vec::<&str>::new());
    assert_eq!(plan.header.slug.as_ref().map(|s| s.value.as_str()), Some("x"));
    assert_eq!(plan.header.mode, PlanMode::ProjectWide);
    assert_eq!((plan.claims.len(), plan.scenarios.len(), plan.sections.len()), (1, 1, 2));
    assert!(plan.scenarios[0].model_block_not_applicable);
}

#[test]
fn line_ends_of_every_system_give_the_same_plan() {
    let text = include_str!("../../../tests-data/plans/register.md");
    let plan = parse(text).0.without_spans();
    for other in [text.replace('\n', "\r\n"), text.replace('\n', "\r"), format!("\u{feff}{text}")] {
        assert!(parse(&other).0.without_spans() == plan, "{:?}", &other[..20]);
    }
}

#[test]
fn sections_keep_the_prose_that_is_nowhere_else() {
    let (plan, _) = parse(
        "# Test Plan: x\n\n## 0. Summary\n\nText.\n\n```\npicture\n```\n\n## 1c. Missing\n\nThe docs and code appear aligned.\n\n\
         - **Persistence:** disk\n\n## 7. Scenarios\n\nTwo of them.\n\n### S1: a\n\n## Appendix A\n\nMore.\n",
    );
    let texts: Vec<&str> = plan.sections.iter().map(|s| s.text.as_str()).collect();
    assert_eq!(texts, ["Text.\n\n```\npicture\n```", "The docs and code appear aligned.", "Two of them."]);
    assert_eq!((plan.appendices[0].title.as_str(), plan.appendices[0].text.as_str()), ("Appendix A", "More."));
    assert_eq!(plan.sut_model.len(), 1);
}
