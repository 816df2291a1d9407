#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::checker::Unlimited;
use crate::checker::reference::{self, seeds};
use crate::history::generate::{self, Object, Shape};
use crate::history::notation::history;

fn check(checker: NoLostAck, text: &str, expect: &str) {
    let history = history(text).unwrap();
    let answer = checker.check(&history, &Unlimited);
    let got = match &answer.outcome {
        Outcome::Valid => "valid".to_owned(),
        Outcome::Invalid { violations } => {
            assert_eq!(violations[0].anomaly, "lost-acknowledged-write");
            format!("lost {}", violations[0].ops[0])
        }
        Outcome::Unknown { .. } => "unknown".to_owned(),
    };
    assert_eq!(got, expect, "{text}\n{answer:#?}");
    if got != "unknown" {
        assert_eq!(answer.evidence.consumed, history.ops().len() as u64);
        assert!(answer.evidence.fired > 0);
    }
}

#[test]
fn overwritten_values_are_not_lost_and_vanished_ones_are() {
    for (expect, text) in [
        ("valid", "c1 write x 1 [0..1]\nc2 read x -> 1 [2..3]"),
        ("valid", "c1 write x 1 [0..1]\nc1 write x 2 [2..3]\nc2 read x -> 2 [4..5]"),
        ("valid", "c1 write x 1 [0..5]\nc2 write x 2 [0..5]\nc2 read x -> 1 [6..7]"),
        ("valid", "c1 write x 1 [0..5]\nc2 write x 2 [0..5]\nc2 read x -> 2 [6..7]"),
        // A write of unknown outcome may come as late as it likes.
        ("valid", "c1 write x 9 [0..]\nc1 write x 1 [2..3]\nc2 read x -> 9 [6..7]"),
        ("valid", "c1 write x 9 [0..]\nc1 write x 1 [2..3]\nc2 read x -> 1 [6..7]\nc3 read x -> 9 [6..7]"),
        ("valid", "c1 put x 1 [0..1]\nc1 delete x [2..3]\nc2 get x -> null [6..7]"),
        ("valid", "c1 cas x [0,1] -> true [0..1]\nc2 read x -> 1 [6..7]"),
        // A client's last final read counts: replicas may still converge after its first.
        ("valid", "c1 write x 1 [0..1]\nc2 read x -> null [2..3]\nc2 read x -> 1 [4..5]"),
        ("lost 0", "c1 write x 1 [0..1]\nc2 read x -> null [2..3]"),
        ("lost 0", "c1 write x 1 [0..1]\nc2 read x -> 1 [2..3]\nc2 read x -> null [4..5]"),
        ("lost 0", "c1 write x 1 [0..1]\nc2 read x -> 1 [2..3]\nc3 read x -> null [4..5]"),
        ("lost 1", "c1 write x 1 [0..1]\nc1 write x 2 [2..3]\nc2 read x -> 1 [4..5]"),
        ("lost 0", "c1 write x 1 [0..5]\nc2 write x 2 [0..5]\nc2 read x -> null [6..7]"),
        ("lost 0", "c1 write x 1 [0..5]\nc2 write x 9 !refused [2..3]\nc2 read x -> 9 [6..7]"),
        ("lost 0", "c1 write x 1 [0..5]\nc2 read x -> 9 [6..7]\nc2 write x 9 [8..]"),
        ("lost 1", "c1 put x 1 [0..1]\nc1 delete x [2..3]\nc2 get x -> 1 [6..7]"),
        ("lost 0", "c1 cas x [0,1] -> true [0..1]\nc1 cas x [0,2] -> false [2..3]\nc2 read x -> 2 [6..7]"),
    ] {
        check(NoLostAck::overwritable(), text, expect);
    }
}

