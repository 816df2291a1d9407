use super::*;
use crate::base::rng::Rng;
use crate::checker::{Outcome, Unlimited};
use crate::history::notation::history;
use serde_json::json;

/// A register that remembers.
fn register() -> Differential<Value> {
    Differential::against("the reference", Value::Null, |state, op| match op.op_type.as_str() {
        "write" => {
            *state = op.input.clone();
            Ok(json!("OK"))
        }
        "read" => Ok(state.clone()),
        other => Err(format!("`{other}`")),
    })
}

fn check(differential: &Differential<Value>, text: &str, expect: &str) {
    let answer = differential.check(&history(text).expect("a history"), &Unlimited);
    let said = match answer.outcome {
        Outcome::Valid => "valid".to_owned(),
        Outcome::Invalid { violations } => {
            violations.iter().map(|v| v.explanation.clone()).collect::<Vec<_>>().join("\n")
        }
        Outcome::Unknown { why } => why,
    };
    assert!(if expect == "valid" { said == expect } else { said.contains(expect) }, "{said}, not {expect}, of {text}");
}

#[test]
fn both_answer_the_same_or_the_first_difference_is_told() {
    let write = "c1 write x 1 -> OK [0..1]\n";
    check(&register(), &format!("{write}c2 read x -> 1 [2..3]"), "valid");
    check(
        &register(),
        &format!("{write}c2 read x -> 2 [2..3]\nc2 read x -> 3 [4..5]"),
        "operation 1 on key \"x\" was answered `c2 read x -> 2`, and the reference answers 1 after the same 1 operations",
    );
    check(&register(), &format!("{write}c2 read y -> 1 [0..1]"), "operation 1 on key \"y\"");
    check(&register().whole(), &format!("{write}c2 read y -> 1 [2..3]"), "valid");
    check(&register(), &format!("{write}c2 write x 7 !no [2..3]\nc2 read x -> 1 [4..5]"), "valid");
    check(&register(), "c1 swap x 1 -> 2 [0..1]", "operation 0 is not understood by the reference");
}

#[test]
fn without_an_order_nothing_is_compared() {
    check(&register(), "c1 write x 1 -> OK [0..5]\nc2 read x -> 9 [3..7]", "operations 0 and 1 overlap");
    check(&register(), "c1 write x 1 -> OK [0..5]\nc2 read x -> 9 [5..7]", "operations 0 and 1 overlap");
    check(
        &register(),
        "c1 write x 1 -> OK [0..1]\nc1 write x 2 [2..]\nc2 read x -> 1 [3..7]",
        "operations 1 and 2 overlap",
    );
    check(&register(), "c1 write x 1 -> OK [0..1]\nc1 write x 2 [2..]", "valid");
    check(&register(), "c1 write x 1 -> OK [0..5]\nc2 read y -> null [3..7]", "valid");
    check(
        &register().whole(),
        "c1 write x 1 -> OK [0..5]\nc2 read y -> null [3..7]",
        "the whole history: operations 0 and 1",
    );
    // What came before the order was lost stands.
    check(
        &register(),
        "c1 read x -> 9 [0..1]\nc1 write x 1 -> OK [2..5]\nc2 read x -> 1 [3..7]",
        "operation 0 on key \"x\"",
    );
    check(&register(), "", "the history is empty");
    check(&register(), "c1 write x 1 [0..]", "none of 1 operations");
}

#[test]
fn a_difference_is_allowed_for_a_reason_or_not_at_all() {
    let text = "c1 write x 1 -> done [0..1]\nc2 read x -> 1 [2..3]";
    let says_done = |op: &Op, _: &Value| op.output == json!("done");
    check(&register(), text, "the reference answers \"OK\"");
    check(&register().allow("this one says done", says_done), text, "valid");
    check(&register().allow(" ", says_done), text, "allowed difference 1 has no reason");
    let declared = register().allow("this one says done", says_done).cannot_detect();
    assert!(declared.contains(&"what is allowed: this one says done".to_owned()), "{declared:?}");
}

#[test]
fn a_planted_difference_is_found() {
    for seed in 0..2_000 {
        let mut rng = Rng::new(seed);
        let (mut values, mut lines) = (BTreeMap::new(), Vec::new());
        for n in 0..1 + rng.below(20) {
            let key = rng.below(3);
            lines.push(if rng.chance(1, 2) {
                values.insert(key, n);
                format!("c1 write k{key} {n} -> OK [{0}..{0}]", n * 2)
            } else {
                let read = values.get(&key).map_or("null".to_owned(), u64::to_string);
                format!("c1 read k{key} -> {read} [{0}..{0}]", n * 2)
            });
        }
        check(&register(), &lines.join("\n"), "valid");
        let at = rng.below(lines.len() as u64) as usize;
        let (head, rest) = lines[at].split_once("-> ").expect("an answer");
        lines[at] = format!("{head}-> 999 {}", rest.split_once(' ').expect("times").1);
        check(&register(), &lines.join("\n"), &format!("operation {at} on key"));
    }
}

#[test]
fn any_two_functions_can_be_compared() {
    let inputs: Vec<u32> = (0..100).collect();
    let squares = |n: &u32| n * n;
    let sums = |n: &u32| (0..*n).map(|k| 2 * k + 1).sum::<u32>();
    assert_eq!(compare(&inputs, squares, sums, |_, _, _| None), Compared { inputs: 100, allowed: 0, first: None });
    let off = |n: &u32| n * n + u32::from(*n >= 7);
    let found = compare(&inputs, squares, off, |_, _, _| None).first.expect("a difference");
    assert_eq!((found.at, found.input, found.one, found.other), (7, 7, 49, 50));
    let allowed = compare(&inputs, squares, off, |n, _, _| (*n < 9).then_some("known before 9"));
    assert_eq!((allowed.allowed, allowed.first.expect("a difference").at), (2, 9));
    assert_eq!(compare(&inputs, squares, off, |_, _, _| Some("")).allowed, 0);
}
