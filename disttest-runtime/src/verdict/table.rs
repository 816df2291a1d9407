//! `decide` over every combination of a finite product of situations, against rules written from the format alone.
//!
//! The rules below know situations, not records: each situation is turned into declarations and records, these into
//! facts, and the verdict must be what the first matching rule and the caps say.

use super::fixture::*;
use super::*;
use crate::checker::Outcome;
use crate::plan::Category;

/// What happened, one field a question. `seen` and `fault` are of the first seed, `end` of the last.
#[derive(Clone, Copy, Debug)]
struct Situation {
    unfilled: bool,
    seeds: u64,
    end: Ended,
    seen: Saw,
    fault: Fault,
    serious: bool,
    checker: Checked,
    weak_history: bool,
    teeth: Teeth,
    seconds: u64,
    budgets: bool,
    recovered: bool,
    drift: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ended {
    Judged,
    Panicked,
    EnvMissing,
    PreconditionFailed,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Saw {
    Nothing,
    Once,
    AgainInRerun,
    OtherInRerun,
    NodeDeath,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Landed,
    VictimSilent,
    SaidNone,
    NotPlanned,
    NotPlannedButMade,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Checked {
    All,
    NotRun,
    Undecided,
    Subset,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Teeth {
    Bite,
    Missing,
    Accept,
}

type Rule = (fn(&Situation) -> bool, Verdict);

/// First match decides: format.md §10, with D3 (a FAIL stands), D11, D17.
const TREE: [Rule; 16] = [
    (|s| s.seeds > 0 && s.seen == Saw::AgainInRerun, Verdict::FailReproducible),
    (|s| s.seeds > 0 && s.seen != Saw::Nothing, Verdict::FailNondeterministic),
    (|s| s.unfilled, Verdict::NotRun),
    (|s| s.seeds == 0, Verdict::NotRun),
    (|s| s.end == Ended::EnvMissing, Verdict::InconclusiveEnv),
    (|s| s.end == Ended::PreconditionFailed, Verdict::InconclusiveEnv),
    (|s| s.end == Ended::Panicked, Verdict::InconclusiveOracleTooWeak),
    (|s| !matches!(s.fault, Fault::Landed | Fault::NotPlanned), Verdict::InconclusiveFaultNotProven),
    (|s| s.serious && s.checker == Checked::NotRun, Verdict::PartialSurface),
    (|s| s.weak_history, Verdict::InconclusiveOracleTooWeak),
    // Without any checker there is no oracle; a scenario that is not serious needs one all the same.
    (|s| s.checker == Checked::NotRun, Verdict::InconclusiveOracleTooWeak),
    (|s| s.checker == Checked::Undecided, Verdict::InconclusiveOracleTooWeak),
    // A checker that was shown nothing but the history it calls valid may call everything valid.
    (|s| s.teeth != Teeth::Bite, Verdict::InconclusiveOracleTooWeak),
    (|s| s.checker == Checked::Subset, Verdict::PartialModel),
    (|s| s.fault == Fault::NotPlanned, Verdict::PassSmoke),
    (|_| true, Verdict::PassHardening),
];

/// Every cap that holds lowers: §5, §8, §9, D2, D6, D10.
const CAPS: [Rule; 5] = [
    (|s| !s.budgets, Verdict::PassSmoke),
    (|s| s.budgets && s.seconds < 10, Verdict::PartialSurface),
    (|s| s.budgets && (s.seconds < 30 || s.seeds < 3), Verdict::PassSmoke),
    (|s| !s.recovered && s.fault == Fault::Landed, Verdict::PartialModel),
    (|s| s.drift, Verdict::PartialSurface),
];

/// D3, lowest first, spelled out once more.
const ORDER: [&str; 8] = [
    "NOT-RUN",
    "INCONCLUSIVE-env",
    "INCONCLUSIVE-fault-not-proven",
    "INCONCLUSIVE-oracle-too-weak",
    "PARTIAL-surface",
    "PARTIAL-model",
    "PASS-smoke",
    "PASS-hardening",
];

fn expected(s: &Situation) -> Verdict {
    let by_tree = TREE.iter().find(|(holds, _)| holds(s)).expect("the last rule always holds").1;
    let rank = |v: Verdict| ORDER.iter().position(|name| *name == v.as_str());
    if rank(by_tree).is_none() {
        return by_tree;
    }
    // The audits look only at what is still a PASS after the budget gate; all caps lie below every PASS they lower.
    CAPS.iter()
        .filter(|(holds, _)| holds(s))
        .map(|(_, cap)| *cap)
        .chain([by_tree])
        .min_by_key(|v| rank(*v))
        .expect("not empty")
}

/// Every situation up to `unfilled` and `drift`, each exactly once.
fn situations() -> Vec<Situation> {
    use {Checked as C, Ended as E, Fault as F, Saw as S, Teeth as T};
    let bools = [false, true];
    let ends = [E::Judged, E::Panicked, E::EnvMissing, E::PreconditionFailed];
    let seens = [S::Nothing, S::Once, S::AgainInRerun, S::OtherInRerun, S::NodeDeath];
    let faults = [F::Landed, F::VictimSilent, F::SaidNone, F::NotPlanned, F::NotPlannedButMade];
    let checked = [C::All, C::NotRun, C::Undecided, C::Subset];
    let mut all = Vec::new();
    for (serious, budgets, seeds) in product3(&bools, &bools, &[0, 3]) {
        for (end, seen, fault) in product3(&ends, &seens, &faults) {
            for (checker, teeth, seconds) in product3(&checked, &[T::Bite, T::Missing, T::Accept], &[5, 10, 30]) {
                for (weak_history, recovered, _) in product3(&bools, &bools, &[()]) {
                    let (unfilled, drift) = (false, false);
                    all.push(Situation {
                        unfilled,
                        seeds,
                        end,
                        seen,
                        fault,
                        serious,
                        checker,
                        weak_history,
                        teeth,
                        seconds,
                        budgets,
                        recovered,
                        drift,
                    });
                }
            }
        }
    }
    all
}

fn product3<A: Copy, B: Copy, C: Copy>(a: &[A], b: &[B], c: &[C]) -> Vec<(A, B, C)> {
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (*a, *b)));
    pairs.flat_map(|(a, b)| c.iter().map(move |c| (a, b, *c))).collect()
}

/// Declaration and records of situations, built from parts that are made once.
struct Builder {
    declared: Declared,
    run: RunRecord,
}

impl Builder {
    fn declare(&self, s: &Situation) -> Declared {
        let mut declared = self.declared.clone();
        if !s.serious {
            declared.falsifies = vec![("C9".to_owned(), vec![Category::Liveness])];
            declared.checkers.clear();
            declared.model = None;
        }
        if matches!(s.fault, Fault::NotPlanned | Fault::NotPlannedButMade) {
            declared.fault = no_fault();
        }
        if !s.budgets {
            declared.budgets = None;
        } else if let (DeclaredFault::None { .. }, Some(budgets)) = (&declared.fault, &mut declared.budgets) {
            (budgets.smoke.faults, budgets.hardening.faults) = (0, 0);
        }
        declared
    }

    fn records(&self, s: &Situation) -> Vec<RunRecord> {
        let mut runs: Vec<RunRecord> = (1..=s.seeds).map(|seed| self.ordinary(s, seed)).collect();
        let Some(first) = runs.first_mut() else { return runs };
        saw(s, first);
        let again = first.clone();
        broken_fault(s, first);
        let last = runs.last_mut().expect("there is a first");
        match s.end {
            Ended::Judged => {}
            Ended::Panicked => last.end = End::Panicked { message: "boom".to_owned() },
            Ended::EnvMissing => last.end = End::EnvMissing { what: "no ports".to_owned() },
            Ended::PreconditionFailed => last.preconditions[0].ok = false,
        }
        if matches!(s.seen, Saw::AgainInRerun | Saw::OtherInRerun) {
            let mut again = rerun(&again, 1);
            if s.seen == Saw::OtherInRerun {
                again.answers = vec![answer(CHECKERS[0], invalid("another-anomaly"))];
            }
            runs.push(again);
        }
        runs
    }

    fn ordinary(&self, s: &Situation, seed: u64) -> RunRecord {
        let mut run = self.run.clone();
        run.request.seed = seed;
        run.request.run_id = format!("run-{seed}-0");
        run.history_sha256 = Some(format!("{seed:064x}"));
        run.measured.seconds = s.seconds;
        if s.weak_history {
            run.history_weak.push("a handle was dropped".to_owned());
        }
        if matches!(s.fault, Fault::NotPlanned | Fault::NotPlannedButMade) {
            (run.windows, run.injections) = (Vec::new(), 0);
            run.no_fault = Some("the happy path".to_owned());
        } else if !s.recovered {
            run.windows[0].recovered = false;
        }
        match s.teeth {
            Teeth::Bite => {}
            Teeth::Missing => run.teeth.clear(),
            Teeth::Accept => run.teeth[0].bite = Bite::Accepted,
        }
        match s.checker {
            Checked::All => {}
            Checked::NotRun => run.answers.clear(),
            Checked::Undecided => run.answers[0].outcome = Outcome::Unknown { why: "60 s of checking".to_owned() },
            Checked::Subset => run.answers[0].evidence.consumed -= 1,
        }
        run
    }
}

fn saw(s: &Situation, run: &mut RunRecord) {
    match s.seen {
        Saw::Nothing => {}
        Saw::NodeDeath => run.deaths.push(death(false)),
        Saw::Once | Saw::AgainInRerun | Saw::OtherInRerun => {
            run.answers.push(answer(CHECKERS[0], invalid("non-linearizable")));
        }
    }
}

fn broken_fault(s: &Situation, run: &mut RunRecord) {
    match s.fault {
        Fault::Landed | Fault::NotPlanned => {}
        Fault::VictimSilent => {
            for window in &mut run.windows {
                window.victim.moved = false;
            }
        }
        Fault::SaidNone => run.no_fault = Some("nothing to break".to_owned()),
        Fault::NotPlannedButMade => run.injections = 1,
    }
}

/// The smallest scenario with all that matters: one nemesis, one window, one checker. Few allocations, for speed.
fn smallest() -> Builder {
    let (mut declared, mut run) = (declared(), run(1));
    declared.checkers.truncate(1);
    if let DeclaredFault::Planned { nemeses, .. } = &mut declared.fault {
        nemeses.truncate(1);
    }
    if let Some(budgets) = &mut declared.budgets {
        (budgets.smoke.faults, budgets.hardening.faults) = (0, 1);
    }
    run.windows.truncate(1);
    run.answers.truncate(1);
    run.teeth.truncate(1);
    run.preconditions.iter_mut().for_each(|p| p.evidence.clear());
    run.request.run_dir.clear();
    run.request.log_dir.clear();
    run.windows[0].recovery.clear();
    run.answers[0].cannot_detect.clear();
    Builder { declared, run }
}

/// Checks `s` with and without an unfilled region, with and without drift: both go into the facts as they are.
fn check(builder: &Builder, s: &Situation) {
    let mut facts = Facts::gather(&builder.declare(s), &builder.records(s), &Drift::None, &[]);
    for (unfilled, drift) in [(false, false), (false, true), (true, false), (true, true)] {
        let s = Situation { unfilled, drift, ..*s };
        facts.unfilled = if unfilled { vec!["workload".to_owned()] } else { Vec::new() };
        facts.drift = if drift { Drift::Scenario { fields: Vec::new() } } else { Drift::None };
        let (verdict, why) = decide(&facts);
        assert_eq!(verdict, expected(&s), "{s:?}\n{why:#?}");
        assert_eq!(why.steps.last().map(|step| step.verdict), Some(verdict), "{s:?}");
        assert!(why.decisive().is_some_and(|step| !step.reason.is_empty()), "{s:?}");
    }
}

#[test]
fn decide_agrees_with_the_rules_of_the_format_in_every_situation() {
    let (builder, all) = (smallest(), situations());
    assert_eq!(4 * all.len(), 460_800, "the product is complete");
    std::thread::scope(|scope| {
        for part in all.chunks(all.len() / 4) {
            let builder = &builder;
            scope.spawn(move || part.iter().for_each(|s| check(builder, s)));
        }
    });
}
