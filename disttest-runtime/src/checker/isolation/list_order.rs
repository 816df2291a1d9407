//! List-append: the order of the versions of each key is written in the longest list that anybody read.

use super::graph::{Edges, Rel};
use crate::txn::{Mop, MopKind, NONE, Status, Txns};
use rustc_hash::FxHashSet;

/// The versions of each key, in order, and what was appended and never read: that comes after.
#[derive(Clone, Debug, Default)]
pub(super) struct ListOrder {
    /// The elements of each key's order, one key after the other.
    order: Vec<u32>,
    /// Where the order of each key begins; one more than there are keys.
    starts: Vec<u32>,
    /// Where in `order` each element stands; [`NONE`] for those never read.
    position: Vec<u32>,
    /// Elements appended (and not known to have failed) but never read, by key. What only an incompatible list shows was
    /// read, and has no place.
    unread: Vec<u32>,
    unread_starts: Vec<u32>,
}

/// What stood at a key before something was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing.
    Empty,
    /// A list that ends with this element.
    Element(u32),
}

impl ListOrder {
    /// The order that `txns` shows.
    pub(super) fn of(txns: &Txns) -> ListOrder {
        let keys = txns.key_count();
        let mut found = ListOrder { position: vec![NONE; txns.element_count()], ..ListOrder::default() };
        found.starts.push(0);
        for key in 0..keys as u32 {
            if let Some(chain) = txns.longest(key) {
                for &element in txns.chain(chain) {
                    if found.position[element as usize] == NONE {
                        found.position[element as usize] = found.order.len() as u32;
                        found.order.push(element);
                    }
                }
            }
            found.starts.push(found.order.len() as u32);
        }
        found.gather_unread(txns);
        found
    }

    fn gather_unread(&mut self, txns: &Txns) {
        let mut odd: FxHashSet<u32> = FxHashSet::default();
        for chain in 0..txns.chain_count() as u32 {
            let list = txns.chain(chain);
            if list.first().is_some_and(|element| txns.longest(txns.key_of(*element)) != Some(chain)) {
                odd.extend(list.iter().filter(|element| !self.is_ordered(**element)));
            }
        }
        let unread = |element: u32| {
            possible_writer(txns, element).is_some() && !self.is_ordered(element) && !odd.contains(&element)
        };
        let elements = 0..txns.element_count() as u32;
        let mut starts = vec![0_u32; txns.key_count() + 1];
        for element in elements.clone().filter(|element| unread(*element)) {
            starts[txns.key_of(element) as usize + 1] += 1;
        }
        for key in 1..starts.len() {
            starts[key] += starts[key - 1];
        }
        let mut list = vec![NONE; starts.last().map_or(0, |end| *end as usize)];
        let mut next = starts.clone();
        for element in elements.filter(|element| unread(*element)) {
            let next = &mut next[txns.key_of(element) as usize];
            list[*next as usize] = element;
            *next += 1;
        }
        (self.unread, self.unread_starts) = (list, starts);
    }

    /// The elements of `key` in order.
    pub(super) fn versions(&self, key: u32) -> &[u32] {
        &self.order[self.starts[key as usize] as usize..self.starts[key as usize + 1] as usize]
    }

    /// What was appended to `key` after everything that was read.
    pub(super) fn unread(&self, key: u32) -> &[u32] {
        &self.unread[self.unread_starts[key as usize] as usize..self.unread_starts[key as usize + 1] as usize]
    }

    /// Where `element` stands among those that were read.
    pub(super) fn place(&self, element: u32) -> Option<u32> {
        Some(self.position[element as usize]).filter(|place| *place != NONE)
    }

    /// True when `element` was read in the order of its key.
    pub(super) fn is_ordered(&self, element: u32) -> bool {
        self.position[element as usize] != NONE
    }

    /// What stood at its key before `element` was appended, as far as known: one never read comes after the last one.
    pub(super) fn before(&self, txns: &Txns, element: u32) -> Option<Before> {
        let key = txns.key_of(element);
        if !self.is_ordered(element) && !self.unread(key).contains(&element) {
            return None;
        }
        let previous = match self.position[element as usize] {
            NONE => self.versions(key).last().copied(),
            at if at == self.starts[key as usize] => None,
            at => Some(self.order[at as usize - 1]),
        };
        Some(previous.map_or(Before::Empty, Before::Element))
    }

    /// What was appended right after the state that a read saw; with several, nobody knows which was the first.
    fn after(&self, key: u32, state: Before) -> &[u32] {
        let versions = self.versions(key);
        let next = match state {
            Before::Empty => 0,
            Before::Element(element) => match self.position[element as usize] {
                NONE => return &[],
                at => (at - self.starts[key as usize]) as usize + 1,
            },
        };
        if next < versions.len() { &versions[next..=next] } else { self.unread(key) }
    }

    /// Adds the edges that the data give: ww, wr, rw.
    pub(super) fn edges(&self, txns: &Txns, edges: &mut Edges) {
        self.successions(txns, |before, after| edges.add(before, after, Rel::Ww));
        // Readers of the last known state of a key, where several appends follow it.
        let mut last_readers: Vec<(u32, u32)> = Vec::new();
        for txn in txns.all().filter(|txn| txns.is_ok(*txn)) {
            for mop in txns.mops(txn) {
                let Some(state) = seen(txns, *mop) else { continue };
                if let Before::Element(element) = state
                    && let Some(writer) = possible_writer(txns, element)
                {
                    edges.add(writer, txn, Rel::Wr);
                }
                match self.after(mop.key(), state) {
                    [] => {}
                    [next] => {
                        if let Some(writer) = possible_writer(txns, *next) {
                            edges.add(txn, writer, Rel::Rw);
                        }
                    }
                    _ => last_readers.push((mop.key(), txn)),
                }
            }
        }
        last_readers.sort_unstable();
        last_readers.dedup();
        for group in last_readers.chunk_by(|a, b| a.0 == b.0) {
            let readers: Vec<u32> = group.iter().map(|(_, txn)| *txn).collect();
            let mut writers: Vec<u32> =
                self.unread(group[0].0).iter().filter_map(|element| possible_writer(txns, *element)).collect();
            writers.dedup();
            edges.all_to_all(&readers, &writers, Rel::Rw);
        }
    }

    /// Calls `each` with the writers of elements of which one comes right after the other.
    pub(super) fn successions(&self, txns: &Txns, mut each: impl FnMut(u32, u32)) {
        let mut pair = |first: u32, second: u32| {
            if let (Some(a), Some(b)) = (possible_writer(txns, first), possible_writer(txns, second)) {
                each(a, b);
            }
        };
        for key in 0..txns.key_count() as u32 {
            let versions = self.versions(key);
            versions.windows(2).for_each(|two| pair(two[0], two[1]));
            if let Some(&last) = versions.last() {
                self.unread(key).iter().for_each(|element| pair(last, *element));
            }
        }
    }
}

/// The transaction that appended or wrote `element`, unless it is known to have failed.
pub(super) fn possible_writer(txns: &Txns, element: u32) -> Option<u32> {
    txns.writer(element).filter(|writer| txns.status(*writer) != Status::Fail)
}

/// The state that a read of a list saw; `None` when `mop` is none, or what it saw is not known.
pub(super) fn seen(txns: &Txns, mop: Mop) -> Option<Before> {
    match mop.kind() {
        MopKind::Nil => Some(Before::Empty),
        MopKind::List { chain, len } => {
            txns.chain(chain).get((len as usize).checked_sub(1)?).map(|element| Before::Element(*element))
        }
        _ => None,
    }
}
