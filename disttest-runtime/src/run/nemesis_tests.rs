//! Nemeses on disks, clocks, resources and by hooks, each on real processes: that it lands and heals, that its twin
//! which does nothing is caught, and that a machine without what it needs says so.

use super::tests::{AllOk, Ghost, no_process_is_left, request};
use super::*;
use crate::cluster::{Program, tiny};
use crate::fault::Shape;
use crate::nemesis::{
    BitFlip, BoxFuture, CgroupFreeze, ClockJump, ClockSkew, CpuThrottle, Disk, DiskFailure, DiskFull, Failpoint,
    FsyncFailure, Lacks, MemoryLimit, MixedVersion, Nemesis, Plane, PowerLoss, RollingRestart, RollingUpgrade,
    SlowClock, SlowDisk, SlowSync, StorageCorruption,
};
use crate::verdict::{End, RunRecord};
use anyhow::Result;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Everything that a nemesis of this file can be proven by.
const INJECTOR: &[&str] = &[
    "disk-exhausted",
    "disk-corrupted-bytes",
    "disk-lost-bytes",
    "disk-failed-calls",
    "disk-delayed-calls",
    "disk-flipped-bits",
    "syscall-injections",
    "clock-skewed-calls",
    "cgroup-frozen",
    "cgroup-throttled",
    "cgroup-memory-failures",
    "failpoint-hits",
    "process-exit",
    "process-restarted",
    "process-upgraded",
    "hook:version",
];
const VICTIM: &[&str] =
    &["metric:trouble", "metric:steps-back", "metric:clock", "client-timeouts", "client-errors", "client-latency"];

/// How to run one nemesis.
#[derive(Clone)]
struct Case {
    program: Program,
    /// The line that clients send, and now and then the second.
    lines: [&'static str; 2],
    /// By how much, in milliseconds, the node's clock must leave ours.
    clock: f64,
}

impl Case {
    fn new(program: Program) -> Case {
        Case { program, lines: ["put", "verify"], clock: 30_000.0 }
    }

    fn sending(line: &'static str) -> Case {
        Case { lines: [line, line], ..Case::new(tiny::program()) }
    }

