//! Small histories and what they show.

use super::super::*;
use crate::checker::Unlimited;
use crate::txn::notation::txns;

/// Options in words: `la` or `rw`, assumptions of keys (`wfr`, `seq`, `lin`, `versions`), a consistency model.
fn options(words: &str) -> Options {
    let mut assumed = KeyOrder::default();
    let (mut levels, mut is_list, mut by_value) = (Vec::new(), true, false);
    for word in words.split_whitespace() {
        match word {
            "la" => is_list = true,
            "rw" => is_list = false,
            "wfr" => assumed.writes_follow_reads = true,
            "seq" => assumed.sequential = true,
            "lin" => assumed.linearizable = true,
            "versions" => by_value = true,
            level => levels.push(Level::named(level).expect(level)),
        }
    }
    let mut options = if is_list { Options::list_append() } else { Options::register(assumed) };
    if by_value {
        options.model = Model::Register(VersionOrder::Values);
    }
    if !levels.is_empty() {
        options.levels = levels;
    }
    options
}

fn check(words: &str, history: &str, expect: &str) {
    let answer = super::super::check(&txns(history).expect(history), &options(words), &Unlimited);
    let found = match &answer.outcome {
        Outcome::Valid => "valid".to_owned(),
        Outcome::Invalid { .. } => answer.kinds().join(" "),
        Outcome::Unknown { why } => format!("unknown: {why}"),
    };
    assert!(
        found == expect || (expect == "unknown" && found.starts_with("unknown")),
        "{words}: {history}: {found}, expected {expect}"
    );
}

#[test]
fn lists_that_are_fine() {
    check("la", "T1 ax1 | T2 rx[1]", "valid");
    check("la", "T1 rx. | T2 ax1 ay1 | T3 rx[1] ry[1] ax2 | T1 rx[1,2]", "valid");
    // Of unknown outcome: seen, or not.
    check("la", "T1? ax1 ay1 | T2 rx[1] ry[1]", "valid");
    check("la", "T1? ax1 ay1 | T2 rx. ry.", "valid");
    check("la", "1( ax1 ay1 | T2 rx[1] ry[1]", "valid");
    // What a failed transaction read, or one of unknown outcome, says nothing.
    check("la", "T1 ax1 | T2! rx[7] | T3? rx[8] | T4 rx[1]", "valid");
    // Concurrent: either order.
    check("la", "1( ax1 | 2( rx_ | 2) rx. | 1) ax1", "valid");
    check("la", "1( ax1 | 2( rx_ | 2) rx[1] | 1) ax1", "valid");
    check("la", "T1 ax1 rx[1] ax2 rx[1,2]", "unknown");
    check("la", "T1 ax1 rx[1] ax2 rx[1,2] | T2 rx[1,2]", "valid");
}

#[test]
fn lists_that_show_an_anomaly() {
    let lost = "1( rx_ ax1 | 2( rx_ ax2 | 1) rx. ax1 | 2) rx. ax2 | T3 rx[1,2]";
    check("la", lost, "G-single-item lost-update");
    check("la read-committed", lost, "valid");
    check("la snapshot-isolation", lost, "G-single-item lost-update");
    let skew = "1( rx_ ay1 | 2( ry_ ax1 | 1) rx. ay1 | 2) ry. ax1";
    check("la", skew, "G2-item");
    check("la snapshot-isolation", skew, "valid");
    check("la repeatable-read", skew, "G2-item");
    check("la read-uncommitted", "T1 ax1 ay1 | T2 ax2 ay2 | T3 rx[1,2] ry[2,1]", "G0");
    check("la read-committed", "1( ax1 ry_ | 2( ay1 rx_ | 1) ax1 ry[1] | 2) ay1 rx[1]", "G1c");
    check("la read-committed", "T1! ax1 | T2 rx[1] ay1", "G1a empty-transaction-graph");
    check("la read-committed", "T1 ax1 ax2 | T2 rx[1]", "G1b");
    check("la read-committed", "T1! ax1 | T2 ax2 | T3 rx[1,2]", "G1a dirty-update");
    check("la read-atomic", "T1 ax1 | T2 rx[1] ax2 rx[1]", "internal");
    check("la read-committed", "T1 rx[1] ax1 | T2 ry.", "empty-transaction-graph future-read");
    check("la read-committed", "T1 ax1 | T2 ax2 | T3 ax3 | T4 rx[1,2] | T5 rx[1,3]", "incompatible-order");
    check("la read-uncommitted", "T1 ax1 | T2 rx[1,1]", "duplicate-elements");
    check("la read-committed", "T1 ax1 | T2 rx[1,9]", "empty-transaction-graph unwritten-element");
    let stale = "T1 ax1 | T2 ax2 | T3 rx[1] | T4 rx[1,2]";
    check("la", stale, "G-single-item-realtime");
    check("la serializable", stale, "valid");
    let stale_session = "T1 ax1 | T1 rx. | T2 rx[1]";
    check("la strong-session-serializable", stale_session, "G-single-item-process");
    check("la", stale_session, "G-single-item-realtime");
    let long_fork = "1( ax1 | 2( ay1 | 3( rx_ ry_ | 4( rx_ ry_ | 1) ax1 | 2) ay1 | 3) rx[1] ry. | 4) rx. ry[1]";
    check("la", long_fork, "G-nonadjacent-item");
    check("la snapshot-isolation", long_fork, "G-nonadjacent-item");
    check("la consistent-view", long_fork, "valid");
    // A crashed transaction that was seen took place as a whole.
    check("la", "T1? ax1 ay1 | T2 rx[1] ry.", "G-single-item");
    // It can be late, but not before it began.
    check("la", "T2 rx[1] | T1? ax1", "G1c-realtime");
}

