//! A session with two scenarios, made by real checkers, and altered by hand.

use super::*;
use crate::base::digest::sha256_hex;
use crate::base::time::Nanos;
use crate::checker::{Checker, Linearizability, NoLostAck, Outcome};
use crate::history::generate::{Shape, history};
use crate::history::{Effect, History, jsonl};
use crate::model::Register;
use crate::plan::{Budget, Tier};
use crate::run::teeth::{self, Trial};
use crate::run::{CheckLimits, check_within};
use crate::session::{Attempt, Key, PlanFile, Session, SessionSpec, judge, planned, write_manifest};
use crate::verdict::{Declared, Drift, End, LogScan, OpCounts, Precondition, RunRecord, RunRequest};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PLAN: &str = include_str!("../../tests-data/plans/register.md");

fn plan_text() -> String {
    let fault = "`asymmetric-data-cut` and `hard-kill` in turn, 3 s each, at the earliest 1 s after the start";
    let nemesis = "`asymmetric-data-cut` and `hard-kill`; injector: `proxy-dropped-bytes`,\n  `process-exit`; victim: \
                   `client-timeouts`, `metric:peer-timeouts`";
    let none = "none — the happy path";
    [(fault, none), (nemesis, none), ("6s × 1 fault", "6s × 0 faults"), ("30s × 5 faults", "30s × 0 faults")]
        .into_iter()
        .fold(PLAN.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        })
}

/// A session on disk whose scenario S1 passed.
struct World {
    _dir: tempfile::TempDir,
    session: PathBuf,
    sha256: String,
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let workspace = dir.path().join("ws");
        fs::create_dir_all(workspace.join("docs")).expect("made");
        fs::write(workspace.join("docs/plan.md"), plan_text()).expect("written");
        let plan = PlanFile::find("docs/plan.md", &workspace);
        let session = Session::join(&SessionSpec {
            root: &workspace.join("test-sessions"),
            workspace: &workspace,
            key: &Key::Nextest("run".to_owned()),
            plan: &plan,
            tier: Tier::Smoke,
            sut_args: &[],
            missing_budgets_allowed: false,
            environment: &[],
        })
        .expect("joined");
        let parsed = plan.plan().expect("a plan");
        let scenario = &parsed.scenarios[0];
        let declared = planned(parsed, "docs/plan.md", scenario, &scenario.id.value);
        let run = execution(&session, &declared);
        let folder = session.layout().run_folder("S1", 7, 0, Attempt(1));
        let record = judge(&declared, Tier::Smoke, vec![(folder, run)], Drift::None, Vec::new(), Vec::new());
        assert_eq!(record.verdict, Verdict::PassSmoke, "{:?}", record.why);
        let sha256 = session.finish(&record).expect("finished");
        World { session: session.layout().dir().to_path_buf(), _dir: dir, sha256 }
    }

    fn verify(&self, expect: Option<&str>) -> Verification {
        verify(&self.session, expect, &means()).expect("a session")
    }

    /// A copy of it elsewhere, as on another machine.
    fn copied(&self, name: &str) -> World {
        let to = tempfile::tempdir().expect("a temporary folder");
        let session = to.path().join(name);
        copy(&self.session, &session);
        World { _dir: to, session, sha256: self.sha256.clone() }
    }
}

fn means() -> Means<'static> {
    Means { limits: CheckLimits::default(), say: &|_| {} }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("read").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() { copy(&entry.path(), &target) } else { drop(fs::copy(entry.path(), target)) }
    }
}

