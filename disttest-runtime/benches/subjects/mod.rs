//! What the benches measure: each checker with the history it is measured on. All histories are valid, so that
//! nothing is decided early.

use disttest_runtime::base::time::Nanos;
use disttest_runtime::checker::{
    Bank, Checker, CounterBounds, Dimension, ExactlyOnce, Exclusion, Fairness, Freshness, Kafka, Liveness, LongFork,
    MonotonicRead, NoLostAck, PrefixOrder, SessionConsistency, Set, SetFull, TotalQueue, UniqueIds,
};
use disttest_runtime::history::generate::{self, Object, Size, Workload, workload};
use disttest_runtime::history::services::{self, Service, TIME_TO_LIVE};
use disttest_runtime::history::{History, Op};
use serde_json::{Value, json};
use std::time::Duration;

/// A checker, and the histories it is measured on.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    /// A valid history of about so many operations.
    pub(crate) history: fn(u64) -> History,
    pub(crate) checker: fn() -> Box<dyn Checker>,
}

/// Checkers that go through a history once.
pub(crate) const CHECKERS: &[Subject] = &[
    subject("no-lost-ack (registers)", registers, || Box::new(NoLostAck::overwritable())),
    subject("no-lost-ack (set)", |n| workload(Workload::Set, size(n, 0), 1), || Box::new(NoLostAck::append_only())),
    subject("exactly-once (sums)", |n| service(Service::Counter, n), || Box::new(ExactlyOnce::counts("/id", "/by"))),
    subject("exactly-once (entries)", ledger, || Box::new(ExactlyOnce::entries("/id", "/id"))),
    subject("prefix-order", |n| service(Service::Topic, n), || Box::new(PrefixOrder::consumers())),
    subject(
        "prefix-order (100 in flight)",
        |n| service(Service::Topic, n),
        || Box::new(PrefixOrder::consumers().in_flight(100)),
    ),
    subject(
        "session-consistency (versions)",
        |n| service(Service::Versioned, n),
        || Box::new(SessionConsistency::by_versions("/version")),
    ),
    subject("session-consistency (values)", registers, || Box::new(SessionConsistency::by_values())),
    subject("session-consistency (values, no real time)", registers, || {
        Box::new(SessionConsistency::by_values().ignoring_real_time())
    }),
    subject("monotonic-read", |n| service(Service::Versioned, n), || Box::new(MonotonicRead::at("/version"))),
    subject("exclusion (locks)", |n| service(Service::Lock, n), || Box::new(Exclusion::locks())),
    subject(
        "exclusion (leases)",
        |n| service(Service::Lease, n),
        || Box::new(Exclusion::leases(Duration::from_nanos(TIME_TO_LIVE), Duration::ZERO)),
    ),
    subject("set", |n| workload(Workload::Set, size(n, 0), 1), || Box::new(Set::new())),
    subject("set-full (4 reads in all)", set_with_few_reads, || Box::new(SetFull::linearizable())),
    subject("bank (8 accounts)", |n| workload(Workload::Bank, size(n, 500), 1), || Box::new(Bank::new())),
    subject("fairness (4 groups)", |n| tenants(n, 4), || Box::new(fair())),
    subject("fairness (1,000 groups)", |n| tenants(n, 1_000), || Box::new(fair())),
    subject("counter", |n| workload(Workload::Counter, size(n, 500), 1), || Box::new(CounterBounds::new())),
    subject("unique-ids", |n| workload(Workload::Ids, size(n, 0), 1), || Box::new(UniqueIds::new())),
    subject("total-queue", |n| workload(Workload::Queue, size(n, 500), 1), || Box::new(TotalQueue::new())),
    subject("freshness", registers, || Box::new(Freshness::within(Duration::ZERO))),
    subject("long-fork", |n| workload(Workload::Inserts, size(n, 500), 1), || Box::new(LongFork::new())),
    subject("kafka", |n| workload(Workload::Logs, size(n, 500), 1), || Box::new(Kafka::new())),
    subject("bounded-liveness", answered, || Box::new(Liveness::completes_within(Duration::from_millis(1)))),
];

