//! S10 and S11: as S9, with the packet filter of the kernel between the nodes.

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S10",
    plan = "plans/sabotage.md",
    plan_sha256 = "99ae4291d87289d3de08b645a8a1bf260769999dca55cc2ad92543484cb8378e",
    scenario_sha256 = "beb9e7f8df95431061457b1e3b1b8314e02a3c16f874a737cb6120fba4fede40",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key, "no-lost-ack"),
    nemesis("full-partition"),
    landing(injector("iptables-dropped-packets"), victim("metric:peer-timeouts")),
    budget(
        smoke(nodes = 3, seconds = 3, faults = 1, seeds = 1),
        hardening(nodes = 4, seconds = 30, faults = 3, seeds = 3),
        release = "not provided — the table of sabotages needs none. Revisit when: a sabotage shows only in long runs.",
    ),
)]
async fn register_behind_iptables(run: Run) -> Result<Judged> {
    crate::body::judged(run).await
}

#[disttest_runtime::scenario(
    id = "S11",
    plan = "plans/sabotage.md",
    plan_sha256 = "99ae4291d87289d3de08b645a8a1bf260769999dca55cc2ad92543484cb8378e",
    scenario_sha256 = "1e9e2ae03079d50628aae8684c0ca7e75e17b2a5af498c631510d841cbcbbad7",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key, "no-lost-ack"),
    nemesis("full-partition"),
    landing(injector("nft-dropped-packets"), victim("metric:peer-timeouts")),
    budget(
        smoke(nodes = 3, seconds = 3, faults = 1, seeds = 1),
        hardening(nodes = 4, seconds = 30, faults = 3, seeds = 3),
        release = "not provided — the table of sabotages needs none. Revisit when: a sabotage shows only in long runs.",
    ),
)]
async fn register_behind_nft(run: Run) -> Result<Judged> {
    crate::body::judged(run).await
}
