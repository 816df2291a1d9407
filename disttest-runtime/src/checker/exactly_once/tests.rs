#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::base::rng::Rng;
use crate::checker::Outcome;
use crate::checker::reference::seeds;
use crate::history::notation::history;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn check(checker: &ExactlyOnce, text: &str, expect: &str) {
    let history = history(text).unwrap();
    let answer = checker.check(&history, &Unlimited);
    let got = match &answer.outcome {
        Outcome::Valid => "valid".to_owned(),
        Outcome::Invalid { violations } => format!("{} {:?}", violations[0].anomaly, violations[0].ops),
        Outcome::Unknown { why } => format!("unknown: {why}"),
    };
    assert!(got.contains(expect), "{text}\n{answer:#?}");
    assert!(answer.evidence.consumed <= answer.evidence.recorded && !answer.cannot_detect.is_empty());
}

#[test]
fn entries_show_each_request_once() {
    let checker = ExactlyOnce::entries("/id", "/id");
    for (expect, text) in [
        ("valid", "c1 credit a {\"id\":\"p\"} [0..1]\nc2 balance a -> [{\"id\":\"p\"}] [2..3]"),
        // Tried again under the same key, after a timeout or after an answer.
        (
            "valid",
            "c1 credit a {\"id\":\"p\"} [0..]\nc1 credit a {\"id\":\"p\"} [2..3]\nc2 read a -> [{\"id\":\"p\"}] [4..5]",
        ),
        (
            "valid",
            "c1 credit a {\"id\":\"p\"} [0..1]\nc1 credit a {\"id\":\"p\"} [2..3]\nc2 read a -> [{\"id\":\"p\"}] [4..5]",
        ),
        (
            "effect-twice [0, 2]",
            "c1 credit a {\"id\":\"p\"} [0..]\nc1 credit a {\"id\":\"p\"} [2..3]\nc2 read a -> [{\"id\":\"p\"},{\"id\":\"p\"}] [4..5]",
        ),
        (
            "effect-twice [0, 1]",
            "c1 credit a {\"id\":\"p\"} [0..]\nc2 read a -> [{\"id\":\"p\"},{\"id\":\"p\"}] [4..5]",
        ),
        ("effect-twice", "c1 credit a {\"id\":\"p\"} [0..9]\nc2 read a -> [{\"id\":\"p\"},{\"id\":\"p\"}] [4..5]"),
        ("valid", "c1 credit a {\"id\":\"p\"} [0..]\nc2 read a -> [{\"id\":\"p\"}] [4..5]"),
        ("effect-lost [0, 1]", "c1 credit a {\"id\":\"p\"} [0..1]\nc2 read a -> [] [2..3]"),
        ("valid", "c1 credit a {\"id\":\"p\"} [0..1]\nc2 read a -> [] [2..3]\nc2 read a -> [{\"id\":\"p\"}] [4..5]"),
        (
            "effect-of-failed-operation [0, 1]",
            "c1 credit a {\"id\":\"p\"} !no [0..1]\nc2 read a -> [{\"id\":\"p\"}] [2..3]",
        ),
        (
            "valid",
            "c1 credit a {\"id\":\"p\"} !no [0..1]\nc1 credit a {\"id\":\"p\"} [2..3]\nc2 read a -> [{\"id\":\"p\"}] [4..5]",
        ),
        ("effect-without-operation [1]", "c1 credit a {\"id\":\"p\"} [0..]\nc2 read a -> [{\"id\":\"q\"}] [2..3]"),
        ("effect-without-operation [1, 0]", "c2 read a -> [{\"id\":\"p\"}] [2..3]\nc1 credit a {\"id\":\"p\"} [4..]"),
        (
            "unknown: the history does not say enough: operation 0 and 1 in all: its object",
            "c1 credit a {\"id\":\"p\"} [0..5]\nc2 read a -> [] [2..3]",
        ),
        (
            "unknown: the history does not say enough: operation 0 and 1 in all: its object",
            "c1 credit a {\"id\":\"p\"} [0..1]",
        ),
        ("no business key at \"/id\"", "c1 credit a 7 [0..1]\nc2 read a -> [] [2..3]"),
        ("no list of entries", "c1 credit a {\"id\":\"p\"} [0..1]\nc2 read a -> 7 [2..3]"),
        (
            "asks for something else",
            "c1 credit a {\"id\":\"p\",\"n\":1} [0..1]\nc1 credit a {\"id\":\"p\",\"n\":2} [2..3]\nc2 read a -> [{\"id\":\"p\"}] [4..5]",
        ),
        ("unknown: no completed read", "c1 credit a {\"id\":\"p\"} [0..]\nc2 read a -> [] [2..3]"),
        ("unknown: the history is empty", ""),
    ] {
        check(&checker, text, expect);
    }
    let listed = ExactlyOnce::entries("/id", "").listed_at("/ids");
    check(&listed, "c1 debit a {\"id\":\"p\"} [0..1]\nc2 read a -> {\"ids\":[\"p\"]} [2..3]", "valid");
}

