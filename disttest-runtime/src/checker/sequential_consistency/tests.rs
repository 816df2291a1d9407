#![expect(clippy::unwrap_used, reason = "tests")]

use super::saturation::Decided;
use super::*;
use crate::base::rng::Rng;
use crate::checker::Unlimited;
use crate::checker::reference::seeds;
use crate::history::generate::{self, Object, Shape};
use crate::history::notation::history;
use crate::history::systems::{self, Load, Replication};
use crate::model::{MapModel, Queue, Register, Step};

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Valid => "valid",
        Outcome::Invalid { .. } => "invalid",
        Outcome::Unknown { .. } => "unknown",
    }
}

fn check(text: &str, expect: &str) -> Answer {
    let answer = SequentialConsistency::whole(MapModel::new()).check(&history(text).unwrap(), &Unlimited);
    assert_eq!(word(&answer.outcome), expect, "{text}\n{answer:#?}");
    answer
}

#[test]
fn sessions_agree_on_one_order() {
    for (expect, text) in [
        // A stale read of another session is fine, of the own one is not.
        ("valid", "c1 put x 1 [0..1]\nc2 get x -> null [2..3]\nc2 get x -> 1 [4..5]"),
        ("invalid", "c1 put x 1 [0..1]\nc1 get x -> null [2..3]"),
        ("invalid", "c1 put x 1 [0..1]\nc2 get x -> 1 [2..3]\nc2 get x -> null [4..5]"),
        ("invalid", "c1 get x -> 7 [0..1]"),
        // Two sessions see two writes in different orders.
        (
            "invalid",
            "c1 put x 1 [0..1]\nc2 put x 2 [0..1]\nc3 get x -> 1 [2..3]\nc3 get x -> 2 [4..5]\nc4 get x -> 2 [2..3]\nc4 get x -> 1 [4..5]",
        ),
        // Each key by itself has an order, both together have none (Dekker).
        ("invalid", "c1 put x 1 [0..1]\nc1 get y -> null [2..3]\nc2 put y 1 [0..1]\nc2 get x -> null [2..3]"),
        ("valid", "c1 put x 1 [0..1]\nc1 get y -> null [2..3]\nc2 put y 1 [0..1]\nc2 get x -> 1 [2..3]"),
        // Unknown outcomes take effect at any time or never, failed ones never.
        ("valid", "c1 put x 1 [0..]\nc2 get x -> 1 [2..3]"),
        ("valid", "c1 put x 1 [0..]\nc2 get x -> null [2..3]\nc2 get x -> 1 [4..5]"),
        ("invalid", "c1 put x 1 !refused [0..1]\nc2 get x -> 1 [2..3]"),
        ("unknown", ""),
        ("unknown", "c1 put x 1 [0..1]"),
        ("unknown", "c1 put x 1 [0..9]\nc1 get x -> 1 [5..6]"),
        ("unknown", "c1 push x 1 [0..9]\nc1 get x -> 1 [15..16]"),
    ] {
        check(text, expect);
    }
    let dekker = "c1 put x 1 [0..1]\nc1 get y -> null [2..3]\nc2 put y 1 [0..1]\nc2 get x -> null [2..3]";
    let per_key = SequentialConsistency::per_key(MapModel::new()).check(&history(dekker).unwrap(), &Unlimited);
    assert_eq!(word(&per_key.outcome), "valid");
}

#[test]
fn a_witness_holds_what_matters_and_nothing_else() {
    let text = "c1 put x 1 [0..1]\nc3 put z 1 [0..1]\nc3 get z -> 1 [3..4]\nc1 put x 2 [2..3]\nc2 get x -> 2 [4..5]\nc2 get x -> 1 [6..7]\nc2 get x -> 1 [8..9]";
    let Outcome::Invalid { violations } = check(text, "invalid").outcome else { unreachable!() };
    assert_eq!(violations[0].anomaly, "not-sequentially-consistent");
    assert_eq!(violations[0].ops, [0, 3, 4, 5]);
    assert!(violations[0].explanation.contains("#5 c2 get x -> 1 [6..7]"), "{}", violations[0].explanation);
}

#[test]
fn a_search_that_takes_too_long_is_unknown() {
    let text = "c1 put x 1 [0..1]\nc2 put x 1 [0..1]\nc1 get x -> null [2..3]";
    let checker = SequentialConsistency::whole(MapModel::new()).effort(0);
    assert_eq!(word(&checker.check(&history(text).unwrap(), &Unlimited).outcome), "unknown");
}

/// Tries every order of what is left of each session; unknown outcomes anywhere after what came before them, or nowhere.
fn orderable<M: Model>(
    model: &M,
    state: &M::State,
    sessions: &mut [Vec<(M::Call, bool)>],
    free: &mut Vec<M::Call>,
) -> bool {
    for session in sessions.iter_mut() {
        while session.first().is_some_and(|(_, known)| !known) {
            free.push(session.remove(0).0);
        }
    }
    if sessions.iter().all(Vec::is_empty) {
        return true;
    }
    let after = |call: &M::Call| match model.step(state, call) {
        Step::Illegal => None,
        Step::Unchanged => Some(state.clone()),
        Step::To(next) => Some(next),
    };
    for at in 0..sessions.len() {
        let Some(next) = sessions[at].first().and_then(|(call, _)| after(call)) else { continue };
        let (mut rest, mut free) = (sessions.to_vec(), free.clone());
        rest[at].remove(0);
        if orderable(model, &next, &mut rest, &mut free) {
            return true;
        }
    }
    (0..free.len()).any(|at| {
        let mut rest = free.clone();
        let call = rest.remove(at);
        after(&call).is_some_and(|next| orderable(model, &next, &mut sessions.to_vec(), &mut rest))
    })
}

