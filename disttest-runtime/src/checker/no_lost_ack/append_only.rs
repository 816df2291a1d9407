//! Entries that stay: logs and sets.
//!
//! The final reads of a client together show entries (value at offset) and perhaps where the log ends. An acknowledged
//! entry with a known offset must be what is shown there. One without must be among the values shown, as often as it
//! was acknowledged. What no final read covers is unknown, not lost.

use super::finals::{Finals, KeyOps, is_completed_read};
use super::{Found, lost};
use crate::history::access::{Entry, Seen};
use crate::history::{Effect, Op};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

pub(super) fn problem(op: &Op) -> Option<String> {
    if op.effect() == Effect::Failed {
        return None;
    }
    Entry::of(op).err()
}

pub(super) fn is_acknowledged_write(op: &Op) -> bool {
    op.effect() == Effect::Acknowledged && matches!(Entry::of(op), Ok(Entry::Append { .. }))
}

/// What one client's final reads show of a key.
#[derive(Default)]
struct Shown<'h> {
    at: BTreeMap<u64, &'h Value>,
    /// Smallest length that a read says the log has.
    end: Option<u64>,
    reads: Vec<&'h Op>,
}

impl<'h> Shown<'h> {
    fn add(&mut self, op: &'h Op, seen: &Seen<'h>) {
        self.reads.push(op);
        self.at.extend((seen.offset..).zip(seen.values));
        if seen.end {
            let length = seen.offset + seen.values.len() as u64;
            self.end = Some(self.end.map_or(length, |end| end.min(length)));
        }
    }

    /// Every entry up to the end was shown.
    fn is_whole(&self) -> bool {
        self.end.is_some_and(|end| (0..end).all(|offset| self.at.contains_key(&offset)))
    }
}

pub(super) fn judge<'h>(key: Option<&str>, ops: &KeyOps<'h>, finals: &Finals<'h>) -> Found {
    let mut found = Found { lost: None, unread: None, fired: 0 };
    if ops.acknowledged.is_empty() {
        return found;
    }
    let quiet = finals.last_ack.and_then(|op| op.complete_ts);
    let mut clients: BTreeMap<u64, Shown<'h>> = BTreeMap::new();
    for op in ops.all.iter().copied().filter(|op| is_completed_read(op) && Some(op.invoke_ts) > quiet) {
        if let Ok(Entry::Read(Some(seen))) = Entry::of(op) {
            clients.entry(op.process_id).or_default().add(op, &seen);
        }
    }
    let mut covered = false;
    for shown in clients.values() {
        let (missing, unseen) = compare(&ops.acknowledged, shown);
        found.fired += ops.acknowledged.len() as u64;
        if let (Some(_), Some(read)) = (missing.first(), shown.reads.last()) {
            found.lost = Some(lost(key, &missing, read, "the acknowledged entry is not there"));
            return found;
        }
        covered |= !unseen;
    }
    if !covered {
        found.unread = Some(match clients.is_empty() {
            true => finals.say_unread(key),
            false => format!("no client's final reads cover every acknowledged entry of {key:?}"),
        });
    }
    found
}

/// Acknowledged entries that are lost, and whether some are not covered by what is shown.
fn compare<'h>(acknowledged: &[&'h Op], shown: &Shown<'h>) -> (Vec<&'h Op>, bool) {
    let mut left: HashMap<&Value, u64> = HashMap::new();
    for value in shown.at.values() {
        *left.entry(value).or_default() += 1;
    }
    let whole = shown.is_whole();
    let (mut missing, mut unseen) = (Vec::new(), false);
    for op in acknowledged {
        let Ok(Entry::Append { value, offset }) = Entry::of(op) else {
            continue;
        };
        let there = match offset {
            Some(offset) => match shown.at.get(&offset) {
                Some(there) => Some(*there == value),
                None => shown.end.filter(|end| offset >= *end).map(|_| false),
            },
            None => match left.get_mut(value) {
                // A set holds a value once, however often it was added.
                Some(_) if op.op_type == "add" => Some(true),
                Some(count) if *count > 0 => {
                    *count -= 1;
                    Some(true)
                }
                _ => whole.then_some(false),
            },
        };
        match there {
            Some(true) => {}
            Some(false) => missing.push(*op),
            None => unseen = true,
        }
    }
    (missing, unseen)
}
