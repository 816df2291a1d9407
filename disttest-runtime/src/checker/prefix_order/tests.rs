#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::base::rng::Rng;
use crate::checker::Outcome;
use crate::checker::reference::seeds;
use crate::history::Effect;
use crate::history::notation::history;

fn check(checker: PrefixOrder, text: &str, expect: &str) {
    let history = history(text).unwrap();
    let answer = checker.check(&history, &Unlimited);
    let got = match &answer.outcome {
        Outcome::Valid => "valid".to_owned(),
        Outcome::Invalid { violations } => format!("{} {:?}", violations[0].anomaly, violations[0].ops),
        Outcome::Unknown { why } => format!("unknown: {why}"),
    };
    assert!(got.starts_with(expect), "{text}\n{answer:#?}");
    assert!(answer.evidence.consumed <= answer.evidence.recorded && !answer.cannot_detect.is_empty());
}

const THREE: &str = "c1 enqueue q 1 [0..1]\nc1 enqueue q 2 [2..3]\nc1 enqueue q 3 [4..5]\n";

#[test]
fn a_consumer_sees_a_prefix_in_order() {
    for (expect, text) in [
        ("valid", "c2 dequeue q -> 1 [6..7]\nc2 dequeue q -> 2 [8..9]\nc2 dequeue q -> null [10..11]"),
        ("valid", "c2 poll q -> [1,2,3] [6..7]\nc3 poll q -> [1] [6..7]"),
        ("out-of-order [0, 1, 3, 4]", "c2 dequeue q -> 2 [6..7]\nc2 dequeue q -> 1 [8..9]"),
        ("out-of-order [0, 1, 3, 3]", "c2 poll q -> [2,1] [6..7]"),
        ("skipped [0, 1, 3]", "c2 dequeue q -> 2 [6..7]"),
        ("delivered-twice [3, 4]", "c2 dequeue q -> 1 [6..7]\nc2 dequeue q -> 1 [8..9]"),
        ("never-produced [3]", "c2 dequeue q -> 9 [6..7]"),
        // What a consumer has in flight at once has no order.
        ("valid", "c2 dequeue q -> 2 [6..8]\nc2 dequeue q -> 1 [8..9]"),
        ("out-of-order", "c2 dequeue q -> 1 [6..30]\nc2 dequeue q -> 3 [7..8]\nc2 dequeue q -> 2 [9..10]"),
        ("unknown: no completed", "c2 dequeue q [6..]\nc3 dequeue q !no [6..7]\nc3 dequeue q -> null [6..7]"),
    ] {
        check(PrefixOrder::consumers(), &format!("{THREE}{text}"), expect);
    }
    for (expect, text) in [
        // Crashed producers: seen or not, before or after what began later.
        ("valid", "c1 enqueue q 1 [0..]\nc2 enqueue q 2 [2..3]\nc3 dequeue q -> 2 [4..5]\nc3 dequeue q -> 1 [6..7]"),
        (
            "out-of-order",
            "c1 enqueue q 1 [0..1]\nc2 enqueue q 2 [2..]\nc3 dequeue q -> 2 [4..5]\nc3 dequeue q -> 1 [6..7]",
        ),
        ("valid", "c1 enqueue q 1 [0..]\nc2 enqueue q 2 [2..3]\nc3 dequeue q -> 2 [4..5]"),
        ("never-produced [0, 1]", "c1 enqueue q 1 !full [0..1]\nc3 dequeue q -> 1 [4..5]"),
        ("consumed-before-produced [1, 0]", "c3 dequeue q -> 1 [1..2]\nc1 enqueue q 1 [3..4]"),
        ("unknown: the history does not say", "c1 enqueue q 1 [0..]\nc1 enqueue q 1 [2..3]\nc3 dequeue q -> 1 [4..5]"),
        ("valid", "c1 enqueue q 1 !full [0..1]\nc1 enqueue q 1 [2..3]\nc3 dequeue q -> 1 [4..5]"),
        ("unknown: the history is empty", ""),
        ("unknown: no completed", "c1 enqueue q 1 [0..1]"),
    ] {
        check(PrefixOrder::consumers(), text, expect);
    }
}

