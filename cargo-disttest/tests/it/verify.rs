//! `verify` on sessions that `run` left.

use crate::package::{Answer, PLAN_PATH, Package};
use crate::run::package_of_passes;
use std::fs;

/// A session of a run in which nothing started, with the hash that was printed last.
fn blocked() -> (Package, String, String) {
    let package = package_of_passes();
    package.edit("tests/auto/s1.rs", "fn reads_never_go_back() {}", "fn reads_never_go_back() { no }");
    package.edit("tests/auto/s2.rs", "fn healthy_nodes_answer() {}", "fn healthy_nodes_answer() { no }");
    let out = package.disttest(&["run", PLAN_PATH, "--session-root", "sessions"]).expect(4).out;
    last_line(package, &out)
}

fn last_line(package: Package, out: &str) -> (Package, String, String) {
    let (hash, manifest) = out.trim_end().lines().last().unwrap().split_once("  ").unwrap();
    let session = manifest.strip_suffix("/MANIFEST.sha256").unwrap().to_owned();
    (package, session, hash.to_owned())
}

fn verify(package: &Package, session: &str, args: &[&str]) -> Answer {
    package.disttest(&[&["verify", session], args].concat())
}

#[test]
fn a_session_stands_with_the_hash_that_run_printed_last_and_wherever_it_is() {
    let (package, session, hash) = blocked();
    let answer = verify(&package, &session, &["--expect", &hash]).expect(0);
    assert!(answer.out.contains("Session: BLOCKED stands\n"), "{}", answer.out);
    assert!(answer.out.ends_with(&format!("{hash}  {session}/MANIFEST.sha256\n")), "{}", answer.out);
    let line = format!("{hash}  {session}/MANIFEST.sha256");
    verify(&package, &session, &["--expect", &line]).expect(0);
    fs::rename(package.path(&session), package.path("moved")).unwrap();
    verify(&package, "moved", &["--expect", &hash]).expect(0);
    let note = verify(&package, "moved", &[]).expect(0).err;
    assert!(note.contains("is told by --expect"), "{note}");
}

#[test]
fn what_was_altered_is_named_and_ends_with_1() {
    let (package, session, hash) = blocked();
    let other = "0".repeat(64);
    let answer = verify(&package, &session, &["--expect", &other]).expect(1);
    assert!(answer.out.contains("not the expected 000"), "{}", answer.out);
    let report = format!("{session}/findings/report.md");
    package.edit(&report, "BLOCKED", "DONE");
    let answer = verify(&package, &session, &["--expect", &hash, "--format", "json"]).expect(1);
    let json: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!((&json["schema"], &json["standing"]), (&"disttest.verify/1".into(), &"contradicted".into()));
    assert_eq!((&json["verdict"], &json["exit_status"]), (&"BLOCKED".into(), &1.into()));
    let told = json["contradictions"].to_string();
    assert!(told.contains("findings/report.md is not the file that the manifest tells of"), "{told}");
}

#[test]
fn answers_of_which_nobody_knows_how_they_came_about_do_not_stand() {
    let package = package_of_passes();
    let out = package.disttest(&["run", PLAN_PATH]).expect(0).out;
    let (package, session, hash) = last_line(package, &out);
    let answer = verify(&package, &session, &["--expect", &hash]);
    assert!(answer.status == 1 || answer.status == 3, "{}: {}", answer.status, answer.out);
    assert!(!answer.out.contains(" stands"), "{}", answer.out);
}

#[test]
fn what_is_no_session_ends_with_2() {
    let package = Package::new();
    let said = package.disttest(&["verify", "docs"]).expect(2).err;
    assert!(said.contains("docs is no session: it has no session.json"), "{said}");
    for hash in ["abc", "", "zz"] {
        let said = package.disttest(&["verify", "docs", "--expect", hash]).expect(2).err;
        assert!(said.contains("64 hexadecimal digits"), "{said}");
    }
}
