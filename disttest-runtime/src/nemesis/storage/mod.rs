//! Storage faults: disks of nodes, and what is done to them and to the files on them.

mod at_rest;
#[cfg(feature = "fuse")]
mod faulty;
#[cfg(not(feature = "fuse"))]
#[path = "no_fuse.rs"]
mod faulty;
mod full;
#[cfg(feature = "fuse")]
mod ledger;
mod mount;
mod on_disks;
mod syscalls;
mod wrong;

pub use at_rest::StorageCorruption;
pub use full::DiskFull;
pub use mount::{Disk, Mounted};
pub(crate) use mount::{is_leftover, unmount_leftover};
pub use on_disks::{BitFlip, DiskFailure, PowerLoss, SlowDisk};
pub use syscalls::{FsyncFailure, SlowSync};
