//! Small histories and what weak levels say of them.

use crate::checker::isolation::{IsolationAnswer, KeyOrder, Level, Options, check};
use crate::checker::{Limits, Outcome, Unlimited};
use crate::txn::notation::txns;

/// The answer to `history`, of registers of which nothing is assumed or, with `la` before the level, of lists.
fn answer(level: &str, history: &str) -> IsolationAnswer {
    let (options, level) = match level.strip_prefix("la ") {
        Some(level) => (Options::list_append(), level),
        None => (Options::register(KeyOrder::default()), level),
    };
    check(&txns(history).expect(history), &options.at(Level::named(level).expect(level)), &Unlimited)
}

/// What each of several levels, weaker ones first, comes to.
fn levels(levels: &[&str], history: &str, expect: &[&str]) {
    for (level, expect) in levels.iter().zip(expect) {
        let answer = answer(level, history);
        let found = match &answer.outcome {
            Outcome::Valid => "valid".to_owned(),
            Outcome::Invalid { .. } => answer.kinds().join(" "),
            Outcome::Unknown { .. } => "unknown".to_owned(),
        };
        assert_eq!(found, *expect, "{level}: {history}");
    }
}

const OF_REGISTERS: [&str; 5] = ["read-committed", "monotonic-atomic-view", "read-atomic", "causal-cerone", "causal"];
const OF_LISTS: [&str; 5] =
    ["la read-committed", "la monotonic-atomic-view", "la read-atomic", "la causal-cerone", "la causal"];

fn check_registers(history: &str, expect: [&str; 5]) {
    levels(&OF_REGISTERS, history, &expect);
}

fn check_lists(history: &str, expect: [&str; 5]) {
    levels(&OF_LISTS, history, &expect);
}

#[test]
fn registers() {
    check_registers("T1 wx1 wy1 | T2 rx1 ry1", ["valid"; 5]);
    // It saw y, then x as it was before.
    let vanished = "T1 wx1 wy1 | T2 ry1 rx.";
    check_registers(vanished, ["valid", "OTV", "OTV", "OTV", "OTV"]);
    // It saw x as it was before, then y.
    let fractured = "T1 wx1 wy1 | T2 rx. ry1";
    check_registers(fractured, ["valid", "valid", "fractured-read", "fractured-read", "fractured-read"]);
    let between = "T1 wx1 | T2 rx1 wx2 wy2 | T3 rx1 ry2";
    check_registers(between, ["valid", "valid", "fractured-read", "fractured-read", "fractured-read"]);
    // Without anything between the writers either order will do, but not both.
    check_registers("T1 wx1 | T2 wx2 wy2 | T3 rx1 ry2", ["valid"; 5]);
    let both = "T1 wx1 wz1 | T2 wx2 wy2 | T3 rx1 ry2 | T4 rx2 rz1";
    check_registers(both, ["valid", "valid", "fractured-read", "fractured-read", "fractured-read"]);
    // The answer to a question is seen without the question.
    let causal = "T1 wx1 | T2 rx1 wy1 | T3 ry1 rx.";
    check_registers(causal, ["valid", "valid", "valid", "causality-violation", "causality-violation"]);
    // A session does not see what it did.
    let forgot = "T1 wx1 | T1 rx. | T2 rx1";
    check_registers(forgot, ["valid", "valid", "valid", "valid", "session-causality-violation"]);
    let back = "T1 wx1 | T2 rx1 | T2 rx.";
    check_registers(back, ["valid", "valid", "valid", "valid", "session-causality-violation"]);
    // Two sessions that see two writes in different orders.
    let apart = "T1 wx1 | T2 wx2 | T3 rx1 | T3 rx2 | T4 rx2 | T4 rx1";
    check_registers(apart, ["valid", "valid", "valid", "valid", "session-causality-violation"]);
    // A session that reads what a later transaction of it wrote.
    let circle = "1( rx_ | 2( ry_ | 1) rx2 | 2) ry1 | 1( wy1 | 2( wx2 | 1) wy1 | 2) wx2";
    check_registers(circle, ["valid", "valid", "valid", "valid", "session-causality-violation"]);
    // Long fork: not snapshot isolation, but causal.
    check_registers("T1 wx1 | T2 wy1 | T3 rx1 ry. | T4 rx. ry1", ["valid"; 5]);
    // Lost update and write skew too.
    check_registers("T1 wx0 | T2 rx0 wx1 | T3 rx0 wx2 | T4 rx2", ["valid"; 5]);
}

