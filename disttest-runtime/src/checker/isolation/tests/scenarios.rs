//! The checker of scenarios: transactions as operations of our own histories.

use crate::checker::{Checker, Outcome, Serializability, Unlimited};
use crate::history::notation::history;

fn check(text: &str, expect: &str) {
    let answer = Serializability::list_append().check(&history(text).expect("a history"), &Unlimited);
    let found = match &answer.outcome {
        Outcome::Valid => format!("valid, {} consumed", answer.evidence.consumed),
        Outcome::Invalid { violations } => {
            violations.iter().map(|found| format!("{} {:?}", found.anomaly, found.ops)).collect::<Vec<_>>().join("; ")
        }
        Outcome::Unknown { why } => format!("unknown: {why}"),
    };
    assert_eq!(found, expect, "{text}");
}

#[test]
fn transactions_of_a_scenario_are_judged_and_named_by_their_ids() {
    check(
        "#7 c1 txn - [[\"append\",\"x\",1]] -> [[\"append\",\"x\",1]] [0..5]\n\
         #8 c2 txn - [[\"r\",\"x\",null]] -> [[\"r\",\"x\",[1]]] [6..9]",
        "valid, 1 consumed",
    );
    check(
        "#7 c1 txn - [[\"append\",\"x\",1]] -> [[\"append\",\"x\",1]] [0..5]\n\
         #8 c2 txn - [[\"r\",\"x\",null]] -> [[\"r\",\"x\",null]] [6..9]",
        "G-single-item-realtime [8, 7]",
    );
    // At the same instant: concurrent.
    check(
        "#7 c1 txn - [[\"append\",\"x\",1]] -> [[\"append\",\"x\",1]] [0..5]\n\
         #8 c2 txn - [[\"r\",\"x\",null]] -> [[\"r\",\"x\",null]] [5..9]",
        "valid, 1 consumed",
    );
}

#[test]
fn operations_of_unknown_outcome_count_with_what_they_wrote_and_failed_ones_do_not() {
    check(
        "#1 c1 txn - [[\"append\",\"x\",1]] [0..]\n\
         #2 c1 txn - [[\"r\",\"x\",null]] -> [[\"r\",\"x\",[1]]] [6..9]\n\
         #3 c1 txn - [[\"r\",\"x\",null]] -> [[\"r\",\"x\",[1]]] [10..11]",
        "valid, 2 consumed",
    );
    check(
        "#1 c1 txn - [[\"append\",\"x\",1]] !aborted [0..5]\n\
         #2 c1 txn - [[\"r\",\"x\",null]] -> [[\"r\",\"x\",[1]]] [6..9]",
        "G1a [2, 1]",
    );
}

#[test]
fn what_is_no_transaction_is_named() {
    let ops = "#3 c1 read x -> 1 [0..5]\n#4 c1 txn - 5 [6..]";
    check(ops, "unknown: the history does not fit: operation 3: `read` is no `txn`");
    let missing = Serializability::list_append().missing(&history(ops).expect("a history"));
    assert_eq!(
        missing,
        [
            "operation 3 and 1 in all: `read` is no `txn`",
            "operation 4 and 1 in all: its input is no list of micro-operations",
        ]
    );
    check("", "unknown: the history is empty");
}
