//! What the axioms of weak levels speak of: who read what from whom, who wrote which keys, which transaction of a session
//! came right before.

use super::super::{Model, VersionOrder};
use crate::txn::{MopKind, NONE, Status, Txns};

/// A read of what another transaction wrote, or of the initial state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) key: u32,
    /// The transaction that wrote what was read; [`NONE`] for the initial state.
    pub(super) from: u32,
}

/// Reads and writes of all transactions, in columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    reads: Vec<Read>,
    read_starts: Vec<u32>,
    /// Keys that each transaction wrote, rising.
    wrote: Vec<u32>,
    wrote_starts: Vec<u32>,
    /// With sessions: the committed transaction that the process of each ran right before it, or [`NONE`].
    session: Vec<u32>,
    pub(super) keys: usize,
}

impl Parts {
    /// Of `txns`, with the order of sessions if they are to count. Linear but for sorting the keys of each transaction.
    pub(super) fn of(txns: &Txns, model: &Model, sessions: bool) -> Parts {
        let mut parts = Parts { keys: txns.key_count(), ..Parts::default() };
        parts.reads.reserve(txns.mop_count() / 2);
        parts.wrote.reserve(txns.mop_count() / 2);
        for txn in txns.all() {
            parts.read_starts.push(parts.reads.len() as u32);
            parts.wrote_starts.push(parts.wrote.len() as u32);
            if txns.status(txn) != Status::Fail {
                parts.add(txns, model, txn);
            }
        }
        parts.read_starts.push(parts.reads.len() as u32);
        parts.wrote_starts.push(parts.wrote.len() as u32);
        if sessions {
            parts.session = session(txns);
        }
        parts
    }

    fn add(&mut self, txns: &Txns, model: &Model, txn: u32) {
        let start = self.wrote.len();
        for mop in txns.mops(txn) {
            if mop.written().is_some() {
                self.wrote.push(mop.key());
            } else if let Some(from) = source(txns, model, txn, mop.kind()) {
                self.reads.push(Read { key: mop.key(), from });
            }
        }
        let own = &mut self.wrote[start..];
        own.sort_unstable();
        let mut kept = start;
        for at in start..self.wrote.len() {
            if kept == start || self.wrote[kept - 1] != self.wrote[at] {
                self.wrote[kept] = self.wrote[at];
                kept += 1;
            }
        }
        self.wrote.truncate(kept);
    }

    /// How many transactions there are.
    pub(super) fn len(&self) -> usize {
        self.read_starts.len() - 1
    }

    /// What `txn` read from others, in the order in which it did.
    pub(super) fn reads(&self, txn: u32) -> &[Read] {
        &self.reads[self.read_starts[txn as usize] as usize..self.read_starts[txn as usize + 1] as usize]
    }

    /// The keys that `txn` wrote, rising.
    pub(super) fn wrote(&self, txn: u32) -> &[u32] {
        &self.wrote[self.wrote_starts[txn as usize] as usize..self.wrote_starts[txn as usize + 1] as usize]
    }

    /// True when `txn` wrote `key`.
    pub(super) fn has_written(&self, txn: u32, key: u32) -> bool {
        self.wrote(txn).binary_search(&key).is_ok()
    }

    /// The transaction of its session right before `txn`, or [`NONE`].
    pub(super) fn session_before(&self, txn: u32) -> u32 {
        self.session.get(txn as usize).copied().unwrap_or(NONE)
    }

    /// What happened right before `txn`: it read from them, or its session ran one before it.
    pub(super) fn causes(&self, txn: u32) -> impl Iterator<Item = u32> + '_ {
        let session = Some(self.session_before(txn));
        session.into_iter().chain(self.reads(txn).iter().map(|read| read.from)).filter(|cause| *cause != NONE)
    }

    /// True when some transaction read from another.
    pub(super) fn has_dependency(&self) -> bool {
        self.reads.iter().any(|read| read.from != NONE)
    }

    /// Of each transaction: some other read from it, or followed it in its session.
    pub(super) fn are_causes(&self) -> Vec<bool> {
        let mut are = vec![false; self.len()];
        let all = (0..self.len() as u32).flat_map(|txn| self.causes(txn));
        all.for_each(|cause| are[cause as usize] = true);
        are
    }

    /// The same without sessions.
    pub(super) fn without_sessions(mut self) -> Parts {
        self.session = Vec::new();
        self
    }

    /// About how many bytes these are.
    pub(super) fn bytes(&self) -> u64 {
        (self.reads.len() * 8 + (self.wrote.len() + self.session.len() + 2 * self.read_starts.len()) * 4) as u64
    }
}

/// Which transaction a read saw the write of; `None` when the read says nothing: of its own writes, of what failed (told as
/// G1a), of what nobody wrote and has no known place.
pub(super) fn source(txns: &Txns, model: &Model, txn: u32, kind: MopKind) -> Option<u32> {
    let of = |element: u32| match txns.writer(element) {
        Some(writer) if txns.status(writer) == Status::Fail => None,
        writer => writer,
    };
    match kind {
        MopKind::Nil => Some(NONE),
        MopKind::Value(element) => match (txns.writer(element), model) {
            // Values that nobody wrote were there before.
            (None, Model::Register(VersionOrder::Inferred(_))) => Some(NONE),
            _ => of(element).filter(|writer| *writer != txn),
        },
        MopKind::List { chain, len } => {
            // What it appended itself stands on top of what it saw.
            let list = &txns.chain(chain)[..len as usize];
            match list.iter().rev().find(|element| txns.writer(**element) != Some(txn)) {
                Some(element) => of(*element),
                None => Some(NONE),
            }
        }
        MopKind::Append(_) | MopKind::Write(_) | MopKind::Unread => None,
    }
}

/// The committed transaction that each process ran right before. One of unknown outcome comes after those before it; what
/// its process ran afterwards need not come after it.
fn session(txns: &Txns) -> Vec<u32> {
    let mut last = vec![NONE; txns.process_count()];
    let before = |txn: u32| {
        let last = &mut last[txns.process(txn) as usize];
        match txns.status(txn) {
            Status::Fail => NONE,
            Status::Info => *last,
            Status::Ok => std::mem::replace(last, txn),
        }
    };
    txns.all().map(before).collect()
}
