//! The sampler: one thread that reads every declared signal five times a second, from the start of the cluster on.

use crate::base::time::Nanos;
use crate::fault::{Sample, Series, Shape};
use crate::recorder::Clock;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between two readings. Windows ask for one at least every 250 ms.
pub(crate) const CADENCE: Duration = Duration::from_millis(200);

/// Reads a signal now; `None` is a gap. Must not block for long: all signals share the thread.
pub(crate) type Reader = Box<dyn FnMut() -> Option<f64> + Send>;

/// Reads signals until it is dropped.
#[derive(Debug)]
pub(crate) struct Sampler {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    clock: Clock,
    tracks: Mutex<Vec<Track>>,
    stopped: Mutex<bool>,
    wake: Condvar,
}

struct Track {
    signal: String,
    source: String,
    shape: Shape,
    /// `None` for a track that is fed by [`Feed`].
    read: Option<Reader>,
    samples: Vec<Sample>,
    /// Usable readings from the start on, forgotten ones included.
    usable: u64,
}

impl Sampler {
    /// Starts the thread; it samples what [`Sampler::add`] names.
    pub(crate) fn start(clock: Clock) -> Result<Sampler> {
        let shared =
            Arc::new(Shared { clock, tracks: Mutex::default(), stopped: Mutex::new(false), wake: Condvar::new() });
        let run = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("sampler".to_owned()).spawn(move || run.sample_until_stopped());
        Ok(Sampler { shared, thread: Some(thread.context("the sampling thread did not start")?) })
    }

    /// Reads `signal` at `source` from now on.
    pub(crate) fn add(&self, signal: &str, source: &str, shape: Shape, read: Reader) {
        self.shared.add(signal, source, shape, Some(read));
    }

    /// A series that someone else feeds, because its readings take time.
    pub(crate) fn feed(&self, signal: &str, source: &str, shape: Shape) -> Feed {
        self.shared.add(signal, source, shape, None);
        Feed { shared: Arc::clone(&self.shared), signal: signal.to_owned(), source: source.to_owned() }
    }

    /// Reads everything once, now, beside the thread's own rhythm: edges of windows are sharper for it.
    pub(crate) fn tick(&self) {
        self.shared.tick();
    }

    /// The readings in `from..=until` of the series that `wanted(signal, source)` names. A marker counts from the
    /// last reading before `from`.
    pub(crate) fn series(&self, from: Nanos, until: Nanos, wanted: impl Fn(&str, &str) -> bool) -> Vec<Series> {
        let tracks = self.shared.tracks();
        let wanted = tracks.iter().filter(|track| wanted(&track.signal, &track.source));
        wanted.map(|track| track.cut(from, until)).collect()
    }

    /// Usable readings of each series since `from`: (signal, source, how many).
    pub(crate) fn counts(&self, from: Nanos) -> Vec<(String, String, usize)> {
        let usable = |track: &Track| track.samples.iter().filter(|s| s.at >= from && s.value.is_some()).count();
        let tracks = self.shared.tracks();
        tracks.iter().map(|track| (track.signal.clone(), track.source.clone(), usable(track))).collect()
    }

    /// Names of the signals that were read at least once, anywhere.
    pub(crate) fn ever_read(&self) -> BTreeSet<String> {
        let tracks = self.shared.tracks();
        tracks.iter().filter(|track| track.usable > 0).map(|track| track.signal.clone()).collect()
    }

    /// Forgets readings before `before`, so that a soak of days needs no more memory than one of minutes. The last value
    /// of each signal stays: the next window's markers count from it.
    pub(crate) fn forget(&self, before: Nanos) {
        for track in self.shared.tracks().iter_mut() {
            let last = track.samples.iter().rposition(|sample| sample.at < before && sample.value.is_some());
            let mut index = 0;
            track.samples.retain(|sample| {
                index += 1;
                sample.at >= before || Some(index - 1) == last
            });
        }
    }

