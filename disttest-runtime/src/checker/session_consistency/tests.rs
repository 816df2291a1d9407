#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::base::rng::Rng;
use crate::checker::Outcome;
use crate::checker::reference::seeds;
use crate::history::Effect;
use crate::history::generate::{self, Object, Shape};
use crate::history::notation::{self, history};
use Guarantee::{MonotonicReads, MonotonicWrites, ReadYourWrites, WritesFollowReads};

fn check(checker: &SessionConsistency, text: &str, expect: &str) {
    let history = history(text).unwrap();
    let answer = checker.check(&history, &Unlimited);
    let got = match &answer.outcome {
        Outcome::Valid => "valid".to_owned(),
        Outcome::Invalid { violations } => violations[0].anomaly.clone(),
        Outcome::Unknown { why } => format!("unknown: {why}"),
    };
    assert!(got.contains(expect), "{text}\n{answer:#?}");
    assert!(answer.evidence.consumed <= answer.evidence.recorded && !answer.cannot_detect.is_empty());
}

#[test]
fn versions_of_a_session_are_in_its_order() {
    let checker = SessionConsistency::by_versions("/v");
    for (expect, text) in [
        ("valid", "c1 write x 1 -> {\"v\":1} [0..1]\nc1 read x -> {\"v\":1} [2..3]\nc1 write x 2 -> 2 [4..5]"),
        ("read-your-writes", "c1 write x 1 -> {\"v\":2} [0..1]\nc1 read x -> {\"v\":1} [2..3]"),
        ("read-your-writes", "c1 write x 1 -> 2 [0..1]\nc1 read x -> null [2..3]"),
        ("monotonic-reads", "c1 read x -> {\"v\":2} [0..1]\nc1 read x -> {\"v\":1} [2..3]"),
        ("monotonic-writes", "c1 write x 1 -> 2 [0..1]\nc1 write x 2 -> 1 [2..3]"),
        ("writes-follow-reads", "c1 read x -> {\"v\":5} [0..1]\nc1 write x 2 -> 4 [2..3]"),
        ("unknown: no session did", "c1 write x 1 -> 2 [0..1]\nc2 read x -> {\"v\":1} [2..3]"),
        ("unknown: no session did", "c1 write x 1 -> 2 [0..5]\nc1 read x -> {\"v\":1} [5..6]"),
        ("unknown: no session did", "c1 write x 1 [0..]\nc1 read x -> {\"v\":1} [5..6]"),
        ("unknown: no session did", "c1 write x 1 -> 2 [0..1]\nc1 write y 1 -> 1 [2..3]"),
        ("unknown: the history does not say", "c1 write x 1 -> OK [0..1]\nc1 read x -> {\"v\":1} [2..3]"),
        ("unknown: the history is empty", ""),
    ] {
        check(&checker, text, expect);
    }
    let across = checker.clone().across_keys();
    check(&across, "c1 write x 1 -> 2 [0..1]\nc1 write y 1 -> 1 [2..3]", "monotonic-writes");
    check(&across, "c1 read x -> {\"v\":7} [0..1]\nc1 write y 1 -> 6 [2..3]", "writes-follow-reads");
    check(&across, "c1 write x 1 -> 7 [0..1]\nc1 read x -> {\"v\":6} [2..3]", "read-your-writes");
    let only = checker.only(&[MonotonicReads]);
    check(&only, "c1 write x 1 -> OK [0..1]\nc1 read x -> {\"v\":1} [2..3]\nc1 read x -> {\"v\":1} [4..5]", "valid");
}

