//! Clients in time: whose turn it is, and the interval of an operation around the instant at which it takes effect.

use crate::base::rng::Rng;
use crate::base::time::Nanos;
use crate::history::{History, Op};
use serde_json::Value;

/// An operation takes about this long, in nanoseconds.
pub(crate) const STEP: u64 = 1000;

/// What becomes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Answered,
    Unknown,
    Failed,
}

/// Where clients act one after another, at instants that lie in their overlapping operations.
pub(crate) struct Stage {
    pub(crate) rng: Rng,
    pub(crate) now: u64,
    /// Of each client: the process that it is, and when its last operation was over.
    clients: Vec<(u64, u64)>,
    processes: u64,
    ops: Vec<Op>,
}

impl Stage {
    pub(crate) fn new(seed: u64, stream: &str, clients: u64) -> Stage {
        let clients = clients.max(1);
        let rng = Rng::stream(seed, stream);
        let idle = (0..clients).map(|process| (process, 0)).collect();
        Stage { rng, now: STEP, clients: idle, processes: clients, ops: Vec::new() }
    }

    /// Time goes on to an instant at which the client that is returned can have an operation under way.
    pub(crate) fn turn(&mut self) -> usize {
        self.now += 1 + self.rng.below(2 * STEP / self.clients.len() as u64 + 1);
        let client = self.rng.below(self.clients.len() as u64) as usize;
        if self.clients[client].1 + 1 < self.now {
            return client;
        }
        let client = (0..self.clients.len()).min_by_key(|client| self.clients[*client].1).unwrap_or(0);
        self.now = self.now.max(self.clients[client].1 + 2);
        client
    }

    /// Time goes on to an instant at which `client` can have an operation under way, whatever the others do.
    pub(crate) fn turn_of(&mut self, client: usize) {
        self.now = self.now.max(self.clients[client].1 + 2 + STEP);
    }

    /// Time goes on until every operation is over.
    pub(crate) fn quiesce(&mut self) {
        self.now = self.clients.iter().map(|(_, free)| *free).max().unwrap_or(0) + 3 * STEP;
    }

    /// `unknown` and `failed` in a thousand.
    pub(crate) fn fate(&mut self, unknown: u64, failed: u64) -> Fate {
        match self.rng.below(1000) {
            fate if fate < unknown => Fate::Unknown,
            fate if fate < unknown + failed => Fate::Failed,
            _ => Fate::Answered,
        }
    }

    pub(crate) fn clients(&self) -> usize {
        self.clients.len()
    }

    pub(crate) fn process(&self, client: usize) -> u64 {
        self.clients[client].0
    }

    /// Operations so far.
    pub(crate) fn len(&self) -> u64 {
        self.ops.len() as u64
    }

    /// `client` had an operation under way that took effect now, if it did. After one of unknown outcome the client is a
    /// new process.
    pub(crate) fn push(&mut self, client: usize, fate: Fate, op_type: &str, key: usize, input: Value, output: Value) {
        let (process, free) = self.clients[client];
        let earliest = (free + 1).max(self.now.saturating_sub(STEP));
        let invoke = earliest + self.rng.below(self.now - earliest + 1);
        let complete = self.now + self.rng.below(STEP);
        self.ops.push(Op {
            op_id: self.ops.len() as u64,
            process_id: process,
            invoke_ts: Nanos(invoke),
            complete_ts: (fate != Fate::Unknown).then_some(Nanos(complete)),
            op_type: op_type.to_owned(),
            key: Some(format!("k{key}")),
            input,
            output: if fate == Fate::Answered { output } else { Value::Null },
            error: (fate == Fate::Failed).then(|| "refused".to_owned()),
            timeout_marker: fate == Fate::Unknown,
            node_seen: Some(format!("n{}", 1 + process % 3)),
            fault_epoch: None,
        });
        self.clients[client].1 = complete;
        if fate == Fate::Unknown {
            self.clients[client].0 = self.processes;
            self.processes += 1;
        }
    }

    /// The last operation was answered by this node.
    pub(crate) fn seen_at(&mut self, node: usize) {
        if let Some(op) = self.ops.last_mut() {
            op.node_seen = Some(format!("n{}", node + 1));
        }
    }

    pub(crate) fn history(self) -> History {
        History::new(self.ops).expect("generated operations are valid")
    }
}
