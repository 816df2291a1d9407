//! Seeded histories of services that are no single object: versioned registers, topics, locks, leases, ledgers, counters.
//!
//! For tests of checkers and of harnesses. Operations take effect one after another, each at an instant between its
//! invocation and its completion; one of unknown outcome at such an instant, or never; a failed one never. A history keeps
//! the promises of its service, or breaks one of them again and again from its middle on.

use super::History;
use super::systems::stage::{Fate, Stage};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What clients use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// `read` answers `{"value", "version"}`, `write` `{"version"}`; one sequence of versions a key.
    Versioned,
    /// `enqueue`, and `dequeue` at each consumer's own position.
    Topic,
    /// `acquire` answers `{"token"}` or false, `release` true.
    Lock,
    /// A lock that frees itself [`TIME_TO_LIVE`] after it was granted.
    Lease,
    /// `credit` of `{"id", "by"}`, tried again with the same id when its outcome is unknown; `balance` lists entries.
    Ledger,
    /// `incr` of `{"id", "by"}`, likewise; `read` answers the sum.
    Counter,
}

/// A promise that a service breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Versioned: a read shows less than its session wrote.
    ForgottenWrite,
    /// Versioned: a read shows less than its session read.
    ReadBack,
    /// Versioned: a write stands before its session's last one.
    WriteBeforeWrite,
    /// Versioned: a write stands before what its session read.
    WriteBeforeRead,
    /// Topic: a later element comes first.
    OutOfOrder,
    /// Topic: a consumer misses an element.
    Skipped,
    /// Topic: a consumer gets an element again.
    DeliveredTwice,
    /// Topic: a consumer gets what nobody produced.
    NeverProduced,
    /// Lock and lease: granted while somebody holds it.
    TwoHolders,
    /// Lock and lease: a token smaller than earlier ones.
    TokenWentBack,
    /// Ledger and counter: a request takes effect twice.
    EffectTwice,
    /// Ledger and counter: an acknowledged request has no effect.
    EffectLost,
}

/// What to generate.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The service.
    pub service: Service,
    /// Clients; each has one operation in flight at a time.
    pub clients: u64,
    /// Keys.
    pub keys: u64,
    /// Operations; ledgers and counters are read by each client at the end.
    pub operations: u64,
    /// Operations of unknown outcome, per thousand.
    pub unknown: u64,
    /// Operations known to have failed, per thousand.
    pub failed: u64,
    /// The promise to break, if any.
    pub fault: Option<Fault>,
}

/// How long a lease lasts, in nanoseconds, on a clock on which operations take about a thousand.
pub const TIME_TO_LIVE: u64 = 20_000;

/// A history of `shape`. Equal seeds give equal histories.
pub fn history(shape: Shape, seed: u64) -> History {
    let stage = Stage::new(seed, "services", shape.clients);
    let mut world = World {
        shape,
        clients: (0..stage.clients()).map(|_| Client::default()).collect(),
        stage,
        next: 0,
        keys: (0..shape.keys.max(1)).map(|_| Key::default()).collect(),
    };
    for _ in 0..shape.operations {
        world.step();
    }
    if matches!(shape.service, Service::Ledger | Service::Counter) {
        world.read_everything();
    }
    world.stage.history()
}

#[derive(Default)]
struct Client {
    /// What to try again.
    again: Option<(usize, Value)>,
    /// Of each key: the largest version written and read; the position in a topic; a held lock.
    wrote: BTreeMap<usize, u64>,
    read: BTreeMap<usize, u64>,
    position: BTreeMap<usize, usize>,
    holds: Option<usize>,
}

#[derive(Default)]
struct Key {
    version: u64,
    value: Value,
    elements: Vec<Value>,
    /// Who holds it, and until when.
    held: Option<(u64, u64)>,
    token: u64,
    entries: Vec<Value>,
    sum: i64,
    ids: std::collections::BTreeSet<String>,
}

struct World {
    shape: Shape,
    stage: Stage,
    clients: Vec<Client>,
    next: u64,
    keys: Vec<Key>,
}

impl World {
    fn breaks(&mut self, fault: Fault) -> bool {
        self.shape.fault == Some(fault) && self.stage.len() * 2 > self.shape.operations && self.stage.rng.chance(1, 4)
    }

    /// One client does something that takes effect now.
    fn step(&mut self) {
        let client = self.stage.turn();
        let fate = self.stage.fate(self.shape.unknown, self.shape.failed);
        let key = self.stage.rng.below(self.keys.len() as u64) as usize;
        match self.shape.service {
            Service::Versioned => self.versioned(client, key, fate),
            Service::Topic => self.topic(client, key, fate),
            Service::Lock | Service::Lease => self.lock(client, key, fate),
            Service::Ledger | Service::Counter => self.request(client, key, fate),
        }
    }

    fn push(&mut self, client: usize, fate: Fate, op_type: &str, key: usize, input: Value, output: Value) {
        self.stage.push(client, fate, op_type, key, input, output);
        if fate == Fate::Unknown {
            // It gives its session up.
            let again = self.clients[client].again.take();
            self.clients[client] = Client { again, ..Client::default() };
        }
    }

