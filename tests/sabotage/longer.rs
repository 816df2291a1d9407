//! S7: a workload that is long enough to be cut short after its fault has landed.

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S7",
    plan = "plans/sabotage.md",
    plan_sha256 = "99ae4291d87289d3de08b645a8a1bf260769999dca55cc2ad92543484cb8378e",
    scenario_sha256 = "4ecac4e6d07581b514b881cebdd44990c364193829049f0c2cef0dce380863dc",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key, "no-lost-ack"),
    nemesis("full-partition"),
    landing(injector("proxy-dropped-bytes"), victim("metric:peer-timeouts")),
    budget(
        smoke(nodes = 3, seconds = 25, faults = 1, seeds = 1),
        hardening(nodes = 4, seconds = 30, faults = 3, seeds = 3),
        release = "not provided — the table of sabotages needs none. Revisit when: a sabotage shows only in long runs.",
    ),
)]
async fn longer_workload(run: Run) -> Result<Judged> {
    crate::body::judged(run).await
}
