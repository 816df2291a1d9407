//! How transactions and processes go through the logs.

use super::super::inquiry::{Inquiry, Witness, told};
use super::journal::{Act, Journal, Record};
use super::logs::{Message, UNPLACED, name, value};
use crate::history::{Effect, Op};
use rustc_hash::FxHashMap;

/// Where a transaction or a process is in the log of a key.
#[derive(Clone, Copy)]
struct Stop<'h> {
    key: u32,
    /// The first and last message it went through.
    first: u32,
    last: u32,
    op: &'h Op,
}

/// Where a process is. Processes go through few keys.
#[derive(Default)]
struct Walk<'h> {
    polled: Vec<Stop<'h>>,
    sent: Vec<Stop<'h>>,
}

/// Judges each transaction by itself and then against what its process did before. False when limits say to stop.
pub(super) fn judge<'h>(journal: &Journal<'h>, messages: &[Message<'h>], inquiry: &mut Inquiry<'_>) -> bool {
    let rules = Rules { journal, messages };
    let mut walks: FxHashMap<u64, Walk<'h>> = FxHashMap::default();
    let (mut polled, mut sent) = (Vec::new(), Vec::new());
    for (op, act) in &journal.acts {
        let walk = walks.entry(op.process_id).or_default();
        let records = match act {
            Act::Turns(keys) => {
                if op.effect() != Effect::Failed {
                    walk.polled.retain(|stop| keys.contains(&stop.key));
                    walk.sent.retain(|stop| keys.contains(&stop.key));
                }
                continue;
            }
            Act::Moves(range) => &journal.records[range.clone()],
        };
        if !inquiry.go_on(1 + records.len() as u64, journal.bytes() + 64 * messages.len() as u64) {
            return false;
        }
        polled.clear();
        sent.clear();
        for record in records {
            let stops = if record.sent { &mut sent } else { &mut polled };
            rules.within(op, record, stops, inquiry);
        }
        if !polled.is_empty() && !sent.is_empty() {
            rules.own_reads(op, records, inquiry);
        }
        rules.across(&walk.polled, &polled, ["poll-skip", "nonmonotonic-poll"], inquiry);
        if op.effect() == Effect::Acknowledged {
            go_to(&mut walk.polled, &polled);
        }
        if op.effect() != Effect::Failed {
            rules.across(&walk.sent, &sent, ["", "nonmonotonic-send"], inquiry);
            go_to(&mut walk.sent, &sent);
        }
    }
    true
}

fn go_to<'h>(walk: &mut Vec<Stop<'h>>, stops: &[Stop<'h>]) {
    for stop in stops {
        match walk.iter_mut().find(|known| known.key == stop.key) {
            Some(known) => *known = *stop,
            None => walk.push(*stop),
        }
    }
}

struct Rules<'j, 'h> {
    journal: &'j Journal<'h>,
    messages: &'j [Message<'h>],
}

impl<'h> Rules<'_, 'h> {
    /// Steps from one message to another in the log; 1 if the places are not known, or contradict each other.
    fn steps(&self, from: u32, to: u32) -> i64 {
        let place = |message: u32| self.messages[message as usize].place.1;
        match (place(from), place(to)) {
            (UNPLACED, _) | (_, UNPLACED) => 1,
            (one, other) if one == other && from != to => 1,
            (from, to) => i64::from(to) - i64::from(from),
        }
    }

    fn within(&self, op: &'h Op, record: &Record, stops: &mut Vec<Stop<'h>>, inquiry: &mut Inquiry<'_>) {
        let Some(stop) = stops.iter_mut().rev().find(|stop| stop.key == record.key) else {
            stops.push(Stop { key: record.key, first: record.message, last: record.message, op });
            return;
        };
        inquiry.evidence.fired += 1;
        let from = std::mem::replace(&mut stop.last, record.message);
        let kind = match (self.steps(from, record.message), record.sent) {
            (2.., false) => "int-poll-skip",
            (..=0, false) => "int-nonmonotonic-poll",
            (..=0, true) => "int-nonmonotonic-send",
            _ => return,
        };
        self.wrong(kind, record.key, (op, from), (op, record.message), inquiry);
    }

    fn across(&self, before: &[Stop<'h>], now: &[Stop<'h>], kinds: [&'static str; 2], inquiry: &mut Inquiry<'_>) {
        for stop in now {
            let Some(last) = before.iter().find(|last| last.key == stop.key) else { continue };
            inquiry.evidence.fired += 1;
            let kind = match self.steps(last.last, stop.first) {
                2.. => kinds[0],
                ..=0 => kinds[1],
                1 => continue,
            };
            if !kind.is_empty() {
                self.wrong(kind, stop.key, (last.op, last.last), (stop.op, stop.first), inquiry);
            }
        }
    }

    fn own_reads(&self, op: &Op, records: &[Record], inquiry: &mut Inquiry<'_>) {
        for sent in records.iter().filter(|record| record.sent) {
            if records.iter().any(|record| !record.sent && record.message == sent.message) {
                inquiry.found("precommitted-read", name(self.journal, sent.key), || Witness {
                    ops: vec![op.op_id],
                    explanation: format!(
                        "{} polled {}, which it sent itself and had not committed.",
                        told(op),
                        value(self.journal, sent.message)
                    ),
                });
            }
        }
    }

    /// A step of more than one or of less. With `subscribe` the system may have moved a consumer.
    fn wrong(
        &self,
        kind: &'static str,
        key: u32,
        (before, from): (&Op, u32),
        (op, to): (&Op, u32),
        inquiry: &mut Inquiry<'_>,
    ) {
        let witness = || self.witness(kind, (before, from), (op, to));
        let internal = kind.starts_with("int-");
        match (self.journal.subscribed && kind.ends_with("poll") | kind.ends_with("poll-skip"), internal) {
            (false, _) => inquiry.found(kind, name(self.journal, key), witness),
            (true, false) => {}
            (true, true) => {
                let Witness { explanation, .. } = witness();
                inquiry.undecided(format!("{kind}, unless the consumer was rebalanced meanwhile: {explanation}"));
            }
        }
    }

    fn witness(&self, kind: &str, (before, from): (&Op, u32), (op, to): (&Op, u32)) -> Witness {
        let (from_value, to_value) = (value(self.journal, from), value(self.journal, to));
        let log = match kind.ends_with("skip") {
            true => format!("{} messages are known to stand between them", self.steps(from, to) - 1),
            false if from == to => "it is the same message".to_owned(),
            false => "the log has them the other way round".to_owned(),
        };
        let did = if kind.ends_with("send") { "sent" } else { "polled" };
        if std::ptr::eq(before, op) {
            return Witness {
                ops: vec![op.op_id],
                explanation: format!("{} {did} {from_value} and then {to_value}: {log}.", told(op)),
            };
        }
        Witness {
            ops: vec![before.op_id, op.op_id],
            explanation: format!(
                "client {} {did} {from_value} last by {}, and {to_value} next by {}: {log}.",
                op.process_id,
                told(before),
                told(op)
            ),
        }
    }
}
