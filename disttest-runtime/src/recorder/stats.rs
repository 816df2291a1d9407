//! Live counts for probes: what clients saw of each node. Updated without waiting for each other, read while the run goes on.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// Live counts of a recorder. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    nodes: Arc<RwLock<HashMap<String, Arc<NodeStats>>>>,
}

impl Stats {
    /// Operations sent to `node` whose outcome is unknown. A dropped handle is a defect of the recording, not a sign
    /// of the node, and is not among them.
    pub fn timeouts(&self, node: &str) -> u64 {
        self.of(node, |stats| stats.timeouts.load(Relaxed))
    }

    /// Operations sent to `node` that are known to have failed.
    pub fn errors(&self, node: &str) -> u64 {
        self.of(node, |stats| stats.errors.load(Relaxed))
    }

    /// Operations that `node` acknowledged.
    pub fn acks(&self, node: &str) -> u64 {
        self.of(node, |stats| stats.acks.load(Relaxed))
    }

    /// Operations of the type `op_type` that `node` acknowledged.
    pub fn acks_of(&self, node: &str, op_type: &str) -> u64 {
        self.of(node, |stats| stats.acks_of(op_type))
    }

    /// Latencies of the operations that `node` acknowledged so far; the difference of two of these is an interval's.
    pub fn latency(&self, node: &str) -> Latencies {
        self.of(node, NodeStats::latencies)
    }

    /// Nodes that operations were sent to, in order.
    pub fn nodes(&self) -> Vec<String> {
        let nodes = self.nodes.read().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<String> = nodes.keys().cloned().collect();
        names.sort();
        names
    }

    fn of<T: Default>(&self, node: &str, read: impl FnOnce(&NodeStats) -> T) -> T {
        let nodes = self.nodes.read().unwrap_or_else(PoisonError::into_inner);
        nodes.get(node).map_or_else(T::default, |stats| read(stats))
    }

    /// The counts of `node`, which begin at zero. Clients keep what they get, so this lock is taken once for each
    /// client and node.
    pub(super) fn node(&self, node: &str) -> Arc<NodeStats> {
        let mut nodes = self.nodes.write().unwrap_or_else(PoisonError::into_inner);
        nodes.entry(node.to_owned()).or_default().clone()
    }
}

/// Counts of one node.
#[derive(Debug)]
pub(super) struct NodeStats {
    pub(super) timeouts: AtomicU64,
    pub(super) errors: AtomicU64,
    pub(super) acks: AtomicU64,
    /// Acknowledged operations by type; there are few types.
    kinds: RwLock<Vec<(String, AtomicU64)>>,
    latencies: [AtomicU64; BUCKETS],
}

impl Default for NodeStats {
    fn default() -> NodeStats {
        let latencies = [const { AtomicU64::new(0) }; BUCKETS];
        NodeStats {
            timeouts: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            acks: AtomicU64::new(0),
            kinds: RwLock::default(),
            latencies,
        }
    }
}

impl NodeStats {
    pub(super) fn acknowledged(&self, op_type: &str, latency: Duration) {
        self.acks.fetch_add(1, Relaxed);
        if !self.counted_as(op_type) {
            let mut kinds = self.kinds.write().unwrap_or_else(PoisonError::into_inner);
            match kinds.iter().find(|(kind, _)| kind == op_type) {
                // Another client was first.
                Some((_, count)) => _ = count.fetch_add(1, Relaxed),
                None => kinds.push((op_type.to_owned(), AtomicU64::new(1))),
            }
        }
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.latencies[bucket(nanos)].fetch_add(1, Relaxed);
    }

    /// Counts one of `op_type`, if one was counted before.
    fn counted_as(&self, op_type: &str) -> bool {
        let kinds = self.kinds.read().unwrap_or_else(PoisonError::into_inner);
        let count = kinds.iter().find(|(kind, _)| kind == op_type);
        count.map(|(_, count)| count.fetch_add(1, Relaxed)).is_some()
    }

    fn acks_of(&self, op_type: &str) -> u64 {
        let kinds = self.kinds.read().unwrap_or_else(PoisonError::into_inner);
        kinds.iter().find(|(kind, _)| kind == op_type).map_or(0, |(_, count)| count.load(Relaxed))
    }

    fn latencies(&self) -> Latencies {
        Latencies { counts: self.latencies.iter().map(|count| count.load(Relaxed)).collect() }
    }
}

/// Sixteen buckets for each power of two: a relative error of at most 1/32 (as in HdrHistogram, Tene 2012).
const BUCKETS: usize = 61 * 16;

fn bucket(nanos: u64) -> usize {
    if nanos < 16 {
        return nanos as usize;
    }
    let exponent = nanos.ilog2() as usize;
    (exponent - 3) * 16 + ((nanos >> (exponent - 4)) & 15) as usize
}

/// The middle of a bucket, in nanoseconds.
fn middle(bucket: usize) -> u64 {
    if bucket < 16 {
        return bucket as u64;
    }
    let shift = bucket / 16 - 1;
    let width = 1_u64 << shift;
    ((16 + bucket as u64 % 16) << shift) + width / 2
}

/// A distribution of latencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    counts: Vec<u64>,
}

impl Latencies {
    /// What came after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Latencies) -> Latencies {
        let before = |i: usize| earlier.counts.get(i).copied().unwrap_or(0);
        Latencies { counts: self.counts.iter().enumerate().map(|(i, n)| n.saturating_sub(before(i))).collect() }
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The median, to about 3%; `None` of none: an interval without answers has no latency.
    pub fn median(&self) -> Option<Duration> {
        let half = self.count().div_ceil(2);
        if half == 0 {
            return None;
        }
        let mut seen = 0;
        let at = self.counts.iter().position(|n| {
            seen += n;
            seen >= half
        })?;
        Some(Duration::from_nanos(middle(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_latency_falls_into_a_bucket_whose_middle_is_near() {
        for exponent in 0..64 {
            for nanos in [1_u64 << exponent, (1 << exponent) + (1 << exponent) / 3, (1_u64 << exponent) - 1] {
                let middle = middle(bucket(nanos));
                assert!(middle.abs_diff(nanos) <= nanos / 32 + 1, "{nanos} -> {middle}");
            }
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn the_median_of_an_interval_forgets_what_came_before() {
        let node = NodeStats::default();
        (0..100).for_each(|_| node.acknowledged("write", Duration::from_millis(1)));
        let before = node.latencies();
        assert_eq!(before.since(&before).median(), None);
        (1..=9).for_each(|i| node.acknowledged("read", Duration::from_millis(i * 10)));
        let median = node.latencies().since(&before).median().expect("nine of them");
        assert!(median.abs_diff(Duration::from_millis(50)) < Duration::from_millis(2), "{median:?}");
    }
}
