#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::checker::{
    Checker, Differential, ExactlyOnce, Exclusion, Linearizability, MonotonicRead, NoLostAck, Outcome, PrefixOrder,
    SessionConsistency, Unlimited, reference,
};
use crate::history::generate::{self, Object, Shape};
use crate::history::notation;
use crate::history::services::{self, Service, TIME_TO_LIVE};
use crate::model::{Log, MapModel, Model, Register};
use serde_json::Value;
use std::time::Duration;

const KINDS: [DamageKind; 3] = [DamageKind::DroppedAcknowledgedWrite, DamageKind::StaleRead, DamageKind::PhantomValue];

fn text(history: &History) -> String {
    history.ops().iter().map(notation::line).collect::<Vec<_>>().join("\n")
}

/// Counts how often each kind was applicable; each damaged copy must be rejected by the slow checker.
fn damaged_is_invalid<M: Model>(
    model: &M,
    object: Object,
    values: Option<u64>,
    seeds: std::ops::Range<u64>,
) -> [u32; 3] {
    let mut applied = [0; 3];
    for seed in seeds {
        let shape = Shape {
            object,
            clients: 3,
            keys: 1,
            operations: 4 + seed % 4,
            unknown: 150,
            failed: 100,
            values,
            final_reads: seed % 2 == 0,
        };
        let history = generate::history(shape, seed);
        for (kind, applied) in KINDS.iter().zip(&mut applied) {
            let Ok(damaged) = damage(*kind, &history, seed) else { continue };
            *applied += 1;
            assert_ne!(damaged.history, history, "seed {seed}: {}", damaged.detail);
            assert!(
                !reference::linearizable(model, &damaged.history),
                "seed {seed} {kind:?}: {}\n{}\n---\n{}",
                damaged.detail,
                text(&history),
                text(&damaged.history)
            );
            let again = damage(*kind, &history, seed).unwrap();
            assert_eq!(again, damaged, "equal seeds give equal damage");
        }
    }
    applied
}

#[test]
fn every_damaged_copy_is_invalid_for_the_slow_checker() {
    for values in [None, Some(3)] {
        for (object, model) in [(Object::Register, Register::new()), (Object::CasRegister, Register::new())] {
            let applied = damaged_is_invalid(&model, object, values, 0..2000);
            assert!(applied.iter().all(|count| *count > 200), "{object:?} {values:?}: {applied:?}");
        }
        let applied = damaged_is_invalid(&MapModel::new(), Object::Map, values, 0..2000);
        assert!(applied.iter().all(|count| *count > 200), "map {values:?}: {applied:?}");
        let applied = damaged_is_invalid(&Log::new(), Object::Log, values, 0..2000);
        assert!(applied.iter().all(|count| *count > 200), "log {values:?}: {applied:?}");
    }
}

fn rejected_by(checker: &dyn Checker, object: Object, unknown: u64, operations: u64, keys: u64) {
    for seed in 0..2 {
        let shape =
            Shape { object, clients: 16, keys, operations, unknown, failed: 10, values: None, final_reads: true };
        let history = generate::history(shape, seed);
        let control = checker.check(&history, &Unlimited).outcome;
        assert_eq!(control, Outcome::Valid, "{object:?} {seed}");
        for kind in damages_for(checker.name()) {
            let damaged = damage_for(checker.name(), *kind, &history, seed)
                .unwrap_or_else(|why| panic!("{object:?} {seed} {kind:?}: {why}"));
            let answer = checker.check(&damaged.history, &Unlimited);
            assert!(
                matches!(answer.outcome, Outcome::Invalid { .. }),
                "{object:?} {seed} {kind:?}: {}",
                damaged.detail
            );
        }
    }
}

#[test]
fn our_checkers_reject_damage_to_ordinary_histories() {
    for (unknown, operations, keys) in [(0, 200, 4), (50, 400, 8), (20, 4000, 20)] {
        rejected_by(&Linearizability::per_key(Register::new()), Object::Register, unknown, operations, keys);
        rejected_by(&Linearizability::per_key(Register::new()), Object::CasRegister, unknown, operations, keys);
        rejected_by(&Linearizability::whole(MapModel::new()), Object::Map, unknown, operations, keys);
        rejected_by(&Linearizability::per_key(Log::new()), Object::Log, unknown, operations, keys);
        rejected_by(&NoLostAck::overwritable(), Object::Register, unknown, operations, keys);
        rejected_by(&NoLostAck::overwritable(), Object::CasRegister, unknown, operations, keys);
        rejected_by(&NoLostAck::append_only(), Object::Log, unknown, operations, keys);
    }
}

