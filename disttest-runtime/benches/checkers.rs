//! Operations a second of the checkers that go through a history once. Never a test with a time limit.
//!
//! `cargo bench -p disttest-runtime --bench checkers`

use disttest_runtime::checker::{
    Bank, Checker, CounterBounds, Freshness, Kafka, Liveness, LongFork, Outcome, Set, SetFull, TotalQueue, UniqueIds,
    Unlimited,
};
use disttest_runtime::history::History;
use disttest_runtime::history::generate::{self, Object, Shape, Size, Workload, workload};
use divan::Bencher;
use divan::counter::ItemsCount;
use serde_json::Value;
use std::time::Duration;

fn main() {
    divan::main();
}

/// 200,000 operations of 20 clients without an unknown outcome, so that the answer is valid.
fn size(reads: u64) -> Size {
    Size { clients: 20, operations: 200_000, reads, unknown: 0, failed: 10 }
}

/// `items` things to look at in a second, whatever of them an operation holds.
fn checked(bencher: Bencher<'_, '_>, checker: &dyn Checker, history: &History, items: usize) {
    assert_eq!(checker.check(history, &Unlimited).outcome, Outcome::Valid);
    bencher.counter(ItemsCount::new(items)).bench_local(|| checker.check(divan::black_box(history), &Unlimited));
}

fn ops(history: &History) -> usize {
    history.ops().len()
}

/// Elements that reads show, and operations.
fn elements(history: &History) -> usize {
    history.ops().iter().map(|op| 1 + op.output.as_array().map_or(0, Vec::len)).sum()
}

fn balances(history: &History) -> usize {
    history.ops().iter().map(|op| op.output.as_object().map_or(1, |balances| balances.len())).sum()
}

/// Adds and one final read.
#[divan::bench]
fn set(bencher: Bencher<'_, '_>) {
    let history = workload(Workload::Set, size(0), 1);
    checked(bencher, &Set::new(), &history, ops(&history));
}

/// The same, and now and then a read: items are elements shown.
#[divan::bench]
fn set_full(bencher: Bencher<'_, '_>) {
    let history = workload(Workload::Set, Size { operations: 20_000, ..size(5) }, 1);
    checked(bencher, &SetFull::linearizable(), &history, elements(&history));
}

/// Items are balances shown, and transfers.
#[divan::bench]
fn bank(bencher: Bencher<'_, '_>) {
    let history = workload(Workload::Bank, size(500), 1);
    checked(bencher, &Bank::new(), &history, balances(&history));
}

#[divan::bench]
fn counter(bencher: Bencher<'_, '_>) {
    let history = workload(Workload::Counter, size(500), 1);
    checked(bencher, &CounterBounds::new(), &history, ops(&history));
}

#[divan::bench]
fn unique_ids(bencher: Bencher<'_, '_>) {
    let history = workload(Workload::Ids, size(0), 1);
    checked(bencher, &UniqueIds::new(), &history, ops(&history));
}

#[divan::bench]
fn total_queue(bencher: Bencher<'_, '_>) {
    let history = workload(Workload::Queue, size(500), 1);
    checked(bencher, &TotalQueue::new(), &history, ops(&history));
}

#[divan::bench]
fn long_fork(bencher: Bencher<'_, '_>) {
    let history = workload(Workload::Inserts, size(500), 1);
    checked(bencher, &LongFork::new(), &history, ops(&history));
}

/// Messages sent and polled.
fn messages(history: &History) -> usize {
    let polled = |poll: &Value| {
        poll.as_object().into_iter().flat_map(|keys| keys.values()).filter_map(Value::as_array).map(Vec::len).sum()
    };
    let count = |micro: &Value| if micro[0] == "send" { 1 } else { polled(&micro[1]) };
    history.ops().iter().flat_map(|op| op.output.as_array()).flatten().map(count).sum()
}

/// Items are messages sent and polled.
#[divan::bench]
fn kafka(bencher: Bencher<'_, '_>) {
    let history = workload(Workload::Logs, size(500), 1);
    checked(bencher, &Kafka::new(), &history, messages(&history));
}

fn registers() -> History {
    let shape = Shape { clients: 20, keys: 10, operations: 200_000, unknown: 0, ..Shape::default() };
    generate::history(Shape { object: Object::Register, ..shape }, 1)
}

#[divan::bench]
fn freshness(bencher: Bencher<'_, '_>) {
    let history = registers();
    checked(bencher, &Freshness::within(Duration::ZERO), &history, ops(&history));
}

#[divan::bench]
fn liveness(bencher: Bencher<'_, '_>) {
    let history = registers();
    checked(bencher, &Liveness::completes_within(Duration::from_micros(10)), &history, ops(&history));
}
