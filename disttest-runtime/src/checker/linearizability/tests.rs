#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::base::rng::Rng;
use crate::checker::Unlimited;
use crate::checker::reference::{self, seeds};
use crate::history::generate::{self, Object as Kind, Shape};
use crate::history::notation::history;
use crate::model::{Log, MapModel, Register, Timed};
use serde_json::json;

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Valid => "valid",
        Outcome::Invalid { .. } => "invalid",
        Outcome::Unknown { .. } => "unknown",
    }
}

fn check<M: Model>(model: M, text: &str, expect: &str) -> Answer {
    let answer = Linearizability::per_key(model).check(&history(text).unwrap(), &Unlimited);
    assert_eq!(word(&answer.outcome), expect, "{text}\n{answer:#?}");
    answer
}

#[test]
fn registers_accepted_and_rejected() {
    for (expect, text) in [
        ("valid", "c1 write x 1 [0..1]\nc2 read x -> 1 [2..3]"),
        ("valid", "c1 read x -> null [0..1]"),
        ("valid", "c1 write x 1 [0..9]\nc2 read x -> null [1..2]\nc3 read x -> 1 [3..4]"),
        ("valid", "c1 write x 1 [0..5]\nc2 read x -> null [5..6]"),
        ("valid", "c1 write x 1 [0..]\nc2 read x -> null [5..6]\nc2 read x -> 1 [700..800]"),
        ("valid", "c1 write x 1 !refused [0..1]\nc2 read x -> null [2..3]"),
        ("valid", "c1 write x 1 [0..1]\nc1 write y 2 [2..3]\nc2 read x -> 1 [4..5]\nc2 read y -> 2 [6..7]"),
        ("valid", "c1 cas x [null,1] -> true [0..1]\nc2 cas x [5,6] -> false [2..3]\nc2 read x -> 1 [4..5]"),
        ("invalid", "c1 write x 1 [0..1]\nc2 read x -> null [2..3]"),
        ("invalid", "c2 read x -> 7 [2..3]"),
        ("invalid", "c2 read x -> 1 [0..1]\nc1 write x 1 [2..3]"),
        ("invalid", "c1 write x 1 !refused [0..1]\nc2 read x -> 1 [2..3]"),
        ("invalid", "c1 write x 1 [0..9]\nc2 read x -> 1 [1..2]\nc3 read x -> null [3..4]"),
        ("invalid", "c1 write x 1 [0..]\nc2 read x -> 1 [5..6]\nc2 read x -> null [7..8]"),
        ("invalid", "c1 write x 1 [0..1]\nc1 write x 2 [2..3]\nc2 read x -> 1 [4..5]"),
        ("invalid", "c1 cas x [1,2] -> true [0..1]"),
        ("invalid", "c1 cas x [null,1] -> true [0..1]\nc2 cas x [null,2] -> true [0..1]"),
        ("invalid", "c1 write x 1 [0..1]\nc2 cas x [1,2] -> false [2..3]"),
    ] {
        check(Register::new(), text, expect);
    }
}

#[test]
fn maps_and_logs_accepted_and_rejected() {
    for (expect, text) in [
        ("valid", "c1 put x 1 [0..1]\nc2 delete x -> true [2..3]\nc1 get x -> null [4..5]"),
        ("invalid", "c1 put x 1 [0..1]\nc2 delete x -> false [2..3]"),
        ("invalid", "c1 put x 1 [0..1]\nc2 delete x [2..3]\nc1 get x -> 1 [4..5]"),
    ] {
        check(MapModel::new(), text, expect);
    }
    for (expect, text) in [
        ("valid", "c1 append x 1 -> 0 [0..5]\nc2 append x 2 -> 1 [0..5]\nc3 read x -> [1,2] [6..7]"),
        ("valid", "c1 append x 1 [0..]\nc2 append x 2 -> 1 [10..11]\nc3 read x -> {\"offset\":1,\"value\":2} [12..13]"),
        ("invalid", "c1 append x 1 -> 0 [0..1]\nc3 read x -> {\"offset\":0,\"values\":[]} [6..7]"),
        ("invalid", "c1 append x 1 -> 0 [0..1]\nc2 append x 2 -> 0 [2..3]"),
        ("invalid", "c1 append x 1 -> 1 [0..1]\nc2 append x 2 -> 0 [2..3]"),
        ("invalid", "c1 append x 1 -> 0 [0..1]\nc2 read x -> {\"offset\":0,\"value\":9} [2..3]"),
    ] {
        check(Log::new(), text, expect);
    }
}

