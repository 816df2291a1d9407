#![expect(clippy::unwrap_used, reason = "a test may panic")]

use crate::plan::*;

const PLAN: &str = include_str!("../../../tests-data/plans/register.md");

fn ids<'a>(list: impl IntoIterator<Item = &'a crate::base::diagnostic::Spanned<Id>>) -> String {
    list.into_iter().map(|id| id.value.to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_plan_in_the_form_of_the_template_is_read_whole_and_without_complaint() {
    let (plan, told) = check(PLAN);
    assert_eq!(told, [], "the fixture is sound");
    assert_eq!(plan.header.slug.as_ref().unwrap().value, "quorum-register");
    assert_eq!(plan.header.fields.len(), 6);
    assert_eq!(plan.sections.len(), 14);
    assert_eq!(ids(plan.claims.iter().map(|c| &c.id)), "C1 C2 C3");
    assert_eq!(plan.claims[1].categories, [Category::Durability]);
    assert_eq!(plan.claims[2].inferred, "yes");
    assert_eq!(ids(plan.missing_claims.iter().map(|c| &c.id)), "M1");
    assert_eq!(plan.sut_model.len(), 7);
    assert_eq!(plan.techniques.len(), 2);
    assert_eq!(plan.techniques[0].fields.len(), 4);
    assert_eq!(plan.environment[0].cell("Used by scenarios"), "S1, S2");
    assert_eq!(plan.adequacy.len(), 3);
    assert_eq!(plan.residual.len(), 1);
    assert!(plan.confidence.statement.value.starts_with("We have not observed"));
    assert_eq!((plan.not_covered.len(), plan.open_questions.len()), (2, 1));
}

#[test]
fn hypotheses_keep_title_sentence_claims_and_subsystem() {
    let (plan, _) = parse(PLAN);
    assert_eq!(ids(plan.hypotheses.iter().map(|h| &h.id)), "H1 H2 H3");
    let second = &plan.hypotheses[1];
    assert_eq!(second.title, "An acknowledgement precedes the quorum");
    assert_eq!(second.text, "the write is lost when the node that took it dies.");
    assert_eq!(ids(&second.claims), "C1 C2");
    assert_eq!(second.suspected.as_deref(), Some("acknowledgements are pipelined"));
    let subsystems: Vec<_> = plan.hypotheses.iter().map(|h| h.subsystem.as_deref().unwrap()).collect();
    assert_eq!(subsystems, ["read path", "Read path", "Load"]);
}

#[test]
fn scenarios_keep_fields_budgets_blocks_and_skeleton() {
    let (plan, _) = parse(PLAN);
    assert_eq!(ids(plan.scenarios.iter().map(|s| &s.id)), "S1 S2");
    let first = &plan.scenarios[0];
    assert_eq!(first.name.value, "linearizable_register_under_partitions");
    assert_eq!((ids(&first.falsifies), ids(&first.closes)), ("C1 C2".to_owned(), "H1 H2".to_owned()));
    assert!(first.is_serious(&plan) && !plan.scenarios[1].is_serious(&plan));
    assert_eq!(
        first.field("Workload").unwrap().value,
        "16 clients, half reads and half writes,\n8 hot keys, closed loop"
    );
    let budgets = first.budgets.as_ref().unwrap();
    assert_eq!(budgets.smoke, Budget { nodes: 3, seconds: 6, faults: 1, seeds: 1, operations: 0 });
    assert_eq!(budgets.hardening, Budget { nodes: 5, seconds: 30, faults: 5, seeds: 3, operations: 20000 });
    assert!(matches!(&budgets.release, Release::NotProvided { reason, .. } if reason == "no soak rig yet"));
    assert_eq!(first.target.as_ref().unwrap().value, "tests/auto/s1_linearizable_register.rs");
    assert_eq!(first.skeleton_language.as_ref().unwrap().value, "rust");
    assert!(first.skeleton.as_ref().unwrap().value.contains("\nfn linearizable_register"));
    assert!(first.code_blocks.is_empty());
    let block = first.model_block.as_ref().unwrap();
    assert_eq!(block.model.as_ref().unwrap().value, "`register`, one per key");
    assert!(block.reduction.is_some() && block.other.is_empty() && !first.model_block_not_applicable);
    assert!(first.surfaces.is_none() && first.surfaces_not_applicable);
    assert!(plan.scenarios[1].model_block.is_none() && plan.scenarios[1].model_block_not_applicable);
}

/// A plan with these scenarios and nothing else.
fn scenarios(body: &str) -> (Vec<Scenario>, Vec<String>) {
    let (plan, told) = parse(&format!("## 7. Scenarios\n\n{body}\n\n## 8. Not covered\n"));
    (plan.scenarios, told.into_iter().map(|d| d.rule).collect())
}

#[test]
fn scenario_headings_vary_and_none_is_dropped_silently() {
    let check = |heading: &str, id: &str, name: &str| {
        let (found, told) = scenarios(&format!("{heading}\n- **Oracle:** x\n"));
        assert_eq!(told, Vec::<String>::new(), "{heading}");
        assert_eq!((ids(found.iter().map(|s| &s.id)).as_str(), found[0].name.value.as_str()), (id, name), "{heading}");
        assert!(found[0].field("Oracle").is_some(), "{heading}");
    };
    check("### Scenario S1: a_b", "S1", "a_b");
    check("### S01: a_b", "S1", "a_b");
    check("### Scenario S1 — a_b", "S1", "a_b");
    check("### Scenario S1 - a_b", "S1", "a_b");
    check("### Scenario S1: `a_b`", "S1", "a_b");
    check("### **Scenario S1:** a_b", "S1", "a_b");
    check("#### Scenario S1: a_b", "S1", "a_b");
    for broken in ["### Scenario: a", "### Scenario 1: a", "### Scenario SX1: a", "### Scenario X1: a"] {
        let (found, told) = scenarios(broken);
        assert!(found.is_empty());
        assert_eq!(told, ["unreadable-scenario"], "{broken}");
    }
    let (plan, told) = parse("## Scenario S1: a\n- **Oracle:** x\n");
    assert_eq!((plan.scenarios.len(), told[0].rule.as_str()), (1, "scenario-outside-section"));
}

#[test]
fn model_blocks_are_found_under_every_spelling_of_their_heading() {
    for heading in [
        "#### §7.M — Model / history / checker discipline",
        "#### §7.M",
        "7.M",
        "Sec.7.M",
        "§7.M (model / history / checker discipline)",
        "##### 7.M:",
        "**§7.M**",
    ] {
        let (found, _) =
            scenarios(&format!("### S1: a\n- **Oracle:** x\n\n{heading}\n\n- **Model:** log\n- **Checker:** y\n"));
        let block = found[0].model_block.as_ref().unwrap_or_else(|| panic!("{heading}"));
        assert_eq!(block.model.as_ref().unwrap().value, "log", "{heading}");
        assert!(block.checker.is_some() && found[0].field("Oracle").is_some() && !found[0].model_block_not_applicable);
    }
    for said in [
        "§7.M: not applicable (no gated claim category falsified)",
        "§7.M: not applicable.",
        "#### §7.M — not applicable (x)",
        "#### §7.M\n\nnot applicable (x)",
        "§7.M: not\napplicable (x)",
        "#### §7.M — Model / history / checker discipline\n\n§7.M: not applicable (x)",
        "- **§7.M:** not applicable",
    ] {
        let (found, _) = scenarios(&format!("### S1: a\n- **Oracle:** x\n\n{said}\n\n§7.M.S: see above\n"));
        assert!(found[0].model_block.is_none() && found[0].model_block_not_applicable, "{said}");
        assert!(!found[0].surfaces_not_applicable, "{said}");
    }
}

#[test]
fn arms_own_their_oracle_block_and_target() {
    let (found, _) = scenarios(
        "### Scenario S5: tenants\n- **Falsifies if it FAILs:** C1\n- **Target test file:** tests/a.rs\n\n\
         #### §7.M.S — Surface decomposition\n\n- **Surfaces:** api, sdk\n- **Scenario arms:** S5/api, S5/sdk\n\n\
         #### Arm S5/api: over the api\n\n- **Oracle:** o1\n- **Target test file:** tests/api.rs\n\n\
         ##### §7.M\n\n- **Model under test:** map\n\n\
         #### Scenario arm S5/sdk\n\n- **Oracle:** o2\n",
    );
    let scenario = &found[0];
    assert_eq!(ids(scenario.arms.iter().map(|a| &a.id)), "S5/api S5/sdk");
    assert_eq!(scenario.arms[0].name.as_deref(), Some("over the api"));
    assert_eq!(scenario.arms[0].fields[0].value.value, "o1");
    assert_eq!(scenario.arms[0].target.as_ref().unwrap().value, "tests/api.rs");
    assert_eq!(scenario.arms[0].model_block.as_ref().unwrap().model.as_ref().unwrap().value, "map");
    assert!(scenario.arms[1].model_block.is_none());
    assert_eq!(scenario.surfaces.as_ref().unwrap().len(), 2);
    assert!(scenario.field("Oracle").is_none() && scenario.model_block.is_none());
    assert_eq!(scenario.target.as_ref().unwrap().value, "tests/a.rs");
}

#[test]
fn what_cannot_be_read_is_told() {
    let check = |text: &str, rule: &str| {
        let (_, told) = parse(text);
        assert!(told.iter().any(|d| d.rule == rule), "{rule}: {told:?}");
    };
    let claims = |row: &str| {
        format!("## 1b. Claims\n\n| ID | Claim | Category | Source | Inferred? |\n|---|---|---|---|---|\n{row}\n")
    };
    check(&claims("| Cx | a | safety | b | no |"), "unreadable-claim");
    check(&claims("| | a | safety | b | no |"), "unreadable-claim");
    check(&claims("| ... | ... | ... | ... | ... |"), "filler-row");
    check(&claims("| C1 | a | b | safety | c | no |"), "row-shape");
    check("## 1b. Claims\n\n| ID | Claim |\n|---|---|\n| C1 | a |\n", "missing-column");
    check("## 4. H\n\nH1 is a thing\n", "unreadable-hypothesis");
    check("## 4. H\n\n| ID | Hypothesis | Could falsify |\n|---|---|---|\n| x | y | C1 |\n", "unreadable-hypothesis");
    check("# Test Plan: x\n**Plan mode:** huge\n", "unreadable-plan-mode");
    let scenario = |field: &str| format!("## 7. Scenarios\n### S1: a\n{field}\n");
    check(&scenario("- **Falsifies if it FAILs:** the first claim"), "unreadable-id-list");
    check(&scenario("- **Falsifies if it FAILs:** C1 (and C2)"), "ambiguous-id-list");
    check(&scenario("- **Falsifies if it FAILs:** C9–C2"), "unreadable-id-list");
    check(&scenario("- **Smoke budget:** a while"), "unreadable-budget");
    check(&scenario("- **Release budget:** TBD"), "release-budget");
    check(&scenario("- **Oracle:** a\n- **Oracle:** b"), "duplicate-field");
    check(&scenario("- **Skeleton:** a test with a loop"), "skeleton-not-fenced");
    check(&scenario("- **Skeleton language:** cobol"), "unknown-skeleton-language");
    check(&scenario("- **Target test file:** a/b.rs, c/d.rs"), "several-targets");
    check(&scenario("- **Target test file:** somewhere"), "unreadable-target");
    check(&scenario("```rust\nfn a() {}\n"), "unclosed-fence");
    check("<!-- a\n\n## 7. b\n", "unclosed-comment");
}

#[test]
fn hypotheses_are_read_in_every_form() {
    let check = |body: &str, title: &str, text: &str, claims: &str| {
        let (plan, told) = parse(&format!("## 4. Hypotheses\n\n{body}\n"));
        assert_eq!(told, [], "{body}");
        let found = &plan.hypotheses[0];
        assert_eq!(
            (found.title.as_str(), found.text.as_str(), ids(&found.claims).as_str()),
            (title, text, claims),
            "{body}"
        );
    };
    check("H1. **T** — s\n  - Could falsify: C1", "T", "s", "C1");
    check("H1. **T** -- s\n- **Could falsify:** C1, C2", "T", "s", "C1 C2");
    check("- **H1. T.** s Could falsify **C1, C4**.", "T", "s Could falsify **C1, C4**.", "C1 C4");
    check("- **H1.** T — s\n  - Could falsify: C1", "T", "s", "C1");
    check("### H1: T\n\n- Could falsify: C1", "T", "", "C1");
    check("H1: T — s\n  Could falsify: C1", "T", "s", "C1");
    check("| ID | Hypothesis | Could falsify |\n|---|---|---|\n| H1 | T — s | C1, C2 |", "T", "s", "C1 C2");
}

#[test]
fn line_breaks_a_byte_order_mark_and_ascii_dashes_change_nothing() {
    let digests = |text: &str| {
        let (plan, _) = parse(text);
        plan.scenarios.iter().map(|s| scenario_digest(&plan, s)).collect::<Vec<_>>()
    };
    let expect = digests(PLAN);
    assert_eq!(digests(&PLAN.replace('\n', "\r\n")), expect);
    assert_eq!(digests(&format!("\u{feff}{PLAN}")), expect);
    let (plan, told) = check(&PLAN.replace('—', "--").replace('×', "x"));
    assert_eq!((told, plan.hypotheses[0].title.as_str()), (vec![], "A read skips its write-back"));
}

#[test]
fn hidden_text_never_counts() {
    let hidden = "```\n## 7. x\n### Scenario S9: a\n| C9 |\n```\n\n<!--\n### Scenario S8: b\n-->\n\n> ### Scenario S7: c\n> H9. **x** — y\n\n";
    let (mut plan, _) = parse(PLAN);
    let (other, told) = parse(&PLAN.replace("## 7b.", &format!("{hidden}## 7b.")));
    let notes: Vec<_> = told.iter().map(|d| (d.rule.as_str(), d.severity)).collect();
    assert_eq!(notes, [("hidden-scenario", crate::base::diagnostic::Severity::Note); 3]);
    assert_eq!((other.scenarios.len(), other.hypotheses.len(), other.claims.len()), (2, 3, 3));
    plan.scenarios.truncate(1);
    assert_eq!(other.scenarios[0], plan.scenarios[0]);
}
