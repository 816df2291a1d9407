//! Two tests stand for one scenario.
#![allow(unexpected_cfgs, reason = "the attribute asks for rust-analyzer")]

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/guards.md",
    plan_sha256 = "@PLAN@",
    scenario_sha256 = "@S1@",
    falsifies("C1": liveness),
    no_fault = "nothing is run",
    budget(smoke(nodes = 1, seconds = 1, faults = 0, seeds = 1), hardening(nodes = 2, seconds = 2, faults = 0, seeds = 2), release = "not provided — nothing to gain. Revisit when: never needed."),
)]
async fn one(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/guards.md",
    plan_sha256 = "@PLAN@",
    scenario_sha256 = "@S1@",
    falsifies("C1": liveness),
    no_fault = "nothing is run",
    budget(smoke(nodes = 1, seconds = 1, faults = 0, seeds = 1), hardening(nodes = 2, seconds = 2, faults = 0, seeds = 2), release = "not provided — nothing to gain. Revisit when: never needed."),
)]
async fn two(run: Run) -> Result<Judged> {
    disttest_runtime::todo!("oracle")
}

disttest_runtime::main!();
