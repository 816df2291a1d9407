//! S2: its digest is that of an earlier plan, which spoke of five clients.

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S2",
    plan = "plans/sabotage.md",
    plan_sha256 = "99ae4291d87289d3de08b645a8a1bf260769999dca55cc2ad92543484cb8378e",
    scenario_sha256 = "1f7124b8c24c88e44dccff436424d735925860436a98b61ecb2375b45bd4744f",
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
async fn plan_edited_after_generation(run: Run) -> Result<Judged> {
    crate::body::judged(run).await
}
