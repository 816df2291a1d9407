//! S9: nodes with addresses of their own, a namespace each, and a switch between them.

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S9",
    plan = "plans/sabotage.md",
    plan_sha256 = "020851001d40f84e1d47f2b25d30b26bc5350a8ba7ccc8b0a2dcad5437b85f0f",
    scenario_sha256 = "4a84eedb24a362e905de2d94d40e82b81b4584452563a374cf69e6e3f5e8b3a4",
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
