//! Checks a transactional history for isolation, and says how long reading and checking took.
//!
//! ```text
//! cargo run --release -p disttest-runtime --example isolation -- list-append HISTORY.jsonl [LEVEL]
//! cargo run --release -p disttest-runtime --example isolation -- linearizable-keys HISTORY.jsonl [LEVEL]
//! ```
#![expect(clippy::print_stdout, reason = "an example prints")]

use disttest_runtime::checker::Unlimited;
use disttest_runtime::checker::isolation::{KeyOrder, Level, Options, check};
use disttest_runtime::txn::jsonl;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, file, level @ ..] = &arguments[..] else { return Err("wanted: MODEL HISTORY [LEVEL]".into()) };
    let assumed = KeyOrder {
        writes_follow_reads: model == "wfr-keys",
        sequential: model == "sequential-keys",
        linearizable: model == "linearizable-keys",
    };
    let mut options = if model == "list-append" { Options::list_append() } else { Options::register(assumed) };
    if let [level] = level {
        options = options.at(Level::named(level).ok_or("no such consistency model")?);
    }
    let start = Instant::now();
    let text = std::fs::read(file)?;
    let loaded = start.elapsed();
    let txns = jsonl::read(&text)?;
    drop(text);
    let read = start.elapsed();
    let answer = check(&txns, &options, &Unlimited);
    println!("{:?}", answer.kinds());
    for anomaly in answer.anomalies.iter().take(3) {
        println!("{}: {}", anomaly.anomaly, anomaly.explanation);
    }
    println!("not {:?}", answer.not);
    println!(
        "{} transactions: load {loaded:.2?}, read {:.2?}, check {:.2?}",
        txns.len(),
        read - loaded,
        start.elapsed() - read
    );
    Ok(())
}
