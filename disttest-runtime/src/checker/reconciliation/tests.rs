use super::*;
use crate::base::rng::Rng;
use crate::checker::{Outcome, Unlimited};
use crate::history::notation::history;
use serde_json::json;

const SETTLE: Duration = Duration::from_nanos(100);

fn said(answer: Answer) -> String {
    match answer.outcome {
        Outcome::Valid => "valid".to_owned(),
        Outcome::Invalid { violations } => format!("{:?} {}", violations[0].ops, violations[0].explanation),
        Outcome::Unknown { why } => why,
    }
}

fn same(said: &str, expect: &str, of: &str) {
    assert!(if expect == "valid" { said == expect } else { said.contains(expect) }, "{said}, not {expect}, of {of}");
}

fn check(text: &str, expect: &str) {
    let checker = ReconciliationAcrossReplicas::of_reads(["n1", "n2"], SETTLE);
    same(&said(checker.check(&history(text).expect("a history"), &Unlimited)), expect, text);
}

/// What n1 and n2 show of `x` at once, and again later.
fn shown(n1: [&str; 2], n2: [&str; 2]) -> String {
    format!(
        "c1 write x 1 [0..5]\nc2 read x -> {} [10..11] @n1\nc2 read x -> {} [10..11] @n2\n\
         c2 read x -> {} [200..201] @n1\nc2 read x -> {} [200..201] @n2",
        n1[0], n2[0], n1[1], n2[1]
    )
}

#[test]
fn replicas_that_settled_are_compared() {
    check(&shown(["1", "1"], ["1", "1"]), "valid");
    check(&shown(["1", "1"], ["2", "2"]), "[3, 4] Replicas had settled");
    check(&shown(["1", "1"], ["2", "2"]), "n1 and n2 differ on \"x\": n1 shows 1 (read 3), n2 shows 2 (read 4)");
    check(&shown(["1", "1"], ["null", "null"]), "n2 shows null");
    let view = |member: &str| format!("{{\"a\":1,\"b\":[1,{member}]}}");
    let (one, two) = (view("2"), view("3"));
    check(&shown([&one, &one], [&two, &two]), "differ on \"x\" at /b/1 (2 and 3)");
    let views = shown([&one, &one], [&one, &one]).replace("read x", "view -").replace("write x 1", "join -");
    check(&views, "valid");
}

#[test]
fn replicas_that_still_change_are_not_compared() {
    check(
        &shown(["1", "1"], ["0", "1"]),
        "replica n2 has not converged on \"x\": it showed 0 (read 2), and then 1 (read 4)",
    );
    check(&shown(["1", "1"], ["0", "2"]), "has not converged");
    let short = shown(["1", "1"], ["2", "2"]).replace("200..201", "110..111");
    check(&short, "it was not asked twice, 0 ms apart");
    check(&short.replace("110..111", "111..112"), "differ on");
    check("c1 write x 1 [0..5]\nc2 read x -> 1 [10..11] @n1\nc2 read x -> 2 [10..11] @n2", "it was not asked twice");
    // One in between disagrees.
    let between = format!("{}\nc3 read x -> 7 [50..51] @n2", shown(["1", "1"], ["1", "1"]));
    check(&between, "it showed 7 (read 5), and then 1");
    // Each settled, one after the other: what was written late may have landed between.
    let apart = shown(["1", "1"], ["2", "2"])
        .replace("[10..11] @n2", "[300..301] @n2")
        .replace("[200..201] @n2", "[500..501] @n2");
    check(&apart, "n2 and n1 were not looked at during the same time");
    // A write that ends later makes the first reads no evidence.
    check(&shown(["1", "1"], ["2", "2"]).replace("[0..5]", "[0..10]"), "it was not asked twice");
    check(
        &shown(["1", "1"], ["2", "2"]).replace("[0..5]", "[300..]"),
        "none of 5 operations".trim_start_matches("none of 5 operations"),
    );
    check(&shown(["1", "1"], ["2", "2"]).replace("[0..5]", "[300..]"), "no state was read after everything else");
}

