//! L4: what a scenario is given, and the tokens it must earn in order: workload, landing, oracle.

mod active;
mod baseline;
mod client;
mod control;
mod core;
mod entry;
mod events;
mod execute;
mod facts;
mod faults;
mod handle;
mod hook;
mod limits;
mod log_marker;
mod occasions;
mod oracle;
mod panics;
mod probe;
mod quiescence;
pub(crate) mod record;
mod sampler;
pub(crate) mod seal;
mod signals;
pub(crate) mod teeth;
mod workload;

#[cfg(test)]
mod composed_tests;
#[cfg(test)]
mod control_tests;
#[cfg(test)]
mod nemesis_tests;
#[cfg(test)]
mod net_tests;
#[cfg(test)]
mod schedule_tests;
#[cfg(test)]
mod tests;

pub use client::{CallError, Client};
pub use control::Control;
pub use entry::{Entry, ScenarioFuture};
pub use execute::{deadline, execute};
pub use faults::{Faults, Injected, Landed, When};
pub use handle::Run;
pub use hook::{Evidence, Hook, Planned};
pub use limits::CheckLimits;
pub(crate) use limits::check_within;
pub use oracle::{Judged, Oracle};
pub use probe::{Probe, Target};
pub use quiescence::Quiescent;
pub use workload::{Recorded, Workload, WorkloadBuilder};
