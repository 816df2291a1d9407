//! Every checker of a workload accepts what is right by construction and rejects one planted fault of each kind.

use super::{Bank, Checker, CounterBounds, Kafka, LongFork, Outcome, Set, SetFull, TotalQueue, UniqueIds, Unlimited};
use crate::checker::reference::seeds;
use crate::history::generate::{Fault, Size, Workload, plant, workload};

fn checkers(workload: Workload) -> Vec<Box<dyn Checker>> {
    match workload {
        Workload::Set => vec![
            Box::new(Set::new()),
            Box::new(Set::each_client()),
            Box::new(SetFull::new()),
            Box::new(SetFull::linearizable()),
        ],
        Workload::Bank => {
            vec![Box::new(Bank::new()), Box::new(Bank::new().total(100).accounts((0..8).map(|n| n.to_string())))]
        }
        Workload::Counter => vec![Box::new(CounterBounds::new())],
        Workload::Ids => vec![Box::new(UniqueIds::new())],
        Workload::Queue => vec![Box::new(TotalQueue::new()), Box::new(TotalQueue::new().once())],
        Workload::Inserts => vec![Box::new(LongFork::new())],
        Workload::Logs => vec![Box::new(Kafka::new())],
    }
}

/// The checker does not look for it.
fn blind(checker: usize, fault: Fault) -> bool {
    match fault {
        Fault::StaleElement => checker < 3,
        Fault::DoubleDelivery => checker == 0,
        _ => false,
    }
}

#[test]
fn what_is_right_is_accepted() {
    for kind in Workload::ALL {
        for (at, checker) in checkers(kind).iter().enumerate() {
            let mut valid = 0;
            for seed in seeds(300) {
                let unknown = [0, 100, 300][seed as usize % 3];
                let size = Size { operations: 5 + seed % 60, unknown, ..Size::default() };
                let history = workload(kind, size, seed);
                match checker.check(&history, &Unlimited).outcome {
                    Outcome::Valid => valid += 1,
                    Outcome::Unknown { why } => {
                        assert!(unknown > 0 || size.operations < 40, "{kind:?} {at} {seed}: {why}")
                    }
                    Outcome::Invalid { violations } => panic!("{kind:?} {at} {seed}: {violations:#?}"),
                }
            }
            assert!(valid > 150, "{kind:?} {at}: {valid} of 300");
        }
    }
}

#[test]
fn every_planted_fault_is_found_and_named() {
    for (fault, kind, anomaly) in Fault::ALL {
        let mut planted = 0;
        for seed in seeds(200) {
            let size =
                Size { operations: 40, unknown: if seed % 2 == 0 { 0 } else { 60 }, failed: 60, ..Size::default() };
            let Some(history) = plant(fault, &workload(kind, size, seed), seed) else { continue };
            planted += 1;
            for (at, checker) in checkers(kind).iter().enumerate().filter(|(at, _)| !blind(*at, fault)) {
                match checker.check(&history, &Unlimited).outcome {
                    Outcome::Invalid { violations } => {
                        assert!(
                            violations.iter().any(|v| v.anomaly == anomaly),
                            "{fault:?} {at} {seed}: {violations:#?}"
                        );
                    }
                    other => panic!("{fault:?} {at} {seed}: {other:?}"),
                }
            }
        }
        assert!(planted > 60, "{fault:?}: {planted} of 200");
    }
}
