//! Sessions joined, written and rebuilt in temporary folders.

use super::scenario::tests::{declared, request};
use super::*;
use crate::checker::{Answer, Evidence, Outcome, Violation};
use crate::plan::Tier;
use crate::verdict::{Declared, Drift, RunRecord, ScenarioRecord, Verdict};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir_all(dir.path().join("ws")).expect("made");
        World { dir }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("ws/test-sessions")
    }

    fn join_with(&self, key: &Key, plan: &str, tier: Tier) -> anyhow::Result<Session> {
        let workspace = self.dir.path().join("ws");
        let plan = PlanFile::find(plan, &workspace);
        Session::join(&SessionSpec {
            root: &self.root(),
            workspace: &workspace,
            key,
            plan: &plan,
            tier,
            sut_args: &[],
            missing_budgets_allowed: false,
            environment: &[],
        })
    }

    fn join(&self, key: &str) -> Session {
        self.join_with(&Key::Nextest(key.to_owned()), "docs/plan.md", Tier::Smoke).expect("joined")
    }
}

/// An execution of `session` that died, or that saw a violation.
fn run(session: &Session, id: &str, seed: u64, attempt: Attempt, violation: bool) -> (String, RunRecord) {
    let folder = session.layout().run_folder(id, seed, 0, attempt);
    let mut request = request(id, seed);
    let dir = session.layout().run_dir(id, seed, 0, attempt);
    request.run_dir = dir.display().to_string();
    request.run_id = folder.clone();
    let mut record = read_run(&dir, &request);
    if violation {
        let violation =
            Violation { anomaly: "stale".into(), key: None, ops: Vec::new(), explanation: "r1 < w1".to_owned() };
        record.answers = vec![Answer {
            checker: "linearizability".to_owned(),
            model: None,
            outcome: Outcome::Invalid { violations: vec![violation] },
            evidence: Evidence::default(),
            cannot_detect: Vec::new(),
        }];
    }
    (folder, record)
}

fn record(id: &str, runs: Vec<(String, RunRecord)>) -> ScenarioRecord {
    judge(&declared(id), Tier::Smoke, runs, Drift::None, Vec::new(), Vec::new())
}

fn bytes_below(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir).expect("read").flatten() {
        if entry.path().is_dir() {
            all.extend(bytes_below(&entry.path()));
        } else {
            all.insert(entry.path(), fs::read(entry.path()).expect("read"));
        }
    }
    all
}

#[test]
fn processes_of_one_run_share_a_session_and_other_runs_have_their_own() {
    let world = World::new();
    let first = world.join("run-1");
    assert_eq!(world.join("run-1").layout().dir(), first.layout().dir());
    assert_ne!(world.join("run-2").layout().dir(), first.layout().dir());
    let other_plan = world.join_with(&Key::Nextest("run-1".into()), "docs/other.md", Tier::Smoke).expect("joined");
    assert_ne!(other_plan.layout().dir(), first.layout().dir());
    for folder in first.layout().folders() {
        assert!(folder.is_dir());
    }
}

#[test]
fn rebuilding_twice_changes_no_byte() {
    let world = World::new();
    let session = world.join("run-1");
    session.register(&[record("S1", Vec::new()), record("S2", Vec::new())]).expect("registered");
    let (attempt, _) = session.begin(&declared("S1")).expect("begun");
    let first = session.finish(&record("S1", vec![run(&session, "S1", 7, attempt, true)])).expect("finished");
    let before = bytes_below(session.layout().dir());
    assert_eq!(session.rebuild(Depth::Record).expect("rebuilt"), first);
    assert_eq!(bytes_below(session.layout().dir()), before);
    assert!(before.keys().any(|path| path.ends_with("findings/S2.md")), "a scenario that was not run has its page");
}

#[test]
fn registering_never_replaces_a_result() {
    let world = World::new();
    let session = world.join("run-1");
    let (attempt, _) = session.begin(&declared("S1")).expect("begun");
    session.finish(&record("S1", vec![run(&session, "S1", 7, attempt, true)])).expect("finished");
    session.register(&[record("S1", Vec::new())]).expect("registered");
    let on_disk: ScenarioRecord =
        disk::read_json(&session.layout().scenario_record("S1")).expect("ours").expect("there");
    assert_eq!(on_disk.verdict, Verdict::FailNondeterministic);
}

#[test]
fn a_violation_of_an_earlier_attempt_stands_and_nothing_else_is_taken_over() {
    let world = World::new();
    let session = world.join("run-1");
    let (first, stands) = session.begin(&declared("S1")).expect("begun");
    assert_eq!((first, stands.len()), (Attempt(1), 0));
    let runs = vec![run(&session, "S1", 7, first, false), run(&session, "S1", 8, first, true)];
    session.finish(&record("S1", runs)).expect("finished");
    let (second, stands) = session.begin(&declared("S1")).expect("begun");
    assert_eq!(second, Attempt(2));
    assert_eq!(stands.iter().map(|(_, run)| run.request.seed).collect::<Vec<_>>(), [8]);
    assert!(record("S1", stands).verdict.is_fail());
    assert!(session.layout().earlier_record("S1", first).exists());
    assert!(!session.layout().scenario_record("S1").exists(), "no stale record stands while the second one runs");
}

