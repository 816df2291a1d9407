//! The parts of this layer that the harness stands on, by the names it uses.

use super::Registration;
use crate::verdict::{RunRecord, RunRequest};
use std::path::Path;

pub(crate) fn execute(_registration: &'static Registration, request: RunRequest) -> RunRecord {
    crate::session::read_run(Path::new("/nonexistent"), &request)
}

pub(crate) use crate::nemesis::undo_journal;

pub(crate) fn deadline(budget: &crate::plan::Budget) -> std::time::Duration {
    std::time::Duration::from_secs(180 + 3 * budget.seconds + 30 * budget.faults)
}
