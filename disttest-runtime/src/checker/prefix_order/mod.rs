//! Prefix and order: what a consumer sees is what producers put in, in their order.

mod produced;
mod sequence;
#[cfg(test)]
mod tests;

use super::ahead::{Parts, ahead};
use super::keys::Keys;
use super::places::Places;
use super::settling::Settling;
use super::work::{Work, told};
use super::{Answer, Checker, Limits, Unlimited, Violation, recipe};
use crate::history::{History, Op};
use produced::{Consuming, Element, Produced};
use sequence::{Delivery, Sequence, Wrong};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Checks that each consumer of a queue, topic or log (the `key`) sees a prefix of what producers put in, in their order.
///
/// Producing: `enqueue`, `append`, `produce`, `publish`, `send` of an input; values of a key are distinct. Consuming:
/// `dequeue` of a value (null for none), `read`, `consume`, `poll`, `receive` of a value, a list, `{"offset", "value"}` or
/// `{"offset", "values"}`. The producers' order is that of offsets where every acknowledged append or produce of the key
/// answers one, and else that of time: an element whose producing completed before another's began is before it. What was
/// produced at once has no order. An element of unknown outcome may be seen or not, one that failed must not be.
///
/// In flight: an element may be overtaken by as many later ones as [`PrefixOrder::in_flight`] declares, 0 unless told
/// otherwise, and be missing while no more than that many later ones have been seen. Consumed twice by one consumer is a
/// violation unless [`PrefixOrder::redelivery_allowed`].
///
/// Required fields: `process_id`, `key`, `invoke_ts`, `complete_ts`, `input` of what produces, `output` of what consumes.
/// Witness: `out-of-order`, `skipped`, `delivered-twice`, `never-produced`, `consumed-before-produced`, `wrong-offset`
/// with the operations concerned. Time O(n log n), memory O(n), n counting elements seen. The rule is the order property
/// of FIFO broadcast (Hadzilacos and Toueg, 1994) for one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefixOrder {
    views: bool,
    gaps: bool,
    window: usize,
    redelivery: bool,
}

impl PrefixOrder {
    /// What a session consumes of a key, one operation after another, is one sequence.
    pub fn consumers() -> PrefixOrder {
        PrefixOrder { views: false, gaps: false, window: 0, redelivery: false }
    }

    /// Each completed read shows a sequence of its own, from its offset on, as of a log that is read again and again.
    pub fn views() -> PrefixOrder {
        PrefixOrder { views: true, ..PrefixOrder::consumers() }
    }

    /// Elements may be missing, as where consumers share a queue: in order, but no prefix.
    pub fn gaps_allowed(mut self) -> PrefixOrder {
        self.gaps = true;
        self
    }

    /// An element may be overtaken by so many later ones.
    pub fn in_flight(mut self, elements: usize) -> PrefixOrder {
        self.window = elements;
        self
    }

    /// A consumer may see an element again; the first time counts.
    pub fn redelivery_allowed(mut self) -> PrefixOrder {
        self.redelivery = true;
        self
    }