    fn versioned(&mut self, client: usize, key: usize, fate: Fate) {
        let wrote = self.clients[client].wrote.get(&key).copied().unwrap_or(0);
        let read = self.clients[client].read.get(&key).copied().unwrap_or(0);
        if self.stage.rng.chance(1, 2) {
            let mut version = self.keys[key].version;
            if wrote > 1 && self.breaks(Fault::ForgottenWrite) {
                version = wrote - 1;
            } else if read > 1 && self.breaks(Fault::ReadBack) {
                version = read - 1;
            } else if fate == Fate::Answered {
                self.clients[client].read.insert(key, version);
            }
            let value = self.keys[key].value.clone();
            let output = if version == 0 { Value::Null } else { json!({"value": value, "version": version}) };
            return self.push(client, fate, "read", key, Value::Null, output);
        }
        self.next += 1;
        let value = json!(self.next);
        if fate == Fate::Answered || fate == Fate::Unknown && self.stage.rng.chance(1, 2) {
            self.keys[key].version += 1;
            self.keys[key].value = value.clone();
        }
        let mut version = self.keys[key].version;
        if wrote > 1 && self.breaks(Fault::WriteBeforeWrite) {
            version = wrote - 1;
        } else if read > 1 && self.breaks(Fault::WriteBeforeRead) {
            version = read - 1;
        } else if fate == Fate::Answered {
            self.clients[client].wrote.insert(key, version);
        }
        self.push(client, fate, "write", key, value, json!({"version": version}));
    }

    fn topic(&mut self, client: usize, key: usize, fate: Fate) {
        if client.is_multiple_of(2) {
            self.next += 1;
            let value = json!(self.next);
            if fate == Fate::Answered || fate == Fate::Unknown && self.stage.rng.chance(1, 2) {
                self.keys[key].elements.push(value.clone());
            }
            return self.push(client, fate, "enqueue", key, value, json!(true));
        }
        let position = self.clients[client].position.get(&key).copied().unwrap_or(0);
        let left = self.keys[key].elements.len() - position;
        let mut at = position;
        let mut next = position + usize::from(left > 0);
        let mut value = None;
        if left > 1 && self.breaks(Fault::OutOfOrder) {
            // The last one now, everything before it afterwards.
            (at, next) = (position + left - 1, position);
        } else if left > 1 && self.breaks(Fault::Skipped) {
            (at, next) = (position + 1, position + 2);
        } else if position > 0 && self.breaks(Fault::DeliveredTwice) {
            (at, next) = (position - 1, position);
        } else if self.breaks(Fault::NeverProduced) {
            (next, value) = (position, Some(json!(-1)));
        }
        let value = value.or_else(|| self.keys[key].elements.get(at).cloned()).unwrap_or_default();
        if fate == Fate::Answered {
            self.clients[client].position.insert(key, next);
        }
        self.push(client, fate, "dequeue", key, Value::Null, value);
    }

    fn lock(&mut self, client: usize, key: usize, fate: Fate) {
        let process = self.stage.process(client);
        if let Some(held) = self.clients[client].holds.take() {
            // A failed release is tried again.
            if fate == Fate::Failed {
                self.clients[client].holds = Some(held);
            } else if self.keys[held].held.is_some_and(|(holder, _)| holder == process) {
                self.keys[held].held = None;
            }
            return self.push(client, fate, "release", held, Value::Null, json!(true));
        }
        let free = self.keys[key].held.is_none_or(|(_, until)| until < self.stage.now);
        let granted = fate == Fate::Answered && (free || self.breaks(Fault::TwoHolders));
        let mut output = json!(false);
        if granted {
            let until = if self.shape.service == Service::Lease { self.stage.now + TIME_TO_LIVE } else { u64::MAX };
            self.keys[key].held = Some((process, until));
            self.keys[key].token += 1;
            let mut token = self.keys[key].token;
            if token > 2 && self.breaks(Fault::TokenWentBack) {
                token -= 2;
            }
            output = json!({"token": token});
            self.clients[client].holds = Some(key);
        }
        self.push(client, fate, "acquire", key, Value::Null, output);
    }

    fn request(&mut self, client: usize, key: usize, fate: Fate) {
        let ledger = self.shape.service == Service::Ledger;
        if self.stage.rng.chance(1, 10) {
            return self.show(client, key, fate);
        }
        let (key, input) = match self.clients[client].again.take() {
            Some(again) => again,
            None => {
                self.next += 1;
                (key, json!({"id": format!("request-{}", self.next), "by": 1 + self.stage.rng.below(9)}))
            }
        };
        let lost = fate == Fate::Answered && self.breaks(Fault::EffectLost);
        if fate == Fate::Answered && !lost || fate == Fate::Unknown && self.stage.rng.chance(1, 2) {
            let forgets = self.breaks(Fault::EffectTwice);
            let object = &mut self.keys[key];
            let times = u64::from(object.ids.insert(input["id"].to_string())) + u64::from(forgets);
            for _ in 0..times {
                object.sum += input["by"].as_i64().unwrap_or(0);
                if ledger {
                    object.entries.push(input.clone());
                }
            }
        }
        if fate == Fate::Unknown {
            self.clients[client].again = Some((key, input.clone()));
        }
        self.push(client, fate, if ledger { "credit" } else { "incr" }, key, input, json!(true));
    }

    fn show(&mut self, client: usize, key: usize, fate: Fate) {
        let object = &self.keys[key];
        let (op_type, output) = match self.shape.service {
            Service::Ledger => ("balance", json!(object.entries)),
            _ => ("read", json!(object.sum)),
        };
        self.push(client, fate, op_type, key, Value::Null, output);
    }

    fn read_everything(&mut self) {
        self.stage.quiesce();
        for client in 0..self.clients.len() {
            for key in 0..self.keys.len() {
                self.stage.turn_of(client);
                self.show(client, key, Fate::Answered);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_histories_of_the_asked_size() {
        let services =
            [Service::Versioned, Service::Topic, Service::Lock, Service::Lease, Service::Ledger, Service::Counter];
        for service in services {
            let shape = Shape { service, clients: 4, keys: 2, operations: 100, unknown: 20, failed: 20, fault: None };
            assert_eq!(history(shape, 7), history(shape, 7));
            assert_ne!(history(shape, 7), history(shape, 8));
            assert!(history(shape, 7).ops().len() >= 100);
        }
    }
}
