//! Which fault window an operation overlapped. The runtime says when windows begin and end; a scenario cannot.

use super::Clock;
use crate::base::time::Nanos;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The fault windows of a run. Clones share them.
#[derive(Clone, Debug)]
pub struct EpochCell {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    clock: Clock,
    /// The window that is open; 0 for none.
    open: AtomicU64,
    /// Nanoseconds at which the last window that is over ended; 0 for none.
    last_end: AtomicU64,
    windows: Mutex<Vec<Span>>,
}

#[derive(Debug)]
struct Span {
    epoch: u64,
    begin: Nanos,
    end: Option<Nanos>,
}

impl EpochCell {
    /// No window yet. `clock` is the clock of the recorder.
    pub fn new(clock: Clock) -> EpochCell {
        let (open, last_end) = (AtomicU64::new(0), AtomicU64::new(0));
        EpochCell { inner: Arc::new(Inner { clock, open, last_end, windows: Mutex::default() }) }
    }

    /// Opens window `epoch` (from 1), before its injection is requested. A window that is still open ends here.
    #[cfg_attr(not(test), allow(dead_code, reason = "called by the run, which stamps windows"))]
    pub(crate) fn begin(&self, epoch: u64) -> Nanos {
        assert!(epoch > 0, "0 stands for no window");
        let mut windows = self.windows();
        self.close(&mut windows);
        // Stored before the clock is read: an operation that completed after `begin` cannot have missed it.
        self.inner.open.store(epoch, SeqCst);
        let begin = self.inner.clock.now();
        windows.push(Span { epoch, begin, end: None });
        begin
    }

    /// Closes the open window, after its heal was acknowledged.
    #[cfg_attr(not(test), allow(dead_code, reason = "called by the run, which stamps windows"))]
    pub(crate) fn end(&self) -> Nanos {
        let mut windows = self.windows();
        self.close(&mut windows);
        self.inner.clock.now()
    }

    fn close(&self, windows: &mut [Span]) {
        let now = self.inner.clock.now();
        for span in windows.iter_mut().filter(|span| span.end.is_none()) {
            span.end = Some(now);
            self.inner.last_end.store(now.0, SeqCst);
        }
        self.inner.open.store(0, SeqCst);
    }

    /// The first window that overlaps `from..=to`, where `to` has been read from the clock just before. Takes no lock
    /// unless a window ended since `from`.
    pub fn overlapping(&self, from: Nanos, to: Nanos) -> Option<u64> {
        let open = self.inner.open.load(SeqCst);
        let last_end = self.inner.last_end.load(SeqCst);
        if last_end == 0 || last_end < from.0 {
            // No window that is over reaches `from`, so only the open one can.
            return (open > 0).then_some(open);
        }
        let windows = self.windows();
        let overlaps = |span: &&Span| span.begin <= to && span.end.is_none_or(|end| end >= from);
        windows.iter().find(overlaps).map(|span| span.epoch)
    }

    fn windows(&self) -> MutexGuard<'_, Vec<Span>> {
        self.inner.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_carries_the_first_window_it_overlaps() {
        let clock = Clock::start();
        let cell = EpochCell::new(clock);
        let before = clock.now();
        assert_eq!(cell.overlapping(before, clock.now()), None, "no window yet");
        let begin = cell.begin(1);
        let inside = clock.now();
        assert_eq!(cell.overlapping(inside, clock.now()), Some(1), "begun and completed inside");
        assert_eq!(cell.overlapping(before, clock.now()), Some(1), "completed inside");
        let end = cell.end();
        let between = clock.now();
        assert_eq!(cell.overlapping(inside, clock.now()), Some(1), "begun inside");
        assert_eq!(cell.overlapping(before, clock.now()), Some(1), "the window opened and closed in between");
        assert_eq!(cell.overlapping(between, clock.now()), None, "begun after it");
        assert_eq!(cell.overlapping(before, Nanos(begin.0 - 1)), None, "completed before it");
        assert!(begin <= inside && inside <= end);
        cell.begin(2);
        assert_eq!(cell.overlapping(between, clock.now()), Some(2));
        assert_eq!(cell.overlapping(inside, clock.now()), Some(1), "of two, the first");
        cell.begin(3);
        assert_eq!(cell.overlapping(clock.now(), clock.now()), Some(3), "a new window ends the one before");
    }
}
