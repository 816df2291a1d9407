//! The models that `check` knows, and the checkers that fit each.
//!
//! Adding a model is one line of [`MODELS`].

use super::makers::{self as make, Made, at, init, lin, number, seq, text};
use super::parameters::Parameters;
use disttest_runtime::base::nearest::nearest;
use disttest_runtime::checker::isolation::{KeyOrder, Level, Options};
use disttest_runtime::model::{
    self, CasRegister, Counter, Kv, Ledger, Log, MapModel, MembershipTable, MultiRegister, Mutex, Queue, Register,
    Session, SetModel, Stack,
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
    /// The checkers that fit it and not all others; the first is used when none is named.
    own: &'static [Fitting],
}

/// A checker by name, and how it is made.
pub(crate) type Fitting = (&'static str, Make);

/// What a checker is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// `--init`.
    pub init: Option<&'a Value>,
    /// The history has keys, or shall have.
    pub by_key: bool,
    /// `--per-key` or `--whole`.
    pub per_key: Option<bool>,
    /// `--consistency-model`, of transactions.
    pub level: Option<Level>,
    /// What may be assumed of the keys of a `rw-register`.
    pub keys: KeyOrder,
    /// What else checkers are told.
    pub parameters: &'a Parameters,
}

/// What makes a checker; `Err` says why these settings do not fit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Make {
    /// Over operations.
    Ops(fn(&Asked<'_>) -> Made),
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
/// All keys are ordered together: an order of each key by itself is weaker.
pub(crate) const SEQ: &str = "sequential-consistency";
pub(crate) const SER: &str = "serializability";
/// The model that runs out.
pub(crate) const LEASE: &str = "lease";

const SEQ_REGISTERS: Fitting = (SEQ, Ops(make::seq_registers));
const OVERWRITABLE: Fitting = ("no-lost-ack", Ops(make::overwritable));
const APPEND_ONLY: Fitting = ("no-lost-ack", Ops(make::append_only));
const SESSION: Fitting = ("session-consistency", Ops(make::session));
const MONOTONIC: Fitting = ("monotonic-read", Ops(make::monotonic_read));
const FRESHNESS: Fitting = ("freshness", Ops(make::freshness));
const CONSUMERS: Fitting = ("prefix-order", Ops(make::consumers));
const VIEWS: Fitting = ("prefix-order", Ops(make::views));
const EXACTLY_ONCE: Fitting = ("exactly-once", Ops(make::exactly_once));
const LOCKS: Fitting = ("exclusion", Ops(make::exclusion_of_locks));
const LEASES: Fitting = ("exclusion", Ops(make::exclusion_of_leases));
const REPLICAS: Fitting = ("reconciliation-across-replicas", Ops(make::reconciliation));
const REPLAY: Fitting = ("replay-equivalence", Ops(make::replay));
const SET: Fitting = ("set", Ops(make::set));
const SET_FULL: Fitting = ("set-full", Ops(make::set_full));
const TOTAL_QUEUE: Fitting = ("total-queue", Ops(make::total_queue));
const LISTS: Fitting = (SER, Txns(|a| at(a, Options::list_append())));
const REGISTERS: Fitting = (SER, Txns(|a| at(a, Options::register(a.keys))));

/// Checkers that fit every model: they look at times and outcomes.
const ANYWHERE: &[Fitting] =
    &[("fairness", Ops(make::fairness)), ("bounded-liveness", Ops(make::liveness)), ("metric-slo", Ops(make::slo))];

/// Checkers that need more than a history, and what.
const NOT_OF_A_FILE: &[(&str, &str)] = &[
    ("property-assertion", "it is code that looks at every step: write it as a scenario (`Invariant::at_every_step`)"),
    (
        "invariant-over-final-state",
        "its rules are code, and quiescence must have been measured: write it as a scenario (`Invariant::over_final_state`)",
    ),
    (
        "differential",
        "it asks another implementation for its answers: write it as a scenario (`Differential::against`)",
    ),
    (
        "statistical-baseline",
        "it compares the samples of several runs, and a history is one run: `StatisticalBaseline` in a test",
    ),
];

/// All of them.
#[rustfmt::skip]
pub(crate) const MODELS: &[Known] = &[
    known("register", "read, write, cas [from, to]; starts as null", INIT, &[(LIN, Ops(|a| lin(a, Register::starting_at(init(a))))), SEQ_REGISTERS, OVERWRITABLE, SESSION, MONOTONIC, FRESHNESS, REPLICAS]),
    known("cas-register", "as register; a read that answers null says nothing", INIT, &[(LIN, Ops(|a| lin(a, CasRegister::starting_at(init(a))))), (SEQ, Ops(|a| seq(a, CasRegister::starting_at(init(a))))), OVERWRITABLE, SESSION, MONOTONIC, FRESHNESS]),
    known("map", "get, put, delete, cas per key; every key starts as null", INIT, &[(LIN, Ops(|a| lin(a, MapModel::starting_at(init(a))))), (SEQ, Ops(|a| seq(a, MapModel::starting_at(init(a))))), OVERWRITABLE, SESSION, MONOTONIC, FRESHNESS, REPLICAS, REGISTERS]),
    known("kv", "get, put, append of strings per key; every key starts as \"\"", INIT, &[(LIN, Ops(|a| lin(a, Kv::starting_at(text(a)?)))), (SEQ, Ops(|a| seq(a, Kv::starting_at(text(a)?)))), MONOTONIC]),
    known("session", "read, write of values with versions by sessions", 0, &[SESSION, MONOTONIC, (LIN, Ops(|a| lin(a, Session::new())))]),
    known("multi-register", "txn of [\"read\", key, value], [\"write\", key, value]; every key starts as null", INIT | WHOLE, &[(LIN, Ops(|a| lin(a, MultiRegister::starting_at(init(a)))))]),
    known("queue", "enqueue, dequeue first in first out", 0, &[(LIN, Ops(|a| lin(a, Queue::new()))), (SEQ, Ops(|a| seq(a, Queue::new()))), CONSUMERS, TOTAL_QUEUE]),
    known("stack", "push, pop", 0, &[(LIN, Ops(|a| lin(a, Stack::new()))), (SEQ, Ops(|a| seq(a, Stack::new())))]),
    known("mutex", "acquire, release by anybody", 0, &[(LIN, Ops(|a| lin(a, Mutex::new()))), LOCKS]),
    known("owned-mutex", "acquire, release by the one who has it", 0, &[(LIN, Ops(|a| lin(a, Mutex::owned()))), LOCKS]),
    known("reentrant-mutex", "acquire again and again, release as often", 0, &[(LIN, Ops(|a| lin(a, Mutex::reentrant()))), LOCKS]),
    known(LEASE, "acquire, renew, release of a lock that runs out", 0, &[(LIN, Ops(make::lin_lease)), LEASES]),
    known("membership-table", "join, leave, view", 0, &[(LIN, Ops(|a| lin(a, MembershipTable::new()))), REPLICAS]),
    known("log", "append, read of entries that stay", 0, &[(LIN, Ops(|a| lin(a, Log::new()))), (SEQ, Ops(|a| seq(a, Log::new()))), APPEND_ONLY, VIEWS, REPLAY, MONOTONIC]),
    known("set", "add, read; decided by the last read", 0, &[SET, SET_FULL, (LIN, Ops(|a| lin(a, SetModel::new()))), (SEQ, Ops(|a| seq(a, SetModel::new()))), APPEND_ONLY, REPLICAS]),
    known("set-full", "add, read; every read counts: lost, stale, never read, recovered", 0, &[SET_FULL, SET]),
    known("counter", "add, read: bounds of what may have been counted", INIT, &[("counter-bounds", Ops(make::counter_bounds)), (LIN, Ops(|a| lin(a, Counter::starting_at(number(a)?)))), EXACTLY_ONCE]),
    known("ledger", "credit, debit, balance per account", INIT, &[(LIN, Ops(|a| lin(a, Ledger::starting_at(number(a)?)))), EXACTLY_ONCE]),
    known("bank", "transfer, read of all accounts", 0, &[("bank", Ops(make::bank))]),
    known("long-fork", "txn of keys that are written once", WHOLE, &[("long-fork", Ops(make::long_fork))]),
    known("comments", "write of values that stay, read of all: none is seen without those that had completed before it began", 0, &[("comments", Ops(make::comments))]),
    known("sequential", "add of subkeys one after another, read of all from the last to the first", 0, &[("subkeys", Ops(make::subkeys))]),
    known("total-queue", "enqueue, dequeue, drain in any order", 0, &[TOTAL_QUEUE]),
    known("unique-ids", "generate", 0, &[("unique-ids", Ops(make::unique_ids))]),
    known("kafka", "send, poll, txn, assign, subscribe of logs with offsets", WHOLE, &[("kafka", Ops(make::kafka))]),
    known("list-append", "txn of [\"append\", key, value], [\"r\", key, list]", WHOLE, &[LISTS]),
    known("rw-register", "txn of [\"w\", key, value], [\"r\", key, value]", WHOLE, &[REGISTERS]),
];

/// `--init` means something to it.
pub(crate) const INIT: u8 = 1;
/// Its values are never `[key value]`.
pub(crate) const WHOLE: u8 = 2;

const fn known(name: &'static str, what: &'static str, takes: u8, own: &'static [Fitting]) -> Known {
    Known { name, what, takes, own }
}

impl Known {
    /// True when it takes any of `flags`.
    pub(crate) fn takes(&self, flags: u8) -> bool {
        self.takes & flags != 0
    }

    /// The checkers that fit it; the first is used when none is named.
    pub(crate) fn checkers(&self) -> impl Iterator<Item = &'static Fitting> {
        self.own.iter().chain(ANYWHERE)
    }

    /// Their names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.checkers().map(|(name, _)| *name)
    }
}

