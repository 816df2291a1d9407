#![expect(clippy::unwrap_used, reason = "tests")]

use super::full::{Fate, fates};
use super::*;
use crate::base::rng::Rng;
use crate::checker::reference::seeds;
use crate::checker::{Outcome, Unlimited, Violation};
use crate::history::notation::history;
use crate::history::{Effect, History};
use serde_json::{Value, json};

fn word(violation: &Violation) -> String {
    let ops: Vec<String> = violation.ops.iter().map(u64::to_string).collect();
    format!("{} {}", violation.anomaly, ops.join(" "))
}

fn check(checker: &dyn Checker, text: &str, expect: &str) {
    let history = history(text).unwrap();
    let answer = checker.check(&history, &Unlimited);
    let got = match &answer.outcome {
        Outcome::Valid => "valid".to_owned(),
        Outcome::Invalid { violations } => violations.iter().map(word).collect::<Vec<_>>().join(", "),
        Outcome::Unknown { .. } => "unknown".to_owned(),
    };
    assert_eq!(got, expect, "{}: {text}\n{answer:#?}", checker.name());
    assert!(!answer.cannot_detect.is_empty());
}

#[test]
fn the_final_read_shows_what_was_added_and_nothing_else() {
    for (expect, text) in [
        ("valid", "c1 add - 1 [0..1]\nc1 add - 2 [2..3]\nc2 read - -> [2,1] [4..5]"),
        ("valid", "c1 add s 1 [0..1]\nc2 read-set s -> [1] [4..5]"),
        // Recovered: of unknown outcome, and there.
        ("valid", "c1 add - 1 [0..1]\nc3 add - 2 [0..]\nc2 read - -> [1,2] [4..5]"),
        ("valid", "c1 add - 1 [0..1]\nc3 add - 2 [0..]\nc2 read - -> [1] [4..5]"),
        ("valid", "c1 add - 1 [0..1]\nc3 add - 2 !refused [0..3]\nc2 read - -> [1] [4..5]"),
        ("valid", "c1 add - 1 !refused [0..1]\nc1 add - 1 [2..3]\nc2 read - -> [1] [4..5]"),
        // Only the final read counts.
        ("valid", "c1 add - 1 [0..1]\nc2 read - -> [] [2..3]\nc2 read - -> [1] [4..5]"),
        ("valid", "c1 add - [1,2] [0..1]\nc1 add - \"a\" [2..3]\nc2 read - -> [\"a\",[1,2]] [4..5]"),
        // Each key by itself, and keys of other objects left alone.
        ("valid", "c1 add s 1 [0..1]\nc1 write r 7 [0..1]\nc2 read s -> [1] [4..5]\nc2 read r -> 7 [4..5]"),
        ("lost 0 2", "c1 add s 1 [0..1]\nc1 add t 1 [0..1]\nc2 read s -> [] [4..5]\nc2 read t -> [1] [4..5]"),
        ("lost 0 2", "c1 add - 1 [0..1]\nc1 add - 2 [2..3]\nc2 read - -> [2] [4..5]"),
        ("unexpected 1", "c1 add - 1 [0..1]\nc2 read - -> [1,9] [4..5]"),
        ("unexpected 1 2", "c1 add - 1 [0..1]\nc2 read - -> [1,9] [4..5]\nc1 add - 9 [6..7]"),
        ("failed-add-visible 1 2", "c1 add - 1 [0..1]\nc1 add - 2 !refused [2..3]\nc2 read - -> [1,2] [4..5]"),
        ("duplicated 1", "c1 add - 1 [0..1]\nc2 read - -> [1,1] [4..5]"),
        ("lost 0 2, unexpected 2", "c1 add - 1 [0..1]\nc1 add - 2 [2..3]\nc2 read - -> [3,2] [4..5]"),
        ("unknown", ""),
        ("unknown", "c1 add - 1 [0..1]"),
        ("unknown", "c2 read - -> [] [4..5]"),
        ("unknown", "c1 add - 1 [0..1]\nc2 read - [4..]"),
        ("unknown", "c1 add - 1 [0..]\nc2 read - -> [] [4..5]"),
        ("unknown", "c1 add - 1 [0..1]\nc2 read - -> null [4..5]"),
        ("unknown", "c1 add - 1 [0..1]\nc1 pop - -> 1 [2..3]\nc2 read - -> [1] [4..5]"),
        // The read began before the acknowledgement.
        ("unknown", "c1 add - 1 [0..4]\nc2 read - -> [] [3..5]"),
    ] {
        check(&Set::new(), text, expect);
    }
}

#[test]
fn every_client_has_the_last_word_if_asked() {
    let disagree = "c1 add - 1 [0..1]\nc2 read - -> [] [4..5]\nc3 read - -> [1] [6..7]";
    check(&Set::new(), disagree, "valid");
    check(&Set::each_client(), disagree, "lost 0 1");
    check(&Set::each_client(), "c1 add - 1 [0..1]\nc2 read - -> [] [4..5]\nc2 read - -> [1] [6..7]", "valid");
}

