//! L1: the pure half of a nemesis: what was planned for a window, what was sampled, and whether that proves landing.

mod budget;
mod composed;
mod landing;
mod policy;
mod recovery;
mod schedule;
mod series;
mod signal;
mod window;

#[cfg(test)]
mod composed_tests;
#[cfg(test)]
mod forged;
#[cfg(test)]
mod tests;

pub use budget::{FaultBudget, Hit, Kind};
pub use landing::assess;
pub use policy::{CARRIER_SIGNAL, Policy, carrier_of, is_carrier};
pub use schedule::{Schedule, Slot};
pub use window::{Assessment, Occasion, Sample, Series, Shape, Side, SideFinding, TOGETHER, Window};
