//! AUTO-GENERATED from test plan: docs/testing-plans/failover.md
//! Scenario: S1 answered_adds_survive_the_failover
//! Falsifies: C1 (see §1b of the plan for full text)
//! Plan-SHA256: 13316dd8f7e7ecaa3ba5dca05f13bacb28aa79b8944ca7db420d26101b503970   Scenario-SHA256: 6a72bbe5c3cb569cbab5877b8884913b05ba41055e6c19c5e18c03f9991a561d   Generator: cargo-disttest 0.1.0
//! Frame-SHA256: 266558e343b32d37481a9c6bd6152cd056e3900c95fdabd484c23a93555208b8
//!
//! REVIEW BEFORE TREATING AS A PERMANENT REGRESSION: the workload, the faults and the oracle below must be what the
//! plan says, and the oracle must be able to reject a wrong history.
//!
//! Write code between `disttest:begin` and `disttest:end` only: `cargo disttest author` keeps it to the byte and
//! rewrites everything else, which is what the Frame-SHA256 is taken over.
#![allow(unexpected_cfgs, reason = "the attribute asks for rust-analyzer")]

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/failover.md",
    plan_sha256 = "13316dd8f7e7ecaa3ba5dca05f13bacb28aa79b8944ca7db420d26101b503970",
    scenario_sha256 = "6a72bbe5c3cb569cbab5877b8884913b05ba41055e6c19c5e18c03f9991a561d",
    falsifies("C1": durability),
    model = other("set"),
    checkers("no-lost-ack"),
    nemesis("full-partition", "asymmetric-partition"),
    landing(injector("iptables-dropped-packets"), victim("metric:replica-silence")),
    budget(
        smoke(nodes = 2, seconds = 10, faults = 1, seeds = 1),
        hardening(nodes = 3, seconds = 24, faults = 2, seeds = 3, operations = 600),
        release = "not provided — the answer is known after a minute. Revisit when: Redis changes its replication.",
    ),
)]
async fn answered_adds_survive_the_failover(run: Run) -> Result<Judged> {
    // disttest:begin workload — closed loop, 6 clients spread over the nodes in turn; a client works while it
    // | believes that its node is the primary: those of the old one until it is made a replica, those of the
    // | new one from the moment at which it is made the primary. Each adds elements of its own to one set, at
    // | most 40 operations a second, and gives an operation 1 s; the others read it four times a second.
    // | After the faults each client reads the whole set once.
    let cluster = run.cluster(support::program()).await?;
    let roles = Roles::new(&cluster);
    let believed = roles.clone();
    let workload: Workload = run
        .workload(cluster)
        .clients(6)
        .probe(support::silence())
        .start(move |client: Client| Session::new(client, believed.clone(), false).add())
        .await?;
    // disttest:end workload

    // disttest:begin faults — `full-partition` between the primary and all other nodes; 1 s later an operator
    // | makes another node the primary and those that can be reached its replicas; 6 s after that the network
    // | heals and the old primary is made a replica of the new one. The first window fails over from `n1` to
    // | `n2`; the second, at the hardening tier, back, and is an `asymmetric-partition`: packets of the other
    // | nodes to the primary are dropped, and its own pass.
    let landed: Landed = roles.fail_over(&run, &workload).await?;
    // disttest:end faults

    // disttest:begin oracle — every element whose add was answered is in the set at quiescence; zero lost.
    // | Cannot detect: elements that were lost and added again.
    let history: Recorded =
        workload.stop(move |client: Client| Session::new(client, roles.clone(), false).read_set()).await?;
    run.oracle(history).check(NoLostAck::append_only()).judge(landed)
    // disttest:end oracle
}

// disttest:begin helpers — imports, types and functions of this test
#[path = "../support/mod.rs"]
mod support;

use support::{Roles, Session};
// disttest:end helpers

disttest_runtime::main!();
