//! The record of one operation ("11-field schema": the two timestamps count as one; on disk all twelve names).

use crate::base::time::Nanos;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One operation of one client, as recorded. Unused fields are null on disk, never omitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Op {
    /// Unique in the run.
    pub op_id: u64,
    /// The client or session that issued it.
    pub process_id: u64,
    /// When it was invoked, on the run's monotonic clock.
    pub invoke_ts: Nanos,
    /// When it completed; null when no response came (then `timeout_marker` is true).
    pub complete_ts: Option<Nanos>,
    /// What it is: `read`, `write`, `cas`, `append`, ….
    pub op_type: String,
    /// The object it addresses.
    pub key: Option<String>,
    /// Its argument.
    pub input: Value,
    /// Its answer; null when there was none.
    pub output: Value,
    /// Why it failed: set and `timeout_marker` false means that it is known not to have taken effect.
    pub error: Option<String>,
    /// True when the outcome is unknown: it may have taken effect at any time after its invocation, or never.
    pub timeout_marker: bool,
    /// The node that served it.
    pub node_seen: Option<String>,
    /// The fault window it overlapped, if any. Stamped by the runtime.
    pub fault_epoch: Option<u64>,
}

/// What is known of an operation's effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It completed and was acknowledged.
    Acknowledged,
    /// It may or may not have taken effect.
    Unknown,
    /// It is known not to have taken effect.
    Failed,
}

impl Op {
    /// What is known of this operation's effect.
    pub fn effect(&self) -> Effect {
        match (self.timeout_marker || self.complete_ts.is_none(), &self.error) {
            (true, _) => Effect::Unknown,
            (false, Some(_)) => Effect::Failed,
            (false, None) => Effect::Acknowledged,
        }
    }
}
