//! Transactional stores, one for each level of isolation: locks, snapshots and validation as databases have them.

use super::Load;
use crate::base::rng::Rng;
use crate::base::time::Nanos;
use crate::history::{History, Op};
use serde_json::{Value, json};

/// How a store isolates transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Writes in place under locks that are held to the end, reads what is there: of others that may yet abort.
    ReadUncommitted,
    /// The same locks; what was written is seen by others only after its commit, each read by itself.
    ReadCommitted,
    /// Reads from the state when it began; the first of two that wrote a key commits. It begins within the operation, so
    /// this is the strong (conventional) form.
    SnapshotIsolation,
    /// Transactions that write run one after another, each at an instant of its operation; those that only read see the
    /// state after some transaction of before, as from a copy that lags behind.
    Serializable,
    /// All run one after another, each at an instant of its operation.
    StrictSerializable,
}

impl Isolation {
    /// All of them, weaker ones first.
    pub const ALL: [Isolation; 5] = [
        Isolation::ReadUncommitted,
        Isolation::ReadCommitted,
        Isolation::SnapshotIsolation,
        Isolation::Serializable,
        Isolation::StrictSerializable,
    ];
}

/// A transactional store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transactional {
    /// How it isolates.
    pub isolation: Isolation,
    /// Keys hold lists that transactions append to; otherwise values that they overwrite.
    pub lists: bool,
}

/// What a transaction under way has done.
struct Open {
    op: usize,
    step: usize,
    /// How many versions of each key were committed when it began.
    began: Vec<usize>,
    /// What it wrote, by key.
    own: Vec<Vec<u64>>,
}

struct Store {
    system: Transactional,
    load: Load,
    rng: Rng,
    now: u64,
    next: u64,
    processes: u64,
    clients: Vec<(u64, Option<Open>)>,
    /// Versions of each key: committed ones, and at the end those of who holds its lock, where writes are in place.
    versions: Vec<Vec<u64>>,
    /// Which client holds the lock of each key.
    locks: Vec<Option<usize>>,
    /// How many versions of each key there were after each commit.
    commits: Vec<Vec<usize>>,
    ops: Vec<Op>,
}

/// What clients see that run transactions: operations `txn` of micro-operations `["append"|"w", key, value]` and
/// `["r", key, answer]`, one to four in each; values are unique. Some abort, some have unknown outcomes. Equal seeds give
/// equal histories.
pub fn transactions(system: Transactional, load: Load, seed: u64) -> History {
    let (clients, keys) = (load.clients.max(1), load.keys.max(1) as usize);
    let mut store = Store {
        system,
        load,
        rng: Rng::stream(seed, "transactions"),
        now: 0,
        next: 0,
        processes: clients,
        clients: (0..clients).map(|process| (process, None)).collect(),
        versions: vec![Vec::new(); keys],
        locks: vec![None; keys],
        commits: vec![vec![0; keys]],
        ops: Vec::new(),
    };
    while (store.ops.len() as u64) < load.operations || store.clients.iter().any(|(_, open)| open.is_some()) {
        store.now += 1 + store.rng.below(10);
        let client = store.rng.below(clients) as usize;
        match store.clients[client].1.take() {
            Some(open) => store.proceed(client, open),
            None => store.begin(client),
        }
    }
    History::new(store.ops).expect("generated operations are valid")
}

fn reads(micro: &Value) -> bool {
    micro[0] == "r"
}

impl Store {
    fn begin(&mut self, client: usize) {
        if self.ops.len() as u64 >= self.load.operations {
            return;
        }
        let micros = 1 + self.rng.below(4);
        let input = (0..micros).map(|_| self.micro()).collect();
        let (keys, op) = (self.versions.len(), self.ops.len());
        self.clients[client].1 = Some(Open { op, step: 0, began: self.sizes(), own: vec![Vec::new(); keys] });
        self.ops.push(Op {
            op_id: op as u64,
            process_id: self.clients[client].0,
            invoke_ts: Nanos(self.now),
            complete_ts: None,
            op_type: "txn".to_owned(),
            key: None,
            input: Value::Array(input),
            output: Value::Null,
            error: None,
            timeout_marker: true,
            node_seen: None,
            fault_epoch: None,
        });
    }

    fn micro(&mut self) -> Value {
        let key = self.rng.below(self.versions.len() as u64);
        if self.rng.chance(1, 2) {
            return json!(["r", key, null]);
        }
        self.next += 1;
        json!([if self.system.lists { "append" } else { "w" }, key, self.next])
    }

