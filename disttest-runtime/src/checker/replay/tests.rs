use super::*;
use crate::base::rng::Rng;
use crate::checker::Unlimited;
use crate::history::generate::{self, Object, Shape};
use crate::history::notation::history;

fn said(answer: &Answer) -> String {
    match &answer.outcome {
        Outcome::Valid => "valid".to_owned(),
        Outcome::Invalid { violations } => {
            let shown: Vec<String> =
                violations.iter().map(|v| format!("{} {:?} {}", v.anomaly, v.ops, v.explanation)).collect();
            shown.join("\n")
        }
        Outcome::Unknown { why } => why.clone(),
    }
}

fn same(said: &str, expect: &str, of: &str) {
    assert!(if expect == "valid" { said == expect } else { said.contains(expect) }, "{said}, not {expect}, of {of}");
}

fn check(text: &str, expect: &str) {
    same(&said(&ReplayEquivalence::of_log().check(&history(text).expect("a history"), &Unlimited)), expect, text);
}

#[test]
fn the_log_that_is_read_at_the_end_is_what_clients_were_told() {
    let two = "c1 append l 1 -> 0 [0..1]\nc2 append l 2 -> 1 [2..3]\n";
    let end = |values: &str| format!("{two}c3 read l -> {values} [10..11]");
    check(&end("[1,2]"), "valid");
    check(
        &end("[2,1]"),
        "replay-differs [0, 2] c1 append l 1 -> 0 was acknowledged at offset 0, and the replay (read 2)",
    );
    check(&end("[1]"), "replay-differs [1, 2]");
    check(&end("[1]"), "the replay ends at offset 1 (read 2)");
    check(&end("[1,2,2]"), "replayed-entry-without-operation");
    check(&end("[1,2,9]"), "replayed-entry-without-operation [2] read 2 shows 9, and no append of it");
    check(&end("{\"offset\":0,\"values\":[1,2],\"end\":true}"), "valid");
    check(&end("{\"offset\":0,\"values\":[1,2]}"), "was not read from offset 0 to its end");
    check(&end("{\"offset\":1,\"values\":[2],\"end\":true}"), "was not read from offset 0 to its end");
    let halves = "c3 read l -> {\"offset\":0,\"value\":1} [10..11]\nc3 read l -> {\"offset\":1,\"values\":[2],\"end\":true} [12..13]";
    check(&format!("{two}{halves}"), "valid");
}

#[test]
fn an_earlier_read_is_compared_step_by_step() {
    let text = |early: &str, late: &str| {
        format!(
            "c1 append l 1 [0..1]\nc2 append l 2 [0..1]\nc3 read l -> {early} [2..3]\nc1 append l 3 [4..5]\nc3 read l -> {late} [6..7]"
        )
    };
    check(&text("[1,2]", "[1,2,3]"), "valid");
    check(&text("[2,1]", "[2,1,3]"), "valid");
    check(&text("[2,1]", "[1,2,3]"), "replay-differs [2, 4] read 2 showed 2 at offset 0");
    check(&text("[1,2]", "[1,3]"), "replay-differs [2, 4] read 2 showed 2 at offset 1");
    check(&text("[1,2]", "[1,3]"), "replay-lacks-entry [1, 4] The replayed log has 2 0 times, and 1 appends");
    check(&text("[1]", "[1,2,3]"), "valid");
}

#[test]
fn unknown_appends_may_be_anywhere_or_nowhere_and_failed_ones_nowhere() {
    let text =
        |fate: &str, end: &str| format!("c1 append l 1 -> 0 [0..1]\nc2 append l 2 {fate}\nc3 read l -> {end} [10..11]");
    check(&text("[0..]", "[1]"), "valid");
    check(&text("[0..]", "[1,2]"), "valid");
    check(&text("[0..]", "[1,2,2]"), "replayed-entry-without-operation");
    check(&text("!no [0..1]", "[1,2]"), "replayed-entry-without-operation");
    // It lands between two reads of the end, or after the end was read.
    check(&format!("{}\nc4 read l -> [1,2] [10..20]", text("[0..]", "[1]")), "valid");
    check(&format!("{}\nc4 read l -> {{\"offset\":0,\"values\":[1,2]}} [10..20]", text("[0..]", "[1]")), "valid");
}

