//! One way through the switch: what happens to each packet on it, and the counts.

use super::super::Counts;
use super::super::treatment::{End, Treatment};
use super::frame::{self, Contents};
use crate::base::rng::Rng;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time that the queue of a throttled way may hold; what comes on top is lost.
const DEPTH: Duration = Duration::from_millis(250);

/// One way: from one port to another.
#[derive(Debug)]
pub(super) struct Way {
    /// Nothing is to be looked up while nothing acts.
    treated: AtomicBool,
    state: Mutex<State>,
    counts: Live,
}

#[derive(Debug)]
struct State {
    stream: Rng,
    treatment: Option<Treatment>,
    /// Packets that this treatment has met.
    met: u64,
    /// Until when packets that must stay in order, or wait for bandwidth, are spoken for.
    busy_until: Instant,
}

/// Why a packet waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Delay,
    Bandwidth,
    Reorder,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate {
    Drop,
    /// It goes on, so many times, with the bit flipped that is drawn. Packets of a treatment are numbered from 1.
    Now {
        number: u64,
        copies: usize,
        flip: Option<u64>,
    },
    /// It goes on when it is due.
    Later {
        number: u64,
        due: Instant,
        why: Why,
    },
}

const UNTOUCHED: Fate = Fate::Now { number: 0, copies: 1, flip: None };

#[derive(Debug, Default)]
struct Live {
    passed: AtomicU64,
    dropped: AtomicU64,
    delayed: AtomicU64,
    throttled: AtomicU64,
    duplicated: AtomicU64,
    reordered: AtomicU64,
    corrupted: AtomicU64,
    /// Largest number that was delivered under the treatment that acts.
    newest: AtomicU64,
}

impl Way {
    /// A way that draws from `stream`.
    pub(super) fn new(stream: Rng) -> Way {
        let state = State { stream, treatment: None, met: 0, busy_until: Instant::now() };
        Way { treated: AtomicBool::new(false), state: Mutex::new(state), counts: Live::default() }
    }

    /// Begins a treatment, or ends it.
    pub(super) fn treat(&self, treatment: Option<Treatment>) {
        let mut state = self.state();
        (state.treatment, state.met) = (treatment, 0);
        self.counts.newest.store(0, Relaxed);
        self.treated.store(treatment.is_some(), Relaxed);
    }

    /// Decides about `frame`. Only what is dropped is counted here; the rest once it was done.
    pub(super) fn decide(&self, frame: &[u8]) -> Fate {
        // What is no IP packet (a question for a hardware address) is no matter of these treatments, but of a cut.
        if !self.treated.load(Relaxed) {
            return UNTOUCHED;
        }
        let mut state = self.state();
        let Some(treatment) = state.treatment else { return UNTOUCHED };
        if !frame::is_ip(frame) {
            return if treatment == Treatment::Cut { Fate::Drop } else { UNTOUCHED };
        }
        let fate = state.decide(treatment, frame, Instant::now());
        drop(state);
        if fate == Fate::Drop {
            self.counts.dropped.fetch_add(1, Relaxed);
        }
        fate
    }

    /// `frame` was written `written` times, at once.
    pub(super) fn delivered(&self, frame: &[u8], number: u64, written: usize, flipped: bool) {
        if written == 0 {
            return;
        }
        self.counts.newest.fetch_max(number, Relaxed);
        self.count_payload(frame);
        if written > 1 {
            self.counts.duplicated.fetch_add(1, Relaxed);
        }
        if flipped {
            self.counts.corrupted.fetch_add(1, Relaxed);
        }
    }

    /// `frame` was written after it had waited for `why`.
    pub(super) fn delivered_late(&self, frame: &[u8], number: u64, why: Why) {
        let newest = self.counts.newest.fetch_max(number, Relaxed);
        self.count_payload(frame);
        match why {
            Why::Delay => self.counts.delayed.fetch_add(1, Relaxed),
            Why::Bandwidth => self.counts.throttled.fetch_add(1, Relaxed),
            // Held back, and overtaken indeed.
            Why::Reorder if newest > number => self.counts.reordered.fetch_add(1, Relaxed),
            Why::Reorder => 0,
        };
    }

