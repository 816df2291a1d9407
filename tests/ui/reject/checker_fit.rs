//! Checker and model fit each other, and both exist.

use disttest_runtime::prelude::*;
use disttest_runtime::run::{Judged, Run};

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers("exclusion"),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn misfit(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = lease,
    checkers("linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn another_misfit(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers("linearisability"),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn unknown_checker(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = registre,
    checkers("linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn unknown_model(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability", "linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn checker_twice(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers(custom("linearizability")),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn custom_shadows_a_known_one(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_client),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn unknown_scope(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

fn main() {}