fn agree<M: Model + Clone>(model: M, object: Object, seeds: std::ops::Range<u64>) -> (u32, u32) {
    let (mut valid, mut invalid) = (0, 0);
    for seed in seeds {
        let mut rng = Rng::stream(seed, "sequential");
        let shape = Shape {
            object,
            clients: 2 + rng.below(2),
            keys: 1,
            operations: 4 + rng.below(4),
            unknown: rng.below(200),
            failed: 50,
            values: rng.chance(1, 2).then_some(2),
            final_reads: false,
        };
        let mut ops = generate::history(shape, seed).into_ops();
        for _ in 0..rng.below(3) {
            let (at, other) = (rng.below(ops.len() as u64) as usize, rng.below(ops.len() as u64) as usize);
            if ops[at].op_type == "read" && ops[at].effect() == Effect::Acknowledged && !ops[other].output.is_boolean()
            {
                ops[at].output = if rng.chance(1, 2) { ops[other].output.clone() } else { ops[other].input.clone() };
            }
        }
        let Ok(history) = History::new(ops) else { continue };
        let mut atoms = Atoms::default();
        let start = model.start(&mut atoms);
        let mut sessions: BTreeMap<u64, Vec<(M::Call, bool)>> = BTreeMap::new();
        for op in history.ops().iter().filter(|op| op.effect() != Effect::Failed) {
            let Ok(call) = model.call(op, &mut atoms) else { continue };
            sessions.entry(op.process_id).or_default().push((call, op.effect() == Effect::Acknowledged));
        }
        let expect = orderable(&model, &start, &mut sessions.into_values().collect::<Vec<_>>(), &mut Vec::new());
        let answer = SequentialConsistency::whole(model.clone()).check(&history, &Unlimited);
        let text = history.ops().iter().map(notation::line).collect::<Vec<_>>().join("\n");
        match word(&answer.outcome) {
            "valid" => assert!(expect, "{seed}: accepted\n{text}"),
            "invalid" => assert!(!expect, "{seed}: rejected\n{text}"),
            _ => continue,
        }
        if expect { valid += 1 } else { invalid += 1 }
    }
    (valid, invalid)
}

#[test]
fn the_search_agrees_with_trying_every_order() {
    for object in [Object::Register, Object::CasRegister] {
        let (valid, invalid) = agree(Register::new(), object, seeds(1500));
        assert!(valid > 300 && invalid > 50, "{object:?}: {valid} valid, {invalid} invalid");
    }
}

/// What the checker says, by outcome, of histories of a system, with so many steps of search.
fn of_system(system: Replication, effort: u64) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for seed in seeds(60) {
        let history = systems::registers(system, Load::default(), seed);
        let answer = SequentialConsistency::whole(MapModel::new()).effort(effort).check(&history, &Unlimited);
        *counts.entry(word(&answer.outcome)).or_default() += 1;
    }
    counts
}

#[test]
fn replicated_registers_are_mostly_decided_without_a_search() {
    for (system, valid, invalid) in [
        (Replication::Synchronous, true, false),
        (Replication::StaleLeader, true, false),
        (Replication::FollowerReads, true, true),
        (Replication::Asynchronous, true, true),
    ] {
        let counts = of_system(system, 0);
        let (open, all) = (counts.get("unknown").copied().unwrap_or(0), counts.values().sum::<u64>());
        assert!(open * 20 <= all, "{system:?}: {counts:?}");
        assert_eq!(
            (counts.contains_key("valid"), counts.contains_key("invalid")),
            (valid, invalid),
            "{system:?}: {counts:?}"
        );
    }
}

#[test]
fn what_must_come_before_what_agrees_with_the_search() {
    let (model, mut counts) = (MapModel::new(), BTreeMap::new());
    for seed in seeds(400) {
        let system = if seed % 2 == 0 { Replication::Asynchronous } else { Replication::FollowerReads };
        let load = Load { operations: 24, ..Load::default() };
        let history = systems::registers(system, load, seed);
        let checker = SequentialConsistency::whole(model.clone());
        let mut atoms = Atoms::default();
        let start = model.start(&mut atoms);
        for ops in checker.groups(&history) {
            let (sessions, objects) = checker.session(&ops, &mut atoms);
            let decided = saturation::decide(&model, &start, &sessions, |_| true, &Unlimited);
            let found = Search::new(&model, &start, objects, &Unlimited, 50_000).look(&sessions, |_| true);
            match (decided, found) {
                (None, _) | (_, Found::Stopped(_)) => continue,
                (Some(Decided::Order), Found::Order) | (Some(Decided::Contradiction), Found::None) => {}
                (decided, _) => panic!("{system:?} {seed}: {decided:?}"),
            }
            *counts.entry(format!("{decided:?}")).or_insert(0) += 1;
        }
    }
    assert!(counts.len() == 2 && counts.values().all(|count| *count > 20), "{counts:?}");
}

#[test]
fn any_model_can_be_checked() {
    let text = "c1 enqueue q 1 [0..1]\nc1 enqueue q 2 [2..3]\nc2 dequeue q -> 2 [4..5]\nc2 dequeue q -> 1 [6..7]";
    let answer = SequentialConsistency::whole(Queue::new()).check(&history(text).unwrap(), &Unlimited);
    assert_eq!(word(&answer.outcome), "invalid");
}