#[test]
fn what_shows_nothing_is_unknown() {
    check("", "the history is empty");
    check("c1 append l 1 [0..]", "none of 1 operations");
    check("c1 append l 1 -> 0 [0..1]", "log \"l\" was not read");
    check("c1 append l 1 -> 0 [0..5]\nc2 read l -> [1] [3..4]", "log \"l\" was not read");
    check("c1 read l -> [] [0..1]", "nothing was compared");
    check("c1 add s 1 [0..1]\nc1 read s -> [1] [2..3]", "operation 0: `add` is no operation of a log");
    let beyond = "c1 append l 1 -> 18446744073709551615 [0..1]\nc1 read l -> {\"offset\":18446744073709551615,\"value\":1} [2..3]";
    check(beyond, "18446744073709551615 is no offset of a log");
    check("c1 append l 1 -> 18446744073709551615 [0..1]\nc1 read l -> [1] [2..3]", "replay-differs [0, 1]");
    check("c1 write s 1 [0..1]", "the history does not fit: operation 0");
    let gone = ReplayEquivalence.missing(&history("c1 write s 1 [0..1]\nc1 write s 2 [0..1]").expect("a history"));
    assert_eq!(gone.len(), 1, "{gone:?}");
}

#[test]
fn generated_logs_replay() {
    let mut judged = 0;
    for seed in 0..1_500 {
        let shape = Shape { object: Object::Log, operations: 5 + seed % 30, keys: 1 + seed % 2, ..Shape::default() };
        let shape = Shape { unknown: 100, failed: 50, values: (seed % 3 == 0).then_some(4), ..shape };
        let answer = ReplayEquivalence.check(&generate::history(shape, seed), &Unlimited);
        assert!(!matches!(answer.outcome, Outcome::Invalid { .. }), "seed {seed}: {}", said(&answer));
        judged += u32::from(answer.outcome == Outcome::Valid);
    }
    assert!(judged > 500, "{judged}");
}

/// A machine that adds, with states observed after some entries.
fn adding(log: &[i64], observed: &[(usize, i64)]) -> Replay<i64, i64> {
    let start = Replay::new(0, log.to_vec(), |state, entry| *state += entry);
    observed.iter().fold(start, |replay, (after, state)| {
        replay.observed(Observed { after: *after, state: *state, from: "a snapshot".to_owned() })
    })
}

fn states(replay: &Replay<i64, i64>, expect: &str) {
    let any = history("c1 read x -> 1 [0..1]").expect("a history");
    same(&said(&replay.check(&any, &Unlimited)), expect, "states");
}

#[test]
fn states_are_compared_at_the_entries_they_follow() {
    states(&adding(&[1, 2, 3], &[(3, 6), (1, 1), (0, 0)]), "valid");
    states(
        &adding(&[1, 2, 3], &[(3, 6), (2, 4)]),
        "After 2 entries, the last of them 2, the replay gives 3, and a snapshot shows 4",
    );
    states(&adding(&[1, 2, 3], &[(3, 7), (2, 4)]), "After 2 entries");
    states(&adding(&[1, 2, 3], &[(0, 1), (2, 3)]), "After 0 entries, the replay gives 0");
    states(&adding(&[1], &[(0, 0)]), "no state was observed after an entry");
    states(&adding(&[1], &[(1, 1), (2, 2)]), "follows 2 entries, and the log has 1");
    states(&adding(&[], &[]), "no state was observed");
    states(&adding(&[0, 0], &[(2, 0)]), "no entry of the log changes the state");
    states(&adding(&[1, 2], &[(2, 7)]).compare(|_, _| true), "no entry of the log changes the state");
    states(&adding(&[1, 2], &[(2, -3)]).compare(|a, b| a.abs() == b.abs()), "valid");
    assert!(says_nothing(&history("").expect("empty")).is_some());
    let silent = adding(&[1], &[(1, 1)]).check(&history("").expect("empty"), &Unlimited);
    assert!(matches!(silent.outcome, Outcome::Unknown { .. }));
}

#[test]
fn a_planted_difference_is_found_at_its_step() {
    for seed in 0..1_000 {
        let mut rng = Rng::new(seed);
        let log: Vec<i64> = (0..1 + rng.below(20)).map(|_| 1 + rng.below(9) as i64).collect();
        let sums: Vec<i64> = log
            .iter()
            .scan(0, |sum, it| {
                *sum += it;
                Some(*sum)
            })
            .collect();
        let bad = rng.below(log.len() as u64) as usize;
        let honest: Vec<(usize, i64)> = sums.iter().enumerate().map(|(at, sum)| (at + 1, *sum)).collect();
        states(&adding(&log, &honest), "valid");
        let mut planted = honest.clone();
        for state in &mut planted[bad..] {
            state.1 += 1;
        }
        states(&adding(&log, &planted), &format!("After {} entries", bad + 1));
    }
}
