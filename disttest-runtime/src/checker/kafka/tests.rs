#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::base::rng::Rng;
use crate::base::time::Nanos;
use crate::checker::reference::{said, seeds};
use crate::checker::{Outcome, Unlimited};
use crate::history::notation::history;
use crate::history::{Effect, Op};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn check(text: &str, expect: &str) {
    let history = history(text).unwrap();
    let answer = Kafka::new().check(&history, &Unlimited);
    let got = said(&answer.outcome);
    assert_eq!(got, expect, "{text}\n{answer:#?}");
}

/// One operation after another: `1 send x a@0 b@1`, `2 poll x a@0`, `2 assign x y`. An `!` fails it, a `?` leaves its
/// outcome unknown; both keep what it says in the input. `@-` is an offset that is not known.
fn log(text: &str) -> String {
    let mut lines = String::new();
    for (at, line) in text.split(';').map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        let (line, outcome) = match line.strip_suffix(['!', '?']) {
            Some(rest) => (rest.trim(), &line[line.len() - 1..]),
            None => (line, ""),
        };
        let words: Vec<&str> = line.split_whitespace().collect();
        let list = match words[1] {
            "assign" | "subscribe" => json!(&words[2..]),
            _ => micros(&words[1..]),
        };
        let kind =
            if words.iter().filter(|word| matches!(**word, "send" | "poll")).count() > 1 { "txn" } else { words[1] };
        let (from, to) = (2 * at, 2 * at + 1);
        lines.push_str(&match outcome {
            "!" => format!("c{} {kind} - {list} !aborted [{from}..{to}]\n", words[0]),
            "?" => format!("c{} {kind} - {list} [{from}..]\n", words[0]),
            _ if matches!(kind, "assign" | "subscribe") => format!("c{} {kind} - {list} [{from}..{to}]\n", words[0]),
            _ => format!("c{} {kind} - [] -> {list} [{from}..{to}]\n", words[0]),
        });
    }
    lines
}

fn micros(words: &[&str]) -> Value {
    let mut list: Vec<Value> = Vec::new();
    let (mut kind, mut key) = ("", "");
    for word in words {
        match word.split_once('@') {
            None if matches!(*word, "send" | "poll") => {
                kind = *word;
                if kind == "poll" {
                    list.push(json!(["poll", {}]));
                }
            }
            None => key = *word,
            Some((value, offset)) => {
                let pair = json!([offset.parse::<u64>().ok(), value]);
                match kind {
                    "send" => list.push(json!(["send", key, pair])),
                    _ => {
                        let polled = &mut list.last_mut().unwrap()[1];
                        if polled[key].is_null() {
                            polled[key] = json!([]);
                        }
                        polled[key].as_array_mut().unwrap().push(pair);
                    }
                }
            }
        }
    }
    json!(list)
}

