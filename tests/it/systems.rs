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

/// Runs the plan of `example` at the hardening tier with `args`: the exit status, and lines that the summary holds.
#[track_caller]
fn check(example: &Path, args: &str, status: i32, says: &[&str]) {
    let root = session_root();
    let plan = std::fs::read_dir(example.join("docs/testing-plans")).expect("plans").flatten().next().expect("a plan");
    let plan = plan.path().display().to_string();
    Run::disttest(example, &format!("run {plan} --tier hardening {args}")).sessions(&root).expect(status).says(says);
}

const POSTGRES: [(&str, &str); 2] = [("initdb", "postgresql"), ("postgres", "postgresql")];

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn postgresql_keeps_what_it_acknowledged_under_kill_9_with_synchronous_commit_and_without_it_does_not() {
    if let Some(why) = missing(&POSTGRES) {
        eprintln!("skipped: {why}");
        return;
    }
    let example = systems().join("postgres");
    check(&example, "", 0, &["PASS-hardening", "Session: DONE (hardening tier)"]);
    let off = "--sut-arg=-c --sut-arg=synchronous_commit=off";
    check(&example, off, 1, &["FAIL-reproducible", "C1 violated: lost-acknowledged-write"]);
}
