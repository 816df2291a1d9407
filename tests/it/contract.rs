//! What `cargo test`, nextest and IDEs ask of a test binary, asked of the package in `trees/contract`.

use crate::tree::{Tree, session_root};

fn contract() -> Tree {
    Tree::new("contract")
}

#[test]
fn a_list_holds_the_names_and_nothing_else_whatever_its_format_and_filters() {
    let tree = contract();
    let check = |args: &str, expect: &str| {
        let root = session_root();
        let answer = tree.cargo(&format!("test --test alpha --test beta -- {args}")).sessions(&root).expect(0);
        assert_eq!(answer.out, expect, "{args}");
        let left: Vec<_> = std::fs::read_dir(root.path()).expect("readable").flatten().collect();
        assert!(left.is_empty(), "{args}: a list runs nothing and leaves nothing behind: {left:?}");
    };
    let all = "failing: test\npassing: test\nunfilled: test\ninner::panicking: test\nsynchronous: test\n";
    check("--list", all);
    check("--list --format terse", all);
    check("--list --format terse --include-ignored", all);
    check("--list --format terse --ignored", "unfilled: test\n");
    check("--list --exact passing", "passing: test\n");
    check("--list pass sync", "passing: test\nsynchronous: test\n");
    check("--list --skip ing", "unfilled: test\nsynchronous: test\n");
    check("--list nothing", "");
}

#[test]
fn an_ordinary_target_lists_and_runs_beside_the_scenarios() {
    let answer = contract().cargo("test -- --list ordinary").expect(0);
    assert_eq!(answer.out, "ordinary: test\n\n1 test, 0 benchmarks\n");
    contract().cargo("test -- --exact ordinary --test-threads=1").expect(0).says(&["test ordinary ... ok"]);
}

#[test]
fn the_json_list_names_the_reason_why_a_scenario_is_ignored() {
    let answer = contract().cargo("test --test alpha -- --list --format json -Z unstable-options").expect(0);
    let events = answer.events();
    assert_eq!(events.len(), answer.out.lines().count(), "{}", answer.out);
    let unfilled = events.iter().find(|event| event["name"] == "unfilled").expect("it is listed");
    assert_eq!(unfilled["ignore"], true);
    let reason = unfilled["ignore_message"].as_str().expect("a text");
    assert!(reason.starts_with("not filled: region `oracle` (tests/alpha.rs:"), "{reason}");
}

#[test]
fn a_selection_runs_what_it_names_and_counts_the_rest() {
    let tree = contract();
    let check = |args: &str, status: i32, expect: &[&str]| {
        let root = session_root();
        tree.cargo(&format!("test --test alpha --test beta --no-fail-fast -- {args}"))
            .sessions(&root)
            .expect(status)
            .says(expect);
    };
    // Across both binaries: each says how many of its own were left out.
    check(
        "--exact inner::panicking",
        101,
        &[
            "3 filtered out",
            "test inner::panicking ... FAILED",
            "0 passed; 1 failed; 0 ignored; 0 measured; 1 filtered out",
        ],
    );
    check("pass sync --test-threads=1", 0, &["test passing ... ok", "test synchronous ... ok"]);
    check("nothing", 0, &["0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out"]);
    check("--ignored", 101, &["test unfilled ... FAILED", "running 0 tests"]);
    check("--include-ignored unfilled", 101, &["test unfilled ... FAILED"]);
    check("unfilled", 0, &["test unfilled ... ignored, NOT-RUN: not filled: region `oracle` (tests/alpha.rs:"]);
    check("-q unfilled", 0, &["\nrunning 1 test\ni\n\ntest result: ok. 0 passed; 0 failed; 1 ignored"]);
    check("-q panicking", 101, &["F\n\nfailures:\n    inner::panicking\n"]);
}

#[test]
fn an_unfilled_scenario_is_ignored_on_a_desk_and_fails_where_nobody_would_look() {
    let tree = contract();
    let check = |variables: &[(&str, &str)], status: i32, expect: &str, listed: &str| {
        let root = session_root();
        let with = |args: &str| {
            let run = tree.cargo(&format!("test --test alpha -- {args}")).sessions(&root);
            variables.iter().fold(run, |run, (name, value)| run.env(name, value))
        };
        with("--exact unfilled").expect(status).says(&[expect]);
        assert_eq!(with("--list --format terse --ignored").expect(0).out, listed, "{variables:?}");
    };
    check(&[], 0, "test unfilled ... ignored", "unfilled: test\n");
    check(&[("CI", "true")], 101, "test unfilled ... FAILED", "");
    check(&[("DISTTEST_STRICT", "1")], 101, "test unfilled ... FAILED", "");
    check(&[("CI", "true"), ("DISTTEST_STRICT", "0")], 0, "test unfilled ... ignored", "unfilled: test\n");
}

#[test]
fn json_events_are_libtests_with_the_verdict_under_a_key_of_its_own() {
    let root = session_root();
    // What JetBrains' IDEs pass.
    let flags = "-Z unstable-options --format=json --show-output";
    let answer = contract()
        .cargo(&format!("test --test alpha --test beta --no-fail-fast -- {flags} passing unfilled panicking"))
        .sessions(&root)
        .expect(101);
    let events = answer.events();
    assert_eq!(events.len(), answer.out.lines().count(), "every line of stdout is an event:\n{}", answer.out);
    let ended = |name: &str| {
        let of_test = |event: &&serde_json::Value| event["type"] == "test" && event["name"] == name;
        let of_test: Vec<_> = events.iter().filter(of_test).collect();
        assert_eq!(of_test[0]["event"], "started");
        of_test[1].clone()
    };
    assert_eq!(
        (&ended("passing")["event"], &ended("passing")["disttest"]["verdict"]),
        (&"ok".into(), &"PASS-smoke".into())
    );
    assert_eq!(ended("unfilled")["event"], "ignored");
    assert_eq!(ended("inner::panicking")["event"], "failed");
    assert!(ended("inner::panicking")["stdout"].as_str().expect("a text").contains("Error: INCONCLUSIVE"));
}

#[test]
fn what_a_scenario_prints_is_in_its_session_and_shown_when_it_fails() {
    let root = session_root();
    let answer =
        contract().cargo("test --test beta -- --exact inner::panicking --nocapture").sessions(&root).expect(101);
    answer.notes(&["Error: INCONCLUSIVE", " S4 seed=", "no seed is zero", "again: DISTTEST_TIER=smoke DISTTEST_SEED="]);
    assert!(!answer.out.contains("panicked at"), "stdout is for test runners:\n{}", answer.out);
}
