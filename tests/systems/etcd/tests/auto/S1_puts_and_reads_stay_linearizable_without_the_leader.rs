//! AUTO-GENERATED from test plan: docs/testing-plans/leader-isolation.md
//! Scenario: S1 puts_and_reads_stay_linearizable_without_the_leader
//! Falsifies: C1 (see §1b of the plan for full text)
//! Plan-SHA256: db43c9e35623b7d4fc83080f33173f3434a8f25ff58e9a94ee624069d340af66   Scenario-SHA256: 618a91e528d771500153db70f29a21cc735772bfde827d9425800c7b4895dacd   Generator: cargo-disttest 0.1.0
//! Frame-SHA256: fe58452d9e5582cec6c2e7ee83a0cbb701aad5340f1ddd7a6de8dd7de649329e
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
    plan = "docs/testing-plans/leader-isolation.md",
    plan_sha256 = "db43c9e35623b7d4fc83080f33173f3434a8f25ff58e9a94ee624069d340af66",
    scenario_sha256 = "618a91e528d771500153db70f29a21cc735772bfde827d9425800c7b4895dacd",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key, "no-lost-ack"),
    nemesis("leader-isolation", "asymmetric-partition"),
    landing(injector("iptables-dropped-packets"), victim("client-timeouts")),
    budget(
        smoke(nodes = 3, seconds = 10, faults = 1, seeds = 1),
        hardening(nodes = 5, seconds = 22, faults = 2, seeds = 3, operations = 1000),
        release = "not provided — no machine for long runs is set aside. Revisit when: there is one.",
    ),
)]
async fn puts_and_reads_stay_linearizable_without_the_leader(run: Run) -> Result<Judged> {
    // disttest:begin workload — closed loop, 10 clients spread over the members in turn, each pinned to one
    // | member; half reads, half puts of unique values on five keys; each client keeps to at most 20
    // | operations a second, gives an operation 1 s, and pauses 200 ms after one without answer. After the
    // | faults every client reads every key once.
    let cluster = run.cluster(support::program()).await?;
    let members = support::members(&cluster);
    let workload: Workload =
        run.workload(cluster).clients(10).start(|client: Client| Session::new(client, false).read_and_put()).await?;
    // disttest:end workload

    // disttest:begin faults — `leader-isolation`: whoever leads is cut off from all other members in both
    // | directions, for 6 s; clients reach every member. At the hardening tier a second window is an
    // | `asymmetric-partition`: packets of the other members to the one that leads then are dropped, and its
    // | own pass. Each window comes after a quiet baseline.
    let landed: Landed = support::isolate_leaders(&run, &workload, &members, true).await?;
    // disttest:end faults

    // disttest:begin oracle — the history of every key is linearizable, operations of unknown outcome
    // | included; and every acknowledged put is read at quiescence or was followed by another put of its key.
    // | Zero violations. Cannot detect: anything across keys.
    let history: Recorded =
        workload.stop(|client: Client| Session::new(client, false).read_everything()).await?;
    run.oracle(history).check(Linearizability::per_key(Register::new())).check(NoLostAck::overwritable()).judge(landed)
    // disttest:end oracle
}

// disttest:begin helpers — imports, types and functions of this test
#[path = "../support/mod.rs"]
mod support;

use support::Session;
// disttest:end helpers

disttest_runtime::main!();
