//! AUTO-GENERATED from test plan: docs/testing-plans/abd-register.md
//! Scenario: S2 acknowledged_writes_survive_the_kill_of_a_quorum
//! Falsifies: C2 (see §1b of the plan for full text)
//! Plan-SHA256: dfa26446b014d48be5e1805857e605dc8f2d3f6bf8a04e060a9cf652258bc8e9   Scenario-SHA256: 9907be4265fce3fea27f69479cffd6572683234049a113e05d98d6eb604b3d87   Generator: cargo-disttest 0.1.0
//! Frame-SHA256: 270eab5c853d6aeddf03be43d99dfd821513e1d6f89a50d474b93a913349ddb9
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
    plan = "docs/testing-plans/abd-register.md",
    plan_sha256 = "dfa26446b014d48be5e1805857e605dc8f2d3f6bf8a04e060a9cf652258bc8e9",
    scenario_sha256 = "9907be4265fce3fea27f69479cffd6572683234049a113e05d98d6eb604b3d87",
    falsifies("C2": durability),
    model = register,
    checkers("no-lost-ack", "linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts", "metric:peer-timeouts")),
    budget(
        smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1),
        hardening(nodes = 5, seconds = 12, faults = 2, seeds = 3, operations = 3000),
        release = "not provided — loss of power needs a storage fault that this plan leaves out. Revisit when: the storage nemeses exist.",
    ),
)]
async fn acknowledged_writes_survive_the_kill_of_a_quorum(run: Run) -> Result<Judged> {
    // disttest:begin workload — closed loop, 10 clients spread over the nodes in turn, each pinned to one
    // | node; every operation writes a key of its own, once, with a unique value; one operation in five reads
    // | a key that the same client has written. Each client keeps to at most 60 operations a second, gives an
    // | operation 0.65 s, and pauses 250 ms after one without answer. After the faults every key is read
    // | once.
    let cluster = run.cluster(support::program()).await?;
    let keys = Keys::default();
    let written = keys.clone();
    let workload: Workload = run
        .workload(cluster)
        .clients(10)
        .probe(support::peer_timeouts())
        .start(move |client: Client| write_once(client, written.clone()))
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

    // disttest:begin oracle — every acknowledged write is read at quiescence with its value; zero lost.
    // | Unknown outcomes may be there or not. Cannot detect: loss of a write that nobody acknowledged, and
    // | loss that a loss of power would cause.
    let history: Recorded = workload.stop(move |client: Client| read_back(client, keys.clone())).await?;
    run.oracle(history).check(NoLostAck::overwritable()).check(Linearizability::per_key(Register::new())).judge(landed)
    // disttest:end oracle
}

// disttest:begin helpers — imports, types and functions of this test
#[path = "../support/mod.rs"]
mod support;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use support::Session;

/// At most 60 operations a second and client.
const PERIOD: Duration = Duration::from_micros(16_667);

/// Every key that a client tried to write.
#[derive(Clone, Default)]
struct Keys(Arc<Mutex<Vec<String>>>);

impl Keys {
    fn add(&self, key: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(key);
    }

    fn next(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

async fn write_once(client: Client, keys: Keys) -> Result<()> {
    let mut session = Session::new(client);
    let mut mine: Vec<String> = Vec::new();
    while session.client.running() {
        let old = match session.client.rng().chance(1, 5) {
            true => session.client.rng().pick(&mine).cloned(),
            false => None,
        };
        let answered = match old {
            Some(key) => session.read(&key).await,
            None => {
                let key = format!("c{}-{}", session.client.id(), mine.len());
                mine.push(key.clone());
                keys.add(key.clone());
                session.write(&key).await
            }
        };
        session.pace(PERIOD, answered).await;
    }
    Ok(())
}

/// The clients of the nodes share the work: each key is read once, through one of them.
async fn read_back(client: Client, keys: Keys) -> Result<()> {
    let mut session = Session::new(client);
    while let Some(key) = keys.next() {
        session.read_at_quiescence(&key).await?;
    }
    Ok(())
}
// disttest:end helpers

disttest_runtime::main!();
