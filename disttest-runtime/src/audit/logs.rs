//! Red flag 7: lines of a captured log that tell of a panic or a crash which the test did not see.
//!
//! A log is read whole, from its first byte to its last; nothing is skipped by time or size.

use crate::verdict::LogScan;

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

/// Adds the log `name` with content `text` to `scan`. Linear in the text.
pub fn add(scan: &mut LogScan, name: &str, text: &[u8]) {
    scan.files += 1;
    scan.bytes += text.len() as u64;
    let text = String::from_utf8_lossy(text);
    let hits: Vec<(usize, &str)> = text.lines().enumerate().filter(|(_, line)| is_suspicious(line)).collect();
    for (number, line) in hits.iter().take(KEPT) {
        let line: String = line.trim().chars().take(LINE).collect();
        scan.suspicious.push(format!("{name}:{}: {line}", number + 1));
    }
    if hits.len() > KEPT {
        scan.suspicious.push(format!("{name}: {} more such lines", hits.len() - KEPT));
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
        let mut scan = LogScan::default();
        add(&mut scan, "n1.log", b"up\nthread 'main' panicked at src/x.rs:1:1:\nboom \xff\n");
        add(&mut scan, "n2.log", b"all quiet\n");
        assert_eq!((scan.files, scan.bytes), (2, 60));
        assert_eq!(scan.suspicious, ["n1.log:2: thread 'main' panicked at src/x.rs:1:1:"]);
    }

    #[test]
    fn lines_beyond_the_limit_are_counted_not_dropped() {
        let mut scan = LogScan::default();
        add(&mut scan, "n1.log", "Fatal: no\n".repeat(25).as_bytes());
        assert_eq!(scan.suspicious.len(), KEPT + 1);
        assert_eq!(scan.suspicious[KEPT], "n1.log: 5 more such lines");
    }
}
