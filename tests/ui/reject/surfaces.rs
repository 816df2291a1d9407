//! A boundary or fairness claim needs arms or negative controls.

use disttest_runtime::prelude::*;
use disttest_runtime::run::{Judged, Run};

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": boundary),
    model = register,
    checkers("linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn boundary_without_arms(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": (safety, fairness)),
    model = register,
    checkers("linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn fairness_without_arms(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": boundary),
    model = register,
    checkers("linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
    negative_controls(""),
)]
async fn empty_control(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

fn main() {}
