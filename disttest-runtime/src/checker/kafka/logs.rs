//! What the logs are, as far as offsets show.

use super::super::inquiry::{Inquiry, Witness, acknowledged, brief, told};
use super::journal::{Act, Journal, NOWHERE, Record};
use crate::history::{Effect, Op};

/// No place in a log is known.
pub(super) const UNPLACED: u32 = u32::MAX;

/// What is known of a message.
#[derive(Clone, Copy)]
pub(super) struct Message<'h> {
    /// An operation that sent it and may have taken effect; the acknowledged one if there is one.
    pub(super) sender: Option<&'h Op>,
    /// An operation that sent it and failed.
    pub(super) failed: Option<&'h Op>,
    /// The first acknowledged operation that polled it.
    pub(super) reader: Option<&'h Op>,
    /// Its sender surely took effect.
    pub(super) committed: bool,
    /// First and last place in the log of its key, counted without gaps.
    pub(super) place: (u32, u32),
    /// Offset of its first place.
    offset: i64,
}

const UNKNOWN: Message<'static> = Message {
    sender: None,
    failed: None,
    reader: None,
    committed: false,
    place: (UNPLACED, UNPLACED),
    offset: NOWHERE,
};

/// Messages by number, with their places.
pub(super) fn messages<'h>(journal: &Journal<'h>, inquiry: &mut Inquiry<'_>) -> Vec<Message<'h>> {
    let mut messages: Vec<Message<'h>> = vec![UNKNOWN; journal.messages.len()];
    for (op, records) in moves(journal) {
        for record in records {
            let message = &mut messages[record.message as usize];
            match (record.sent, op.effect()) {
                (true, Effect::Failed) => message.failed = Some(op),
                (true, Effect::Acknowledged) => (message.sender, message.committed) = (Some(op), true),
                (true, Effect::Unknown) => message.sender = message.sender.or(Some(op)),
                (false, Effect::Acknowledged) => message.reader = message.reader.or(Some(op)),
                (false, _) => {}
            }
        }
    }
    // Key, offset and message in one number, which sorts like the three.
    let mut places: Vec<u128> = Vec::with_capacity(journal.records.len());
    for (op, records) in moves(journal) {
        let seen = |record: &Record| record.sent && messages[record.message as usize].reader.is_some();
        let committed = match op.effect() {
            Effect::Acknowledged => true,
            Effect::Unknown => records.iter().any(seen),
            Effect::Failed => false,
        };
        for record in records {
            messages[record.message as usize].committed |= record.sent && committed;
            if record.offset != NOWHERE && (committed || !record.sent) {
                places.push(u128::from(record.key) << 96 | (record.offset as u128) << 32 | u128::from(record.message));
            }
        }
    }
    places.sort_unstable();
    places.dedup();
    place(journal, &mut messages, &places, inquiry);
    messages
}

/// The operations that send and poll, with what they do.
pub(super) fn moves<'j, 'h>(journal: &'j Journal<'h>) -> impl Iterator<Item = (&'h Op, &'j [Record])> {
    journal.acts.iter().filter_map(|(op, act)| match act {
        Act::Moves(range) => Some((*op, &journal.records[range.clone()])),
        Act::Turns(_) => None,
    })
}

/// Gives messages their places and finds offsets with several messages, and messages at several offsets.
fn place(journal: &Journal<'_>, messages: &mut [Message<'_>], places: &[u128], inquiry: &mut Inquiry<'_>) {
    let (mut dense, mut last): (u32, Option<(u32, i64, u32)>) = (0, None);
    for place in places {
        let (key, offset, number) = ((place >> 96) as u32, (place >> 32) as u64 as i64, *place as u32);
        inquiry.evidence.fired += 1;
        let same = last.filter(|(k, o, _)| (*k, *o) == (key, offset));
        dense = match last {
            Some(_) if same.is_some() => dense,
            Some((k, ..)) if k == key => dense + 1,
            _ => 0,
        };
        last = Some((key, offset, number));
        if let Some((.., other)) = same {
            inquiry.found("inconsistent-offsets", name(journal, key), || {
                let ops = who(journal, &[(key, offset, other), (key, offset, number)]);
                let (a, b) = (value(journal, other), value(journal, number));
                let explanation = format!("offset {offset} holds {a} {}, and {b} {}.", by(&ops, 0), by(&ops, 1));
                Witness { ops: ops.iter().map(|op| op.op_id).collect(), explanation }
            });
        }
        let message = &mut messages[number as usize];
        if message.place.0 == UNPLACED {
            message.offset = offset;
            message.place.0 = dense;
        } else {
            let first = message.offset;
            inquiry.found("duplicate", name(journal, key), || {
                let ops = who(journal, &[(key, first, number), (key, offset, number)]);
                let explanation = format!(
                    "{} is at offset {first} {}, and at offset {offset} {}.",
                    value(journal, number),
                    by(&ops, 0),
                    by(&ops, 1)
                );
                Witness { ops: ops.iter().map(|op| op.op_id).collect(), explanation }
            });
        }
        message.place.1 = dense;
    }
}

