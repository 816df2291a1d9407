//! Checkers of workloads against recorded histories with known answers, kept beside the repository: the environment
//! variable `DISTTEST_CASES` names their folder. Without it there is nothing to measure, and the tests say so.
#![expect(clippy::print_stderr, clippy::unwrap_used, reason = "a report of an opt-in test")]

use disttest_runtime::base::time::Nanos;
use disttest_runtime::checker::{Answer, Bank, Checker, CounterBounds, Freshness, Outcome, Set, SetFull, Unlimited};
use disttest_runtime::history::{History, Op};
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("DISTTEST_CASES").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: DISTTEST_CASES names no folder of recorded histories");
    }
    folder
}

/// A recorded history. Its lost answers carry the instant at which the client gave up, which is no completion.
fn recorded(folder: &std::path::Path, name: &str) -> History {
    let text = std::fs::read_to_string(folder.join("recorded").join(name).join("history.jsonl")).unwrap();
    let op = |line: &str| {
        let mut op: Op = serde_json::from_str(line).unwrap();
        if op.timeout_marker {
            op.complete_ts = None;
        }
        op
    };
    History::new(text.lines().map(op).collect()).unwrap()
}

/// A Jepsen history as JSON Lines: events of processes, paired, at their index.
fn jepsen(folder: &std::path::Path, name: &str) -> History {
    let text = std::fs::read_to_string(folder.join("isolation/public/jepsen").join(name)).unwrap();
    let (mut ops, mut open): (Vec<Op>, HashMap<u64, usize>) = (Vec::new(), HashMap::new());
    for (index, line) in text.lines().enumerate() {
        let event: Value = serde_json::from_str(line).unwrap();
        // What the nemesis did is no operation of a client.
        let Some(process) = event["process"].as_u64() else { continue };
        let value = event["value"].clone();
        if event["type"] == "invoke" {
            open.insert(process, ops.len());
            ops.push(Op {
                op_id: index as u64,
                process_id: process,
                invoke_ts: Nanos(index as u64),
                complete_ts: None,
                op_type: event["f"].as_str().unwrap().to_owned(),
                key: None,
                input: value,
                output: Value::Null,
                error: None,
                timeout_marker: true,
                node_seen: None,
                fault_epoch: None,
            });
            continue;
        }
        let op = &mut ops[open.remove(&process).unwrap()];
        let known = event["type"] != "info";
        op.complete_ts = known.then_some(Nanos(index as u64));
        op.timeout_marker = !known;
        op.error = (event["type"] == "fail").then(|| event["error"].to_string());
        if event["type"] == "ok" {
            op.output = value;
        }
    }
    History::new(ops).unwrap()
}

fn anomalies(answer: &Answer) -> Vec<&str> {
    match &answer.outcome {
        Outcome::Invalid { violations } => violations.iter().map(|violation| violation.anomaly.as_str()).collect(),
        Outcome::Valid => Vec::new(),
        Outcome::Unknown { why } => panic!("{}: {why}", answer.checker),
    }
}

#[test]
fn the_set_of_a_cut_off_primary_lost_what_it_lost() {
    let Some(folder) = folder() else { return };
    for (name, lost) in [("redis-fault", 123), ("redis-control", 0), ("redis-ghost", 0)] {
        let history = recorded(&folder, name);
        for checker in [&Set::new() as &dyn Checker, &Set::each_client(), &SetFull::new(), &SetFull::linearizable()] {
            assert_eq!(
                anomalies(&checker.check(&history, &Unlimited)),
                vec!["lost"; lost],
                "{name} {}",
                checker.name()
            );
        }
    }
}

#[test]
fn serializable_reads_of_a_deaf_leader_are_stale_by_seconds() {
    let Some(folder) = folder() else { return };
    let deaf = recorded(&folder, "etcd-leader-deaf");
    let freshness = |bound| Freshness::within(Duration::from_millis(bound));
    let (_, worst) = freshness(0).stalest(&deaf).unwrap();
    assert_eq!(format!("{:.1}", worst.as_secs_f64()), "6.7");
    assert!(anomalies(&freshness(6_000).check(&deaf, &Unlimited)).len() > 1);
    assert!(anomalies(&freshness(7_000).check(&deaf, &Unlimited)).is_empty());
    assert!(anomalies(&freshness(0).of("read").check(&deaf, &Unlimited)).is_empty());
    // One read of the run without a fault is stale by a millisecond.
    let control = recorded(&folder, "etcd-control");
    assert_eq!(anomalies(&freshness(0).check(&control, &Unlimited)).len(), 1);
    assert!(anomalies(&freshness(5).check(&control, &Unlimited)).is_empty());
}

#[test]
fn published_histories_have_their_published_answers() {
    let Some(folder) = folder() else { return };
    assert!(anomalies(&Bank::new().check(&jepsen(&folder, "bank.jsonl"), &Unlimited)).is_empty());
    assert!(anomalies(&Bank::new().total(100).check(&jepsen(&folder, "bank.jsonl"), &Unlimited)).is_empty());
    assert!(anomalies(&Set::new().check(&jepsen(&folder, "set.jsonl"), &Unlimited)).is_empty());
    assert!(anomalies(&SetFull::linearizable().check(&jepsen(&folder, "set.jsonl"), &Unlimited)).is_empty());
    // Only adds: nothing was read, so nothing can be said (Jepsen calls that valid).
    let counter = CounterBounds::new().check(&jepsen(&folder, "counter.jsonl"), &Unlimited);
    assert!(matches!(counter.outcome, Outcome::Unknown { .. }), "{counter:?}");
}