    fn work<'h, 'l>(&self, history: &'h History, limits: &'l dyn Limits) -> (Work<'l>, Keys<'h>) {
        let mut work = Work::new(history, limits);
        let mut keys = Keys::default();
        let ops = history.ops();
        let Some(mut produced) = Produced::of(ops, &mut work, &mut keys) else { return (work, keys) };
        produced.settle_order();
        let mut consumers: Places<Consumer> = Places::default();
        let mut seen = 0;
        for Consuming { op, at } in ahead(&produced.consuming, Parts::Outputs) {
            if !work.goes_on(|| produced.bytes() + seen * size_of::<Delivery>() + consumers.bytes()) {
                return (work, keys);
            }
            let Some(complete) = op.complete_ts else { continue };
            let Some((offset, values)) = deliveries(op) else { continue };
            let key = produced.numbers[*at as usize];
            let read = Read { at: *at, op, key, offset };
            if self.views {
                let mut sequence = Sequence::new(*self);
                self.deliver(&read, values, &produced, &mut sequence, (&mut work, &mut keys));
                self.finish(&sequence, key, &produced, ops, &mut work);
                continue;
            }
            seen += values.len();
            let new = || Consumer { key, sequence: Sequence::new(*self), settling: Settling::default() };
            let consumer = consumers.of(op.process_id, key, new);
            while let Some((_, (from, to))) = consumer.settling.before(op.invoke_ts) {
                consumer.sequence.settle(from as usize..to as usize);
            }
            let from = consumer.sequence.len() as u32;
            self.deliver(&read, values, &produced, &mut consumer.sequence, (&mut work, &mut keys));
            consumer.settling.push(complete, (from, consumer.sequence.len() as u32));
        }
        for Consumer { key, sequence, .. } in consumers.all() {
            if !work.goes_on(|| produced.bytes() + seen * size_of::<Delivery>() + consumers.bytes()) {
                break;
            }
            self.finish(sequence, *key, &produced, ops, &mut work);
        }
        (work, keys)
    }

    /// Adds what a read saw to a sequence.
    fn deliver(
        &self,
        read: &Read<'_>,
        values: &[Value],
        produced: &Produced<'_>,
        sequence: &mut Sequence,
        (work, keys): (&mut Work<'_>, &mut Keys<'_>),
    ) {
        let mut batch = sequence.batch(values.len());
        for (value, place) in values.iter().zip(0_u64..) {
            work.evidence.fired += 1;
            keys.observe(read.key);
            let offset = read.offset.map(|offset| offset.saturating_add(place));
            let element = match produced.element(read.key, value) {
                Some(element) if !element.is_failed() => element,
                other => {
                    work.violates(|| never_produced(read, value, other.as_ref(), produced));
                    continue;
                }
            };
            let made = produced.op(&element);
            if Some(made.invoke_ts) > read.op.complete_ts {
                work.violates(|| pair("consumed-before-produced", made, read.op, "began only after"));
                continue;
            }
            let delivery = match produced.place(read.key, &element, offset) {
                Ok(place) => Delivery { op: read.at, element: element.op, ..place },
                Err(Wrong::Offset) => {
                    work.violates(|| pair("wrong-offset", made, read.op, "got another offset than that shown by"));
                    continue;
                }
                Err(Wrong::Several) => {
                    let problem = "it shows a value that was produced more than once: which one is not known";
                    work.lacks(read.op, problem.to_owned());
                    continue;
                }
            };
            if let Some(over) = sequence.add(delivery, &mut batch) {
                work.violates(|| out_of_order(&over, &delivery, produced, read.op, self.window));
            }
        }
    }

    fn finish(&self, sequence: &Sequence, key: u32, produced: &Produced<'_>, ops: &[Op], work: &mut Work<'_>) {
        if !self.redelivery
            && let Some((first, again)) = sequence.twice()
        {
            let [first, again] = [first, again].map(|delivery| &ops[delivery.op as usize]);
            work.violates(|| pair("delivered-twice", first, again, "saw an element that came again by"));
        }
        if !self.gaps
            && let Some((missing, later)) = sequence.gap(produced.acknowledged(key))
        {
            let (missing, read) = (&ops[missing as usize], &ops[later.op as usize]);
            let later = &ops[later.element as usize];
            work.violates(|| Violation {
                anomaly: "skipped".to_owned(),
                key: missing.key.clone(),
                ops: vec![missing.op_id, later.op_id, read.op_id],
                explanation: format!(
                    "{} was acknowledged and stands before {}, which {} saw; yet this consumer never saw the former, \
                     though more than {} later ones.",
                    told(missing),
                    told(later),
                    told(read),
                    self.window
                ),
            });
        }
    }
}

