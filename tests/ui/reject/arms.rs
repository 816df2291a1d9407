//! An arm is always serious, names its surface and what must be denied there, and is a function of its scenario.

use disttest_runtime::prelude::*;
use disttest_runtime::run::{Judged, Run};

#[disttest_runtime::scenario(
    id = "S5/api",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": liveness),
    budget(smoke(nodes = 3, seconds = 5, faults = 0, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 0, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
    no_fault = "it is about access",
)]
async fn always_serious__api(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S5/api",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": (fairness, boundary)),
    model = register,
    checkers("linearizability" per_key),
    budget(smoke(nodes = 3, seconds = 5, faults = 0, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 0, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
    no_fault = "it is about access",
)]
async fn no_surface_and_no_control__api(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S5/api",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": (fairness, boundary)),
    surface = " ",
    negative_controls(),
    model = register,
    checkers("linearizability" per_key),
    budget(smoke(nodes = 3, seconds = 5, faults = 0, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 0, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
    no_fault = "it is about access",
)]
async fn empty_surface_and_no_control__api(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S5",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    surface = "public API",
    model = register,
    checkers("linearizability" per_key),
    budget(smoke(nodes = 3, seconds = 5, faults = 0, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 0, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
    no_fault = "it is about access",
)]
async fn surface_of_the_whole(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S5/api-v2",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    budget(smoke(nodes = 3, seconds = 5, faults = 0, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 0, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
    no_fault = "it is about access",
)]
async fn named_after_another_arm__api(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S5/api-v2",
    plan = "docs/testing-plans/example.md",
    plan_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    scenario_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    budget(smoke(nodes = 3, seconds = 5, faults = 0, seeds = 1), hardening(nodes = 5, seconds = 30, faults = 0, seeds = 3), release = "not provided — no soak rig. Revisit when: there is one."),
    no_fault = "it is about access",
)]
async fn __api_v2(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

fn main() {}
