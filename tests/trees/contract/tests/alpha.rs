//! Scenarios that pass, fail, and wait to be filled.

#![allow(unexpected_cfgs, reason = "the attribute asks for rust-analyzer")]

mod common;

use disttest_runtime::prelude::*;

#[disttest_runtime::scenario(
    id = "S1",
    plan = "docs/testing-plans/contract.md",
    plan_sha256 = "@PLAN@",
    scenario_sha256 = "@S1@",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    no_fault = "the contract of the harness is under test, not the store",
    budget(smoke(nodes = 1, seconds = 1, faults = 0, seeds = 1), hardening(nodes = 2, seconds = 2, faults = 0, seeds = 2), release = "not provided — nothing to gain. Revisit when: never needed."),
)]
async fn passing(run: Run) -> Result<Judged> {
    let (history, landed) = common::history(&run, false).await?;
    run.oracle(history).check(Linearizability::per_key(Register::new())).judge(landed)
}

#[disttest_runtime::scenario(
    id = "S2",
    plan = "docs/testing-plans/contract.md",
    plan_sha256 = "@PLAN@",
    scenario_sha256 = "@S2@",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    no_fault = "the contract of the harness is under test, not the store",
    budget(smoke(nodes = 1, seconds = 1, faults = 0, seeds = 1), hardening(nodes = 2, seconds = 2, faults = 0, seeds = 2), release = "not provided — nothing to gain. Revisit when: never needed."),
)]
async fn failing(run: Run) -> Result<Judged> {
    let (history, landed) = common::history(&run, true).await?;
    run.oracle(history).check(Linearizability::per_key(Register::new())).judge(landed)
}

#[disttest_runtime::scenario(
    id = "S3",
    plan = "docs/testing-plans/contract.md",
    plan_sha256 = "@PLAN@",
    scenario_sha256 = "@S3@",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    no_fault = "the contract of the harness is under test, not the store",
    budget(smoke(nodes = 1, seconds = 1, faults = 0, seeds = 1), hardening(nodes = 2, seconds = 2, faults = 0, seeds = 2), release = "not provided — nothing to gain. Revisit when: never needed."),
)]
async fn unfilled(run: Run) -> Result<Judged> {
    let (history, landed) = common::history(&run, false).await?;
    disttest_runtime::todo!("oracle")
}

disttest_runtime::main!();