#[test]
fn nothing_to_judge_is_unknown_never_valid() {
    for text in [
        "",
        "c1 write x 1 [0..1]",
        "c1 write x 1 [0..]\nc1 read x [0..]",
        "c1 read x !refused [0..1]",
        "c1 read - -> 1 [0..1]",
        "c1 write x 1 [0..1]\nc1 read x -> 1 [2..3]\nc1 increment x [4..5]",
        "c1 cas x 1 -> true [0..1]",
    ] {
        let answer = check(Register::new(), text, "unknown");
        assert_eq!(answer.evidence.consumed, 0);
    }
    let two_keys = history("c1 write x 1 [0..1]\nc1 read y -> null [2..3]").unwrap();
    let whole = Linearizability::whole(Register::new());
    assert_eq!(word(&whole.check(&two_keys, &Unlimited).outcome), "unknown");
    assert_eq!(whole.missing(&two_keys).len(), 1);
    assert_eq!(word(&Linearizability::whole(MapModel::new()).check(&two_keys, &Unlimited).outcome), "valid");
}

#[test]
fn null_reads_count_unless_told_otherwise() {
    let text = "c1 write x 1 [0..1]\nc2 read x -> null [2..3]\nc2 read x -> 1 [4..5]";
    check(Register::new(), text, "invalid");
    check(Register::new().ignoring_null_reads(), text, "valid");
}

#[test]
fn every_recorded_operation_is_consumed() {
    let text =
        "c1 write x 1 [0..1]\nc2 write x 2 !refused [0..1]\nc1 read x [2..]\nc3 read x -> 1 [4..5]\nc3 write y 1 [6..]";
    let answer = check(Register::new(), text, "valid");
    assert_eq!((answer.evidence.recorded, answer.evidence.consumed, answer.evidence.partitions), (5, 5, 2));
    assert!(answer.evidence.fired > 0);
}

struct Stop;

impl Limits for Stop {
    fn exceeded(&self, _: u64) -> Option<String> {
        Some("a limit".to_owned())
    }
}

#[test]
fn a_search_that_is_stopped_is_unknown() {
    let text = "c1 write x 1 [0..1]\nc2 read x -> 1 [2..3]";
    let answer = Linearizability::per_key(Register::new()).check(&history(text).unwrap(), &Stop);
    assert_eq!(word(&answer.outcome), "unknown");
    assert_eq!((answer.evidence.recorded, answer.evidence.consumed), (2, 0));
}

#[test]
fn a_stale_read_is_explained_by_three_operations() {
    let text = "c1 write x 17 [0..2]\nc2 write x 5 [1..9]\nc1 write x 22 [3..4]\nc3 read x -> 17 [6..7]\nc4 read x -> 22 [8..9]";
    let answer = check(Register::new(), text, "invalid");
    let Outcome::Invalid { violations } = answer.outcome else { unreachable!() };
    assert_eq!(violations[0].ops, [0, 2, 3]);
    let said = &violations[0].explanation;
    assert!(
        said.contains("Client 3 read 17 (#3) at [6..7] although client 1's write of 22 (#2) completed at 4"),
        "{said}"
    );
    assert!(said.contains("client 1 wrote it last (#0), completed at 2"), "{said}");
}

#[test]
fn a_value_that_nobody_wrote_is_explained_by_one_operation() {
    let text = "c1 write x 17 [0..2]\nc3 read x -> 18 [6..7]\nc3 read x -> 17 [8..9]";
    let Outcome::Invalid { violations } = check(Register::new(), text, "invalid").outcome else { unreachable!() };
    assert_eq!(violations[0].ops, [1]);
    assert!(violations[0].explanation.contains("Client 3 read 18 (#1), which nobody ever wrote."));
}

