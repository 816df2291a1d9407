//! Where quiescence begins, and what is read in it.

use crate::base::time::Nanos;
use crate::history::{Effect, History, Op};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A history by key, with its final reads.
pub(crate) struct Finals<'h> {
    /// The acknowledged write that completed last, whatever its key.
    pub(crate) last_ack: Option<&'h Op>,
    /// Operations by key.
    pub(crate) keys: BTreeMap<Option<&'h str>, KeyOps<'h>>,
}

/// Operations of one key.
#[derive(Default)]
pub(crate) struct KeyOps<'h> {
    /// All of them, by invocation.
    pub(crate) all: Vec<&'h Op>,
    /// Acknowledged writes.
    pub(crate) acknowledged: Vec<&'h Op>,
    /// Completed reads that began after the last acknowledged write of the history had completed.
    pub(crate) reads: Vec<&'h Op>,
    /// Each client's last one of these.
    pub(crate) finals: Vec<&'h Op>,
}

impl<'h> Finals<'h> {
    /// Groups `history`; `is_acknowledged_write` says what must not be lost.
    pub(crate) fn of(history: &'h History, mut is_acknowledged_write: impl FnMut(&Op) -> bool) -> Finals<'h> {
        let mut numbers: FxHashMap<Option<&str>, usize> = FxHashMap::default();
        let mut keys: Vec<(Option<&str>, KeyOps<'_>)> = Vec::new();
        let mut last_ack: Option<&Op> = None;
        for op in history.ops() {
            let name = op.key.as_deref();
            let number = *numbers.entry(name).or_insert_with(|| {
                keys.push((name, KeyOps::default()));
                keys.len() - 1
            });
            let key = &mut keys[number].1;
            key.all.push(op);
            if is_acknowledged_write(op) {
                key.acknowledged.push(op);
                if last_ack.is_none_or(|last| last.complete_ts <= op.complete_ts) {
                    last_ack = Some(op);
                }
            } else if is_completed_read(op) {
                key.reads.push(op);
            }
        }
        let quiet = last_ack.and_then(|op| op.complete_ts).unwrap_or(Nanos(u64::MAX));
        for (_, key) in &mut keys {
            // By invocation.
            key.reads.drain(..key.reads.partition_point(|op| op.invoke_ts <= quiet));
            let of_client: BTreeMap<u64, &Op> = key.reads.iter().map(|op| (op.process_id, *op)).collect();
            key.finals = of_client.into_values().collect();
        }
        Finals { last_ack, keys: keys.into_iter().collect() }
    }

    /// Keys with acknowledged writes and without a final read.
    pub(crate) fn unread(&self) -> impl Iterator<Item = Option<&'h str>> + '_ {
        let unread = |ops: &KeyOps<'_>| !ops.acknowledged.is_empty() && ops.finals.is_empty();
        self.keys.iter().filter(move |(_, ops)| unread(ops)).map(|(key, _)| *key)
    }

    /// What is missing for `key`.
    pub(crate) fn say_unread(&self, key: Option<&str>) -> String {
        let key = key.map_or_else(|| "the object".to_owned(), |key| format!("key {key:?}"));
        let last = self.last_ack.map_or(0, |op| op.op_id);
        let at = self.last_ack.and_then(|op| op.complete_ts).map_or(0, |at| at.0);
        format!(
            "{key} has acknowledged writes, but no completed read of it began after the last acknowledged write of the \
             history (operation {last}, completed at {at} ns)"
        )
    }
}

pub(crate) fn is_completed_read(op: &Op) -> bool {
    matches!(op.op_type.as_str(), "read" | "get" | "read-set") && op.effect() == Effect::Acknowledged
}