    fn sizes(&self) -> Vec<usize> {
        self.versions.iter().map(Vec::len).collect()
    }

    /// The next micro-operation, or all that are left where transactions run one after another; then the end.
    fn proceed(&mut self, client: usize, mut open: Open) {
        let micros = self.ops[open.op].input.as_array().map_or(0, Vec::len);
        let at_once = matches!(self.system.isolation, Isolation::Serializable | Isolation::StrictSerializable);
        if at_once {
            open.began = self.state_to_see(&open);
        } else if open.step == 0 {
            open.began = self.sizes();
        }
        let until = if at_once { micros } else { open.step + 1 };
        for step in open.step..until {
            if !self.run(client, &mut open, step) {
                return self.end(client, open, true);
            }
        }
        open.step = until;
        match open.step == micros {
            true => self.end(client, open, false),
            false => self.clients[client].1 = Some(open),
        }
    }

    /// What a transaction sees that runs now, at once.
    fn state_to_see(&mut self, open: &Open) -> Vec<usize> {
        let only_reads = self.ops[open.op].input.as_array().is_some_and(|micros| micros.iter().all(reads));
        if only_reads && self.system.isolation == Isolation::Serializable {
            let recent = self.commits.len().saturating_sub(12);
            return self.rng.pick(&self.commits[recent..]).cloned().unwrap_or_default();
        }
        self.sizes()
    }

    /// Runs one micro-operation; false when the transaction must abort.
    fn run(&mut self, client: usize, open: &mut Open, step: usize) -> bool {
        let micro = self.ops[open.op].input[step].clone();
        let key = micro[1].as_u64().unwrap_or(0) as usize;
        if reads(&micro) {
            let shown = self.shown(open, key);
            let answer = match (self.system.lists, shown.last()) {
                (true, _) => json!(shown),
                (false, last) => json!(last),
            };
            let op = &mut self.ops[open.op];
            if op.output.is_null() {
                op.output = op.input.clone();
            }
            op.output[step][2] = answer;
            return true;
        }
        let locks = matches!(self.system.isolation, Isolation::ReadUncommitted | Isolation::ReadCommitted);
        if locks && *self.locks[key].get_or_insert(client) != client {
            return false;
        }
        let value = micro[2].as_u64().unwrap_or(0);
        open.own[key].push(value);
        if self.system.isolation == Isolation::ReadUncommitted {
            self.versions[key].push(value);
        }
        true
    }

    fn shown(&self, open: &Open, key: usize) -> Vec<u64> {
        let versions = &self.versions[key];
        match self.system.isolation {
            Isolation::ReadUncommitted => versions.clone(),
            Isolation::ReadCommitted => [&versions[..], &open.own[key][..]].concat(),
            _ => [&versions[..open.began[key]], &open.own[key][..]].concat(),
        }
    }

    fn end(&mut self, client: usize, open: Open, aborts: bool) {
        let wrote = |key: usize| !open.own[key].is_empty();
        let conflicts = self.system.isolation == Isolation::SnapshotIsolation
            && (0..self.versions.len()).any(|key| wrote(key) && self.versions[key].len() != open.began[key]);
        let fate = self.rng.below(1000);
        let fails = aborts || conflicts || fate < self.load.failed;
        let crashes = !fails && fate < self.load.failed + self.load.unknown;
        let commits = !fails && (!crashes || self.rng.chance(1, 2));
        self.settle(client, &open, commits);
        let op = &mut self.ops[open.op];
        op.timeout_marker = crashes;
        op.complete_ts = (!crashes).then_some(Nanos(self.now));
        op.error = fails.then(|| "aborted".to_owned());
        if fails || crashes {
            op.output = Value::Null;
        } else if op.output.is_null() {
            op.output = op.input.clone();
        }
        if crashes {
            self.clients[client].0 = self.processes;
            self.processes += 1;
        }
    }

    /// Its writes become versions, or are gone; its locks are free.
    fn settle(&mut self, client: usize, open: &Open, commits: bool) {
        let in_place = self.system.isolation == Isolation::ReadUncommitted;
        for (key, own) in open.own.iter().enumerate() {
            let versions = &mut self.versions[key];
            match (in_place, commits) {
                (true, false) => versions.truncate(versions.len() - own.len()),
                (false, true) => versions.extend_from_slice(own),
                _ => {}
            }
        }
        for lock in self.locks.iter_mut().filter(|lock| **lock == Some(client)) {
            *lock = None;
        }
        if commits {
            self.commits.push(self.sizes());
        }
    }
}
