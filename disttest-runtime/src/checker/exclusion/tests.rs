#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::base::rng::Rng;
use crate::base::time::Nanos;
use crate::checker::Outcome;
use crate::checker::reference::seeds;
use crate::history::notation::history;

fn check(checker: &Exclusion, text: &str, expect: &str) {
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

#[test]
fn locks_have_one_holder() {
    for (expect, text) in [
        ("valid", "c1 acquire x -> true [0..1]\nc1 release x [4..5]\nc2 acquire x -> true [2..6]"),
        // A release in flight may have happened at once; so may one of unknown outcome.
        ("valid", "c1 acquire x [0..1]\nc1 release x [4..9]\nc2 acquire x [2..4]\nc2 release x [5..6]"),
        ("valid", "c1 acquire x [0..1]\nc1 release x [4..]\nc2 acquire x [2..6]"),
        ("two-holders [0, 1]", "c1 acquire x [0..1]\nc2 acquire x [2..3]"),
        ("two-holders [0, 1]", "c1 acquire x [0..1]\nc2 acquire x [2..3]\nc1 release x [4..5]"),
        ("two-holders [0, 2]", "c1 lock x [0..1]\nc1 unlock x !refused [2..3]\nc2 lock x [4..5]\nc1 unlock x [6..7]"),
        ("valid", "c1 acquire x [0..1]\nc1 release x [3..4]\nc2 acquire x -> false [2..3]\nc2 acquire x [5..6]"),
        // A crashed acquire holds nothing; a crashed release may end what its holder gets later.
        ("unknown: no key", "c1 acquire x [0..]\nc2 acquire x [2..3]"),
        ("unknown: no key", "c1 acquire x [0..1]\nc1 release x [1..]\nc1 acquire x [3..4]\nc2 acquire x [5..6]"),
        ("unknown: no key", "c1 acquire x [0..1]\nc2 acquire y [2..3]"),
        ("unknown: no key", "c1 acquire x [0..1]\nc1 acquire x [2..3]"),
        ("unknown: the history is empty", ""),
    ] {
        check(&Exclusion::locks(), text, expect);
    }
    let nodes = Exclusion::locks().held_by(|op| op.node_seen.clone());
    check(&nodes, "c1 elect t1 [0..1] @a\nc2 elect t1 [2..3] @a", "unknown: no key");
    check(&nodes, "c1 elect t1 [0..1] @a\nc2 elect t1 [2..3] @b", "two-holders");
    check(&nodes, "c1 elect t1 [0..1] @a\nc2 elect t1 [2..3]", "unknown: the history does not say");
}

#[test]
fn leases_run_out_and_renewals_prolong_them() {
    let checker = Exclusion::leases(Duration::from_nanos(10), Duration::from_nanos(2));
    for (expect, text) in [
        ("two-holders [0, 1]", "c1 acquire x -> 10 [0..1]\nc2 acquire x -> 10 [6..7]"),
        // Sure until 8 only: the clocks may differ by 2.
        ("valid", "c1 acquire x -> 10 [0..1]\nc2 acquire x -> 10 [6..8]"),
        ("two-holders [0, 2]", "c1 acquire x -> 10 [0..1]\nc1 renew x -> 10 [5..6]\nc2 acquire x -> 10 [6..12]"),
        ("valid", "c1 acquire x -> 10 [0..1]\nc1 renew x [5..]\nc2 acquire x -> 10 [6..12]"),
        ("valid", "c1 acquire x -> 10 [0..1]\nc1 renew x -> null [5..6]\nc2 acquire x -> 10 [6..12]"),
        ("valid", "c1 acquire x -> 10 [0..1]\nc1 release x [3..4]\nc2 acquire x -> 10 [4..5]"),
        // A renewal after the lease may have run out is a new hold.
        ("two-holders [1, 2]", "c1 acquire x -> 10 [0..1]\nc1 renew x -> 10 [8..9]\nc2 acquire x -> 10 [6..10]"),
        ("unknown: no key", "c1 acquire x -> null [0..1]\nc2 acquire x -> 10 [2..3]"),
        ("unknown: no key", "c1 acquire x -> 10 [0..9]\nc2 acquire x -> 10 [8..9]"),
    ] {
        check(&checker, text, expect);
    }
}

#[test]
fn fencing_tokens_increase() {
    let grant = |client: u64, token: u64, span: &str| {
        format!("c{client} acquire x -> {{\"token\":{token}}} [{span}]\nc{client} release x [{span}]")
    };
    let check = |a: String, b: String, expect: &str| check(&Exclusion::locks(), &format!("{a}\n{b}"), expect);
    check(grant(1, 1, "0..1"), grant(2, 2, "2..3"), "valid");
    check(grant(1, 2, "0..1"), grant(2, 1, "2..3"), "fencing-token-went-back [0, 2]");
    check(grant(1, 1, "0..1"), grant(2, 1, "2..3"), "fencing-token-reused");
    check(grant(1, 2, "0..3"), grant(2, 1, "2..3"), "unknown: no key");
    let lacks = history("c1 acquire x -> {\"fence\":1} [0..1]\nc2 acquire x -> true [0..1]").unwrap();
    let missing = Exclusion::locks().fenced_by("/fence").missing(&lacks);
    assert_eq!(missing, ["operation 1 and 1 in all: the answer of a granted acquire has no number at \"/fence\""]);
}

/// Two holders at once at some instant (half instants included), by the definition of a sure hold.
fn slow(history: &History, lease: Option<u64>) -> bool {
    let ops = history.ops();
    let holders: std::collections::BTreeSet<(u64, &Option<String>)> =
        ops.iter().map(|op| (op.process_id, &op.key)).collect();
    // Instants are doubled, so that there is one between any two.
    let holds = |(holder, key): (u64, &Option<String>), instant: u64| {
        let own = || ops.iter().filter(|op| op.process_id == holder && op.key == *key);
        own().any(|grant| {
            let granted = match grant.op_type.as_str() {
                "acquire" => true,
                "renew" => lease.is_some(),
                _ => false,
            };
            let granted = granted && grant.effect() == Effect::Acknowledged && grant.output == true;
            let from = grant.complete_ts.map_or(u64::MAX, |at| at.0 * 2);
            let to = lease.map_or(u64::MAX, |lease| (grant.invoke_ts.0 + lease) * 2);
            let ended = own().any(|end| {
                end.op_type == "release"
                    && end.effect() != Effect::Failed
                    && end.invoke_ts.0 * 2 < instant
                    && end.complete_ts.unwrap_or(Nanos(u64::MAX)) >= grant.invoke_ts
                    && !(end.complete_ts < Some(grant.invoke_ts) && end.complete_ts.is_some())
            });
            granted && from < instant && instant < to && !ended
        })
    };
    (0..120).filter(|instant| instant % 2 == 1).any(|instant| {
        let now: Vec<_> = holders.iter().filter(|holder| holds(**holder, instant)).collect();
        now.iter().any(|a| now.iter().any(|b| a.0 != b.0 && a.1 == b.1))
    })
}

#[test]
fn it_agrees_with_every_instant_of_small_histories() {
    let mut tally = [0; 2];
    for seed in seeds(8000) {
        let mut rng = Rng::stream(seed, "exclusion");
        let lines = (0..2 + rng.below(7)).map(|_| {
            let (from, took) = (rng.below(30), rng.below(6));
            let op_type = ["acquire", "acquire", "release", "release", "renew"][rng.below(5) as usize];
            let head = format!("c{} {op_type} {}", rng.below(3), ["x", "x", "x", "y"][rng.below(4) as usize]);
            match rng.below(10) {
                0 => format!("{head} [{from}..]"),
                1 => format!("{head} !no [{from}..{}]", from + took),
                2 => format!("{head} -> false [{from}..{}]", from + took),
                _ => format!("{head} -> true [{from}..{}]", from + took),
            }
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        let history = history(&text).unwrap();
        for lease in [None, Some(9)] {
            let checker = match lease {
                None => Exclusion::locks(),
                Some(lease) => Exclusion::leases(Duration::from_nanos(lease + 3), Duration::from_nanos(3)),
            };
            let got = checker.check(&history, &Unlimited).outcome;
            let slow = slow(&history, lease);
            assert_eq!(matches!(got, Outcome::Invalid { .. }), slow, "{lease:?}\n{text}\n{got:#?}");
            tally[usize::from(slow)] += 1;
        }
    }
    assert!(tally.iter().all(|count| *count > 1000), "{tally:?}");
}