#[test]
fn what_was_sent_is_polled_in_order() {
    for (expect, text) in [
        ("valid", "1 send x a@0 b@1; 2 poll x a@0 b@1"),
        // Gaps between offsets are none in the log.
        ("valid", "1 send x a@0 b@5; 2 poll x a@0; 2 poll x b@5"),
        ("valid", "1 send x a@0 y b@0; 2 poll x a@0 y b@0; 3 poll x a@0"),
        ("valid", "1 send x a@-; 2 poll x a@3"),
        ("valid", "1 send x a@0 ?; 1 send x b@1; 2 poll x b@1"),
        ("valid", "1 send x a@0 !; 1 send x b@0; 2 poll x b@0"),
        ("lost-write [0, 2]", "1 send x a@0; 1 send x b@1; 2 poll x b@1"),
        // Of unknown outcome, but part of it was polled: so it happened.
        ("lost-write [0, 2]", "1 send x a@0 y c@0 ?; 1 send x b@1; 2 poll x b@1 y c@0"),
        ("inconsistent-offsets [0, 1]", "1 send x a@0; 1 send x b@0; 2 poll x b@0 a@-"),
        ("duplicate [0, 1]", "1 send x a@0; 2 poll x a@1"),
        ("G1a [0, 1]", "1 send x a@0 !; 2 poll x a@0"),
        ("unexpected [0]", "2 poll x a@0"),
        ("precommitted-read [0]", "1 send x a@0 poll x a@0; 2 poll x a@0"),
        ("int-nonmonotonic-send [0]", "1 send x b@1 a@0; 2 poll x a@0 b@1"),
        ("nonmonotonic-send [0, 1]", "1 send x b@1; 1 send x a@0; 2 poll x a@0 b@1"),
        ("int-poll-skip [1]", "1 send x a@0 b@1 c@2; 2 poll x a@0 c@2; 3 poll x b@1"),
        ("int-poll-skip [1]", "1 send x a@0 b@1 c@2; 2 poll x a@0 poll x c@2; 3 poll x b@1"),
        ("int-nonmonotonic-poll [1]", "1 send x a@0 b@1; 2 poll x b@1 a@0"),
        ("int-nonmonotonic-poll [1]", "1 send x a@0; 2 poll x a@0 poll x a@0"),
        ("poll-skip [1, 2]", "1 send x a@0 b@1 c@2; 2 poll x a@0; 2 poll x c@2; 3 poll x b@1"),
        ("nonmonotonic-poll [1, 2]", "1 send x a@0 b@1; 2 poll x a@0 b@1; 2 poll x b@1"),
        // A failed transaction goes back to where it began.
        ("valid", "1 send x a@0 b@1; 2 poll x a@0; 2 poll x b@1 !; 2 poll x b@1 ?; 2 poll x b@1"),
        ("poll-skip [1, 3]", "1 send x a@0 b@1 c@2; 2 poll x a@0; 2 poll x b@1 !; 2 poll x c@2; 3 poll x b@1"),
        // Another assignment: anywhere on new keys, on from there on kept ones.
        ("valid", "1 send x a@0 b@1; 2 poll x a@0 b@1; 2 assign y; 2 poll x b@1"),
        ("nonmonotonic-poll [1, 3]", "1 send x a@0 b@1; 2 poll x a@0 b@1; 2 assign x y; 2 poll x b@1"),
        ("nonmonotonic-poll [1, 3]", "1 send x a@0 b@1; 2 poll x a@0 b@1; 2 assign y !; 2 poll x b@1"),
        ("valid", "1 send x a@0 b@1; 3 subscribe x; 2 poll x a@0 b@1; 2 poll x b@1"),
        ("unknown", "1 send x a@0 b@1; 3 subscribe x; 2 poll x b@1 a@0"),
        ("unknown", ""),
        ("unknown", "1 send x a@0"),
        ("unknown", "1 send x a@0 b@1; 2 poll x a@0"),
        ("unknown", "1 send x a@0 ?; 2 poll x"),
    ] {
        check(&log(text), expect);
    }
    check(
        "c1 send - [[\"send\",1,7]] -> [[\"send\",1,[0,7]]] [0..1]\nc2 poll - [[\"poll\"]] -> [[\"poll\",{\"1\":[[0,7]]}]] [2..3]",
        "valid",
    );
    check("c1 send - [[\"send\",1,7]] [0..]\nc2 poll - [[\"poll\"]] -> [[\"poll\",{\"1\":[[0,7]]}]] [2..3]", "valid");
    check("c1 put - 1 [0..1]", "unknown");
    check("c1 send - [[\"sand\",1,7]] [0..1]", "unknown");
    let missing = Kafka.missing(&history("c1 poll - [[\"poll\",{\"1\":[7]}]] [0..1]").unwrap());
    assert!(missing[0].starts_with("operation 0: [\"poll\",{\"1\":[7]}] is none of"), "{missing:?}");
}

