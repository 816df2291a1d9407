//! AUTO-GENERATED from test plan: docs/testing-plans/failover.md
//! Scenario: S3 confirmed_registers_are_linearizable_across_a_failover
//! Falsifies: C3 (see §1b of the plan for full text)
//! Plan-SHA256: 13316dd8f7e7ecaa3ba5dca05f13bacb28aa79b8944ca7db420d26101b503970   Scenario-SHA256: b1d1483eefea5cdb017d344733a45b3bc0ab0b512ad4c25799368d67400be4d9   Generator: cargo-disttest 0.1.0
//! Frame-SHA256: b21dc6b03a7419f2383d13a4bdd07b1fe4423d41ba320db40a056452786f0a27
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
    plan = "docs/testing-plans/failover.md",
    plan_sha256 = "13316dd8f7e7ecaa3ba5dca05f13bacb28aa79b8944ca7db420d26101b503970",
    scenario_sha256 = "b1d1483eefea5cdb017d344733a45b3bc0ab0b512ad4c25799368d67400be4d9",
    falsifies("C3": safety),
    model = register,
    checkers("linearizability" per_key),
    nemesis("full-partition", "asymmetric-partition"),
    landing(injector("iptables-dropped-packets"), victim("metric:replica-silence")),
    budget(
        smoke(nodes = 2, seconds = 10, faults = 1, seeds = 1),
        hardening(nodes = 3, seconds = 24, faults = 2, seeds = 3, operations = 600),
        release = "not provided — the answer is known after a minute. Revisit when: Redis changes its replication.",
    ),
)]
async fn confirmed_registers_are_linearizable_across_a_failover(run: Run) -> Result<Judged> {
    // disttest:begin workload — as S2 on four registers: half reads, half writes of unique values, each write
    // | followed by `WAIT` for all replicas, for 300 ms; clients of replicas read a register that nobody
    // | writes, four times a second. After the faults each client reads every register once.
    let cluster = run.cluster(support::program()).await?;
    let roles = Roles::new(&cluster);
    let believed = roles.clone();
    let workload: Workload = run
        .workload(cluster)
        .clients(6)
        .probe(support::silence())
        .start(move |client: Client| Session::new(client, believed.clone(), true).read_and_write())
        .await?;
    // disttest:end workload

    // disttest:begin faults — `full-partition` between the primary and all other nodes; 1 s later an operator
    // | makes another node the primary and those that can be reached its replicas; 6 s after that the network
    // | heals and the old primary is made a replica of the new one. The first window fails over from `n1` to
    // | `n2`; the second, at the hardening tier, back, and is an `asymmetric-partition`: packets of the other
    // | nodes to the primary are dropped, and its own pass.
    let landed: Landed = roles.fail_over(&run, &workload).await?;
    // disttest:end faults

    // disttest:begin oracle — the history of every register is linearizable, operations of unknown outcome
    // | included; zero violations. Cannot detect: anything across registers.
    let history: Recorded =
        workload.stop(move |client: Client| Session::new(client, roles.clone(), true).read_registers()).await?;
    run.oracle(history).check(Linearizability::per_key(Register::new())).judge(landed)
    // disttest:end oracle
}

// disttest:begin helpers — imports, types and functions of this test
#[path = "../support/mod.rs"]
mod support;

use support::{Roles, Session};
// disttest:end helpers

disttest_runtime::main!();
