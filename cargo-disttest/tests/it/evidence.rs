//! Evidence as runs of a scenario leave it on disk, made up: all files that a verdict is derived from agree with each
//! other, so that the verdict is what they come to and nobody's word.

use crate::package::{PLAN_PATH, Package};
use disttest_runtime::base::digest::sha256_hex;
use disttest_runtime::base::time::Nanos;
use disttest_runtime::checker::{Answer, Evidence, Outcome, Violation};
use disttest_runtime::fault::{Policy, Sample, Series, Shape, Window, assess};
use disttest_runtime::harness::executions;
use disttest_runtime::plan::{Budget, Id, Tier, parse};
use disttest_runtime::session::{judge, path_safe, planned};
use disttest_runtime::verdict::{
    Bite, Declared, DeclaredFault, Drift, End, Harness, LogScan, OpCounts, Precondition, RunRecord, RunRequest,
    ScenarioRecord, Tooth, Verdict,
};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// Operations of each history.
const OPS: u64 = 30;

/// What a program leaves of one scenario or arm.
#[derive(Clone)]
pub(crate) struct Left {
    pub(crate) record: ScenarioRecord,
    /// The history of each execution.
    histories: Vec<String>,
    /// The fault windows of each execution.
    windows: Vec<Vec<Window>>,
}

/// What an honest test of the scenario or arm `id` of the plan in `package` leaves when it comes to `verdict` in a run of
/// its weakest fitting tier.
pub(crate) fn of(package: &Package, id: &str, verdict: Verdict) -> Left {
    let tier = if verdict == Verdict::PassHardening { Tier::Hardening } else { Tier::Smoke };
    asked(package, id, verdict, tier, None)
}

/// As [`of`], for a run that asks for `tier` and for exactly this `seed`.
pub(crate) fn asked(package: &Package, id: &str, verdict: Verdict, tier: Tier, seed: Option<u64>) -> Left {
    let plan = parse(&package.read(PLAN_PATH)).0;
    let parsed = Id::parse(id).unwrap();
    let scenario = plan.scenarios.iter().find(|scenario| scenario.id.value.number() == parsed.number()).unwrap();
    let mut declared = planned(&plan, PLAN_PATH, scenario, &parsed);
    declared.package = "small".into();
    declared.target = id.to_lowercase().replace('/', "_");
    let (budget, seeds) = executions(&declared, tier, seed, None);
    let mut left = Left {
        record: judge(&declared, tier, Vec::new(), Drift::None, Vec::new(), Vec::new()),
        histories: Vec::new(),
        windows: Vec::new(),
    };
    let reruns: &[bool] = match verdict {
        Verdict::FailReproducible => &[true],
        Verdict::FailNondeterministic => &[false; 3],
        _ => &[],
    };
    for seed in if verdict == Verdict::NotRun { &[][..] } else { &seeds } {
        let request = |rerun| request(&declared, tier, budget, *seed, rerun);
        left.add(&declared, request(0), verdict);
        for (again, rerun) in reruns.iter().zip(1..) {
            left.add(&declared, request(rerun), if *again { verdict } else { Verdict::PassSmoke });
        }
        if verdict.is_fail() {
            break;
        }
    }
    left.judge();
    assert_eq!(left.record.verdict, verdict, "{:#?}", left.record.why);
    left
}

fn request(declared: &Declared, tier: Tier, budget: Budget, seed: u64, rerun: u32) -> RunRequest {
    let execution = if rerun == 0 { format!("seed-{seed}") } else { format!("seed-{seed}-rerun-{rerun}") };
    let folder = format!("{}/{execution}", path_safe(&declared.id));
    RunRequest {
        schema: "disttest.request/1".into(),
        run_id: format!("{folder}@1"),
        scenario: declared.id.clone(),
        seed,
        rerun,
        tier,
        budget,
        run_dir: format!("@SESSION@/artifacts/{folder}"),
        log_dir: format!("@SESSION@/logs/{folder}"),
        sut_args: Vec::new(),
    }
}

impl Left {
    /// One execution more, on whose account the scenario would come to `verdict`.
    fn add(&mut self, declared: &Declared, request: RunRequest, verdict: Verdict) {
        let folder = request.run_dir.replace("@SESSION@/", "");
        let history: String = (1..=OPS).map(|op| line(op, request.seed, request.rerun)).collect();
        let windows = windows(declared, &request, verdict != Verdict::InconclusiveFaultNotProven);
        let run = run(declared, request, verdict, sha256_hex(history.as_bytes()), &windows);
        self.windows.push(windows);
        self.histories.push(history);
        self.record.runs.push((folder, run));
    }

    /// Derives the verdict anew, as an honest harness does after a change of what it is derived from.
    pub(crate) fn judge(&mut self) {
        let ScenarioRecord { declared, tier, runs, drift, unfilled, lacking, .. } = self.record.clone();
        let harness = self.record.harness;
        self.record = ScenarioRecord { harness, ..judge(&declared, tier, runs, drift, unfilled, lacking) };
    }

    /// From an ephemeral package.
    pub(crate) fn ephemeral(mut self) -> Left {
        self.record.harness = Harness::Ephemeral;
        self.record.declared.package = "disttest-harness".into();
        self
    }

