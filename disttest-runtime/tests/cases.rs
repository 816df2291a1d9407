//! Recorded histories with known answers, kept outside this repository: set `DISTTEST_CASES` to their folder.
//!
//! `linearizability/manifest.csv` names file, model and expected answer. Without the folder the test says so and passes.
#![expect(clippy::print_stderr, clippy::unwrap_used, reason = "a report of an opt-in test")]

use disttest_runtime::checker::{Checker, Evidence, Limits, Linearizability, NoLostAck, Outcome};
use disttest_runtime::history::{Effect, History, jsonl};
use disttest_runtime::model::{CasRegister, Kv, Model, MultiRegister, Mutex, Queue, Register};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::{Path, PathBuf};
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

fn read(path: &Path) -> History {
    let file = BufReader::new(std::fs::File::open(path).unwrap());
    jsonl::read_foreign(file, &path.display().to_string()).unwrap().history
}

/// A failed `cas` of these files saw another value: take away the error, so that its answer `false` counts.
fn failed_cas_observe(history: History) -> History {
    let mut ops = history.into_ops();
    for op in ops.iter_mut().filter(|op| op.op_type == "cas" && op.effect() == Effect::Failed) {
        op.error = None;
    }
    History::new(ops).unwrap()
}

/// The checker of a line of the manifest.
fn checker(model: &str, init: &str) -> Option<Box<dyn Checker>> {
    let start: Value = serde_json::from_str(init.trim_matches('"')).unwrap_or(Value::Null);
    fn whole<M: Model + 'static>(model: M) -> Option<Box<dyn Checker>> {
        Some(Box::new(Linearizability::whole(model)))
    }
    match model {
        "etcd" | "register" => whole(Register::new()),
        "cas-register" if start.is_null() => whole(CasRegister::new()),
        "cas-register" => whole(CasRegister::starting_at(start)),
        "kv" => whole(Kv::new()),
        "mutex" => whole(Mutex::new()),
        "queue" => whole(Queue::new()),
        "multi-register" => whole(MultiRegister::starting_at(start)),
        _ => None,
    }
}

/// Checks `history`, and tells the shortest of some times that it took.
fn timed(checker: &dyn Checker, history: &History) -> (Outcome, Evidence, Duration) {
    let check = || {
        let at = Instant::now();
        let answer = checker.check(history, &Seconds(at, Duration::from_secs(5)));
        (answer.outcome, answer.evidence, at.elapsed())
    };
    let mut best = check();
    let rounds = match &best.0 {
        Outcome::Unknown { .. } => 0,
        _ if best.2 < Duration::from_millis(1) => 20,
        _ => 2,
    };
    for _ in 0..rounds {
        let again = check();
        assert_eq!((&best.0, best.1.fired), (&again.0, again.1.fired), "the answer is the same every time");
        best.2 = best.2.min(again.2);
    }
    best
}

/// CPU seconds of Porcupine by file.
fn porcupine(folder: &Path) -> BTreeMap<String, f64> {
    let table = std::fs::read_to_string(folder.join("porcupine.csv")).unwrap();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        Some((fields[0].to_owned(), fields.get(3)?.parse().ok()?))
    };
    table.lines().skip(1).filter_map(row).collect()
}

#[test]
fn known_answers() {
    let Some(folder) = folder() else { return };
    let folder = folder.join("linearizability");
    let manifest = std::fs::read_to_string(folder.join("manifest.csv")).unwrap();
    let peer = porcupine(&folder);
    let (mut wrong, mut checked, mut skipped, mut undecided) = (Vec::new(), 0, 0, 0);
    let (mut times, mut ratios, mut real) = (Vec::new(), Vec::new(), Duration::ZERO);
    for line in manifest.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (file, model, expected, init) = (fields[0], fields[1], fields[2], fields[9]);
        let Some(checker) = checker(model, init) else {
            skipped += 1;
            continue;
        };
        let history = read(&folder.join(file));
        let recorded = history.ops().len() as u64;
        let history = if fields[10] == "constrain" { failed_cas_observe(history) } else { history };
        let (outcome, evidence, took) = timed(&*checker, &history);
        checked += 1;
        let ratio = peer.get(file).map(|seconds| seconds / took.as_secs_f64());
        if matches!(model, "etcd" | "cas-register") {
            real += took;
            ratios.extend(ratio);
        }
        times.push((took, file.to_owned(), evidence.fired, ratio));
        let got = match &outcome {
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
                undecided += 1;
                wrong.push(format!("{file}: undecided after {took:?}: {why}"));
                continue;
            }
        };
        if got != expected {
            wrong.push(format!("{file}: expected {expected}, got {got} after {took:?}, {evidence:?}"));
        } else if !matches!(outcome, Outcome::Unknown { .. }) {
            assert!(evidence.consumed <= recorded, "{file}");
        }
    }
    times.sort_by_key(|time| time.0);
    eprintln!("{checked} checked, {undecided} undecided, {skipped} of other models; seconds, steps, times faster:");
    for (took, file, steps, ratio) in times.iter().rev() {
        let ratio = ratio.map_or(String::new(), |ratio| format!("{ratio:.1}"));
        eprintln!("{:.6} {steps:>8} {ratio:>8} {file}", took.as_secs_f64());
    }
    let geometric = (ratios.iter().map(|ratio: &f64| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    eprintln!(
        "{} register files in {real:?}; Porcupine / ours: geometric mean {geometric:.1}, least {least:.2}, {} below 1",
        ratios.len(),
        ratios.iter().filter(|ratio| **ratio < 1.0).count()
    );
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
