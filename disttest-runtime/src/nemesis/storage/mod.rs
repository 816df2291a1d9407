//! Storage faults: disks of nodes, and what is done to them and to the files on them.

mod at_rest;
mod full;
mod mount;
mod syscalls;

pub use at_rest::StorageCorruption;
pub use full::DiskFull;
pub(crate) use mount::unmount_leftover;
pub use mount::{Disk, Mounted};
pub use syscalls::{FsyncFailure, SlowSync};
