//! L4: the libtest-compatible main of a scenario file, its registry, and the supervisor of runs.

mod entry;
mod registry;

pub use registry::{
    BoxedScenario, DeclaredBudget, DeclaredBudgets, DeclaredLanding, DeclaredRelease, Registration, UnfilledRegion,
};

/// `main` of a test target with `harness = false`. Never returns.
pub fn main_of_tests() -> ! {
    std::process::exit(101)
}
