//! Real systems: the examples under `tests/systems` come to the outcomes that are known of these databases.

use crate::tree::{Run, session_root};
use disttest_tests::workspace;
use std::path::{Path, PathBuf};

/// Why this machine cannot run an example that needs `programs`; `None` when it can.
fn missing(programs: &[(&str, &str)]) -> Option<String> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .chain(std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|v| v.path().join("bin")))
        .collect();
    let has = |name: &str| folders.iter().any(|folder| folder.join(name).is_file());
    if let Some((name, package)) = programs.iter().find(|(name, _)| !has(name)) {
        return Some(format!("`{name}` is not installed (apt install {package})"));
    }
    let fetched = Run::cargo(&systems(), "metadata --locked --offline --format-version 1").status();
    (fetched != 0)
        .then(|| "its clients are not fetched (cargo fetch --manifest-path tests/systems/Cargo.toml)".to_owned())
}

fn systems() -> PathBuf {
    workspace().join("tests/systems")
}

/// Runs the plan of `example` with `args`, with the fault on the wrong address or not: the exit
/// status, and for each scenario the verdict that the summary has.
#[track_caller]
fn check(example: &Path, args: &str, wrong_address: bool, status: i32, verdicts: &[(&str, &str)]) {
    let root = session_root();
    let plan = std::fs::read_dir(example.join("docs/testing-plans")).expect("plans").flatten().next().expect("a plan");
    let plan = plan.path().display().to_string();
    let mut run = Run::disttest(example, &format!("run {plan} {args}")).sessions(&root);
    if wrong_address {
        run = run.env("WRONG_ADDRESS", "1");
    }
    let answer = run.expect(status);
    for (scenario, verdict) in verdicts {
        let line = answer.out.lines().find(|line| line.trim_start().starts_with(&format!("{scenario} ")));
        let line = line.unwrap_or_else(|| panic!("no line of {scenario}:\n{}", answer.out));
        assert!(line.contains(verdict), "{verdict} of {scenario} was expected: {line}\n{}\n{}", answer.out, answer.err);
    }
}

/// Says why a test is skipped, if it is.
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn skipped(programs: &[(&str, &str)]) -> bool {
    let why = missing(programs);
    if let Some(why) = &why {
        eprintln!("skipped: {why}");
    }
    why.is_some()
}

const HARDENING: &str = "--tier hardening";
const POSTGRES: [(&str, &str); 2] = [("initdb", "postgresql"), ("postgres", "postgresql")];
const ETCD: [(&str, &str); 2] = [("etcd", "etcd-server"), ("iptables", "iptables")];
const REDIS: [(&str, &str); 2] = [("redis-server", "redis-server"), ("iptables", "iptables")];

#[test]
fn postgresql_keeps_what_it_acknowledged_under_kill_9_with_synchronous_commit_and_without_it_does_not() {
    if skipped(&POSTGRES) {
        return;
    }
    let example = systems().join("postgres");
    check(&example, HARDENING, false, 0, &[("S1", "PASS-hardening")]);
    let off = format!("{HARDENING} --sut-arg=-c --sut-arg=synchronous_commit=off");
    check(&example, &off, false, 1, &[("S1", "FAIL-reproducible")]);
}

#[test]
fn etcd_is_linearizable_without_its_leader_and_its_serializable_reads_are_as_old_as_the_cut() {
    if skipped(&ETCD) {
        return;
    }
    let example = systems().join("etcd");
    check(&example, HARDENING, false, 1, &[("S1", "PASS-hardening"), ("S2", "FAIL-reproducible")]);
    check(&example, "--tier smoke --scenario S1", true, 3, &[("S1", "INCONCLUSIVE-fault-not-proven")]);
}

#[test]
fn redis_loses_what_it_acknowledged_and_with_wait_it_keeps_the_set_and_not_the_registers() {
    if skipped(&REDIS) {
        return;
    }
    let example = systems().join("redis");
    let known = [("S1", "FAIL-reproducible"), ("S2", "PASS-hardening"), ("S3", "FAIL-reproducible")];
    check(&example, HARDENING, false, 1, &known);
    check(&example, "--tier smoke --scenario S2", true, 3, &[("S2", "INCONCLUSIVE-fault-not-proven")]);
}