#[test]
fn a_history_without_a_place_says_why() {
    let check = |text: &str, kind, expect: &str| {
        let history = notation::history(text).unwrap();
        let why = damage(kind, &history, 1).unwrap_err();
        assert!(why.contains(expect), "{why}");
    };
    check("", DamageKind::PhantomValue, "no completed read");
    check("c1 read x [0..]", DamageKind::PhantomValue, "no completed read");
    check("c1 write x 1 [0..]\nc2 read x -> 1 [5..6]", DamageKind::DroppedAcknowledgedWrite, "final read) shows");
    let only_before =
        "c1 write x 1 [0..1]\nc1 write x 2 [2..3]\nc2 read x -> 2 [5..6]\nc3 write x 3 [8..]\nc1 write y 1 [7..9]";
    let only_before = notation::history(only_before).unwrap();
    assert!(damage(DamageKind::DroppedAcknowledgedWrite, &only_before, 1).is_ok());
    assert!(damage_for("no-lost-ack", DamageKind::DroppedAcknowledgedWrite, &only_before, 1).is_err());
    check("c1 write x 1 [0..9]\nc2 read x -> 1 [5..6]", DamageKind::StaleRead, "no completed read began after");
}

#[test]
fn a_write_dropped_for_no_lost_ack_is_a_loss_for_the_slow_checker() {
    let mut applied = 0;
    for seed in 0..2000 {
        let object = if seed % 2 == 0 { Object::CasRegister } else { Object::Map };
        let shape = Shape { object, clients: 3, operations: 7, unknown: 150, failed: 100, ..Shape::default() };
        let history = generate::history(shape, seed);
        if let Ok(damaged) = damage_for("no-lost-ack", DamageKind::DroppedAcknowledgedWrite, &history, seed) {
            applied += 1;
            assert!(reference::loses(&damaged.history), "{seed}: {}\n{}", damaged.detail, text(&damaged.history));
            let answer = NoLostAck::overwritable().check(&damaged.history, &Unlimited);
            assert!(matches!(answer.outcome, Outcome::Invalid { .. }), "{seed}: {}", damaged.detail);
        }
    }
    assert!(applied > 500, "{applied}");
}

/// Each damaged copy of services that keep their promises is rejected, of each checker that must.
#[test]
fn the_simple_checkers_reject_damage_to_services() {
    let checkers: Vec<(Service, Box<dyn Checker>)> = vec![
        (Service::Versioned, Box::new(MonotonicRead::at("/version"))),
        (Service::Versioned, Box::new(SessionConsistency::by_versions("/version"))),
        (Service::Topic, Box::new(PrefixOrder::consumers())),
        (Service::Topic, Box::new(PrefixOrder::consumers().gaps_allowed().in_flight(3).redelivery_allowed())),
        (Service::Lock, Box::new(Exclusion::locks())),
        (Service::Lease, Box::new(Exclusion::leases(Duration::from_nanos(TIME_TO_LIVE), Duration::from_nanos(5)))),
        (Service::Ledger, Box::new(ExactlyOnce::entries("/id", "/id"))),
        (Service::Counter, Box::new(ExactlyOnce::counts("/id", "/by"))),
    ];
    for (service, checker) in &checkers {
        for seed in 0..30 {
            let unknown = 30 * (seed % 2);
            let shape = services::Shape {
                service: *service,
                clients: 6,
                keys: 3,
                operations: 400,
                unknown,
                failed: 20,
                fault: None,
            };
            rejects_each(checker.as_ref(), &services::history(shape, seed), seed);
        }
    }
    for seed in 0..30 {
        let shape = Shape { clients: 6, keys: 3, operations: 400, ..Shape::default() };
        rejects_each(&SessionConsistency::by_values(), &generate::history(shape, seed), seed);
    }
}

