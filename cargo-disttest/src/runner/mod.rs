//! Running the scenarios of a plan: build, find, start, and read what they left on disk. A verdict is only ever read
//! from a record that a run of this session wrote; whatever goes wrong on the way leaves a scenario that did not run.

pub(crate) mod build;
pub(crate) mod execute;
pub(crate) mod interrupt;
pub(crate) mod needs;
pub(crate) mod open;
pub(crate) mod record;
pub(crate) mod rows;
pub(crate) mod session;