/// A random history of one or two logs, told by a broker that makes mistakes.
fn random(seed: u64) -> History {
    let mut rng = Rng::stream(seed, "kafka");
    let wrong = rng.below(3) * 8;
    let slip = |rng: &mut Rng| wrong > 0 && rng.chance(1, 4 * wrong);
    let mut logs: Vec<Vec<(u64, u64)>> = vec![Vec::new(); 2];
    let mut at: BTreeMap<(u64, usize), usize> = BTreeMap::new();
    let (mut ops, mut next): (Vec<Op>, u64) = (Vec::new(), 0);
    for id in 0..4 + rng.below(10) {
        let process = rng.below(3);
        let kind = ["send", "poll", "txn", "poll", "assign"][rng.below(5) as usize];
        let outcome = rng.below(6);
        let mut list: Vec<Value> = Vec::new();
        if kind == "assign" {
            let keys: Vec<u64> = (0..2).filter(|_| rng.chance(2, 3)).collect();
            at.retain(|(of, key), _| *of != process || keys.contains(&(*key as u64)));
            list = keys.into_iter().map(|key| json!(key)).collect();
        }
        if matches!(kind, "poll" | "txn") {
            let mut polled = serde_json::Map::new();
            for (key, log) in logs.iter().enumerate() {
                let mut from = at.get(&(process, key)).copied().unwrap_or(0);
                if slip(&mut rng) {
                    from = if rng.chance(1, 2) { from + 1 } else { from.saturating_sub(1) };
                }
                let count = rng.below(3) as usize;
                let mut shown: Vec<(u64, u64)> = log.iter().copied().skip(from).take(count).collect();
                if outcome > 1 {
                    at.insert((process, key), from + shown.len());
                }
                if slip(&mut rng) && !shown.is_empty() {
                    shown.remove(0);
                }
                if slip(&mut rng) {
                    shown.reverse();
                }
                if slip(&mut rng) {
                    shown.push((99, 99));
                }
                if !shown.is_empty() {
                    polled.insert(key.to_string(), json!(shown));
                }
            }
            list.push(json!(["poll", polled]));
        }
        if matches!(kind, "send" | "txn") {
            for _ in 0..1 + rng.below(2) {
                let key = rng.below(2) as usize;
                let value = if slip(&mut rng) { next } else { next + 1 };
                next = value;
                let log = &mut logs[key];
                let mut offset = log.last().map_or(0, |(offset, _)| offset + 1 + rng.below(2));
                if slip(&mut rng) {
                    offset = offset.saturating_sub(1 + rng.below(2));
                }
                let kept = match outcome {
                    0 => slip(&mut rng),
                    1 => rng.chance(1, 2),
                    _ => !slip(&mut rng),
                };
                if kept {
                    log.push((offset, value));
                }
                list.push(json!([
                    "send",
                    key,
                    if rng.chance(1, 6) { json!([null, value]) } else { json!([offset, value]) }
                ]));
            }
        }
        let (output, input) =
            if outcome > 1 && kind != "assign" { (json!(list), Value::Null) } else { (Value::Null, json!(list)) };
        ops.push(Op {
            op_id: id,
            process_id: process,
            invoke_ts: Nanos(2 * id),
            complete_ts: (outcome != 1).then_some(Nanos(2 * id + 1)),
            op_type: kind.to_owned(),
            key: None,
            input,
            output,
            error: (outcome == 0).then(|| "aborted".to_owned()),
            timeout_marker: outcome == 1,
            node_seen: None,
            fault_epoch: None,
        });
    }
    History::new(ops).unwrap()
}

type Told = (u64, Option<u64>, Value);

/// Sends and polls of `op` as (key, offset, value), in order.
fn told(op: &Op, kind: &str) -> Vec<Told> {
    let list = if op.output.is_array() { &op.output } else { &op.input };
    let mut told = Vec::new();
    for micro in list.as_array().into_iter().flatten().filter(|micro| micro[0] == kind) {
        if kind == "send" {
            told.push((micro[1].as_u64().unwrap(), micro[2][0].as_u64(), micro[2][1].clone()));
        } else {
            for (key, pairs) in micro[1].as_object().unwrap() {
                let key: u64 = key.parse().unwrap();
                told.extend(pairs.as_array().unwrap().iter().map(|pair| (key, pair[0].as_u64(), pair[1].clone())));
            }
        }
    }
    told
}

