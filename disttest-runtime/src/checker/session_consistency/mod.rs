//! Session guarantees: read your writes, monotonic reads, monotonic writes, writes follow reads.

mod by_value;
mod by_version;
mod order;
#[cfg(test)]
mod tests;

use super::keys::Keys;
use super::pointer::Pointer;
use super::version::{Version, Versions};
use super::work::Work;
use super::{Answer, Checker, Limits, Unlimited, recipe};
use crate::history::{History, Op};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A guarantee of a session (Terry et al., "Session guarantees for weakly consistent replicated data", PDIS 1994).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guarantee {
    /// A read shows the session's earlier writes of the key, or what came after them.
    ReadYourWrites,
    /// A read shows nothing older than the session's earlier reads of the key did.
    MonotonicReads,
    /// Writes of a session are ordered as it made them.
    MonotonicWrites,
    /// A write is ordered after what its session had read.
    WritesFollowReads,
}

impl Guarantee {
    /// All four.
    pub const ALL: [Guarantee; 4] = [
        Guarantee::ReadYourWrites,
        Guarantee::MonotonicReads,
        Guarantee::MonotonicWrites,
        Guarantee::WritesFollowReads,
    ];

    /// The name of its violation, such as `read-your-writes`.
    pub fn name(self) -> &'static str {
        match self {
            Guarantee::ReadYourWrites => "read-your-writes",
            Guarantee::MonotonicReads => "monotonic-reads",
            Guarantee::MonotonicWrites => "monotonic-writes",
            Guarantee::WritesFollowReads => "writes-follow-reads",
        }
    }
}

/// Checks session guarantees, key by key. A session is a `process_id`: a client that reconnects has a new one.
///
/// The order of versions is the system's own when outputs carry one ([`SessionConsistency::by_versions`]). Otherwise
/// values must be distinct and the history valid is one in which *some* order of the writes of each key explains every
/// guarantee ([`SessionConsistency::by_values`]): an order in which a write that completed before another one began
/// stands before it. What is not determined is thus never held against the system, and what no order explains always is.
/// A value that two operations wrote, or none, cannot be placed: the answer is unknown and names the operation.
///
/// An operation precedes another of its session when it completed before the other began. Writes of unknown outcome are
/// never acknowledged, may take effect at any time after their invocation and may be read; failed ones never did.
///
/// Required fields: `process_id`, `key`, `invoke_ts`, `complete_ts`, `input` of writes, `output` of reads; by versions: a
/// version in the output of each completed read and acknowledged write. Witness: the two operations of the session, or
/// the cycle of writes with the reason of each step. Time O(n log n), memory O(n).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionConsistency {
    order: Order,
    guarantees: [bool; 4],
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Order {
    Versions { versions: Versions, across_keys: bool },
    Values { real_time: bool },
}

impl SessionConsistency {
    /// The version of what was read or written stands in the output at this JSON pointer, such as `/version`; the empty
    /// one is the output itself. A write may also answer with its bare version.
    pub fn by_versions(pointer: &str) -> SessionConsistency {
        SessionConsistency::with_versions(Versions::At(Pointer::new(pointer)))
    }

    /// The version of what was read or written is what this function finds.
    pub fn by(version: impl Fn(&Op) -> Option<Version> + Send + Sync + 'static) -> SessionConsistency {
        SessionConsistency::with_versions(Versions::By(Arc::new(version)))
    }

    fn with_versions(versions: Versions) -> SessionConsistency {
        SessionConsistency { order: Order::Versions { versions, across_keys: false }, guarantees: [true; 4] }
    }

    /// Versions are told apart by distinct values. Checks all guarantees but monotonic writes, which nothing but the
    /// system's own versions can show: the order of a session's writes is where this order comes from.
    pub fn by_values() -> SessionConsistency {
        let mut checker = SessionConsistency { order: Order::Values { real_time: true }, guarantees: [true; 4] };
        checker.guarantees[Guarantee::MonotonicWrites as usize] = false;
        checker
    }

    /// By values: writes of different sessions have no order by real time, as where replicas accept writes alone.
    pub fn ignoring_real_time(mut self) -> SessionConsistency {
        if let Order::Values { real_time } = &mut self.order {
            *real_time = false;
        }
        self
    }

    /// By versions: one sequence numbers the writes of all keys (a revision of the store), so that monotonic writes and
    /// writes follow reads hold across keys too.
    pub fn across_keys(mut self) -> SessionConsistency {
        if let Order::Versions { across_keys, .. } = &mut self.order {
            *across_keys = true;
        }
        self
    }

    /// Checks these guarantees only.
    pub fn only(mut self, guarantees: &[Guarantee]) -> SessionConsistency {
        self.guarantees = Guarantee::ALL.map(|one| guarantees.contains(&one));
        self
    }

    fn has(&self, guarantee: Guarantee) -> bool {
        self.guarantees[guarantee as usize]
    }

    fn work<'h, 'l>(&self, history: &'h History, limits: &'l dyn Limits) -> (Work<'l>, Keys<'h>) {
        match &self.order {
            Order::Versions { versions, across_keys } => {
                by_version::work(self, versions, *across_keys, history, limits)
            }
            Order::Values { real_time } => by_value::work(self, *real_time, history, limits),
        }
    }
}

fn is_read(op: &Op) -> bool {
    matches!(op.op_type.as_str(), "read" | "get")
}

impl Checker for SessionConsistency {
    fn name(&self) -> &str {
        "session-consistency"
    }

    fn cannot_detect(&self) -> Vec<String> {
        let mut list = vec![
            "anything between sessions: staleness, lost writes and wrong values that no session contradicts by itself"
                .to_owned(),
            "guarantees broken across a reconnect: a new session starts afresh".to_owned(),
            "operations of one session that are in flight at once, and effects of unknown outcome that nobody read"
                .to_owned(),
        ];
        list.push(match &self.order {
            Order::Versions { across_keys: true, .. } => {
                "versions that the system assigns wrongly or twice; reads of one key that show less than another's"
                    .to_owned()
            }
            Order::Versions { .. } => {
                "versions that the system assigns wrongly or twice; relations between keys".to_owned()
            }
            Order::Values { real_time } => format!(
                "orders of versions that the values do not determine; relations between keys; a cas counts as a write \
                 only; versions follow the order of {}",
                if *real_time { "writes in real time" } else { "a session's writes" }
            ),
        });
        let left_out = Guarantee::ALL.into_iter().filter(|one| !self.has(*one)).map(Guarantee::name);
        let left_out: Vec<&str> = left_out.collect();
        if !left_out.is_empty() {
            list.push(format!("guarantees that were not asked for or need versions: {}", left_out.join(", ")));
        }
        list
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("session-consistency", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        self.work(history, &Unlimited).0.sentences()
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let (work, keys) = self.work(history, limits);
        work.answer(self, &keys, "no session did two things with a key, one after the other, that a guarantee compares")
    }
}
