//! Operations a second a core of each checker that goes through a history once, in memory. Never a test with a time
//! limit.
//!
//! `cargo bench -p disttest-runtime --bench checkers [-- PART_OF_A_NAME…]`: the least processor time of this thread over
//! the runs of a second and a half, on 400,000 operations.
#![expect(clippy::print_stdout, reason = "a report")]

#[path = "subjects/cpu.rs"]
mod cpu;
mod subjects;

use disttest_runtime::checker::{Outcome, Unlimited};
use std::hint::black_box;
use std::time::Duration;

const OPERATIONS: u64 = 400_000;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    println!("{:45} {:>10} {:>8} {:>15}", "checker", "operations", "ns each", "million/s/core");
    for subject in subjects::CHECKERS {
        if !asked.is_empty() && !asked.iter().any(|part| subject.name.contains(part.as_str())) {
            continue;
        }
        let (history, checker) = ((subject.history)(OPERATIONS), (subject.checker)());
        let answer = checker.check(&history, &Unlimited);
        assert_eq!(answer.outcome, Outcome::Valid, "{}", subject.name);
        let took = cpu::fastest(Duration::from_millis(1500), || {
            black_box(checker.check(black_box(&history), &Unlimited));
        });
        let (count, nanos) = (history.ops().len(), took.as_nanos() as f64);
        println!("{:45} {count:>10} {:>8.1} {:>15.2}", subject.name, nanos / count as f64, count as f64 * 1e3 / nanos);
    }
}