#[test]
fn two_tests_for_one_scenario_are_refused() {
    let world = World::new();
    let session = world.join("run-1");
    session.register(&[record("S1", Vec::new())]).expect("registered");
    let check = |edit: fn(&mut Declared), expect: &str| {
        let mut other = declared("S1");
        edit(&mut other);
        let told = format!("two tests of this session stand for S1: tests::S1 (package store, target s1) and {expect}");
        for error in [session.begin(&other).expect_err("refused"), session.claim(&other).expect_err("refused")] {
            assert!(error.to_string().starts_with(&told), "{error}");
        }
    };
    check(|other| other.test = "elsewhere::S1".to_owned(), "elsewhere::S1 (package store, target s1)");
    // The same function in another binary is no retry.
    check(|other| other.target = "s2".to_owned(), "tests::S1 (package store, target s2)");
    check(|other| other.package = "shop".to_owned(), "tests::S1 (package shop, target s1)");
    session.claim(&declared("S1")).expect("its own");
    session.claim(&declared("S2")).expect("nobody's yet");
}

#[test]
fn what_nobody_could_start_is_noted_for_whichever_test_comes() {
    let world = World::new();
    let session = world.join("run-1");
    let mut noted = record("S1", Vec::new());
    (noted.declared.package, noted.declared.test) = (String::new(), "as the plan calls it".to_owned());
    session.register(&[noted]).expect("registered");
    session.begin(&declared("S1")).expect("begun");
}

#[test]
fn an_earlier_record_that_cannot_be_read_stops_the_next_attempt() {
    let world = World::new();
    let session = world.join("run-1");
    let (attempt, _) = session.begin(&declared("S1")).expect("begun");
    session.finish(&record("S1", vec![run(&session, "S1", 7, attempt, true)])).expect("finished");
    fs::write(session.layout().scenario_record("S1"), "{").expect("written");
    assert!(session.begin(&declared("S1")).is_err());
}

#[test]
fn a_record_of_another_session_is_rejected_in_the_report() {
    let world = World::new();
    let (old, new) = (world.join("run-1"), world.join("run-2"));
    let (attempt, _) = old.begin(&declared("S1")).expect("begun");
    old.finish(&record("S1", vec![run(&old, "S1", 7, attempt, true)])).expect("finished");
    new.register(&[record("S1", Vec::new())]).expect("registered");
    fs::copy(old.layout().scenario_record("S1"), new.layout().scenario_record("S1")).expect("copied");
    new.rebuild(Depth::Record).expect("rebuilt");
    let finding = fs::read_to_string(new.layout().finding("S1")).expect("read");
    assert!(finding.contains("NOT-RUN"), "{finding}");
}

#[test]
fn an_explicit_key_with_other_options_is_refused() {
    let world = World::new();
    let named = Key::Named("nightly".to_owned());
    let join = |tier| world.join_with(&named, "docs/plan.md", tier);
    let first = join(Tier::Smoke).expect("joined");
    assert_eq!(join(Tier::Smoke).expect("joined").layout().dir(), first.layout().dir());
    let error = join(Tier::Hardening).expect_err("another run");
    assert!(error.to_string().contains("its tier is `smoke`, now it is `hardening`"), "{error}");
}

#[test]
fn a_verdict_that_nobody_derived_is_never_reported() {
    let world = World::new();
    let session = world.join("run-1");
    let (attempt, _) = session.begin(&declared("S1")).expect("begun");
    let died = record("S1", vec![run(&session, "S1", 7, attempt, false)]);
    let check = |change: &dyn Fn(&mut ScenarioRecord), expect: &str| {
        let mut forged = died.clone();
        change(&mut forged);
        session.finish(&forged).expect("finished");
        let finding = fs::read_to_string(session.layout().finding("S1")).expect("read");
        assert!(finding.contains(expect), "{expect}: {finding}");
    };
    check(&|_| (), "INCONCLUSIVE-oracle-too-weak");
    check(&|record| record.verdict = Verdict::PassHardening, "its record says PASS-hardening, its executions come to");
    check(&|record| record.tier_met = Some(Tier::Hardening), "its executions come to");
    check(&|record| record.verdict = Verdict::NotRun, "its record says NOT-RUN");
    let without_runs = |record: &mut ScenarioRecord| {
        record.runs.clear();
        record.verdict = Verdict::PassSmoke;
    };
    check(&without_runs, "its record says PASS-smoke, its executions come to NOT-RUN");
}