/// Changes answers at random; the result may be linearizable or not.
fn mutate(history: &History, rng: &mut Rng) -> History {
    let mut ops = history.clone().into_ops();
    for _ in 0..=rng.below(2) {
        let at = rng.below(ops.len() as u64) as usize;
        let other = ops[rng.below(ops.len() as u64) as usize].output.clone();
        let op = &mut ops[at];
        if op.effect() != Effect::Acknowledged {
            continue;
        }
        match op.op_type.as_str() {
            "read" | "get" if op.output.is_object() == other.is_object() && !other.is_boolean() => op.output = other,
            "cas" | "delete" => op.output = json!(op.output != true),
            "append" => op.output = json!(rng.below(4)),
            "write" | "put" => {
                op.complete_ts = None;
                op.timeout_marker = true;
            }
            _ => {}
        }
    }
    History::new(ops).unwrap()
}

fn agree<M: Model + Clone>(model: M, object: Kind, values: Option<u64>, seeds: std::ops::Range<u64>) -> (u32, u32) {
    let (mut valid, mut invalid) = (0, 0);
    for seed in seeds {
        let mut rng = Rng::stream(seed, "shape");
        let shape = Shape {
            object,
            clients: 2 + rng.below(3),
            keys: 1,
            operations: 4 + rng.below(5),
            unknown: rng.below(400),
            failed: rng.below(200),
            values,
            final_reads: false,
        };
        let made = generate::history(shape, seed);
        let mutated = mutate(&made, &mut rng);
        for (history, by_construction) in [(&made, true), (&mutated, false)] {
            let expect = reference::linearizable(&model, history);
            assert!(expect || !by_construction, "seed {seed}: the reference rejects a linearizable history");
            let answer = Linearizability::per_key(model.clone()).check(history, &Unlimited);
            let lines: Vec<String> = history.ops().iter().map(crate::history::notation::line).collect();
            let text = lines.join("\n");
            match &answer.outcome {
                Outcome::Valid => assert!(expect, "seed {seed}: accepted\n{text}"),
                Outcome::Invalid { violations } => {
                    assert!(!expect, "seed {seed}: rejected\n{text}\n{}", violations[0].explanation);
                    witness_stands(&model, history, &violations[0], &text);
                }
                Outcome::Unknown { why } => assert!(why.contains("observes") || why.contains("empty"), "{why}"),
            }
            if !matches!(answer.outcome, Outcome::Unknown { .. }) {
                assert_eq!(answer.evidence.consumed, history.ops().len() as u64);
            }
            if expect { valid += 1 } else { invalid += 1 }
        }
    }
    (valid, invalid)
}

/// The operations of a witness have no legal order even when all others are of unknown outcome, and none can be spared.
pub(super) fn witness_stands<M: Model>(model: &M, history: &History, violation: &Violation, text: &str) {
    let mut atoms = Atoms::default();
    let start = model.start(&mut atoms);
    let mut possible_with = |firm: &[u64]| {
        let ops = history.ops().iter().filter(|op| op.effect() != Effect::Failed);
        let calls: Vec<Timed<M::Call>> = ops
            .map(|op| (firm.contains(&op.op_id), reference::timed(model, op, &mut atoms)))
            .map(
                |(firm, call)| {
                    if firm { call } else { Timed { call: model.freed(&call.call), complete: None, ..call } }
                },
            )
            .collect();
        reference::orderable(model, &start, &calls, &mut (0..calls.len()).collect())
    };
    assert!(!violation.ops.is_empty());
    assert!(!possible_with(&violation.ops), "{text}\n{}", violation.explanation);
    for spared in &violation.ops {
        let rest: Vec<u64> = violation.ops.iter().copied().filter(|op| op != spared).collect();
        assert!(possible_with(&rest), "{text}\n{}", violation.explanation);
    }
}