/// An honest execution: what the harness would have left of this history.
fn execution(session: &Session, declared: &Declared) -> RunRecord {
    let run_dir = session.layout().run_dir("S1", 7, 0, Attempt(1));
    fs::create_dir_all(&run_dir).expect("made");
    let shape = Shape { clients: 3, keys: 2, operations: 60, final_reads: true, ..Shape::default() };
    let mut ops = history(shape, 7).into_ops();
    for op in &mut ops {
        op.node_seen = Some(format!("n{}", op.process_id % 3 + 1));
    }
    let history = Arc::new(History::new(ops).expect("a history"));
    let mut text = Vec::new();
    jsonl::write(&history, &mut text).expect("written");
    fs::write(run_dir.join("history.jsonl"), &text).expect("written");
    fs::write(run_dir.join("landing.json"), "[]").expect("written");
    fs::write(run_dir.join("test.log"), "up\n").expect("written");
    let checkers: [Arc<dyn Checker>; 2] =
        [Arc::new(Linearizability::per_key(Register::new())), Arc::new(NoLostAck::overwritable())];
    let (limits, stop) = (CheckLimits::default(), Arc::default());
    let answers: Vec<_> = checkers.iter().map(|c| check_within(c, &history, limits, &stop)).collect();
    assert!(answers.iter().all(|answer| answer.outcome == Outcome::Valid), "{answers:?}");
    let trial = Trial { history: &history, seed: 7, limits, stop: &stop };
    let count = |effect| history.ops().iter().filter(|op| op.effect() == effect).count() as u64;
    let acknowledged = count(Effect::Acknowledged);
    let budget = Budget { nodes: 3, seconds: 6, faults: 0, seeds: 1, operations: 0 };
    let request = RunRequest {
        schema: "disttest.request/1".to_owned(),
        run_id: "S1-7".to_owned(),
        scenario: declared.id.clone(),
        seed: 7,
        rerun: 0,
        tier: Tier::Smoke,
        budget,
        run_dir: run_dir.display().to_string(),
        log_dir: session.layout().log_dir("S1", 7, 0, Attempt(1)).display().to_string(),
        sut_args: Vec::new(),
    };
    let record = RunRecord {
        measured: Budget { faults: 0, operations: acknowledged, ..budget },
        workload: Nanos(6_100_000_000),
        operations: OpCounts {
            recorded: history.ops().len() as u64,
            acknowledged,
            failed: count(Effect::Failed),
            unknown: count(Effect::Unknown),
        },
        preconditions: ["cluster up", "observability live", "baseline captured", "fault plane responsive"]
            .map(|name| Precondition { name: name.to_owned(), ok: true, evidence: "seen".to_owned() })
            .to_vec(),
        no_fault: Some("the happy path".to_owned()),
        injections: 0,
        history_sha256: Some(sha256_hex(&text)),
        answers,
        recipes: checkers.iter().map(|checker| checker.recipe()).collect(),
        teeth: checkers.iter().flat_map(|checker| teeth::show(checker, &trial, &|_| {})).collect(),
        log_scan: Some(LogScan::default()),
        ..RunRecord::of_nothing(request, End::Judged)
    };
    disk::write_json(&run_dir.join("run.json"), &record).expect("written");
    crate::session::read_run(&run_dir, &record.request)
}

/// A change of a file by hand.
struct Edit(PathBuf);

impl Edit {
    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn text(&self, name: &str, change: impl Fn(String) -> String) {
        let before = fs::read_to_string(self.path(name)).expect("read");
        let after = change(before.clone());
        assert_ne!(before, after, "{name} is altered");
        fs::write(self.path(name), after).expect("written");
    }

    fn replace(&self, name: &str, from: &str, to: &str) {
        self.text(name, |text| text.replace(from, to));
    }

    /// Of one value in a JSON file.
    fn json(&self, name: &str, pointer: &str, change: impl Fn(&mut Value)) {
        self.text(name, |text| {
            let mut value: Value = serde_json::from_str(&text).expect("JSON");
            change(value.pointer_mut(pointer).unwrap_or_else(|| panic!("{name} has {pointer}")));
            format!("{:#}\n", value)
        });
    }

    /// Of one value of the run, in its own file and in the scenario's copy.
    fn run(&self, pointer: &str, change: impl Fn(&mut Value)) {
        self.json(RUN, pointer, &change);
        self.json(RECORD, &format!("/runs/0/1{pointer}"), &change);
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).expect("removed");
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().expect("a folder")).expect("made");
        fs::write(self.path(name), text).expect("written");
    }

    /// Another history, with all that names its hash or counts it.
    fn history(&self, change: impl Fn(Vec<String>) -> Vec<String>) {
        self.text(HISTORY, |text| change(text.lines().map(str::to_owned).collect()).join("\n") + "\n");
        let text = fs::read(self.path(HISTORY)).expect("read");
        self.run("/history_sha256", |value| *value = Value::from(sha256_hex(&text)));
    }
}

