//! Exactly once: operations with the same business key take effect once.

mod counts;
mod effects;
mod entries;
#[cfg(test)]
mod tests;

use super::keys::Keys;
use super::pointer::Pointer;
use super::work::Work;
use super::{Answer, Checker, Limits, Unlimited, recipe};
use crate::history::{History, Op};
use effects::Effects;
use serde::{Deserialize, Serialize};

/// Checks that what clients asked for under one business key (an idempotency key) took effect exactly once if it was
/// acknowledged, at most once if its outcome is unknown however often it was tried again, and never if every try failed.
///
/// Operations that are no reads (`read`, `get`, `balance`, `read-set`, `dump`) are tries; tries of one object (`key`) with
/// the same business key in their `input` are one request. The business key is the client's, never the recorder's:
/// where it equals the `op_id` of every try the answer would be trivially true, and is refused (unknown; format
/// decision D8). Tries of one request that ask for different things are a misuse of its key, and unknown.
///
/// Evidence of effects, from completed reads of the object: the entries of a ledger that carry the business key
/// ([`ExactlyOnce::entries`]), or the sum of what took effect ([`ExactlyOnce::counts`]). No read may show an effect twice,
/// or one of nobody's request, or of one that had not been made. Final reads, each client's last one of the object among
/// those that began after every acknowledged try of the history had completed, must show every acknowledged request.
///
/// Required fields: `process_id`, `key`, `invoke_ts`, `complete_ts`, the business key in `input`, reads after quiescence.
/// Witness: the tries and the read, `effect-twice`, `effect-lost`, `effect-of-failed-operation`,
/// `effect-without-operation`, `effect-of-other-size`. Time O(n) in operations and entries read (counts: O(n log n)),
/// memory O(n). After Helland, "Idempotence is not a medical condition", ACM Queue 2012.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExactlyOnce {
    business_key: Pointer,
    shown: Shown,
    tries: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Shown {
    /// The business key within an entry of the list that a read answers.
    Entries { list: Pointer, id: Pointer },
    /// How much a try adds; one, if there is no such place.
    Counts { amount: Option<Pointer>, start: i64 },
}

impl ExactlyOnce {
    /// The business key stands at `business_key` of a try's input; a read answers a list of entries, each with the
    /// business key at `id` (the empty pointer: the entry is the key).
    pub fn entries(business_key: &str, id: &str) -> ExactlyOnce {
        let shown = Shown::Entries { list: Pointer::new(""), id: Pointer::new(id) };
        ExactlyOnce { business_key: Pointer::new(business_key), shown, tries: Vec::new() }
    }

    /// The business key stands at `business_key` of a try's input, the amount that it adds (a whole number; a
    /// `debit` takes it away) at `amount`; a read answers the sum.
    pub fn counts(business_key: &str, amount: &str) -> ExactlyOnce {
        let shown = Shown::Counts { amount: Some(Pointer::new(amount)), start: 0 };
        ExactlyOnce { business_key: Pointer::new(business_key), shown, tries: Vec::new() }
    }

    /// As [`ExactlyOnce::counts`], where each request adds one.
    pub fn increments(business_key: &str) -> ExactlyOnce {
        let shown = Shown::Counts { amount: None, start: 0 };
        ExactlyOnce { business_key: Pointer::new(business_key), shown, tries: Vec::new() }
    }

    /// The list of entries stands at this place of a read's answer.
    pub fn listed_at(mut self, pointer: &str) -> ExactlyOnce {
        if let Shown::Entries { list, .. } = &mut self.shown {
            *list = Pointer::new(pointer);
        }
        self
    }

    /// Sums start at `value`, in place of 0.
    pub fn starting_at(mut self, value: i64) -> ExactlyOnce {
        if let Shown::Counts { start, .. } = &mut self.shown {
            *start = value;
        }
        self
    }

    /// Only operations of these types are tries.
    pub fn tries(mut self, op_types: &[&str]) -> ExactlyOnce {
        self.tries = op_types.iter().map(|one| (*one).to_owned()).collect();
        self
    }

    fn is_try(&self, op: &Op, reads: bool) -> bool {
        if self.tries.is_empty() { !reads } else { self.tries.contains(&op.op_type) }
    }

    /// The sum that a read answers, if that is what reads answer.
    fn sum(&self, op: &Op) -> Option<i64> {
        match (&self.shown, &op.output) {
            (Shown::Entries { .. }, _) => None,
            (Shown::Counts { start, .. }, serde_json::Value::Null) => Some(*start),
            (Shown::Counts { .. }, output) => output.as_i64(),
        }
    }

    fn work<'h, 'l>(&self, history: &'h History, limits: &'l dyn Limits) -> (Work<'l>, Keys<'h>) {
        let mut work = Work::new(history, limits);
        let mut keys = Keys::default();
        if let Some(effects) = Effects::of(self, history.ops(), &mut work, &mut keys) {
            match &self.shown {
                Shown::Entries { list, id } => entries::judge(effects, (list, id), &mut work, &mut keys),
                Shown::Counts { start, .. } => counts::judge(&effects, *start, &mut work, &mut keys),
            }
        }
        (work, keys)
    }
}

fn is_read(op: &Op) -> bool {
    matches!(op.op_type.as_str(), "read" | "get" | "balance" | "read-set" | "dump")
}

impl Checker for ExactlyOnce {
    fn name(&self) -> &str {
        "exactly-once"
    }

    fn cannot_detect(&self) -> Vec<String> {
        let mut list = vec![
            "effects that were doubled or lost and put right before anybody read".to_owned(),
            "effects of requests of unknown outcome that come, or come again, after the final reads".to_owned(),
            "what a try answered: the answer of a repeated try may differ from the first".to_owned(),
        ];
        if matches!(self.shown, Shown::Counts { .. }) {
            list.push(
                "a doubled effect that a lost one, or the amounts of requests of unknown outcome, make up for in the sum"
                    .to_owned(),
            );
        }
        list
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("exactly-once", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        self.work(history, &Unlimited).0.sentences()
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let (work, keys) = self.work(history, limits);
        work.answer(self, &keys, "no completed read shows effects: nothing could be doubled or lost")
    }
}
