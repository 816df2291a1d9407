//! Memory of each checker and of linearizability by model, at 10,000, 100,000 and 1,000,000 operations.
//!
//! `cargo bench -p disttest-runtime --bench memory [-- PART_OF_A_NAME…]`: each line is a process of its own. Bytes an
//! operation of what is resident, by `/proc/self/status`: of the history before the check (`VmRSS`), and at the peak of
//! the check (`VmHWM`, which is reset before it) beyond that. Where the last does not grow from line to line, memory is
//! linear in the history.
#![expect(clippy::print_stdout, reason = "a report")]

#[path = "subjects/atomic.rs"]
mod atomic;
#[path = "subjects/models.rs"]
mod models;
mod subjects;

use disttest_runtime::checker::{Outcome, Unlimited};
use models::MODELS;
use std::process::Command;
use subjects::{CHECKERS, Subject};

const SIZES: [u64; 3] = [10_000, 100_000, 1_000_000];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    if let [one, name, operations] = args.as_slice()
        && one == "measure"
    {
        let subject = CHECKERS.iter().chain(MODELS).find(|subject| subject.name == name).expect("a known name");
        return measure(subject, operations.parse().expect("a number"));
    }
    println!("{:45} {:>10} {:>12} {:>12} {:>12}", "", "operations", "B/op history", "B/op check", "MB at peak");
    let this = std::env::current_exe().expect("this program");
    for (kind, subjects) in [("", CHECKERS), ("linearizability: ", MODELS)] {
        for subject in subjects.iter().filter(|subject| {
            args.is_empty() || args.iter().any(|part| format!("{kind}{}", subject.name).contains(part.as_str()))
        }) {
            for operations in SIZES {
                let run = Command::new(&this).args(["measure", subject.name, &operations.to_string()]).output();
                let run = run.expect("this program runs");
                assert!(run.status.success(), "{}: {}", subject.name, String::from_utf8_lossy(&run.stderr));
                print!("{:45} {}", format!("{kind}{}", subject.name), String::from_utf8_lossy(&run.stdout));
            }
        }
    }
}

fn measure(subject: &Subject, operations: u64) {
    let (history, checker) = ((subject.history)(operations), (subject.checker)());
    // The peak so far is forgotten (proc(5)).
    std::fs::write("/proc/self/clear_refs", "5").expect("Linux");
    let before = kilobytes("VmRSS:");
    let answer = checker.check(&history, &Unlimited);
    let peak = kilobytes("VmHWM:");
    if let Outcome::Unknown { why } = &answer.outcome {
        let why: String = why.chars().take(60).collect();
        return println!("{operations:>10} undecided: {why}…");
    }
    assert_eq!(answer.outcome, Outcome::Valid, "{}", subject.name);
    let each = |kilobytes: u64| kilobytes as f64 * 1024.0 / history.ops().len() as f64;
    let (held, more) = (each(before), each(peak.saturating_sub(before)));
    println!("{:>10} {held:>12.0} {more:>12.0} {:>12.1}", history.ops().len(), peak as f64 / 1024.0);
}

/// A line of `/proc/self/status`.
fn kilobytes(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a known line");
    line.trim().trim_end_matches("kB").trim().parse().expect("a number of kB")
}
