//! The table of sabotages: real runs of real processes, each wrong in one place, and the verdict it must come to.
//!
//! The first row is the healthy twin: without it, the others would prove nothing.

mod kills;
mod together;
mod world;

use disttest_runtime::base::digest::sha256_hex;
use disttest_runtime::plan;
use disttest_runtime::verdict::Verdict;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;
use world::{World, files_below, send};

use Verdict::{
    FailNondeterministic, FailReproducible, InconclusiveEnv, InconclusiveFaultNotProven, InconclusiveOracleTooWeak,
    NotRun, PartialModel, PartialSurface, PassSmoke,
};

const S1: &str = "register::register_under_a_partition";
const S2: &str = "edited::plan_edited_after_generation";
const S3: &str = "budget::budget_below_the_plan";
const S4: &str = "checker::checker_of_the_plan_left_out";
const S5: &str = "unfilled::region_not_filled";
const S6: &str = "helped::helper_not_filled";
const S7: &str = "longer::longer_workload";
const S8: &str = "increments::increments_under_a_kill";
const S9: &str = "namespaces::register_in_namespaces";
const S10: &str = "filters::register_behind_iptables";
const S11: &str = "filters::register_behind_nft";

/// One sabotage: what is wrong, which scenario it is done to, more of its environment, the verdict, a part of the reason.
type Row = (&'static str, &'static str, &'static [(&'static str, &'static str)], Verdict, &'static str);

const DEADLINE: &[(&str, &str)] = &[("DISTTEST_DEADLINE", "9")];
const STRICT: &[(&str, &str)] = &[("DISTTEST_STRICT", "1")];
const HARDENING: &[(&str, &str)] = &[("DISTTEST_TIER", "hardening"), ("DISTTEST_SEEDS", "1")];
const BUG: &[(&str, &str)] = &[("DISTTEST_SUT_ARGS", "--bug ack-before-quorum")];
const FORGETFUL: &[(&str, &str)] = &[("DISTTEST_SUT_ARGS", "--bug forget-keys")];