#[test]
fn some_order_of_distinct_values_must_explain_what_sessions_saw() {
    let checker = SessionConsistency::by_values();
    for (expect, text) in [
        ("valid", "c1 write x 1 [0..1]\nc1 read x -> 1 [2..3]"),
        ("valid", "c1 write x 1 [0..1]\nc2 write x 2 [0..1]\nc1 read x -> 2 [2..3]"),
        // Stale, but not for this session.
        ("valid", "c1 write x 1 [0..1]\nc2 read x -> null [2..3]\nc2 read x -> 1 [4..5]"),
        ("valid", "c1 write x 1 [0..]\nc2 read x -> 1 [2..3]\nc2 read x -> 1 [4..5]"),
        ("read-your-writes", "c1 write x 1 [0..1]\nc1 read x -> null [2..3]"),
        ("read-your-writes", "c1 write x 1 [0..1]\nc1 write x 2 [2..3]\nc1 read x -> 1 [4..5]"),
        ("monotonic-reads", "c1 write x 1 [0..1]\nc1 write x 2 [2..3]\nc2 read x -> 2 [4..5]\nc2 read x -> 1 [6..7]"),
        ("monotonic-reads", "c1 write x 1 [0..1]\nc2 read x -> 1 [4..5]\nc2 read x -> null [6..7]"),
        // Concurrent writes: each session alone is fine, both together are not.
        (
            "monotonic-reads",
            "c1 write x 1 [0..9]\nc2 write x 2 [0..9]\nc3 read x -> 1 [2..3]\nc3 read x -> 2 [4..5]\n\
             c4 read x -> 2 [2..3]\nc4 read x -> 1 [4..5]",
        ),
        ("read-your-writes", "c1 write x 1 [0..5]\nc2 write x 2 [0..5]\nc1 read x -> 2 [6..7]\nc2 read x -> 1 [6..7]"),
        (
            "monotonic-reads",
            "c1 write x 1 [0..9]\nc2 read x -> 1 [1..2]\nc2 write x 2 [3..4]\nc3 read x -> 2 [5..6]\nc3 read x -> 1 [7..8]",
        ),
        // A write of unknown outcome may come late: 1 after 2 is possible, and both orders at once are not.
        ("valid", "c1 write x 1 [0..]\nc2 write x 2 [3..4]\nc3 read x -> 2 [5..6]\nc3 read x -> 1 [7..8]"),
        (
            "monotonic-reads",
            "c1 write x 1 [0..]\nc2 write x 2 [3..4]\nc3 read x -> 2 [5..6]\nc3 read x -> 1 [7..8]\nc3 read x -> 2 [9..10]",
        ),
        (
            "unknown: the history does not say enough: operation 2",
            "c1 write x 1 [0..1]\nc2 write x 1 [0..1]\nc1 read x -> 1 [2..3]",
        ),
        ("unknown: the history does not say enough: operation 1", "c1 write x 1 [0..1]\nc1 read x -> 7 [2..3]"),
        ("unknown: the history does not say enough: operation 0", "c1 read x -> 1 [0..1]\nc1 write x 1 [2..3]"),
        ("unknown: the history does not say enough: operation 1", "c1 write x 1 !no [0..1]\nc1 read x -> 1 [2..3]"),
        ("unknown: no session did", "c1 write x 1 [0..1]\nc2 read x -> 1 [2..3]"),
        ("unknown: the history is empty", ""),
    ] {
        check(&checker, text, expect);
    }
    let replicas = checker.clone().ignoring_real_time();
    let old = "c1 write x 1 [0..1]\nc2 write x 2 [2..3]\nc3 read x -> 2 [4..5]\nc3 read x -> 1 [6..7]";
    check(&checker, old, "monotonic-reads");
    check(&replicas, old, "valid");
    let own = "c1 write x 1 [0..1]\nc1 write x 2 [2..3]\nc3 read x -> 2 [4..5]\nc3 read x -> 1 [6..7]";
    check(&replicas, own, "monotonic-reads");
    check(&checker.clone().only(&[ReadYourWrites]), own, "unknown: no session did");
    check(&checker.only(&[MonotonicWrites]), own, "monotonic writes need the system's versions");
}

