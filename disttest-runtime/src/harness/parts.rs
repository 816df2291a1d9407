//! The parts of this layer that the harness stands on, by the names it uses.

pub(crate) use crate::nemesis::undo_journal;

pub(crate) use crate::run::{deadline, execute};