#[test]
fn the_fast_checker_agrees_with_the_slow_one_on_registers() {
    for (object, values) in [
        (Kind::Register, None),
        (Kind::Register, Some(2)),
        (Kind::Register, Some(3)),
        (Kind::CasRegister, None),
        (Kind::CasRegister, Some(2)),
        (Kind::CasRegister, Some(3)),
    ] {
        let (valid, invalid) = agree(Register::new(), object, values, seeds(1500));
        assert!(valid > 500 && invalid > 100, "{object:?} {values:?}: {valid} valid, {invalid} invalid");
    }
}

#[test]
fn the_fast_checker_agrees_with_the_slow_one_on_maps_and_logs() {
    for (object, values) in [(Kind::Map, None), (Kind::Map, Some(2))] {
        let (valid, invalid) = agree(MapModel::new(), object, values, seeds(1500));
        assert!(valid > 500 && invalid > 100, "{object:?} {values:?}: {valid} valid, {invalid} invalid");
    }
    for values in [None, Some(2)] {
        let (valid, invalid) = agree(Log::new(), Kind::Log, values, seeds(1500));
        assert!(valid > 500 && invalid > 100, "log {values:?}: {valid} valid, {invalid} invalid");
    }
}

/// As many threads as these, and no limit.
struct Threads(usize);

impl Limits for Threads {
    fn exceeded(&self, _: u64) -> Option<String> {
        None
    }

    fn threads(&self) -> usize {
        self.0
    }
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let (mut valid, mut invalid) = (0, 0);
    for seed in seeds(4) {
        let mut rng = Rng::stream(seed, "threads");
        let shape = Shape {
            object: [Kind::Register, Kind::CasRegister][seed as usize % 2],
            clients: 8,
            keys: 2 + rng.below(40),
            // So many that threads are started.
            operations: 21_000,
            unknown: rng.below(40),
            failed: 10,
            values: (seed % 3 == 0).then_some(6),
            final_reads: false,
        };
        let made = generate::history(shape, seed);
        let history = if seed % 4 == 3 { made } else { some_wrong_reads(made, &mut rng, 1 + seed % 3) };
        let checker = Linearizability::per_key(Register::new());
        let alone = checker.check(&history, &Threads(1));
        for threads in [2, 64] {
            assert_eq!(checker.check(&history, &Threads(threads)), alone, "{seed}: {threads} threads");
        }
        if word(&alone.outcome) == "valid" { valid += 1 } else { invalid += 1 }
    }
    assert!(valid > 0 && invalid > 0, "{valid} valid, {invalid} invalid");
}

/// Exchanges the answers of so many pairs of reads.
fn some_wrong_reads(history: History, rng: &mut Rng, pairs: u64) -> History {
    let mut ops = history.into_ops();
    let is_read = |op: &Op| op.op_type == "read" && op.effect() == Effect::Acknowledged;
    let reads: Vec<usize> = (0..ops.len()).filter(|at| is_read(&ops[*at])).collect();
    for _ in 0..pairs {
        let [a, b] = [(); 2].map(|()| reads[rng.below(reads.len() as u64) as usize]);
        let other = ops[a].output.clone();
        ops[a].output = std::mem::replace(&mut ops[b].output, other);
    }
    History::new(ops).unwrap()
}

#[test]
fn large_histories_with_unknown_outcomes_are_decided() {
    for (object, values) in [
        (Kind::Register, None),
        (Kind::Register, Some(5)),
        (Kind::CasRegister, None),
        (Kind::CasRegister, Some(5)),
        (Kind::Log, None),
    ] {
        let shape = Shape {
            object,
            clients: 24,
            keys: 30,
            operations: 20_000,
            unknown: 60,
            failed: 10,
            values,
            final_reads: true,
        };
        let history = generate::history(shape, 1);
        let answer = match object {
            Kind::Log => Linearizability::per_key(Log::new()).check(&history, &Unlimited),
            _ => Linearizability::per_key(Register::new()).check(&history, &Unlimited),
        };
        assert_eq!(word(&answer.outcome), "valid", "{object:?} {values:?}");
        assert_eq!(answer.evidence.consumed, history.ops().len() as u64);
    }
}
