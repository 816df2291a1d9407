//! Partitioned logs with offsets, as Kafka has them: what was sent is polled, in order, once.

mod journal;
mod logs;
#[cfg(test)]
mod tests;
mod walks;

use super::inquiry::Inquiry;
use super::{Answer, Checker, Limits, recipe};
use crate::history::History;
use journal::Journal;
use serde::{Deserialize, Serialize};

/// Checks sends to and polls of append-only logs, one a key, whose entries have offsets.
///
/// Operations are `send`, `poll` and `txn` over micro-operations `["send", key, value]`, which answer
/// `["send", key, [offset, value]]` (offset null if unknown), and `["poll"]`, which answer
/// `["poll", {key: [[offset, value], …]}]`; `assign` and `subscribe` of a list of keys, after which a process goes on
/// from where it was on those keys, and from anywhere on others. An operation that failed or whose outcome is unknown
/// may carry what it knows in its input. Values should be unique per key.
///
/// The log of a key is what acknowledged sends and all polls say stands at its offsets, and also what a send of unknown
/// outcome says if any message of its operation was polled; gaps between offsets mean nothing. Then
///
/// - `inconsistent-offsets`: one offset holds two messages;
/// - `duplicate`: one message is at two offsets;
/// - `lost-write`: a send took effect, no acknowledged poll shows the message, and one shows a message after it;
/// - `G1a`: a message of a failed send was polled; `unexpected`: one that nobody sent;
/// - `precommitted-read`: a transaction polled what it sent itself;
/// - `int-poll-skip`, `int-nonmonotonic-poll`, `int-nonmonotonic-send`: within a transaction two messages that follow
///   each other on a key skip a message of the log, or go back;
/// - `poll-skip`, `nonmonotonic-poll`, `nonmonotonic-send`: the same between a transaction and the last one of its
///   process that was acknowledged (for sends: not known to have failed). Polls are not held to this once any process
///   used `subscribe`, since the system may then hand keys from consumer to consumer; within a transaction such a step
///   is then unknown.
///
/// Acknowledged messages at the end of a log that nobody polled make the answer unknown. Needs: `output` of each
/// acknowledged send and poll. O(n log n) for n messages sent and polled, linear memory. After Jepsen's
/// `jepsen.tests.kafka`, whose names these are; it calls the last case invalid (`unseen`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kafka;

/// Kinds, most telling first.
const RANKS: &[&str] = &[
    "lost-write",
    "inconsistent-offsets",
    "duplicate",
    "G1a",
    "unexpected",
    "precommitted-read",
    "nonmonotonic-send",
    "int-nonmonotonic-send",
    "poll-skip",
    "nonmonotonic-poll",
    "int-poll-skip",
    "int-nonmonotonic-poll",
];

impl Kafka {
    /// For logs of any number of keys.
    pub fn new() -> Kafka {
        Kafka
    }
}

impl Checker for Kafka {
    fn name(&self) -> &str {
        "kafka"
    }

    fn model(&self) -> Option<&str> {
        Some("log")
    }

    fn cannot_detect(&self) -> Vec<String> {
        vec![
            "cycles between transactions (G0, G1c): check the transactions as list-append".to_owned(),
            "how late messages are polled".to_owned(),
            "skips and repetitions of polls where processes subscribe and may be rebalanced".to_owned(),
            "an order of sends by different processes, or in real time".to_owned(),
        ]
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("kafka", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        Journal::of(history).err().into_iter().collect()
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut inquiry = Inquiry::new(history, limits);
        match Journal::of(history) {
            Err(why) => inquiry.undecided(format!("the history does not fit: {why}")),
            Ok(journal) => judge(&journal, &mut inquiry),
        }
        inquiry.answer(self, RANKS, "nothing was sent, or nothing polled")
    }
}

fn judge(journal: &Journal<'_>, inquiry: &mut Inquiry<'_>) {
    inquiry.evidence.partitions = journal.keys.len() as u64;
    inquiry.evidence.consumed = inquiry.evidence.recorded;
    if !inquiry.go_on(journal.records.len() as u64, journal.bytes() + 24 * journal.records.len() as u64) {
        return;
    }
    let messages = logs::messages(journal, inquiry);
    logs::judge_messages(journal, &messages, inquiry);
    if !walks::judge(journal, &messages, inquiry) {
        return;
    }
    if !messages.iter().any(|message| message.reader.is_some()) {
        inquiry.undecided("no message was polled to completion".to_owned());
    }
}
