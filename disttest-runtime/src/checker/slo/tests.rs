use super::*;
use crate::base::rng::Rng;
use crate::checker::{Outcome, Unlimited};
use crate::history::notation::history;

fn check(slo: &MetricSlo, text: &str, expect: &str) {
    let answer = slo.check(&history(text).expect("a history"), &Unlimited);
    let said = match answer.outcome {
        Outcome::Valid => "valid".to_owned(),
        Outcome::Invalid { violations } => {
            violations.iter().map(|v| format!("{:?} {}", v.ops, v.explanation)).collect::<Vec<_>>().join("\n")
        }
        Outcome::Unknown { why } => why,
    };
    assert!(if expect == "valid" { said == expect } else { said.contains(expect) }, "{said}, not {expect}, of {text}");
}

/// An operation every 100 ns, each takes 10 ns but those `slow` by index, which take 90.
fn steady(count: u64, slow: &[u64]) -> String {
    let took = |n: &u64| if slow.contains(n) { 90 } else { 10 };
    (0..count).map(|n| format!("c1 read x -> 1 [{}..{}]\n", n * 100, n * 100 + took(&n))).collect()
}

fn p99(nanos: u64) -> MetricSlo {
    MetricSlo::latency(Percentile::P99, Duration::from_nanos(nanos))
}

#[test]
fn a_latency_keeps_to_its_threshold_everywhere() {
    check(&p99(10), &steady(100, &[]), "valid");
    check(&p99(10), &steady(100, &[7]), "valid");
    check(
        &p99(10),
        &steady(100, &[7, 8]),
        "[7, 8] The p99 of latency in seconds over the whole time is 0.00000009 (100 samples)",
    );
    check(&p99(90), &steady(100, &[7, 8]), "valid");
    let halves = p99(10).at_least(40).per_window(Duration::from_nanos(4_900));
    check(&halves, &steady(100, &[]), "valid");
    check(&halves, &steady(100, &[70]), "[70] The p99 of latency in seconds in window 2 (4900..9910 ns) is 0.00000009");
    check(&p99(10).at_least(40).only(["write"]), &steady(100, &[7, 8]), "there are 0 samples");
}

#[test]
fn one_that_was_never_answered_is_slow_and_a_failed_one_is_not_fast() {
    let with = |fate: &str| format!("{}c2 read x {fate}\nc3 read x {fate}", steady(98, &[]));
    check(&p99(1_000_000), &with("[5..]"), "is never answered (100 samples), asked is at most 0.001");
    check(&p99(10), &with("-> 1 [5..6]"), "valid");
    check(&p99(10), &with("!no [5..6]"), "there are 98 samples");
}

#[test]
fn a_rate_counts_what_was_acknowledged_in_each_window() {
    let rate = |least: f64| MetricSlo::throughput(least).per_window(Duration::from_nanos(1_000));
    check(&rate(9_000_000.0), &steady(100, &[]), "valid");
    check(&rate(11_000_000.0), &steady(100, &[]), "The rate a second of acknowledged operations over the whole time");
    let gap: String = steady(100, &[])
        .lines()
        .enumerate()
        .filter(|(n, _)| !(40..50).contains(n))
        .map(|(_, l)| format!("{l}\n"))
        .collect();
    check(&rate(8_000_000.0), &gap, "in window 5 (4000..4999 ns) is 0 (0 samples)");
    check(&rate(1.0), "c1 read x -> 1 [5..5]", "there is no rate a second");
}

#[test]
fn what_was_not_measured_is_unknown() {
    check(&p99(10), "", "the history is empty");
    check(&p99(10), "c1 read x [0..]", "none of 1 operations");
    check(&p99(10), &steady(99, &[]), "over the whole time there are 99 samples of latency in seconds, asked is 100");
    check(&p99(10).lasting(Duration::from_secs(1)), &steady(100, &[]), "s are asked for");
    check(&p99(10).per_window(Duration::ZERO), &steady(100, &[]), "a window takes time");
    check(&p99(10).at_least(10).per_window(Duration::from_nanos(500)), &steady(100, &[]), "in window 1");
    check(&MetricSlo::throughput(f64::NAN), &steady(100, &[]), "no finite number");
    let samples = |values: &[f64]| {
        let sample = |(at, value): (usize, &f64)| Sample { at: Nanos(at as u64), value: *value };
        let samples = values.iter().enumerate().map(sample).collect();
        MetricSlo::of_samples("queue depth", samples, Statistic::Mean, Bound::AtMost(5.0)).at_least(2)
    };
    let any = "c1 read x -> 1 [0..1]";
    check(&samples(&[4.0, 6.0]), any, "valid");
    check(
        &samples(&[4.0, 7.0]),
        any,
        "The mean of queue depth over the whole time is 5.5 (2 samples), asked is at most 5",
    );
    check(&samples(&[4.0]), any, "there are 1 samples");
    check(&samples(&[]), any, "there are 0 samples");
    check(&samples(&[4.0, f64::NAN]), any, "the sample at 1 ns is NaN");
    check(&samples(&[4.0, f64::INFINITY]), any, "the sample at 1 ns is inf");
    check(&samples(&[f64::MAX, -f64::MAX, f64::MAX]), any, "asked is at most 5");
    let answer = samples(&[4.0, 6.0]).check(&history(any).expect("a history"), &Unlimited);
    assert_eq!((answer.evidence.consumed, answer.evidence.fired), (0, 1));
}

#[test]
fn windows_agree_with_filtering_each_for_itself() {
    let mut counts = [0; 2];
    for seed in 0..2_000 {
        let mut rng = Rng::new(seed);
        let samples: Vec<Sample> =
            (0..60).map(|n| Sample { at: Nanos(n * 10 + rng.below(10)), value: rng.below(100) as f64 }).collect();
        let percentile = Percentile::new(50.0 + rng.below(50) as f64).expect("in range");
        let most = 60.0 + rng.below(45) as f64;
        let slo = MetricSlo::of_samples("m", samples.clone(), Statistic::Percentile(percentile), Bound::AtMost(most));
        let slo = slo.at_least(1).per_window(Duration::from_nanos(100));
        let (first, last) = (samples[0].at.0, samples.iter().map(|s| s.at.0).max().expect("some"));
        let holds = |from: u64, to: u64| {
            let mut values: Vec<f64> =
                samples.iter().filter(|s| (from..=to).contains(&s.at.0)).map(|s| s.value).collect();
            values.sort_by(f64::total_cmp);
            values[percentile.rank(values.len()).expect("some")] <= most
        };
        let windows = (last - first) / 100;
        let expect = holds(first, last)
            && (0..windows).all(|n| holds(first + n * 100, if n + 1 == windows { last } else { first + n * 100 + 99 }));
        let any = history("c1 read x -> 1 [0..1]").expect("a history");
        let valid = slo.check(&any, &Unlimited).outcome == Outcome::Valid;
        assert_eq!(valid, expect, "{seed}");
        counts[usize::from(valid)] += 1;
    }
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}
