//! What killed runs left behind, by journals that such runs would have written.

use crate::package::Package;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const RUN: &str = "test-sessions/p/20260101T000000Z/artifacts/S1/seed-7";

/// Process id and start time of a process.
fn identity(pid: u32) -> Value {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    json!({"pid": pid, "start_time": fields[19].parse::<u64>().unwrap()})
}

fn sleeper() -> Child {
    Command::new("/bin/sleep").arg("600").process_group(0).stdout(Stdio::null()).spawn().unwrap()
}

/// A journal of a run whose supervisor was `by`, and which started `node` as n1.
fn journal(by: &Value, node: &Value) -> String {
    let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().to_owned();
    let pid_namespace = fs::read_link("/proc/self/ns/pid").unwrap();
    let (pid, start_time) = (&node["pid"], &node["start_time"]);
    let acts = [
        json!({"act": "supervised", "by": by, "boot_id": boot_id, "pid_namespace": pid_namespace}),
        json!({"act": "opened", "run_id": "r", "boot_id": boot_id}),
        json!({"act": "started", "node": "n1", "pid": pid, "start_time": start_time, "log": "/nowhere"}),
        json!({"act": "mounting", "node": "n1", "at": "/proc"}),
        json!({"act": "grouping", "node": "n1", "at": "/sys/fs/cgroup"}),
    ];
    acts.iter().map(|act| format!("{act}\n")).collect()
}

/// A package with a session in which one run was begun.
fn package(by: &Value, node: &Value) -> Package {
    let package = Package::new();
    package.write("test-sessions/p/20260101T000000Z/session.json", "{}");
    package.write(&format!("{RUN}/journal.jsonl"), &journal(by, node));
    package
}

/// Nobody: the process that had the id is a later one.
fn gone() -> Value {
    let mut gone = identity(std::process::id());
    gone["start_time"] = json!(1);
    gone
}

#[test]
fn what_a_killed_run_left_is_told_then_undone_then_gone_and_strangers_are_not_touched() {
    let (mut node, mut stranger) = (sleeper(), sleeper());
    let package = package(&gone(), &identity(node.id()));
    let told = package.disttest(&["heal", "--dry-run"]).expect(1);
    assert_eq!(told.out, format!("would undo: n1 (process {}, running)\n", node.id()));
    assert!(node.try_wait().unwrap().is_none(), "a dry run does nothing");

    let reaping = std::thread::spawn(move || node.wait().unwrap());
    let json = package.disttest(&["heal", "--format", "json"]).expect(0).out;
    assert!(!reaping.join().unwrap().success());
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&report["schema"], &report["sessions"]), (&json!("disttest.heal/1"), &json!(1)));
    let run = &report["runs"][0];
    assert_eq!((&run["state"], &run["folder"]), (&json!("ended"), &json!(RUN)));
    let left = &run["left"][0];
    assert_eq!((&left["kind"], &left["whose"], &left["undone"]), (&json!("process"), &json!("n1"), &json!(true)));

    assert_eq!(package.disttest(&["heal"]).expect(0).out, "nothing to heal\n");
    assert!(stranger.try_wait().unwrap().is_none());
    assert!(Path::new("/proc/self/stat").exists(), "/proc carries no name of a run");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn a_run_whose_supervisor_lives_is_left_alone() {
    let mut node = sleeper();
    let package = package(&identity(std::process::id()), &identity(node.id()));
    for args in [&["heal"][..], &["heal", "--dry-run"], &["heal", "--session", "test-sessions/p/20260101T000000Z"]] {
        let answer = package.disttest(args).expect(0);
        assert_eq!(answer.out, "nothing to heal\n");
        let supervisor = format!("is under way (supervisor: process {}): left alone", std::process::id());
        assert!(answer.err.contains(&supervisor), "{}", answer.err);
    }
    assert!(node.try_wait().unwrap().is_none());
    node.kill().unwrap();
    node.wait().unwrap();
}

#[test]
fn a_process_that_took_over_an_id_is_a_stranger() {
    let mut node = sleeper();
    let mut earlier = identity(node.id());
    earlier["start_time"] = json!(earlier["start_time"].as_u64().unwrap() - 1);
    assert_eq!(package(&gone(), &earlier).disttest(&["heal"]).expect(0).out, "nothing to heal\n");
    assert!(node.try_wait().unwrap().is_none());
    node.kill().unwrap();
    node.wait().unwrap();
}

#[test]
fn a_journal_that_cannot_be_read_is_not_clean_and_keeps_no_other_run_from_being_healed() {
    let mut node = sleeper();
    let package = package(&gone(), &identity(node.id()));
    package.write(&format!("{}/journal.jsonl", RUN.replace("S1", "S0")), "garbage\n");
    let told = package.disttest(&["heal", "--dry-run"]).expect(1);
    assert!(told.err.contains("journal.jsonl:1: no act that this version knows"), "{}", told.err);
    let reaping = std::thread::spawn(move || node.wait().unwrap());
    let healed = package.disttest(&["heal"]).expect(1);
    assert!(healed.out.starts_with("killed n1") && healed.err.contains("look for it by hand"), "{}", healed.out);
    assert!(!reaping.join().unwrap().success());
    let again = package.disttest(&["heal"]).expect(1);
    assert!(!again.out.contains("nothing to heal"), "{}", again.out);
}

#[test]
fn what_is_no_session_is_an_error_and_no_session_is_nothing_to_heal() {
    let package = Package::new();
    assert_eq!(package.disttest(&["heal"]).expect(0).out, "nothing to heal\n");
    assert!(package.disttest(&["heal", "--session", "src"]).expect(2).err.contains("no session.json"));
    assert!(package.disttest(&["heal", "--session-root", "nowhere"]).expect(2).err.contains("no folder"));
}
