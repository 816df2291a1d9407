//! A second binary of the same plan: a scenario that panics in a module of its own, and a sync one.

#![allow(unexpected_cfgs, reason = "the attribute asks for rust-analyzer")]

mod common;

use disttest_runtime::prelude::*;

mod inner {
    use disttest_runtime::prelude::*;

    #[disttest_runtime::scenario(
        id = "S4",
        plan = "docs/testing-plans/contract.md",
        plan_sha256 = "@PLAN@",
        scenario_sha256 = "@S4@",
        falsifies("C1": safety),
        model = register,
        checkers("linearizability" per_key),
        no_fault = "the contract of the harness is under test, not the store",
        budget(smoke(nodes = 1, seconds = 1, faults = 0, seeds = 1), hardening(nodes = 2, seconds = 2, faults = 0, seeds = 2), release = "not provided — nothing to gain. Revisit when: never needed."),
    )]
    async fn panicking(run: Run) -> Result<Judged> {
        assert_eq!(run.seed(), 0, "no seed is zero");
        unreachable!("no seed is zero")
    }
}

/// Tells the truth, or lies the first time that it runs: when `CONTRACT_LIE_ONCE` names a file that is not there yet.
#[disttest_runtime::scenario(
    id = "S5",
    plan = "docs/testing-plans/contract.md",
    plan_sha256 = "@PLAN@",
    scenario_sha256 = "@S5@",
    falsifies("C1": safety),
    model = register,
    checkers("linearizability" per_key),
    no_fault = "the contract of the harness is under test, not the store",
    budget(smoke(nodes = 1, seconds = 1, faults = 0, seeds = 1), hardening(nodes = 2, seconds = 2, faults = 0, seeds = 2), release = "not provided — nothing to gain. Revisit when: never needed."),
)]
fn synchronous(run: Run) -> Result<Judged> {
    let lie = std::env::var_os("CONTRACT_LIE_ONCE").is_some_and(|file| std::fs::File::create_new(file).is_ok());
    let (history, landed) = run.block_on(common::history(&run, lie))?;
    run.oracle(history).check(Linearizability::per_key(Register::new())).judge(landed)
}

disttest_runtime::main!();
