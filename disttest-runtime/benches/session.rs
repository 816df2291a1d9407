//! How long the checkers of sessions, orders, effects and holds take on a million operations. Never a test with a time
//! limit.

use disttest_runtime::checker::{
    Checker, ExactlyOnce, Exclusion, MonotonicRead, Outcome, PrefixOrder, SessionConsistency, Unlimited,
};
use disttest_runtime::history::services::{Service, Shape, TIME_TO_LIVE, history};
use disttest_runtime::history::{History, generate};
use divan::Bencher;
use divan::counter::ItemsCount;
use std::time::Duration;

fn main() {
    divan::main();
}

const OPERATIONS: u64 = 1_000_000;

/// A million operations of 24 clients on 30 keys, one in a hundred of unknown outcome.
fn service(service: Service) -> History {
    let shape = Shape { service, clients: 24, keys: 30, operations: OPERATIONS, unknown: 10, failed: 10, fault: None };
    history(shape, 1)
}

fn checked(bencher: Bencher<'_, '_>, checker: &dyn Checker, history: &History) {
    assert_eq!(checker.check(history, &Unlimited).outcome, Outcome::Valid);
    let count = ItemsCount::new(history.ops().len());
    bencher.counter(count).bench_local(|| checker.check(history, &Unlimited));
}

/// Versions in outputs.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn monotonic_read(bencher: Bencher<'_, '_>) {
    checked(bencher, &MonotonicRead::at("/version"), &service(Service::Versioned));
}

/// All four guarantees, versions in outputs.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn session_by_versions(bencher: Bencher<'_, '_>) {
    checked(bencher, &SessionConsistency::by_versions("/version"), &service(Service::Versioned));
}

/// Distinct values, with and without real time.
#[divan::bench(args = [true, false], sample_count = 5, sample_size = 1)]
fn session_by_values(bencher: Bencher<'_, '_>, real_time: bool) {
    let shape = generate::Shape { clients: 24, keys: 30, operations: OPERATIONS, ..generate::Shape::default() };
    let checker = SessionConsistency::by_values();
    let checker = if real_time { checker } else { checker.ignoring_real_time() };
    checked(bencher, &checker, &generate::history(shape, 1));
}

/// Elements that may be overtaken.
#[divan::bench(args = [0, 100], sample_count = 5, sample_size = 1)]
fn prefix_order(bencher: Bencher<'_, '_>, in_flight: usize) {
    checked(bencher, &PrefixOrder::consumers().in_flight(in_flight), &service(Service::Topic));
}

/// Sums.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn exactly_once(bencher: Bencher<'_, '_>) {
    checked(bencher, &ExactlyOnce::counts("/id", "/by"), &service(Service::Counter));
}

/// Leases with tokens.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn exclusion(bencher: Bencher<'_, '_>) {
    let checker = Exclusion::leases(Duration::from_nanos(TIME_TO_LIVE), Duration::ZERO);
    checked(bencher, &checker, &service(Service::Lease));
}
