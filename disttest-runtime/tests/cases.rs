//! Recorded histories with known answers, kept outside this repository: set `DISTTEST_CASES` to their folder.
//!
//! `linearizability/manifest.csv` names file, model and expected answer. Without the folder the test says so and passes.
#![expect(clippy::print_stderr, clippy::unwrap_used, reason = "a report of an opt-in test")]

use disttest_runtime::checker::{Checker, Evidence, Limits, Linearizability, NoLostAck, Outcome};
use disttest_runtime::history::{Effect, History, Op, jsonl};
use disttest_runtime::model::{Atoms, Model, Register, Step};
use serde_json::Value;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Strings that are read, replaced and appended to: the key-value store of some of the cases.
struct Strings;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum StringCall {
    Get(Option<String>),
    Put(String),
    Append(String),
}

impl Model for Strings {
    type State = String;
    type Call = StringCall;

    fn name(&self) -> &str {
        "strings"
    }

    fn start(&self, _: &mut Atoms) -> String {
        String::new()
    }

    fn call(&self, op: &Op, _: &mut Atoms) -> Result<StringCall, String> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        match op.op_type.as_str() {
            "get" => Ok(StringCall::Get(text(&op.output))),
            "put" => text(&op.input).map(StringCall::Put).ok_or_else(|| "no text".to_owned()),
            "append" => text(&op.input).map(StringCall::Append).ok_or_else(|| "no text".to_owned()),
            other => Err(format!("`{other}`")),
        }
    }

    fn step(&self, state: &String, call: &StringCall) -> Step<String> {
        match call {
            StringCall::Get(None) => Step::Unchanged,
            StringCall::Get(Some(seen)) if seen == state => Step::Unchanged,
            StringCall::Get(_) => Step::Illegal,
            StringCall::Put(value) => Step::To(value.clone()),
            StringCall::Append(more) => Step::To(format!("{state}{more}")),
        }
    }

    fn one_object_per_key(&self) -> bool {
        true
    }

    fn only_reads(&self, call: &StringCall) -> bool {
        matches!(call, StringCall::Get(_))
    }

    fn observes(&self, call: &StringCall) -> bool {
        matches!(call, StringCall::Get(Some(_)))
    }
}

/// A mutex, as a model that a user would write.
struct Mutex;

impl Model for Mutex {
    type State = bool;
    type Call = bool;

    fn name(&self) -> &str {
        "lock"
    }

    fn start(&self, _: &mut Atoms) -> bool {
        false
    }

    fn call(&self, op: &Op, _: &mut Atoms) -> Result<bool, String> {
        match op.op_type.as_str() {
            "acquire" => Ok(true),
            "release" => Ok(false),
            other => Err(format!("`{other}`")),
        }
    }

    fn step(&self, held: &bool, acquire: &bool) -> Step<bool> {
        if held == acquire { Step::Illegal } else { Step::To(*acquire) }
    }
}

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

fn check(model: &str, init: &str, constrain: bool, history: History) -> Option<(Outcome, Evidence, Duration)> {
    let history = if constrain { failed_cas_observe(history) } else { history };
    let at = Instant::now();
    let limit = Seconds(at, Duration::from_secs(5));
    let answer = match model {
        "etcd" | "register" => Linearizability::whole(Register::new()).check(&history, &limit),
        "cas-register" => {
            let start: Value = serde_json::from_str(init).unwrap_or(Value::Null);
            Linearizability::whole(Register::starting_at(start).ignoring_null_reads()).check(&history, &limit)
        }
        "kv" => Linearizability::per_key(Strings).check(&history, &limit),
        "mutex" => Linearizability::whole(Mutex).check(&history, &limit),
        _ => return None,
    };
    Some((answer.outcome, answer.evidence, at.elapsed()))
}

#[test]
fn known_answers() {
    let Some(folder) = folder() else { return };
    let folder = folder.join("linearizability");
    let manifest = std::fs::read_to_string(folder.join("manifest.csv")).unwrap();
    let (mut wrong, mut checked, mut skipped, mut undecided) = (Vec::new(), 0, 0, 0);
    let mut times = Vec::new();
    for line in manifest.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (file, model, expected) = (fields[0], fields[1], fields[2]);
        let history = read(&folder.join(file));
        let recorded = history.ops().len() as u64;
        let Some((outcome, evidence, took)) = check(model, fields[9], fields[10] == "constrain", history) else {
            skipped += 1;
            continue;
        };
        checked += 1;
        times.push((took, file.to_owned(), evidence.fired));
        let got = match &outcome {
            Outcome::Valid => "linearizable".to_owned(),
            Outcome::Invalid { violations } => {
                let ops = violations[0].ops.len();
                eprintln!("{file}: witness of {ops} operations in {took:?}");
                if ops > 6 || std::env::var_os("DISTTEST_CASES_SHOW").is_some() {
                    eprintln!("{}", violations[0].explanation);
                }
                "not-linearizable".to_owned()
            }
            // Nothing was observed in it at all.
            Outcome::Unknown { why } if why.contains("observes anything") => "linearizable".to_owned(),
            Outcome::Unknown { why } => {
                undecided += 1;
                eprintln!("{file}: undecided after {took:?}: {why}");
                continue;
            }
        };
        if got != expected {
            wrong.push(format!("{file}: expected {expected}, got {got} after {took:?}, {evidence:?}"));
        } else if !matches!(outcome, Outcome::Unknown { .. }) {
            assert_eq!(evidence.consumed, recorded, "{file}");
        }
    }
    times.sort();
    let total: Duration = times.iter().map(|(took, ..)| *took).sum();
    eprintln!("{checked} checked, {undecided} undecided, {skipped} of other models, total {total:?}, slowest:");
    for (took, file, steps) in times.iter().rev().take(10) {
        eprintln!("  {took:?} {steps} steps {file}");
    }
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