/// Some order of the writes of each key, by trying every one, satisfies the guarantees by their definitions.
fn slow(history: &History, real_time: bool, guarantees: &[Guarantee]) -> bool {
    let keys: std::collections::BTreeSet<_> = history.ops().iter().map(|op| &op.key).collect();
    keys.into_iter().all(|key| {
        let ops: Vec<&Op> = history.ops().iter().filter(|op| op.key == *key && op.effect() != Effect::Failed).collect();
        let writes: Vec<&Op> = ops.iter().copied().filter(|op| !is_read(op)).collect();
        some_order(&writes, &mut Vec::new(), &|order| explains(&ops, order, real_time, guarantees))
    })
}

fn some_order<'h>(writes: &[&'h Op], order: &mut Vec<&'h Op>, fits: &dyn Fn(&[&Op]) -> bool) -> bool {
    if order.len() == writes.len() {
        return fits(order);
    }
    writes.iter().any(|write| {
        if order.iter().any(|other| other.op_id == write.op_id) {
            return false;
        }
        order.push(write);
        let found = some_order(writes, order, fits);
        order.pop();
        found
    })
}

fn explains(ops: &[&Op], order: &[&Op], real_time: bool, guarantees: &[Guarantee]) -> bool {
    let ended_before = |a: &Op, b: &Op| a.complete_ts.is_some_and(|end| end < b.invoke_ts);
    let rank_of = |op: &Op| match is_read(op) {
        // Rank 0 is what there was at the start.
        true => order.iter().position(|write| write.input == op.output).map_or(0, |at| at + 1),
        false => order.iter().position(|write| write.op_id == op.op_id).unwrap() + 1,
    };
    ops.iter().all(|a| {
        ops.iter().filter(|b| ended_before(a, b)).all(|b| {
            let session = a.process_id == b.process_id;
            let asked = match (is_read(a), is_read(b)) {
                (false, false) => real_time || session,
                (false, true) => session && guarantees.contains(&ReadYourWrites),
                (true, true) => session && guarantees.contains(&MonotonicReads),
                (true, false) => session && guarantees.contains(&WritesFollowReads),
            };
            // Reads without an answer show nothing.
            !asked || b.complete_ts.is_none() && is_read(b) || rank_of(a) <= rank_of(b)
        })
    })
}

