//! S4: somebody took a checker of the plan out of the attribute.

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S4",
    plan = "plans/sabotage.md",
    plan_sha256 = "99ae4291d87289d3de08b645a8a1bf260769999dca55cc2ad92543484cb8378e",
    scenario_sha256 = "5991a9a33e5b3c9f48630805a99a350b2d45ec40b8940de1d3be412cb9e52eda",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    nemesis("full-partition"),
    landing(injector("proxy-dropped-bytes"), victim("metric:peer-timeouts")),
    budget(
        smoke(nodes = 3, seconds = 3, faults = 1, seeds = 1),
        hardening(nodes = 4, seconds = 30, faults = 3, seeds = 3),
        release = "not provided — the table of sabotages needs none. Revisit when: a sabotage shows only in long runs.",
    ),
)]
async fn checker_of_the_plan_left_out(run: Run) -> Result<Judged> {
    crate::body::judged(run).await
}
