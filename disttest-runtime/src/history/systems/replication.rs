//! Registers on three nodes: a leader with a log, and two that follow it.

use super::Load;
use super::stage::{Fate, Stage};
use crate::history::History;
use serde_json::{Value, json};

/// How a write gets to the followers, and who answers reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replication {
    /// A write is on every node before it is acknowledged; the leader answers reads; another leader has everything.
    /// Linearizable.
    Synchronous,
    /// A write is acknowledged by the leader alone and copied later; a new leader may lack the last ones, which are lost.
    Asynchronous,
    /// A write is acknowledged by the leader alone, which never fails; the node that a client talks to answers its reads
    /// from what it has got so far. Monotonic for each session, and nothing is lost, but sessions miss their own writes.
    FollowerReads,
    /// As synchronous; but a leader that was deposed does not know it for a while, and answers reads from what it had then.
    /// It cannot write. Each session sees its writes and never goes back, and reads are stale.
    StaleLeader,
}

impl Replication {
    /// All of them.
    pub const ALL: [Replication; 4] =
        [Replication::Synchronous, Replication::Asynchronous, Replication::FollowerReads, Replication::StaleLeader];
}

const NODES: usize = 3;
/// The leadership changes after about so many operations.
const TERM: u64 = 12;

struct Cluster {
    system: Replication,
    stage: Stage,
    keys: usize,
    /// Writes in the order of the leader.
    log: Vec<(usize, Value)>,
    /// How much of it each node has.
    has: [usize; NODES],
    leader: usize,
    /// A node that takes itself for the leader.
    deposed: Option<usize>,
    written: u64,
}

/// What clients see that `read` and `write` registers (`k0`, `k1`, …), each client through one node; at the end, when all
/// nodes have everything, every client reads every key. Values rise in the order of the log. Equal seeds give
/// equal histories.
pub fn registers(system: Replication, load: Load, seed: u64) -> History {
    let mut cluster = Cluster {
        system,
        stage: Stage::new(seed, "replication", load.clients.max(NODES as u64)),
        keys: load.keys.max(1) as usize,
        log: Vec::new(),
        has: [0; NODES],
        leader: 0,
        deposed: None,
        written: 0,
    };
    for _ in 0..load.operations {
        cluster.step(load);
    }
    cluster.settle();
    cluster.stage.history()
}

impl Cluster {
    fn step(&mut self, load: Load) {
        let client = self.stage.turn();
        self.copy();
        if self.system != Replication::FollowerReads && self.stage.rng.chance(1, TERM) {
            self.elect();
        }
        let fate = self.stage.fate(load.unknown, load.failed);
        let node = client % NODES;
        let key = self.stage.rng.below(self.keys as u64) as usize;
        if self.stage.rng.chance(1, 2) {
            let shown = self.read(node, key);
            self.stage.push(client, fate, "read", key, Value::Null, shown);
        } else {
            self.written += 1;
            let value = json!(self.written);
            let refused = self.deposed == Some(node) && fate == Fate::Answered;
            let fate = if refused { Fate::Failed } else { fate };
            if fate == Fate::Answered || fate == Fate::Unknown && self.stage.rng.chance(1, 2) {
                self.write(key, value.clone());
            }
            self.stage.push(client, fate, "write", key, value, json!("ok"));
        }
        self.stage.seen_at(node);
    }

    /// Followers get some more of the log.
    fn copy(&mut self) {
        for node in 0..NODES {
            let missing = self.log.len() - self.has[node];
            if self.deposed != Some(node) && missing > 0 && self.stage.rng.chance(1, 4) {
                self.has[node] += 1 + self.stage.rng.below(missing as u64) as usize;
            }
        }
    }

    fn write(&mut self, key: usize, value: Value) {
        self.log.push((key, value));
        self.has[self.leader] = self.log.len();
        if matches!(self.system, Replication::Synchronous | Replication::StaleLeader) {
            let deposed = self.deposed;
            for node in (0..NODES).filter(|node| deposed != Some(*node)) {
                self.has[node] = self.log.len();
            }
        }
    }

    /// Another node leads. What it lacks of the log is gone. A deposed leader notices at the next election.
    fn elect(&mut self) {
        let former = self.leader;
        self.leader = (self.leader + 1 + self.stage.rng.below(NODES as u64 - 1) as usize) % NODES;
        if self.system == Replication::StaleLeader {
            if let Some(deposed) = self.deposed.take() {
                self.has[deposed] = self.log.len();
            }
            self.deposed = Some(former);
        }
        self.log.truncate(self.has[self.leader]);
        self.has = self.has.map(|has| has.min(self.log.len()));
    }

    fn read(&self, node: usize, key: usize) -> Value {
        let answers = match self.system {
            Replication::FollowerReads => node,
            Replication::StaleLeader if self.deposed == Some(node) => node,
            _ => self.leader,
        };
        let known = self.log[..self.has[answers]].iter().rev();
        known.filter(|(of, _)| *of == key).map(|(_, value)| value.clone()).next().unwrap_or_default()
    }

    fn settle(&mut self) {
        self.stage.quiesce();
        self.deposed = None;
        self.has = [self.log.len(); NODES];
        for client in 0..self.stage.clients() {
            for key in 0..self.keys {
                self.stage.turn_of(client);
                let shown = self.read(client % NODES, key);
                self.stage.push(client, Fate::Answered, "read", key, Value::Null, shown);
                self.stage.seen_at(client % NODES);
            }
        }
    }
}
