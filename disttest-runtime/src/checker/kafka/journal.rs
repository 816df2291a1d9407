//! Sends and polls of a history in columns: keys, messages and offsets as numbers.

use super::super::inquiry::{acknowledged, brief};
use super::super::pairs::Pairs;
use crate::history::{History, Op};
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::ops::Range;

/// No offset is known.
pub(super) const NOWHERE: i64 = -1;

/// One message that was sent or polled.
#[derive(Clone, Copy)]
pub(super) struct Record {
    pub(super) key: u32,
    /// Number of the pair of key and value.
    pub(super) message: u32,
    pub(super) offset: i64,
    pub(super) sent: bool,
}

/// What an operation does to a process's place in the logs.
pub(super) enum Act {
    /// It sends and polls these records.
    Moves(Range<usize>),
    /// It goes on with these keys only, if it did not fail.
    Turns(Vec<u32>),
}

/// The history in columns.
#[derive(Default)]
pub(super) struct Journal<'h> {
    pub(super) acts: Vec<(&'h Op, Act)>,
    pub(super) records: Vec<Record>,
    /// Names of keys by number.
    pub(super) keys: Vec<String>,
    /// Key and value by number of message.
    pub(super) messages: Vec<(u32, &'h Value)>,
    /// Some process let the system assign its keys.
    pub(super) subscribed: bool,
    names: FxHashMap<String, u32>,
    numeric: FxHashMap<u64, u32>,
}

impl<'h> Journal<'h> {
    /// Reads `history`; `Err` names the first operation that is not understood.
    pub(super) fn of(history: &'h History) -> Result<Journal<'h>, String> {
        let mut journal = Journal::default();
        let mut numbers = Pairs::new(history.ops().len());
        for op in history.ops() {
            let act = journal.act(op, &mut numbers).map_err(|why| format!("operation {}: {why}", op.op_id))?;
            journal.acts.extend(act.map(|act| (op, act)));
        }
        Ok(journal)
    }

    /// Bytes held, about.
    pub(super) fn bytes(&self) -> u64 {
        (40 * self.acts.len() + 24 * self.records.len() + 64 * self.messages.len()) as u64
    }

    fn act(&mut self, op: &'h Op, numbers: &mut Pairs<'h>) -> Result<Option<Act>, String> {
        match op.op_type.as_str() {
            "send" | "poll" | "txn" => {
                let list = if acknowledged(op) && op.output.is_array() { &op.output } else { &op.input };
                let Some(list) = list.as_array() else {
                    return Err(format!("a list of micro-operations is expected, not {}", brief(&list.to_string())));
                };
                let from = self.records.len();
                for micro in list {
                    self.micro(micro, numbers)?;
                }
                Ok(Some(Act::Moves(from..self.records.len())))
            }
            "assign" | "subscribe" => {
                self.subscribed |= op.op_type == "subscribe";
                let list = op.input.as_array().or_else(|| op.output.as_array());
                let keys = list.ok_or_else(|| format!("a list of keys is expected, not {}", op.input))?;
                Ok(Some(Act::Turns(keys.iter().map(|key| self.key(key)).collect())))
            }
            "crash" | "close" | "debug-topic-partitions" => Ok(None),
            other => Err(format!("`{other}` is none of send, poll, txn, assign, subscribe")),
        }
    }

    fn micro(&mut self, micro: &'h Value, numbers: &mut Pairs<'h>) -> Result<(), String> {
        let not_understood = || {
            format!(
                "{} is none of [\"send\", key, value], [\"send\", key, [offset, value]], [\"poll\"], \
                 [\"poll\", {{key: [[offset, value], …]}}]",
                brief(&micro.to_string())
            )
        };
        match micro.as_array().map(Vec::as_slice) {
            Some([Value::String(f), key, sent]) if f == "send" => {
                let key = self.key(key);
                let (offset, value) = match placed(sent) {
                    Some((offset, value)) => (offset, value),
                    None => (NOWHERE, sent),
                };
                self.record(key, offset, value, true, numbers);
                Ok(())
            }
            Some([Value::String(f)] | [Value::String(f), Value::Null]) if f == "poll" => Ok(()),
            Some([Value::String(f), Value::Object(polled)]) if f == "poll" => {
                for (key, records) in polled {
                    let key = self.named(key);
                    for record in records.as_array().ok_or_else(not_understood)? {
                        let (offset, value) = placed(record).ok_or_else(not_understood)?;
                        self.record(key, offset, value, false, numbers);
                    }
                }
                Ok(())
            }
            _ => Err(not_understood()),
        }
    }

    fn record(&mut self, key: u32, offset: i64, value: &'h Value, sent: bool, numbers: &mut Pairs<'h>) {
        let message = numbers.of(key, value);
        if message as usize == self.messages.len() {
            self.messages.push((key, value));
        }
        self.records.push(Record { key, message, offset, sent });
    }

    /// A key is a number in a send, and the name of it in a poll.
    fn key(&mut self, key: &Value) -> u32 {
        match (key.as_u64(), key) {
            (Some(number), _) => match self.numeric.get(&number) {
                Some(known) => *known,
                None => {
                    let named = self.named(&number.to_string());
                    self.numeric.insert(number, named);
                    named
                }
            },
            (None, Value::String(name)) => self.named(name),
            (None, other) => self.named(&other.to_string()),
        }
    }

    fn named(&mut self, name: &str) -> u32 {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        let next = self.keys.len() as u32;
        self.names.insert(name.to_owned(), next);
        self.keys.push(name.to_owned());
        next
    }
}

/// `[offset, value]`, or `[null, value]` when the offset is not known.
fn placed(pair: &Value) -> Option<(i64, &Value)> {
    let [offset, value] = pair.as_array()?.as_slice() else { return None };
    match offset {
        Value::Null => Some((NOWHERE, value)),
        offset => Some((offset.as_i64().filter(|offset| *offset >= 0)?, value)),
    }
}