#[test]
fn a_replica_that_is_missing_is_unknown() {
    let text = shown(["1", "1"], ["1", "1"]);
    check(&text.replace("@n2", "@n1"), "replica n2 was not asked for \"x\"");
    check(&text.replace("@n2", ""), "read 2 does not say which replica");
    check(&format!("{text}\nc3 read x -> 1 [50..51] @n3"), "replica n3 answered and is not declared");
    check(&format!("{text}\nc3 read y -> 1 [50..51] @n1\nc3 read y -> 1 [250..251] @n1"), "n2 was not asked for \"y\"");
    check("", "the history is empty");
    check("c1 write x 1 [0..]", "none of 1 operations");
    let check = |checker: ReconciliationAcrossReplicas, expect: &str| {
        same(&said(checker.check(&history(&text).expect("a history"), &Unlimited)), expect, "misuse");
    };
    check(ReconciliationAcrossReplicas::of_reads(["n1"], SETTLE), "fewer than two replicas");
    check(ReconciliationAcrossReplicas::of_reads(["n1", "n1"], SETTLE), "fewer than two replicas");
    check(ReconciliationAcrossReplicas::of_reads(["n1", "n2"], Duration::ZERO), "no time to settle");
    let missing = ReconciliationAcrossReplicas::of_reads(["n1", "n2"], SETTLE);
    let missing = missing.missing(&history(&text.replace("@n2", "")).expect("a history"));
    assert_eq!(missing, ["operation 2 and 2 in all: node_seen is missing"]);
}

fn snapshot(replica: &str, at: u64, state: Value) -> Snapshot {
    let Value::Object(state) = state else { panic!("a state is an object") };
    Snapshot { replica: replica.to_owned(), from: Nanos(at), to: Nanos(at + 1), state: state.into_iter().collect() }
}

#[test]
fn states_may_be_handed_in() {
    let check = |n1: Value, n2: Value, later: u64, expect: &str| {
        let of = |at| [snapshot("n1", at, n1.clone()), snapshot("n2", at, n2.clone())];
        let snapshots = of(10).into_iter().chain(of(later)).collect();
        let checker = ReconciliationAcrossReplicas::of_snapshots(["n1", "n2"], SETTLE, snapshots);
        let answer = checker.check(&history("c1 write x 1 [0..5]").expect("a history"), &Unlimited);
        assert_eq!(answer.evidence.consumed, 0);
        same(&said(answer), expect, "snapshots");
    };
    check(json!({"a": 1}), json!({"a": 1}), 200, "valid");
    check(json!({"a": 1, "b": 2}), json!({"a": 1, "b": 3}), 200, "n1 and n2 differ on \"b\"");
    check(json!({"a": 1, "b": null}), json!({"a": 1}), 200, "n1 shows null, n2 shows nothing");
    check(json!({"a": 1}), json!({"a": 2}), 50, "not asked twice");
    check(json!({}), json!({}), 200, "no state was read");
}

/// Every pair of replicas, without sorting: whether replicas settled at a common time, and whether they agree.
fn slow(reads: &[(u64, usize, i64)], replicas: usize) -> Option<bool> {
    let mut last = Vec::new();
    for replica in 0..replicas {
        let of: Vec<&(u64, usize, i64)> = reads.iter().filter(|(_, it, _)| *it == replica).collect();
        let (end, _, value) = of.iter().max_by_key(|(at, ..)| *at)?;
        let agrees = |from: u64| of.iter().all(|(at, _, seen)| *at < from || seen == value);
        let since = of.iter().map(|(at, ..)| *at).filter(|at| agrees(*at)).min()? + 1;
        if since + 100 > *end {
            return None;
        }
        last.push((since, *end, *value));
    }
    let pairs = || last.iter().flat_map(|a| last.iter().map(move |b| (a, b)));
    pairs().all(|(a, b)| a.0 <= b.1).then(|| pairs().all(|(a, b)| a.2 == b.2))
}

#[test]
fn it_agrees_with_comparing_every_pair() {
    let mut counts = [0; 3];
    for seed in 0..4_000 {
        let mut rng = Rng::new(seed);
        let mut text = "c9 write x 0 [0..1]\n".to_owned();
        let mut reads = Vec::new();
        for n in 0..2 + rng.below(16) {
            let (at, replica) = (5 + n * 40 + rng.below(30), rng.below(2) as usize);
            let value = i64::from(rng.chance(1, 9))
                + if rng.chance(1, 2) { 0 } else { replica as i64 * i64::from(seed % 2 == 0) };
            text.push_str(&format!("c1 read x -> {value} [{at}..{}] @n{}\n", at + 1, replica + 1));
            reads.push((at, replica, value));
        }
        let checker = ReconciliationAcrossReplicas::of_reads(["n1", "n2"], SETTLE);
        let answer = checker.check(&history(&text).expect("a history"), &Unlimited);
        let (got, at) = match answer.outcome {
            Outcome::Valid => (Some(true), 0),
            Outcome::Invalid { .. } => (Some(false), 1),
            Outcome::Unknown { .. } => (None, 2),
        };
        assert_eq!(got, slow(&reads, 2), "{seed}\n{text}");
        counts[at] += 1;
    }
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
}