#[test]
fn what_a_scenario_requires_and_was_missing_makes_a_pass_of_it_none() {
    let world = World::new();
    let (ws, root) = (world.dir.path().join("ws"), world.root());
    let text = "# Test Plan: x\n\n## 6b. Environment requirements\n\n\
        | Requirement | Version floor | Used by scenarios | Install hint |\n|---|---|---|---|\n\
        | etcd | 3 | S1 | — |\n| lo | — | S1, S2 | — |\n";
    fs::write(ws.join("plan.md"), text).expect("written");
    let row = |requirement: &str, present: &str| {
        (requirement.to_owned(), present.to_owned(), "—".to_owned(), "operator: proceed without it".to_owned())
    };
    let spec = |key: &str, environment: &[(String, String, String, String)]| {
        let plan = PlanFile::find("plan.md", &ws);
        let spec = SessionSpec {
            root: &root,
            workspace: &ws,
            key: &Key::Nextest(String::from(key)),
            plan: &plan,
            tier: Tier::Smoke,
            sut_args: &[],
            missing_budgets_allowed: false,
            environment,
        };
        Session::join(&spec).expect("joined")
    };
    let session = spec("run-1", &[row("etcd", "no"), row("lo", "yes")]);
    assert_eq!(session.lacking("S1"), ["etcd: no (operator: proceed without it)"]);
    assert!(session.lacking("S2").is_empty() && session.lacking("no id").is_empty());
    assert_eq!(spec("run-1", &[]).lacking("S1").len(), 1, "whoever joins later knows it");
    assert_eq!(spec("run-2", &[row("etcd", "too old")]).lacking("S1/api").len(), 1);
    assert!(spec("run-3", &[row("etcd", "unknown")]).lacking("S1").is_empty());
    assert!(spec("run-4", &[]).lacking("S1").is_empty(), "nobody looked");
    let (attempt, _) = session.begin(&declared("S1")).expect("begun");
    let judged = |violation| {
        let runs = vec![run(&session, "S1", 7, attempt, violation)];
        judge(&declared("S1"), Tier::Smoke, runs, Drift::None, Vec::new(), session.lacking("S1")).verdict
    };
    assert_eq!(judged(false), Verdict::InconclusiveEnv);
    assert!(judged(true).is_fail(), "a violation stands");
}

#[test]
fn results_for_two_texts_of_a_plan_never_share_a_session() {
    let world = World::new();
    let plan = world.dir.path().join("ws/docs/plan.md");
    let text = include_str!("../../tests-data/plans/register.md");
    let write = |text: &str| fs::create_dir_all(plan.parent().expect("a folder")).and_then(|()| fs::write(&plan, text));
    for key in [Key::Named("nightly".to_owned()), Key::Nextest("run-1".to_owned())] {
        write(text).expect("written");
        let join = || world.join_with(&key, "docs/plan.md", Tier::Smoke);
        let begun = join().expect("joined").layout().dir().to_owned();
        assert_eq!(join().expect("joined").layout().dir(), begun);
        write(&text.replace("no-lost-ack", "no-lost-acks")).expect("written");
        let error = join().expect_err("another text").to_string();
        assert!(error.contains("was begun with another text of the plan docs/plan.md"), "{error}");
    }
}

#[test]
fn results_for_two_states_of_the_tree_never_share_a_session_of_one_name() {
    let world = World::new();
    let ws = world.dir.path().join("ws");
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.arg("-C").arg(&ws).args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(args);
        assert!(command.output().expect("git").status.success(), "{args:?}");
    };
    let lib = |text: &str| fs::write(ws.join("lib.rs"), text).expect("written");
    let joined = |key: &str| world.join_with(&Key::Named(key.to_owned()), "docs/plan.md", Tier::Smoke);
    lib("good\n");
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "start"]);
    joined("clean").expect("joined");
    fs::write(ws.join("left-by-a-test"), "").expect("written");
    joined("clean").expect("joined: what no commit knows is not under test");
    lib("bad\n");
    for (key, now) in [("clean", "none"), ("one", "")] {
        if key == "one" {
            joined(key).expect("begun with changes");
            joined(key).expect("joined with the same changes");
            lib("worse\n");
        }
        let error = joined(key).expect_err("another state of the tree").to_string();
        assert!(error.contains(&format!("its digest of uncommitted changes is `{now}")), "{error}");
    }
}

#[test]
fn a_folder_given_by_hand_is_the_session_unless_it_holds_other_things() {
    let world = World::new();
    let folder = world.dir.path().join("mine");
    let key = Key::Folder(folder.clone());
    let join = |plan| world.join_with(&key, plan, Tier::Smoke);
    assert_eq!(join("docs/plan.md").expect("joined").layout().dir(), folder);
    assert_eq!(join("docs/plan.md").expect("joined again").layout().dir(), folder);
    let other = join("docs/other.md").expect("another plan has a session of its own");
    assert!(other.layout().dir().starts_with(world.root()));
    let taken = Key::Folder(world.dir.path().join("ws"));
    assert!(world.join_with(&taken, "docs/plan.md", Tier::Smoke).is_err());
}

#[test]
fn a_session_whose_folder_was_removed_is_begun_anew() {
    let world = World::new();
    let first = world.join("run-1");
    fs::remove_dir_all(first.layout().dir()).expect("removed");
    assert!(world.join("run-1").layout().session_record().exists());
}
