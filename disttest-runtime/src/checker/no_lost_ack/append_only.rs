//! Entries that stay: logs and sets.
//!
//! The final reads of a client together show entries (value at offset) and perhaps where the log ends. An acknowledged
//! entry with a known offset must be what is shown there. One without must be among the values shown, as often as it
//! was acknowledged. What no final read covers is unknown, not lost.

use super::super::inquiry::Numbering;
use super::finals::{Finals, KeyOps};
use super::{Found, lost};
use crate::history::access::{Entry, Seen};
use crate::history::{Effect, Op};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn is_acknowledged_write(op: &Op) -> Result<bool, String> {
    match op.effect() {
        Effect::Failed => Ok(false),
        effect => Ok(effect == Effect::Acknowledged && matches!(Entry::of(op)?, Entry::Append { .. })),
    }
}

/// What one client's final reads show of a key.
#[derive(Default)]
struct Shown<'h> {
    /// Values by offset, once it is settled.
    at: Vec<(u64, &'h Value)>,
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

    /// Of what several reads show at one offset, the last one counts.
    fn settle(&mut self) {
        if !self.at.is_sorted_by(|a, b| a.0 < b.0) {
            self.at.reverse();
            self.at.sort_by_key(|(offset, _)| *offset);
            self.at.dedup_by_key(|(offset, _)| *offset);
        }
    }

    fn at(&self, offset: u64) -> Option<&'h Value> {
        let first = self.at.first()?.0;
        // Mostly there are no gaps.
        let guess = usize::try_from(offset.checked_sub(first)?).ok()?;
        let place = match self.at.get(guess) {
            Some((there, _)) if *there == offset => guess,
            _ => self.at.binary_search_by_key(&offset, |(there, _)| *there).ok()?,
        };
        Some(self.at[place].1)
    }

    /// Every entry up to the end was shown.
    fn is_whole(&self) -> bool {
        let before = |end: u64| self.at.partition_point(|(offset, _)| *offset < end) as u64;
        self.end.is_some_and(|end| before(end) == end)
    }
}

pub(super) fn judge<'h>(key: Option<&str>, ops: &KeyOps<'h>, finals: &Finals<'h>) -> Found {
    let mut found = Found { lost: None, unread: None, fired: 0 };
    if ops.acknowledged.is_empty() {
        return found;
    }
    let mut clients: BTreeMap<u64, Shown<'h>> = BTreeMap::new();
    for op in ops.reads.iter().copied() {
        if let Ok(Entry::Read(Some(seen))) = Entry::of(op) {
            clients.entry(op.process_id).or_default().add(op, &seen);
        }
    }
    let mut covered = false;
    for shown in clients.values_mut() {
        shown.settle();
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
    // Of each value, how often it is shown and not accounted for.
    let mut values = Numbering::new(shown.at.len());
    let mut left: Vec<u64> = Vec::with_capacity(shown.at.len());
    for (_, value) in &shown.at {
        let number = values.of(value) as usize;
        left.resize(values.values.len(), 0);
        left[number] += 1;
    }
    let whole = shown.is_whole();
    let (mut missing, mut unseen) = (Vec::new(), false);
    for op in acknowledged {
        let Ok(Entry::Append { value, offset }) = Entry::of(op) else {
            continue;
        };
        let there = match offset {
            Some(offset) => match shown.at(offset) {
                Some(there) => Some(there == value),
                None => shown.end.filter(|end| offset >= *end).map(|_| false),
            },
            None => match values.known(value).map(|number| &mut left[number as usize]) {
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
