//! AUTO-GENERATED from test plan: docs/testing-plans/abd-register.md
//! Scenario: S3 every_healthy_node_serves_reads_and_writes
//! Falsifies: C3, C4 (see §1b of the plan for full text)
//! Plan-SHA256: d333239ff1d68db8b896d30f451b5e5aad3a563f07bad225cf58850b648c4ffc   Scenario-SHA256: 744cc44231648eedd79e2ed7bcf999101513708994957fa265a14b404bccab3e   Generator: cargo-disttest 0.1.0
//! Frame-SHA256: 77526b0240fd89eb4f89c5de7296aac306d767fdb3b395b135f1b4a7b8523d5c
//!
//! REVIEW BEFORE TREATING AS A PERMANENT REGRESSION: the workload, the faults and the oracle below must be what the
//! plan says, and the oracle must be able to reject a wrong history.
//!
//! Write code between `disttest:begin` and `disttest:end` only: `cargo disttest author` keeps it to the byte and
//! rewrites everything else, which is what the Frame-SHA256 is taken over.
#![allow(unexpected_cfgs, reason = "the attribute asks for rust-analyzer")]

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S3",
    plan = "docs/testing-plans/abd-register.md",
    plan_sha256 = "d333239ff1d68db8b896d30f451b5e5aad3a563f07bad225cf58850b648c4ffc",
    scenario_sha256 = "744cc44231648eedd79e2ed7bcf999101513708994957fa265a14b404bccab3e",
    falsifies("C3": liveness, "C4": operational),
    no_fault = "the claim under test is about a healthy cluster",
    budget(
        smoke(nodes = 3, seconds = 2, faults = 0, seeds = 1),
        hardening(nodes = 5, seconds = 3, faults = 0, seeds = 3),
        release = "not provided — service of a healthy cluster gains nothing from a longer run. Revisit when: a promise about latency is made.",
    ),
)]
async fn every_healthy_node_serves_reads_and_writes(run: Run) -> Result<Judged> {
    // disttest:begin workload — closed loop, 10 clients spread over the nodes in turn, each pinned to one
    // | node; half reads, half writes on twenty keys, unique values; each client keeps to at most 100
    // | operations a second and gives an operation 0.65 s.
    let cluster = run.cluster(support::program()).await?;
    let workload: Workload =
        run.workload(cluster).clients(10).probe(support::peer_timeouts()).start(twenty_keys).await?;
    // disttest:end workload

    // disttest:begin faults — none: the claim under test is about a healthy cluster.
    let landed: Landed = workload.faults().none("the claim under test is about a healthy cluster").await;
    // disttest:end faults

    // disttest:begin oracle — `error_rate == 0` and at least 20 acknowledged reads and 20 acknowledged writes
    // | through each node; both counts come from the history. Cannot detect: slowness below the deadline.
    let history: Recorded = workload.stop(read_everything).await?;
    run.oracle(history).check(EveryNodeServes { nodes: run.nodes() }).judge(landed)
    // disttest:end oracle
}

// disttest:begin helpers — imports, types and functions of this test
#[path = "../support/mod.rs"]
mod support;

use disttest_runtime::checker::{Answer, Checker, Evidence, Limits, Outcome, Violation};
use disttest_runtime::history::{Effect, History, Op};
use std::time::Duration;
use support::Session;

/// At most 100 operations a second and client.
const PERIOD: Duration = Duration::from_millis(10);
/// Acknowledged operations of each kind that a node must have served.
const ENOUGH: usize = 20;
const KEYS: u64 = 20;

async fn twenty_keys(client: Client) -> Result<()> {
    let mut session = Session::new(client);
    while session.client.running() {
        let key = format!("k{}", session.client.rng().below(KEYS));
        let answered = match session.client.rng().chance(1, 2) {
            true => session.write(&key).await,
            false => session.read(&key).await,
        };
        session.pace(PERIOD, answered).await;
    }
    Ok(())
}

async fn read_everything(client: Client) -> Result<()> {
    let mut session = Session::new(client);
    for key in 0..KEYS {
        session.read_at_quiescence(&format!("k{key}")).await?;
    }
    Ok(())
}

/// The plan's own oracle: no operation without an acknowledgement, and enough of each kind through every node.
struct EveryNodeServes {
    nodes: Vec<String>,
}

impl EveryNodeServes {
    fn served(&self, history: &History, node: &str, kind: &str) -> usize {
        let of = |op: &&Op| op.node_seen.as_deref() == Some(node) && op.op_type == kind;
        history.ops().iter().filter(of).filter(|op| op.effect() == Effect::Acknowledged).count()
    }

    fn violations(&self, history: &History) -> Vec<Violation> {
        let violation = |anomaly: &str, ops: Vec<u64>, explanation: String| Violation {
            anomaly: anomaly.to_owned(),
            key: None,
            ops,
            explanation,
        };
        let failed: Vec<u64> =
            history.ops().iter().filter(|op| op.effect() != Effect::Acknowledged).map(|op| op.op_id).collect();
        let mut found = Vec::new();
        if !failed.is_empty() {
            let text = format!("{} of {} operations got no answer", failed.len(), history.ops().len());
            found.push(violation("unserved-operation", failed, text));
        }
        for (node, kind) in self.nodes.iter().flat_map(|node| [(node, "read"), (node, "write")]) {
            let served = self.served(history, node, kind);
            if served < ENOUGH {
                let text = format!("{node} served {served} {kind}s, fewer than {ENOUGH}");
                found.push(violation("idle-node", Vec::new(), text));
            }
        }
        found
    }
}

impl Checker for EveryNodeServes {
    fn name(&self) -> &str {
        "every-node-serves"
    }

    fn cannot_detect(&self) -> Vec<String> {
        vec!["slowness below the deadline of an operation".to_owned(), "wrong answers".to_owned()]
    }

    fn missing(&self, history: &History) -> Vec<String> {
        let without = history.ops().iter().filter(|op| op.node_seen.is_none()).count();
        if without == 0 { Vec::new() } else { vec![format!("node_seen of {without} operations")] }
    }

    fn check(&self, history: &History, _limits: &dyn Limits) -> Answer {
        let violations = self.violations(history);
        let recorded = history.ops().len() as u64;
        let evidence = Evidence { recorded, consumed: recorded, fired: recorded, partitions: 1, peak_bytes: 0 };
        let outcome = match (recorded, violations.is_empty()) {
            (0, _) => Outcome::Unknown { why: "an empty history shows nothing".to_owned() },
            (_, true) => Outcome::Valid,
            (_, false) => Outcome::Invalid { violations },
        };
        Answer { checker: self.name().to_owned(), model: None, outcome, evidence, cannot_detect: self.cannot_detect() }
    }
}
// disttest:end helpers

disttest_runtime::main!();
