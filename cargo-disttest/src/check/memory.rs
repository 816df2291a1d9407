//! The memory of this process, where the system tells it.

use std::fs;

/// The most that was resident so far, in bytes.
pub(super) fn peak() -> Option<u64> {
    line("/proc/self/status", "VmHWM:")
}

/// What is resident now, in bytes.
pub(super) fn now() -> Option<u64> {
    line("/proc/self/status", "VmRSS:")
}

/// What a process that starts now could have, in bytes.
pub(crate) fn available() -> Option<u64> {
    line("/proc/meminfo", "MemAvailable:")
}

fn line(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}
