//! The models that `check` knows, and the checkers that fit each.
//!
//! Adding a model is one line of [`MODELS`].

use disttest_runtime::base::nearest::nearest;
use disttest_runtime::checker::isolation::{KeyOrder, Level, Options};
use disttest_runtime::checker::{
    Bank, Checker, CounterBounds, Kafka, Linearizability, LongFork, NoLostAck, SequentialConsistency, Set, SetFull,
    TotalQueue, UniqueIds,
};
use disttest_runtime::model::{
    CasRegister, Counter, Kv, Log, MapModel, Model, MultiRegister, Mutex, Queue, Register, SetModel, Stack,
};
use serde_json::Value;

/// A model, by the name it has on the command line.
#[derive(Debug)]
pub(crate) struct Known {
    /// The name.
    pub name: &'static str,
    /// Its operations, and what it starts with.
    pub what: &'static str,
    /// Which flags mean something to it.
    pub takes: u8,
    /// The checkers that fit it; the first is used when none is named.
    pub checkers: &'static [(&'static str, Make)],
}

/// What a checker is made of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked<'a> {
    /// `--init`.
    pub init: Option<&'a Value>,
    /// One object per key.
    pub by_key: bool,
    /// `--consistency-model`, of transactions.
    pub level: Option<Level>,
    /// What may be assumed of the keys of a `rw-register`.
    pub keys: KeyOrder,
}

/// What makes a checker; `Err` says why these settings do not fit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Make {
    /// Over operations.
    Ops(fn(&Asked<'_>) -> Result<Box<dyn Checker>, String>),
    /// Over transactions.
    Txns(fn(&Asked<'_>) -> Options),
}

use Make::{Ops, Txns};

impl Make {
    /// Why these settings do not fit, if so.
    pub(crate) fn fits(self, asked: &Asked<'_>) -> Result<(), String> {
        match self {
            Ops(make) => make(asked).map(drop),
            Txns(_) => Ok(()),
        }
    }
}

pub(crate) const LIN: &str = "linearizability";
const ACK: &str = "no-lost-ack";
/// All keys are ordered together: an order of each key by itself is weaker.
pub(crate) const SEQ: &str = "sequential-consistency";
const SER: &str = "serializability";

/// All of them.
#[rustfmt::skip]
pub(crate) const MODELS: &[Known] = &[
    known("register", "read, write, cas [from, to]; starts as null", INIT, &[(LIN, Ops(|a| lin(a, Register::starting_at(init(a))))), (SEQ, Ops(|a| if a.by_key { seq(MapModel::starting_at(init(a))) } else { seq(Register::starting_at(init(a))) })), (ACK, Ops(overwritable))]),
    known("cas-register", "as register; a read that answers null says nothing", INIT, &[(LIN, Ops(|a| lin(a, CasRegister::starting_at(init(a))))), (ACK, Ops(overwritable))]),
    known("map", "get, put, delete, cas per key; every key starts as null", INIT, &[(LIN, Ops(|a| lin(a, MapModel::starting_at(init(a))))), (SEQ, Ops(|a| seq(MapModel::starting_at(init(a))))), (ACK, Ops(overwritable))]),
    known("kv", "get, put, append of strings per key; every key starts as \"\"", INIT, &[(LIN, Ops(|a| lin(a, Kv::starting_at(text(a)?)))), (SEQ, Ops(|a| seq(Kv::starting_at(text(a)?))))]),
    known("multi-register", "txn of [\"read\", key, value], [\"write\", key, value]; every key starts as null", INIT | WHOLE, &[(LIN, Ops(|a| lin(a, MultiRegister::starting_at(init(a)))))]),
    known("queue", "enqueue, dequeue first in first out", 0, &[(LIN, Ops(|a| lin(a, Queue::new())))]),
    known("stack", "push, pop", 0, &[(LIN, Ops(|a| lin(a, Stack::new())))]),
    known("mutex", "acquire, release by anybody", 0, &[(LIN, Ops(|a| lin(a, Mutex::new())))]),
    known("owned-mutex", "acquire, release by the one who has it", 0, &[(LIN, Ops(|a| lin(a, Mutex::owned())))]),
    known("reentrant-mutex", "acquire again and again, release as often", 0, &[(LIN, Ops(|a| lin(a, Mutex::reentrant())))]),
    known("log", "append, read of entries that stay", 0, &[(LIN, Ops(|a| lin(a, Log::new()))), (ACK, Ops(append_only))]),
    known("set", "add, read; decided by the last read", 0, &[("set", Ops(|_| is(Set::new()))), ("set-full", Ops(|_| is(SetFull::new()))), (LIN, Ops(|a| lin(a, SetModel::new()))), (ACK, Ops(append_only))]),
    known("set-full", "add, read; every read counts: lost, stale, never read, recovered", 0, &[("set-full", Ops(|_| is(SetFull::new())))]),
    known("counter", "add, read: bounds of what may have been counted", INIT, &[("counter-bounds", Ops(|a| is(CounterBounds::starting_at(number(a)?)))), (LIN, Ops(|a| lin(a, Counter::starting_at(number(a)?))))]),
    known("bank", "transfer, read of all accounts", 0, &[("bank", Ops(|_| is(Bank::new())))]),
    known("long-fork", "txn of keys that are written once", 0, &[("long-fork", Ops(|_| is(LongFork::new())))]),
    known("total-queue", "enqueue, dequeue, drain in any order", 0, &[("total-queue", Ops(|_| is(TotalQueue::new())))]),
    known("unique-ids", "generate", 0, &[("unique-ids", Ops(|_| is(UniqueIds::new())))]),
    known("kafka", "send, poll, txn, assign, subscribe of logs with offsets", 0, &[("kafka", Ops(|_| is(Kafka::new())))]),
    known("list-append", "txn of [\"append\", key, value], [\"r\", key, list]", LEVEL | WHOLE, &[(SER, Txns(|a| at(a, Options::list_append())))]),
    known("rw-register", "txn of [\"w\", key, value], [\"r\", key, value]", LEVEL | KEYS | WHOLE, &[(SER, Txns(|a| at(a, Options::register(a.keys))))]),
];

/// `--init` means something to it.
pub(crate) const INIT: u8 = 1;
/// Its values are never `[key value]`.
pub(crate) const WHOLE: u8 = 2;
/// `--consistency-model` means something to it.
pub(crate) const LEVEL: u8 = 4;
/// What may be assumed of its keys means something to it.
pub(crate) const KEYS: u8 = 8;

const fn known(name: &'static str, what: &'static str, takes: u8, checkers: &'static [(&'static str, Make)]) -> Known {
    Known { name, what, takes, checkers }
}

impl Known {
    /// True when it takes any of `flags`.
    pub(crate) fn takes(&self, flags: u8) -> bool {
        self.takes & flags != 0
    }
}

/// The model of a name.
pub(crate) fn find(name: &str) -> Result<&'static Known, String> {
    if let Some(known) = MODELS.iter().find(|known| known.name == name) {
        return Ok(known);
    }
    let near = nearest(name, MODELS.iter().map(|known| known.name));
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let names: Vec<String> = MODELS.iter().map(|known| format!("{} ({})", known.name, known.what)).collect();
    Err(format!("there is no model `{name}`; {near}the models are {}", names.join("; ")))
}

