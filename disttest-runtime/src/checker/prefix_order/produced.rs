//! What producers put in, and its order.

use super::super::ahead::{Parts, ahead};
use super::super::keys::Keys;
use super::super::pairs::Pairs;
use super::super::work::Work;
use super::sequence::{Delivery, Wrong};
use crate::history::{Effect, Op};
use serde_json::Value;
use std::borrow::Borrow;

/// An element of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    /// The operation that produced it.
    pub(super) op: u32,
    key: u32,
    /// Where it stands: before everything that begins behind its end.
    begin: u64,
    end: u64,
    offset: Option<u64>,
    effect: Effect,
    /// Another operation that did not fail produced the same value.
    several: bool,
}

impl Element {
    pub(super) fn is_failed(&self) -> bool {
        self.effect == Effect::Failed
    }
}

/// What is known of the order of a key.
#[derive(Clone, Default)]
struct Order {
    /// Acknowledged elements that answered an offset, and that did not.
    with: u64,
    without: u64,
    /// Acknowledged elements by their end.
    acknowledged: Vec<Acknowledged>,
}

/// An acknowledged element: where it ends, and its operation.
pub(super) type Acknowledged = (u64, u32);

pub(super) struct Produced<'h> {
    pub(super) ops: &'h [Op],
    /// The number of each operation's key.
    pub(super) numbers: Vec<u32>,
    /// Elements by the number of key and value.
    elements: Vec<Element>,
    pairs: Pairs<'h>,
    orders: Vec<Order>,
    /// What consumes, as far as it was answered.
    pub(super) consuming: Vec<Consuming<'h>>,
}

/// An operation that consumes, and where it stands in the history.
pub(super) struct Consuming<'h> {
    pub(super) op: &'h Op,
    pub(super) at: u32,
}

impl Borrow<Op> for Consuming<'_> {
    fn borrow(&self) -> &Op {
        self.op
    }
}

impl<'h> Produced<'h> {
    /// `None` when it was stopped.
    pub(super) fn of(ops: &'h [Op], work: &mut Work<'_>, keys: &mut Keys<'h>) -> Option<Produced<'h>> {
        let numbers = Vec::with_capacity(ops.len());
        let (elements, pairs) = (Vec::with_capacity(ops.len() / 2), Pairs::new(ops.len()));
        let consuming = Vec::with_capacity(ops.len() / 2);
        let mut produced = Produced { ops, numbers, elements, pairs, orders: Vec::new(), consuming };
        for (at, op) in ahead(ops, Parts::Inputs).enumerate() {
            if !work.goes_on(|| produced.bytes()) {
                return None;
            }
            let key = keys.count(op);
            produced.numbers.push(key);
            produced.orders.resize(keys.len(), Order::default());
            if matches!(op.op_type.as_str(), "enqueue" | "append" | "produce" | "publish" | "send") {
                produced.add(at as u32, op, key);
            } else if op.effect() == Effect::Acknowledged {
                produced.consuming.push(Consuming { op, at: at as u32 });
            }
        }
        Some(produced)
    }

    fn add(&mut self, at: u32, op: &'h Op, key: u32) {
        let effect = op.effect();
        let offset = if effect == Effect::Acknowledged { offset(op) } else { None };
        if effect == Effect::Acknowledged {
            let order = &mut self.orders[key as usize];
            *(if offset.is_some() { &mut order.with } else { &mut order.without }) += 1;
        }
        let end = op.complete_ts.filter(|_| effect == Effect::Acknowledged).map_or(u64::MAX, |end| end.0);
        let new = Element { op: at, key, begin: op.invoke_ts.0, end, offset, effect, several: false };
        let number = self.pairs.of(key, &op.input) as usize;
        match self.elements.get_mut(number) {
            None => self.elements.push(new),
            Some(held) if effect != Effect::Failed => {
                *held = Element { several: held.effect != Effect::Failed, ..new };
            }
            Some(_) => {}
        }
    }

    /// Decides for each key whether offsets or time order its elements.
    pub(super) fn settle_order(&mut self) {
        for element in &mut self.elements {
            let order = &mut self.orders[element.key as usize];
            if order.with > 0 && order.without == 0 {
                (element.begin, element.end) = element.offset.map_or((0, u64::MAX), |offset| (offset, offset));
            }
            if element.effect == Effect::Acknowledged && !element.several {
                order.acknowledged.push((element.end, element.op));
            }
        }
        self.orders.iter_mut().for_each(|order| order.acknowledged.sort_unstable());
    }

    pub(super) fn bytes(&self) -> usize {
        self.numbers.capacity() * 4
            + self.consuming.capacity() * size_of::<Consuming<'_>>()
            + self.elements.capacity() * (size_of::<Element>() + size_of::<Acknowledged>())
            + self.pairs.bytes()
    }

    pub(super) fn element(&self, key: u32, value: &Value) -> Option<Element> {
        self.pairs.known(key, value).map(|number| self.elements[number as usize])
    }

    pub(super) fn op(&self, element: &Element) -> &'h Op {
        &self.ops[element.op as usize]
    }

    /// Acknowledged elements of a key by their end, each of a value of its own.
    pub(super) fn acknowledged(&self, key: u32) -> &[Acknowledged] {
        &self.orders[key as usize].acknowledged
    }

    /// Where an element stands that was seen, at `offset` if that was said.
    pub(super) fn place(&self, key: u32, element: &Element, offset: Option<u64>) -> Result<Delivery, Wrong> {
        let order = &self.orders[key as usize];
        let by_offset = order.with > 0 && order.without == 0;
        let acknowledged = element.effect == Effect::Acknowledged && !element.several;
        let number = u64::from(element.op);
        let mut place = Delivery {
            op: 0,
            element: element.op,
            begin: element.begin,
            end: element.end,
            // No offset is so large.
            identity: if by_offset { element.offset.unwrap_or(number | 1 << 63) } else { number },
            acknowledged,
            from: offset,
            by_offset,
        };
        if let (true, Some(offset)) = (by_offset, offset) {
            if !element.several && element.offset.is_some_and(|known| known != offset) {
                return Err(Wrong::Offset);
            }
            (place.begin, place.end, place.identity) = (offset, offset, offset);
        } else if element.several {
            return Err(Wrong::Several);
        }
        Ok(place)
    }
}

/// The offset that an append or a produce answers. What an enqueue answers is no offset.
fn offset(op: &Op) -> Option<u64> {
    if !matches!(op.op_type.as_str(), "append" | "produce") {
        return None;
    }
    op.output.as_u64().or_else(|| op.output.get("offset").and_then(Value::as_u64))
}
