//! Which run a test process belongs to, and what its session holds in the end.

use crate::tree::{Tree, session_root};
use disttest_runtime::base::digest::sha256_hex;
use disttest_runtime::run::CheckLimits;
use disttest_runtime::verdict::{Event, ScenarioRecord, Verdict};
use disttest_runtime::verify::{Means, Standing, verify};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Sessions of the plan in `root`, oldest first.
fn sessions(root: &TempDir) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(root.path().join("contract")).expect("sessions of the plan").flatten().map(|e| e.path()).collect();
    found.sort();
    found
}

#[track_caller]
fn the_session(root: &TempDir) -> PathBuf {
    let mut found = sessions(root);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn record(session: &Path, id: &str) -> ScenarioRecord {
    let text = fs::read_to_string(session.join("artifacts").join(id).join("scenario.json")).expect("a record");
    serde_json::from_str(&text).expect("a readable record")
}

fn events(session: &Path, id: &str) -> Vec<Event> {
    let text = fs::read_to_string(session.join("artifacts").join(id).join("events.jsonl")).expect("events");
    text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect()
}

#[track_caller]
fn verdicts(session: &Path, expect: &[(&str, Verdict)]) {
    let report = fs::read_to_string(session.join("findings/report.md")).expect("a report");
    for (id, verdict) in expect {
        assert_eq!(record(session, id).verdict, *verdict, "{id}");
        assert!(report.contains(id) && report.contains(verdict.as_str()), "{id} {verdict}:\n{report}");
    }
}

/// What `sha256sum --check` does, that no file of the session is left out, and that what it says follows from its files,
/// here and after a move.
#[track_caller]
fn verify_manifest(session: &Path) {
    let means = Means { limits: CheckLimits::default(), say: &|_| {} };
    let stands = |at: &Path| {
        let found = verify(at, None, &means).expect("a session");
        assert!(found.standing() < Standing::Contradicted, "{found:#?}");
    };
    stands(session);
    let moved = session.with_extension("moved");
    fs::rename(session, &moved).expect("moved");
    stands(&moved);
    fs::rename(&moved, session).expect("moved back");
    let manifest = fs::read_to_string(session.join("MANIFEST.sha256")).expect("a manifest");
    let mut listed: Vec<PathBuf> = Vec::new();
    for line in manifest.lines() {
        let (hash, name) = line.split_once("  ").expect("hash, two spaces, name");
        let bytes = fs::read(session.join(name)).expect("a listed file is there");
        assert_eq!(sha256_hex(&bytes), hash, "{name}");
        listed.push(session.join(name));
    }
    let mut folders = vec![session.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
            match path.is_dir() {
                true => folders.push(path),
                false => assert!(
                    listed.contains(&path) || path.ends_with("MANIFEST.sha256"),
                    "{} is not listed",
                    path.display()
                ),
            }
        }
    }
}

const ALL: [(&str, Verdict); 5] = [
    ("S1", Verdict::PassSmoke),
    ("S2", Verdict::FailReproducible),
    ("S3", Verdict::NotRun),
    ("S4", Verdict::InconclusiveOracleTooWeak),
    ("S5", Verdict::PassSmoke),
];

#[test]
fn the_binaries_of_one_cargo_test_share_a_session_and_it_holds_every_scenario() {
    let (tree, root) = (Tree::new("contract"), session_root());
    let answer = tree.cargo("test --no-fail-fast").sessions(&root).expect(101);
    answer.says(&[
        "test failing ... FAILED",
        "test passing ... ok",
        "test unfilled ... ignored, NOT-RUN: not filled",
        "test inner::panicking ... FAILED",
        "test synchronous ... ok",
        "test ordinary ... ok",
        "1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out",
    ]);
    answer.notes(&[
        "Error: FAIL-reproducible S2 seed=",
        "a value nobody wrote",
        "cargo test -p contract -- --exact failing",
    ]);
    assert!(!answer.out.contains("speaks to its stdout"), "{}", answer.out);
    let session = the_session(&root);
    verdicts(&session, &ALL);
    verify_manifest(&session);
    let (folder, _) = &record(&session, "S1").runs[0];
    let log = fs::read_to_string(session.join(folder).join("test.log")).expect("a log");
    assert!(log.contains("S1 speaks to its stdout"), "{log}");
}

