//! A scenario to be written, for tests.

use super::attribute::{Attribute, Checker, Fault};
use super::frame::{Arm, Wanted};
use disttest_runtime::plan::{Budget, Budgets, Category, Release};

pub(crate) fn wanted() -> Wanted {
    let smoke = Budget { nodes: 3, seconds: 10, faults: 1, seeds: 1, operations: 0 };
    let hardening = Budget { nodes: 5, seconds: 30, faults: 5, seeds: 3, operations: 20_000 };
    let release = Release::NotProvided { reason: "no soak rig yet".into(), revisit: "we have one".into() };
    let checker = |name: &str, per_key| Checker { name: name.into(), per_key, custom: false };
    Wanted {
        name: "reads_never_go_back".into(),
        attribute: Attribute {
            id: "S1".into(),
            plan: "docs/testing-plans/p.md".into(),
            plan_sha256: "a".repeat(64),
            scenario_sha256: "b".repeat(64),
            falsifies: vec![
                ("C1".into(), vec![Category::Safety]),
                ("C2".into(), vec![Category::Durability, Category::PerformanceSlo]),
            ],
            model: Some("register".into()),
            checkers: vec![checker("linearizability", true), checker("no-lost-ack", false)],
            fault: Fault::Planned {
                nemeses: vec!["hard-kill".into(), "asymmetric-data-cut".into()],
                injector: vec!["process-exit".into()],
                victim: vec!["client-timeouts".into(), "metric:peer-timeouts".into()],
            },
            budgets: Some(Budgets { smoke, hardening, release }),
            exit_criteria: None,
            surface: None,
            negative_controls: Vec::new(),
            unresolved: Vec::new(),
        },
        generator: "cargo-disttest 0.1.0".into(),
        workload: "16 clients, 50% reads".into(),
        faults: "kill -9 of one node every 5 s".into(),
        oracle: "linearizability per key".into(),
        seeds: Default::default(),
        arms: Vec::new(),
    }
}

/// A scenario of two arms, the second of which is about another model.
pub(crate) fn with_arms() -> Wanted {
    let mut wanted = wanted();
    let arm = |name: &str, model: &str| Arm {
        name: name.into(),
        attribute: Attribute {
            id: format!("S1/{name}"),
            model: Some(model.into()),
            surface: Some(format!("the {name}")),
            negative_controls: vec!["tenant B lists tenant A's keys".into()],
            ..wanted.attribute.clone()
        },
        workload: format!("16 clients of the {name}"),
        faults: wanted.faults.clone(),
        oracle: format!("linearizability per key, as the {name} sees it"),
        seeds: Default::default(),
    };
    wanted.arms = vec![arm("api", "register"), arm("sdk-v2", "map")];
    wanted
}
