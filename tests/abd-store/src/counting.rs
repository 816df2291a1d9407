//! Counters: for each, the increments that were asked for, by their idempotency keys.
//!
//! Registers cannot add without consensus, but the least upper bound of two sets of increments needs none. A node keeps
//! for each counter the set of (idempotency key, amount), replicas take the union of what they hold and what they are
//! sent, and the counter is the sum over the set: an increment that is tried again, through whatever node, is the same
//! element. An increment is acknowledged when a majority holds it durably; a reader asks a majority for their sets and,
//! unless they agree, stores the union at a majority first. So a read shows every increment that was acknowledged, or
//! shown by a read that had ended, before it began, and none twice. It is not linearizable: two reads at the same time may
//! each show an increment under way that the other does not, which would take lattice agreement (Faleiro, Rajamani,
//! Rajan, Ramalingam and Vaswani, PODC 2012). Grow-only sets as replicated data: Shapiro, Preguiça, Baquero and Zawirski,
//! "A comprehensive study of Convergent and Commutative Replicated Data Types", INRIA RR-7506, 2011.
//!
//! Nothing forgets a key, so a counter is for a bounded number of increments: [`MAX_SET`].

use std::collections::BTreeMap;
use std::sync::Arc;

/// Most bytes of a counter's set on the wire: a node takes no increment that would make its own copy larger. What each of
/// eight coordinators took fits the frame that carries their union.
pub const MAX_SET: usize = crate::frames::MAX_FRAME / 16;

/// Increments of one counter: how much each idempotency key adds. The union of two sets of them takes the larger amount
/// where they differ, which happens only when a client uses one key for two increments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Increments {
    by_key: BTreeMap<Arc<str>, u64>,
    bytes: usize,
}

impl Increments {
    /// One increment.
    pub fn one(id: Arc<str>, by: u64) -> Increments {
        let mut one = Increments::default();
        one.add(id, by);
        one
    }

    /// Adds an increment, unless one with the same key and at least its amount is there.
    pub fn add(&mut self, id: Arc<str>, by: u64) {
        let length = size_of::<u32>() + id.len() + size_of::<u64>();
        match self.by_key.get_mut(&id) {
            Some(held) => *held = by.max(*held),
            None => {
                self.by_key.insert(id, by);
                self.bytes += length;
            }
        }
    }

    /// Takes what `others` has and this has not.
    pub fn join(&mut self, others: &Increments) {
        for (id, by) in &others.by_key {
            self.add(id.clone(), *by);
        }
    }

    /// What is in `others` and would change this.
    pub fn lacks(&self, others: &Increments) -> Increments {
        let mut lacking = Increments::default();
        for (id, by) in &others.by_key {
            if self.by_key.get(id).is_none_or(|held| held < by) {
                lacking.add(id.clone(), *by);
            }
        }
        lacking
    }

    /// What all of them come to.
    pub fn sum(&self) -> u64 {
        self.by_key.values().fold(0, |sum, by| sum.saturating_add(*by))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// Bytes that the set takes on the wire.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Keys and amounts, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, u64)> {
        self.by_key.iter().map(|(id, by)| (id, *by))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> Increments {
        let mut set = Increments::default();
        for (id, by) in text.split_whitespace().filter_map(|one| one.split_once(':')) {
            set.add(id.into(), by.parse().expect("a number"));
        }
        set
    }

    fn joined(a: &str, b: &str) -> Increments {
        let mut joined = set(a);
        joined.join(&set(b));
        joined
    }

    #[test]
    fn a_key_counts_once_however_often_and_in_whatever_order_it_comes() {
        for (a, b, union, sum) in [
            ("", "", "", 0),
            ("a:1", "a:1", "a:1", 1),
            ("a:1 b:2", "b:2 c:3", "a:1 b:2 c:3", 6),
            ("a:1", "a:5", "a:5", 5),
            ("a:5 b:0", "a:1", "a:5 b:0", 5),
            ("a:18446744073709551615", "b:1", "a:18446744073709551615 b:1", u64::MAX),
        ] {
            assert_eq!(joined(a, b), set(union), "{a} and {b}");
            assert_eq!(joined(b, a), set(union), "{b} and {a}");
            assert_eq!(set(union).sum(), sum);
            let lacking = set(a).lacks(&set(b));
            let mut all = set(a);
            all.join(&lacking);
            assert_eq!(all, set(union), "what {a} lacks of {b} is all that it needs");
            assert!(set(union).lacks(&set(a)).is_empty() && set(union).lacks(&set(b)).is_empty());
        }
    }
}