#[rustfmt::skip]
const TABLE: &[Row] = &[
    ("", S1, &[], PassSmoke, "fault landed"),
    // The fault.
    ("partition-not-applied", S1, &[], InconclusiveFaultNotProven, "`full-partition`"),
    ("partition-in-part", S1, &[], InconclusiveFaultNotProven, "not cut:"),
    ("injection-fails", S1, &[], InconclusiveFaultNotProven, "n9"),
    ("injection-error-swallowed", S1, &[], InconclusiveFaultNotProven, "`full-partition`"),
    ("fault-never-injected", S1, &[], InconclusiveFaultNotProven, "no fault"),
    ("faults-none", S1, &[], InconclusiveFaultNotProven, "no fault was injected"),
    ("another-fault-than-planned", S1, &[], InconclusiveFaultNotProven, "`full-partition` never acted"),
    ("healed-at-once", S1, &[], InconclusiveFaultNotProven, "`full-partition`"),
    ("proxy-bypassed", S1, &[], InconclusiveEnv, "fault plane responsive"),
    ("victim-noisy-before-the-fault", S1, &[], InconclusiveFaultNotProven, "metric:peer-timeouts"),
    ("probe-always-errs", S1, &[], InconclusiveEnv, "never read: metric:peer-timeouts"),
    ("probe-errs-under-the-fault", S1, &[], InconclusiveFaultNotProven, "metric:peer-timeouts"),
    ("probe-reads-a-constant", S1, &[], InconclusiveFaultNotProven, "metric:peer-timeouts"),
    ("no-client-at-the-victim", S1, &[], InconclusiveFaultNotProven, "metric:peer-timeouts"),
    ("not-healed", S1, &[], InconclusiveOracleTooWeak, "not quiescent"),
    // The history.
    ("history-truncated", S1, &[], InconclusiveOracleTooWeak, "not the history that was judged"),
    ("history-edited", S1, &[], InconclusiveOracleTooWeak, "not the history that was judged"),
    ("history-edited-before-it-is-judged", S1, &[], InconclusiveOracleTooWeak, "not the history that was judged"),
    ("history-removed", S1, &[], InconclusiveOracleTooWeak, "cannot be read back"),
    ("journal-removed", S1, &[], InconclusiveFaultNotProven, "the journal holds 0 injections"),
    ("call-dropped", S1, &[], InconclusiveOracleTooWeak, "lost its handle"),
    ("call-forgotten", S1, &[], InconclusiveOracleTooWeak, "still in flight"),
    ("no-final-reads", S1, &[], InconclusiveOracleTooWeak, "no-lost-ack"),
    ("clients-idle", S1, &[], InconclusiveEnv, "fault plane responsive"),
    ("clients-ask-nobody", S1, &[], InconclusiveEnv, "fault plane responsive"),
    ("operations-of-other-names", S1, &[], InconclusiveOracleTooWeak, "linearizability"),
    ("every-write-writes-the-same", S1, &[], InconclusiveOracleTooWeak, "rejected no damaged copy"),
    ("reads-only", S1, &[], InconclusiveOracleTooWeak, "no write was acknowledged"),
    // The oracle.
    ("checker-accepts-everything", S1, &[], InconclusiveOracleTooWeak, "`linearizability` accepted a history damaged"),
    ("checker-makes-no-check", S1, &[], InconclusiveOracleTooWeak, "`linearizability` made no check"),
    ("checker-undecided", S1, &[], InconclusiveOracleTooWeak, "out of memory"),
    ("checker-panics", S1, &[], InconclusiveOracleTooWeak, "index out of bounds"),
    ("checker-rejects-whatever-comes-later", S1, &[], InconclusiveOracleTooWeak, "does not accept the unchanged history"),
    ("checker-consumes-fewer", S1, &[], PartialModel, "operations into account"),
    ("checker-consumes-more-than-there-is", S1, &[], InconclusiveOracleTooWeak, "the run has"),
    ("checker-of-another-name", S1, &[], PartialSurface, "`linearizability` did not run"),
    ("checker-of-another-model", S1, &[], InconclusiveOracleTooWeak, "judged against `map`"),
    ("checker-not-run", S1, &[], PartialSurface, "`no-lost-ack` did not run"),
    // The budget.
    ("clients-return-early", S7, &[], PartialSurface, "below the smoke budget: seconds"),
    ("some-clients-return-early", S1, &[], PartialSurface, "below the smoke budget: seconds"),
    ("one-window-of-the-budget", S1, HARDENING, PassSmoke, "faults 1 of 3"),
    // Namespaces.
    ("in-namespaces", S9, &[], PassSmoke, "fault landed"),
    ("partition-not-applied", S9, &[], InconclusiveFaultNotProven, "`full-partition`"),
    ("partition-in-part", S9, &[], InconclusiveFaultNotProven, "not cut:"),
    ("injection-fails", S9, &[], InconclusiveFaultNotProven, "n9"),
    ("clients-idle", S9, &[], InconclusiveEnv, "fault plane responsive"),
    ("no-client-at-the-victim", S9, &[], InconclusiveFaultNotProven, "metric:peer-timeouts"),
    ("", S10, &[], PassSmoke, "fault landed"),
    ("partition-not-applied", S10, &[], InconclusiveFaultNotProven, "`full-partition`"),
    ("", S11, &[], PassSmoke, "fault landed"),
    ("partition-not-applied", S11, &[], InconclusiveFaultNotProven, "`full-partition`"),
    // The plan and the test.
    ("", S2, &[], PartialSurface, "not what the plan's scenario says: text"),
    ("", S3, &[], PartialSurface, "not what the plan's scenario says: budget"),
    ("checker-not-run", S4, &[], PartialSurface, "not what the plan's scenario says: checkers"),
    ("", S5, STRICT, NotRun, "region `oracle`"),
    ("", S6, STRICT, NotRun, "region `faults`"),
    // The process.
    ("process-aborts", S1, &[], InconclusiveOracleTooWeak, "signal 6"),
    ("process-kills-itself", S1, &[], InconclusiveOracleTooWeak, "signal 9"),
    ("process-exits-with-0", S1, &[], InconclusiveOracleTooWeak, "exit status 0"),
    ("exits-with-0-after-the-judgement", S1, &[], InconclusiveOracleTooWeak, "exit status 0"),
    ("panic", S1, &[], InconclusiveOracleTooWeak, "panicked: half-way"),
    ("panic-after-the-judgement", S1, &[], InconclusiveOracleTooWeak, "panicked: at the end"),
    ("panic-in-a-client", S1, &[], InconclusiveOracleTooWeak, "a client panics"),
    ("panic-in-a-task", S1, &[], PartialSurface, "panicked at"),
    ("panic-in-a-thread", S1, &[], PartialSurface, "panicked at"),
    ("error", S1, &[], InconclusiveOracleTooWeak, "half-way"),
    ("error-after-the-judgement", S1, &[], InconclusiveOracleTooWeak, "at the end"),
    ("hangs", S1, DEADLINE, InconclusiveOracleTooWeak, "its process died"),
    ("blocks", S1, DEADLINE, InconclusiveOracleTooWeak, "its process died"),
    ("process-stops-itself", S1, DEADLINE, InconclusiveOracleTooWeak, "its process died"),
    ("folder-moved-away", S1, &[], InconclusiveOracleTooWeak, "its process died"),
    // The system under test.
    ("node-killed", S1, &[], FailReproducible, "unexpected-node-exit on n3"),
    ("node-stopped", S1, &[], FailReproducible, "unexpected-node-exit on n3"),
    ("node-killed-under-the-fault", S1, &[], FailReproducible, "unexpected-node-exit on n3"),
    ("node-does-not-start", S1, &[], InconclusiveEnv, "cluster up"),
    ("node-killed-after-the-judgement", S1, &[], FailReproducible, "unexpected-node-exit on n3"),
    ("more-clients-at-the-victim", S1, BUG, FailReproducible, "(linearizability)"),
    ("", S8, &[], PassSmoke, "fault landed"),
    ("", S8, FORGETFUL, FailReproducible, "effect-twice"),
];

