//! A scenario names the claims it falsifies, with categories of the format.

use disttest_runtime::prelude::*;
use disttest_runtime::run::{Judged, Run};

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    model = register,
    checkers("linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn no_claims(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies(),
    model = register,
    checkers("linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn empty_claims(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1"),
    model = register,
    checkers("linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn without_category(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": saftey),
    model = register,
    checkers("linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn unknown_category(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("H1": safety),
    model = register,
    checkers("linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn not_a_claim_id(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

fn main() {}
