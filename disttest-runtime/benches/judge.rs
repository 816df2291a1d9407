//! What the checkers cost that measure and compare, on histories of a million operations in memory. Never a test with a
//! time limit.

use disttest_runtime::base::time::Nanos;
use disttest_runtime::checker::{
    Checker, Dimension, Fairness, Invariant, MetricSlo, Percentile, ReplayEquivalence, Rule, StatisticalBaseline,
    Unlimited,
};
use disttest_runtime::history::generate::{Object, Shape, history};
use disttest_runtime::history::{History, Op};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use serde_json::Value;
use std::time::Duration;

fn main() {
    divan::main();
}

const OPERATIONS: u64 = 1_000_000;

/// A million operations of as many tenants as `groups`; one in a thousand was never answered.
fn tenants(groups: u64) -> History {
    let op = |n: u64| Op {
        op_id: n,
        process_id: n % 64,
        invoke_ts: Nanos(n * 1_000),
        complete_ts: (n % 1000 != 999).then_some(Nanos(n * 1_000 + 500 + n * 7_919 % 997)),
        op_type: "put".to_owned(),
        key: Some(format!("tenant-{}/cart", n * 31 % groups)),
        input: Value::from(n),
        output: Value::Null,
        error: None,
        timeout_marker: n % 1000 == 999,
        node_seen: None,
        fault_epoch: None,
    };
    History::new((0..OPERATIONS).map(op).collect()).expect("a history")
}

fn checked(bencher: Bencher<'_, '_>, checker: &dyn Checker, history: &History) {
    let count = ItemsCount::new(history.ops().len());
    bencher.counter(count).bench_local(|| checker.check(black_box(history), &Unlimited));
}

/// All four formulas, by key prefix.
#[divan::bench(args = [4, 100, 1_000])]
fn fairness(bencher: Bencher<'_, '_>, groups: u64) {
    let fairness = Fairness::by_key_prefix(Dimension::Tenant, '/').worst_p99_over_aggregate(1.5).min_throughput(1.0);
    checked(bencher, &fairness.repeat_spread(3, 1.0), &tenants(groups));
}

/// A p99 in each second.
#[divan::bench]
fn metric_slo(bencher: Bencher<'_, '_>) {
    let slo = MetricSlo::latency(Percentile::P50, Duration::from_millis(1)).per_window(Duration::from_millis(10));
    checked(bencher, &slo, &tenants(4));
}

/// A sum that never goes down, after every operation.
#[divan::bench]
fn invariant_at_every_step(bencher: Bencher<'_, '_>) {
    let sum = Invariant::at_every_step(0_u64, |sum, op| {
        *sum = sum.wrapping_add(op.input.as_u64().unwrap_or(0));
        Ok(())
    });
    checked(bencher, &sum.rule("never negative", |sum| Rule::check(*sum < u64::MAX, String::new)), &tenants(4));
}

/// Logs of twenty thousand operations.
#[divan::bench]
fn replay_equivalence(bencher: Bencher<'_, '_>) {
    let shape = Shape { object: Object::Log, keys: 30, operations: 20_000, clients: 24, ..Shape::default() };
    checked(bencher, &ReplayEquivalence::of_log(), &history(shape, 1));
}

/// Ten runs of a thousand samples on each side, a thousand resamples.
#[divan::bench]
fn statistical_baseline(bencher: Bencher<'_, '_>) {
    let runs: Vec<Vec<f64>> =
        (0..10).map(|run| (0..1_000).map(|n| f64::from(100 + (run * 13 + n * 7_919) % 97)).collect()).collect();
    let baseline = StatisticalBaseline::new(Percentile::P99, runs.clone(), runs);
    bencher.bench_local(|| black_box(&baseline).interval(&Unlimited));
}
