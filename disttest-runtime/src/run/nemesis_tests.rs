//! Nemeses on disks, clocks, resources and by hooks, each on real processes: that it lands and heals, that its twin
//! which does nothing is caught, and that a machine without what it needs says so.

use super::tests::{AllOk, Ghost, no_process_is_left, request};
use super::*;
use crate::cluster::{Program, tiny};
use crate::fault::Shape;
use crate::nemesis::{Disk, DiskFull, Nemesis, StorageCorruption};
use crate::verdict::{End, RunRecord};
use anyhow::Result;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Everything that a nemesis of this file can be proven by.
const INJECTOR: &[&str] = &["disk-exhausted", "disk-corrupted-bytes", "process-exit"];
const VICTIM: &[&str] = &["metric:trouble", "client-timeouts"];

/// How to run one nemesis.
#[derive(Clone)]
struct Case {
    program: Program,
    /// The line that clients send, and now and then the second.
    lines: [&'static str; 2],
}

impl Case {
    fn new(program: Program) -> Case {
        Case { program, lines: ["put", "verify"] }
    }

    async fn run(self, run: Run, nemesis: impl Nemesis + 'static) -> Result<Judged> {
        let cluster = run.cluster(self.program).await?;
        let trouble = |target: Target| async move { Ok(tiny::ask(target.address, "trouble").await?.parse()?) };
        let probe = Probe::metric("trouble", trouble).shaped(Shape::Counter { dose: 3.0 });
        let lines = self.lines;
        let workload = run.workload(cluster).clients(6).probe(probe).start(move |client| calls(client, lines)).await?;
        let landed = {
            let faults = workload.faults();
            let injected = faults.inject(nemesis).await?;
            injected.hold_for(Duration::from_millis(1500)).await;
            injected.heal().await?;
            faults.settle().await
        };
        let history = workload.stop(|_| async { Ok(()) }).await?;
        run.oracle(history).check(AllOk).judge(landed)
    }
}

async fn calls(mut client: Client, lines: [&'static str; 2]) -> Result<()> {
    let mut calls = 0_u64;
    while client.running() {
        calls += 1;
        let (address, line) = (client.addr(), if calls.is_multiple_of(8) { lines[1] } else { lines[0] });
        let asking = async move {
            match tiny::ask(address, line).await {
                Ok(answer) if answer == "ok" => Ok(answer.into()),
                Ok(answer) => Err(CallError::Unknown(answer)),
                Err(error) => Err(CallError::Unknown(format!("{error:#}"))),
            }
        };
        client.call("write", "x", json!(null), Duration::from_millis(400), asking).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// Executes `body` once.
fn record(body: fn(Run) -> ScenarioFuture) -> (RunRecord, tempfile::TempDir) {
    let dir = tempfile::tempdir().expect("a folder");
    let entry = Entry {
        function: "scenario",
        model: None,
        checkers: &[("all-ok", false)],
        injector: INJECTOR,
        victim: VICTIM,
        negative_controls: &[],
        body,
    };
    let record = execute::execute_within(entry, request(dir.path(), 1), Duration::from_secs(60));
    no_process_is_left(dir.path());
    assert!(mounts_below(dir.path()).is_empty(), "{:?}", mounts_below(dir.path()));
    (record, dir)
}

/// What is mounted below `dir`.
fn mounts_below(dir: &Path) -> Vec<String> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("linux");
    mounts.lines().filter(|line| line.contains(&dir.display().to_string())).map(str::to_owned).collect()
}

/// The fault lands on `signal` and heals; a machine too busy to sample in time proves nothing, so there are three
/// chances. Where the machine lacks something, the record says so and what to do about it, and that is said here too.
fn lands(body: fn(Run) -> ScenarioFuture, signal: &str) {
    let mut last = None;
    for _ in 0..3 {
        let (record, _dir) = record(body);
        if lacks(&record) {
            return;
        }
        assert_eq!(record.end, End::Judged, "{record:#?}");
        let window = &record.windows[0];
        if window.landed && window.recovered {
            assert!(window.injector.signal.as_deref().is_some_and(|s| s.contains(signal)), "{window:#?}");
            assert!(record.preconditions.iter().all(|p| p.ok), "{:#?}", record.preconditions);
            assert_eq!((record.measured.faults, record.injections), (1, 1));
            assert_eq!(record.deaths, []);
            return;
        }
        last = Some(record);
    }
    panic!("it did not land and heal in three runs: {:#?}", last.map(|record| record.windows));
}

/// The run found something missing on this machine; says what.
fn lacks(record: &RunRecord) -> bool {
    use std::io::Write as _;
    let told = |text: &str| {
        let _ = writeln!(std::io::stderr(), "skipped: {text}");
    };
    if let End::EnvMissing { what } = &record.end {
        assert!(what.contains("the machine lacks"), "{what}");
        told(what);
        return true;
    }
    let lacking = record.preconditions.iter().find(|p| !p.ok && p.evidence.contains("the machine lacks"));
    lacking.inspect(|p| told(&p.evidence)).is_some()
}

/// The same fault by name, victims and signals, and nobody makes it.
fn is_caught(body: fn(Run) -> ScenarioFuture) {
    let (record, _dir) = record(body);
    if lacks(&record) {
        return;
    }
    assert_eq!(record.end, End::Judged, "{record:#?}");
    assert!(!record.windows[0].landed, "{:#?}", record.windows[0]);
    assert_eq!((record.measured.faults, record.injections), (0, 1));
}

fn on_small_disks() -> Case {
    Case::new(tiny::program().disk(Disk::sized(4 << 20)))
}

fn full() -> DiskFull {
    DiskFull::new(["n2"])
}

fn flipped() -> StorageCorruption {
    StorageCorruption::bits(["n2"], 8, 1)
}

#[test]
fn a_full_disk_lands_once_writes_fail() {
    lands(|run| Box::pin(on_small_disks().run(run, full())), "disk-exhausted at n2");
    is_caught(|run| Box::pin(on_small_disks().run(run, Ghost(full()))));
}

#[test]
fn a_full_disk_that_nobody_writes_to_is_seen_by_the_injector_only() {
    let (record, _dir) = record(|run| {
        let idle = Case { lines: ["peer-less", "peer-less"], ..on_small_disks() };
        Box::pin(idle.run(run, full()))
    });
    if lacks(&record) {
        return;
    }
    let window = &record.windows[0];
    assert!(window.injector.moved && !window.victim.moved && !window.landed, "{window:#?}");
}

#[test]
fn a_disk_that_is_no_disk_of_its_own_cannot_be_filled() {
    let (record, _dir) = record(|run| Box::pin(Case::new(tiny::program()).run(run, full())));
    let window = &record.windows[0];
    assert!(!window.landed && window.injector.why.contains("n2 has no disk of its own"), "{window:#?}");
}

#[test]
fn flipped_bits_in_files_land_and_are_put_back() {
    lands(|run| Box::pin(Case::new(tiny::program()).run(run, flipped())), "disk-corrupted-bytes at n2");
    is_caught(|run| Box::pin(Case::new(tiny::program()).run(run, Ghost(flipped()))));
}
