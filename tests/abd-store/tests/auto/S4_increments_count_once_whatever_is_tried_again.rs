//! AUTO-GENERATED from test plan: docs/testing-plans/abd-register.md
//! Scenario: S4 increments_count_once_whatever_is_tried_again
//! Falsifies: C5 (see §1b of the plan for full text)
//! Plan-SHA256: 29614db10ff245173a591caf094095171007ca4b23f30073026454ae19500fc0   Scenario-SHA256: 839b16978a1072c6dd19c7334d052065ef8af044efa4859bad8bc495661438d5   Generator: cargo-disttest 0.1.0
//! Frame-SHA256: 3cbbba524a4ebbd806636d3ec4a68a8cc298922163a5bf28d5cc7b9a032f9c28
//!
//! REVIEW BEFORE TREATING AS A PERMANENT REGRESSION: the workload, the faults and the oracle below must be what the
//! plan says, and the oracle must be able to reject a wrong history.
//!
//! Write code between `disttest:begin` and `disttest:end` only: `cargo disttest author` keeps it to the byte and
//! rewrites everything else, which is what the Frame-SHA256 is taken over.
#![allow(unexpected_cfgs, reason = "the attribute asks for rust-analyzer")]

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S4",
    plan = "docs/testing-plans/abd-register.md",
    plan_sha256 = "29614db10ff245173a591caf094095171007ca4b23f30073026454ae19500fc0",
    scenario_sha256 = "839b16978a1072c6dd19c7334d052065ef8af044efa4859bad8bc495661438d5",
    falsifies("C5": idempotency),
    model = ledger,
    checkers("exactly-once"),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts", "metric:peer-timeouts")),
    budget(
        smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1),
        hardening(nodes = 5, seconds = 12, faults = 2, seeds = 3, operations = 3000),
        release = "not provided — loss of power needs a storage fault that this plan leaves out. Revisit when: the storage nemeses exist.",
    ),
)]
async fn increments_count_once_whatever_is_tried_again(run: Run) -> Result<Judged> {
    // disttest:begin workload — closed loop, 10 clients spread over the nodes in turn, each pinned to one
    // | node. Counters come in rounds: two at a time, two new ones every 500 ms. A client adds 1 to 9 under
    // | an idempotency key of its own making, never used for another increment. An increment without an
    // | answer is tried again under the same key, by whichever client is free first, so mostly through
    // | another node, until it is answered or the workload ends. Beside that one operation in four tries an
    // | increment again that was acknowledged at any earlier time, as a client does that lost the answer or a
    // | queue that delivers at least once; and one operation in eight reads a counter that was added to
    // | lately. Each client keeps to at most 60 operations a second, gives an operation 0.65 s, and pauses
    // | 250 ms after one without answer. After the faults every counter is read once through each node.
    let cluster = run.cluster(support::program()).await?;
    let requests = Requests::new();
    let asked = requests.clone();
    let workload: Workload = run
        .workload(cluster)
        .clients(10)
        .probe(support::peer_timeouts())
        .start(move |client: Client| add_and_try_again(client, asked.clone()))
        .await?;
    // disttest:end workload

    // disttest:begin faults — kill -9 of a majority in the same moment, 2 s later restarted; at the hardening
    // | tier a second window kills every node.
    let landed: Landed = {
        let faults = workload.faults();
        for window in 0..run.budget().faults {
            let (_, majority) = run.minority(&format!("window {window}"));
            let killed = if window == 0 { majority } else { run.nodes() };
            let injected = faults.inject(HardKill::new(killed)).await?;
            injected.hold_for(Duration::from_secs(2)).await;
            injected.heal().await?;
        }
        faults.settle().await
    };
    // disttest:end faults

    // disttest:begin oracle — by idempotency key: no read of a counter shows more than the increments that
    // | had begun, each once; every read at quiescence shows every acknowledged increment once, and those of
    // | unknown outcome at most once. Zero violations allowed. Cannot detect: a doubled increment that an
    // | increment of unknown outcome makes up for in the sum.
    let history: Recorded = workload.stop(move |client: Client| read_every_counter(client, requests.clone())).await?;
    run.oracle(history).check(ExactlyOnce::counts("/id", "/by")).judge(landed)
    // disttest:end oracle
}

// disttest:begin helpers — imports, types and functions of this test
#[path = "../support/increments.rs"]
mod increments;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "shared: clients of registers are not used here")]
mod support;

use increments::{Requests, add_and_try_again, read_every_counter};
use std::time::Duration;
// disttest:end helpers

disttest_runtime::main!();