fn rejects_each(checker: &dyn Checker, history: &History, seed: u64) {
    let name = checker.name();
    assert_eq!(checker.check(history, &Unlimited).outcome, Outcome::Valid, "{name} {seed}");
    for kind in damages_for(name) {
        let damaged = match damage_for(name, *kind, history, seed) {
            Ok(damaged) => damaged,
            // A topic whose consumer began before the second element was surely behind the first one.
            Err(_) if *kind == DamageKind::ReorderedDelivery => continue,
            Err(why) => panic!("{name} {seed} {kind:?}: {why}"),
        };
        assert_eq!(damage_for(name, *kind, history, seed).unwrap(), damaged, "equal seeds give equal damage");
        let answer = checker.check(&damaged.history, &Unlimited);
        assert!(
            matches!(answer.outcome, Outcome::Invalid { .. }),
            "{name} {seed} {kind:?}: {}\n{:?}",
            damaged.detail,
            answer.outcome
        );
    }
}

#[test]
fn names_are_those_of_the_records() {
    let further = [
        DamageKind::ReadWentBack,
        DamageKind::PhantomDelivery,
        DamageKind::ReorderedDelivery,
        DamageKind::DuplicatedEffect,
        DamageKind::OverlappingHold,
    ];
    for kind in KINDS.into_iter().chain(further) {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
    }
    assert!(damages_for("unheard-of").is_empty());
}

#[test]
fn checkers_of_workloads_reject_their_damage_on_every_seed() {
    use crate::checker::{
        Bank, CounterBounds, Freshness, Liveness, LongFork, Outcome, SetFull, TotalQueue, UniqueIds, Unlimited,
    };
    use crate::history::generate::{Size, Workload, workload};
    let second = Duration::from_secs(1);
    let checkers: [(Box<dyn Checker>, Option<Workload>); 9] = [
        (Box::new(SetFull::new()), Some(Workload::Set)),
        (Box::new(Bank::new()), Some(Workload::Bank)),
        (Box::new(CounterBounds::new()), Some(Workload::Counter)),
        (Box::new(UniqueIds::new()), Some(Workload::Ids)),
        (Box::new(TotalQueue::new()), Some(Workload::Queue)),
        (Box::new(LongFork::new()), Some(Workload::Inserts)),
        (Box::new(Freshness::within(Duration::from_micros(3))), None),
        (Box::new(Liveness::completes_within(second)), None),
        (Box::new(Liveness::serves_within(second)), None),
    ];
    for (checker, kind) in &checkers {
        let mut shown = 0;
        for seed in 0..60 {
            let history = match kind {
                Some(kind) => workload(*kind, Size { operations: 60, ..Size::default() }, seed),
                None => generate::history(Shape { unknown: 0, values: Some(9), ..Shape::default() }, seed),
            };
            if checker.check(&history, &Unlimited).outcome != Outcome::Valid {
                continue;
            }
            for kind in damages_for(checker.name()) {
                let Ok(damaged) = damage_for(checker.name(), *kind, &history, seed) else { continue };
                let outcome = checker.check(&damaged.history, &Unlimited).outcome;
                assert!(
                    matches!(outcome, Outcome::Invalid { .. }),
                    "{} {seed} {}: {outcome:?}",
                    checker.name(),
                    damaged.detail
                );
                shown += 1;
            }
        }
        assert!(shown > 30, "{}: {shown}", checker.name());
    }
}

