//! A fault is planned, or its absence has a reason.

use disttest_runtime::prelude::*;
use disttest_runtime::run::{Judged, Run};

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn nothing_said(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    budget(smoke(nodes = 3, seconds = 5, faults = 0, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 0, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
    no_fault = " ",
)]
async fn no_reason(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    nemesis("hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
    no_fault = "none needed",
)]
async fn both(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
    no_fault = "a healthy cluster is the claim",
)]
async fn no_fault_but_faults_budgeted(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    nemesis(),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn empty_list(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    nemesis("hard-kill", "hard-kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn twice(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    nemesis("Hard kill"),
    landing(injector("process-exit"), victim("client-timeouts")),
    budget(smoke(nodes = 3, seconds = 5, faults = 1, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 5, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
)]
async fn not_a_name(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

fn main() {}