/// For each (key, offset, message) the operation that shows it. Only asked when something is wrong.
fn who<'h>(journal: &Journal<'h>, wanted: &[(u32, i64, u32)]) -> Vec<&'h Op> {
    let shows = |(key, offset, message): &(u32, i64, u32)| {
        let is = |record: &Record| (record.key, record.offset, record.message) == (*key, *offset, *message);
        let sure = |op: &Op, record: &Record| !record.sent || op.effect() != Effect::Failed;
        moves(journal)
            .find(|(op, records)| records.iter().any(|record| is(record) && sure(op, record)))
            .map(|(op, _)| op)
    };
    wanted.iter().filter_map(shows).collect()
}

fn by(ops: &[&Op], at: usize) -> String {
    ops.get(at).map_or_else(String::new, |op| format!("by {}", told(op)))
}

pub(super) fn name<'j>(journal: &'j Journal<'_>, key: u32) -> Option<&'j str> {
    journal.keys.get(key as usize).map(String::as_str)
}

pub(super) fn value(journal: &Journal<'_>, message: u32) -> String {
    brief(&journal.messages[message as usize].1.to_string())
}

/// Judges each message by itself: lost, from a failed send, from nowhere, or not seen at all.
pub(super) fn judge_messages(journal: &Journal<'_>, messages: &[Message<'_>], inquiry: &mut Inquiry<'_>) {
    // Of each key, the furthest place that an acknowledged poll got to, and who.
    let mut furthest: Vec<Option<(u32, &Op)>> = vec![None; journal.keys.len()];
    for (message, (key, _)) in messages.iter().zip(&journal.messages) {
        let Some(reader) = message.reader.filter(|_| message.place.0 != UNPLACED) else { continue };
        let far = &mut furthest[*key as usize];
        if far.is_none_or(|(place, _)| place < message.place.0) {
            *far = Some((message.place.0, reader));
        }
    }
    let mut unseen: Option<(u64, &Op)> = None;
    for (number, message) in messages.iter().enumerate() {
        let key = journal.messages[number].0;
        let what = || value(journal, number as u32);
        match (message.reader, message.sender, message.failed) {
            (Some(_), Some(_), _) => {}
            (Some(reader), None, Some(failed)) => inquiry.found("G1a", name(journal, key), || Witness {
                ops: vec![failed.op_id, reader.op_id],
                explanation: format!(
                    "{} is known to have failed, and {} of it was polled: {}.",
                    told(failed),
                    what(),
                    told(reader)
                ),
            }),
            (Some(reader), None, None) => inquiry.found("unexpected", name(journal, key), || Witness {
                ops: vec![reader.op_id],
                explanation: format!("{} was polled, and nobody sent it: {}.", what(), told(reader)),
            }),
            (None, Some(sender), _) if message.committed => {
                inquiry.evidence.fired += 1;
                match furthest[key as usize].filter(|(place, _)| message.place.1 <= *place) {
                    Some((_, reader)) => inquiry.found("lost-write", name(journal, key), || Witness {
                        ops: vec![sender.op_id, reader.op_id],
                        explanation: format!(
                            "{} took effect, no completed poll shows {}, and a message after it was polled: {}.",
                            told(sender),
                            what(),
                            told(reader)
                        ),
                    }),
                    None if acknowledged(sender) => {
                        unseen = Some(unseen.map_or((1, sender), |(count, first)| (count + 1, first)))
                    }
                    None => {}
                }
            }
            (None, ..) => {}
        }
    }
    if let Some((count, first)) = unseen {
        inquiry.undecided(format!(
            "{count} acknowledged messages were never polled, nor any message after them: nobody can say whether they are \
             there; the first is of {}",
            told(first)
        ));
    }
}
