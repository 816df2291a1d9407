//! The run's clock: monotonic, one epoch for everything that is compared.

use crate::base::time::Nanos;
use std::time::{Duration, Instant};

/// Reads the monotonic clock as nanoseconds since the run's epoch. Copies share the epoch; reading costs some 25 ns.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch: Instant,
}

impl Clock {
    /// A clock whose epoch is now.
    pub fn start() -> Clock {
        Clock { epoch: Instant::now() }
    }

    /// Time since the epoch.
    pub fn now(&self) -> Nanos {
        Nanos::from(self.epoch.elapsed())
    }

    /// The instant that lies `at` after the epoch.
    pub fn instant(&self, at: Nanos) -> Instant {
        self.epoch + Duration::from_nanos(at.0)
    }
}
