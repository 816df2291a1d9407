//! Checkers against simulated systems of known strength: each accepts every history of a system that theory says is
//! strong enough, and rejects some of each that is not, for a reason that the system can give.

use super::isolation::{Anomaly, KeyOrder, Level};
use super::*;
use crate::history::systems::{self, Delivery, Isolation, Load, LockService, Replication, Transactional};
use crate::history::{Effect, History};
use crate::model::{Queue, Register};
use std::collections::BTreeMap;
use std::time::Duration;

/// What theory says of the histories of a system.
#[derive(Clone, Copy)]
enum Says {
    /// All are right.
    Accept,
    /// Some are wrong, by these anomalies and no others.
    Reject(&'static [&'static str]),
}

use Says::{Accept, Reject};

/// How many histories of each system: as many as `DISTTEST_FUZZ` says.
fn seeds() -> u64 {
    std::env::var("DISTTEST_FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(1000)
}

/// Every checker on histories of one system. It may be in doubt only where a client was, and mostly is not.
fn check(system: &str, make: &dyn Fn(u64) -> History, rows: &[(&dyn Checker, Says)]) {
    let (mut valid, mut rejected) = (vec![0_u64; rows.len()], vec![0_u64; rows.len()]);
    for seed in 0..seeds() {
        let history = make(seed);
        let in_doubt = history.ops().iter().any(|op| op.effect() == Effect::Unknown);
        for (row, (checker, says)) in rows.iter().enumerate() {
            let told = || format!("{system}, seed {seed}, {}", checker.name());
            match (checker.check(&history, &Unlimited).outcome, says) {
                (Outcome::Valid, _) => valid[row] += 1,
                (Outcome::Unknown { .. }, _) if in_doubt => {}
                (Outcome::Invalid { violations }, Reject(anomalies)) => {
                    rejected[row] += 1;
                    let wrong = violations.iter().find(|found| !anomalies.contains(&found.anomaly.as_str()));
                    assert!(wrong.is_none(), "{}: {wrong:#?}", told());
                }
                (outcome, _) => panic!("{}: {outcome:#?}", told()),
            }
        }
    }
    for (row, (checker, says)) in rows.iter().enumerate() {
        let right = match says {
            Accept => valid[row] * 2 > seeds(),
            Reject(_) => rejected[row] > 0,
        };
        let (valid, rejected) = (valid[row], rejected[row]);
        assert!(right, "{system}, {}: {valid} of {} valid, {rejected} rejected", checker.name(), seeds());
    }
}

fn per_key() -> Linearizability<Register> {
    Linearizability::per_key(Register::new())
}

#[test]
fn replicated_registers() {
    let (lost, sessions, rises) = (NoLostAck::overwritable(), SessionConsistency::by_values(), MonotonicRead::at(""));
    let monotonic = SessionConsistency::by_values().only(&[Guarantee::MonotonicReads]);
    let stale = Reject(&["non-linearizable"]);
    for (system, says) in [
        (Replication::Synchronous, [Accept; 5]),
        (
            Replication::Asynchronous,
            [
                stale,
                Reject(&["lost-acknowledged-write"]),
                Reject(&["read-your-writes", "monotonic-reads", "writes-follow-reads"]),
                Reject(&["monotonic-reads"]),
                Reject(&["read-went-back"]),
            ],
        ),
        (Replication::FollowerReads, [stale, Accept, Reject(&["read-your-writes"]), Accept, Accept]),
        (Replication::StaleLeader, [stale, Accept, Accept, Accept, Accept]),
    ] {
        let linearizable = per_key();
        let checkers: [&dyn Checker; 5] = [&linearizable, &lost, &sessions, &monotonic, &rises];
        let rows: Vec<(&dyn Checker, Says)> = checkers.into_iter().zip(says).collect();
        let make = |seed| systems::registers(system, Load::default(), seed);
        check(&format!("{system:?}"), &make, &rows);
    }
}

#[test]
fn lock_services() {
    const TOKENS: &[&str] = &["fencing-token-went-back", "fencing-token-reused"];
    const UNFENCED: &[&str] = &["two-holders", "fencing-token-went-back", "fencing-token-reused"];
    let lasts = Duration::from_nanos(systems::TIME_TO_LIVE);
    let (locks, leases) = (Exclusion::locks(), Exclusion::leases(lasts, Duration::ZERO));
    let skewed = Exclusion::leases(lasts, lasts / 2);
    let load = Load { keys: 4, operations: 120, unknown: 5, ..Load::default() };
    let overlaps = Reject(&["two-holders"]);
    for (system, says) in [
        (LockService::UntilReleased, [Accept, Accept, Accept]),
        (LockService::Leases, [overlaps, Accept, Accept]),
        (LockService::FastClock, [overlaps, overlaps, Accept]),
        (LockService::UnfencedRestarts, [Reject(UNFENCED), Reject(TOKENS), Reject(TOKENS)]),
    ] {
        let rows: [(&dyn Checker, Says); 3] = [(&locks, says[0]), (&leases, says[1]), (&skewed, says[2])];
        check(&format!("{system:?}"), &|seed| systems::holds(system, load, seed), &rows);
    }
}

#[test]
fn queues() {
    let (some, once) = (TotalQueue::new(), TotalQueue::new().once());
    let order = PrefixOrder::consumers().gaps_allowed();
    let queue = Linearizability::per_key(Queue::new());
    // A drain is no operation of the model, and no sequence that a consumer sees.
    let without_drain = |history: &History| {
        let ops = history.ops().iter().filter(|op| op.op_type != "drain").cloned().collect();
        History::new(ops).expect("a part of a history")
    };
    for (system, says) in [
        (Delivery::ExactlyOnce, [Accept, Accept, Accept, Accept]),
        (
            Delivery::AtLeastOnce,
            [
                Accept,
                Reject(&["duplicated"]),
                Reject(&["non-linearizable"]),
                Reject(&["out-of-order", "delivered-twice"]),
            ],
        ),
        (Delivery::AtMostOnce, [Reject(&["lost"]), Reject(&["lost"]), Reject(&["non-linearizable"]), Accept]),
    ] {
        let name = format!("{system:?}");
        let whole = |seed| systems::deliveries(system, Load::default(), seed);
        check(&name, &whole, &[(&some, says[0]), (&once, says[1])]);
        let taken = |seed| without_drain(&whole(seed));
        check(&name, &taken, &[(&queue, says[2]), (&order, says[3])]);
    }
}

/// The levels that stores are judged at.
const LEVELS: [&str; 6] = [
    "read-uncommitted",
    "read-committed",
    "snapshot-isolation",
    "strong-snapshot-isolation",
    "serializable",
    "strict-serializable",
];

/// The strongest level that a store has.
fn own_level(isolation: Isolation) -> Level {
    let name = match isolation {
        Isolation::ReadUncommitted => "read-uncommitted",
        Isolation::ReadCommitted => "read-committed",
        Isolation::SnapshotIsolation => "strong-snapshot-isolation",
        Isolation::Serializable => "serializable",
        Isolation::StrictSerializable => "strict-serializable",
    };
    Level::named(name).expect("a level")
}

/// At each level a store is right or not, by what its own level implies; what it shows is never what its own level forbids.
/// One check tells all levels that a history cannot have; that a check at each level comes to the same is seen on some.
fn judge_store(system: Transactional, levels: &[&str], options: &dyn Fn(Level) -> isolation::Options) {
    let own = own_level(system.isolation);
    let load = Load { keys: 3, operations: 70, ..Load::default() };
    let mut rejected: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..seeds() / 2 {
        let history = systems::transactions(system, load, seed);
        let txns = isolation::transactions(&history).expect("transactions");
        let strict = isolation::check(&txns, &options(Level::STRICT_SERIALIZABLE), &Unlimited);
        let told = || format!("{system:?}, seed {seed}: {:#?}", strict.anomalies);
        assert!(!matches!(strict.outcome, Outcome::Unknown { .. }), "{}", told());
        let forbidden = |kind: &&str| Anomaly::named(kind).is_some_and(|anomaly| anomaly.is_prohibited_by(own));
        assert!(!strict.kinds().iter().any(forbidden), "{}", told());
        for name in levels {
            let level = Level::named(name).expect("a level");
            let invalid = strict.not.iter().chain(&strict.also_not).any(|not| *not == level.name());
            assert!(!invalid || !own.implies(level), "{name}: {}", told());
            if seed % 25 == 0 {
                let alone = isolation::check(&txns, &options(level), &Unlimited).outcome;
                assert_eq!(matches!(alone, Outcome::Invalid { .. }), invalid, "{name}: {alone:?}, {}", told());
            }
            *rejected.entry(name).or_default() += u64::from(invalid);
        }
    }
    for (name, rejected) in rejected {
        let level = Level::named(name).expect("a level");
        assert_eq!(rejected > 0, !own.implies(level), "{system:?} at {name}: {rejected} rejected");
    }
}

#[test]
fn transactional_stores_of_lists() {
    for isolation in Isolation::ALL {
        let options = |level| isolation::Options::list_append().at(level);
        judge_store(Transactional { isolation, lists: true }, &LEVELS, &options);
    }
}

/// The order of the versions of a register is known only as far as one may assume it: here nothing is assumed of stores
/// that give no order, and what then cannot be seen is not asked.
#[test]
fn transactional_stores_of_registers() {
    let nothing = |level| isolation::Options::register(KeyOrder::default()).at(level);
    let real_time = KeyOrder { writes_follow_reads: true, sequential: true, linearizable: true };
    let versions = |level| isolation::Options::register(real_time).at(level);
    for (isolation, levels, assumed) in [
        (Isolation::ReadUncommitted, &LEVELS[..3], false),
        (Isolation::ReadCommitted, &LEVELS[..3], false),
        (Isolation::SnapshotIsolation, &LEVELS[..4], false),
        (Isolation::Serializable, &LEVELS[..5], false),
        (Isolation::StrictSerializable, &LEVELS[..], true),
    ] {
        let options: &dyn Fn(Level) -> isolation::Options = if assumed { &versions } else { &nothing };
        judge_store(Transactional { isolation, lists: false }, levels, options);
    }
}
