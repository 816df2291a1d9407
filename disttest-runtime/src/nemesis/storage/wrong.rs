//! What a faulty disk is told to do wrong.

use crate::base::rng::Rng;
use std::time::Duration;

/// What is wrong with a disk; nothing by default.
#[derive(Debug, Default)]
pub(super) struct Wrong {
    /// Calls that fail with EIO.
    pub(super) fail: Option<Calls>,
    /// Calls that take longer, and by how much.
    pub(super) delay: Option<(Calls, Duration)>,
    /// Each read has one bit flipped, drawn by this.
    pub(super) flip: Option<Rng>,
}

/// Kinds of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calls {
    /// fsync and fdatasync.
    Syncs,
    /// Writes.
    Writes,
    /// Reads, writes and syncs.
    All,
}

/// What a disk counts of its own faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// Calls that failed.
    Failed,
    /// Calls that took longer.
    Delayed,
    /// Bits that were flipped.
    Flipped,
}

/// What was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Loss {
    /// Bytes that had been written and are gone.
    pub(super) bytes: u64,
    /// Writes of which a part is there and the rest is not.
    pub(super) torn: u64,
}
