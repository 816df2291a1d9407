//! AUTO-GENERATED from test plan: docs/testing-plans/leader-isolation.md
//! Scenario: S2 serializable_reads_are_at_most_a_second_old
//! Falsifies: C2 (see §1b of the plan for full text)
//! Plan-SHA256: d0f69af7921cd28c61652d7d772146a0a0b3044018c49c36555558f245cb3be6   Scenario-SHA256: cb15fb0e8c84c62799155db7dcf12c2f78429fda4bcef8b5d3764935e5e3f8e4   Generator: cargo-disttest 0.1.0
//! Frame-SHA256: 5e2dc6decec67f3af4bbb54352fde4c15082e59819e8f94ead1ba957da58f0bd
//!
//! REVIEW BEFORE TREATING AS A PERMANENT REGRESSION: the workload, the faults and the oracle below must be what the
//! plan says, and the oracle must be able to reject a wrong history.
//!
//! Write code between `disttest:begin` and `disttest:end` only: `cargo disttest author` keeps it to the byte and
//! rewrites everything else, which is what the Frame-SHA256 is taken over.
#![allow(unexpected_cfgs, reason = "the attribute asks for rust-analyzer")]

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S2",
    plan = "docs/testing-plans/leader-isolation.md",
    plan_sha256 = "d0f69af7921cd28c61652d7d772146a0a0b3044018c49c36555558f245cb3be6",
    scenario_sha256 = "cb15fb0e8c84c62799155db7dcf12c2f78429fda4bcef8b5d3764935e5e3f8e4",
    falsifies("C2": ordering),
    model = register,
    checkers("freshness"),
    nemesis("leader-isolation"),
    landing(injector("iptables-dropped-packets"), victim("client-timeouts")),
    budget(
        smoke(nodes = 3, seconds = 10, faults = 1, seeds = 1),
        hardening(nodes = 5, seconds = 22, faults = 2, seeds = 3, operations = 1000),
        release = "not provided — the answer is known after a minute. Revisit when: etcd names a bound.",
    ),
)]
async fn serializable_reads_are_at_most_a_second_old(run: Run) -> Result<Judged> {
    // disttest:begin workload — as S1, with `serializable = true` in every read, so that readers pinned to
    // | the cut-off member are answered by it.
    let cluster = run.cluster(support::program()).await?;
    let members = support::members(&cluster);
    let workload: Workload =
        run.workload(cluster).clients(10).start(|client: Client| Session::new(client, true).read_and_put()).await?;
    // disttest:end workload

    // disttest:begin faults — `leader-isolation`: whoever leads is cut off from all other members in both
    // | directions, for 6 s; clients reach every member. One window after another, each after a quiet
    // | baseline; the leader is asked for at the moment of the fault.
    let landed: Landed = support::isolate_leaders(&run, &workload, &members, false).await?;
    // disttest:end faults

    // disttest:begin oracle — no serializable read shows a value that was overwritten more than 1 s before
    // | the read began; the stalest is told with its age. Zero violations. Cannot detect: reads that are
    // | stale by less.
    let history: Recorded = workload.stop(|client: Client| Session::new(client, true).read_everything()).await?;
    run.oracle(history).check(Freshness::within(Duration::from_secs(1))).judge(landed)
    // disttest:end oracle
}

// disttest:begin helpers — imports, types and functions of this test
#[path = "../support/mod.rs"]
mod support;

use std::time::Duration;
use support::Session;
// disttest:end helpers

disttest_runtime::main!();
