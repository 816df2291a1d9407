//! A scenario says which scenario of which plan it is.

use disttest_runtime::prelude::*;
use disttest_runtime::run::{Judged, Run};

#[disttest_runtime::scenario(
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn nothing_said(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "scenario 1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn not_an_id(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S01",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn zero_padded_id(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "../plan.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn plan_outside(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "7c1e…",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn digest_is_not_one(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

fn main() {}
