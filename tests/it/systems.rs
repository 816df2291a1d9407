//! Real systems: the examples under `tests/systems` come to the outcomes that are known of these databases.

use crate::tree::{Run, session_root};
use disttest_runtime::verdict::ScenarioRecord;
use disttest_tests::workspace;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Why this machine cannot run an example that needs `programs`; `None` when it can.
fn missing(programs: &[(&str, &str)]) -> Option<String> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .chain(fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|v| v.path().join("bin")))
        .collect();
    let has = |name: &str| folders.iter().any(|folder| folder.join(name).is_file());
    if let Some((name, package)) = programs.iter().find(|(name, _)| !has(name)) {
        return Some(format!("`{name}` is not installed (apt install {package})"));
    }
    let fetched = Run::cargo(&systems(), "metadata --locked --offline --format-version 1").ended();
    // What is not there is a reason to skip; what nobody keeps up to date is none.
    let stale = "tests/systems/Cargo.lock is out of date: cargo metadata --manifest-path tests/systems/Cargo.toml";
    assert!(!fetched.err.contains("--locked was passed"), "{stale}\n{}", fetched.err);
    (fetched.status != 0)
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
    let plan = fs::read_dir(example.join("docs/testing-plans")).expect("plans").flatten().next().expect("a plan");
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

/// An example's tests as they were built, where somebody without rights may start them.
struct Unprivileged {
    example: PathBuf,
    folder: TempDir,
}

/// Who has no rights.
const NOBODY: u32 = 65_534;

impl Unprivileged {
    /// `None`, with the reason, where these tests have no rights themselves, or nobody could have fewer.
    fn of(example: &Path) -> Option<Unprivileged> {
        let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
        let mut unshare = Command::new("unshare");
        let granted = root.then(|| unshare.args(["-Urnm", "true"]).uid(NOBODY).gid(NOBODY).status());
        let why = match granted {
            None => "these tests are run by a user without rights already",
            Some(status) if status.as_ref().is_ok_and(std::process::ExitStatus::success) => {
                let folder = tempfile::tempdir().expect("a temporary folder");
                return Some(Unprivileged { example: example.to_path_buf(), folder });
            }
            Some(_) => "a user without rights may have no namespaces here",
        };
        say(&format!("skipped without rights: {why}"));
        None
    }

    /// Runs the test of `scenario`, built from `source`, at the smoke tier: its record.
    fn run(&self, source: &str, scenario: &str, env: &[(&str, &str)]) -> ScenarioRecord {
        let built =
            Run::cargo(&self.example, &format!("test --offline --no-run --message-format=json --test {source}"));
        let messages = built.expect(0).events();
        let executable = messages.iter().filter_map(|message| message["executable"].as_str()).next_back();
        let place = tempfile::tempdir_in(self.folder.path()).expect("a temporary folder");
        let (here, sessions) = (place.path().join(scenario), place.path().join("sessions"));
        fs::copy(executable.expect("an executable was built"), &here).expect("copied");
        fs::create_dir_all(&sessions).expect("made");
        // The plan too: nobody need be able to look into this checkout.
        let package = self.folder.path().join("package");
        let status = Command::new("cp").arg("-rT").arg(&self.example).arg(&package).status();
        assert!(status.expect("cp runs").success());
        let open = Command::new("chmod").args(["-R", "a+rwX"]).arg(self.folder.path()).status();
        assert!(open.expect("chmod runs").success());
        let run = Run::of(&here.display().to_string(), &package, "")
            .env("DISTTEST_SESSION_ROOT", &sessions)
            .env("CARGO_MANIFEST_DIR", &package)
            .env("HOME", self.folder.path());
        let run = env.iter().fold(run, |run, (name, value)| run.env(name, value));
        let answer = run.user(NOBODY).ended();
        let records = files_below(&sessions).into_iter().filter(|path| path.ends_with("scenario.json"));
        let mut records =
            records.map(|path| serde_json::from_slice(&fs::read(path).expect("readable")).expect("a record"));
        records.next().unwrap_or_else(|| panic!("no record: {answer:?}"))
    }

    #[track_caller]
    fn check(&self, source: &str, scenario: &str, env: &[(&str, &str)], verdict: &str) {
        let record = self.run(source, scenario, env);
        assert_eq!(record.verdict.to_string(), verdict, "{scenario}: {:#?}", record.why.steps);
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn say(what: &str) {
    eprintln!("{what}");
}

/// Says why a test is skipped, if it is.
fn skipped(programs: &[(&str, &str)]) -> bool {
    let why = missing(programs);
    if let Some(why) = &why {
        say(&format!("skipped: {why}"));
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

#[test]
fn the_examples_come_to_the_same_outcomes_without_rights_in_user_namespaces() {
    if std::env::var_os("DISTTEST_ROOTLESS").is_none() {
        return say("skipped without rights: it takes minutes, and DISTTEST_ROOTLESS=1 asks for it");
    }
    if skipped(&ETCD) || skipped(&REDIS) {
        return;
    }
    if let Some(etcd) = Unprivileged::of(&systems().join("etcd")) {
        let [puts, reads] = [
            "S1_puts_and_reads_stay_linearizable_without_the_leader",
            "S2_serializable_reads_are_at_most_a_second_old",
        ];
        etcd.check(puts, "S1", &[], "PASS-smoke");
        etcd.check(reads, "S2", &[], "FAIL-reproducible");
        etcd.check(puts, "S1", &[("WRONG_ADDRESS", "1")], "INCONCLUSIVE-fault-not-proven");
    }
    if let Some(redis) = Unprivileged::of(&systems().join("redis")) {
        redis.check("S1_answered_adds_survive_the_failover", "S1", &[], "FAIL-reproducible");
    }
}
