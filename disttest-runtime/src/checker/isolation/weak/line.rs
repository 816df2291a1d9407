//! A line: all transactions one after the other, each after what must come before it.

use super::parts::Parts;
use crate::txn::{NONE, Txns};

/// A pair that some axiom or a known order of versions puts in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Must {
    pub(super) after: u32,
    pub(super) before: u32,
    /// The transaction whose read says so: it read `key` from `after` although `before` had written it and was visible.
    /// `before` itself when it read the initial state of what `after` wrote; [`NONE`] for a known order of versions.
    pub(super) reader: u32,
    pub(super) key: u32,
}

/// Pairs by the one that comes after.
#[derive(Clone, Debug, Default)]
pub(super) struct Musts {
    list: Vec<Must>,
    starts: Vec<u32>,
}

impl Musts {
    /// Of `list`, about `count` transactions.
    pub(super) fn of(mut list: Vec<Must>, count: usize) -> Musts {
        if list.is_empty() {
            return Musts::default();
        }
        list.sort_unstable();
        list.dedup_by_key(|must| (must.after, must.before));
        let mut starts = vec![0_u32; count + 1];
        list.iter().for_each(|must| starts[must.after as usize + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        Musts { list, starts }
    }

    /// All pairs.
    pub(super) fn all(&self) -> &[Must] {
        &self.list
    }

    /// What must come before `txn`.
    pub(super) fn before(&self, txn: u32) -> &[Must] {
        match self.starts.get(txn as usize..txn as usize + 2) {
            Some(ends) => &self.list[ends[0] as usize..ends[1] as usize],
            None => &[],
        }
    }

    /// Those pairs and more.
    pub(super) fn with(mut self, more: Vec<Must>, count: usize) -> Musts {
        self.list.extend(more);
        Musts::of(self.list, count)
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.list.len() * 16 + self.starts.len() * 4) as u64
    }
}

/// Transactions in one order.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// The transactions.
    pub(super) txns: Vec<u32>,
    /// Where each stands.
    pub(super) place: Vec<u32>,
}

/// Seen, and waiting for what comes before it.
const OPEN: u32 = NONE - 1;

impl Line {
    /// A line in which each transaction comes after its causes and what `musts` put before it, and which is otherwise as
    /// close to `wish` as that allows; `None` when they come before each other. Linear.
    pub(super) fn of(parts: &Parts, musts: &Musts, wish: &[u32]) -> Option<Line> {
        let mut line = Line { txns: Vec::with_capacity(parts.len()), place: vec![NONE; parts.len()] };
        let mut path: Vec<(u32, usize)> = Vec::new();
        for &root in wish {
            if line.place[root as usize] != NONE {
                continue;
            }
            line.place[root as usize] = OPEN;
            path.push((root, 0));
            while let Some((txn, next)) = path.last_mut() {
                let txn = *txn;
                match before(parts, musts, txn, next, &line.place) {
                    Some(waits) if line.place[waits as usize] == OPEN => return None,
                    Some(waits) => {
                        line.place[waits as usize] = OPEN;
                        path.push((waits, 0));
                    }
                    None => {
                        path.pop();
                        line.place[txn as usize] = line.txns.len() as u32;
                        line.txns.push(txn);
                    }
                }
            }
        }
        Some(line)
    }
}

/// The next of those that must come before `txn`, from number `next` on, which is not placed.
fn before(parts: &Parts, musts: &Musts, txn: u32, next: &mut usize, place: &[u32]) -> Option<u32> {
    let (reads, musts) = (parts.reads(txn), musts.before(txn));
    loop {
        let at = *next;
        *next += 1;
        let other = match at {
            0 => parts.session_before(txn),
            _ if at <= reads.len() => reads[at - 1].from,
            _ => musts.get(at - 1 - reads.len())?.before,
        };
        if other != NONE && place[other as usize] >= OPEN {
            return Some(other);
        }
    }
}

/// All transactions in the order in which they completed, those that did not at the end: most databases commit about
/// then.
pub(super) fn by_completion(txns: &Txns) -> Vec<u32> {
    let mut at = vec![NONE; txns.events() as usize];
    for txn in txns.all().filter(|txn| txns.completed(*txn) != NONE) {
        at[txns.completed(txn) as usize] = txn;
    }
    at.retain(|txn| *txn != NONE);
    at.extend(txns.all().filter(|txn| txns.completed(*txn) == NONE));
    at
}