    /// Writes all of it to where the stand-in looks for it, in place of what is there.
    pub(crate) fn lay(&self, stub: &Path) {
        let folder = stub.join(path_safe(&self.record.declared.id));
        let _ = fs::remove_dir_all(&folder);
        let folder = folder.join(path_safe(&self.record.declared.id));
        write(folder.join("scenario.json"), &json(&self.record));
        for (at, (run_folder, run)) in self.record.runs.iter().enumerate().take(self.histories.len()) {
            let dir = folder.join(run_folder.rsplit('/').next().unwrap());
            write(dir.join("run.json"), &json(run));
            write(dir.join("history.jsonl"), &self.histories[at]);
            write(dir.join("landing.json"), &json(&self.windows[at]));
            write(dir.join("test.log"), "up\n");
        }
    }
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

fn write(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// An operation of a history that no other execution has.
fn line(op: u64, seed: u64, rerun: u32) -> String {
    let op = json!({
        "op_id": op, "process_id": op % 3, "invoke_ts": op * 1000, "complete_ts": op * 1000 + 500, "op_type": "write",
        "key": format!("k{seed}-{rerun}"), "input": op, "output": null, "error": null, "timeout_marker": false,
        "node_seen": "n1", "fault_epoch": null,
    });
    format!("{op}\n")
}

fn run(declared: &Declared, request: RunRequest, verdict: Verdict, history: String, windows: &[Window]) -> RunRecord {
    let budget = request.budget;
    let end = match verdict {
        Verdict::InconclusiveEnv => End::EnvMissing { what: "iptables: it is not installed".into() },
        Verdict::InconclusiveOracleTooWeak => End::Panicked { message: "no such key".into() },
        _ => End::Judged,
    };
    let checkers: Vec<&str> = match declared.checkers.as_slice() {
        [] => vec!["metric-slo"],
        declared => declared.iter().map(|(name, _)| name.as_str()).collect(),
    };
    let answers = checkers.iter().map(|name| answer(name, verdict));
    let teeth = checkers.iter().map(|name| Tooth {
        checker: (*name).into(),
        damage: "dropped-acknowledged-write".into(),
        detail: "operation 9".into(),
        bite: Bite::Rejected,
    });
    let no_fault = match &declared.fault {
        DeclaredFault::Planned { .. } => None,
        DeclaredFault::None { reason } => Some(reason.clone()),
    };
    RunRecord {
        measured: Budget { seeds: 1, operations: OPS, ..budget },
        workload: Nanos(budget.seconds * 1_000_000_000),
        operations: OpCounts { recorded: OPS, acknowledged: OPS, failed: 0, unknown: 0 },
        preconditions: ["cluster up", "observability live", "baseline captured", "fault plane responsive"]
            .map(|name| Precondition { name: name.into(), ok: true, evidence: "seen".into() })
            .to_vec(),
        injections: windows.len() as u64,
        windows: windows.iter().map(|window| assess(window, &Policy::default())).collect(),
        no_fault,
        history_sha256: Some(history),
        answers: if end == End::Judged && verdict != Verdict::PartialSurface { answers.collect() } else { Vec::new() },
        teeth: teeth.collect(),
        log_scan: Some(LogScan::default()),
        ..RunRecord::of_nothing(request, end.clone())
    }
}

fn answer(checker: &str, verdict: Verdict) -> Answer {
    let violation = Violation {
        anomaly: "stale-read".into(),
        key: Some("k".into()),
        ops: vec![4, 9],
        explanation: "client 3 read 1 after 2 was acknowledged".into(),
    };
    let consumed = if verdict == Verdict::PartialModel { OPS / 2 } else { OPS };
    let outcome = if verdict.is_fail() { Outcome::Invalid { violations: vec![violation] } } else { Outcome::Valid };
    Answer {
        checker: checker.into(),
        model: (checker == "linearizability").then(|| "register".into()),
        outcome,
        evidence: Evidence { recorded: OPS, consumed, fired: OPS, partitions: 4, peak_bytes: 1 << 20 },
        cannot_detect: vec!["anomalies across keys".into()],
    }
}

/// What was sampled of the faults of an execution: as many as its budget asks for.
fn windows(declared: &Declared, request: &RunRequest, landed: bool) -> Vec<Window> {
    let DeclaredFault::Planned { nemeses, injector, victim } = &declared.fault else { return Vec::new() };
    let window = |epoch| Window {
        epoch,
        nemesis: nemeses[0].clone(),
        detail: "n1".into(),
        victims: vec!["n1".into()],
        baseline_from: Nanos(0),
        requested_at: None,
        injected_at: seconds(2),
        healed_at: Some(seconds(5)),
        observed_until: seconds(16),
        injection_error: None,
        heal_error: None,
        probe_ok_at: Some(seconds(6)),
        injector: vec![series(&injector[0], true)],
        victim: vec![series(&victim[0], landed)],
        ..Window::default()
    };
    (1..=request.budget.faults).map(window).collect()
}

fn seconds(seconds: u64) -> Nanos {
    Nanos(seconds * 1_000_000_000)
}

/// A counter, read five times a second, that moves while the fault acts, if it does.
fn series(signal: &str, moves: bool) -> Series {
    let sample = |tick: u64| {
        let inside = tick.clamp(10, 25) - 10;
        Sample { at: Nanos(tick * 200_000_000), value: Some(if moves { inside as f64 } else { 0.0 }) }
    };
    let samples = (0..=80).map(sample).collect();
    Series { signal: signal.into(), source: "n1".into(), shape: Shape::Counter { dose: 1.0 }, samples }
}
