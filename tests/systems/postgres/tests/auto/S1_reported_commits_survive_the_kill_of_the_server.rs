//! AUTO-GENERATED from test plan: docs/testing-plans/commit-durability.md
//! Scenario: S1 reported_commits_survive_the_kill_of_the_server
//! Falsifies: C1 (see §1b of the plan for full text)
//! Plan-SHA256: 84e504d1e8a33f2e06c67d0bb40a4d2d279d6e1ab8bd9652d39b4e96731fcd4b   Scenario-SHA256: 3597d1282ac00b03e8114eb301c8ee42bd7068c4d973a24cca6f717e850c5b1a   Generator: cargo-disttest 0.1.0
//! Frame-SHA256: c1c052f662c68602fbd1762ba7bdcefacb17d848247761e0207ee3b8a4cc44ec
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
    plan = "docs/testing-plans/commit-durability.md",
    plan_sha256 = "84e504d1e8a33f2e06c67d0bb40a4d2d279d6e1ab8bd9652d39b4e96731fcd4b",
    scenario_sha256 = "3597d1282ac00b03e8114eb301c8ee42bd7068c4d973a24cca6f717e850c5b1a",
    falsifies("C1": durability),
    model = register,
    checkers("no-lost-ack", "linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-errors", "client-timeouts")),
    budget(
        smoke(nodes = 1, seconds = 8, faults = 1, seeds = 1),
        hardening(nodes = 2, seconds = 16, faults = 2, seeds = 3, operations = 2000),
        release = "not provided — loss of power needs a storage fault that this plan leaves out. Revisit when: the plan covers storage faults.",
    ),
)]
async fn reported_commits_survive_the_kill_of_the_server(run: Run) -> Result<Judged> {
    // disttest:begin workload — closed loop, 8 clients spread over the instances in turn, each with a
    // | connection of its own that it renews after an error; four operations in five insert a row with a key
    // | of its own and a unique value and commit, one in five reads a row that the same client has inserted.
    // | Each client keeps to at most 100 operations a second, gives an operation 1 s, and pauses 100 ms after
    // | one without answer. After the faults every row is read once.
    let cluster = run.cluster(support::program()?).await?;
    support::create_tables(&cluster).await?;
    let rows = Rows::default();
    let inserted = rows.clone();
    let workload: Workload =
        run.workload(cluster).clients(8).start(move |client: Client| insert_once(client, inserted.clone())).await?;
    // disttest:end workload

    // disttest:begin faults — kill -9 of the postmaster of every instance in the same moment, restarted 2.5 s
    // | later; one window after another, each after a quiet baseline.
    let landed: Landed = {
        let faults = workload.faults();
        for _ in 0..run.budget().faults {
            let injected = faults.inject(HardKill::new(run.nodes())).await?;
            injected.hold_for(Duration::from_millis(2500)).await;
            injected.heal().await?;
        }
        faults.settle().await
    };
    // disttest:end faults

    // disttest:begin oracle — every row whose commit was reported is read at quiescence with its value; zero
    // | lost. Commits without an answer may be there or not. Cannot detect: loss that only a loss of power
    // | causes.
    let history: Recorded = workload.stop(move |client: Client| read_back(client, rows.clone())).await?;
    run.oracle(history).check(NoLostAck::overwritable()).check(Linearizability::per_key(Register::new())).judge(landed)
    // disttest:end oracle
}

// disttest:begin helpers — imports, types and functions of this test
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use support::Session;

/// At most 100 operations a second and client.
const PERIOD: Duration = Duration::from_millis(10);

/// Every row that a client tried to insert, by the instance it belongs to.
#[derive(Clone, Default)]
struct Rows(Arc<Mutex<BTreeMap<String, Vec<String>>>>);

impl Rows {
    fn add(&self, node: &str, key: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(node.to_owned()).or_default().push(key);
    }

    fn next(&self, node: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(node)?.pop()
    }
}

async fn insert_once(client: Client, rows: Rows) -> Result<()> {
    let node = client.node().to_owned();
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
                let key = format!("{node}-c{}-{}", session.client.id(), mine.len());
                mine.push(key.clone());
                rows.add(&node, key.clone());
                session.insert(&key, &format!("v{}-{}", session.client.id(), mine.len())).await
            }
        };
        session.pace(PERIOD, answered).await;
    }
    Ok(())
}

/// The clients of an instance share the work: each of its rows is read once.
async fn read_back(client: Client, rows: Rows) -> Result<()> {
    let node = client.node().to_owned();
    let mut session = Session::new(client);
    while let Some(key) = rows.next(&node) {
        session.read_at_quiescence(&key).await?;
    }
    Ok(())
}
// disttest:end helpers

disttest_runtime::main!();
