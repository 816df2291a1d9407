//! The recorder: what clients did, as it happened, with nothing left out.

mod clock;

pub use clock::Clock;
