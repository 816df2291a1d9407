//! L1: the pure half of a nemesis: what was planned for a window, what was sampled, and whether that proves landing.

mod window;

pub use window::{Assessment, Sample, Series, Shape, Side, SideFinding, Window};
