//! What recording an operation costs its client.

use disttest_runtime::recorder::{Clock, EpochCell, Recorder};
use divan::Bencher;
use divan::counter::ItemsCount;
use serde_json::{Value, json};
use std::time::Duration;

fn main() {
    divan::main();
}

fn recorder() -> (tempfile::TempDir, Recorder) {
    let dir = tempfile::tempdir().expect("a folder");
    let clock = Clock::start();
    let recorder = Recorder::create(dir.path(), clock, EpochCell::new(clock)).expect("a recorder");
    (dir, recorder)
}

/// Begin and end of a read, with node and deadline, buffered writing included.
#[divan::bench(sample_count = 50, sample_size = 20_000)]
fn operation(bencher: Bencher<'_, '_>) {
    let (_dir, recorder) = recorder();
    let client = recorder.client(1).expect("a client");
    bencher.counter(ItemsCount::new(1_u32)).bench_local(|| {
        client.invoke("read", "key17", Value::Null).node("n1").deadline(Duration::from_secs(1)).ok(json!(42));
    });
}

/// The same on two threads at once: clients share no lock.
#[divan::bench(threads = [1, 2], sample_count = 20, sample_size = 20_000)]
fn operation_of_one_of_many_clients(bencher: Bencher<'_, '_>) {
    let (_dir, recorder) = recorder();
    let next = std::sync::atomic::AtomicU64::new(0);
    std::thread_local! {
        static CLIENT: std::cell::OnceCell<disttest_runtime::recorder::ClientRecorder> =
            const { std::cell::OnceCell::new() };
    }
    bencher.counter(ItemsCount::new(1_u32)).bench(|| {
        CLIENT.with(|cell| {
            let client = cell.get_or_init(|| {
                let process = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                recorder.client(process).expect("a client")
            });
            client.invoke("read", "key17", Value::Null).node("n1").ok(json!(42));
        });
    });
}

/// Merging, checking and writing what four clients recorded.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn finish_of_100_000_operations(bencher: Bencher<'_, '_>) {
    let full = || {
        let (dir, recorder) = recorder();
        for process in 0..4 {
            let client = recorder.client(process).expect("a client");
            for i in 0..25_000 {
                client.invoke("write", "key17", json!(i)).node("n1").ok(json!("ok"));
            }
        }
        (dir, recorder)
    };
    bencher.counter(ItemsCount::new(100_000_u32)).with_inputs(full).bench_local_values(|(dir, recorder)| {
        recorder.finish().expect("a history");
        dir
    });
}