    /// Ends the thread. Readings stay.
    pub(crate) fn stop(&mut self) {
        *self.shared.stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.shared.wake.notify_all();
        if let Some(thread) = self.thread.take() {
            // A reader that panicked ended the thread: its series simply stop, which proves nothing.
            drop(thread.join());
        }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Feeds one series from outside the sampling thread.
#[derive(Debug)]
pub(crate) struct Feed {
    shared: Arc<Shared>,
    signal: String,
    source: String,
}

impl Feed {
    /// Adds a reading that was complete just now; `None` is a gap.
    pub(crate) fn push(&self, value: Option<f64>) {
        let mut tracks = self.shared.tracks();
        // Read under the lock, so that times never go backwards.
        let at = self.shared.clock.now();
        let track = tracks.iter_mut().find(|track| track.signal == self.signal && track.source == self.source);
        if let Some(track) = track {
            track.push(at, value);
        }
    }
}

impl Shared {
    fn sample_until_stopped(&self) {
        let mut next = Instant::now();
        loop {
            self.tick();
            next += CADENCE;
            // After a stall it goes on from now: catching up would only pile readings on one moment.
            next = next.max(Instant::now());
            let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
            while !*stopped && Instant::now() < next {
                let left = next.saturating_duration_since(Instant::now());
                stopped = self.wake.wait_timeout(stopped, left).unwrap_or_else(PoisonError::into_inner).0;
            }
            if *stopped {
                return;
            }
        }
    }

    fn tick(&self) {
        for track in self.tracks().iter_mut() {
            if let Some(read) = &mut track.read {
                let value = read();
                track.push(self.clock.now(), value);
            }
        }
    }

    fn add(&self, signal: &str, source: &str, shape: Shape, read: Option<Reader>) {
        let (signal, source) = (signal.to_owned(), source.to_owned());
        let mut tracks = self.tracks();
        if !tracks.iter().any(|track| track.signal == signal && track.source == source) {
            tracks.push(Track { signal, source, shape, read, samples: Vec::new(), usable: 0 });
        }
    }

    fn tracks(&self) -> MutexGuard<'_, Vec<Track>> {
        self.tracks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("tracks", &self.tracks().len()).finish_non_exhaustive()
    }
}

impl Track {
    fn push(&mut self, at: Nanos, value: Option<f64>) {
        self.usable += u64::from(value.is_some());
        // Two readings at one moment say no more than one; the later stands.
        match self.samples.last_mut() {
            Some(last) if last.at >= at => last.value = value,
            _ => self.samples.push(Sample { at, value }),
        }
    }

    fn cut(&self, from: Nanos, until: Nanos) -> Series {
        let earlier = self.samples.iter().rev().filter(|s| s.at < from).find_map(|s| s.value);
        let base = if self.shape == Shape::Marker { earlier.unwrap_or(0.0) } else { 0.0 };
        let inside = self.samples.iter().filter(|s| from <= s.at && s.at <= until);
        let samples = inside.map(|s| Sample { at: s.at, value: s.value.map(|value| value - base) }).collect();
        Series { signal: self.signal.clone(), source: self.source.clone(), shape: self.shape, samples }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn sampler() -> (Sampler, Clock) {
        let clock = Clock::start();
        (Sampler::start(clock).expect("a thread"), clock)
    }

    #[test]
    fn every_signal_is_read_at_least_every_250_ms() {
        let (sampler, clock) = sampler();
        let count = Arc::new(AtomicU64::new(0));
        let reads = Arc::clone(&count);
        let read = move || Some(reads.fetch_add(1, Ordering::Relaxed) as f64);
        sampler.add("s", "n1", Shape::Counter { dose: 1.0 }, Box::new(read));
        while count.load(Ordering::Relaxed) < 5 {
            std::thread::sleep(Duration::from_millis(10));
        }
        let series = sampler.series(Nanos(0), clock.now(), |_, _| true);
        let times: Vec<Nanos> = series[0].samples.iter().map(|s| s.at).collect();
        assert!(times.is_sorted() && times.len() >= 4, "{times:?}");
    }

    #[test]
    fn a_marker_counts_from_the_baseline_of_its_window() {
        let (mut sampler, clock) = sampler();
        sampler.stop();
        let feed = sampler.feed("log-marker:x", "n1", Shape::Marker);
        feed.push(Some(3.0));
        std::thread::sleep(Duration::from_millis(1));
        let from = clock.now();
        feed.push(Some(3.0));
        std::thread::sleep(Duration::from_millis(1));
        feed.push(Some(4.0));
        let series = sampler.series(from, clock.now(), |signal, source| (signal, source) == ("log-marker:x", "n1"));
        let values: Vec<Option<f64>> = series[0].samples.iter().map(|s| s.value).collect();
        assert_eq!(values, [Some(0.0), Some(1.0)]);
    }

    #[test]
    fn a_marker_counts_from_what_an_earlier_window_left_after_that_was_forgotten() {
        let (mut sampler, clock) = sampler();
        sampler.stop();
        let feed = sampler.feed("process-exit", "n1", Shape::Marker);
        for value in [Some(0.0), Some(1.0), None] {
            feed.push(value);
            std::thread::sleep(Duration::from_millis(1));
        }
        let from = clock.now();
        sampler.forget(from);
        feed.push(Some(1.0));
        let series = sampler.series(from, clock.now(), |_, _| true);
        assert_eq!(series[0].samples.iter().map(|s| s.value).collect::<Vec<_>>(), [Some(0.0)]);
    }

    #[test]
    fn a_gap_is_kept_as_a_gap() {
        let (mut sampler, clock) = sampler();
        sampler.stop();
        let feed = sampler.feed("metric:m", "n1", Shape::Counter { dose: 1.0 });
        feed.push(None);
        assert_eq!(sampler.series(Nanos(0), clock.now(), |_, _| true)[0].samples[0].value, None);
        assert_eq!(sampler.counts(Nanos(0)), [("metric:m".to_owned(), "n1".to_owned(), 0)]);
    }
}
