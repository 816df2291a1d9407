//! Quiescence: nothing in flight, no work in the background, replicas converged, each verified.

use crate::base::time::Nanos;
use crate::history::{Effect, History, Op};
use std::collections::BTreeMap;

/// What was measured before the final reads, by asking the system. That nothing is in flight is read from the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quiescence {
    /// Jobs, compactions, rebalances, retries that the system still had to do; `None` if nobody asked.
    pub background_work: Option<u64>,
    /// Whether the replicas showed the same state twice, such as by `reconciliation-across-replicas`; `None` if nobody
    /// looked.
    pub replicas_converged: Option<bool>,
}

/// When everything that is no read had ended: completions of those that completed, invocations of those that did not.
/// `None` when no read completed after it. Reads of unknown outcome change nothing and are not waited for.
pub(super) fn from(history: &History, reads: &[String]) -> Option<Nanos> {
    let changes = history.ops().iter().filter(|op| !reads.contains(&op.op_type));
    let quiet = changes.map(super::end).max().unwrap_or_default();
    history.ops().iter().any(|op| is_final(op, quiet, reads)).then_some(quiet)
}

/// True for a read that was answered and began at quiescence.
pub(super) fn is_final(op: &Op, quiet: Nanos, reads: &[String]) -> bool {
    op.effect() == Effect::Acknowledged && op.invoke_ts > quiet && reads.contains(&op.op_type)
}

impl Quiescence {
    /// What is not verified.
    pub(super) fn doubts(self, history: &History, quiet: Option<Nanos>, reads: &[String]) -> Vec<String> {
        let mut doubts = Vec::new();
        match self.background_work {
            None => doubts.push("quiescence is not verified: nobody asked for background work".to_owned()),
            Some(0) => {}
            Some(left) => doubts.push(format!("no quiescence: {left} pieces of background work were left")),
        }
        match self.replicas_converged {
            None => doubts.push("quiescence is not verified: nobody looked whether replicas had converged".to_owned()),
            Some(true) => {}
            Some(false) => doubts.push("no quiescence: replicas had not converged".to_owned()),
        }
        match quiet {
            None => doubts.push("no quiescence: no read was answered after everything else had ended".to_owned()),
            Some(quiet) => doubts.extend(contradiction(history, quiet, reads)),
        }
        doubts
    }
}

/// Two final reads of one thing that differ: something still moves, or replicas differ.
fn contradiction(history: &History, quiet: Nanos, reads: &[String]) -> Option<String> {
    let mut first: BTreeMap<(Option<&str>, &str, String), &Op> = BTreeMap::new();
    for op in history.ops().iter().filter(|op| is_final(op, quiet, reads)) {
        let same = (op.key.as_deref(), op.op_type.as_str(), op.input.to_string());
        let other = first.entry(same).or_insert(op);
        if other.output != op.output {
            return Some(format!("no quiescence: final reads {} and {} differ", other.op_id, op.op_id));
        }
    }
    None
}