#[test]
fn it_agrees_with_every_order_of_the_writes_on_small_histories() {
    let sets: [&[Guarantee]; 5] = [
        &[ReadYourWrites, MonotonicReads, WritesFollowReads],
        &[ReadYourWrites],
        &[MonotonicReads],
        &[WritesFollowReads],
        &[ReadYourWrites, WritesFollowReads],
    ];
    let (mut invalid, mut valid) = ([0; 2], 0);
    for seed in seeds(6000) {
        let mut rng = Rng::stream(seed, "sessions");
        let count = 3 + rng.below(7);
        let mut written = [0_u64; 2];
        let lines = (0..count).map(|_| {
            let (client, from, took) = (rng.below(3), rng.below(24), rng.below(6));
            let key = rng.below(5) / 4;
            let written = &mut written[key as usize];
            let end = if rng.chance(1, 6) { String::new() } else { (from + took).to_string() };
            if *written < 4 && rng.chance(2, 5) {
                *written += 1;
                return format!("c{client} write k{key} {written} [{from}..{end}]");
            }
            let shows = rng.below(*written + 1);
            let shows = if shows == 0 { "null".to_owned() } else { shows.to_string() };
            if end.is_empty() {
                return format!("c{client} read k{key} [{from}..]");
            }
            format!("c{client} read k{key} -> {shows} [{from}..{end}]")
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        let history = history(&text).unwrap();
        for (real_time, invalid) in [true, false].into_iter().zip(&mut invalid) {
            let guarantees = sets[(seed % 5) as usize];
            let checker = SessionConsistency::by_values().only(guarantees);
            let checker = if real_time { checker } else { checker.ignoring_real_time() };
            let slow = slow(&history, real_time, guarantees);
            let outcome = checker.check(&history, &Unlimited).outcome;
            match &outcome {
                Outcome::Valid => {
                    assert!(slow, "{text}\n{guarantees:?} {real_time}: accepted");
                    valid += 1;
                }
                Outcome::Invalid { violations } => {
                    assert!(!slow, "{text}\n{guarantees:?} {real_time}: {violations:#?}");
                    *invalid += 1;
                }
                Outcome::Unknown { why } => {
                    assert!(slow || why.contains("does not say enough"), "{text}\n{guarantees:?} {real_time}: {why}");
                }
            }
        }
    }
    assert!(invalid.iter().chain([&valid]).all(|count| *count > 300), "{valid} {invalid:?}");
}

#[test]
fn atomic_objects_keep_every_guarantee_and_a_planted_fault_breaks_its_own() {
    for seed in seeds(300) {
        let shape = Shape {
            object: Object::Register,
            clients: 5,
            keys: 3,
            operations: 120,
            unknown: 80,
            failed: 50,
            ..Shape::default()
        };
        let valid = generate::history(shape, seed);
        let checker = SessionConsistency::by_values();
        assert_eq!(checker.check(&valid, &Unlimited).outcome, Outcome::Valid, "{seed}");
        // A session that forgets: its last read of a key shows nothing.
        let mut ops = valid.into_ops();
        let last = ops.iter().rposition(|op| is_read(op) && !op.output.is_null()).unwrap();
        ops[last].output = serde_json::Value::Null;
        let text: Vec<String> = ops.iter().map(notation::line).collect();
        let damaged = History::new(ops).unwrap();
        let outcome = checker.check(&damaged, &Unlimited).outcome;
        let session = damaged.ops().iter().filter(|op| {
            let last = &damaged.ops()[last];
            (op.process_id, &op.key) == (last.process_id, &last.key)
                && op.effect() == Effect::Acknowledged
                && op.complete_ts < Some(last.invoke_ts)
                && (!is_read(op) || !op.output.is_null())
        });
        if session.count() > 0 {
            assert!(matches!(outcome, Outcome::Invalid { .. }), "{}", text.join("\n"));
        }
    }
}

#[test]
fn by_versions_it_agrees_with_every_pair_of_operations_on_small_histories() {
    let mut tally = [0; 2];
    for seed in seeds(4000) {
        let mut rng = Rng::stream(seed, "versions");
        let across = rng.chance(1, 2);
        let guarantees: Vec<Guarantee> = Guarantee::ALL.into_iter().filter(|_| rng.chance(2, 3)).collect();
        let lines = (0..2 + rng.below(6)).map(|n| {
            let (client, from, took) = (rng.below(2), rng.below(16), rng.below(5));
            let (key, version) = (rng.below(2), n / 2 + rng.below(4));
            let kind = if rng.chance(1, 2) { "read" } else { "write" };
            match rng.below(8) {
                0 => format!("c{client} {kind} k{key} [{from}..]"),
                _ => format!("c{client} {kind} k{key} -> {{\"v\":{version}}} [{from}..{}]", from + took),
            }
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        let history = history(&text).unwrap();
        let ops: Vec<&Op> = history.ops().iter().filter(|op| op.complete_ts.is_some()).collect();
        let breaks = |a: &Op, b: &Op| {
            let guarantee = match (is_read(a), is_read(b)) {
                (false, true) => ReadYourWrites,
                (true, true) => MonotonicReads,
                (false, false) => MonotonicWrites,
                (true, false) => WritesFollowReads,
            };
            a.process_id == b.process_id
                && (a.key == b.key || across && !is_read(b))
                && a.complete_ts < Some(b.invoke_ts)
                && guarantees.contains(&guarantee)
                && b.output["v"].as_u64() < a.output["v"].as_u64()
        };
        let slow = ops.iter().any(|a| ops.iter().any(|b| breaks(a, b)));
        let checker = SessionConsistency::by_versions("/v").only(&guarantees);
        let checker = if across { checker.across_keys() } else { checker };
        let got = checker.check(&history, &Unlimited).outcome;
        assert_eq!(matches!(got, Outcome::Invalid { .. }), slow, "{guarantees:?} {across}\n{text}\n{got:#?}");
        tally[usize::from(slow)] += 1;
    }
    assert!(tally.iter().all(|count| *count > 500), "{tally:?}");
}