pub(crate) const fn subject(
    name: &'static str,
    history: fn(u64) -> History,
    checker: fn() -> Box<dyn Checker>,
) -> Subject {
    Subject { name, history, checker }
}

/// Workloads of 20 clients without an unknown outcome; `reads` in a thousand.
fn size(operations: u64, reads: u64) -> Size {
    Size { clients: 20, operations, reads, unknown: 0, failed: 10 }
}

/// Reads show all elements: few of them, or they would be all there is to measure.
fn set_with_few_reads(operations: u64) -> History {
    let history = workload(Workload::Set, size(operations, 0), 1);
    let mut ops = history.into_ops();
    // The final read, once more: whoever reads then sees the same.
    let Some(last) = ops.iter().rev().find(|op| op.op_type == "read").cloned() else { unreachable!("a final read") };
    let end = last.complete_ts.map_or(0, |at| at.0);
    for again in 1..4 {
        let (op_id, invoke_ts) = (ops.len() as u64, Nanos(end + 10 * again));
        ops.push(Op { op_id, invoke_ts, complete_ts: Some(Nanos(end + 10 * again + 5)), ..last.clone() });
    }
    History::new(ops).expect("a history")
}

/// Services of 24 clients and 30 keys, one operation in a hundred of unknown outcome.
fn service(service: Service, operations: u64) -> History {
    let shape = services::Shape { service, clients: 24, keys: 30, operations, unknown: 10, failed: 10, fault: None };
    services::history(shape, 1)
}

/// Credits to 30 accounts, whose entries are read once, at the end.
fn ledger(operations: u64) -> History {
    let op = |op_id: u64, op_type: &str, account: u64, input: Value, output: Value| Op {
        op_id,
        process_id: op_id % 24,
        invoke_ts: Nanos(op_id * 100),
        complete_ts: Some(Nanos(op_id * 100 + 50)),
        op_type: op_type.to_owned(),
        key: Some(format!("k{account}")),
        input,
        output,
        error: None,
        timeout_marker: false,
        node_seen: None,
        fault_epoch: None,
    };
    let credit = |n: u64| json!({"id": format!("r{n}"), "by": 1 + n % 5});
    let mut ops: Vec<Op> = (0..operations).map(|n| op(n, "credit", n % 30, credit(n), Value::Null)).collect();
    for account in 0..30 {
        let entries = Value::Array((account..operations).step_by(30).map(credit).collect());
        ops.push(op(operations + account, "balance", account, Value::Null, entries));
    }
    History::new(ops).expect("a history")
}

fn registers(operations: u64) -> History {
    objects(Object::Register, None, operations)
}

/// Objects of 24 clients and 30 keys, one operation in a hundred of unknown outcome; final reads.
pub(crate) fn objects(object: Object, values: Option<u64>, operations: u64) -> History {
    let shape = generate::Shape { object, clients: 24, keys: 30, operations, values, ..generate::Shape::default() };
    generate::history(shape, 1)
}

/// As [`registers`], and every operation was answered.
fn answered(operations: u64) -> History {
    let shape = generate::Shape { clients: 24, keys: 30, operations, unknown: 0, ..generate::Shape::default() };
    generate::history(shape, 1)
}

/// Operations of as many tenants as `groups`; one in 997 was never answered.
fn tenants(operations: u64, groups: u64) -> History {
    let op = |n: u64| Op {
        op_id: n,
        process_id: n % 64,
        invoke_ts: Nanos(n * 1_000),
        complete_ts: (n % 997 != 996).then_some(Nanos(n * 1_000 + 500 + n * 7_919 % 997)),
        op_type: "put".to_owned(),
        key: Some(format!("tenant-{}/cart", n * 31 % groups)),
        input: Value::from(n),
        output: Value::Null,
        error: None,
        timeout_marker: n % 997 == 996,
        node_seen: None,
        fault_epoch: None,
    };
    History::new((0..operations).map(op).collect()).expect("a history")
}

/// Three of the four formulas; errors there are.
fn fair() -> Fairness {
    let fairness = Fairness::by_key_prefix(Dimension::Tenant, '/').worst_p99_over_aggregate(1.5).min_throughput(1.0);
    fairness.repeat_spread(3, 1.0)
}
