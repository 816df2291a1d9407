//! How long linearizability takes: on generated histories of the sizes that were promised, and, when `DISTTEST_CASES` names
//! the folder of recorded cases, on each of them beside what a peer took. Never a test with a time limit.
//!
//! `[DISTTEST_CASES=…] cargo bench -p disttest-runtime --bench linearizability [-- PART_OF_A_NAME…]`: the least processor
//! time of this thread over many runs; what a check may use threads for, it does alone here.
//!
//! Peers are measured from outside: `DISTTEST_PEER` is a CSV whose first column is a file of the manifest and whose last
//! one the seconds of processor time that the peer took to check it (in place of `linearizability/porcupine.csv`).
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a report")]

#[path = "subjects/atomic.rs"]
mod atomic;
#[path = "subjects/cpu.rs"]
mod cpu;
#[path = "../tests/cases/manifest.rs"]
mod manifest;

use atomic::{Act, atomic};
use disttest_runtime::audit::damage::{DamageKind, damage};
use disttest_runtime::checker::{Checker, Limits, Linearizability, Outcome};
use disttest_runtime::history::History;
use disttest_runtime::history::generate::{Object, Shape, history};
use disttest_runtime::model::{Log, MapModel, Model, Queue, Register, SetModel, Stack};
use serde_json::json;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Stops what takes a gigabyte or twenty seconds: it is told as unknown, and the others go on.
struct Bounds(Instant);

impl Bounds {
    fn from_now() -> Bounds {
        Bounds(Instant::now())
    }
}

impl Limits for Bounds {
    fn exceeded(&self, bytes: u64) -> Option<String> {
        let late = self.0.elapsed() > Duration::from_secs(20);
        (late || bytes > 1 << 30).then(|| "1 GB or 20 s".to_owned())
    }
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let wanted = |name: &str| asked.is_empty() || asked.iter().any(|part| name.contains(part.as_str()));
    println!("{:58} {:>8} {:>10} {:>9}", "generated", "answer", "operations", "ms");
    for (name, history, checker) in generated() {
        if wanted(&name) {
            let history = history();
            let (answer, took) = timed(&*checker, &history);
            println!("{name:58} {answer:>8} {:>10} {:>9.3}", history.ops().len(), took.as_secs_f64() * 1e3);
        }
    }
    if let Some(folder) = std::env::var_os("DISTTEST_CASES") {
        recorded(&PathBuf::from(folder).join("linearizability"), &wanted);
    }
}

fn timed(checker: &dyn Checker, history: &History) -> (&'static str, Duration) {
    let answer = match checker.check(history, &Bounds::from_now()).outcome {
        Outcome::Valid => "valid",
        Outcome::Invalid { .. } => "invalid",
        Outcome::Unknown { .. } => "unknown",
    };
    let took = cpu::fastest(Duration::from_millis(300), || {
        black_box(checker.check(black_box(history), &Bounds::from_now()));
    });
    (answer, took)
}

type Generated = (String, Box<dyn Fn() -> History>, Box<dyn Checker>);

fn generated() -> Vec<Generated> {
    let mut all: Vec<Generated> = Vec::new();
    for (operations, unknown) in [(10_000, 0), (10_000, 10)] {
        for act in [Act::Queue, Act::Stack, Act::Set] {
            for wrong in [false, true] {
                let name =
                    format!("{act:?}, 10 clients, {unknown}‰ unknown{}", if wrong { ", two swapped" } else { "" });
                let made = move || match wrong {
                    true => swapped(atomic(10, operations, unknown, act)),
                    false => atomic(10, operations, unknown, act),
                };
                let checker = match act {
                    Act::Queue => whole(Queue::new()),
                    Act::Stack => whole(Stack::new()),
                    _ => whole(SetModel::new()),
                };
                all.push((name, Box::new(made), checker));
            }
        }
    }
    for clients in [20, 50] {
        for operations in [1_000, 10_000] {
            for (object, values) in [
                (Object::Register, None),
                (Object::Register, Some(5)),
                (Object::CasRegister, None),
                (Object::CasRegister, Some(5)),
            ] {
                for stale in [false, true] {
                    let shape =
                        Shape { object, clients, operations, values, unknown: 10, failed: 0, ..Shape::default() };
                    let distinct = values.map_or("distinct values".to_owned(), |values| format!("{values} values"));
                    let name = format!(
                        "{object:?}, {clients} clients, {distinct}, 10‰ unknown{}",
                        if stale { ", a stale read" } else { "" }
                    );
                    all.push((name, Box::new(move || with_a_stale_read(shape, stale)), whole(Register::new())));
                }
            }
        }
    }
    for unknown in [0, 20, 60] {
        for (object, values) in
            [(Object::Register, None), (Object::CasRegister, Some(5)), (Object::Map, None), (Object::Log, None)]
        {
            let (clients, keys, operations) = (24, 30, 20_000);
            let shape = Shape { object, clients, keys, operations, unknown, values, ..Shape::default() };
            let checker: Box<dyn Checker> = match object {
                Object::Log => Box::new(Linearizability::per_key(Log::new())),
                Object::Map => whole(MapModel::new()),
                _ => Box::new(Linearizability::per_key(Register::new())),
            };
            let name = format!("{object:?}, 24 clients, 30 keys, {unknown}‰ unknown");
            all.push((name, Box::new(move || history(shape, 1)), checker));
        }
    }
    all
}

