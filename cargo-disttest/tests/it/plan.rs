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
