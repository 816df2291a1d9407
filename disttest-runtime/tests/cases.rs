//! Recorded histories with known answers, kept outside this repository: set `DISTTEST_CASES` to their folder.
//!
//! `linearizability/manifest.csv` names file, model and expected answer. Without the folder the test says so and passes.
#![expect(clippy::print_stderr, clippy::unwrap_used, reason = "a report of an opt-in test")]

#[path = "cases/manifest.rs"]
mod manifest;

use disttest_runtime::checker::{Checker, Limits, Linearizability, NoLostAck, Outcome};
use disttest_runtime::history::History;
use disttest_runtime::model::Register;
use manifest::{cases, read};
use std::path::PathBuf;
use std::time::{Duration, Instant};

struct Seconds(Instant, Duration);

impl Limits for Seconds {
    fn exceeded(&self, bytes: u64) -> Option<String> {
        let over = self.0.elapsed() > self.1 || bytes > 2 << 30;
        over.then(|| format!("{:?} or {} MB", self.1, bytes >> 20))
    }
}

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("DISTTEST_CASES").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: DISTTEST_CASES names no folder of recorded cases");
    }
    folder
}

#[test]
fn known_answers() {
    let Some(folder) = folder() else { return };
    let (mut wrong, mut checked, mut skipped) = (Vec::new(), 0, 0);
    for case in cases(&folder.join("linearizability")) {
        let Some(checker) = case.checker() else {
            skipped += 1;
            continue;
        };
        let (file, history) = (&case.file, case.history());
        let answer = checker.check(&history, &Seconds(Instant::now(), Duration::from_secs(60)));
        checked += 1;
        let got = match &answer.outcome {
            Outcome::Valid => "linearizable",
            Outcome::Invalid { violations } => {
                if std::env::var_os("DISTTEST_CASES_SHOW").is_some() {
                    eprintln!("{file}: {}", violations[0].explanation);
                }
                "not-linearizable"
            }
            // Nothing was observed in it at all.
            Outcome::Unknown { why } if why.contains("observes anything") => "linearizable",
            Outcome::Unknown { why } => {
                wrong.push(format!("{file}: undecided: {why}"));
                continue;
            }
        };
        if got != case.expected {
            wrong.push(format!("{file}: expected {}, got {got}, {:?}", case.expected, answer.evidence));
        }
        assert!(answer.evidence.consumed <= history.ops().len() as u64, "{file}");
    }
    eprintln!("{checked} checked, {skipped} of other models");
    assert!(wrong.is_empty(), "{} of {checked} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn acknowledged_adds_of_a_failover_are_lost() {
    let Some(folder) = folder() else { return };
    for (run, expected) in [("redis-fault", Some(123)), ("redis-control", None), ("redis-ghost", None)] {
        let mut ops = read(&folder.join("recorded").join(run).join("history.jsonl")).into_ops();
        ops.retain(|op| op.key.as_deref() == Some("s"));
        let answer =
            NoLostAck::append_only().check(&History::new(ops).unwrap(), &Seconds(Instant::now(), Duration::MAX));
        match (answer.outcome, expected) {
            (Outcome::Invalid { violations }, Some(count)) => {
                let said = &violations[0].explanation;
                assert!(said.contains(&format!("{count} acknowledged writes are lost")), "{run}: {said}");
            }
            (Outcome::Valid, None) => {}
            (outcome, _) => panic!("{run}: {outcome:?}"),
        }
    }
}

#[test]
fn registers_of_a_failover() {
    let Some(folder) = folder() else { return };
    for (run, expected) in
        [("redis-fault", &["r3"][..]), ("redis-control", &[]), ("etcd-leader-deaf", &[]), ("etcd-control", &[])]
    {
        let mut ops = read(&folder.join("recorded").join(run).join("history.jsonl")).into_ops();
        ops.retain(|op| matches!(op.op_type.as_str(), "read" | "write" | "cas"));
        let history = History::new(ops).unwrap();
        let answer = Linearizability::per_key(Register::new())
            .check(&history, &Seconds(Instant::now(), Duration::from_secs(60)));
        let keys: Vec<String> = match answer.outcome {
            Outcome::Valid => Vec::new(),
            Outcome::Invalid { violations } => {
                eprintln!("{run}: {}", violations[0].explanation);
                violations.into_iter().filter_map(|violation| violation.key).collect()
            }
            Outcome::Unknown { why } => panic!("{run}: {why}"),
        };
        assert_eq!(keys, expected, "{run}");
    }
}
