//! Red flag 7: lines of a captured log that tell of a panic or a crash which the test did not see.
//!
//! A log is read whole, from its first byte to its last; nothing is skipped by time or size.

use crate::verdict::{ExpectedLog, LogScan};

/// What a process writes when it panics, aborts or is caught by a sanitizer, in lower case.
const MARKERS: [&str; 10] = [
    "panicked at",
    "thread panicked",
    "fatal error",
    "fatal:",
    "segmentation fault",
    "double free",
    "addresssanitizer",
    "threadsanitizer",
    "unhandled exception",
    "assertion failed",
];
/// Suspicious lines kept for each log; the others are counted.
const KEPT: usize = 20;
/// Characters kept of a suspicious line.
const LINE: usize = 200;

/// Reads logs one after another.
#[derive(Debug)]
pub struct Scanner<'a> {
    scan: LogScan,
    expected: Vec<(&'a ExpectedLog, u64)>,
}

impl<'a> Scanner<'a> {
    /// One that leaves out what is `expected` in logs of nodes, and counts it.
    pub fn new(expected: &'a [ExpectedLog]) -> Scanner<'a> {
        Scanner { scan: LogScan::default(), expected: expected.iter().map(|line| (line, 0)).collect() }
    }

    /// Adds the log `name` with content `text`; what is expected of nodes counts when it is the log `of_a_node`. Linear in
    /// the text for each expected line.
    pub fn add(&mut self, name: &str, text: &[u8], of_a_node: bool) {
        self.scan.files += 1;
        self.scan.bytes += text.len() as u64;
        let text = String::from_utf8_lossy(text);
        let mut hits = 0;
        for (number, line) in text.lines().enumerate().filter(|(_, line)| is_suspicious(line)) {
            if of_a_node && self.is_expected(line) {
                continue;
            }
            hits += 1;
            if hits <= KEPT {
                let line: String = line.trim().chars().take(LINE).collect();
                self.scan.suspicious.push(format!("{name}:{}: {line}", number + 1));
            }
        }
        if hits > KEPT {
            self.scan.suspicious.push(format!("{name}: {} more such lines", hits - KEPT));
        }
    }

    /// Counts `line` for the first expected text that it contains.
    fn is_expected(&mut self, line: &str) -> bool {
        let found = self.expected.iter_mut().find(|(expected, _)| line.contains(&expected.contains));
        found.map(|(_, count)| *count += 1).is_some()
    }

    /// What was found.
    pub fn done(mut self) -> LogScan {
        let told = |(line, count): &(&ExpectedLog, u64)| {
            format!("{count} lines with `{}` are expected: {}", line.contains, line.reason)
        };
        self.scan.expected = self.expected.iter().filter(|(_, count)| *count > 0).map(told).collect();
        self.scan
    }
}

fn is_suspicious(line: &str) -> bool {
    let line = line.to_lowercase();
    MARKERS.iter().any(|marker| line.contains(marker))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_anywhere_in_a_log_is_found_with_its_line() {
        let mut scanner = Scanner::new(&[]);
        scanner.add("n1.log", b"up\nthread 'main' panicked at src/x.rs:1:1:\nboom \xff\n", true);
        scanner.add("n2.log", b"all quiet\n", true);
        let scan = scanner.done();
        assert_eq!((scan.files, scan.bytes), (2, 60));
        assert_eq!(scan.suspicious, ["n1.log:2: thread 'main' panicked at src/x.rs:1:1:"]);
    }

    #[test]
    fn lines_beyond_the_limit_are_counted_not_dropped() {
        let mut scanner = Scanner::new(&[]);
        scanner.add("n1.log", "Fatal: no\n".repeat(25).as_bytes(), true);
        let scan = scanner.done();
        assert_eq!(scan.suspicious.len(), KEPT + 1);
        assert_eq!(scan.suspicious[KEPT], "n1.log: 5 more such lines");
    }

    #[test]
    fn an_expected_line_is_counted_apart_and_only_in_the_log_of_a_node() {
        let expected = [ExpectedLog { contains: "FATAL:  starting up".into(), reason: "it recovers".into() }];
        let text = b"FATAL:  starting up\nFATAL:  starting up (again)\nFATAL:  disk gone\n";
        let check = |of_a_node, suspicious: &[&str], told: &[&str]| {
            let mut scanner = Scanner::new(&expected);
            scanner.add("x.log", text, of_a_node);
            let scan = scanner.done();
            assert_eq!((scan.suspicious, scan.expected), (own(suspicious), own(told)), "{of_a_node}");
        };
        fn own(lines: &[&str]) -> Vec<String> {
            lines.iter().map(|line| (*line).to_owned()).collect()
        }
        let all =
            ["x.log:1: FATAL:  starting up", "x.log:2: FATAL:  starting up (again)", "x.log:3: FATAL:  disk gone"];
        check(true, &all[2..], &["2 lines with `FATAL:  starting up` are expected: it recovers"]);
        check(false, &all, &[]);
    }
}
