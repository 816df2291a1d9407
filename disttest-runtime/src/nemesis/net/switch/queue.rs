//! Packets that wait: one thread delivers each when it is due.

use super::port::Port;
use super::way::{Way, Why};
use anyhow::{Context, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// Most bytes that may wait; what comes on top is lost, and counted as dropped.
const CAPACITY: usize = 256 << 20;

/// Packets in the order in which they are due.
#[derive(Debug)]
pub(super) struct Queue {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: BinaryHeap<Reverse<Waiting>>,
    bytes: usize,
    /// Packets that came so far: those due at one moment go in this order.
    came: u64,
    stopped: bool,
}

/// A packet that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    due: Instant,
    came: u64,
    number: u64,
    why: Why,
    way: Arc<Way>,
    port: Arc<Port>,
    frame: Vec<u8>,
}

impl Waiting {
    pub(super) fn new(due: Instant, number: u64, why: Why, way: Arc<Way>, port: Arc<Port>, frame: &[u8]) -> Waiting {
        Waiting { due, came: 0, number, why, way, port, frame: frame.to_vec() }
    }

    /// A cut that began meanwhile meets what is under way, too.
    fn deliver(self) {
        if self.way.is_cut() {
            self.way.lost();
        } else if self.port.write(&self.frame) {
            self.way.delivered_late(&self.frame, self.number, self.why);
        }
    }

    fn key(&self) -> (Instant, u64) {
        (self.due, self.came)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Queue {
    pub(super) fn start() -> Result<Queue> {
        let shared = Arc::new(Shared::default());
        let run = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("queue".to_owned()).spawn(move || run.deliver_until_stopped());
        thread.context("the queue of a switch has no thread")?;
        Ok(Queue { shared })
    }

    pub(super) fn push(&self, mut packet: Waiting) {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.bytes + packet.frame.len() > CAPACITY {
            drop(state);
            packet.way.lost();
            return;
        }
        state.came += 1;
        state.bytes += packet.frame.len();
        packet.came = state.came;
        let first = state.waiting.peek().is_none_or(|Reverse(first)| packet.due < first.due);
        state.waiting.push(Reverse(packet));
        drop(state);
        if first {
            self.shared.changed.notify_one();
        }
    }

    pub(super) fn stop(&self) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).stopped = true;
        self.shared.changed.notify_one();
    }
}

impl Shared {
    fn deliver_until_stopped(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.stopped {
            let now = Instant::now();
            match state.waiting.peek().map(|Reverse(first)| first.due) {
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(due) if due > now => {
                    state = self.changed.wait_timeout(state, due - now).unwrap_or_else(PoisonError::into_inner).0;
                }
                Some(_) => {
                    if let Some(Reverse(packet)) = state.waiting.pop() {
                        state.bytes -= packet.frame.len();
                        drop(state);
                        packet.deliver();
                        state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                    }
                }
            }
        }
    }
}
