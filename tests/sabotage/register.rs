//! S1: the scenario that most sabotages are applied to.

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S1",
    plan = "plans/sabotage.md",
    plan_sha256 = "99ae4291d87289d3de08b645a8a1bf260769999dca55cc2ad92543484cb8378e",
    scenario_sha256 = "8536ecd52d123704d0b555e1c6fd11e1e2363791d549baae5c18e43b096dbb30",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key, "no-lost-ack"),
    nemesis("full-partition"),
    landing(injector("proxy-dropped-bytes"), victim("metric:peer-timeouts")),
    budget(
        smoke(nodes = 3, seconds = 3, faults = 1, seeds = 1),
        hardening(nodes = 4, seconds = 30, faults = 3, seeds = 3),
        release = "not provided — the table of sabotages needs none. Revisit when: a sabotage shows only in long runs.",
    ),
)]
async fn register_under_a_partition(run: Run) -> Result<Judged> {
    crate::body::judged(run).await
}