#[test]
fn entries_must_stay() {
    for (expect, text) in [
        ("valid", "c1 append x 1 -> 0 [0..1]\nc1 append x 2 -> 1 [2..3]\nc2 read x -> [1,2] [4..5]"),
        ("valid", "c1 append x 1 -> 0 [0..1]\nc2 read x -> {\"offset\":0,\"value\":1} [4..5]"),
        ("valid", "c1 append x 1 -> OK [0..1]\nc1 append x 2 [2..]\nc2 read x -> [2,1] [4..5]"),
        ("valid", "c1 add x 1 [0..1]\nc1 add x 1 [2..3]\nc2 read-set x -> [1] [4..5]"),
        ("lost 0", "c1 append x 1 -> 0 [0..1]\nc1 append x 2 -> 1 [2..3]\nc2 read x -> [2] [4..5]"),
        ("lost 1", "c1 append x 1 -> 0 [0..1]\nc1 append x 2 -> 1 [2..3]\nc2 read x -> [1] [4..5]"),
        ("lost 1", "c1 append x 1 -> OK [0..1]\nc1 append x 1 -> OK [2..3]\nc2 read x -> [1] [4..5]"),
        ("lost 0", "c1 append x 1 -> 0 [0..1]\nc2 read x -> {\"offset\":0,\"values\":[]} [4..5]"),
        (
            "unknown",
            "c1 append x 1 -> 0 [0..1]\nc1 append x 2 -> 1 [2..3]\nc2 read x -> {\"offset\":0,\"value\":1} [4..5]",
        ),
        ("unknown", "c1 append x 1 -> OK [0..1]\nc2 read x -> {\"offset\":3,\"value\":7} [4..5]"),
        ("unknown", "c1 append x 1 -> 0 [0..1]\nc2 read x -> null [4..5]"),
    ] {
        check(NoLostAck::append_only(), text, expect);
    }
}

#[test]
fn what_was_not_read_at_quiescence_is_unknown() {
    for text in [
        "",
        "c1 read x -> 1 [0..1]",
        "c1 write x 1 [0..]\nc1 read x -> 1 [2..3]",
        "c1 write x 1 [0..1]",
        "c1 write x 1 [0..2]\nc2 read x -> 1 [1..3]",
        "c1 write x 1 [0..2]\nc2 read x [3..]",
        "c1 write x 1 [0..2]\nc2 read x !refused [3..4]",
        // The read of x came before the last write, on another key: the fault may have come in between.
        "c1 write x 1 [0..2]\nc2 read x -> 1 [3..4]\nc1 write y 2 [5..6]\nc2 read y -> 2 [7..8]",
        "c1 write x 1 [0..1]\nc1 increment x [2..3]\nc2 read x -> 1 [4..5]",
    ] {
        check(NoLostAck::overwritable(), text, "unknown");
    }
    let unread = history("c1 write x 1 [0..2]\nc1 write y 2 [3..4]\nc2 read y -> 2 [5..6]").unwrap();
    let missing = NoLostAck::overwritable().missing(&unread);
    assert!(missing.len() == 1 && missing[0].starts_with("key \"x\" has acknowledged writes"), "{missing:?}");
}

#[test]
fn atomic_objects_lose_nothing_and_the_slow_checker_agrees_on_damage() {
    for seed in seeds(1500) {
        for (object, checker) in [
            (Object::CasRegister, NoLostAck::overwritable()),
            (Object::Map, NoLostAck::overwritable()),
            (Object::Log, NoLostAck::append_only()),
        ] {
            let shape = Shape {
                object,
                clients: 3,
                keys: 2,
                operations: 10,
                unknown: 200,
                failed: 100,
                values: Some(4),
                ..Shape::default()
            };
            let history = generate::history(shape, seed);
            match checker.check(&history, &Unlimited).outcome {
                Outcome::Valid => {}
                Outcome::Unknown { why } => assert!(why.contains("no acknowledged write"), "{seed}: {why}"),
                Outcome::Invalid { violations } => panic!("{seed}: {violations:?}"),
            }
            if object == Object::Log {
                continue;
            }
            // Every change of final answers: the fast answer must be that of trying every order of the writes.
            let mut rng = crate::base::rng::Rng::stream(seed, "mutate");
            let mut ops = history.into_ops();
            let quiet = ops.len() - 6;
            for op in &mut ops[quiet..] {
                if rng.chance(1, 3) {
                    op.output = serde_json::json!(rng.below(4));
                }
            }
            let mutated = History::new(ops).unwrap();
            match checker.check(&mutated, &Unlimited).outcome {
                Outcome::Valid => assert!(!reference::loses(&mutated), "{seed}: accepted a loss"),
                Outcome::Invalid { violations } => assert!(reference::loses(&mutated), "{seed}: {violations:?}"),
                Outcome::Unknown { .. } => {}
            }
        }
    }
}