    async fn run(self, run: Run, nemesis: impl Nemesis + 'static) -> Result<Judged> {
        let cluster = run.cluster(self.program).await?;
        let (lines, clock) = (self.lines, Shape::Gauge { change: self.clock });
        let workload = run.workload(cluster).clients(6).evidence(&version());
        let workload = workload.probe(count("trouble", 3.0)).probe(count("steps-back", 2.0));
        let workload = workload.probe(Probe::metric("clock", difference).shaped(clock));
        let workload = workload.start(move |client| calls(client, lines)).await?;
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

/// What a node counts under `name`.
fn count(name: &'static str, dose: f64) -> Probe {
    let read = move |target: Target| async move { Ok(tiny::ask(target.address, name).await?.parse()?) };
    Probe::metric(name, read).shaped(Shape::Counter { dose })
}

/// Milliseconds that a node's clock is ahead of ours.
async fn difference(target: Target) -> Result<f64> {
    let theirs: f64 = tiny::ask(target.address, "time").await?.parse()?;
    Ok(theirs - std::time::UNIX_EPOCH.elapsed()?.as_millis() as f64)
}

/// The version that a node says it runs.
fn version() -> Evidence {
    Evidence::level("version", 1.0, |target| async move { Ok(tiny::ask(target.address, "version").await?.parse()?) })
}

async fn calls(mut client: Client, lines: [&'static str; 2]) -> Result<()> {
    let mut calls = 0_u64;
    while client.running() {
        calls += 1;
        let (address, line) = (client.addr(), if calls.is_multiple_of(8) { lines[1] } else { lines[0] });
        let asking = async move {
            match tiny::ask(address, line).await {
                Ok(answer) if answer == "ok" || answer == "here" => Ok("ok".into()),
                Ok(answer) => Err(CallError::Unknown(answer)),
                Err(error) => Err(CallError::Unknown(format!("{error:#}"))),
            }
        };
        client.call("write", "x", json!(null), Duration::from_millis(400), asking).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

fn entry(body: fn(Run) -> ScenarioFuture) -> Entry {
    Entry {
        function: "scenario",
        model: None,
        checkers: &[("all-ok", false)],
        injector: INJECTOR,
        victim: VICTIM,
        negative_controls: &[],
        body,
    }
}

/// Executes `body` once.
fn record(body: fn(Run) -> ScenarioFuture) -> (RunRecord, tempfile::TempDir) {
    let dir = tempfile::tempdir().expect("a folder");
    let record = execute::execute_within(entry(body), request(dir.path(), 1), Duration::from_secs(60));
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

/// A test of one nemesis: it lands and heals, and its twin that does nothing does not.
macro_rules! nemesis {
    ($name:ident, $case:expr, $nemesis:expr, $signal:literal) => {
        #[test]
        fn $name() {
            lands(|run| Box::pin($case.run(run, $nemesis)), $signal);
            is_caught(|run| Box::pin($case.run(run, Ghost($nemesis))));
        }
    };
}

/// A program whose variant `next` is another binary and fails where the first does not.
fn with_next() -> Case {
    let next = tiny::by_shell("exec \"$0\" \"$@\"").config("version", "2\n");
    Case::new(tiny::program().config("version", "1\n").variant("next", next))
}

/// The same binary under the name of another version.
fn with_next_that_is_the_same() -> Case {
    let same = tiny::program().config("version", "2\n");
    Case::new(tiny::program().config("version", "1\n").variant("next", same))
}

nemesis!(
    a_cluster_of_mixed_versions_lands_and_goes_back,
    with_next(),
    MixedVersion::new(["n2"], "next"),
    "process-upgraded"
);

/// Another binary that does all that the first does.
fn with_next_as_good() -> Case {
    Case::new(tiny::program().variant("next", tiny::by_shell("exec \"$0\" \"$@\"")))
}

nemesis!(
    a_rolling_upgrade_lands_and_is_finished,
    with_next_as_good(),
    RollingUpgrade::new(["n1", "n2"], "next"),
    "process-upgraded"
);

#[test]
fn an_upgrade_to_the_same_binary_is_none() {
    is_caught(|run| Box::pin(with_next_that_is_the_same().run(run, MixedVersion::new(["n2"], "next"))));
}

fn plain() -> Case {
    Case::new(tiny::program())
}

fn on_small_disks() -> Case {
    Case::new(tiny::program().disk(Disk::sized(4 << 20)))
}

nemesis!(a_full_disk_lands_once_writes_fail, on_small_disks(), DiskFull::new(["n2"]), "disk-exhausted at n2");
nemesis!(
    flipped_bits_in_files_land_and_are_put_back,
    plain(),
    StorageCorruption::bits(["n2"], 8, 1),
    "disk-corrupted-bytes at n2"
);
nemesis!(
    bits_that_are_flipped_while_their_node_is_down_land,
    plain(),
    StorageCorruption::bits(["n2"], 8, 1).while_down(),
    "disk-corrupted-bytes at n2"
);
fn on_faulty_disks() -> Case {
    Case::new(tiny::program().disk(Disk::Faulty))
}

/// Records that are not synced.
fn careless() -> Case {
    Case { lines: ["careless-put", "verify"], ..on_faulty_disks() }
}

nemesis!(a_power_loss_lands_on_who_does_not_sync, careless(), PowerLoss::new(["n2"]), "disk-lost-bytes at n2");
nemesis!(a_torn_write_lands, careless(), PowerLoss::new(["n2"]).torn(1), "disk-lost-bytes at n2");
nemesis!(a_write_that_fails_lands, on_faulty_disks(), DiskFailure::of_writes(["n2"]), "disk-failed-calls at n2");
nemesis!(a_sync_that_fails_lands, on_faulty_disks(), DiskFailure::of_syncs(["n2"]), "disk-failed-calls at n2");
nemesis!(
    a_slow_disk_lands,
    Case { lines: ["put", "put"], ..on_faulty_disks() },
    SlowDisk::new(["n2"], Duration::from_millis(600)),
    "disk-delayed-calls at n2"
);
nemesis!(bits_that_flip_when_they_are_read_land, on_faulty_disks(), BitFlip::new(["n2"], 1), "disk-flipped-bits at n2");

#[test]
fn a_power_loss_takes_nothing_from_who_syncs_and_does_not_land() {
    is_caught(|run| Box::pin(on_faulty_disks().run(run, PowerLoss::new(["n2"]))));
}

nemesis!(an_fsync_that_fails_lands, plain(), FsyncFailure::new(["n2"]), "syscall-injections at n2");
nemesis!(
    a_slow_fsync_lands,
    Case { lines: ["put", "put"], ..plain() },
    SlowSync::new(["n2"], Duration::from_millis(600)),
    "syscall-injections at n2"
);
nemesis!(
    a_clock_that_is_ahead_lands,
    plain(),
    ClockSkew::ahead(["n2"], Duration::from_secs(60)),
    "clock-skewed-calls at n2"
);
nemesis!(
    a_clock_that_is_behind_lands,
    Case { clock: -30_000.0, ..plain() },
    ClockSkew::behind(["n2"], Duration::from_secs(60)),
    "clock-skewed-calls at n2"
);
nemesis!(
    a_clock_that_runs_slow_lands,
    Case { clock: -200.0, ..plain() },
    SlowClock::new(["n2"], 0.3),
    "clock-skewed-calls at n2"
);
nemesis!(
    a_clock_that_jumps_lands,
    Case::sending("tick"),
    ClockJump::new(["n2"], Duration::from_secs(3), Duration::from_millis(120)),
    "clock-skewed-calls at n2"
);
nemesis!(a_frozen_group_lands, plain(), CgroupFreeze::new(["n2"]), "cgroup-frozen at n2");
nemesis!(a_throttled_group_lands, Case::sending("spin"), CpuThrottle::new(["n2"], 1), "cgroup-throttled at n2");
nemesis!(
    a_memory_limit_lands_and_its_kill_is_nobody_elses,
    Case::sending("grow"),
    MemoryLimit::new(["n2"], 3 << 20),
    "cgroup-memory-failures at n2"
);
nemesis!(a_rolling_restart_lands, plain(), RollingRestart::in_order(["n1", "n2", "n3"]), "process-restarted at n3");
nemesis!(
    a_failpoint_that_is_hit_lands,
    Case::new(tiny::program().failpoints()),
    Failpoint::new(["n2"], "put", "return(disk on fire)"),
    "failpoint-hits at n2"
);

/// The nodes in `victims` get another configuration.
fn divergence() -> Hook {
    Hook::config_divergence(&version(), ["n2"]).acts(
        "version 2 in the configuration",
        |plane| async move { Ok(std::fs::write(plane.nodes().data_dir("n2")?.join("version"), "2")?) },
        |plane| async move { Ok(std::fs::remove_file(plane.nodes().data_dir("n2")?.join("version"))?) },
    )
}

nemesis!(a_hook_lands_by_its_evidence, plain(), divergence(), "hook:version at n2");

#[test]
fn a_clock_that_nobody_bent_does_not_land() {
    is_caught(|run| Box::pin(plain().run(run, Ghost(ClockSkew::ahead(["n2"], Duration::from_secs(60))))));
}

#[test]
fn a_node_that_is_traced_already_is_an_injection_that_failed() {
    let (record, _dir) = record(|run| Box::pin(plain().run(run, FsyncFailure::new(["n2", "n2"]))));
    if lacks(&record) {
        return;
    }
    let window = &record.windows[0];
    assert!(!window.landed && window.injector.why.contains("n2 is traced already"), "{window:#?}");
}

#[test]
fn a_hook_whose_acts_do_nothing_is_caught() {
    is_caught(|run| {
        let idle = Hook::config_divergence(&version(), ["n2"]);
        Box::pin(plain().run(run, idle.acts("nothing", |_| async { Ok(()) }, |_| async { Ok(()) })))
    });
}

#[test]
fn a_failpoint_that_no_code_passes_does_not_land() {
    is_caught(|run| {
        let program = Case::new(tiny::program().failpoints());
        Box::pin(program.run(run, Failpoint::new(["n2"], "no-such-place", "return")))
    });
}

#[test]
fn leaders_are_restarted_one_after_the_other_and_never_the_same_one_twice_in_a_row() {
    let (record, _dir) = record(|run| {
        let turns = std::sync::atomic::AtomicUsize::new(0);
        let find = move || {
            let turn = turns.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            async move { Ok(["n1", "n1", "n3", "n2"][turn % 4].to_owned()) }
        };
        Box::pin(plain().run(run, RollingRestart::of_leaders(["n1", "n2", "n3"], find)))
    });
    let injector = &record.windows[0].injector;
    assert!(injector.moved, "{injector:#?}");
    let signal = injector.signal.as_deref().unwrap_or_default();
    for node in ["n1", "n2", "n3"] {
        assert!(signal.contains(&format!("process-restarted at {node}")), "{signal}");
    }
}

#[test]
fn a_full_disk_that_nobody_writes_to_is_seen_by_the_injector_only() {
    let body: fn(Run) -> ScenarioFuture =
        |run| Box::pin(Case { lines: ["peer", "peer"], ..on_small_disks() }.run(run, DiskFull::new(["n2"])));
    // A machine that is too busy to sample in time shows nothing on either side.
    let shown = (0..3).any(|_| {
        let (record, _dir) = record(body);
        lacks(&record) || {
            let window = &record.windows[0];
            assert!(!window.victim.moved && !window.landed, "{window:#?}");
            window.injector.moved
        }
    });
    assert!(shown, "in three runs the injector saw no full disk");
}

#[test]
fn a_folder_that_is_no_disk_of_its_own_cannot_be_filled() {
    let (record, _dir) = record(|run| Box::pin(plain().run(run, DiskFull::new(["n2"]))));
    let window = &record.windows[0];
    assert!(!window.landed && window.injector.why.contains("n2 has no disk of its own"), "{window:#?}");
}

/// Needs something that no machine has.
struct Lacking;

impl Nemesis for Lacking {
    fn name(&self) -> &str {
        "fsync-failure"
    }

    fn detail(&self) -> String {
        String::new()
    }

    fn victims(&self) -> Vec<String> {
        vec!["n2".to_owned()]
    }

    fn injector(&self) -> Vec<(String, String)> {
        vec![("syscall-injections".to_owned(), "n2".to_owned())]
    }

    fn inject<'a>(&'a mut self, _plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Err(Lacks::new("`strace`", "apt-get install strace").into()) })
    }

    fn heal<'a>(&'a mut self, _plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

#[test]
fn what_the_machine_lacks_is_a_precondition_that_failed_with_what_to_install() {
    let (record, _dir) = record(|run| Box::pin(plain().run(run, Lacking)));
    let failed = record.preconditions.iter().find(|p| !p.ok).expect("one");
    assert_eq!(failed.name, "fault plane responsive");
    assert!(failed.evidence.contains("the machine lacks `strace` (apt-get install strace)"), "{}", failed.evidence);
}

/// What the next test runs as a process of its own; nothing by itself.
#[test]
fn child() {
    let Ok(dir) = std::env::var("NEMESIS_TESTS_CHILD") else { return };
    let body: fn(Run) -> ScenarioFuture = |run| {
        Box::pin(async move {
            let faulty = std::env::var("NEMESIS_TESTS_DISK").is_ok_and(|disk| disk == "faulty");
            let disk = if faulty { Disk::Faulty } else { Disk::sized(4 << 20) };
            let cluster = run.cluster(tiny::program().disk(disk)).await?;
            let workload = run.workload(cluster).clients(3).start(|client| calls(client, ["put", "put"])).await?;
            let faults = workload.faults();
            let injected = faults.inject(CgroupFreeze::new(["n1"])).await?;
            std::fs::write(run.dir().join("up"), "")?;
            injected.hold_for(Duration::from_secs(600)).await;
            anyhow::bail!("held to the end")
        })
    };
    let entry = Entry { victim: &["client-timeouts"], injector: &["cgroup-frozen"], ..entry(body) };
    drop(execute::execute_within(entry, request(Path::new(&dir), 1), Duration::from_secs(60)));
}

#[test]
fn after_a_sigkill_disks_and_groups_are_undone_and_frozen_nodes_end() {
    ["sized", "faulty"].into_iter().for_each(is_undone_after_a_sigkill);
}

fn is_undone_after_a_sigkill(disk: &str) {
    let dir = tempfile::tempdir().expect("a folder");
    let me = std::env::current_exe().expect("the test executable");
    let mut child = std::process::Command::new(me)
        .args(["--exact", "run::nemesis_tests::child", "--nocapture"])
        .env("NEMESIS_TESTS_CHILD", dir.path())
        .env("NEMESIS_TESTS_DISK", disk)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    let up = dir.path().join("run/up");
    while !up.exists() {
        if let Ok(Some(status)) = child.try_wait() {
            let text = std::fs::read_to_string(dir.path().join("run/run.json")).expect("a record");
            assert!(lacks(&serde_json::from_str(&text).expect("a record")), "{status}: {text}");
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(mounts_below(dir.path()).len(), 3);
    let undone = crate::nemesis::undo_journal(&dir.path().join("run"));
    assert_eq!(undone.iter().filter(|line| line.starts_with("unmounted the disk of n")).count(), 3, "{undone:?}");
    assert!(undone.iter().any(|line| line.starts_with("removed the control group of n1")), "{undone:?}");
    assert_eq!(mounts_below(dir.path()), Vec::<String>::new());
    no_process_is_left(dir.path());
}
