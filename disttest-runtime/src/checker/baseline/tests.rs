use super::bootstrap::Sorted;
use super::*;
use crate::base::rng::Rng;
use crate::checker::Unlimited;
use crate::history::notation::history;

/// Runs whose samples are about `middle`, each run off by its own bit.
fn runs(count: u64, samples: u64, middle: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut rng = Rng::new(seed);
    let mut unit = move || rng.below(1 << 20) as f64 / f64::from(1 << 20) - 0.5;
    (0..count)
        .map(|_| {
            let off = 0.05 * (unit() + unit() + unit());
            (0..samples).map(|_| middle * (1.0 + off + 0.3 * (unit() + unit() + unit()))).collect()
        })
        .collect()
}

fn said(baseline: &StatisticalBaseline) -> String {
    let any = history("c1 read x -> 1 [0..1]").expect("a history");
    match baseline.check(&any, &Unlimited).outcome {
        Outcome::Valid => "valid".to_owned(),
        Outcome::Invalid { violations } => violations[0].explanation.clone(),
        Outcome::Unknown { why } => why,
    }
}

fn check(baseline: &StatisticalBaseline, expect: &str) {
    let said = said(baseline);
    assert!(if expect == "valid" { said == expect } else { said.contains(expect) }, "{said}, not {expect}");
}

fn median(times: f64) -> StatisticalBaseline {
    StatisticalBaseline::new(Percentile::P50, runs(6, 60, 100.0, 1), runs(6, 60, 100.0 * times, 2)).resamples(400)
}

#[test]
fn worse_for_sure_and_no_worse_for_sure_are_told_apart_from_neither() {
    check(&median(1.0).tolerance(0.2), "valid");
    check(&median(1.5).tolerance(0.2), "all of it is beyond 1.2");
    check(&median(1.2).tolerance(0.2), "1.2 lies inside: more runs would tell");
    check(&median(0.5).tolerance(0.2), "valid");
    check(&median(0.5).tolerance(0.2).better(Better::Higher), "all of it is beyond 0.8");
    check(&median(1.5).tolerance(0.2).better(Better::Higher), "valid");
    check(&median(0.8).tolerance(0.2).better(Better::Higher), "0.8 lies inside");
}

#[test]
fn too_little_is_unknown() {
    let of = |baseline, candidate| StatisticalBaseline::new(Percentile::P50, baseline, candidate).resamples(400);
    check(&of(runs(1, 60, 100.0, 1), runs(1, 60, 200.0, 2)), "the baseline has 1 runs, asked is 5");
    check(&of(runs(5, 60, 100.0, 1), runs(4, 60, 200.0, 2)), "the candidate has 4 runs");
    check(&of(runs(1, 60, 100.0, 1), runs(9, 60, 200.0, 2)).at_least_runs(0), "the baseline has 1 runs, asked is 2");
    check(&of(runs(5, 9, 100.0, 1), runs(5, 60, 200.0, 2)), "has 9 samples in run 1, too few for p50 (at least 10)");
    check(&of(vec![], vec![]), "the baseline has 0 runs");
    let p99 = StatisticalBaseline::new(Percentile::P99, runs(5, 499, 1.0, 1), runs(5, 500, 1.0, 2));
    check(&p99, "too few for p99 (at least 500)");
    let most = StatisticalBaseline::new(Percentile::MAX, runs(5, 99, 1.0, 1), runs(5, 99, 1.0, 2));
    check(&most, "the bootstrap of a maximum is inconsistent");
    for odd in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        let mut candidate = runs(5, 60, 1.0, 2);
        candidate[3][7] = odd;
        check(&of(runs(5, 60, 1.0, 1), candidate), "in run 4, which is no finite positive number");
    }
    check(&median(1.0).confidence(0.999), "400 resamples are too few");
    check(&median(1.0).confidence(1.0), "is not in 0.5..1");
    check(&median(1.0).tolerance(-0.1), "is no share");
    let empty = median(1.0).tolerance(0.2).check(&history("").expect("empty"), &Unlimited);
    assert!(matches!(empty.outcome, Outcome::Unknown { .. }));
}

#[test]
fn a_limit_stops_it_undecided() {
    struct Stop;
    impl Limits for Stop {
        fn exceeded(&self, _: u64) -> Option<String> {
            Some("enough".to_owned())
        }
    }
    assert_eq!(median(1.0).interval(&Stop), Err("stopped by enough after 0 of 400 resamples".to_owned()));
}

#[test]
fn equal_seeds_give_equal_intervals() {
    let of = |seed: u64| median(1.1).seed(seed).interval(&Unlimited).expect("an interval");
    assert_eq!(of(7), of(7));
    assert_ne!(of(7), of(8));
}

/// The resampling against its definition: every resample of a tiny side, each as likely as the others.
#[test]
fn resamples_are_distributed_as_enumeration_says() {
    let sides = [vec![1.0, 2.0, 10.0], vec![3.0, 4.0, 5.0], vec![0.5, 6.0, 6.0]];
    let rank = |mut three: [f64; 3]| {
        three.sort_by(f64::total_cmp);
        three[1]
    };
    let mut medians = Vec::new();
    for run in &sides {
        for n in 0..27 {
            medians.push(rank([run[n % 3], run[n / 3 % 3], run[n / 9]]));
        }
    }
    // Two of three runs are drawn, each of them with its 27 resamples.
    let mut exact: Vec<f64> = medians.iter().flat_map(|a| medians.iter().map(move |b| (a + b) / 2.0)).collect();
    exact.sort_by(f64::total_cmp);
    let (sorted, mut rng, mut drawn) = (Sorted::of(&sides), Rng::new(3), Vec::new());
    let made: Vec<f64> = (0..40_000).map(|_| sorted.resampled(Percentile::P50, &mut rng, &mut drawn)).collect();
    for at in [1.0, 2.0, 3.0, 4.0, 4.5, 5.0, 6.0, 8.0] {
        let share = |all: &[f64]| all.iter().filter(|value| **value <= at).count() as f64 / all.len() as f64;
        let (got, expect) = (share(&made), share(&exact));
        assert!((got - expect).abs() < 0.015, "up to {at}: {got}, by enumeration {expect}");
    }
}

#[test]
fn an_honest_candidate_is_seldom_called_worse_and_a_slow_one_nearly_always() {
    let (mut false_alarms, mut caught) = (0, 0);
    for seed in 0..150 {
        let of = |times: f64| {
            let sides = (runs(6, 20, 100.0, seed * 2 + 1), runs(6, 20, 100.0 * times, seed * 2 + 2));
            let baseline = StatisticalBaseline::new(Percentile::P50, sides.0, sides.1).tolerance(0.0).resamples(200);
            said(&baseline).contains("is beyond")
        };
        false_alarms += u32::from(of(1.0));
        caught += u32::from(of(1.3));
    }
    assert!(false_alarms <= 10 && caught >= 140, "{false_alarms} false alarms, {caught} caught, of 150");
}
