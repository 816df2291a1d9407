//! L0: what every layer may use. Knows nothing of plans, histories or verdicts.

pub mod diagnostic;
pub mod digest;
pub mod nearest;
pub(crate) mod recipe;
pub mod rng;
pub mod time;
