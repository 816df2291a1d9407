//! What one consumer saw, in its order.

use super::PrefixOrder;
use super::produced::Acknowledged;
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// An element that a consumer saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delivery {
    /// The consuming operation.
    pub(super) op: u32,
    /// The producing operation.
    pub(super) element: u32,
    pub(super) begin: u64,
    pub(super) end: u64,
    /// Equal for the same element.
    pub(super) identity: u64,
    pub(super) acknowledged: bool,
    /// The offset that was shown with it.
    pub(super) from: Option<u64>,
    pub(super) by_offset: bool,
}

/// Why an element that was seen has no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// It stands elsewhere.
    Offset,
    /// Several operations produced its value.
    Several,
}

/// The elements seen so far that begin last, one more than may overtake: an element that ends before the first of them
/// begins was overtaken by all.
#[derive(Clone)]
struct Latest {
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    size: usize,
}

impl Latest {
    fn add(&mut self, begin: u64, number: u32) {
        if self.heap.len() < self.size {
            self.heap.push(Reverse((begin, number)));
        } else if let Some(mut least) = self.heap.peek_mut()
            && least.0.0 < begin
        {
            *least = Reverse((begin, number));
        }
    }

    /// Where the first of them begins, when there are as many as must not overtake.
    fn first(&self) -> Option<(u64, u32)> {
        self.heap.peek().filter(|_| self.heap.len() == self.size).map(|first| first.0)
    }
}

pub(super) struct Sequence {
    seen: Vec<Delivery>,
    /// Of what is over.
    latest: Latest,
    /// Identities, where an element may come again.
    known: Option<FxHashSet<u64>>,
}

/// What one operation saw comes in order, but counts for others only when the operation is over.
pub(super) struct Batch(Option<Latest>);

impl Sequence {
    pub(super) fn new(of: PrefixOrder) -> Sequence {
        let latest = Latest { heap: BinaryHeap::new(), size: of.window.saturating_add(1) };
        Sequence { seen: Vec::new(), latest, known: of.redelivery.then(FxHashSet::default) }
    }

    pub(super) fn len(&self) -> usize {
        self.seen.len()
    }

    pub(super) fn batch(&self, size: usize) -> Batch {
        Batch((size > 1).then(|| self.latest.clone()))
    }

    /// These are over: what is seen from now on comes later.
    pub(super) fn settle(&mut self, range: Range<usize>) {
        for number in range {
            self.latest.add(self.seen[number].begin, number as u32);
        }
    }

    /// Adds an element; a later one that had been seen before it, if too many had.
    pub(super) fn add(&mut self, delivery: Delivery, batch: &mut Batch) -> Option<Delivery> {
        if self.known.as_mut().is_some_and(|known| !known.insert(delivery.identity)) {
            return None;
        }
        let number = self.seen.len() as u32;
        self.seen.push(delivery);
        let latest = batch.0.as_ref().unwrap_or(&self.latest);
        let over = latest.first().filter(|(begin, _)| *begin > delivery.end);
        if let Some(latest) = &mut batch.0 {
            latest.add(delivery.begin, number);
        }
        over.map(|(_, over)| self.seen[over as usize])
    }

    /// An element that was seen twice.
    pub(super) fn twice(&self) -> Option<(Delivery, Delivery)> {
        // What is in order by its places cannot come twice.
        if self.seen.is_sorted_by(|a, b| a.end < b.begin) {
            return None;
        }
        let mut order: Vec<u32> = (0..self.seen.len() as u32).collect();
        order.sort_unstable_by_key(|at| (self.seen[*at as usize].identity, *at));
        let same = |pair: &&[u32]| self.seen[pair[0] as usize].identity == self.seen[pair[1] as usize].identity;
        let again = order.windows(2).filter(same).min_by_key(|pair| pair[1])?;
        Some((self.seen[again[0] as usize], self.seen[again[1] as usize]))
    }

    /// An acknowledged element that was not seen though too many later ones were: its operation, and a later one.
    pub(super) fn gap(&self, acknowledged: &[Acknowledged]) -> Option<(u32, Delivery)> {
        let mut latest = Latest { heap: BinaryHeap::new(), size: self.latest.size };
        for (delivery, number) in self.seen.iter().zip(0..) {
            latest.add(delivery.begin, number);
        }
        let (until, later) = latest.first()?;
        let first = self.seen.first()?;
        let low = match first.from {
            // A sequence that begins at an offset begins there.
            Some(_) if first.by_offset => self.seen.iter().filter_map(|seen| seen.from).min().unwrap_or(0),
            // Which elements stand before that offset is not known.
            Some(offset) if offset > 0 => return None,
            _ => 0,
        };
        let before = |bound: u64| acknowledged.partition_point(|(end, ..)| *end < bound);
        let asked = &acknowledged[before(low).min(before(until))..before(until)];
        let is_asked = |seen: &&Delivery| seen.acknowledged && seen.end < until && seen.end >= low;
        let in_order = self.seen.is_sorted_by(|a, b| a.end < b.begin);
        if in_order && self.seen.iter().filter(is_asked).count() == asked.len() {
            return None;
        }
        let seen: FxHashSet<u32> = self.seen.iter().filter(is_asked).map(|seen| seen.element).collect();
        let missing = asked.iter().find(|(_, op)| !seen.contains(op))?;
        Some((missing.1, self.seen[later as usize]))
    }
}