#[test]
fn the_fate_of_an_element_is_that_of_the_last_reads() {
    for (expect, linearizable, text) in [
        ("valid", "valid", "c1 add - 1 [0..1]\nc2 read - -> [1] [2..3]"),
        ("valid", "valid", "c2 read - -> [1] [0..3]\nc1 add - 1 [1..5]"),
        ("valid", "valid", "c1 add - 1 [0..]\nc2 read - -> [1] [2..3]"),
        ("lost 0 1", "lost 0 1", "c1 add - 1 [0..1]\nc2 read - -> [] [2..3]"),
        // Known by a read, though never acknowledged.
        ("lost 1 2", "lost 1 2", "c1 add - 1 [0..]\nc2 read - -> [1] [2..3]\nc2 read - -> [] [4..5]"),
        // Stale: missing for a while.
        ("valid", "stale 0 1", "c1 add - 1 [0..1]\nc2 read - -> [] [2..3]\nc2 read - -> [1] [4..5]"),
        (
            "valid",
            "stale 1 2",
            "c1 add - 1 [0..9]\nc2 read - -> [1] [1..2]\nc3 read - -> [] [3..4]\nc2 read - -> [1] [5..6]",
        ),
        // Of two elements one is lost, the other comes back: the last read by invocation decides.
        (
            "lost 0 4",
            "lost 0 4, stale 2 3",
            "c0 add - 0 [0..1]\nc1 add - 1 [2..5]\nc2 read - -> [1] [3..4]\nc2 read - -> [0] [6..9]\nc3 read - -> [1] [7..8]",
        ),
        ("unexpected 1", "unexpected 1", "c1 add - 1 [0..1]\nc2 read - -> [1,2] [2..3]"),
        ("duplicated 1", "duplicated 1", "c1 add - 1 [0..1]\nc2 read - -> [1,1] [2..3]"),
        (
            "failed-add-visible 0 2",
            "failed-add-visible 0 2",
            "c1 add - 2 !no [0..1]\nc1 add - 1 [0..1]\nc2 read - -> [1,2] [2..3]",
        ),
        ("unknown", "unknown", "c1 add - 1 [0..1]"),
        ("unknown", "unknown", "c1 add - 1 [0..5]\nc2 read - -> [] [1..2]"),
        ("unknown", "unknown", "c1 add - 1 [1..5]\nc2 read - -> [] [0..6]"),
        ("unknown", "unknown", "c1 add - 1 [1..]\nc2 read - -> [] [2..6]"),
        ("unknown", "unknown", ""),
    ] {
        check(&SetFull::new(), text, expect);
        check(&SetFull::linearizable(), text, linearizable);
    }
}

/// A set whose reads are right, stale, or wrong.
fn random(seed: u64) -> History {
    let mut rng = Rng::stream(seed, "set");
    let mut lines = "c99 add s 3 [9..14]\n".to_owned();
    for op in 0..2 + rng.below(9) {
        let from = rng.below(30);
        let to = from + rng.below(12);
        let element = rng.below(4);
        lines.push_str(&match rng.below(12) {
            0 => format!("c{op} add s {element} [{from}..]\n"),
            1 => format!("c{op} add s {element} !refused [{from}..{to}]\n"),
            2..7 => format!("c{op} add s {element} [{from}..{to}]\n"),
            _ => {
                let shown: Vec<u64> = (0..4).filter(|_| rng.chance(2, 3)).collect();
                let twice = if rng.chance(1, 9) { shown.iter().copied().take(1).collect() } else { Vec::new() };
                format!("c{op} read s -> {} [{from}..{to}]\n", json!([shown, twice].concat()))
            }
        });
    }
    history(&lines).unwrap()
}

fn shows(read: &Op, element: &Value) -> bool {
    read.output.as_array().unwrap().contains(element)
}