#[test]
fn what_elle_names_keeps_its_name() {
    check_registers("T1! wx1 | T2 rx1 wy2 | T3 ry2", ["G1a"; 5]);
    check_registers("T1 wx1 wx2 | T2 rx1 wy2 | T3 ry2", ["G1b"; 5]);
    check_registers("1( wx1 ry_ | 2( wy1 rx_ | 1) wx1 ry1 | 2) wy1 rx1", ["G1c"; 5]);
    check_registers("T1 wx1 rx2 | T2 wx2 wy1 | T3 ry1", ["valid", "valid", "internal", "internal", "internal"]);
    check_lists("T1 ax1 ay1 | T2 ax2 ay2 | T3 rx[1,2] ry[2,1]", ["G0"; 5]);
    check_lists("T1 ax1 | T2 ax2 | T3 rx[1] | T4 rx[1,2] | T5 rx[2]", ["incompatible-order"; 5]);
    // Read a second time only: the circle is one all the same.
    let again = "T1 wx0 | 2( rx_ rx_ wy2 | 3( ry_ wx3 | 2) rx0 rx3 wy2 | 3) ry2 wx3";
    check_registers(again, ["G1c", "G1c", "G1c internal", "G1c internal", "G1c internal"]);
}

#[test]
fn lists() {
    check_lists("T1 ax1 ay1 | T2 rx[1] ry[1]", ["valid"; 5]);
    check_lists("T1 ax1 ay1 | T2 ry[1] rx.", ["valid", "OTV", "OTV", "OTV", "OTV"]);
    let fractured = "T1 ax1 | T2 ax2 ay2 | T3 rx[1] ry[2] | T4 rx[1,2]";
    check_lists(fractured, ["valid", "valid", "fractured-read", "fractured-read", "fractured-read"]);
    // The other order of appends explains the same reads.
    check_lists("T1 ax1 | T2 ax2 ay2 | T3 rx[2] ry[2] | T4 rx[2,1]", ["valid"; 5]);
    // What it appended itself stands on top of what it saw: this one saw nothing of x below.
    check_lists("T1 ax1 ay1 | T2 ax2 rx[2] ry[1]", ["G1c"; 5]);
    let own = "T1 ax1 | T2 ax2 ay2 | T3 ax3 rx[1,3] ry[2]";
    check_lists(own, ["G1c"; 5]);
    check_lists("T1 ax1 ay1 | T2 ax2 rx[1,2] ry[1]", ["valid"; 5]);
    let causal = "T1 ax1 | T2 rx[1] ay1 | T3 ry[1] rx.";
    check_lists(causal, ["valid", "valid", "valid", "causality-violation", "causality-violation"]);
    check_lists("T1 ax1 | T1 rx. | T2 rx[1]", ["valid", "valid", "valid", "valid", "session-causality-violation"]);
}

#[test]
fn transactions_of_unknown_outcome_count_with_what_was_seen_of_them() {
    let seen = "T1? wx1 wy1 | T2 ry1 rx.";
    check_registers(seen, ["valid", "OTV", "OTV", "OTV", "OTV"]);
    check_registers("T1? wx1 wy1 | T2 ry. rx. | T3 wz1 | T4 rz1", ["valid"; 5]);
    // What one of them read says nothing; what its session did before comes before it.
    check_registers("T1 wx1 | T2? wy1 rx9 | T3 ry1 rx.", ["valid"; 5]);
    let before = "T1 wx1 | T1? wy1 | T3 ry1 rx.";
    check_registers(before, ["valid", "valid", "valid", "valid", "session-causality-violation"]);
    check_registers("1( wx1 wy1 | T2 ry1 rx.", ["valid", "OTV", "OTV", "OTV", "OTV"]);
    check_registers("T1! wx1 wy1 | T2 rx. | T3 wz1 | T4 rz1", ["valid"; 5]);
}

