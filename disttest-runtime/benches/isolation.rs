//! How long reading and checking transactional histories takes. Never a test with a time limit.

use disttest_runtime::base::rng::Rng;
use disttest_runtime::checker::Unlimited;
use disttest_runtime::checker::isolation::{KeyOrder, Level, Options, check};
use disttest_runtime::txn::jsonl;
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use std::fmt::Write;

fn main() {
    divan::main();
}

/// How many versions a key gets before another one takes its place.
const VERSIONS: i64 = 32;

/// A strictly serializable history of `count` transactions of 20 clients, four micro-operations each, as JSON Lines: a
/// transaction runs at the instant of its completion. One in a hundred crashes.
fn history(count: usize, is_list: bool) -> String {
    let mut rng = Rng::new(1);
    let mut text = String::new();
    let mut lists: Vec<Vec<i64>> = vec![Vec::new(); 20];
    let mut keys: Vec<usize> = (0..20).collect();
    let mut open: Vec<Option<Vec<(usize, bool, i64)>>> = vec![None; 20];
    let mut names: Vec<usize> = (0..20).collect();
    let (mut asked, mut written) = (0, [0_i64; 20]);
    while asked < count || open.iter().any(Option::is_some) {
        let client = rng.below(20) as usize;
        let name = names[client];
        if let Some(mops) = open[client].take() {
            let crashes = rng.chance(1, 100);
            let kind = if crashes { "info" } else { "ok" };
            let mops: Vec<String> = mops
                .into_iter()
                .map(|(key, is_write, value)| {
                    if is_write {
                        lists[key].push(value);
                    }
                    mop(is_list, key, is_write, value, Some(&lists[key][..]).filter(|_| !crashes))
                })
                .collect();
            event(&mut text, name, kind, &mops);
            if crashes {
                names[client] += 20;
            }
            continue;
        }
        if asked == count {
            continue;
        }
        asked += 1;
        let mops: Vec<(usize, bool, i64)> = (0..4)
            .map(|_| {
                let slot = rng.below(20) as usize;
                let is_write = rng.chance(1, 2);
                if is_write {
                    written[slot] += 1;
                    if written[slot] > VERSIONS {
                        (keys[slot], written[slot]) = (lists.len(), 1);
                        lists.push(Vec::new());
                    }
                }
                (keys[slot], is_write, written[slot])
            })
            .collect();
        let lines: Vec<String> =
            mops.iter().map(|(key, is_write, value)| mop(is_list, *key, *is_write, *value, None)).collect();
        event(&mut text, name, "invoke", &lines);
        open[client] = Some(mops);
    }
    text
}

fn mop(is_list: bool, key: usize, is_write: bool, value: i64, shown: Option<&[i64]>) -> String {
    match (is_write, is_list, shown) {
        (true, true, _) => format!("[\"append\",{key},{value}]"),
        (true, false, _) => format!("[\"w\",{key},{value}]"),
        (false, true, Some(list)) => {
            let list: Vec<String> = list.iter().map(i64::to_string).collect();
            format!("[\"r\",{key},[{}]]", list.join(","))
        }
        (false, false, Some([.., last])) => format!("[\"r\",{key},{last}]"),
        (false, ..) => format!("[\"r\",{key},null]"),
    }
}

fn event(text: &mut String, process: usize, kind: &str, mops: &[String]) {
    let value = mops.join(",");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"txn\",\"value\":[{value}]}}");
}

const SIZES: [usize; 2] = [10_000, 100_000];

/// Reading lists.
#[divan::bench(args = SIZES)]
fn read_lists(bencher: Bencher<'_, '_>, transactions: usize) {
    let text = history(transactions, true);
    bencher.counter(ItemsCount::new(transactions)).bench_local(|| jsonl::read(black_box(text.as_bytes())));
}

/// Checking lists, strictly serializable.
#[divan::bench(args = SIZES)]
fn check_lists(bencher: Bencher<'_, '_>, transactions: usize) {
    let txns = jsonl::read(history(transactions, true).as_bytes()).expect("a history");
    let options = Options::list_append();
    bencher.counter(ItemsCount::new(transactions)).bench_local(|| check(black_box(&txns), &options, &Unlimited));
}

/// Checking registers whose keys are linearizable.
#[divan::bench(args = SIZES)]
fn check_linearizable_registers(bencher: Bencher<'_, '_>, transactions: usize) {
    let txns = jsonl::read(history(transactions, false).as_bytes()).expect("a history");
    let options = Options::register(KeyOrder { linearizable: true, ..KeyOrder::default() });
    bencher.counter(ItemsCount::new(transactions)).bench_local(|| check(black_box(&txns), &options, &Unlimited));
}

/// Checking registers of which nothing is assumed at levels below snapshot isolation.
#[divan::bench(args = ["read-committed", "monotonic-atomic-view", "read-atomic", "causal"])]
fn check_weak_registers(bencher: Bencher<'_, '_>, level: &str) {
    let transactions = 100_000;
    let txns = jsonl::read(history(transactions, false).as_bytes()).expect("a history");
    let options = Options::register(KeyOrder::default()).at(Level::named(level).expect(level));
    bencher.counter(ItemsCount::new(transactions)).bench_local(|| check(black_box(&txns), &options, &Unlimited));
}
