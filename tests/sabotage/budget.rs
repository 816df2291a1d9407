//! S3: somebody wrote a smaller budget into the attribute.

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S3",
    plan = "plans/sabotage.md",
    plan_sha256 = "6cf2413244aee4d530c848d5801e366334229f5b124d404284d7c3f780767fe6",
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
