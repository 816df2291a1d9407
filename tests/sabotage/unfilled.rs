//! S5: its oracle is not written yet.

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S5",
    plan = "plans/sabotage.md",
    plan_sha256 = "99ae4291d87289d3de08b645a8a1bf260769999dca55cc2ad92543484cb8378e",
    scenario_sha256 = "6e8517a5522b72375119bbe19eaed4f7e1ee8381c88b53f064bec28473779860",
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
async fn region_not_filled(run: Run) -> Result<Judged> {
    let cluster = run.cluster(crate::store::program(&run)).await?;
    drop(cluster);
    disttest_runtime::todo!("oracle")
}
