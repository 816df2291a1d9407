//! A perfect scenario for tests: three seeds, five landed windows each, everything checked. Tests damage copies of it.

use super::*;
use crate::base::time::Nanos;
use crate::checker::{Answer, Evidence, Outcome, Violation};
use crate::fault::{Assessment, Side, SideFinding};
use crate::plan::{Budget, Budgets, Category, Release, Tier};

pub(crate) const CHECKERS: [&str; 2] = ["linearizability", "no-lost-ack"];

pub(crate) fn declared() -> Declared {
    Declared {
        id: "S1".to_owned(),
        name: "linearizable_register_under_partitions".to_owned(),
        test: "linearizable_register_under_partitions".to_owned(),
        plan: "docs/testing-plans/register.md".to_owned(),
        scenario_sha256: "90ab".to_owned(),
        falsifies: vec![("C1".to_owned(), vec![Category::Safety]), ("C2".to_owned(), vec![Category::Durability])],
        model: Some("register".to_owned()),
        checkers: vec![(CHECKERS[0].to_owned(), Scope::PerKey), (CHECKERS[1].to_owned(), Scope::Whole)],
        fault: DeclaredFault::Planned {
            nemeses: vec!["asymmetric-data-cut".to_owned(), "hard-kill".to_owned(), "pause".to_owned()],
            injector: vec!["proxy-dropped-bytes".to_owned(), "process-exit".to_owned()],
            victim: vec!["client-timeouts".to_owned()],
        },
        budgets: Some(budgets()),
        shares_nothing: false,
        package: "abd-store".to_owned(),
        target: "s1".to_owned(),
        surface: None,
        negative_controls: Vec::new(),
    }
}

pub(crate) fn budgets() -> Budgets {
    Budgets {
        smoke: Budget { nodes: 3, seconds: 10, faults: 1, seeds: 1, operations: 0 },
        hardening: Budget { nodes: 5, seconds: 30, faults: 5, seeds: 3, operations: 20_000 },
        release: Release::NotProvided { reason: "no soak rig yet".to_owned(), revisit: "one exists".to_owned() },
    }
}

pub(crate) fn no_fault() -> DeclaredFault {
    DeclaredFault::None { reason: "the happy path".to_owned() }
}

pub(crate) fn perfect() -> Vec<RunRecord> {
    (1..=3).map(run).collect()
}

pub(crate) fn run(seed: u64) -> RunRecord {
    let budget = Budget { seeds: 1, ..budgets().hardening };
    RunRecord {
        schema: "disttest.run/1".to_owned(),
        request: request(seed, 0, budget),
        end: End::Judged,
        measured: Budget { operations: 20_500, ..budget },
        workload: Nanos(31_000_000_000),
        operations: OpCounts { recorded: 20_500, acknowledged: 20_000, failed: 100, unknown: 400 },
        preconditions: ["cluster up", "observability live", "baseline captured", "fault plane responsive"]
            .map(|name| Precondition { name: name.to_owned(), ok: true, evidence: "seen".to_owned() })
            .to_vec(),
        windows: ["asymmetric-data-cut", "hard-kill", "pause", "asymmetric-data-cut", "hard-kill"]
            .into_iter()
            .zip(1..)
            .map(|(nemesis, epoch)| window(epoch, nemesis))
            .collect(),
        no_fault: None,
        injections: 5,
        history_sha256: Some(format!("{seed:064x}")),
        history_weak: Vec::new(),
        history_lacks: Vec::new(),
        quiescence: None,
        answers: CHECKERS.map(|name| answer(name, Outcome::Valid)).to_vec(),
        recipes: Vec::new(),
        teeth: CHECKERS.map(|name| tooth(name, Bite::Rejected)).to_vec(),
        controls: Vec::new(),
        deaths: Vec::new(),
        binaries: Vec::new(),
        expected_log: Vec::new(),
        log_scan: Some(LogScan { files: 5, bytes: 1000, suspicious: Vec::new(), expected: Vec::new() }),
        notes: Vec::new(),
    }
}

pub(crate) fn request(seed: u64, rerun: u32, budget: Budget) -> RunRequest {
    RunRequest {
        schema: "disttest.request/1".to_owned(),
        run_id: format!("run-{seed}-{rerun}"),
        scenario: "S1".to_owned(),
        seed,
        rerun,
        tier: Tier::Hardening,
        budget,
        run_dir: format!("artifacts/S1/seed-{seed}"),
        log_dir: format!("logs/S1/seed-{seed}"),
        sut_args: Vec::new(),
    }
}

/// The same run once more, as its `n`-th re-run.
pub(crate) fn rerun(of: &RunRecord, n: u32) -> RunRecord {
    let request = request(of.request.seed, n, of.request.budget);
    RunRecord { request, history_sha256: Some(format!("{n:064x}")), ..of.clone() }
}

pub(crate) fn window(epoch: u64, nemesis: &str) -> Assessment {
    let side = |side, signal: &str| SideFinding {
        side,
        moved: true,
        signal: Some(format!("{signal} at n1")),
        why: format!("{signal} at n1: 0 before, 412 during"),
    };
    Assessment {
        epoch,
        nemesis: nemesis.to_owned(),
        detail: "n1".to_owned(),
        held: Nanos(3_000_000_000),
        injector: side(Side::Injector, "process-exit"),
        victim: side(Side::Victim, "client-timeouts"),
        landed: true,
        recovered: true,
        recovery: "quiet after 0.4 s, probe succeeded".to_owned(),
        occasion: None,
        parts: Vec::new(),
    }
}

pub(crate) fn answer(checker: &str, outcome: Outcome) -> Answer {
    Answer {
        checker: checker.to_owned(),
        model: (checker == CHECKERS[0]).then(|| "register".to_owned()),
        outcome,
        evidence: Evidence { recorded: 20_500, consumed: 20_500, fired: 9_000, partitions: 4, peak_bytes: 1 << 20 },
        cannot_detect: vec!["anomalies across keys".to_owned()],
    }
}

pub(crate) fn invalid(anomaly: &str) -> Outcome {
    let explanation = "client 3 read 1 after client 2's write of 2 was acknowledged".to_owned();
    let violation = Violation { anomaly: anomaly.to_owned(), key: Some("k1".to_owned()), ops: vec![4, 9], explanation };
    Outcome::Invalid { violations: vec![violation] }
}

pub(crate) fn tooth(checker: &str, bite: Bite) -> Tooth {
    let damage = "dropped-acknowledged-write".to_owned();
    Tooth { checker: checker.to_owned(), damage, detail: "operation 9".to_owned(), bite }
}

pub(crate) fn death(allowed: bool) -> NodeDeath {
    NodeDeath { node: "n2".to_owned(), at: Nanos(5), how: "exit status 134".to_owned(), allowed }
}