/// Rows under way at a time: a run mostly waits.
const AT_A_TIME: usize = 4;

#[test]
fn every_sabotaged_run_comes_to_its_verdict() {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let only = std::env::var("SABOTAGE_ROW").ok();
    let wanted = |row: &&Row| only.as_deref().is_none_or(|only| only == row.0) && can_run(row.1);
    let table: Vec<&Row> = TABLE.iter().filter(wanted).collect();
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME.min(table.len()) {
            scope.spawn(|| {
                while let Some(row) = table.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = check(row) {
                        wrong.lock().expect("no thread panics").push(why);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no thread panics");
    assert!(wrong.is_empty(), "{} of {} rows:\n\n{}", wrong.len(), table.len(), wrong.join("\n\n"));
}

fn check(row: &Row) -> Result<(), String> {
    let (sabotage, scenario, env, verdict, reason) = *row;
    let world = World::new();
    let began = Instant::now();
    let output = world.run(&["--exact", scenario], sabotage, env);
    let told = |problem: String| {
        let text = String::from_utf8_lossy(&output.stderr);
        Err(format!("`{sabotage}` on {scenario} ({:.1?}): {problem}\n{}", began.elapsed(), tail(&text)))
    };
    let records = world.records();
    let Some(record) = records.iter().find(|record| record.declared.test == scenario) else {
        return told("it left no record".to_owned());
    };
    if record.verdict != verdict {
        return told(format!("{} in place of {verdict}: {:#?}", record.verdict, record.why.steps));
    }
    let steps: Vec<&str> = record.why.steps.iter().map(|step| step.reason.as_str()).collect();
    if !steps.iter().any(|step| step.contains(reason)) {
        return told(format!("no reason says `{reason}`: {steps:#?}"));
    }
    // A PASS below the tier that was asked for is not what was asked for.
    let clean = verdict.is_pass() && !env.contains(&HARDENING[0]);
    if output.status.success() != clean {
        return told(format!("{verdict}, but {}", output.status));
    }
    world.nothing_is_left().or_else(told)
}

#[test]
fn a_killed_supervisor_leaves_no_pass_and_no_process() {
    let world = World::new();
    let mut supervisor = world.start(&["--exact", S1], "waits-to-be-killed", &[]);
    world.wait_for("half-way");
    supervisor.kill().expect("it runs");
    supervisor.wait().expect("it ends");
    world.nothing_is_left().expect("everything ended with it");
    let verdicts = world.verdicts();
    assert!(verdicts.contains(&InconclusiveOracleTooWeak), "{verdicts:?}");
    assert!(!verdicts.iter().any(|verdict| verdict.is_pass()), "{verdicts:?}");
}

#[test]
fn an_interrupted_supervisor_leaves_no_pass_and_no_process() {
    for signal in ["-INT", "-TERM"] {
        let world = World::new();
        let supervisor = world.start(&["--exact", S1], "waits-to-be-killed", &[]);
        world.wait_for("half-way");
        send(signal, supervisor.id());
        let output = supervisor.wait_with_output().expect("it ends");
        assert!(!output.status.success());
        assert_eq!(world.verdict_of(S1), InconclusiveOracleTooWeak);
        world.nothing_is_left().expect("everything ended with it");
    }
}

#[test]
fn a_run_that_is_killed_half_way_leaves_no_pass_and_no_process() {
    let world = World::new();
    let supervisor = world.start(&["--exact", S1], "waits-to-be-killed", &[]);
    world.wait_for("half-way");
    let runs = world.processes();
    let run = runs.iter().find(|(pid, line)| *pid != supervisor.id() && line.contains("--exact"));
    let run = run.unwrap_or_else(|| panic!("no run in {runs:?}")).0;
    send("-9", run);
    let output = supervisor.wait_with_output().expect("it ends");
    assert!(!output.status.success());
    assert_eq!(world.verdict_of(S1), InconclusiveOracleTooWeak);
    world.nothing_is_left().expect("the nodes ended with their run");
}

#[test]
fn a_session_that_is_used_again_keeps_what_was_found_and_gives_no_pass_to_a_later_death() {
    let world = World::new();
    let first = world.run(&["--exact", S1], "", &[]);
    assert_eq!((world.verdict_of(S1), first.status.success()), (PassSmoke, true));
    let second = world.run(&["--exact", S1], "process-aborts", &[]);
    assert_eq!((world.verdict_of(S1), second.status.success()), (InconclusiveOracleTooWeak, false));
    let third = world.run(&["--exact", S1], "node-killed", &[]);
    assert_eq!((world.verdict_of(S1), third.status.success()), (FailReproducible, false));
    let retried = world.run(&["--exact", S1], "", &[]);
    assert!(!retried.status.success(), "a retry hides no violation");
    assert!([FailReproducible, FailNondeterministic].contains(&world.verdict_of(S1)), "{}", world.verdict_of(S1));
}

/// Namespaces can be had here, with rights or in a user namespace; says so where they cannot.
#[expect(clippy::print_stderr, reason = "a test that could not run must say so")]
fn namespaces() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    *THERE.get_or_init(|| {
        let entered = Command::new("unshare").args(["--user", "--net", "--mount", "true"]).output();
        let there = entered.is_ok_and(|output| output.status.success());
        if !there {
            eprintln!("SKIPPED: scenarios in namespaces, which `unshare --user --net --mount` does not give");
        }
        there
    })
}

/// This machine has what the scenario needs; says so where it has not.
#[expect(clippy::print_stderr, reason = "a test that could not run must say so")]
pub(crate) fn can_run(scenario: &str) -> bool {
    let filter = match scenario {
        S9 => return namespaces(),
        S10 => "iptables",
        S11 => "nft",
        _ => return true,
    };
    let there = Command::new(filter).arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        eprintln!("SKIPPED: scenarios behind `{filter}`, which is not installed");
    }
    there && namespaces()
}

/// What the host's network and mounts look like.
pub(crate) fn host() -> String {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let mounts: Vec<String> = text("/proc/self/mountinfo").lines().map(str::to_owned).collect();
    let links: Vec<String> =
        text("/proc/net/dev").lines().skip(2).filter_map(|l| Some(l.split(':').next()?.trim().to_owned())).collect();
    let said = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    };
    let (rules, tables) = (said("iptables", &["-S"]), said("nft", &["list", "ruleset"]));
    format!("{mounts:?}\n{links:?}\n{rules}\n{tables}\n{:?}", fs::read_dir("/run/netns").map(Iterator::count).ok())
}

#[test]
fn a_run_in_namespaces_that_is_killed_at_any_moment_leaves_nothing_of_its_network() {
    if !namespaces() {
        return;
    }
    let (before, worlds) = (host(), 10);
    for (n, world) in (0..worlds).map(|n| (n, World::new())) {
        let mut supervisor = world.start(&["--exact", S9], "", &[]);
        // From before there are namespaces until after the fault has healed.
        std::thread::sleep(std::time::Duration::from_millis(60 + 450 * n));
        let over = supervisor.try_wait().expect("it can be asked").is_some();
        let runs = world.processes();
        let run = runs.iter().find(|(pid, line)| *pid != supervisor.id() && line.contains("--exact"));
        // The run itself, or its supervisor, or both at once.
        if n % 3 != 0
            && let Some((pid, _)) = run
        {
            drop(Command::new("kill").args(["-9", &pid.to_string()]).status());
        }
        if n % 3 != 1 {
            drop(supervisor.kill());
        }
        supervisor.wait().expect("it ends");
        world.nothing_is_left().unwrap_or_else(|left| panic!("killed {n}: {left}"));
        let passed = world.verdicts().iter().any(|verdict| verdict.is_pass());
        assert!(over || !passed, "killed {n}: {:?}", world.verdicts());
    }
    assert_eq!(host(), before);
}

#[test]
fn a_user_without_rights_runs_in_namespaces_too_and_two_runs_at_once_do_not_meet() {
    if !namespaces() {
        return;
    }
    // As root, the runs are those of a user who is nobody; nobody must be able to read what runs.
    let (worlds, nobody) = ([World::new(), World::new()], 65_534);
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    let bins = tempfile::tempdir().expect("a temporary folder");
    let copy = |from: &str, name: &str| {
        let to = bins.path().join(name);
        fs::copy(from, &to).expect("copied");
        to.display().to_string()
    };
    let sabotaged = copy(env!("CARGO_BIN_EXE_sabotaged"), "sabotaged");
    let node = copy(env!("CARGO_BIN_EXE_node-under-sabotage"), "node");
    let folders = worlds.iter().map(|world| world.root.path()).chain([bins.path()]);
    for folder in folders {
        assert!(Command::new("chmod").args(["-R", "a+rwX"]).arg(folder).status().expect("chmod runs").success());
    }
    let start = |world: &World| {
        let mut command = world.command(&sabotaged, "");
        command.args(["--exact", S9]).env("SABOTAGE_NODE", &node);
        if root {
            command.uid(nobody).gid(nobody);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let runs: Vec<Child> = worlds.iter().map(start).collect();
    for (run, world) in runs.into_iter().zip(&worlds) {
        let output = run.wait_with_output().expect("it ends");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(world.verdict_of(S9), PassSmoke, "{}", tail(&told));
        let log = files_below(world.root.path()).into_iter().find(|path| path.ends_with("session-log.md"));
        let text = fs::read_to_string(log.expect("a session log")).expect("readable");
        assert!(text.contains("switch-dropped-packets") && text.contains("fault plane"), "{text}");
        assert!(!root || text.contains("in a user namespace of user 65534"), "{text}");
        world.nothing_is_left().expect("everything ended with it");
    }
}

#[test]
fn a_scenario_that_is_not_filled_is_never_reported_as_run() {
    let world = World::new();
    for scenario in [S5, S6] {
        let ignored = world.run(&["--exact", scenario], "", &[]);
        assert!(String::from_utf8_lossy(&ignored.stdout).contains("ignored"), "{ignored:?}");
        assert_eq!(world.verdict_of(scenario), NotRun);
        let asked_for = world.run(&["--exact", scenario, "--include-ignored"], "", &[]);
        assert!(!asked_for.status.success());
        assert_eq!(world.verdict_of(scenario), NotRun);
    }
}

#[test]
fn nothing_that_ran_nothing_leaves_a_pass() {
    let world = World::new();
    let none = world.run(&["no-such-scenario"], "", &[]);
    assert!(String::from_utf8_lossy(&none.stderr).contains("nothing ran"), "{none:?}");
    assert!(world.records().is_empty());
    // Libtest ends well with a filter that matches nothing; `cargo disttest run` compares what ran with the plan.
    let listed = world.run(&["--list", "no-such-scenario"], "", &[]);
    assert_eq!(String::from_utf8_lossy(&listed.stdout), "");
    let leaked = [("DISTTEST_CHILD", "1"), ("DISTTEST_REQUEST", "/nonexistent/request.json")];
    for env in [&leaked[..], &leaked[..1], &leaked[1..]] {
        let output = world.run(&["--exact", S1], "", env);
        assert!(!output.status.success(), "{env:?}: {output:?}");
        assert!(world.records().is_empty());
    }
    let empty = world.command(env!("CARGO_BIN_EXE_without-scenarios"), "").output().expect("it runs");
    assert!(!empty.status.success());
    assert!(String::from_utf8_lossy(&empty.stderr).contains("no scenario is registered"), "{empty:?}");
}

#[test]
fn the_attributes_hold_the_digests_of_the_plan() {
    let text = fs::read_to_string(here("plans/sabotage.md")).expect("the plan");
    // S2 was made from an earlier plan.
    let earlier = text.replace("6 clients spread", "5 clients spread");
    assert_ne!(text, earlier);
    let mut stale = Vec::new();
    let files = ["register", "edited", "budget", "checker", "unfilled", "helped", "longer", "increments", "namespaces"];
    for (index, file) in files.into_iter().chain(["filters", "filters"]).enumerate() {
        let (plan, _) = plan::parse(if file == "edited" { &earlier } else { &text });
        let scenario = plan::scenario_digest(&plan, &plan.scenarios[index]);
        let source = fs::read_to_string(here(&format!("sabotage/{file}.rs"))).expect("a source file");
        let wanted =
            [format!("plan_sha256 = \"{}\"", sha256_hex(text.as_bytes())), format!("scenario_sha256 = \"{scenario}\"")];
        stale.extend(wanted.into_iter().filter(|line| !source.contains(line)).map(|line| format!("{file}.rs: {line}")));
    }
    assert!(stale.is_empty(), "write into tests/sabotage/\n{}", stale.join("\n"));
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}
