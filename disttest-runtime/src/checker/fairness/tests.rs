use super::*;
use crate::base::rng::Rng;
use crate::checker::Unlimited;
use crate::checker::reference::seeds;
use crate::history::Effect;
use crate::history::notation::history;
use std::collections::BTreeMap;

/// `a` is quick, `b` takes `slow` ns; each has an operation every microsecond.
fn two(count: u64, slow: u64) -> String {
    let line = |n: u64| {
        format!("c1 write a {n} [{0}..{1}]\nc2 write b {n} [{0}..{2}]\n", n * 1000, n * 1000 + 10, n * 1000 + slow)
    };
    (0..count).map(line).collect()
}

fn all() -> Fairness {
    Fairness::by_key(Dimension::Tenant)
        .at_least(4)
        .worst_p99_over_aggregate(1.5)
        .min_throughput(1000.0)
        .no_errors()
        .repeat_spread(2, 0.5)
}

/// `valid`, the anomalies, or why it is unknown.
fn said(fairness: &Fairness, text: &str) -> String {
    match fairness.check(&history(text).expect("a history"), &Unlimited).outcome {
        Outcome::Valid => "valid".to_owned(),
        Outcome::Invalid { violations } => {
            let names: Vec<String> =
                violations.iter().map(|v| format!("{} {}", v.anomaly, v.key.as_deref().unwrap_or("-"))).collect();
            names.join(", ")
        }
        Outcome::Unknown { why } => why,
    }
}

fn check(fairness: &Fairness, text: &str, expect: &str) {
    let said = said(fairness, text);
    assert!(if expect == "valid" { said == expect } else { said.contains(expect) }, "{said}, not {expect}, of {text}");
}

#[test]
fn each_formula_holds_for_each_group_or_names_it() {
    check(&all(), &two(10, 10), "valid");
    check(&all(), &two(10, 14), "valid");
    let many = |slow| format!("{}{}", two(200, 10).replace("write b", "write a"), two(4, slow));
    let ratio = Fairness::by_key(Dimension::Shard).at_least(4).worst_p99_over_aggregate(1.5);
    check(&ratio, &many(15), "valid");
    check(&ratio, &many(16), "worst-group-p99 b");
    let errors = Fairness::by_key(Dimension::Queue).no_errors();
    check(&errors, &two(1, 10), "valid");
    check(&errors, &format!("{}c3 read b !refused [5..6]", two(9, 10)), "group-errors b");
    check(&errors, &format!("{}c3 read b [5..]", two(9, 10)), "group-errors b");
    check(&errors, &format!("{}c3 cas b [1,2] -> false !differs [5..6]", two(9, 10)), "valid");
    let rate = Fairness::by_key(Dimension::Table).min_throughput(900_000.0);
    check(&rate, &two(100, 10), "valid");
    check(&rate, &format!("{}c3 read c -> 1 [0..7]", two(100, 10)), "group-throughput c");
    let spread = Fairness::by_key(Dimension::Region).at_least(4).repeat_spread(2, 0.5);
    check(&spread, &two(10, 10), "valid");
    let later = two(10, 10).replace("c2 write b 8 [8000..8010]", "c2 write b 8 [8000..8016]");
    check(&spread, &later, "repeat-spread b");
    check(&spread, &later.replace("8016", "8015"), "valid");
}

#[test]
fn a_group_that_nobody_serves_is_starved_whatever_the_formula() {
    let starved = format!("{}c3 read c [5..]\nc3 read c !refused [7..8]", two(9, 10));
    check(&Fairness::by_key(Dimension::User).min_throughput(0.001), &starved, "starved-group c");
    let answer = all().check(&history(&starved).expect("a history"), &Unlimited);
    let Outcome::Invalid { violations } = answer.outcome else { panic!("starved") };
    assert_eq!(violations[0].ops, [18, 19]);
    assert!(violations[0].explanation.contains("c: 0 of 2 acknowledged, 2 errors"), "{}", violations[0].explanation);
    assert_eq!((answer.evidence.consumed, answer.evidence.partitions), (20, 3));
}

#[test]
fn what_cannot_be_told_is_unknown() {
    check(&all(), "", "the history is empty");
    check(&all(), "c1 read a [0..]\nc2 read b !no [0..1]", "none of 2 operations was acknowledged");
    check(&all(), &two(3, 10), "a has 3 latencies, too few for a p99");
    check(&all(), &two(9, 10).replace("write b", "write a"), "1 tenant: nobody to be unfair to");
    check(&all().groups(["a", "z"]), &two(10, 10), "z has no operations");
    check(&all(), &format!("{}c3 read - -> 1 [1..2]", two(10, 10)), "operation 20 has no tenant");
    check(&Fairness::by_key(Dimension::Tenant), &two(9, 10), "no formula");
    check(&all().min_throughput(f64::NAN), &two(9, 10), "not a positive number");
    check(&all().repeat_spread(1, 0.1), &two(9, 10), "2 to 1,000 repeats");
    let instant = Fairness::by_key(Dimension::Tenant).at_least(1).worst_p99_over_aggregate(2.0);
    check(&instant, "c1 read a -> 1 [5..5]\nc2 read b -> 1 [5..5]", "no ratio");
    let silent = two(10, 10) + &(0..4).map(|n| format!("c9 read b [{n}..]\n")).collect::<String>();
    check(&instant, &silent, "no ratio");
}