const RUN: &str = "artifacts/S1/seed-7/run.json";
const HISTORY: &str = "artifacts/S1/seed-7/history.jsonl";
const RECORD: &str = "artifacts/S1/scenario.json";

/// What is altered, whether that leaves the evidence inconsistent, and how.
type Alteration = (&'static str, bool, fn(&Edit));

/// Alterations by hand, and whether verification tells of each even with a manifest that was made again: those that left
/// the evidence inconsistent. The others are consistent lies, which the hash of the manifest alone tells.
#[rustfmt::skip]
const ALTERATIONS: &[Alteration] = &[
    ("another verdict in the record", true, |e| e.replace(RECORD, "PASS-smoke", "PASS-hardening")),
    ("another tier met", true, |e| e.json(RECORD, "/tier_met", |v| *v = "hardening".into())),
    ("an execution left out", true, |e| e.json(RECORD, "/runs", |v| v.as_array_mut().expect("runs").clear())),
    ("an execution counted twice", true, |e| e.json(RECORD, "/runs", |v| { let runs = v.as_array_mut().expect("runs"); runs.push(runs[0].clone()); })),
    ("a record of another schema", true, |e| e.replace(RECORD, "disttest.scenario/1", "disttest.scenario/9")),
    ("a record of another scenario", true, |e| e.json(RECORD, "/declared/id", |v| *v = "S2".into())),
    ("a weaker declaration", true, |e| e.json(RECORD, "/declared/checkers", |v| drop(v.as_array_mut().expect("checkers").pop()))),
    ("a smaller budget declared", true, |e| e.json(RECORD, "/declared/budgets/hardening/seeds", |v| *v = 1.into())),
    ("a verdict in the report", true, |e| e.replace("findings/report.md", "PASS-smoke", "PASS-hardening")),
    ("a line of the report removed", true, |e| e.text("findings/report.md", |t| t.lines().skip(1).collect())),
    ("a finding rewritten", true, |e| e.text("findings/S1.md", |t| t + "All is well.\n")),
    ("the session log rewritten", true, |e| e.text("session-log.md", |t| t.replace("S1", "S9"))),
    ("a report removed", true, |e| e.remove("findings/report.md")),
    ("the plan made easier", true, |e| e.replace("plan.md", "`linearizability` per key, and `no-lost-ack`", "`no-lost-ack`")),
    ("the plan removed", true, |e| e.remove("plan.md")),
    ("the session's tier", true, |e| e.replace("session.json", "\"smoke\"", "\"hardening\"")),
    ("an operation removed from the history", true, |e| e.text(HISTORY, |t| t.lines().skip(1).map(|l| format!("{l}\n")).collect())),
    ("a stale read, and the hash made right", true, |e| e.history(|mut lines| { stale(&mut lines); lines })),
    ("an operation removed, and the hash made right", true, |e| e.history(|mut lines| { lines.pop(); lines })),
    ("the history cut in a line, and the hash made right", true, |e| e.history(|mut lines| { let last = lines.last_mut().expect("a line"); last.truncate(20); lines })),
    ("an operation twice, and the hash made right", true, |e| e.history(|mut lines| { lines.push(lines[0].clone()); lines })),
    ("the history removed", true, |e| e.remove(HISTORY)),
    ("the run's record removed", true, |e| e.remove(RUN)),
    ("the run's record of another run", true, |e| e.json(RUN, "/request/run_id", |v| *v = "S1-8".into())),
    ("another seed", true, |e| e.run("/request/seed", |v| *v = 8.into())),
    ("an answer turned into a violation", true, |e| e.run("/answers/0", |v| { v["outcome"] = "invalid".into(); v["violations"] = serde_json::json!([{"anomaly": "x", "key": null, "ops": [], "explanation": "x"}]); })),
    ("fewer operations consumed", true, |e| e.run("/answers/0/evidence/consumed", |v| *v = 3.into())),
    ("another checker's settings", true, |e| e.run("/recipes/0", |v| *v = NoLostAck::overwritable().recipe().expect("one"))),
    ("a damaged copy that was accepted", true, |e| e.run("/teeth/0/bite", |v| *v = "not_applicable".into())),
    ("a damaged copy that was not made", true, |e| e.run("/teeth", |v| drop(v.as_array_mut().expect("teeth").remove(0)))),
    ("a landing that was not", true, |e| e.write("artifacts/S1/seed-7/landing.json", "nonsense")),
    ("operations that were not counted", true, |e| e.run("/operations/acknowledged", |v| *v = 1_000_000.into())),
    ("operations of the budget", true, |e| e.run("/measured/operations", |v| *v = 1_000_000.into())),
    ("faults of the budget", true, |e| e.run("/measured/faults", |v| *v = 9.into())),
    ("a panic in a node's log", true, |e| e.write("logs/S1/seed-7/n1.log", "thread 'main' panicked at x.rs:1:1:\n")),
    ("a second execution smuggled in", true, |e| { let run = fs::read_to_string(e.path(RUN)).expect("read"); e.write("artifacts/S1/seed-8/run.json", &run.replace("seed-7", "seed-8")); }),
    ("an answer's memory", true, |e| { e.run("/answers/0/evidence/recorded", |v| *v = 5.into()); }),
    ("who ran it", true, |e| e.json("session.json", "/operator", |v| *v = "somebody else".into())),
    ("the commit under test", true, |e| e.json("session.json", "/commit", |v| *v = "0123456".into())),
    ("nodes of the budget", true, |e| e.run("/measured/nodes", |v| *v = 4.into())),
    ("a note of the run", false, |e| e.write("artifacts/S1/seed-7/notes.txt", "all is well")),
    ("what the test printed", false, |e| e.text("artifacts/S1/seed-7/test.log", |t| t + "and running\n")),
    ("evidence of a precondition", true, |e| e.run("/preconditions/0/evidence", |v| *v = "seen twice".into())),
    ("a longer workload", true, |e| e.run("/workload", |v| *v = 6_900_000_000_u64.into())),
];

/// The last read of a key shows what another one had shown before it was overwritten.
fn stale(lines: &mut [String]) {
    let mut ops: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let first = ops.iter().find(|op| op["op_type"] == "write" && op["complete_ts"].is_u64() && op["error"].is_null());
    let (key, value) = first.map(|op| (op["key"].clone(), op["input"].clone())).expect("a write");
    let last = ops.iter_mut().rev().find(|op| op["op_type"] == "read" && op["key"] == key).expect("a read");
    assert_ne!(last["output"], value);
    last["output"] = value;
    for (line, op) in lines.iter_mut().zip(&ops) {
        *line = op.to_string();
    }
}

#[test]
fn an_honest_session_stands_where_it_was_made_and_anywhere_else() {
    let world = World::new();
    let check = |world: &World| {
        let found = world.verify(Some(&world.sha256));
        assert_eq!(found.standing(), Standing::Stands, "{found:#?}");
        let [s1] = found.scenarios.as_slice() else { panic!("{found:#?}") };
        assert_eq!((s1.verdict, s1.derived, s1.executions), (Verdict::PassSmoke, Verdict::PassSmoke, 1));
        assert!(s1.checks > 4, "checkers and damaged copies were asked again: {}", s1.checks);
        assert_eq!(found.verdict, SessionVerdict::DoneWithConcerns, "S2 did not run");
    };
    check(&world);
    let moved = world.copied("elsewhere");
    drop(world);
    check(&moved);
}

#[test]
fn every_alteration_is_named_and_made_consistent_again_told_by_the_expected_hash() {
    let honest = World::new();
    assert!(ALTERATIONS.len() >= 40);
    let mut wrong = Vec::new();
    for (name, inconsistent, alter) in ALTERATIONS {
        let world = honest.copied("session");
        alter(&Edit(world.session.clone()));
        let found = world.verify(None);
        if found.standing() != Standing::Contradicted {
            wrong.push(format!("{name}: not told: {found:#?}"));
        }
        write_manifest(&world.session).expect("written");
        let expected = world.verify(Some(&world.sha256));
        if !expected.contradictions.iter().any(|why| why.contains("not the expected")) {
            wrong.push(format!("{name}: not told by the expected hash"));
        }
        let found = world.verify(None);
        if (found.standing() == Standing::Contradicted) != *inconsistent {
            wrong.push(format!("{name}, with a new manifest: {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn an_oracle_that_is_code_is_not_re_derivable_and_never_stands() {
    let world = World::new();
    let edit = Edit(world.session.clone());
    edit.run("/recipes/1", |value| *value = Value::Null);
    write_manifest(&world.session).expect("written");
    let found = world.verify(None);
    assert_eq!(found.standing(), Standing::NotRederivable, "{found:#?}");
    assert!(found.scenarios[0].reasons[0].contains("no-lost-ack is code of the test"), "{found:#?}");
    // As of a session from before recipes were written down.
    for name in [RUN, RECORD] {
        let pointer = if name == RUN { "" } else { "/runs/0/1" };
        edit.json(name, pointer, |value| drop(value.as_object_mut().expect("a record").remove("recipes")));
    }
    write_manifest(&world.session).expect("written");
    let found = world.verify(None);
    assert_eq!(found.standing(), Standing::NotRederivable, "{found:#?}");
}

#[test]
fn a_run_that_was_cut_off_is_partial_and_claims_nothing_of_what_was_under_way() {
    let world = World::new();
    let edit = Edit(world.session.clone());
    let record = fs::read_to_string(edit.path(RECORD)).expect("read").replace("\"S1\"", "\"S2\"");
    edit.write("artifacts/S2/scenario.json", &record);
    edit.write("artifacts/S2/seed-7/journal.jsonl", "{\"act\":\"opened\"");
    let found = world.verify(Some(&world.sha256));
    assert_eq!((found.standing(), found.unfinished.as_slice()), (Standing::Unfinished, &["S2".to_owned()][..]));
    let verdicts: Vec<_> = found.scenarios.iter().map(|s| (s.id.as_str(), s.derived, s.standing)).collect();
    let (s1, s2) = (("S1", Verdict::PassSmoke, Standing::Stands), ("S2", Verdict::NotRun, Standing::Unfinished));
    assert_eq!(verdicts, [s1, s2]);
    // What had ended is held to its files as ever, whatever manifest is made again.
    let hide = |edit: &dyn Fn(&Edit), expect: &str| {
        let altered = world.copied("altered");
        let of = Edit(altered.session.clone());
        edit(&of);
        write_manifest(&altered.session).expect("written");
        of.write("artifacts/S3/seed-7/stray", "");
        let found = altered.verify(None);
        assert_eq!(found.standing(), Standing::Contradicted, "{found:#?}");
        assert!(found.contradictions.iter().any(|why| why.contains(expect)), "{found:#?}");
    };
    let rewritten = |e: &Edit| e.text("findings/S1.md", |text| text.replace("PASS-smoke", "PASS-hardening"));
    hide(&rewritten, "findings/S1.md is not what the records come to");
    #[cfg(unix)]
    hide(
        &|e| std::os::unix::fs::symlink(e.path("artifacts/S1"), e.path("artifacts/S9")).expect("linked"),
        "S9 is a link",
    );
    // Cut off before anything had ended.
    for name in ["MANIFEST.sha256", "findings/report.md", "findings/S1.md", "session-log.md"] {
        edit.remove(name);
    }
    let found = world.verify(None);
    assert_eq!(found.standing(), Standing::Unfinished, "{found:#?}");
    assert_eq!(found.verdict, SessionVerdict::Blocked, "nothing is claimed");
}

#[test]
fn what_is_no_session_is_an_error_in_one_sentence() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let check = |expect: &str| {
        let said = verify(dir.path(), None, &means()).expect_err("no session");
        assert!(said.contains(expect), "{said}");
    };
    check("it has no session.json");
    fs::write(dir.path().join("session.json"), "{").expect("written");
    check("is not readable");
    fs::write(dir.path().join("session.json"), "{}").expect("written");
    check("is not readable");
}
