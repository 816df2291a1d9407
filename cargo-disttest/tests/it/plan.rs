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
