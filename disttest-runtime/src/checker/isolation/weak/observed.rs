//! Monotonic atomic view and read atomic: whoever reads from a transaction sees all that it wrote.

use super::line::Must;
use super::parts::{Parts, Read};
use crate::txn::NONE;

/// From when on a transaction sees all of what it read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// From its read on (axiom RC of Biswas and Enea).
    Afterwards,
    /// All the time (axiom RA of Biswas and Enea, of reads).
    Always,
}

/// Transactions with fewer reads are looked at pair by pair.
const FEW: usize = 8;

/// Calls `each` with pairs that follow: of "`reader` read `key` from `after`, and from `before`, which wrote `key` too". With
/// these, all pairs of the axiom follow. O(n·√n·log n) for n micro-operations, O(n) when transactions are small.
pub(super) fn pairs(parts: &Parts, seen: Seen, mut each: impl FnMut(Must)) {
    let mut tables = Tables::new(parts);
    for reader in 0..parts.len() as u32 {
        let reads = parts.reads(reader);
        if reads.len() < 2 {
            continue;
        }
        let mut must = |before: u32, read: Read| {
            if before != NONE && before != read.from {
                each(pair(before, read, reader));
            }
        };
        if reads.len() <= FEW {
            few(parts, seen, reads, &mut must);
        } else {
            match seen {
                Seen::Afterwards => tables.afterwards(parts, reads, &mut must),
                Seen::Always => tables.always(parts, reads, &mut must),
            }
        }
    }
}

/// `before`, visible to `reader`, comes before what `reader` read of the same key.
pub(super) fn pair(before: u32, read: Read, reader: u32) -> Must {
    match read.from {
        // Nothing comes before the initial state: the reader comes before whoever wrote.
        NONE => Must { before: reader, after: before, reader, key: read.key },
        after => Must { before, after, reader, key: read.key },
    }
}

fn few(parts: &Parts, seen: Seen, reads: &[Read], must: &mut dyn FnMut(u32, Read)) {
    for (at, read) in reads.iter().enumerate() {
        for (other, visible) in reads.iter().enumerate() {
            let is_seen = seen == Seen::Always || other < at;
            if is_seen && visible.from != NONE && visible.from != read.from && parts.has_written(visible.from, read.key)
            {
                must(visible.from, *read);
            }
        }
    }
}

/// Tables by key and by transaction, emptied by counting up.
struct Tables {
    now: u32,
    /// Of each key: when it was set, and which read.
    keys: Vec<(u32, u32)>,
    /// Of each transaction: when it was set.
    txns: Vec<u32>,
}

impl Tables {
    fn new(parts: &Parts) -> Tables {
        let has_many = (0..parts.len() as u32).any(|txn| parts.reads(txn).len() > FEW);
        let (keys, txns) = if has_many { (parts.keys, parts.len()) } else { (0, 0) };
        Tables { now: 0, keys: vec![(0, 0); keys], txns: vec![0; txns] }
    }

    fn is_new(&mut self, txn: u32) -> bool {
        txn != NONE && std::mem::replace(&mut self.txns[txn as usize], self.now) != self.now
    }

    fn set(&mut self, key: u32, at: usize) -> Option<usize> {
        let (when, old) = std::mem::replace(&mut self.keys[key as usize], (self.now, at as u32));
        (when == self.now).then_some(old as usize)
    }

    fn get(&self, key: u32) -> Option<usize> {
        let (when, at) = self.keys[key as usize];
        (when == self.now).then_some(at as usize)
    }

    /// Each transaction read from, at its first read, before the next read of each key that it wrote; and of each key one
    /// read before the next. The others follow.
    fn afterwards(&mut self, parts: &Parts, reads: &[Read], must: &mut dyn FnMut(u32, Read)) {
        self.now += 1;
        let is_first: Vec<bool> = reads.iter().map(|read| self.is_new(read.from)).collect();
        self.now += 1;
        let mut keys: Vec<u32> = Vec::new();
        for (at, visible) in reads.iter().enumerate().rev() {
            if is_first[at] {
                self.of_one(parts, visible.from, &keys, reads, must);
            }
            match self.set(visible.key, at) {
                Some(next) => must(visible.from, reads[next]),
                None => keys.push(visible.key),
            }
        }
    }

    /// Each transaction read from before the first read of each key that it wrote. What reads a key twice and differently
    /// contradicts itself, which is told as `internal`.
    fn always(&mut self, parts: &Parts, reads: &[Read], must: &mut dyn FnMut(u32, Read)) {
        self.now += 1;
        let mut keys: Vec<u32> = Vec::new();
        for (at, read) in reads.iter().enumerate().rev() {
            if self.set(read.key, at).is_none() {
                keys.push(read.key);
            }
        }
        for visible in reads {
            if self.is_new(visible.from) {
                self.of_one(parts, visible.from, &keys, reads, must);
            }
        }
    }

    /// From the smaller side: the keys that `visible` wrote, or those that were read.
    fn of_one(&self, parts: &Parts, visible: u32, keys: &[u32], reads: &[Read], must: &mut dyn FnMut(u32, Read)) {
        let wrote = parts.wrote(visible);
        if wrote.len() <= keys.len() {
            wrote.iter().filter_map(|key| self.get(*key)).for_each(|at| must(visible, reads[at]));
        } else {
            let read = keys.iter().filter(|key| parts.has_written(visible, **key)).filter_map(|key| self.get(*key));
            read.for_each(|at| must(visible, reads[at]));
        }
    }
}