/// The model of a name, or of another name that it has in the runtime's catalogue.
pub(crate) fn find(name: &str) -> Result<&'static Known, String> {
    let exact = |name: &str| MODELS.iter().find(|known| known.name == name);
    let plain = name.trim().to_lowercase();
    let alias = model::find(name).map(|entry| if entry.name == "lock" { "mutex" } else { entry.name });
    if let Some(known) = exact(name).or_else(|| exact(&plain)).or_else(|| exact(alias?)) {
        return Ok(known);
    }
    let near = nearest(name, MODELS.iter().map(|known| known.name));
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let names: Vec<String> = MODELS.iter().map(|known| format!("{} ({})", known.name, known.what)).collect();
    Err(format!("there is no model `{name}`; {near}the models are {}", names.join("; ")))
}

/// Times mean something to `checker`, not only their order.
pub(crate) fn reads_the_clock(model: &Known, checker: &str) -> bool {
    let times = ["fairness", "bounded-liveness", "metric-slo", "freshness", "reconciliation-across-replicas"];
    times.contains(&checker) || model.name == LEASE
}

/// Why `checker` cannot judge a file, if it is one of those that need more.
pub(crate) fn not_of_a_file(checker: &str) -> Option<&'static str> {
    NOT_OF_A_FILE.iter().find(|(name, _)| *name == checker).map(|(_, why)| *why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use disttest_runtime::plan::names::{self, PICKER};
    use std::collections::BTreeSet;
    use std::time::Duration;

    #[test]
    fn names_are_told_apart_and_every_model_has_a_checker() {
        let names: BTreeSet<&str> = MODELS.iter().map(|known| known.name).collect();
        assert_eq!(names.len(), MODELS.len());
        let parameters = Parameters { ttl: Some(Duration::from_secs(1)), ..Parameters::default() };
        let asked = Asked {
            init: None,
            by_key: false,
            per_key: None,
            level: None,
            keys: KeyOrder::default(),
            parameters: &parameters,
        };
        for known in MODELS {
            let names: BTreeSet<&str> = known.names().collect();
            assert_eq!(names.len(), known.checkers().count(), "{}", known.name);
            for (name, make) in known.checkers() {
                // What it lacks without parameters is its own to say.
                if let Ops(make) = make
                    && let Ok(judge) = make(&asked)
                {
                    assert_eq!(judge.checker.name(), *name, "{}", known.name);
                }
            }
            let (_, make) = known.checkers().next().expect(known.name);
            assert!(make.fits(&Asked { by_key: true, ..asked }).is_ok(), "{}", known.name);
        }
    }

    #[test]
    fn every_checker_of_the_catalogue_is_offered_or_refused_with_a_reason() {
        let offered: BTreeSet<&str> = MODELS.iter().flat_map(Known::names).collect();
        for checker in names::CHECKERS {
            let refused = not_of_a_file(checker.id);
            assert!(offered.contains(checker.id) != refused.is_some(), "{}", checker.id);
        }
    }

    #[test]
    fn every_model_of_the_format_is_known_with_the_checkers_that_the_picker_recommends() {
        for name in names::MODELS.iter().map(|model| model.id).chain(model::CATALOG.iter().map(|entry| entry.name)) {
            assert!(find(name).is_ok(), "{name}");
        }
        for row in PICKER.iter().filter(|row| row.model != "*") {
            let fitting: Vec<&str> = find(row.model).expect(row.model).names().collect();
            for checker in row.checkers {
                assert!(fitting.contains(checker) || not_of_a_file(checker).is_some(), "{} {checker}", row.model);
            }
        }
        for row in PICKER.iter().filter(|row| row.model == "*") {
            assert!(row.checkers.iter().all(|checker| ANYWHERE.iter().any(|(name, _)| name == checker)), "{row:?}");
        }
    }

    #[test]
    fn an_unknown_model_is_answered_with_those_that_are_known() {
        let said = find("cas-regster").expect_err("unknown");
        assert!(said.contains("did you mean `cas-register`?") && said.contains("kv (get, put"), "{said}");
        assert!(!find("blockchain").expect_err("unknown").contains("did you mean"));
        for (alias, name) in
            [("lock", "mutex"), ("fifo-queue", "queue"), ("Register", "register"), ("account", "ledger")]
        {
            assert_eq!(find(alias).expect(alias).name, name);
        }
    }
}
