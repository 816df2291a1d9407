use crate::plan::{blockers, check, parse};

const PLAN: &str = include_str!("../../../tests-data/plans/register.md");
const WIDE: &str = include_str!("../../../tests-data/plans/gateway.md");

/// Rules that the fixture breaks after an edit.
fn broken(from: &str, to: &str) -> Vec<String> {
    assert!(PLAN.contains(from), "{from}");
    let (_, told) = check(&PLAN.replacen(from, to, 1));
    let mut rules: Vec<String> = told.into_iter().map(|d| d.rule).collect();
    rules.sort();
    rules.dedup();
    rules
}

#[test]
fn each_requirement_that_is_broken_is_told_and_nothing_else() {
    let mut wrong = Vec::new();
    let mut check = |from: &str, to: &str, expect: &[&str]| {
        let found = broken(from, to);
        if found != expect {
            wrong.push(format!("{from} -> {to}: {found:?}, not {expect:?}"));
        }
    };
    // The document.
    check("# Test Plan: quorum-register\n", "", &["missing-header"]);
    check("**Status:** reviewed\n", "", &["missing-header"]);
    check("## 0. Architectural", "## Architectural", &["missing-section"]);
    check("change-scoped", "project-wide", &["missing-section", "scope-incomplete"]);
    check("- **Ordering:** tags of counter and node\n", "", &["sut-model-bullet"]);
    check("Linux | 5.10", "{{requirement}} | 5.10", &["placeholder"]);
    check("a later read", "C<x> a later read", &["placeholder"]);
    check("## 1. Scope", "```text\nclient ──▶ {{component}}\n```\n\n## 1. Scope", &["placeholder"]);
    check("## 1. Scope", "```\n{{component}}\n```\n\n## 1. Scope", &["placeholder"]);
    check("## 1. Scope", "```yaml\nname: {{ .Values.name }}\n```\n\n## 1. Scope", &[]);
    check("## 1. Scope", "<!-- {{a comment}} -->\n\n## 1. Scope", &[]);
    check("// TODO 1. Workload", "// TODO {{1}} Workload", &[]);
    check("- **Reference:** `references/jepsen-and-elle.md`\n", "", &["technique-without-reference"]);
    let in_a_line = |line: &str| {
        let (before, rest) = PLAN.split_once("## 6. ").expect("a section");
        let (title, rest) = rest.split_once('\n').expect("a title");
        let (_, after) = rest.split_once("## 6b").expect("another section");
        format!("{before}## 6. {title}\n\n- **jepsen-and-elle** — {line}\n- **fuzzing** — {line}\n\n## 6b{after}")
    };
    let about = |text: &str| {
        let (_, told) = crate::plan::check(text);
        let mut rules: Vec<String> = told.into_iter().map(|told| told.rule).collect();
        rules.retain(|rule| matches!(rule.as_str(), "technique-without-reference" | "technique-incomplete"));
        rules
    };
    assert_eq!(
        about(&in_a_line("H1, H2; catches lost updates; `references/fuzzing.md`; 20 min")),
        Vec::<String>::new()
    );
    assert!(about(&in_a_line("H1")).contains(&"technique-without-reference".to_owned()));
    check("| disks that lie | no rig | one vendor | with a second vendor |", "", &["section-empty"]);
    check(
        "| disks that lie | no rig | one vendor | with a second vendor |",
        "| ... | ... | ... | ... |",
        &["filler-row", "section-empty"],
    );
    check("| C3 | (a) queueing | S2 (a) | open loop |\n", "", &["claim-not-argued"]);
    // Claims, hypotheses, ids.
    check("| safety |", "| saftey |", &["unknown-category"]);
    check("| safety |", "| |", &["unknown-category"]);
    check(
        "| performance-SLO |",
        "| performance |",
        &["model-block-missing", "oracle-blind-spot", "unknown-category", "unresolved-checker"],
    );
    check("| M1 |", "| M1 | x |", &["row-shape"]);
    check("| C2 | An", "| C1 | An", &["duplicate-id", "undefined-id"]);
    check("- Could falsify: C3", "- Could falsify: C9", &["claim-without-hypothesis", "undefined-id"]);
    check("  - Could falsify: C3\n", "", &["claim-without-hypothesis", "hypothesis-without-claim"]);
    check("- **Closes:** H3", "- **Closes:** H1", &["hypothesis-without-scenario"]);
    check("- **Falsifies if it FAILs:** C1, C2", "- **Falsifies if it FAILs:** C1", &["claim-not-falsified"]);
    check("S1 (a)(b)", "S4 (a)(b)", &["undefined-id"]);
    check("of one key are linearizable", "of one tenant are linearizable", &[]);
    check("are linearizable. | safety", "are hidden from other tenants. | isolation", &["boundary-wording"]);
    check("are linearizable. | safety", "of shop A never show shop B's. | isolation", &["boundary-wording"]);
    check("are linearizable. | safety", "need an API key of their shop. | isolation", &["boundary-wording"]);
    check("are linearizable. | safety", "of shop A and of shop A are one. | isolation", &[]);
    check("are linearizable. | safety", "of client A see no dirty read of client B. | isolation", &[]);
    // Scenarios.
    check("- **Technique:** Load test\n", "", &["missing-field"]);
    check("- **Closes:** H3\n", "", &["hypothesis-without-scenario", "scenario-without-hypothesis"]);
    check("- **Falsifies if it FAILs:** C3\n", "", &["claim-not-falsified", "scenario-without-claim"]);
    check("- **Oracle:** client p99 <= 500 ms over the whole run\n", "", &["missing-oracle"]);
    check("client p99 <= 500 ms over the whole run", "TBD", &["missing-oracle"]);
    check("client p99 <= 500 ms over the whole run", "logs look fine", &["vague-oracle"]);
    check("client p99 <= 500 ms over the whole run", "a person looks at it", &["vague-oracle"]);
    check("× 6s × 1 fault × 1 seed", "× 6s × 0 faults × 1 seed", &["smoke-without-fault"]);
    check("`linearizability` per key, and", "`linearizabilty` per key, and", &["misspelt-checker"]);
    check("`linearizability` per key, and", "linearizabilty per key, and", &["misspelt-checker"]);
    check("`asymmetric-data-cut` and `hard-kill` in turn", "`asymetric-data-cut`, `hard-kill`", &["misspelt-nemesis"]);
    check("none — the claim is about the steady state", "none", &["no-fault-without-reason"]);
    check("§7.M: not applicable (no gated claim category falsified)\n", "", &["model-block-not-stated"]);
    check("| performance-SLO |", "| ordering |", &["model-block-missing", "oracle-blind-spot", "unresolved-checker"]);
    check("- **Reduction plan:** three nodes, one key, one window, the same seed\n", "", &["model-block-field"]);
    check("- **Operation history:** default schema, in-process", "- **Operation history:**", &["model-block-field"]);
    check("- **Model under test:** `register`, one per key\n", "", &["model-block-field"]);
    check(
        "§7.M.S: not applicable (no boundary",
        "§7.M: not applicable (no boundary",
        &["model-block-contradicts", "surfaces-not-stated"],
    );
    check("| performance-SLO |", "| fairness |", &["fairness-formula", "surfaces-missing"]);
    check("`linearizability` per key, and `no-lost-ack`\n", "`linearizability` per key\n", &[]);
    check("`register`, one per key", "`session`", &["checker-misfit"]);
    check("| durability |", "| idempotency |", &[]);
    check("| durability |", "| durability, ordering, membership |", &["split-into-arms"]);
    // A tier that cannot be read hides no weakness of another.
    check(
        "3 seeds × 20000 operations\n- **Release budget:** not provided — no soak rig yet. Revisit when: a machine can run it overnight.",
        "2 seeds × 20000 operations\n- **Release budget:** TBD",
        &["hardening-seeds", "release-budget"],
    );
    check(
        "`linearizability` per key, and",
        "`linearizability`, idempotency key = op_id, and",
        &["idempotency-key-is-op-id"],
    );
    check("may have happened", "may have happened; key = op_id", &[]);
    // Landing evidence.
    check(
        "injector: `proxy-dropped-bytes`,\n  `process-exit`; victim",
        "victim",
        &["landing-victim-only", "unresolved-fault"],
    );
    check("; victim: `client-timeouts`, `metric:peer-timeouts`", "", &["landing-injector-only", "unresolved-fault"]);
    check("`proxy-dropped-bytes`,\n  `process-exit`", "`proxy-dropped-bytes`", &["landing-misfit"]);
    check(
        "injector: `proxy-dropped-bytes`,\n  `process-exit`; victim: `client-timeouts`, `metric:peer-timeouts`",
        "the injector reported success",
        &["landing-not-evidence", "unresolved-fault"],
    );
    check(
        "; injector: `proxy-dropped-bytes`,\n  `process-exit`; victim: `client-timeouts`, `metric:peer-timeouts`",
        "",
        &["landing-missing", "unresolved-fault"],
    );
    // Budgets.
    check("- **Smoke budget:** 3 nodes × 6s × 1 fault × 1 seed\n", "", &["missing-budgets"]);
    check("3 nodes × 6s × 1 fault × 1 seed", "TBD", &["unreadable-budget"]);
    check("3 nodes × 6s × 1 fault × 1 seed", "5 nodes × 6s × 1 fault × 1 seed", &["budget-not-stronger"]);
    check(
        "3 nodes × 6s × 1 fault × 1 seed",
        "3 nodes × 6s × 1 fault × 1 seed × 30000 operations",
        &["budget-not-stronger"],
    );
    check("30s × 5 faults", "30s × no faults", &["budget-faults", "budget-not-stronger"]);
    check("10s × 0 faults × 1 seed", "10s × 1 fault × 1 seed", &["budget-faults", "budget-not-stronger"]);
    check(
        "not provided — no soak rig yet. Revisit when: a machine can run it overnight.",
        "see §6b",
        &["release-budget"],
    );
    check("5 nodes × 1h × 0 faults × 10 seeds", "5 nodes × 1h × 0 faults × 2 seeds", &["release-not-stronger"]);
    check("5 nodes × 1h × 0 faults × 10 seeds", "1h × 10 seeds × bootstrap CI on p99", &["unmeasured-budget"]);
    // Targets.
    check("`tests/auto/s1", "`/tests/auto/s1", &["target-outside"]);
    check("`tests/auto/s1", "`tests/../../auto/s1", &["target-outside"]);
    check("s1_linearizable_register.rs", "s1_linearizable_register.py", &["target-suffix"]);
    check("tests/auto/s2_bounded_latency.rs", "./tests/auto/s1_linearizable_register.rs", &["target-taken"]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_idempotency_check_keyed_on_op_id_is_refused() {
    let plan = PLAN
        .replace("| durability |", "| idempotency |")
        .replace("and `no-lost-ack`\n", "and `exactly-once` keyed by op_id\n");
    let rules: Vec<String> = check(&plan).1.into_iter().map(|d| d.rule).collect();
    assert_eq!(rules, ["idempotency-key-is-op-id"]);
}

#[test]
fn arms_need_their_own_oracle_and_block() {
    let arms = "#### §7.M.S — Surface decomposition\n\n- **Surfaces:** api, sdk, jobs\n- **Scenario arms:** S2/api, S2/sdk\n\n\
                #### Arm S2/api: over the api\n\n- **Oracle:** client p99 <= 500 ms\n\n";
    let (plan, told) =
        check(&PLAN.replace("## 7b.", &format!("{arms}## 7b.")).replace("| performance-SLO |", "| boundary |"));
    let rules: Vec<&str> = told.iter().map(|d| d.rule.as_str()).collect();
    assert!(rules.iter().filter(|r| **r == "arm-incomplete").count() == 2, "{rules:?}");
    assert!(rules.contains(&"surfaces-field"), "{rules:?}");
    assert!(blockers(&plan).is_empty());
}

#[test]
fn a_run_is_blocked_by_a_scenario_without_oracle_or_budgets() {
    let check = |from: &str, to: &str, expect: &[(&str, &str)]| {
        let (plan, _) = parse(&PLAN.replacen(from, to, 1));
        let found: Vec<(String, &str)> = blockers(&plan).into_iter().map(|b| (b.id.to_string(), b.lacks)).collect();
        let found: Vec<(&str, &str)> = found.iter().map(|(id, lacks)| (id.as_str(), *lacks)).collect();
        assert_eq!(found, expect, "{from} -> {to}");
    };
    check("x", "x", &[]);
    check("client p99 <= 500 ms over the whole run", "no errors", &[("S2", "an oracle")]);
    check("- **Release budget:** not", "- **Exit criteria:** not", &[("S1", "budget tiers")]);
}

#[test]
fn an_arm_is_asked_for_its_own_budgets_before_those_of_its_scenario() {
    const SMOKE: &str = "- **Smoke budget:** 1 node × 2s × 0 faults × 1 seed\n";
    const HARDENING: &str = "- **Hardening budget:** 3 nodes × 30s × 0 faults × 3 seeds\n";
    const RELEASE: &str = "- **Release budget:** not provided — no rig. Revisit when: there is one.\n";
    let all = [SMOKE, HARDENING, RELEASE].concat();
    let unread = all.replace("3 nodes", "many nodes");
    let check = |scenario: &str, api: &str, sdk: &str, blocked: &[&str], told: &[&str]| {
        let text = format!(
            "# Test Plan: p\n\n## 7. Scenarios\n\n### Scenario S5: apart\n- **Faults:** none — about access\n{scenario}\n\
             #### Arm S5/api\n- **Oracle:** linearizability per key\n{api}\n\
             #### Arm S5/sdk\n- **Oracle:** linearizability per key\n{sdk}"
        );
        let (plan, found) = check(&text);
        let ids: Vec<String> = blockers(&plan).iter().map(|b| format!("{} {}", b.id, b.lacks)).collect();
        assert_eq!(ids, blocked.iter().map(|id| format!("{id} budget tiers")).collect::<Vec<_>>(), "{text}");
        let missing = found.iter().filter(|d| d.rule == "missing-budgets").map(|d| d.message.as_str());
        let at: Vec<&str> = missing.map(|message| message.split(' ').next().unwrap_or_default()).collect();
        assert_eq!(at, told, "{text}");
    };
    check(&all, "", "", &[], &[]);
    check("", &all, &all, &[], &[]);
    check("", "", "", &["S5"], &["S5"]);
    check("", &all, "", &["S5/sdk"], &["S5/sdk"]);
    check(SMOKE, &all, HARDENING, &["S5/sdk"], &["S5/sdk"]);
    check(&all, &unread, "", &["S5/api"], &[]);
    check(&unread, &all, &all, &[], &[]);
}

#[test]
fn every_diagnostic_belongs_to_a_rule_of_the_catalogue() {
    let (_, told) = check(&PLAN.replace('C', "X").replace("###", "##").replace("**", ""));
    assert!(told.len() > 5);
    for diagnostic in told {
        assert!(crate::plan::rule(&diagnostic.rule).is_some(), "{diagnostic:?}");
        assert!(diagnostic.help.is_some_and(|help| !help.is_empty()));
    }
}

#[test]
fn a_sound_plan_of_either_mode_raises_nothing() {
    for plan in [PLAN, WIDE] {
        assert_eq!(check(plan).1, []);
        assert_eq!(check(&plan.replace('\n', "\r\n")).1, []);
    }
}

/// The rules that `plan` breaks after edits.
fn rules(plan: &str, edits: &[(&str, &str)]) -> Vec<String> {
    let text = edits.iter().fold(plan.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    });
    let found: std::collections::BTreeSet<String> = check(&text).1.into_iter().map(|d| d.rule).collect();
    found.into_iter().collect()
}

/// What the pages do not show: other forms of what is wrong, and what only looks wrong.
#[test]
fn variants_that_are_wrong_are_told_and_variants_that_are_right_are_not() {
    let mut wrong = Vec::new();
    let mut check = |plan: &str, from: &str, to: &str, expect: &[&str]| {
        let found = rules(plan, &[(from, to)]);
        if found != expect {
            wrong.push(format!("{from} -> {to}: {found:?}, not {expect:?}"));
        }
    };
    // The document.
    check(PLAN, "2026-11-30", "2026-02-30", &["bad-date"]);
    check(PLAN, "**Status:** reviewed", "**Status:** Reviewed (by two)", &[]);
    check(PLAN, "**Status:** reviewed", "**Status:** draft | reviewed | executed", &["unknown-status"]);
    check(PLAN, "change-scoped", "change-scoped | project-wide", &["unreadable-plan-mode"]);
    check(PLAN, "a later read at", "<SUT> at `<C1>`, Vec<T> and a<b>: a later read at", &["placeholder"]);
    check(PLAN, "a later read at", "less < 5 and > 3, <br> `<x>`, Map<K> of a later read at", &[]);
    check(PLAN, "### Scenario S2: bounded_latency_in_steady_state", "### Scenario S2: ...", &["placeholder"]);
    check(PLAN, "— storage team, by January", "Owner: storage team, before 1.0", &[]);
    check(PLAN, "— storage team, by January", "— storage team", &["open-question-owner"]);
    // Numbers that count something else.
    check(PLAN, "The read path that writes back.", "The read path. 3 scenarios of S1 style were tried before.", &[]);
    check(PLAN, "The read path that writes back.", "The read path; two claims depend on it.", &[]);
    check(PLAN, "The read path that writes back.", "This plan has three claims and two hypotheses on reads.", &[]);
    check(PLAN, "The read path that writes back.", "This plan has four claims.", &["count-disagrees"]);
    check(WIDE, "Three scenarios. Each closes rows of §5.", "3 scenarios in total.", &[]);
    check(WIDE, "Three scenarios. Each closes rows of §5.", "All four hypotheses in this plan are tested.", &[]);
    check(WIDE, "Three scenarios. Each closes rows of §5.", "There are 4 claims × 4 hypotheses.", &["count-disagrees"]);
    // Claims.
    check(PLAN, "| README §2 | no |", "| README §2 | No (see the README) |", &[]);
    check(PLAN, "| README §2 | no |", "| README §2 | partial |", &["inferred-word"]);
    check(PLAN, "| M1 | Clocks", "| M1 | x | | |\n| M1 | Clocks", &["duplicate-id"]);
    check(
        WIDE,
        "### T2. Performance",
        "### T1. Performance",
        &["duplicate-id", "technique-not-selected", "undefined-id"],
    );
    check(WIDE, "- **Technique:** T2", "- **Technique:** performance-and-benchmarking", &[]);
    check(
        WIDE,
        "- **Technique:** T2",
        "- **Technique:** T9 (load)",
        &["technique-not-selected", "undefined-id", "unused-technique"],
    );
    // Arguments.
    check(WIDE, "S1/api (a), S1/export (b)", "S1 (a, b)", &[]);
    check(WIDE, "S1/api (a), S1/export (b)", "S1 (a–b)", &[]);
    check(WIDE, "S1/api (a), S1/export (b)", "S1 (a)(b)(c)", &["threat-without-scenario"]);
    check(PLAN, "| S2 (a) | open loop", "| `bounded_latency_in_steady_state` (a) | open loop", &[]);
    check(PLAN, "| S2 (a) | open loop", "| S_bounded_latency_in_steady_state (a) | open loop", &[]);
    let admitted = ("| disks that lie |", "| C3 beside disks that lie |");
    let none = "none — it is looked at in production | open loop";
    check(PLAN, "S2 (a) | open loop", none, &["adequacy-incomplete", "scenario-not-argued"]);
    check(&PLAN.replacen(admitted.0, admitted.1, 1), "S2 (a) | open loop", none, &["scenario-not-argued"]);
    // Coverage.
    check(WIDE, "| not covered | no test |", "| **not covered** (yet) | no test, oracle too weak |", &[]);
    check(WIDE, "| not covered | no test |", "| uncovered | no test |", &["coverage-word"]);
    let summary = "| Claim | Status today | Worst-case gap | Top scenario(s) |\n|---|---|---|---|\n\
                   | C1 | partial | no crash with a real network | S1 |\n\n";
    let head = "| Claim | Hypothesis | Existing tests |";
    check(WIDE, head, &format!("{summary}{head}"), &[]);
    // Names.
    check(PLAN, "bounded_latency_in_steady_state", "chaos", &["scenario-named-after-setup"]);
    check(PLAN, "bounded_latency_in_steady_state", "partition_test", &["scenario-named-after-setup"]);
    check(PLAN, "bounded_latency_in_steady_state", "five_brokers_with_toxiproxy", &["scenario-named-after-setup"]);
    check(PLAN, "bounded_latency_in_steady_state", "no_shard_is_slow", &["boundary-name"]);
    check(WIDE, "latency_is_fair_beside_a_noisy_neighbour", "tenant_latency_is_fair", &[]);
    // §7.M.
    check(PLAN, "default schema, in-process", "op_id, node of the replica and values, server-side audit", &[]);
    check(PLAN, "default schema, in-process", "default schema, in-process, monotonic beside the wall clock", &[]);
    check(PLAN, "`linearizability` per key, and", "an Elle checker is not needed; `linearizability` per key, and", &[]);
    check(PLAN, "and may have happened", "and may have happened; retries are never merged", &[]);
    check(PLAN, "a timeout keeps", "retries are merged into one; a timeout keeps", &["ambiguous-contradicts"]);
    // Surfaces.
    check(
        WIDE,
        "public API, nightly export, metrics endpoint",
        "public API — the only way in, because exports were removed",
        &[],
    );
    check(
        WIDE,
        "collapsed into one — the three operations share one queue",
        "S2/put",
        &["arm-incomplete", "arms-fewer-than-surfaces"],
    );
    check(WIDE, "worst_group_p99 / aggregate_p99 <= 1.5 over tenants", "the ratio of tenants stays at most 2", &[]);
    // Confidence.
    check(PLAN, "Latency was looked at", "We do not say that data loss is impossible. Latency was looked at", &[]);
    check(PLAN, "Latency was looked at", "Data loss is impossible. Latency was looked at", &["absolute-wording"]);
    check(PLAN, "Latency was looked at", "No write can be lost. Latency was looked at", &["absolute-wording"]);
    check(PLAN, "Latency was looked at", "Lost writes are ruled out. Latency was looked at", &["absolute-wording"]);
    check(PLAN, "Latency was looked at", "No fault can land unseen. Latency was looked at", &[]);
    check(PLAN, "Latency was looked at", "Counters prove that each fault landed. Latency was looked at", &[]);
    check(
        WIDE,
        "The metrics surface stays\nuntested until its endpoint is deployed. ",
        "It is a good result, we think. ",
        &[],
    );
    // Skeletons and targets.
    check(WIDE, "Scenario: S3 acknowledged", "Scenario: S2 acknowledged", &["skeleton-header"]);
    check(PLAN, "tests/auto/s2_bounded_latency.rs", "crates/store/tests/auto/s2.rs", &[]);
    check(PLAN, "tests/auto/s2_bounded_latency.rs", "spec/s2_spec.cr", &["not-authorable"]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_matrix_of_many_claims_in_one_table_is_told() {
    let claims: String = (4..60).map(|n| format!("| C{n} | x | operational | y | no |\n")).collect();
    let rows: String = (4..60).map(|n| format!("| C{n} | H1 | a test | covered | — | — |\n")).collect();
    let plan = WIDE.replacen("\n## 1c.", &format!("{claims}\n## 1c."), 1);
    let plan = plan.replacen("\n## 6. ", &format!("{rows}\n## 6. "), 1);
    let told = |plan: &str| check(plan).1.iter().any(|d| d.rule == "coverage-not-split");
    assert!(told(&plan));
    let summary = "| Claim | Verdict |\n|---|---|\n| C1 | partial |\n\n| Claim | Hypothesis | Existing";
    assert!(!told(&plan.replacen("| Claim | Hypothesis | Existing", summary, 1)));
}

#[test]
fn what_is_told_points_at_the_words_that_are_wrong() {
    let check = |from: &str, to: &str, rule: &str, expect: &str| {
        let text = PLAN.replacen(from, to, 1);
        let (_, told) = check(&text);
        let told = told.iter().find(|d| d.rule == rule).unwrap_or_else(|| panic!("{rule}: {told:?}"));
        assert_eq!(&text[told.span.start..told.span.end], expect, "{rule}");
    };
    check("| safety |", "| safety / consistency |", "unknown-category", "consistency");
    check("S2 (a) | open", "S2 (a), S9 (a) | open", "undefined-id", "S9");
    check("client p99 <= 500 ms over the whole run", "after it, logs\n  look fine", "vague-oracle", "look fine");
    check("Latency was looked", "It **Cannot**\nhappen. Latency was looked", "absolute-wording", "Cannot**\nhappen");
    check("3 nodes × 10s × 0 faults × 1 seed", "TBD", "unreadable-budget", "TBD");
    check(
        "`references/jepsen-and-elle.md`",
        "`references/jepsen-and-ele.md`",
        "unknown-technique-reference",
        "jepsen-and-ele",
    );
}

#[test]
fn an_id_that_was_put_in_later_is_one_of_its_own() {
    let row = "| C1 |";
    let at = PLAN.find(row).expect("a claim");
    let line = PLAN[at..].lines().next().expect("its row").to_owned();
    let (plan, told) = check(&PLAN.replacen(&line, &format!("{line}\n{}", line.replacen("C1", "C1b", 1)), 1));
    assert!(plan.claims.iter().any(|claim| claim.id.value.to_string() == "C1b"));
    let about: Vec<&str> = told.iter().filter(|d| d.message.contains("C1b")).map(|d| d.rule.as_str()).collect();
    assert_eq!(about, ["claim-not-falsified", "claim-without-hypothesis", "claim-not-argued"], "{told:?}");
}

#[test]
fn rules_that_look_for_english_words_say_nothing_of_other_prose() {
    let german = "H1. **Veraltete Antwort** — ein Knoten antwortet nach der Trennung mit dem alten Stand, weil er die neue \
                  Amtszeit nicht kennt und seine Liste nicht mehr prüft.\n  - Could falsify: C1\n";
    let text = format!("# Test Plan: x\n\n## 4. Failure-mode hypotheses\n\n{german}");
    let classes = |text: &str| check(text).1.iter().any(|d| d.rule == "hypothesis-class-missing");
    assert!(!classes(&text));
    assert!(classes(
        &text.replace("ein Knoten", "the node of a group that is not with it, and to the end of the day: ein")
    ));
}
