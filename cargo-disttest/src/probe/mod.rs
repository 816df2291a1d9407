//! What a plan needs of the machine (§6b) and whether it is there. Reads, never installs, needs no privileges.

pub(crate) mod answers;
pub(crate) mod finding;
pub(crate) mod known;
pub(crate) mod look;
pub(crate) mod need;
pub(crate) mod version;