#[test]
fn what_says_nothing_is_unknown() {
    check_registers("", ["unknown"; 5]);
    check_lists("", ["unknown"; 5]);
    check_registers("T1 wx1", ["unknown"; 5]);
    check_registers("T1 wx1 | T1 ry.", ["unknown"; 5]);
    check_registers("T1 wx1 | T2 wx1 | T3 rx1", ["unknown"; 5]);
    check_registers("T1! wx1 | T2 wx1 | T3 rx1", ["unknown"; 5]);
    check_lists("T1 ax1 | T2 ax1 | T3 rx[1]", ["unknown"; 5]);
    check_registers("T1? wx1 rx7", ["unknown"; 5]);
}

#[test]
fn levels_of_single_operations_mean_those_of_transactions_or_are_not_decided() {
    let skew = "1( rx_ wy1 | 2( ry_ wx1 | 1) rx. wy1 | 2) ry. wx1 | T3 rx1";
    levels(&["sequential", "linearizable", "1SR", "session-serializable"], skew, &["G2-item"; 4]);
    let stale = "T1 wx1 | T2 rx1 | T3 rx.";
    levels(&["causal", "sequential", "linearizable"], stale, &["valid", "valid", "G-single-item-realtime"]);
    let fine = "T1 wx1 | T2 rx1";
    levels(&["PRAM", "monotonic-reads", "view-serializable", "la PRAM"], fine, &["unknown"; 4]);
    levels(&["sequential", "linearizable", "update-atomic", "PSI", "prefix"], fine, &["valid"; 5]);
    let causal = "T1 wx1 | T2 rx1 wy1 | T3 ry1 rx.";
    levels(&["update-atomic", "PSI", "prefix"], causal, &["valid", "causality-violation", "causality-violation"]);
}

#[test]
fn a_contradiction_is_told_as_an_argument() {
    let apart = answer("causal", "T1 wx1 | T2 wx2 | T3 rx1 | T3 rx2 wz1 | T4 rx2 | T4 wy4 | T5 ry4 rx1");
    assert_eq!(apart.kinds(), ["session-causality-violation"]);
    let anomaly = &apart.anomalies[0];
    assert_eq!(
        (anomaly.key.as_deref(), &anomaly.ops[..]),
        (Some("\"x\""), &[1, 3, 5, 7, 9, 11, 13][..]),
        "{anomaly:?}"
    );
    assert_eq!(
        anomaly.explanation,
        "Let T1 = transaction 1 of process 1 (w \"x\" 1); T2 = transaction 3 of process 2 (w \"x\" 2); T3 = transaction 5 of \
         process 3 (r \"x\" 1); T4 = transaction 7 of process 3 (r \"x\" 2, w \"z\" 1); T5 = transaction 9 of process 4 (r \
         \"x\" 2); T6 = transaction 11 of process 4 (w \"y\" 4); T7 = transaction 13 of process 5 (r \"y\" 4, r \"x\" 1). Then \
         T1 < T2, because T4 read key \"x\" as 2, which T2 wrote, and T1 had written that key and was visible: T3 read key \
         \"x\" as 1, which T1 wrote, and process 3 ran T3 before T4; however, T2 < T1, because T7 read key \"x\" as 1, which \
         T1 wrote, and T2 had written that key and was visible: T5 read key \"x\" as 2, which T2 wrote, and process 4 ran T5 \
         before T6, and T7 read key \"y\" as 4, which T6 wrote: a contradiction."
    );
    assert_eq!(apart.not, ["causal", "strong-session-snapshot-isolation"]);
    let vanished = answer("read-atomic", "T1 wx1 wy1 | T2 ry1 rx.");
    assert_eq!(
        vanished.anomalies[0].explanation,
        "Let T1 = transaction 3 of process 2 (r \"y\" 1, r \"x\" nil); T2 = transaction 1 of process 1 (w \"x\" 1, w \"y\" 1). \
         Then T1 < T2, because T1 read key \"x\" in its initial state, before T2 wrote it; however, T2 < T1, because T1 read \
         key \"y\" as 1, which T2 wrote: a contradiction."
    );
}

#[test]
fn limits_leave_the_answer_unknown() {
    struct Spent;
    impl Limits for Spent {
        fn exceeded(&self, _bytes: u64) -> Option<String> {
            Some("its limit of 1 step".to_owned())
        }
    }
    let history = txns("T1 wx1 | T2 rx1").expect("a history");
    let options = Options::register(KeyOrder::default()).at(Level::named("causal").expect("a level"));
    assert!(matches!(check(&history, &options, &Spent).outcome, Outcome::Unknown { .. }));
}