#[test]
fn registers() {
    check("rw", "T1 wx1 | T2 rx1", "valid");
    check("rw", "T1 wx1 | T2 rx.", "G-single-item-realtime");
    check("rw serializable", "T1 wx1 | T2 rx.", "valid");
    check("rw serializable", "T1 wx1 wy1 | T2 rx1 ry.", "G-single-item");
    check("rw read-committed", "T1 wx1 ry1 | T2 wy1 rx1", "G1c");
    check("rw read-committed", "T1! wx1 | T2 rx1", "G1a empty-transaction-graph");
    check("rw read-committed", "T1 wx1 wx2 | T2 rx1", "G1b empty-transaction-graph");
    check("rw read-atomic", "T1 wx1 rx2 | T2 wx2 wy1 | T3 ry1", "internal");
    check("rw", "1( rx_ wx1 | 2( rx_ wx2 | 1) rx. wx1 | 2) rx. wx2", "G2-item lost-update");
    // Values that nobody wrote were there before.
    check("rw", "T1 rx7 | T2 wx1", "valid");
    // But only one of them, and not when there was nothing.
    check("rw read-committed", "T1 rx7 | T2 rx8", "empty-transaction-graph unwritten-value");
    check("rw read-committed", "T1 rx. | T2 wy1 | T3 ry1 | T4 rx7", "unwritten-value");
    check("rw seq", "T1 wx1 | T1 wx2 | T1 rx1", "cyclic-versions");
}

#[test]
fn what_is_assumed_of_registers_orders_their_versions() {
    let stale = "T1 wx1 | T2 wx2 | T3 rx1";
    check("rw serializable lin", stale, "cyclic-versions");
    check("rw serializable", stale, "valid");
    let torn = "T1 wx1 | T2 rx1 wx2 wy1 | T3 rx1 ry1";
    check("rw serializable", torn, "valid");
    check("rw serializable wfr", torn, "G-single-item");
    check("rw serializable versions", torn, "G-single-item");
    check("rw serializable versions", "T1 wx1 wy2 | T2 wx2 wy1 | T3 rx2 ry2", "G0");
    check("rw serializable versions", "T1 wx1 | T2 wx3 | T3 rx3 | T4 rx1", "valid");
    check("rw versions", "T1 wx1 | T2 wx3 | T3 rx3 | T4 rx1", "G-single-item-realtime");
    // A version that nobody wrote has its place too.
    check("rw versions", "T1 wx1 | T2 wx3 | T3 rx3 | T4 rx2", "G-single-item-realtime");
}

