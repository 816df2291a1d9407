//! What the macros register, as constants.

use crate::run::{Judged, Run};
use std::future::Future;
use std::pin::Pin;

/// The body of a scenario, boxed; it need not be `Send`.
pub type BoxedScenario = Pin<Box<dyn Future<Output = crate::Result<Judged>>>>;

/// One function under `#[scenario]`. Made by the macro only.
#[derive(Debug)]
pub struct Registration {
    /// `S1`, `S5/api`.
    pub id: &'static str,
    /// The function.
    pub function: &'static str,
    /// `module_path!()` of the function.
    pub module: &'static str,
    /// `file!()`.
    pub file: &'static str,
    /// Line of the function's name.
    pub line: u32,
    /// `CARGO_MANIFEST_DIR` of the package.
    pub manifest_dir: &'static str,
    /// `CARGO_PKG_NAME` of the package.
    pub package: &'static str,
    /// Plan path relative to the package or one of its ancestors.
    pub plan: &'static str,
    /// Scenario-SHA256 of the plan it was generated from.
    pub scenario_sha256: &'static str,
    /// Plan-SHA256 of the plan it was generated from.
    pub plan_sha256: &'static str,
    /// (claim, category words).
    pub falsifies: &'static [(&'static str, &'static [&'static str])],
    /// Model under test.
    pub model: Option<&'static str>,
    /// (checker, per key).
    pub checkers: &'static [(&'static str, bool)],
    /// Planned nemeses; empty together with a `no_fault` reason.
    pub nemeses: &'static [&'static str],
    /// Why there is no fault.
    pub no_fault: Option<&'static str>,
    /// Signals that must move.
    pub landing: DeclaredLanding,
    /// Budgets; `None` for `exit_criteria` of a legacy plan.
    pub budgets: Option<DeclaredBudgets>,
    /// Surface that an arm covers.
    pub surface: Option<&'static str>,
    /// What must be denied and unobservable (§7.M.S).
    pub negative_controls: &'static [&'static str],
    /// Regions of this function that are not filled: (name, line).
    pub unfilled: &'static [(&'static str, u32)],
    /// Runs beside other scenarios of its plan.
    pub shares_nothing: bool,
    /// The body.
    pub body: fn(Run) -> BoxedScenario,
}

/// Signals that must move in each window, by side.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredLanding {
    /// Injector's side.
    pub injector: &'static [&'static str],
    /// Victim's side.
    pub victim: &'static [&'static str],
}

/// Three tiers.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredBudgets {
    /// Smoke.
    pub smoke: DeclaredBudget,
    /// Hardening.
    pub hardening: DeclaredBudget,
    /// Release.
    pub release: DeclaredRelease,
}

/// One tier.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredBudget {
    /// Nodes.
    pub nodes: u64,
    /// Seconds of workload per seed.
    pub seconds: u64,
    /// Fault windows per seed.
    pub faults: u64,
    /// Seeds.
    pub seeds: u64,
    /// Operations per seed; 0 for none named.
    pub operations: u64,
}

/// Release tier.
#[derive(Clone, Copy, Debug)]
pub enum DeclaredRelease {
    /// A budget.
    Budget(DeclaredBudget),
    /// The literal disclosure of the plan.
    NotProvided(&'static str),
}

/// A region that `disttest_runtime::todo!` marks, wherever it stands (a helper function included).
#[derive(Debug)]
pub struct UnfilledRegion {
    /// Name.
    pub name: &'static str,
    /// `module_path!()`.
    pub module: &'static str,
    /// `file!()`.
    pub file: &'static str,
    /// `line!()`.
    pub line: u32,
}

inventory::collect!(Registration);
inventory::collect!(UnfilledRegion);
