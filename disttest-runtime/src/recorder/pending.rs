//! The handle of an operation in flight.

use super::client::{Circumstances, Client, Ending};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// An operation in flight. End it with one of [`ok`](Pending::ok), [`fail`](Pending::fail),
/// [`unknown`](Pending::unknown) and [`timeout`](Pending::timeout). Dropped, its outcome is unknown, and that is a
/// defect of the recording unless the run is closing.
#[must_use = "an operation must be ended, or its outcome is unknown"]
#[derive(Debug)]
pub struct Pending {
    client: Arc<Client>,
    slot: Option<usize>,
    circumstances: Circumstances,
}

impl Pending {
    pub(super) fn new(client: Arc<Client>, slot: Option<usize>) -> Pending {
        Pending { client, slot, circumstances: Circumstances::default() }
    }

    /// The node it is sent to.
    pub fn node(mut self, node: impl Into<String>) -> Pending {
        self.circumstances.node = Some(node.into());
        self
    }

    /// How long its caller waits for it; [`timeout`](Pending::timeout) needs it.
    pub fn deadline(mut self, deadline: Duration) -> Pending {
        self.circumstances.deadline = Some(deadline);
        self
    }

    /// It completed with `output`.
    pub fn ok(mut self, output: Value) {
        self.end(Ending::Ok(output));
    }

    /// It is known not to have taken effect, for this reason.
    pub fn fail(mut self, error: impl Into<String>) {
        self.end(Ending::Fail(error.into()));
    }

    /// It may or may not have taken effect: this error left it open.
    pub fn unknown(mut self, error: impl Into<String>) {
        self.end(Ending::Unknown(error.into()));
    }

    /// No answer came before its deadline: it may or may not have taken effect. Before the deadline, or without one,
    /// this is a defect of the recording; an error before it is [`unknown`](Pending::unknown).
    pub fn timeout(mut self) {
        self.end(Ending::Timeout);
    }

    fn end(&mut self, ending: Ending) {
        if let Some(slot) = self.slot.take() {
            self.client.end(slot, ending, &self.circumstances);
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.end(Ending::Dropped);
    }
}
