//! What a link counts: the injector's evidence. Only what was really done is counted, never what was asked for.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts of one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneCounters {
    /// Payload bytes delivered.
    pub bytes_passed: u64,
    /// Payload bytes swallowed.
    pub bytes_dropped: u64,
    /// Chunks delivered after they had waited for their delay.
    pub chunks_delayed: u64,
    /// Bytes delivered after they had waited for the bandwidth.
    pub bytes_throttled: u64,
}

impl LaneCounters {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: LaneCounters) -> LaneCounters {
        LaneCounters {
            bytes_passed: self.bytes_passed + other.bytes_passed,
            bytes_dropped: self.bytes_dropped + other.bytes_dropped,
            chunks_delayed: self.chunks_delayed + other.chunks_delayed,
            bytes_throttled: self.bytes_throttled + other.bytes_throttled,
        }
    }
}

/// Counts of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// From the opener to the accepter.
    pub forward: LaneCounters,
    /// Back.
    pub backward: LaneCounters,
    /// Connections accepted from the opener.
    pub connections_opened: u64,
    /// Connections open now.
    pub connections_open: u64,
    /// Connections reset because [`super::ProxyNet::reset_connections`] asked for it, and for no other reason.
    pub connections_reset: u64,
    /// Connections reset at the end of a cut because their stream had lost bytes.
    pub connections_reset_at_heal: u64,
    /// Resets by one end that were passed on to the other.
    pub resets_relayed: u64,
    /// Connections the other end could not be opened for: no upstream set, or it refused; and failures to accept.
    pub refused: u64,
}

/// The live counts of a lane.
#[derive(Debug, Default)]
pub(super) struct LiveLane {
    pub(super) passed: AtomicU64,
    pub(super) dropped: AtomicU64,
    pub(super) delayed: AtomicU64,
    pub(super) throttled: AtomicU64,
}

impl LiveLane {
    pub(super) fn snapshot(&self) -> LaneCounters {
        LaneCounters {
            bytes_passed: self.passed.load(Relaxed),
            bytes_dropped: self.dropped.load(Relaxed),
            chunks_delayed: self.delayed.load(Relaxed),
            bytes_throttled: self.throttled.load(Relaxed),
        }
    }
}

/// The live counts of a link's connections.
#[derive(Debug, Default)]
pub(super) struct LiveLink {
    pub(super) opened: AtomicU64,
    pub(super) open: AtomicU64,
    pub(super) reset: AtomicU64,
    pub(super) reset_at_heal: AtomicU64,
    pub(super) relayed: AtomicU64,
    pub(super) refused: AtomicU64,
}