#[test]
fn what_says_nothing_is_unknown() {
    check("la", "", "unknown: the history is empty");
    check("la", "1( ax1", "unknown: no transaction depends on another, so that nothing could have gone wrong");
    check(
        "la",
        "T1 ax1 | T2 ax2",
        "unknown: no committed transaction read anything: nothing could contradict any model",
    );
    check("la serializable", "T1 ax1 | T2 ry.", "unknown");
    check("la", "T1 wx1 | T2 rx1", "unknown");
    check("rw", "T1 ax1 | T2 rx[1]", "unknown");
    check("la", "T1 ax1 | T2 ax1 | T3 rx[1]", "unknown");
    check("la", "T1! ax1 | T2 ax1 | T3 rx[1]", "unknown");
    check("rw", "T1 wx1 | T2 wx1 | T3 rx1", "unknown");
    check("rw", "T1 wx1 | T2 wx1 | T3 ry.", "valid");
}

#[test]
fn limits_leave_the_answer_unknown_but_what_was_found_counts() {
    struct Spent;
    impl Limits for Spent {
        fn exceeded(&self, _bytes: u64) -> Option<String> {
            Some("its limit of 1 step".to_owned())
        }
    }
    let history = txns("T1! ax1 | T2 rx[1] | T3 ax2").expect("a history");
    let answer = super::super::check(&history, &options("la"), &Spent);
    assert!(matches!(answer.outcome, Outcome::Unknown { .. }), "{answer:?}");
    assert_eq!(answer.kinds(), ["cycle-search-timeout"]);
}

#[test]
fn a_cycle_is_told_as_an_argument() {
    let history = txns("1( rx_ ay1 | 2( ry_ ax1 | 1) rx. ay1 | 2) ry. ax1").expect("a history");
    let answer = super::super::check(&history, &options("la"), &Unlimited);
    assert_eq!(answer.anomalies.len(), 1);
    assert_eq!(answer.anomalies[0].ops, [2, 3]);
    assert_eq!(
        answer.anomalies[0].explanation,
        "Let T1 = transaction 2 of process 1 (r \"x\" nil, append \"y\" 1); T2 = transaction 3 of process 2 (r \"y\" nil, \
         append \"x\" 1). Then T1 < T2, because T1 read key \"x\" as empty, before T2 appended 1 to it (nobody read it, so it \
         comes after all that was read); however, T2 < T1, because T2 read key \"y\" as empty, before T1 appended 1 to it \
         (nobody read it, so it comes after all that was read): a contradiction."
    );
    assert_eq!(answer.not, ["repeatable-read"]);
}

/// Where each of many comes before each of many others the graph has a hub; witnesses name transactions all the same.
#[test]
fn cycles_through_hubs_are_found_and_told() {
    // Eighty read x as empty, eighty append to it, and two of them are a write skew.
    let many = |from: usize, verb: &str| -> String {
        (from..from + 80).map(|n| format!(" | T{n} {}", verb.replace('#', &n.to_string()))).collect()
    };
    let skew = format!("T1 rx. ay1 | T2 ax1 ry.{}{}", many(100, "rx."), many(200, "ax#"));
    let answer = super::super::check(&txns(&skew).expect("a history"), &options("la serializable"), &Unlimited);
    assert_eq!(answer.kinds(), ["G2-item"]);
    assert_eq!(answer.anomalies[0].ops.len(), 2);
    assert!(answer.anomalies[0].explanation.contains("read key \"x\" as empty"), "{:?}", answer.anomalies);

    // All appends completed before any of the reads began.
    let begin: String = (500..900).map(|n| format!(" | {n}( rx_")).collect();
    let end: String = (500..900).map(|n| format!(" | {n}) rx.")).collect();
    let appends: String = (0..400).map(|n| format!(" | {n}( ax{n}")).collect();
    let appended: String = (0..400).map(|n| format!(" | {n}) ax{n}")).collect();
    let stale = format!("{appends}{appended}{begin}{end}");
    let answer = super::super::check(&txns(&stale).expect("a history"), &options("la"), &Unlimited);
    assert_eq!(answer.kinds(), ["G-single-item-realtime"]);
    assert_eq!(answer.anomalies[0].ops.len(), 2);
    assert!(answer.anomalies[0].explanation.contains("was invoked"), "{:?}", answer.anomalies);
}

#[test]
fn what_one_transaction_appends_stays_in_its_order() {
    check("la read-committed", "T1 ax1 ax2 | T2 rx[2]", "incompatible-order");
    check("la read-committed", "T1 ax1 ax2 | T2 rx[2,1]", "G1b incompatible-order");
    check("la read-committed", "T1 ax1 ax2 | T2 rx[1,2]", "valid");
    check("la read-committed", "T1! ax1 ax2 | T3 ax3 | T2 rx[3]", "valid");
}