fn whole<M: Model + 'static>(model: M) -> Box<dyn Checker> {
    Box::new(Linearizability::whole(model))
}

fn with_a_stale_read(shape: Shape, stale: bool) -> History {
    let history = history(shape, 1);
    if !stale {
        return history;
    }
    damage(DamageKind::StaleRead, &history, 1).expect("reads after writes").history
}

/// `history` with the answers of two takes far apart exchanged (of a set: one answer turned round).
fn swapped(history: History) -> History {
    let mut ops = history.into_ops();
    let takes: Vec<usize> = (0..ops.len()).filter(|at| !ops[*at].output.is_null()).collect();
    let (a, b) = (takes[takes.len() / 3], takes[takes.len() / 2]);
    let other = ops[a].output.clone();
    ops[a].output = match other.as_bool() {
        Some(answer) => json!(!answer),
        None => std::mem::replace(&mut ops[b].output, other),
    };
    History::new(ops).expect("a history")
}

/// Seconds of processor time of a peer, by file.
fn peer(folder: &Path) -> BTreeMap<String, f64> {
    let file = std::env::var_os("DISTTEST_PEER").map_or_else(|| folder.join("porcupine.csv"), PathBuf::from);
    let Ok(table) = std::fs::read_to_string(file) else { return BTreeMap::new() };
    let row = |line: &str| {
        let (file, seconds) = (line.split(',').next()?, line.rsplit(',').next()?);
        Some((file.to_owned(), seconds.parse().ok()?))
    };
    table.lines().skip(1).filter_map(row).collect()
}

fn recorded(folder: &Path, wanted: &dyn Fn(&str) -> bool) {
    let peer = peer(folder);
    println!("\n{:58} {:>8} {:>10} {:>9} {:>9} {:>8}", "recorded", "answer", "operations", "ms", "peer ms", "times");
    let (mut real, mut files, mut ratios) = (Duration::ZERO, 0, Vec::new());
    for case in manifest::cases(folder) {
        let Some(checker) = case.checker().filter(|_| wanted(&case.file)) else { continue };
        let history = case.history();
        let (answer, took) = timed(&*checker, &history);
        // Where nothing was observed at all it is unknown.
        let expected = if case.expected == "linearizable" { "valid" } else { "invalid" };
        assert!(answer == expected || answer == "unknown", "{}: {answer}", case.file);
        let ms = took.as_secs_f64() * 1e3;
        print!("{:58} {answer:>8} {:>10} {ms:>9.4}", case.file, history.ops().len());
        let ratio = peer.get(&case.file).map(|seconds| (seconds * 1e3, seconds * 1e3 / ms));
        println!("{}", ratio.map_or(String::new(), |(peer, times)| format!(" {peer:>9.4} {times:>8.1}")));
        if matches!(case.model.as_str(), "etcd" | "cas-register") {
            (real, files) = (real + took, files + 1);
            ratios.extend(ratio.map(|(_, times)| times));
        }
    }
    let geometric = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    println!(
        "{files} real register files in {real:?}; peer / ours on {} of them: geometric mean {geometric:.1}, least \
         {least:.2}, {} below 1",
        ratios.len(),
        ratios.iter().filter(|ratio| **ratio < 1.0).count()
    );
}
