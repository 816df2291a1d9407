//! S9: nodes with addresses of their own, a namespace each, and a switch between them.

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S9",
    plan = "plans/sabotage.md",
    plan_sha256 = "99ae4291d87289d3de08b645a8a1bf260769999dca55cc2ad92543484cb8378e",
    scenario_sha256 = "8314c125c97de7883dee7b61c548b5d29939063a0ef3b688b4fc4f0773262e7d",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key, "no-lost-ack"),
    nemesis("full-partition"),
    landing(injector("switch-dropped-packets"), victim("metric:peer-timeouts")),
    budget(
        smoke(nodes = 3, seconds = 3, faults = 1, seeds = 1),
        hardening(nodes = 4, seconds = 30, faults = 3, seeds = 3),
        release = "not provided — the table of sabotages needs none. Revisit when: a sabotage shows only in long runs.",
    ),
)]
async fn register_in_namespaces(run: Run) -> Result<Judged> {
    crate::body::judged(run).await
}
