//! Time as data: nanoseconds on a run's monotonic clock. Reading a clock is the business of L4.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Nanoseconds since the run's epoch, on one monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// `self` as a duration since the epoch.
    pub fn as_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// Time from `earlier` to `self`; zero when `earlier` is later.
    pub fn since(self, earlier: Nanos) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// `self` moved forward by `by`, saturating.
    pub fn plus(self, by: Duration) -> Nanos {
        Nanos(self.0.saturating_add(u64::try_from(by.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl From<Duration> for Nanos {
    fn from(d: Duration) -> Nanos {
        Nanos(0).plus(d)
    }
}