    /// True for packets whose treatment has ended or changed: they need not wait any longer.
    pub(super) fn is_cut(&self) -> bool {
        self.treated.load(Relaxed) && self.state().treatment == Some(Treatment::Cut)
    }

    pub(super) fn counts(&self) -> Counts {
        let at = |count: &AtomicU64| count.load(Relaxed);
        Counts {
            passed: at(&self.counts.passed),
            dropped: at(&self.counts.dropped),
            delayed: at(&self.counts.delayed),
            throttled: at(&self.counts.throttled),
            duplicated: at(&self.counts.duplicated),
            reordered: at(&self.counts.reordered),
            corrupted: at(&self.counts.corrupted),
        }
    }

    /// What waited was lost after all.
    pub(super) fn lost(&self) {
        self.counts.dropped.fetch_add(1, Relaxed);
    }

    fn count_payload(&self, frame: &[u8]) {
        if frame::contents(frame).is_some_and(|contents| contents.payload > 0) {
            self.counts.passed.fetch_add(1, Relaxed);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn decide(&mut self, treatment: Treatment, frame: &[u8], now: Instant) -> Fate {
        self.met += 1;
        let number = self.met;
        let on = Fate::Now { number, copies: 1, flip: None };
        let contents = || frame::contents(frame);
        let cut = |cut: bool| if cut { Fate::Drop } else { on };
        match treatment {
            Treatment::Cut => Fate::Drop,
            Treatment::CutData => cut(contents().is_some_and(|contents| contents.payload > 0)),
            Treatment::CutPort { port, of } => cut(contents().is_some_and(|contents| is_of(contents, port, of))),
            Treatment::Lose { share } => cut(self.happens(share)),
            Treatment::Duplicate { share } if self.happens(share) => Fate::Now { number, copies: 2, flip: None },
            Treatment::Corrupt { share } if self.happens(share) => {
                Fate::Now { number, copies: 1, flip: Some(self.stream.next_u64()) }
            }
            Treatment::Reorder { share, by } if self.happens(share) => {
                Fate::Later { number, due: now + by, why: Why::Reorder }
            }
            Treatment::Duplicate { .. } | Treatment::Corrupt { .. } | Treatment::Reorder { .. } => on,
            Treatment::Delay { mean, jitter } => {
                let least = mean.saturating_sub(jitter);
                let spread = mean + jitter - least;
                let due = now + least + spread.mul_f64(self.draw());
                // In order: what was sent later is delivered later.
                self.busy_until = due.max(self.busy_until);
                Fate::Later { number, due: self.busy_until, why: Why::Delay }
            }
            Treatment::Throttle { bytes_per_second } => {
                let starts = now.max(self.busy_until);
                if starts.saturating_duration_since(now) > DEPTH {
                    return Fate::Drop;
                }
                self.busy_until = starts + Duration::from_secs_f64(frame.len() as f64 / bytes_per_second.max(1) as f64);
                Fate::Later { number, due: self.busy_until, why: Why::Bandwidth }
            }
        }
    }

    /// In [0, 1).
    fn draw(&mut self) -> f64 {
        (self.stream.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn happens(&mut self, share: f64) -> bool {
        self.draw() < share
    }
}

fn is_of(contents: Contents, port: u16, of: End) -> bool {
    match of {
        End::Sender => contents.from_port == port,
        End::Receiver => contents.to_port == port,
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::tests::tcp;
    use super::*;

    fn way(treatment: Treatment) -> Way {
        let way = Way::new(Rng::stream(7, "a->b"));
        way.treat(Some(treatment));
        way
    }

    fn dropped(treatment: Treatment, frame: &[u8], times: usize) -> usize {
        let way = way(treatment);
        (0..times).filter(|_| way.decide(frame) == Fate::Drop).count()
    }

    #[test]
    fn what_is_dropped_depends_on_what_a_packet_carries() {
        let (ack, data) = (tcp(9, 80, 0), tcp(9, 80, 3));
        let check = |treatment, frame: &[u8], expect: bool| {
            assert_eq!(dropped(treatment, frame, 1) == 1, expect, "{treatment}");
        };
        check(Treatment::Cut, &ack, true);
        check(Treatment::CutData, &ack, false);
        check(Treatment::CutData, &data, true);
        check(Treatment::CutPort { port: 80, of: End::Receiver }, &ack, true);
        check(Treatment::CutPort { port: 80, of: End::Sender }, &ack, false);
        check(Treatment::CutPort { port: 9, of: End::Sender }, &ack, true);
        check(Treatment::CutPort { port: 81, of: End::Receiver }, &data, false);
        check(Treatment::Lose { share: 0.0 }, &data, false);
        check(Treatment::Lose { share: 1.0 }, &data, true);
    }

    #[test]
    fn equal_seeds_lose_the_same_packets_and_about_the_share_that_was_asked_for() {
        let fates = |seed| {
            let way = Way::new(Rng::stream(seed, "a->b"));
            way.treat(Some(Treatment::Lose { share: 0.3 }));
            (0..10_000).map(|_| way.decide(&tcp(1, 2, 5)) == Fate::Drop).collect::<Vec<bool>>()
        };
        assert_eq!(fates(1), fates(1));
        assert_ne!(fates(1), fates(2));
        let lost = fates(1).iter().filter(|lost| **lost).count();
        assert!((2_800..3_200).contains(&lost), "{lost}");
    }

    #[test]
    fn delayed_packets_stay_in_order_and_wait_as_long_as_was_asked_for() {
        let (mean, jitter) = (Duration::from_millis(50), Duration::from_millis(20));
        let (way, now) = (way(Treatment::Delay { mean, jitter }), Instant::now());
        let mut state = way.state();
        let due: Vec<Instant> = (0..1000)
            .map(|_| match state.decide(Treatment::Delay { mean, jitter }, &tcp(1, 2, 0), now) {
                Fate::Later { due, why: Why::Delay, .. } => due,
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(due.is_sorted());
        assert!(due.iter().all(|due| (mean - jitter..=mean + jitter).contains(&(*due - now))));
    }

    #[test]
    fn a_throttled_way_takes_its_time_for_each_byte_and_loses_what_its_queue_cannot_hold() {
        let frame = tcp(1, 2, 934);
        let treatment = Treatment::Throttle { bytes_per_second: 100_000 };
        let (way, now) = (way(treatment), Instant::now());
        let mut state = way.state();
        let fates: Vec<Fate> = (0..100).map(|_| state.decide(treatment, &frame, now)).collect();
        let held = fates.iter().filter(|fate| **fate != Fate::Drop).count();
        assert_eq!(held, 26, "a quarter of a second, and the one that is being sent");
        assert_eq!(fates[9], Fate::Later { number: 10, due: now + Duration::from_millis(100), why: Why::Bandwidth });
    }

    #[test]
    fn only_a_packet_that_was_overtaken_counts_as_reordered() {
        let (way, frame) = (way(Treatment::Reorder { share: 0.5, by: Duration::from_millis(1) }), tcp(1, 2, 5));
        way.delivered_late(&frame, 1, Why::Reorder);
        assert_eq!(way.counts().reordered, 0);
        way.delivered(&frame, 3, 1, false);
        way.delivered_late(&frame, 2, Why::Reorder);
        assert_eq!(way.counts().reordered, 1);
        assert_eq!(way.counts().passed, 3);
    }

    #[test]
    fn without_a_treatment_nothing_happens_and_nothing_is_counted_but_payload() {
        let way = Way::new(Rng::stream(7, "a->b"));
        let fate = way.decide(&tcp(1, 2, 5));
        assert_eq!(fate, UNTOUCHED);
        way.delivered(&tcp(1, 2, 5), 0, 1, false);
        way.delivered(&tcp(1, 2, 0), 0, 1, false);
        assert_eq!(way.counts(), Counts { passed: 1, ..Counts::default() });
    }
}