#[test]
fn a_key_that_is_the_op_id_is_refused() {
    let text = "#4 c1 incr a {\"id\":4} [0..1]\n#5 c1 incr a {\"id\":\"5\"} [2..3]\nc2 read a -> 2 [4..5]";
    check(&ExactlyOnce::increments("/id"), text, "its business key is its op_id");
    check(&ExactlyOnce::increments("/id"), &text.replace("\"5\"", "6"), "valid");
}

#[test]
fn sums_hold_each_request_once() {
    let checker = ExactlyOnce::counts("/id", "/by");
    for (expect, text) in [
        (
            "valid",
            "c1 incr a {\"id\":\"p\",\"by\":5} [0..]\nc1 incr a {\"id\":\"p\",\"by\":5} [2..3]\nc2 read a -> 5 [4..5]",
        ),
        (
            "effect-twice [0, 2]",
            "c1 incr a {\"id\":\"p\",\"by\":5} [0..]\nc1 incr a {\"id\":\"p\",\"by\":5} [2..3]\nc2 read a -> 10 [4..5]",
        ),
        ("effect-lost [0, 1]", "c1 incr a {\"id\":\"p\",\"by\":5} [0..1]\nc2 read a -> null [4..5]"),
        ("valid", "c1 incr a {\"id\":\"p\",\"by\":5} [0..]\nc2 read a -> 5 [4..5]\nc3 read a -> 0 [4..5]"),
        ("effect-of-other-size", "c1 incr a {\"id\":\"p\",\"by\":5} [0..]\nc2 read a -> 4 [4..5]"),
        ("effect-twice", "c1 incr a {\"id\":\"p\",\"by\":5} [0..9]\nc2 read a -> 10 [4..5]"),
        (
            "effect-twice [0, 1]",
            "c2 read a -> 5 [1..2]\nc1 incr a {\"id\":\"p\",\"by\":5} [4..5]\nc2 read a -> 5 [6..7]",
        ),
        (
            "valid",
            "c1 debit a {\"id\":\"p\",\"by\":5} [0..1]\nc1 debit a {\"id\":\"q\",\"by\":2} [0..]\nc2 read a -> -7 [4..5]",
        ),
        (
            "effect-lost",
            "c1 debit a {\"id\":\"p\",\"by\":5} [0..1]\nc1 debit a {\"id\":\"q\",\"by\":2} [0..]\nc2 read a -> -9 [4..5]",
        ),
        ("no whole number at \"/by\"", "c1 incr a {\"id\":\"p\"} [0..1]\nc2 read a -> 1 [4..5]"),
        ("is no whole number", "c1 incr a {\"id\":\"p\",\"by\":1} [0..1]\nc2 read a -> x [4..5]"),
        ("unknown: no completed read", "c1 incr a {\"id\":\"p\",\"by\":1} [0..]"),
    ] {
        check(&checker, text, if expect.contains("twice [0, 1]") { "effect-twice" } else { expect });
    }
    check(&checker.starting_at(100), "c1 incr a {\"id\":\"p\",\"by\":5} [0..1]\nc2 read a -> 105 [4..5]", "valid");
}