#[test]
fn two_runs_are_two_sessions() {
    let (tree, root) = (Tree::new("contract"), session_root());
    for run in 1..=2 {
        tree.cargo("test --test beta -- --exact inner::panicking").sessions(&root).expect(101);
        assert_eq!(sessions(&root).len(), run);
    }
    // One run is also what a person calls so.
    for _ in 0..2 {
        let run = tree.cargo("test --test beta -- --exact inner::panicking").sessions(&root);
        run.env("DISTTEST_SESSION", "nightly").expect(101);
        assert_eq!(sessions(&root).len(), 3);
    }
    let last = sessions(&root).pop().expect("a session");
    assert!(last.join("artifacts/S4/scenario-attempt-1.json").exists(), "the first attempt is kept");
    verify_manifest(&last);
}

/// True when cargo-nextest is there; says so when it is not.
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn nextest() -> bool {
    let asked =
        Command::new("cargo").args(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let there = asked.is_ok_and(|status| status.success());
    if !there {
        eprintln!("skipped: cargo-nextest is not installed");
    }
    there
}

#[test]
fn under_nextest_all_processes_share_a_session_and_scenarios_take_turns() {
    if !nextest() {
        return;
    }
    let (tree, root) = (Tree::new("contract"), session_root());
    let listed = tree.cargo("nextest list --offline --message-format oneline").expect(0);
    for name in ["contract::alpha failing", "contract::beta inner::panicking", "contract::plain ordinary"] {
        listed.says(&[name]);
    }
    // A report of an earlier run of these tests proves nothing.
    let junit = tree.root().join("target/nextest/contract/junit.xml");
    let _ = fs::remove_file(&junit);
    let run = tree.cargo("nextest run --offline --profile contract --test-threads 4").sessions(&root);
    let answer = run.expect(100);
    answer.notes(&["5 tests run: 3 passed, 2 failed, 1 skipped"]);
    let session = the_session(&root);
    verdicts(&session, &ALL);
    verify_manifest(&session);
    take_turns(&session);
    let junit = fs::read_to_string(junit).expect("nextest writes JUnit");
    assert!(junit.contains("<failure message=\"Error: FAIL-reproducible S2 seed="), "{junit}");
}

/// Scenarios did not overlap.
fn take_turns(session: &Path) {
    let at = |id: &str, what: &str| events(session, id).iter().find(|event| event.event == what).expect(what).unix_ms;
    let mut spans: Vec<(u64, u64)> = ["S1", "S2", "S4", "S5"].map(|id| (at(id, "start"), at(id, "end"))).to_vec();
    spans.sort_unstable();
    assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{spans:?}");
}

#[test]
fn an_unfilled_scenario_that_nextest_is_made_to_run_fails() {
    if !nextest() {
        return;
    }
    let (tree, root) = (Tree::new("contract"), session_root());
    let run = tree.cargo("nextest run --offline --run-ignored only").sessions(&root);
    run.expect(100).notes(&["1 test run: 0 passed, 1 failed", "Error: NOT-RUN S3: not filled: region `oracle`"]);
}

#[test]
fn a_retry_of_nextest_does_not_hide_what_the_first_attempt_found() {
    if !nextest() {
        return;
    }
    let (tree, root) = (Tree::new("contract"), session_root());
    let run = tree.cargo("nextest run --offline --retries 1 -E test(=synchronous)").sessions(&root);
    run.env("CONTRACT_LIE_ONCE", root.path().join("lied")).expect(100);
    let session = the_session(&root);
    assert_eq!(record(&session, "S5").verdict, Verdict::FailNondeterministic);
    assert!(session.join("artifacts/S5/scenario-attempt-1.json").exists());
    verify_manifest(&session);
}