#[test]
fn one_that_was_never_answered_is_slower_than_any() {
    let ratio = Fairness::by_key(Dimension::Tenant).at_least(4).worst_p99_over_aggregate(1000.0);
    let mut text = two(300, 10);
    text.push_str("c5 read b [7..]\nc6 read b [7..]\nc7 read b [7..]\nc8 read b [7..]\n");
    check(&ratio, &text, "worst-group-p99 b");
}

#[test]
fn groups_are_told_by_key_prefix_and_by_input() {
    let prefix = Fairness::by_key_prefix(Dimension::Tenant, '/').no_errors();
    check(&prefix, "c1 read a/1 -> 1 [0..1]\nc2 read b/1 !no [0..1]\nc2 read b/2 -> 1 [0..1]", "group-errors b");
    check(&prefix, "c1 read a/1 -> 1 [0..1]\nc2 read b [0..1]", "operation 1 has no tenant");
    let input = Fairness::by_input(Dimension::Priority, "class").no_errors();
    let text = "c1 put x {\"class\":\"low\"} [0..1]\nc1 put x {\"class\":7} [2..]\nc1 put x {\"class\":7} [2..3]";
    check(&input, text, "group-errors 7");
    let missing = input.missing(&history("c1 put x 1 [0..1]\nc1 put x 2 [0..1]").expect("a history"));
    assert_eq!(missing, ["operation 0 and 2 in all: no priority can be told from it"]);
}

/// The formulas once more, each value sorted, each group walked for itself; `None` where a p99 has too few values.
fn slow(text: &str, limits: (f64, f64, f64)) -> Option<bool> {
    let history = history(text).expect("a history");
    let mut groups: BTreeMap<&str, Vec<&Op>> = BTreeMap::new();
    for op in history.ops() {
        groups.entry(op.key.as_deref().expect("a key")).or_default().push(op);
    }
    let took = |op: &&Op| match op.effect() {
        Effect::Acknowledged => Some((op.complete_ts.expect("completed").0 - op.invoke_ts.0) as f64),
        Effect::Unknown => Some(f64::INFINITY),
        Effect::Failed => None,
    };
    let p99 = |ops: &[&Op]| {
        let mut all: Vec<f64> = ops.iter().filter_map(took).collect();
        all.sort_by(f64::total_cmp);
        (all.len() > 1).then(|| all[(all.len() * 99).div_ceil(100) - 1])
    };
    let everything: Vec<&Op> = history.ops().iter().collect();
    let from = history.ops().iter().map(|op| op.invoke_ts.0).min()?;
    let to = history.ops().iter().map(|op| op.complete_ts.map_or(op.invoke_ts.0, |t| t.0)).max()?;
    let mut bad = false;
    for ops in groups.values() {
        let acknowledged = ops.iter().filter(|op| op.effect() == Effect::Acknowledged).count() as f64;
        let half = |half: u64| {
            let inside = |op: &&&Op| ((op.invoke_ts.0 - from) * 2 / (to - from + 1)) == half;
            p99(&ops.iter().filter(inside).copied().collect::<Vec<_>>())
        };
        let (low, high) = (half(0)?.min(half(1)?), half(0)?.max(half(1)?));
        bad |= p99(ops)? / p99(&everything)? > limits.0
            || acknowledged / ((to - from) as f64 / 1e9) < limits.1
            || acknowledged == 0.0
            || (high - low) / low > limits.2;
    }
    Some(bad)
}

#[test]
fn it_agrees_with_sorting_everything() {
    let (mut judged, mut bad) = (0, 0);
    for seed in seeds(3_000) {
        let mut rng = Rng::new(seed);
        let mut text = String::new();
        for n in 0..20 + rng.below(30) {
            let (group, at) = (["a", "b", "c"][rng.below(3) as usize], n * 50 + rng.below(50));
            let end = if rng.chance(1, 60) { String::new() } else { (at + 20 + rng.below(12)).to_string() };
            let fate = if !end.is_empty() && rng.chance(1, 30) { " !no" } else { "" };
            text.push_str(&format!("c{n} write {group} 1{fate} [{at}..{end}]\n"));
        }
        let limits =
            (1.05 + rng.below(20) as f64 / 50.0, rng.below(9_000_000) as f64 + 1.0, 0.05 + rng.below(10) as f64 / 20.0);
        let fairness = Fairness::by_key(Dimension::Tenant)
            .at_least(2)
            .worst_p99_over_aggregate(limits.0)
            .min_throughput(limits.1)
            .repeat_spread(2, limits.2);
        let answer = fairness.check(&history(&text).expect("a history"), &Unlimited);
        let got = match answer.outcome {
            Outcome::Valid => false,
            Outcome::Invalid { .. } => true,
            Outcome::Unknown { .. } => continue,
        };
        // Where something cannot be measured, a violation of something else stands, and nothing is valid.
        match slow(&text, limits) {
            Some(expect) => assert_eq!(got, expect, "{seed}\n{text}"),
            None => assert!(got, "{seed}: accepted\n{text}"),
        }
        judged += 1;
        bad += u32::from(got);
    }
    assert!(judged > 1_500 && bad > 300 && bad < judged - 300, "{bad} of {judged}");
}