#[test]
fn gaps_windows_and_redelivery_are_declared() {
    let check = |checker, text: &str, expect| check(checker, &format!("{THREE}{text}"), expect);
    let free = PrefixOrder::consumers().gaps_allowed();
    check(free, "c2 dequeue q -> 2 [6..7]\nc3 dequeue q -> 1 [6..7]", "valid");
    check(free, "c2 dequeue q -> 3 [6..7]\nc2 dequeue q -> 1 [8..9]", "out-of-order");
    let late = "c2 dequeue q -> 2 [6..7]\nc2 dequeue q -> 1 [8..9]\nc2 dequeue q -> 3 [10..11]";
    check(PrefixOrder::consumers().in_flight(1), late, "valid");
    let later = "c2 poll q -> [2,3,1] [6..7]";
    check(PrefixOrder::consumers().in_flight(1), later, "out-of-order");
    check(PrefixOrder::consumers().in_flight(2), later, "valid");
    check(PrefixOrder::consumers().in_flight(1), "c2 poll q -> [2] [6..7]", "valid");
    check(PrefixOrder::consumers().in_flight(1), "c2 poll q -> [2,3] [6..7]", "skipped");
    let again = "c2 poll q -> [1,2] [6..7]\nc2 poll q -> [1,2,3] [8..9]";
    check(PrefixOrder::consumers().redelivery_allowed(), again, "valid");
    check(PrefixOrder::consumers(), again, "out-of-order");
    check(PrefixOrder::views(), again, "valid");
    check(PrefixOrder::views(), "c2 poll q -> [1,2] [6..7]\nc2 poll q -> [1,3] [8..9]", "skipped");
}

#[test]
fn offsets_order_a_log() {
    let log = "c1 append l a -> 0 [0..9]\nc2 append l b -> 1 [0..9]\nc3 append l c -> {\"offset\":2} [0..9]\n";
    let check = |checker, text: &str, expect| check(checker, &format!("{log}{text}"), expect);
    let consumers = PrefixOrder::consumers();
    check(consumers, "c4 read l -> {\"offset\":0,\"values\":[\"a\",\"b\",\"c\"]} [10..11]", "valid");
    check(consumers, "c4 read l -> [\"a\",\"b\"] [10..11]", "valid");
    check(consumers, "c4 read l -> [\"b\",\"a\"] [10..11]", "out-of-order");
    check(consumers, "c4 read l -> {\"offset\":1,\"values\":[\"b\",\"c\"]} [10..11]", "valid");
    check(consumers, "c4 read l -> [\"a\",\"c\"] [10..11]", "skipped");
    check(consumers, "c4 read l -> {\"offset\":0,\"values\":[\"b\"]} [10..11]", "wrong-offset [1, 3]");
    check(
        PrefixOrder::views(),
        "c4 read l -> {\"offset\":2,\"value\":\"c\"} [10..11]\nc4 read l -> [\"a\"] [12..13]",
        "valid",
    );
}

/// The answer by the definitions, sequence by sequence, each pair of elements compared.
fn slow(history: &History, of: PrefixOrder) -> Option<bool> {
    let made: Vec<&Op> = history.ops().iter().filter(|op| op.op_type == "enqueue").collect();
    let before = |a: &Op, b: &Op| a.effect() == Effect::Acknowledged && a.complete_ts < Some(b.invoke_ts);
    let mut any = false;
    for client in 0..10 {
        let reads: Vec<&Op> = history
            .ops()
            .iter()
            .filter(|op| op.process_id == client && op.op_type == "poll" && op.effect() == Effect::Acknowledged)
            .collect();
        // (read, place in it, producer)
        let mut seen: Vec<(&Op, usize, &Op)> = Vec::new();
        for read in reads {
            for (place, value) in read.output.as_array().unwrap().iter().enumerate() {
                any = true;
                let maker = made.iter().find(|op| op.input == *value && op.effect() != Effect::Failed)?;
                if Some(maker.invoke_ts) > read.complete_ts {
                    return None;
                }
                seen.push((read, place, maker));
            }
        }
        for (read, place, a) in &seen {
            let is_earlier = |x: &&(&Op, usize, &Op)| {
                x.0.complete_ts < Some(read.invoke_ts) || x.0.op_id == read.op_id && x.1 < *place
            };
            if seen.iter().filter(is_earlier).filter(|x| before(a, x.2)).count() > of.window {
                return None;
            }
            if seen.iter().filter(|x| x.2.op_id == a.op_id).count() > 1 {
                return None;
            }
        }
        for a in made.iter().filter(|op| op.effect() == Effect::Acknowledged && !of.gaps) {
            let unseen = seen.iter().all(|x| x.2.op_id != a.op_id);
            if unseen && seen.iter().filter(|x| before(a, x.2)).count() > of.window {
                return None;
            }
        }
    }
    Some(any)
}

