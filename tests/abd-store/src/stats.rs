//! Counters of a node, as a client can ask for them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Counters that only grow while the process lives; they start at 0 with it.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) gets: AtomicU64,
    pub(crate) puts: AtomicU64,
    pub(crate) incrs: AtomicU64,
    pub(crate) sums: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) unknown: AtomicU64,
    pub(crate) write_backs: AtomicU64,
    /// Whether the last operation of a client found its majority; true until one did not.
    pub(crate) has_quorum: AtomicBool,
}

impl Counters {
    pub(crate) fn new() -> Counters {
        Counters { has_quorum: AtomicBool::new(true), ..Counters::default() }
    }
}

/// Adds one.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

/// Reads.
pub(crate) fn get(counter: &AtomicU64) -> u64 {
    counter.load(Relaxed)
}

/// Answer to a Stats request, as JSON. Counts since the process started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// The node.
    pub node: String,
    /// How often it has started.
    pub boot: u32,
    /// Reads answered with a value (or "never written").
    pub gets: u64,
    /// Writes acknowledged.
    pub puts: u64,
    /// Increments acknowledged, each try of one by itself.
    pub incrs: u64,
    /// Reads of counters answered.
    pub sums: u64,
    /// Operations answered `Failed` or `Unknown` because no majority answered in time.
    pub quorum_failures: u64,
    /// Of those, writes and increments answered `Unknown`.
    pub unknown: u64,
    /// Reads, of registers and of counters, that stored what they returned.
    pub write_backs: u64,
    /// Batches written to the log, each with one fdatasync.
    pub batches: u64,
    /// Requests to peers that stayed unanswered for the peer timeout: the sum over all peers.
    pub peer_timeouts: u64,
    /// The same by peer.
    pub peer_timeouts_by_peer: BTreeMap<String, u64>,
}
