//! S3: somebody wrote a smaller budget into the attribute.

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S3",
    plan = "plans/sabotage.md",
    plan_sha256 = "99ae4291d87289d3de08b645a8a1bf260769999dca55cc2ad92543484cb8378e",
    scenario_sha256 = "048ae88663e7e5a0ddd1e3061961adfbf960836e15489f92f4e7ca781c88759a",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key, "no-lost-ack"),
    nemesis("full-partition"),
    landing(injector("proxy-dropped-bytes"), victim("metric:peer-timeouts")),
    budget(
        smoke(nodes = 3, seconds = 1, faults = 1, seeds = 1),
        hardening(nodes = 4, seconds = 30, faults = 3, seeds = 3),
        release = "not provided — the table of sabotages needs none. Revisit when: a sabotage shows only in long runs.",
    ),
)]
async fn budget_below_the_plan(run: Run) -> Result<Judged> {
    crate::body::judged(run).await
}