/// The rules, read aloud: everything is looked for in the whole history, every time.
fn reference(history: &History) -> Vec<String> {
    let ops = history.ops();
    let mut found: Vec<&str> = Vec::new();
    let acked = |op: &&Op| op.effect() == Effect::Acknowledged;
    let same = |told: &Told, key: u64, value: &Value| told.0 == key && told.2 == *value;
    let read =
        |key, value: &Value| ops.iter().filter(acked).any(|op| told(op, "poll").iter().any(|t| same(t, key, value)));
    let happened = |op: &Op| match op.effect() {
        Effect::Acknowledged => true,
        Effect::Unknown => told(op, "send").iter().any(|(key, _, value)| read(*key, value)),
        Effect::Failed => false,
    };
    let mut places: BTreeSet<(u64, u64, String)> = BTreeSet::new();
    let mut messages: BTreeMap<(u64, String), Value> = BTreeMap::new();
    for op in ops {
        for kind in ["send", "poll"] {
            for (key, offset, value) in told(op, kind) {
                messages.insert((key, value.to_string()), value.clone());
                if let Some(offset) = offset.filter(|_| kind == "poll" || happened(op)) {
                    places.insert((key, offset, value.to_string()));
                }
            }
        }
    }
    let offsets = |key: u64| -> Vec<u64> {
        let of: BTreeSet<u64> = places.iter().filter(|place| place.0 == key).map(|place| place.1).collect();
        of.into_iter().collect()
    };
    let indices = |key: u64, value: &Value| -> Vec<usize> {
        let at = |offset: &u64| places.contains(&(key, *offset, value.to_string()));
        offsets(key).iter().enumerate().filter(|(_, offset)| at(offset)).map(|(index, _)| index).collect()
    };
    for key in 0..2 {
        for offset in offsets(key) {
            let held = places.iter().filter(|place| (place.0, place.1) == (key, offset)).count();
            found.extend((1..held).map(|_| "inconsistent-offsets"));
        }
    }
    for ((key, _), value) in &messages {
        let of_key = |op: &&Op| told(op, "send").iter().any(|t| same(t, *key, value));
        let all: Vec<&Op> = ops.iter().filter(of_key).collect();
        let alive = all.iter().any(|op| op.effect() != Effect::Failed);
        let was_read = read(*key, value);
        found.extend((1..indices(*key, value).len()).map(|_| "duplicate"));
        if was_read && !alive {
            found.push(if all.is_empty() { "unexpected" } else { "G1a" });
        }
        let read_to = messages.iter().filter(|((other, _), value)| other == key && read(*other, value));
        let bound = read_to.filter_map(|((key, _), value)| indices(*key, value).first().copied()).max();
        let before = indices(*key, value).last().is_some_and(|last| bound.is_some_and(|bound| *last <= bound));
        if !was_read && before && all.iter().any(|op| happened(op)) {
            found.push("lost-write");
        }
    }
    let steps = |a: &Told, b: &Told| match (indices(a.0, &a.2).last(), indices(b.0, &b.2).last()) {
        (Some(one), Some(other)) if one == other && a.2 != b.2 => 1,
        (Some(a), Some(b)) => *b as i64 - *a as i64,
        _ => 1,
    };
    for op in ops {
        for (key, _, value) in told(op, "send") {
            if told(op, "poll").iter().any(|t| same(t, key, &value)) {
                found.push("precommitted-read");
            }
        }
        for key in 0..2 {
            let of = |op: &Op, kind: &str| -> Vec<Told> { told(op, kind).into_iter().filter(|t| t.0 == key).collect() };
            for pair in of(op, "poll").windows(2) {
                match steps(&pair[0], &pair[1]) {
                    2.. => found.push("int-poll-skip"),
                    1 => {}
                    _ => found.push("int-nonmonotonic-poll"),
                }
            }
            found.extend(
                of(op, "send").windows(2).filter(|pair| steps(&pair[0], &pair[1]) < 1).map(|_| "int-nonmonotonic-send"),
            );
            // The last one of the process that counts, unless the key was given up in between.
            let before = |kind: &str, counts: &dyn Fn(&Op) -> bool| -> Option<Told> {
                let earlier = ops.iter().filter(|o| o.process_id == op.process_id && o.invoke_ts < op.invoke_ts).rev();
                for earlier in earlier {
                    if earlier.op_type == "assign" && earlier.effect() != Effect::Failed {
                        if !earlier.input.as_array().unwrap().contains(&json!(key)) {
                            return None;
                        }
                    } else if counts(earlier) && !of(earlier, kind).is_empty() {
                        return of(earlier, kind).pop();
                    }
                }
                None
            };
            let polls = before("poll", &|op| op.effect() == Effect::Acknowledged);
            if let (Some(last), Some(first)) = (polls, of(op, "poll").first()) {
                match steps(&last, first) {
                    2.. => found.push("poll-skip"),
                    1 => {}
                    _ => found.push("nonmonotonic-poll"),
                }
            }
            let sends = before("send", &|op| op.effect() != Effect::Failed);
            let first = of(op, "send").into_iter().next().filter(|_| op.effect() != Effect::Failed);
            if let (Some(last), Some(first)) = (sends, first) {
                found.extend((steps(&last, &first) < 1).then_some("nonmonotonic-send"));
            }
        }
    }
    let mut found: Vec<String> = found.into_iter().map(str::to_owned).collect();
    found.sort();
    found
}

#[test]
fn random_logs_are_judged_as_the_rules_say() {
    let (mut kinds, mut fine) = (BTreeMap::<String, u64>::new(), 0);
    for seed in seeds(3000) {
        let history = random(seed);
        let expect = reference(&history);
        let mut got: Vec<String> = match Kafka.check(&history, &Unlimited).outcome {
            Outcome::Invalid { violations } => violations.into_iter().map(|v| v.anomaly).collect(),
            _ => Vec::new(),
        };
        got.sort();
        let lines: Vec<String> = history.ops().iter().map(crate::history::notation::line).collect();
        assert_eq!(got, expect, "{seed}\n{}", lines.join("\n"));
        fine += u64::from(got.is_empty());
        for kind in got {
            *kinds.entry(kind).or_default() += 1;
        }
    }
    assert_eq!(kinds.len(), RANKS.len(), "{kinds:?}");
    assert!(fine > 200, "{fine} {kinds:?}");
}