fn init(asked: &Asked<'_>) -> Value {
    asked.init.cloned().unwrap_or_default()
}

fn text(asked: &Asked<'_>) -> Result<String, String> {
    match asked.init {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(format!("a key of a `kv` starts as a string, not as {other}")),
    }
}

fn number(asked: &Asked<'_>) -> Result<i64, String> {
    match asked.init {
        None | Some(Value::Null) => Ok(0),
        Some(other) => other.as_i64().ok_or_else(|| format!("a counter starts as a whole number, not as {other}")),
    }
}

fn is(checker: impl Checker + 'static) -> Result<Box<dyn Checker>, String> {
    Ok(Box::new(checker))
}

fn at(asked: &Asked<'_>, options: Options) -> Options {
    match asked.level {
        Some(level) => options.at(level),
        None => options,
    }
}

fn lin<M: Model + 'static>(asked: &Asked<'_>, model: M) -> Result<Box<dyn Checker>, String> {
    Ok(if asked.by_key { Box::new(Linearizability::per_key(model)) } else { Box::new(Linearizability::whole(model)) })
}

fn seq<M: Model + Clone + 'static>(model: M) -> Result<Box<dyn Checker>, String> {
    is(SequentialConsistency::whole(model))
}

fn overwritable(_: &Asked<'_>) -> Result<Box<dyn Checker>, String> {
    Ok(Box::new(NoLostAck::overwritable()))
}

fn append_only(_: &Asked<'_>) -> Result<Box<dyn Checker>, String> {
    Ok(Box::new(NoLostAck::append_only()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_told_apart_and_every_model_has_a_checker() {
        let names: BTreeSet<&str> = MODELS.iter().map(|known| known.name).collect();
        assert_eq!(names.len(), MODELS.len());
        for known in MODELS {
            for (name, make) in known.checkers {
                if let Ops(make) = make {
                    let checker = make(&Asked::default()).expect(known.name);
                    assert_eq!(checker.name(), *name, "{}", known.name);
                }
            }
            let (_, make) = known.checkers.first().expect(known.name);
            assert!(make.fits(&Asked { by_key: true, ..Asked::default() }).is_ok(), "{}", known.name);
        }
    }

    #[test]
    fn an_unknown_model_is_answered_with_those_that_are_known() {
        let said = find("cas-regster").expect_err("unknown");
        assert!(said.contains("did you mean `cas-register`?") && said.contains("kv (get, put"), "{said}");
        assert!(!find("blockchain").expect_err("unknown").contains("did you mean"));
    }
}
