//! S8: retries of increments across a restart.

#[path = "../abd-store/tests/support/increments.rs"]
mod clients;

use crate::store;
use clients::{Requests, add_and_try_again, read_every_counter};
use disttest_runtime::prelude::*;
use std::time::Duration;

#[disttest_runtime::scenario(
    id = "S8",
    plan = "plans/sabotage.md",
    plan_sha256 = "99ae4291d87289d3de08b645a8a1bf260769999dca55cc2ad92543484cb8378e",
    scenario_sha256 = "6f1af60a525bc35724adce08300fdeb2fa14771346b9fa1e9443cfb7da9da78d",
    falsifies("C2": idempotency),
    model = ledger,
    checkers("exactly-once"),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts", "metric:peer-timeouts")),
    budget(
        smoke(nodes = 3, seconds = 3, faults = 1, seeds = 1),
        hardening(nodes = 4, seconds = 30, faults = 3, seeds = 3),
        release = "not provided — the table of sabotages needs none. Revisit when: a sabotage shows only in long runs.",
    ),
)]
async fn increments_under_a_kill(run: Run) -> Result<Judged> {
    let cluster = run.cluster(store::program(&run)).await?;
    let requests = Requests::new();
    let asked = requests.clone();
    let workload: Workload = run
        .workload(cluster)
        .clients(6)
        .probe(store::peer_timeouts())
        .start(move |client: Client| add_and_try_again(client, asked.clone()))
        .await?;
    let faults = workload.faults();
    let injected = faults.inject(HardKill::new(["n1", "n2"])).await?;
    injected.hold_for(Duration::from_secs(2)).await;
    injected.heal().await?;
    let landed = faults.settle().await;
    let history = workload.stop(move |client: Client| read_every_counter(client, requests.clone())).await?;
    run.oracle(history).check(ExactlyOnce::counts("/id", "/by")).judge(landed)
}
