//! The limits of a check: the clock and the memory of this process, and a line on stderr now and then.

use super::{Settings, memory};
use crate::console::Console;
use disttest_runtime::checker::Limits;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// How often the memory is looked at, in milliseconds.
const LOOK_EVERY: u64 = 50;
/// How often somebody is told, in milliseconds.
const TELL_EVERY: u64 = 5_000;

/// Limits of one file.
#[derive(Debug)]
pub(crate) struct Watch<'c> {
    began: Instant,
    timeout: Duration,
    memory: u64,
    threads: usize,
    console: &'c Console,
    what: String,
    looked: AtomicU64,
    resident: AtomicU64,
    told: AtomicU64,
}

impl<'c> Watch<'c> {
    /// Limits that count from now.
    pub(crate) fn new(what: String, settings: &Settings, console: &'c Console) -> Watch<'c> {
        let Settings { timeout, memory, threads, .. } = *settings;
        let (looked, resident, told) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        Watch { began: Instant::now(), timeout, memory, threads, console, what, looked, resident, told }
    }

    /// As [`Limits::exceeded`], with the memory as it is now.
    pub(crate) fn exceeded_now(&self) -> Option<String> {
        self.resident.store(memory::now().unwrap_or(0), Relaxed);
        self.exceeded(0)
    }

    /// True once in `every` milliseconds.
    fn due(&self, last: &AtomicU64, now: u64, every: u64) -> bool {
        let before = last.load(Relaxed);
        now >= before.saturating_add(every) && last.compare_exchange(before, now, Relaxed, Relaxed).is_ok()
    }

    fn tell(&self, elapsed: Duration) {
        let resident = self.resident.load(Relaxed) >> 20;
        let left = self.timeout.saturating_sub(elapsed).as_secs();
        let what = &self.what;
        self.console.status(
            "Checking",
            format_args!("{what}: {} s so far, {resident} MB; stops in {left} s", elapsed.as_secs()),
        );
    }
}

impl Limits for Watch<'_> {
    fn exceeded(&self, bytes: u64) -> Option<String> {
        let elapsed = self.began.elapsed();
        if elapsed >= self.timeout {
            return Some(format!("the time limit of {}", humantime::format_duration(self.timeout)));
        }
        let now = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        if self.due(&self.looked, now, LOOK_EVERY) {
            self.resident.store(memory::now().unwrap_or(0), Relaxed);
        }
        if self.due(&self.told, now, TELL_EVERY) {
            self.tell(elapsed);
        }
        let held = bytes.max(self.resident.load(Relaxed));
        (held > self.memory).then(|| format!("the memory limit of {} MB", self.memory >> 20))
    }

    fn threads(&self) -> usize {
        self.threads
    }
}
