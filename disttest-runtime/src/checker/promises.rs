//! Tests of the simple checkers on generated services: what keeps its promise is valid, each broken promise is named.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::checker::reference::seeds;
use crate::history::services::{self, Fault, Service, Shape, TIME_TO_LIVE};
use std::time::Duration;

fn checkers(service: Service) -> Vec<Box<dyn Checker>> {
    match service {
        Service::Versioned => {
            vec![
                Box::new(SessionConsistency::by_versions("/version")),
                Box::new(SessionConsistency::by(|op| op.output.get("version").and_then(Version::of))),
                Box::new(MonotonicRead::at("/version")),
            ]
        }
        Service::Topic => {
            vec![Box::new(PrefixOrder::consumers()), Box::new(PrefixOrder::consumers().gaps_allowed())]
        }
        Service::Lock => vec![
            Box::new(Exclusion::locks()),
            Box::new(Exclusion::locks().held_by(|op| Some(op.process_id.to_string()))),
        ],
        Service::Lease => vec![Box::new(Exclusion::leases(Duration::from_nanos(TIME_TO_LIVE), Duration::ZERO))],
        Service::Ledger => vec![Box::new(ExactlyOnce::entries("/id", "/id"))],
        Service::Counter => vec![Box::new(ExactlyOnce::counts("/id", "/by"))],
    }
}

fn shape(service: Service, fault: Option<Fault>) -> Shape {
    Shape { service, clients: 6, keys: 3, operations: 400, unknown: 60, failed: 30, fault }
}

#[test]
fn services_that_keep_their_promises_are_valid() {
    use Service::{Counter, Lease, Ledger, Lock, Topic, Versioned};
    for service in [Versioned, Topic, Lock, Lease, Ledger, Counter] {
        for unknown in [0, 60] {
            for seed in seeds(25) {
                let history = services::history(Shape { unknown, ..shape(service, None) }, seed);
                for checker in checkers(service) {
                    let answer = checker.check(&history, &Unlimited);
                    assert_eq!(answer.outcome, Outcome::Valid, "{service:?} {seed} {}", checker.name());
                    assert_eq!(answer.evidence.consumed, history.ops().len() as u64, "{service:?} {seed}");
                    assert_eq!(checker.missing(&history), Vec::<String>::new());
                }
            }
        }
    }
}

#[test]
fn each_broken_promise_is_named() {
    for (service, fault, anomaly) in [
        (Service::Versioned, Fault::ForgottenWrite, "read-your-writes"),
        (Service::Versioned, Fault::ReadBack, "monotonic-reads"),
        (Service::Versioned, Fault::WriteBeforeWrite, "monotonic-writes"),
        (Service::Versioned, Fault::WriteBeforeRead, "writes-follow-reads"),
        (Service::Topic, Fault::OutOfOrder, "out-of-order"),
        (Service::Topic, Fault::Skipped, "skipped"),
        (Service::Topic, Fault::DeliveredTwice, "delivered-twice"),
        (Service::Topic, Fault::NeverProduced, "never-produced"),
        (Service::Lock, Fault::TwoHolders, "two-holders"),
        (Service::Lease, Fault::TwoHolders, "two-holders"),
        (Service::Lock, Fault::TokenWentBack, "fencing-token-went-back"),
        (Service::Lease, Fault::TokenWentBack, "fencing-token-went-back"),
        (Service::Ledger, Fault::EffectTwice, "effect-twice"),
        (Service::Ledger, Fault::EffectLost, "effect-lost"),
        (Service::Counter, Fault::EffectTwice, "effect-twice"),
        (Service::Counter, Fault::EffectLost, "effect-lost"),
    ] {
        for seed in seeds(20) {
            let history = services::history(shape(service, Some(fault)), seed);
            let answer = checkers(service)[0].check(&history, &Unlimited);
            let Outcome::Invalid { violations } = &answer.outcome else {
                panic!("{service:?} {fault:?} {seed}: {:?}", answer.outcome)
            };
            let named = violations.iter().any(|violation| violation.anomaly == anomaly);
            assert!(named, "{service:?} {fault:?} {seed}: {violations:#?}");
            let ids: std::collections::BTreeSet<u64> = history.ops().iter().map(|op| op.op_id).collect();
            assert!(violations.iter().all(|v| !v.ops.is_empty() && v.ops.iter().all(|op| ids.contains(op))));
            if fault == Fault::ReadBack {
                let monotonic = MonotonicRead::at("/version").check(&history, &Unlimited);
                assert!(matches!(monotonic.outcome, Outcome::Invalid { .. }), "{seed}");
            }
        }
    }
}

#[test]
fn no_checker_calls_an_empty_or_a_silent_history_valid_or_goes_on_past_its_limits() {
    struct Spent;
    impl Limits for Spent {
        fn exceeded(&self, _: u64) -> Option<String> {
            Some("0 s of checking".to_owned())
        }
    }
    use Service::{Counter, Lease, Ledger, Lock, Topic, Versioned};
    for service in [Versioned, Topic, Lock, Lease, Ledger, Counter] {
        let history = services::history(shape(service, None), 1);
        let mut silent = history.ops().to_vec();
        for op in &mut silent {
            (op.complete_ts, op.output, op.error, op.timeout_marker) = (None, serde_json::Value::Null, None, true);
        }
        let silent = History::new(silent).unwrap();
        for mut checker in checkers(service) {
            let unknown = |answer: Answer| matches!(answer.outcome, Outcome::Unknown { .. });
            assert!(unknown(checker.check(&History::new(Vec::new()).unwrap(), &Unlimited)));
            assert!(unknown(checker.check(&silent, &Unlimited)), "{service:?} {}", checker.name());
            let stopped = checker.check(&history, &Spent);
            assert!(matches!(&stopped.outcome, Outcome::Unknown { why } if why.contains("0 s of checking")));
            checker = Box::new(SessionConsistency::by_values());
            let _ = checker.check(&history, &Unlimited);
        }
    }
}