#[test]
fn it_agrees_with_every_pair_of_elements_on_small_histories() {
    let mut tally = [0; 2];
    for seed in seeds(8000) {
        let mut rng = Rng::stream(seed, "prefix");
        let mut of = PrefixOrder::consumers().in_flight(rng.below(3) as usize);
        of.gaps = rng.chance(1, 2);
        let count = 2 + rng.below(5);
        let mut lines = Vec::new();
        for value in 1..=count {
            let (from, took) = (value * 2 + rng.below(4), rng.below(5));
            let end = (from + took).to_string();
            lines.push(match rng.below(12) {
                0 => format!("c{} enqueue q {value} [{from}..]", 20 + rng.below(3)),
                1 => format!("c{} enqueue q {value} !no [{from}..{end}]", 20 + rng.below(3)),
                _ => format!("c{} enqueue q {value} [{from}..{end}]", 20 + rng.below(3)),
            });
        }
        for client in 0..2 {
            let mut at = rng.below(20);
            let mut next = 1 + rng.below(5) / 4;
            for _ in 0..1 + rng.below(3) {
                let mut values = Vec::new();
                for _ in 0..rng.below(3) {
                    values.push(if rng.chance(1, 8) { 1 + rng.below(count + 1) } else { next });
                    next += 1 + rng.below(8) / 7;
                }
                if rng.chance(1, 5) {
                    rng.shuffle(&mut values);
                }
                values.retain(|value| *value <= count + 1);
                let end = at + rng.below(5);
                lines.push(format!("c{client} poll q -> {values:?} [{at}..{end}]"));
                at += 1 + rng.below(8);
            }
        }
        let text = lines.join("\n");
        let history = history(&text).unwrap();
        let got = of.check(&history, &Unlimited).outcome;
        match (slow(&history, of), &got) {
            (Some(true), Outcome::Valid) => tally[0] += 1,
            (Some(false), Outcome::Unknown { .. }) => {}
            (None, Outcome::Invalid { .. }) => tally[1] += 1,
            (expect, _) => panic!("{of:?}\n{text}\n{expect:?}\n{got:#?}"),
        }
    }
    assert!(tally.iter().all(|count| *count > 400), "{tally:?}");
}

#[test]
fn without_a_window_an_order_of_the_producers_explains_what_is_valid() {
    // The definition by orders: some order of what was produced, consistent with time, begins with what was seen.
    fn orders(left: &[&Op], order: &mut Vec<i64>, seen: &[i64]) -> bool {
        if order.len() >= seen.len() {
            return order.starts_with(seen);
        }
        let first =
            |op: &Op| !left.iter().any(|o| o.effect() == Effect::Acknowledged && o.complete_ts < Some(op.invoke_ts));
        (0..left.len()).any(|at| {
            let rest = || {
                left.iter().enumerate().filter(move |(other, _)| *other != at).map(|(_, op)| *op).collect::<Vec<_>>()
            };
            if left[at].effect() == Effect::Unknown && orders(&rest(), order, seen) {
                return true;
            }
            if !first(left[at]) {
                return false;
            }
            order.push(left[at].input.as_i64().unwrap());
            let found = orders(&rest(), order, seen);
            order.pop();
            found
        })
    }
    for seed in seeds(3000) {
        let mut rng = Rng::stream(seed, "orders");
        let mut lines = Vec::new();
        for value in 1..=4 {
            let from = value + rng.below(8);
            let end = if rng.chance(1, 5) { String::new() } else { (from + rng.below(6)).to_string() };
            lines.push(format!("c{value} enqueue q {value} [{from}..{end}]"));
        }
        let mut seen: Vec<i64> = vec![1, 2, 3, 4];
        rng.shuffle(&mut seen);
        seen.truncate(1 + rng.below(4) as usize);
        lines.push(format!("c9 poll q -> {seen:?} [90..91]"));
        let text = lines.join("\n");
        let history = history(&text).unwrap();
        let made: Vec<&Op> = history.ops().iter().filter(|op| op.op_type == "enqueue").collect();
        let got = PrefixOrder::consumers().check(&history, &Unlimited).outcome;
        assert_eq!(got == Outcome::Valid, orders(&made, &mut Vec::new(), &seen), "{text}\n{got:#?}");
    }
}