#[test]
fn a_diverged_replica_and_starved_groups_are_rejected_by_those_who_look_for_them() {
    use crate::base::rng::Rng;
    use crate::checker::{Dimension, Fairness, ReconciliationAcrossReplicas};
    let (mut diverged, mut starved) = (0, 0);
    for seed in 0..500 {
        let mut rng = Rng::new(seed);
        let mut text = String::new();
        for n in 0..4 + rng.below(8) {
            let fate = if rng.chance(1, 8) { String::new() } else { (n * 10 + 3).to_string() };
            text.push_str(&format!("c1 write k{} {n} [{}..{fate}]\n", rng.below(2), n * 10));
        }
        for (n, at) in (0..4).flat_map(|n| [(n, 500), (n, 900)]) {
            text.push_str(&format!("c2 read k{} -> 1 [{at}..{}] @n{}\n", n % 2, at + 1, n / 2));
        }
        let history = notation::history(&text).unwrap();
        let settle = Duration::from_nanos(100);
        let replicas = ReconciliationAcrossReplicas::of_reads(["n0", "n1"], settle);
        let fairness =
            Fairness::by_key(Dimension::Shard).at_least(1).worst_p99_over_aggregate(1e9).min_throughput(1e-3);
        for (checker, count) in [(&replicas as &dyn Checker, &mut diverged), (&fairness, &mut starved)] {
            if checker.check(&history, &Unlimited).outcome != Outcome::Valid {
                continue;
            }
            for kind in damages_for(checker.name()) {
                let damaged = damage_for(checker.name(), *kind, &history, seed).unwrap();
                let outcome = checker.check(&damaged.history, &Unlimited).outcome;
                assert!(matches!(outcome, Outcome::Invalid { .. }), "{seed} {}: {outcome:?}", damaged.detail);
                *count += 1;
            }
        }
    }
    assert!(diverged > 300 && starved > 100, "{diverged} {starved}");
    let slo =
        crate::checker::MetricSlo::latency(crate::checker::Percentile::P50, Duration::from_secs(3_600)).at_least(1);
    let quick = notation::history("c1 write x 1 [0..1]\nc1 read x -> 1 [2..3]").unwrap();
    assert_eq!(slo.check(&quick, &Unlimited).outcome, Outcome::Valid);
    let late = damage_for("metric-slo", DamageKind::LateAnswers, &quick, 1).unwrap();
    assert!(matches!(slo.check(&late.history, &Unlimited).outcome, Outcome::Invalid { .. }));
    let one = notation::history("c1 write x 1 [0..1]").unwrap();
    assert!(damage(DamageKind::StarvedGroups, &one, 1).is_err());
    assert!(damage(DamageKind::DivergedReplica, &one, 1).is_err());
}

#[test]
fn a_damaged_log_does_not_replay() {
    use crate::checker::ReplayEquivalence;
    let (checker, mut damaged) = (ReplayEquivalence::of_log(), [0; 2]);
    for seed in 0..1_500 {
        let shape = Shape { object: Object::Log, operations: 5 + seed % 30, keys: 1 + seed % 2, ..Shape::default() };
        let shape = Shape { unknown: 100, failed: 50, values: (seed % 3 == 0).then_some(4), ..shape };
        let history = generate::history(shape, seed);
        if checker.check(&history, &Unlimited).outcome != Outcome::Valid {
            continue;
        }
        for (kind, count) in damages_for(checker.name()).iter().zip(&mut damaged) {
            let Ok(copy) = damage_for(checker.name(), *kind, &history, seed) else { continue };
            let outcome = checker.check(&copy.history, &Unlimited).outcome;
            assert!(matches!(outcome, Outcome::Invalid { .. }), "seed {seed} {}: {outcome:?}", copy.detail);
            *count += 1;
        }
    }
    assert!(damaged.iter().all(|count| *count > 200), "{damaged:?}");
}

#[test]
fn a_differential_rejects_answers_that_nobody_gave() {
    let register = Differential::against("the reference", Value::Null, |state, op| match op.op_type.as_str() {
        "write" => Ok(std::mem::replace(state, op.input.clone())),
        _ => Ok(state.clone()),
    });
    let lenient = register.clone().allow("a write may answer anything", |op, _| op.op_type == "write");
    let careless = register.clone().allow("anything goes", |_, _| true);
    let text = "c1 write x 1 [0..1]\nc1 write x 2 -> 1 [2..3]\nc2 read x -> 2 [4..5]";
    let whole = notation::history(text).unwrap();
    for seed in 0..20 {
        let damaged = damage_for("differential", DamageKind::ForeignAnswers, &whole, seed).unwrap();
        for (checker, rejects) in [(&register, true), (&lenient, true), (&careless, false)] {
            assert_eq!(checker.check(&whole, &Unlimited).outcome, Outcome::Valid);
            let outcome = checker.check(&damaged.history, &Unlimited).outcome;
            assert_eq!(matches!(outcome, Outcome::Invalid { .. }), rejects, "{seed}: {}: {outcome:?}", damaged.detail);
        }
    }
    assert!(damage(DamageKind::ForeignAnswers, &notation::history("c1 read x [0..]").unwrap(), 1).is_err());
}
