//! `plan` in a package.

use crate::package::{PLAN_PATH, Package};

#[test]
fn without_an_argument_all_plans_of_the_workspace_are_read() {
    let package = Package::new();
    package.write("docs/testing-plans/other.md", "# Test Plan: other\n");
    let answer = package.disttest(&["plan"]);
    assert_eq!(answer.status, 1, "both lack sections: {}", answer.err);
    for name in ["small", "other"] {
        assert!(format!("{}{}", answer.out, answer.err).contains(name), "{name}");
    }
}

#[test]
fn what_is_no_plan_is_unreadable() {
    let package = Package::new();
    package.disttest(&["plan", "nowhere.md"]).expect(2);
    package.write("notes.md", "hello\n");
    package.disttest(&["plan", "notes.md"]).expect(2);
    std::fs::write(package.path("binary.md"), [0xff, 0xfe, 0x00]).unwrap();
    package.disttest(&["plan", "binary.md"]).expect(2);
    package.disttest(&["plan", PLAN_PATH, "nowhere.md"]).expect(1);
}

#[test]
fn json_names_its_schema() {
    let package = Package::new();
    let out = package.disttest(&["plan", PLAN_PATH, "--format", "json"]).out;
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["schema"], "disttest.plan/1");
}

#[test]
fn the_graph_goes_to_stdout_alone() {
    let package = Package::new();
    let dot = package.disttest(&["plan", "--graph=dot", PLAN_PATH]).out;
    assert!(dot.starts_with("digraph plan {") && dot.ends_with("}\n"), "{dot}");
    let mermaid = package.disttest(&["plan", "--graph=mermaid", PLAN_PATH]).out;
    assert!(mermaid.starts_with("flowchart LR\n"), "{mermaid}");
    let both = package.disttest(&["plan", "--graph", PLAN_PATH]).out;
    assert!(both.contains("```mermaid\n") && both.contains("```dot\n"), "{both}");
}

#[test]
fn the_summary_tells_how_far_each_test_is() {
    let package = Package::new();
    let state = || {
        let out = package.disttest(&["plan", PLAN_PATH, "--format", "json"]).out;
        let json: serde_json::Value = serde_json::from_str(&out).unwrap();
        json["scenarios"][0]["state"]["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state(), "not-authored");
    assert!(package.disttest(&["plan", PLAN_PATH]).out.contains("authorable, not authored yet"));
    package.disttest(&["author", PLAN_PATH]).expect(0);
    assert_eq!(state(), "unfilled");
}

#[test]
fn ids_are_shown_as_the_author_spelt_them_and_are_found_by_either_spelling() {
    let package = Package::new();
    package.edit(PLAN_PATH, "### Scenario S1:", "### Scenario S01:");
    let out = package.disttest(&["plan", PLAN_PATH]).out;
    assert!(out.contains("  S01   reads_never_go_back"), "{out}");
    assert!(!out.contains("S1 "), "{out}");
    let json = package.disttest(&["plan", PLAN_PATH, "--format", "json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let plan = &json["plans"][0];
    let scenario = if plan.is_null() { &json["scenarios"][0] } else { &plan["scenarios"][0] };
    assert_eq!((&scenario["id"], &scenario["written"]), (&"S1".into(), &"S01".into()));
    for (asked, file) in [("S1", "tests/auto/s1.rs"), ("S01", "tests/auto/s1.rs")] {
        let answer = package.disttest(&["author", PLAN_PATH, "--scenario", asked]).expect(0);
        assert!(answer.err.contains(&format!("S01 {file}")), "{}", answer.err);
        assert!(!package.path("tests/auto/s2.rs").exists());
        let todo = package.disttest(&["todo", PLAN_PATH, "--scenario", asked]).expect(0).out;
        assert!(todo.contains("S01 reads_never_go_back — region `workload`"), "{todo}");
    }
    let wrong = package.disttest(&["author", PLAN_PATH, "--scenario", "S9"]).expect(2);
    assert!(wrong.err.contains("it has S01, S2"), "{}", wrong.err);
    let check = package.disttest(&["author", PLAN_PATH, "--check", "--scenario", "S1"]).expect(1);
    assert!(check.err.contains("S01: workload is not filled"), "{}", check.err);
    // The digest is of the scenario, however its id is spelt.
    let text = package.read("tests/auto/s1.rs");
    package.edit(PLAN_PATH, "### Scenario S01:", "### Scenario S001:");
    package.disttest(&["author", PLAN_PATH, "--scenario", "S1"]).expect(0);
    assert_eq!(package.read("tests/auto/s1.rs"), text);
}