/// The definitions, one after the other, for each element and each read.
fn reference(history: &History, linearizable: bool) -> (Vec<String>, usize) {
    let ops = history.ops();
    let reads: Vec<&Op> = ops.iter().filter(|op| op.op_type == "read").collect();
    let mut found = Vec::new();
    let mut stable = 0;
    for read in &reads {
        let list = read.output.as_array().unwrap();
        for (at, element) in list.iter().enumerate() {
            let adds = || ops.iter().filter(|op| op.op_type == "add" && op.input == *element);
            let may = adds().any(|add| add.effect() != Effect::Failed && add.invoke_ts <= read.complete_ts.unwrap());
            let later = adds().any(|add| add.effect() != Effect::Failed);
            let failed = adds().any(|add| add.effect() == Effect::Failed);
            if list[..at].contains(element) && (later || failed) {
                found.push("duplicated".to_owned());
            } else if !may {
                found.push(if failed && !later { "failed-add-visible" } else { "unexpected" }.to_owned());
            }
        }
    }
    for element in 0..4 {
        let element = json!(element);
        let adds = || ops.iter().filter(|op| op.op_type == "add" && op.input == element);
        let Some(first) = adds().filter(|add| add.effect() != Effect::Failed).map(|add| add.invoke_ts).min() else {
            continue;
        };
        let known = adds().filter(|add| add.effect() == Effect::Acknowledged).map(|add| add.complete_ts.unwrap());
        let reads: Vec<&&Op> = reads.iter().filter(|read| read.complete_ts.unwrap() >= first).collect();
        let known =
            known.chain(reads.iter().filter(|read| shows(read, &element)).map(|r| r.complete_ts.unwrap())).min();
        let present = reads.iter().rposition(|read| shows(read, &element));
        let absent = reads.iter().rposition(|read| !shows(read, &element));
        let is_stable = present.is_some() && absent < present;
        let after_known = absent.is_some_and(|absent| known.is_some_and(|known| reads[absent].invoke_ts > known));
        if is_stable {
            stable += 1;
            if after_known && linearizable {
                found.push("stale".to_owned());
            }
        } else if after_known && absent > present {
            found.push("lost".to_owned());
        }
    }
    found.sort();
    (found, stable)
}

#[test]
fn the_fast_fates_are_those_of_the_definitions() {
    let mut kinds = std::collections::BTreeSet::new();
    for seed in seeds(6000) {
        let history = random(seed);
        for linearizable in [false, true] {
            let checker = if linearizable { SetFull::linearizable() } else { SetFull::new() };
            let (expect, stable) = reference(&history, linearizable);
            let mut got: Vec<String> = match checker.check(&history, &Unlimited).outcome {
                Outcome::Invalid { violations } => violations.into_iter().map(|v| v.anomaly).collect(),
                Outcome::Valid => {
                    assert!(stable > 0, "{seed}");
                    Vec::new()
                }
                Outcome::Unknown { .. } => {
                    assert_eq!(stable, 0, "{seed}");
                    Vec::new()
                }
            };
            got.sort();
            kinds.extend(got.iter().cloned());
            assert_eq!(got, expect, "{seed}: {:#?}", history.ops());
        }
    }
    assert_eq!(kinds.len(), 5, "{kinds:?}");
}

#[test]
fn the_final_read_is_judged_as_the_definition_says() {
    for seed in seeds(6000) {
        let history = random(seed);
        let reads = || history.ops().iter().filter(|op| op.op_type == "read");
        let Some(last) = reads().max_by_key(|op| (op.complete_ts, op.op_id)) else { continue };
        let mut lost = 0;
        let mut open = 0;
        for element in (0..4).map(|element| json!(element)) {
            let acks = history.ops().iter().filter(|op| op.op_type == "add" && op.input == element);
            let ack = acks.filter(|op| op.effect() == Effect::Acknowledged).map(|op| op.complete_ts.unwrap()).min();
            if let Some(ack) = ack.filter(|_| !shows(last, &element)) {
                if ack < last.invoke_ts { lost += 1 } else { open += 1 }
            }
        }
        match Set::new().check(&history, &Unlimited).outcome {
            Outcome::Invalid { violations } => {
                assert_eq!(violations.iter().filter(|v| v.anomaly == "lost").count(), lost, "{seed}");
            }
            Outcome::Valid => assert_eq!((lost, open), (0, 0), "{seed}"),
            Outcome::Unknown { .. } => assert_eq!(lost, 0, "{seed}"),
        }
    }
}

#[test]
fn fates_name_what_made_the_element_known() {
    let history = history("c1 add - 1 [0..1]\nc2 read - -> [] [2..3]").unwrap();
    let groups = by_key(&history);
    let mut inquiry = Inquiry::new(&history, &Unlimited);
    let mut numbering = Numbering::new(2);
    let fates = fates(&groups[0], &mut numbering, &mut inquiry).unwrap();
    assert!(matches!(fates[0], Some(Fate::Lost { known, absent }) if known.op_id == 0 && absent.op_id == 1));
}

#[test]
fn what_is_missing_names_the_first_operation() {
    let missing = |text: &str| Set::new().missing(&history(text).unwrap());
    assert_eq!(missing("c1 add s 1 [0..1]\nc1 read s -> [1] [2..3]"), Vec::<String>::new());
    assert_eq!(missing("c1 put s 1 [0..1]"), ["op_type `add` does not occur; operation 0 is `put`"]);
    assert_eq!(missing("c1 add s 1 [0..1]"), ["no completed read of \"s\" (first operation 0)"]);
    assert_eq!(
        missing("c1 add s 1 [0..1]\nc1 read s -> 1 [2..3]"),
        ["operation 1: a read of a set answers the list of its elements, not 1"]
    );
}