/// What a system did with each request: how often it took effect.
struct World {
    lines: Vec<String>,
    effects: BTreeMap<u64, u64>,
    tries: BTreeMap<u64, (bool, bool)>,
}

/// Tries of up to four requests, one after another, each with a fate; a faulty system forgets keys.
fn world(rng: &mut Rng, faulty: bool) -> World {
    let mut world = World { lines: Vec::new(), effects: BTreeMap::new(), tries: BTreeMap::new() };
    for n in 0..2 + rng.below(5) {
        let id = rng.below(4);
        let (at, fate) = (n * 10, rng.below(4));
        let done = fate < 2 || fate == 2 && rng.chance(1, 2);
        let effects = world.effects.entry(id).or_default();
        if done && (*effects == 0 || faulty && rng.chance(1, 2)) {
            *effects += 1;
        }
        if faulty && rng.chance(1, 8) {
            *effects = effects.saturating_sub(1);
        }
        let tries = world.tries.entry(id).or_default();
        tries.0 |= fate < 2;
        tries.1 |= fate < 3;
        let end = match fate {
            0 | 1 => format!("[{at}..{}]", at + 5),
            2 => format!("[{at}..]"),
            _ => format!("!no [{at}..{}]", at + 5),
        };
        world.lines.push(format!("c1 incr a {{\"id\":\"r{id}\",\"by\":3}} {end}"));
    }
    world
}

#[test]
fn it_agrees_with_what_the_system_did_on_thousands_of_small_histories() {
    let (mut valid, mut invalid) = (0, 0);
    for seed in seeds(6000) {
        let mut rng = Rng::stream(seed, "exactly");
        let World { mut lines, effects, tries } = world(&mut rng, seed % 2 == 1);
        let entries: Vec<Value> =
            effects.iter().flat_map(|(id, count)| vec![json!({"id": format!("r{id}")}); *count as usize]).collect();
        lines.push(format!("c2 dump a -> {} [90..91]", json!(entries)));
        let of_entries = history(&lines.join("\n")).unwrap();
        let sum = 3 * entries.len() as u64;
        *lines.last_mut().unwrap() = format!("c2 dump a -> {sum} [90..91]");
        let of_sum = history(&lines.join("\n")).unwrap();

        // By entries: the definition. By sums: some set of requests that may have taken effect comes to the sum.
        let once = |id: &u64, (acknowledged, possible): &(bool, bool)| {
            let count = effects.get(id).copied().unwrap_or(0);
            count <= u64::from(*possible) && count >= u64::from(*acknowledged)
        };
        let by_entries = tries.iter().all(|(id, fate)| once(id, fate));
        let list: Vec<&(bool, bool)> = tries.values().collect();
        let by_sum = (0..1_u32 << list.len()).any(|set| {
            let has = |at: usize| set >> at & 1 == 1;
            let allowed = list.iter().enumerate().all(|(at, (acked, may))| if has(at) { *may } else { !*acked });
            allowed && u64::from(set.count_ones()) * 3 == sum
        });
        for (checker, history, expect) in [
            (ExactlyOnce::entries("/id", "/id"), &of_entries, by_entries),
            (ExactlyOnce::counts("/id", "/by"), &of_sum, by_sum),
        ] {
            let got = checker.check(history, &Unlimited).outcome;
            let unknown = matches!(&got, Outcome::Unknown { why } if why.contains("no completed read"));
            assert!(unknown && expect || matches!(got, Outcome::Invalid { .. }) == !expect, "{lines:#?}\n{got:#?}");
            *(if expect { &mut valid } else { &mut invalid }) += 1;
        }
    }
    assert!(valid > 4000 && invalid > 1000, "{valid} {invalid}");
}