/// A session's sequence, and what of it is still in flight.
struct Consumer {
    key: u32,
    sequence: Sequence,
    settling: Settling<(u32, u32)>,
}

/// A completed consuming operation.
struct Read<'h> {
    at: u32,
    op: &'h Op,
    key: u32,
    offset: Option<u64>,
}

/// Values that `op` consumed, with the offset of the first one; `None` for what does not consume.
fn deliveries(op: &Op) -> Option<(Option<u64>, &[Value])> {
    let list = match op.op_type.as_str() {
        "dequeue" => false,
        "read" | "consume" | "poll" | "receive" => true,
        _ => return None,
    };
    let one = std::slice::from_ref;
    Some(match &op.output {
        Value::Null => (None, &[]),
        Value::Array(values) if list => (None, values),
        Value::Object(fields) if fields.contains_key("offset") => {
            let offset = fields["offset"].as_u64();
            match (fields.get("value"), fields.get("values")) {
                (Some(value), _) => (offset, one(value)),
                (None, Some(Value::Array(values))) => (offset, values),
                _ => (offset, &[]),
            }
        }
        value => (None, one(value)),
    })
}

fn never_produced(read: &Read<'_>, value: &Value, element: Option<&Element>, produced: &Produced<'_>) -> Violation {
    let why = match element {
        None => "no operation produced".to_owned(),
        Some(element) => format!("was refused to {}", told(produced.op(element))),
    };
    let mut ops: Vec<u64> = element.map(|element| produced.op(element).op_id).into_iter().collect();
    ops.push(read.op.op_id);
    let explanation = format!("{} saw {value}, which {why}.", told(read.op));
    Violation { anomaly: "never-produced".to_owned(), key: read.op.key.clone(), ops, explanation }
}

fn pair(anomaly: &str, first: &Op, second: &Op, how: &str) -> Violation {
    Violation {
        anomaly: anomaly.to_owned(),
        key: second.key.clone(),
        ops: vec![first.op_id, second.op_id],
        explanation: format!("{} {how} {}.", told(first), told(second)),
    }
}

fn out_of_order(over: &Delivery, late: &Delivery, produced: &Produced<'_>, read: &Op, window: usize) -> Violation {
    let (over_made, late_made) = (&produced.ops[over.element as usize], &produced.ops[late.element as usize]);
    let over_read = &produced.ops[over.op as usize];
    Violation {
        anomaly: "out-of-order".to_owned(),
        key: read.key.clone(),
        ops: vec![late_made.op_id, over_made.op_id, over_read.op_id, read.op_id],
        explanation: format!(
            "{} stands before {}; yet the consumer saw the latter by {} and the former only later by {}, overtaken by \
             more than {window}.",
            told(late_made),
            told(over_made),
            told(over_read),
            told(read)
        ),
    }
}

impl Checker for PrefixOrder {
    fn name(&self) -> &str {
        "prefix-order"
    }

    fn cannot_detect(&self) -> Vec<String> {
        let mut list = vec![
            "elements that are lost at the end of what a consumer saw, or that no consumer saw at all".to_owned(),
            "the order of what was produced at once, and of elements that consumers had in flight at once".to_owned(),
            "an element that several consumers of a queue took".to_owned(),
            "what is missing from a sequence that begins in the middle of a log whose appends answer no offset"
                .to_owned(),
        ];
        if self.window > 0 {
            list.push(format!("elements overtaken by up to {} others", self.window));
        }
        if self.gaps {
            list.push("elements that a consumer skipped".to_owned());
        }
        if self.redelivery {
            list.push("elements that a consumer saw again".to_owned());
        }
        if self.views {
            list.push("an order that changes between two reads in a way that no one read shows".to_owned());
        }
        list
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("prefix-order", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        self.work(history, &Unlimited).0.sentences()
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let (work, keys) = self.work(history, limits);
        work.answer(self, &keys, "no completed operation consumed an element: nothing could be out of order")
    }
}
