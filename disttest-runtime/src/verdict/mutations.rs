//! One requirement taken away at a time from a perfect record: never PASS-hardening, and the verdict is the one named.

use super::fixture::*;
use super::*;
use crate::checker::Outcome;
use crate::fault::Side;
use crate::plan::{Budget, Category, Tier};

/// Everything a verdict rests on.
struct Case {
    declared: Declared,
    runs: Vec<RunRecord>,
    drift: Drift,
    unfilled: Vec<String>,
}

impl Case {
    fn perfect() -> Case {
        Case { declared: declared(), runs: perfect(), drift: Drift::None, unfilled: Vec::new() }
    }

    fn decide(&self) -> (Verdict, Why) {
        decide(&Facts::gather(&self.declared, &self.runs, &self.drift, &self.unfilled))
    }
}

type Mutation = (&'static str, fn(&mut Case), Verdict, &'static str);

#[rustfmt::skip]
/// (what is taken away, how, the verdict that must come out, a rule that must have fired).
const MUTATIONS: &[Mutation] = &[
    // Nothing was tried.
    ("a region is unfilled", |c| c.unfilled.push("oracle".into()), Verdict::NotRun, "unfilled-region"),
    ("no run", |c| c.runs.clear(), Verdict::NotRun, "never-attempted"),
    // The environment.
    ("a capability is missing", |c| c.runs[1].end = End::EnvMissing { what: "no ports".into() }, Verdict::InconclusiveEnv, "env-missing"),
    ("a precondition failed", |c| c.runs[2].preconditions[3].ok = false, Verdict::InconclusiveEnv, "env-missing"),
    ("a precondition was never checked", |c| drop(c.runs[0].preconditions.remove(2)), Verdict::InconclusiveEnv, "env-missing"),
    ("a precondition was never reached", |c| never_reached(&mut c.runs[0]), Verdict::InconclusiveEnv, "env-missing"),
    // Violations.
    ("a checker rejects", |c| c.runs[1].answers[0] = answer(CHECKERS[0], invalid("x")), Verdict::FailNondeterministic, "violation"),
    ("an undeclared checker rejects", |c| c.runs[1].answers.push(answer("mine", invalid("x"))), Verdict::FailNondeterministic, "violation"),
    ("a rejection without witness", |c| c.runs[0].answers.push(answer("mine", Outcome::Invalid { violations: vec![] })), Verdict::FailNondeterministic, "violation"),
    ("a re-run rejects too", |c| violate_twice(c, "x"), Verdict::FailReproducible, "violation"),
    ("a re-run rejects for another reason", |c| violate_twice(c, "y"), Verdict::FailNondeterministic, "violation"),
    ("a node died", |c| c.runs[2].deaths.push(death(false)), Verdict::FailNondeterministic, "violation"),
    ("a violation, then a panic", |c| { violate(&mut c.runs[0]); c.runs[0].end = panicked() }, Verdict::FailNondeterministic, "violation"),
    ("a violation in an earlier attempt", |c| { let mut first = run(1); violate(&mut first); first.request.run_id = "attempt-1".into(); c.runs.insert(0, first) }, Verdict::FailNondeterministic, "violation"),
    ("a violation and drift", |c| { violate(&mut c.runs[0]); c.drift = Drift::Scenario { fields: vec![] } }, Verdict::FailNondeterministic, "violation"),
    ("a violation in an unfilled scenario", |c| { violate(&mut c.runs[0]); c.unfilled.push("oracle".into()) }, Verdict::FailNondeterministic, "violation"),
    ("a violation beside a missing environment", |c| { violate(&mut c.runs[0]); c.runs[1].end = End::EnvMissing { what: "x".into() } }, Verdict::FailNondeterministic, "violation"),
    // The oracle never judged.
    ("the test panicked", |c| c.runs[1].end = panicked(), Verdict::InconclusiveOracleTooWeak, "oracle-never-judged"),
    ("the test erred", |c| c.runs[1].end = End::Error { message: "x".into() }, Verdict::InconclusiveOracleTooWeak, "oracle-never-judged"),
    ("the test timed out", |c| c.runs[1].end = End::TimedOut { seconds: 9 }, Verdict::InconclusiveOracleTooWeak, "oracle-never-judged"),
    ("the process died", |c| c.runs[1].end = End::Died { how: "SIGKILL".into() }, Verdict::InconclusiveOracleTooWeak, "oracle-never-judged"),
    ("the record is another scenario's", |c| c.runs[1].request.scenario = "S2".into(), Verdict::InconclusiveOracleTooWeak, "oracle-never-judged"),
    ("the record has another schema", |c| c.runs[1].schema = "disttest.run/9".into(), Verdict::InconclusiveOracleTooWeak, "oracle-never-judged"),
    ("the test panicked before its baseline", |c| { never_reached(&mut c.runs[0]); c.runs[0].end = panicked() }, Verdict::InconclusiveOracleTooWeak, "oracle-never-judged"),
    // The fault.
    ("nothing was injected", |c| { c.runs[0].windows.clear(); c.runs[0].injections = 0 }, Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("the test says there is no fault", |c| c.runs[0].no_fault = Some("x".into()), Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("one nemesis never landed in one seed", |c| c.runs[0].windows[2].landed = false, Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("one nemesis never acted in one seed", |c| { c.runs[0].windows.remove(2); }, Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("the injector did not move", |c| windows(c, |w| w.injector.moved = false), Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("the victim did not move", |c| windows(c, |w| w.victim.moved = false), Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("the victim's side is the injector's", |c| windows(c, |w| w.victim.side = Side::Injector), Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("the signal is not a declared one", |c| windows(c, |w| w.victim.signal = Some("gut feeling".into())), Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("no signal is named", |c| windows(c, |w| w.injector.signal = None), Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("the fault held for no time", |c| windows(c, |w| w.held = Default::default()), Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("another fault than planned", |c| windows(c, |w| w.nemesis = "latency".into()), Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("windows without journal", |c| c.runs[0].injections = 0, Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("no nemesis is named", |c| c.declared.fault = DeclaredFault::Planned { nemeses: vec![], injector: vec![], victim: vec![] }, Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("faults that nobody planned", |c| c.declared.fault = no_fault(), Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("a journaled fault that nobody planned", |c| { c.declared.fault = no_fault(); c.runs[0].windows.clear() }, Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("a window that nobody planned", |c| { unplanned(c); c.runs[0].windows.push(window(1, "latency")) }, Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("an injection that nobody planned", |c| { unplanned(c); c.runs[0].injections = 1 }, Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("no fault is planned", unplanned, Verdict::PassSmoke, "pass"),
    ("a window whose event never came", |c| missed(&mut c.runs[0].windows[0]), Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("a part of a composed window whose event never came", |c| { together(c, PLANNED_APART); missed(&mut c.runs[0].windows[0].parts[1]) }, Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("planned together, and tested each for itself", |c| plan_faults(c, &[JOINED]), Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("one of two that act together is not planned", |c| together(c, &["hard-kill"]), Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("one part did not land", |c| { together(c, &[JOINED]); parts(c, |p| p[1].landed = false) }, Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("one part on no declared signal", |c| { together(c, &[JOINED]); parts(c, |p| p[0].victim.signal = Some("gut feeling".into())) }, Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("one part held for no time", |c| { together(c, &[JOINED]); parts(c, |p| p[1].held = Default::default()) }, Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("the parts were not judged", |c| { together(c, &[JOINED]); parts(c, Vec::clear) }, Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    ("one part was judged twice, the other never", |c| { together(c, &[JOINED]); parts(c, |p| p[1] = p[0].clone()) }, Verdict::InconclusiveFaultNotProven, "fault-not-proven"),
    // The oracle.
    ("a declared checker did not run", |c| drop(c.runs[1].answers.pop()), Verdict::PartialSurface, "checker-did-not-run"),
    ("no checker ran", |c| c.runs[1].answers.clear(), Verdict::PartialSurface, "checker-did-not-run"),
    ("no checker is declared", |c| c.declared.checkers.clear(), Verdict::PartialSurface, "checker-did-not-run"),
    ("a checker could not decide", |c| c.runs[2].answers[1].outcome = undecided(), Verdict::InconclusiveOracleTooWeak, "checker-undecided"),
    ("an undeclared checker could not decide", |c| c.runs[2].answers.push(answer("mine", undecided())), Verdict::InconclusiveOracleTooWeak, "checker-undecided"),
    ("the history was not written", |c| c.runs[0].history_sha256 = None, Verdict::InconclusiveOracleTooWeak, "no-history"),
    ("the history is weak", |c| c.runs[0].history_weak.push("x".into()), Verdict::InconclusiveOracleTooWeak, "weak-history"),
    ("the history lacks a field", |c| c.runs[0].history_lacks.push("node_seen".into()), Verdict::InconclusiveOracleTooWeak, "history-lacks-fields"),
    ("an outcome is missing", |c| c.runs[0].operations.unknown -= 1, Verdict::InconclusiveOracleTooWeak, "weak-history"),
    ("nothing was recorded", |c| c.runs[0].operations = OpCounts::default(), Verdict::InconclusiveOracleTooWeak, "vacuous"),
    ("nothing was acknowledged", |c| { c.runs[0].operations.unknown += 20_000; c.runs[0].operations.acknowledged = 0 }, Verdict::InconclusiveOracleTooWeak, "vacuous"),
    ("a checker checked nothing", |c| c.runs[0].answers[1].evidence.fired = 0, Verdict::InconclusiveOracleTooWeak, "vacuous"),
    ("a checker got another history", |c| c.runs[0].answers[1].evidence.recorded += 1, Verdict::InconclusiveOracleTooWeak, "foreign-history"),
    ("a checker took more than it got", |c| c.runs[0].answers[1].evidence.consumed += 1, Verdict::InconclusiveOracleTooWeak, "foreign-history"),
    ("another model was checked", |c| c.runs[0].answers[0].model = Some("counter".into()), Verdict::InconclusiveOracleTooWeak, "model-mismatch"),
    ("a damaged history was accepted", |c| c.runs[0].teeth.push(tooth("linearizability", Bite::Accepted)), Verdict::InconclusiveOracleTooWeak, "no-teeth"),
    ("a damaged history was not decided", |c| c.runs[0].teeth.push(tooth("no-lost-ack", Bite::Undecided)), Verdict::InconclusiveOracleTooWeak, "no-teeth"),
    ("a checker was shown no damage", |c| drop(c.runs[1].teeth.pop()), Verdict::InconclusiveOracleTooWeak, "no-teeth"),
    ("no damage applies to a checker", |c| c.runs[1].teeth[1].bite = Bite::NotApplicable, Verdict::InconclusiveOracleTooWeak, "no-teeth"),
    ("a checker rejects everything", |c| c.runs[1].teeth.push(control(Bite::Rejected)), Verdict::InconclusiveOracleTooWeak, "no-teeth"),
    ("the control was not decided", |c| c.runs[1].teeth.push(undamaged(Bite::Undecided)), Verdict::InconclusiveOracleTooWeak, "no-teeth"),
    ("only the control was rejected", |c| c.runs[1].teeth = vec![control(Bite::Rejected)], Verdict::InconclusiveOracleTooWeak, "no-teeth"),
    ("a checker accepts a history without answers", |c| c.runs[1].teeth.push(silent(Bite::Accepted)), Verdict::InconclusiveOracleTooWeak, "no-teeth"),
    ("rejecting a history without answers is no skill", |c| c.runs[1].teeth = vec![silent(Bite::Rejected)], Verdict::InconclusiveOracleTooWeak, "no-teeth"),
    ("a further checker was shown nothing", |c| c.runs[0].answers.push(answer("mine", Outcome::Valid)), Verdict::InconclusiveOracleTooWeak, "no-teeth"),
    ("a checker took a subset", |c| c.runs[0].answers[0].evidence.consumed -= 1, Verdict::PartialModel, "checker-subset"),
    ("a checker got a truncated history", |c| truncate(&mut c.runs[0]), Verdict::PartialModel, "checker-subset"),
    ("each key was judged, the whole is declared", |c| c.declared.checkers[0].1 = Scope::Whole, Verdict::PartialModel, "checker-subset"),
    // The budget.
    ("no budgets", |c| c.declared.budgets = None, Verdict::PassSmoke, "budget-gate"),
    ("short of nodes", |c| c.runs[1].measured.nodes = 4, Verdict::PassSmoke, "budget-gate"),
    ("short of time", |c| c.runs[1].measured.seconds = 29, Verdict::PassSmoke, "budget-gate"),
    ("short of time by the other number", |c| c.runs[1].workload = crate::base::time::Nanos(29_999_999_999), Verdict::PassSmoke, "budget-gate"),
    ("short of landed windows", |c| c.runs[1].windows[4].landed = false, Verdict::PassSmoke, "budget-gate"),
    ("an epoch twice", |c| c.runs[1].windows[4].epoch = 1, Verdict::PassSmoke, "budget-gate"),
    ("short of operations", |c| c.runs[1].measured.operations = 19_999, Verdict::PassSmoke, "budget-gate"),
    ("two seeds", |c| drop(c.runs.pop()), Verdict::PassSmoke, "budget-gate"),
    ("one seed thrice", |c| c.runs[1..].iter_mut().for_each(|r| r.request.seed = 1), Verdict::PassSmoke, "budget-gate"),
    ("one history thrice", |c| c.runs.iter_mut().for_each(|r| r.history_sha256 = Some("a".into())), Verdict::PassSmoke, "budget-gate"),
    ("one execution thrice", |c| c.runs.iter_mut().for_each(|r| r.request.run_id = "a".into()), Verdict::PassSmoke, "budget-gate"),
    ("re-runs counted as seeds", |c| c.runs[2].request.rerun = 1, Verdict::PassSmoke, "budget-gate"),
    ("below smoke", |c| c.runs[1].measured.seconds = 9, Verdict::PartialSurface, "budget-gate"),
    ("a hardening tier like smoke", |c| c.declared.budgets.as_mut().expect("has").smoke.faults = 5, Verdict::PassSmoke, "budget-gate"),
    ("the budget has no room for a nemesis", |c| { c.runs[0].request.budget.faults = 1; c.runs[0].windows[2].nemesis = "hard-kill".into() }, Verdict::PassSmoke, "nemesis-not-used"),
    ("no model", |c| c.declared.model = None, Verdict::PassSmoke, "model-block-incomplete"),
    // The audits.
    ("no recovery after one window", |c| c.runs[1].windows[3].recovered = false, Verdict::PartialModel, "red-flag-8"),
    ("a panic in a log", |c| c.runs[1].log_scan = Some(LogScan { files: 1, bytes: 9, suspicious: vec!["n1.log:1: panicked at".into()], expected: Vec::new() }), Verdict::PartialSurface, "red-flag-7"),
    ("a statistical claim on few seeds", |c| { statistical(c); two_seeds_suffice(c) }, Verdict::PartialModel, "weak-oracle-11"),
    ("hardening on two seeds", two_seeds_suffice, Verdict::PartialModel, "weak-oracle-11"),
    ("only two-way cuts", |c| rename(c, "asymmetric-data-cut", "full-partition"), Verdict::PartialModel, "weak-oracle-7"),
    ("a single failover", single_failover, Verdict::PartialModel, "weak-oracle-4"),
    ("a boundary claim without arms", |c| c.declared.falsifies[0].1.push(Category::Boundary), Verdict::PartialSurface, "weak-oracle-12"),
    ("a boundary arm without negative controls", |c| { boundary_arm(c); c.declared.negative_controls.clear() }, Verdict::PartialSurface, "weak-oracle-13"),
    ("a negative control that never ran in one seed", |c| { boundary_arm(c); c.runs[1].controls.clear() }, Verdict::PartialSurface, "weak-oracle-13"),
    ("one of two negative controls never ran", |c| { boundary_arm(c); c.declared.negative_controls.push("B lists A's keys".into()) }, Verdict::PartialSurface, "weak-oracle-13"),
    ("a negative control without its twin", |c| { boundary_arm(c); c.runs[1].controls[0].twins.clear() }, Verdict::PartialSurface, "weak-oracle-13"),
    ("a negative control that is only said to have held", |c| { boundary_arm(c); c.runs[1].controls[0].attempts.clear() }, Verdict::PartialSurface, "weak-oracle-13"),
    ("a negative control that held once and not again", |c| { boundary_arm(c); once_not_shown(&mut c.runs[1]) }, Verdict::PartialSurface, "weak-oracle-13"),
    ("a negative control was granted", |c| { boundary_arm(c); granted(&mut c.runs[1]) }, Verdict::FailNondeterministic, "violation"),
    ("a fairness claim without groups", |c| c.declared.falsifies[0].1.push(Category::Fairness), Verdict::PartialSurface, "weak-oracle-14"),
    // Drift.
    ("the plan's scenario changed", |c| c.drift = Drift::Scenario { fields: vec!["Faults".into()] }, Verdict::PartialSurface, "drift"),
];

fn never_reached(run: &mut RunRecord) {
    let last = run.preconditions.last_mut().expect("there are four");
    (last.ok, last.evidence) = (false, NOT_REACHED.into());
}

fn panicked() -> End {
    End::Panicked { message: "boom".into() }
}

fn undecided() -> Outcome {
    Outcome::Unknown { why: "60 s of checking".into() }
}

fn undamaged(bite: Bite) -> Tooth {
    Tooth { damage: "undamaged-control".into(), ..tooth(CHECKERS[1], bite) }
}

fn control(bite: Bite) -> Tooth {
    Tooth { damage: "control".into(), ..tooth(CHECKERS[1], bite) }
}

fn silent(bite: Bite) -> Tooth {
    Tooth { damage: NO_ANSWERS.to_owned(), ..tooth(CHECKERS[0], bite) }
}

fn violate(run: &mut RunRecord) {
    run.answers.push(answer(CHECKERS[0], invalid("x")));
}

fn violate_twice(c: &mut Case, anomaly: &str) {
    violate(&mut c.runs[0]);
    let mut again = rerun(&run(1), 1);
    again.answers.push(answer(CHECKERS[0], invalid(anomaly)));
    c.runs.push(again);
}

fn windows(c: &mut Case, change: fn(&mut crate::fault::Assessment)) {
    c.runs[0].windows.iter_mut().for_each(change);
}

#[test]
fn what_is_planned_together_or_each_for_itself_passes_when_tested_together() {
    for planned in [PLANNED_APART, &[JOINED], &["pause + hard-kill"], &[JOINED, "pause"]] {
        let mut case = Case::perfect();
        together(&mut case, planned);
        let (verdict, why) = case.decide();
        assert_eq!(verdict, Verdict::PassHardening, "{planned:?}: {why:#?}");
    }
}

const JOINED: &str = "hard-kill + pause";
const PLANNED_APART: &[&str] = &["hard-kill", "pause"];

fn plan_faults(c: &mut Case, planned: &[&str]) {
    if let DeclaredFault::Planned { nemeses, .. } = &mut c.declared.fault {
        *nemeses = planned.iter().map(|nemesis| (*nemesis).to_owned()).collect();
    }
}

/// In every window a kill and a pause act together.
fn together(c: &mut Case, planned: &[&str]) {
    plan_faults(c, planned);
    for whole in c.runs.iter_mut().flat_map(|run| &mut run.windows) {
        let part = |nemesis: &str| crate::fault::Assessment { nemesis: nemesis.to_owned(), ..whole.clone() };
        whole.parts = vec![part("hard-kill"), part("pause")];
        whole.nemesis = JOINED.to_owned();
    }
}

fn parts(c: &mut Case, change: fn(&mut Vec<crate::fault::Assessment>)) {
    c.runs[0].windows.iter_mut().for_each(|window| change(&mut window.parts));
}

fn missed(window: &mut crate::fault::Assessment) {
    window.occasion = Some(crate::fault::Occasion { event: "a leader is elected".to_owned(), ..Default::default() });
}

fn truncate(run: &mut RunRecord) {
    (run.answers[0].evidence.recorded, run.answers[0].evidence.consumed) = (20_000, 20_000);
}

fn rename(c: &mut Case, from: &str, to: &str) {
    for window in c.runs.iter_mut().flat_map(|run| &mut run.windows).filter(|w| w.nemesis == from) {
        window.nemesis = to.into();
    }
    if let DeclaredFault::Planned { nemeses, .. } = &mut c.declared.fault {
        nemeses.iter_mut().filter(|n| *n == from).for_each(|n| *n = to.into());
    }
}

/// The same scenario without a fault.
fn unplanned(c: &mut Case) {
    c.declared.fault = no_fault();
    let budgets = c.declared.budgets.as_mut().expect("has");
    (budgets.smoke.faults, budgets.hardening.faults) = (0, 0);
    c.runs.iter_mut().for_each(|run| (run.windows, run.injections) = (vec![], 0));
}

/// One kill in one run of one seed, in a plan whose hardening tier asks for no more.
fn single_failover(c: &mut Case) {
    rename(c, "hard-kill", "pause");
    c.runs.truncate(1);
    c.runs[0].windows[1].nemesis = "hard-kill".into();
    if let DeclaredFault::Planned { nemeses, .. } = &mut c.declared.fault {
        nemeses.push("hard-kill".into());
    }
    let budgets = c.declared.budgets.as_mut().expect("has");
    (budgets.smoke.seeds, budgets.hardening.seeds) = (0, 1);
}

fn two_seeds_suffice(c: &mut Case) {
    c.runs.pop();
    c.declared.budgets.as_mut().expect("has").hardening.seeds = 2;
}

fn statistical(c: &mut Case) {
    c.declared.falsifies[0].1.push(Category::PerformanceSlo);
}

fn boundary_arm(c: &mut Case) {
    c.declared.falsifies[0].1.push(Category::Boundary);
    c.declared.id = "S1/api".into();
    c.runs.iter_mut().for_each(|run| run.request.scenario = "S1/api".into());
    c.declared.negative_controls = vec!["B reads A's key".into()];
    c.runs.iter_mut().for_each(|run| run.controls = vec![held("B reads A's key")]);
}

/// What the attempt must not get, it got.
fn granted(run: &mut RunRecord) {
    let op = &mut run.controls[0].attempts[0].exchange.op;
    (op.output, op.error) = (serde_json::json!("secret-of-a"), None);
}

fn once_not_shown(run: &mut RunRecord) {
    run.controls.push(run.controls[0].clone());
    run.controls[1].channels.clear();
}

#[test]
fn a_boundary_arm_whose_negative_controls_held_in_every_run_can_pass_hardening() {
    let mut case = Case::perfect();
    boundary_arm(&mut case);
    let (verdict, why) = case.decide();
    assert_eq!(verdict, Verdict::PassHardening, "{why:#?}");
    once_not_shown(&mut case.runs[2]);
    let (_, why) = case.decide();
    assert!(why.headline().contains("\"B reads A's key\"") && why.headline().contains("no channel"), "{why:#?}");
}

#[test]
fn what_a_negative_control_was_granted_is_a_violation_that_a_re_run_can_repeat() {
    let mut case = Case::perfect();
    boundary_arm(&mut case);
    granted(&mut case.runs[0]);
    let mut again = rerun(&case.runs[0], 1);
    again.request.scenario = "S1/api".into();
    assert!(violates(&again) && reproduces(&case.runs[0], &again));
    case.runs.push(again);
    assert_eq!(case.decide().0, Verdict::FailReproducible);
}

#[test]
fn a_perfect_record_is_pass_hardening() {
    let (verdict, why) = Case::perfect().decide();
    assert_eq!(verdict, Verdict::PassHardening, "{why:#?}");
    assert_eq!(tier_met(&declared(), &perfect()), Some(Tier::Hardening));
}

#[test]
fn nothing_reaches_pass_hardening_with_one_requirement_missing() {
    for (name, mutate, expect, rule) in MUTATIONS {
        let mut case = Case::perfect();
        mutate(&mut case);
        let (verdict, why) = case.decide();
        assert_eq!(verdict, *expect, "{name}\n{why:#?}");
        assert_ne!(verdict, Verdict::PassHardening, "{name}");
        assert!(why.steps.iter().any(|step| step.rule == *rule), "{name}: no step `{rule}`\n{why:#?}");
    }
}

#[test]
fn what_does_not_matter_leaves_pass_hardening_alone() {
    let check = |name: &str, mutate: fn(&mut Case)| {
        let mut case = Case::perfect();
        mutate(&mut case);
        let (verdict, why) = case.decide();
        assert_eq!(verdict, Verdict::PassHardening, "{name}\n{why:#?}");
    };
    check("an allowed death", |c| c.runs[0].deaths.push(death(true)));
    check("a sixth window that did not land", |c| {
        c.runs[0].injections = 6;
        c.runs[0].windows.push(crate::fault::Assessment { landed: false, ..window(6, "pause") });
    });
    check("the plan changed elsewhere", |c| c.drift = Drift::PlanOnly);
    check("the plan is not there", |c| c.drift = Drift::Unknown { why: "packaged crate".into() });
    check("nobody scanned the logs", |c| c.runs[0].log_scan = None);
    check("a history without answers that is left open", |c| c.runs[0].teeth.push(silent(Bite::Undecided)));
    check("an accepted control", |c| c.runs[0].teeth.push(control(Bite::Accepted)));
    check("a control to which no damage applies", |c| c.runs[0].teeth.push(undamaged(Bite::NotApplicable)));
    check("two sizes", |c| c.runs[0].measured.nodes = 7);
    check("a model spelled other(...)", |c| c.declared.model = Some("other(register)".into()));
}

#[test]
fn a_violation_without_a_proven_fault_is_attributed_to_no_fault() {
    let mut case = Case::perfect();
    violate(&mut case.runs[0]);
    let (_, why) = case.decide();
    assert!(!why.headline().contains("no fault"), "{}", why.headline());
    case.runs[0].windows.clear();
    let (verdict, why) = case.decide();
    assert_eq!(verdict, Verdict::FailNondeterministic);
    let expect = "C1, C2 violated: x on k1 (linearizability); seed 1 was not run again, attributed to no fault";
    assert_eq!(why.headline(), expect);
}

#[test]
fn absurd_numbers_neither_panic_nor_pass() {
    let mut case = Case::perfect();
    for run in &mut case.runs {
        let max = u64::MAX;
        run.operations = OpCounts { recorded: max, acknowledged: max, failed: max, unknown: max };
        run.measured = Budget { nodes: max, seconds: max, faults: max, seeds: max, operations: max };
        (run.workload, run.injections) = (crate::base::time::Nanos(max), max);
        run.log_scan = Some(LogScan { files: max, bytes: max, suspicious: Vec::new(), expected: Vec::new() });
        let evidence = &mut run.answers[0].evidence;
        (evidence.recorded, evidence.consumed, evidence.fired) = (max, max, max);
    }
    let (verdict, why) = case.decide();
    assert_eq!(verdict, Verdict::PartialModel, "{why:#?}");
}

#[test]
fn a_violation_is_reproduced_only_by_another_execution_of_its_seed() {
    let (mut first, clean) = (run(1), run(1));
    violate(&mut first);
    assert!(violates(&first) && !violates(&clean));
    assert!(reproduces(&first, &rerun(&first, 1)));
    assert!(!reproduces(&first, &first), "an execution does not reproduce itself");
    assert!(!reproduces(&first, &rerun(&clean, 1)));
    let mut same_id = rerun(&first, 1);
    same_id.request.run_id.clone_from(&first.request.run_id);
    assert!(!reproduces(&first, &same_id), "a copy of a record is no re-run");
    let mut attempt = first.clone();
    attempt.request.run_id = "attempt-2".into();
    assert!(!reproduces(&first, &attempt), "only a re-run reproduces");
    let mut other_seed = rerun(&first, 1);
    other_seed.request.seed = 2;
    assert!(!reproduces(&first, &other_seed));
    let mut allowed = run(1);
    allowed.deaths.push(death(true));
    assert!(!violates(&allowed));
}

#[test]
fn the_reason_of_a_step_carries_numbers() {
    let mut case = Case::perfect();
    case.runs.truncate(1);
    let (verdict, why) = case.decide();
    assert_eq!((verdict, why.headline().as_str()), (Verdict::PassSmoke, "fault landed, smoke budget: seeds 1 of 3"));
}

#[test]
fn no_step_speaks_of_a_landed_fault_when_none_was_injected() {
    let mut case = Case::perfect();
    case.runs.truncate(1);
    case.runs[0].windows.clear();
    case.runs[0].injections = 0;
    let (verdict, why) = case.decide();
    assert_eq!(verdict, Verdict::InconclusiveFaultNotProven);
    assert!(why.headline().contains("no fault was injected"), "{why:#?}");
    assert!(!why.steps.iter().any(|step| step.reason.contains("fault landed")), "{why:#?}");
}

#[test]
fn a_test_is_ok_only_with_the_strongest_verdict_and_the_tier_asked_for() {
    use Verdict::*;
    let (planned, mut without, mut legacy) = (declared(), declared(), declared());
    without.fault = no_fault();
    legacy.budgets = None;
    let check = |d: &Declared, verdict, met, asked, expect| {
        assert_eq!(test_is_ok(d, verdict, met, asked), expect, "{verdict} {met:?} {asked}");
    };
    let (smoke, hardening, release) = (Tier::Smoke, Tier::Hardening, Tier::Release);
    check(&planned, PassHardening, Some(hardening), hardening, true);
    check(&planned, PassHardening, Some(release), release, true);
    check(&planned, PassHardening, Some(hardening), release, false);
    check(&planned, PassSmoke, Some(hardening), hardening, false);
    check(&planned, PassSmoke, Some(smoke), smoke, true);
    check(&planned, PassHardening, Some(hardening), smoke, true);
    check(&without, PassSmoke, Some(hardening), hardening, true);
    check(&without, PassSmoke, Some(smoke), hardening, false);
    check(&legacy, PassSmoke, None, smoke, true);
    check(&legacy, PassSmoke, None, hardening, false);
    for verdict in Verdict::ALL.into_iter().filter(|v| !v.is_pass()) {
        for asked in [smoke, hardening, release] {
            check(&planned, verdict, Some(release), asked, false);
            check(&without, verdict, Some(release), asked, false);
        }
    }
}

#[test]
fn the_weakest_seed_decides_the_effort() {
    let check = |change: fn(&mut RunRecord), expect: Budget| {
        let mut runs = perfect();
        change(&mut runs[1]);
        assert_eq!(Facts::gather(&declared(), &runs, &Drift::None, &[]).effort.measured, expect);
    };
    let full = Budget { nodes: 5, seconds: 30, faults: 5, seeds: 3, operations: 20_500 };
    check(|_| {}, full);
    check(|r| r.measured.nodes = 2, Budget { nodes: 2, ..full });
    check(|r| r.operations.recorded = 7, Budget { operations: 7, ..full });
    check(|r| r.end = End::Died { how: "x".into() }, Budget { seeds: 2, ..full });
    check(|r| r.measured.seeds = 0, Budget { seeds: 2, ..full });
    check(|r| r.windows[0].nemesis = "latency".into(), Budget { faults: 4, ..full });
}
