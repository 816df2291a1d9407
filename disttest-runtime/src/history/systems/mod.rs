//! Simulated systems of known strength, and seeded histories of what their clients see.
//!
//! For tests of checkers and of harnesses: a checker must accept every history of a system that is strong enough for it,
//! and must reject some of each that is not. The weakness of a system is that of its kind (replication that
//! acknowledges before it copies, snapshots without validation, leases that are overstayed), not a planted fault: it shows
//! only where clients meet it. In all of them an operation of unknown outcome took effect while it was under way, or
//! never, and one that failed had no effect.

mod delivery;
mod locks;
mod replication;
pub(crate) mod stage;
mod transactions;

pub use delivery::{Delivery, deliveries};
pub use locks::{LockService, TIME_TO_LIVE, holds};
pub use replication::{Replication, registers};
pub use transactions::{Isolation, Transactional, transactions};

/// How much clients do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Clients; each has one operation in flight at a time.
    pub clients: u64,
    /// Keys.
    pub keys: u64,
    /// Operations, the reads at quiescence not counted.
    pub operations: u64,
    /// Operations of unknown outcome, per thousand.
    pub unknown: u64,
    /// Operations that fail, per thousand, beside those that the system refuses.
    pub failed: u64,
}

impl Default for Load {
    fn default() -> Load {
        Load { clients: 6, keys: 2, operations: 80, unknown: 20, failed: 30 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;

    #[test]
    fn equal_seeds_give_equal_histories() {
        let load = Load::default();
        let check = |make: &dyn Fn(u64) -> History| {
            assert_eq!(make(7), make(7));
            assert_ne!(make(7), make(8));
            assert!(make(7).ops().len() as u64 >= load.operations);
        };
        for system in Replication::ALL {
            check(&|seed| registers(system, load, seed));
        }
        for system in LockService::ALL {
            check(&|seed| holds(system, load, seed));
        }
        for system in Delivery::ALL {
            check(&|seed| deliveries(system, load, seed));
        }
        for isolation in Isolation::ALL {
            check(&|seed| transactions(Transactional { isolation, lists: true }, load, seed));
        }
    }
}
