//! How long linearizability takes on histories of the size of a hardening run. Never a test with a time limit.

use disttest_runtime::audit::damage::{DamageKind, damage};
use disttest_runtime::checker::{Checker, Linearizability, NoLostAck, Unlimited};
use disttest_runtime::history::History;
use disttest_runtime::history::generate::{Object, Shape, history};
use disttest_runtime::model::{Log, Register};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// 20,000 operations of 24 clients on 30 keys, and final reads.
fn shape(object: Object, values: Option<u64>, unknown: u64) -> Shape {
    Shape { object, clients: 24, keys: 30, operations: 20_000, unknown, failed: 10, values, final_reads: true }
}

fn checked(bencher: Bencher<'_, '_>, checker: &dyn Checker, history: &History) {
    bencher.bench_local(|| checker.check(black_box(history), &Unlimited));
}

/// Every value written once; unknown outcomes per thousand.
#[divan::bench(args = [0, 20, 60])]
fn register_unique(bencher: Bencher<'_, '_>, unknown: u64) {
    checked(bencher, &Linearizability::per_key(Register::new()), &history(shape(Object::Register, None, unknown), 1));
}

/// Compare-and-set with unique values.
#[divan::bench(args = [0, 20, 60])]
fn cas_unique(bencher: Bencher<'_, '_>, unknown: u64) {
    checked(
        bencher,
        &Linearizability::per_key(Register::new()),
        &history(shape(Object::CasRegister, None, unknown), 1),
    );
}

/// Five values only.
#[divan::bench(args = [0, 20, 60])]
fn register_five_values(bencher: Bencher<'_, '_>, unknown: u64) {
    checked(
        bencher,
        &Linearizability::per_key(Register::new()),
        &history(shape(Object::Register, Some(5), unknown), 1),
    );
}

/// Logs.
#[divan::bench(args = [0, 20, 60])]
fn log(bencher: Bencher<'_, '_>, unknown: u64) {
    checked(bencher, &Linearizability::per_key(Log::new()), &history(shape(Object::Log, None, unknown), 1));
}

/// A stale read, with its witness.
#[divan::bench(args = [0, 20, 60])]
fn register_stale_read(bencher: Bencher<'_, '_>, unknown: u64) {
    let history = history(shape(Object::CasRegister, None, unknown), 1);
    let damaged = damage(DamageKind::StaleRead, &history, 1).expect("reads after writes");
    checked(bencher, &Linearizability::per_key(Register::new()), &damaged.history);
}

/// Damaging a history.
#[divan::bench]
fn damaging(bencher: Bencher<'_, '_>) {
    let history = history(shape(Object::Register, None, 20), 1);
    bencher.bench_local(|| damage(DamageKind::DroppedAcknowledgedWrite, black_box(&history), 1));
}

/// No lost acknowledgement.
#[divan::bench]
fn no_lost_ack(bencher: Bencher<'_, '_>) {
    checked(bencher, &NoLostAck::overwritable(), &history(shape(Object::Register, None, 20), 1));
}
