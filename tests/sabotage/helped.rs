//! S6: a helper of it is not written yet.

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S6",
    plan = "plans/sabotage.md",
    plan_sha256 = "99ae4291d87289d3de08b645a8a1bf260769999dca55cc2ad92543484cb8378e",
    scenario_sha256 = "d787cf91cf226e030b2a6dd84c5153c55a0d1a05df9037d5e53001be051e38b4",
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
async fn helper_not_filled(run: Run) -> Result<Judged> {
    let faults = faults_of(&run);
    run.note(format!("{faults} faults"));
    crate::body::judged(run).await
}

fn faults_of(_run: &Run) -> u64 {
    disttest_runtime::todo!("faults")
}
