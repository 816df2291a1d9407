//! Requests: the tries that share a business key.

use super::super::Violation;
use super::super::ahead::{Parts, ahead};
use super::super::keys::Keys;
use super::super::pairs::Pairs;
use super::super::work::{Work, told};
use super::{ExactlyOnce, Shown, is_read};
use crate::base::time::Nanos;
use crate::history::{Effect, Op};
use rustc_hash::FxHashMap;
use serde_json::Value;

/// The tries of one business key on one object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// The first try, and the first that did not fail (the first one, if all did).
    pub(super) first: u32,
    pub(super) effective: u32,
    pub(super) acknowledged: bool,
    pub(super) failed: bool,
    pub(super) amount: i64,
    /// When the first try that did not fail began.
    pub(super) begin: Nanos,
    /// The last read that was seen to show it, plus one.
    pub(super) shown: u32,
}

/// What is known of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Object {
    /// Requests that did not fail, by the first try that did not.
    pub(super) requests: Vec<u32>,
    pub(super) acknowledged: u64,
    /// Completed reads.
    pub(super) reads: Vec<Read>,
}

/// A completed read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) at: u32,
    pub(super) process: u64,
    pub(super) invoke: Nanos,
    pub(super) complete: Nanos,
    /// What it answers, where that is a sum.
    pub(super) sum: Option<i64>,
}

pub(super) struct Effects<'h> {
    pub(super) ops: &'h [Op],
    pub(super) requests: Vec<Request>,
    /// Requests by the number of object and business key.
    pairs: Pairs<'h>,
    pub(super) objects: Vec<Object>,
    /// When the last acknowledged try completed.
    pub(super) quiet: Option<Nanos>,
}

impl<'h> Effects<'h> {
    /// `None` when it was stopped, or some try cannot be placed.
    pub(super) fn of(
        checker: &ExactlyOnce,
        ops: &'h [Op],
        work: &mut Work<'_>,
        keys: &mut Keys<'h>,
    ) -> Option<Effects<'h>> {
        let pairs = Pairs::new(ops.len());
        let mut effects = Effects { ops, requests: Vec::new(), pairs, objects: Vec::new(), quiet: None };
        let (mut tries, mut own_ids) = (0_u64, 0_u64);
        for (at, op) in ahead(ops, Parts::Inputs).enumerate() {
            if !work.goes_on(|| effects.bytes()) {
                return None;
            }
            let key = keys.count(op);
            effects.objects.resize_with(keys.len(), Object::default);
            let reads = is_read(op);
            if let Some(complete) = op.complete_ts.filter(|_| reads && op.effect() == Effect::Acknowledged) {
                let (process, invoke, sum) = (op.process_id, op.invoke_ts, checker.sum(op));
                effects.objects[key as usize].reads.push(Read { at: at as u32, process, invoke, complete, sum });
            }
            if !checker.is_try(op, reads) {
                continue;
            }
            let Some(business) = checker.business_key.of(&op.input).filter(|key| !key.is_null()) else {
                let place = checker.business_key.text();
                work.lacks(op, format!("the input of a {} has no business key at {place:?}", op.op_type));
                continue;
            };
            tries += 1;
            own_ids += u64::from(is_op_id(business, op.op_id));
            effects.add(checker, at as u32, key, business, work);
        }
        if tries > 0 && tries == own_ids {
            let first = effects.requests.first().map(|request| &ops[request.first as usize])?;
            let problem = "its business key is its op_id, which no two tries share: the answer would be trivially true";
            work.lacks(first, problem.to_owned());
            return None;
        }
        // Where a try cannot be placed, it may explain anything.
        if work.has_problems() {
            return None;
        }
        effects.demand_final_reads(work);
        Some(effects)
    }

    fn add(&mut self, checker: &ExactlyOnce, at: u32, key: u32, business: &'h Value, work: &mut Work<'_>) {
        let op = &self.ops[at as usize];
        let amount = match &checker.shown {
            Shown::Counts { amount: Some(place), .. } => match place.of(&op.input).and_then(Value::as_i64) {
                Some(amount) if op.op_type == "debit" => amount.saturating_neg(),
                Some(amount) => amount,
                None => {
                    work.lacks(op, format!("the input of a {} has no whole number at {:?}", op.op_type, place.text()));
                    return;
                }
            },
            _ => 1,
        };
        let effect = op.effect();
        let next = self.requests.len() as u32;
        let number = self.pairs.of(key, business);
        if number == next {
            let (acknowledged, failed) = (false, true);
            let (first, begin, shown) = (at, op.invoke_ts, 0);
            self.requests.push(Request { first, effective: at, acknowledged, failed, amount, begin, shown });
        }
        let request = &mut self.requests[number as usize];
        if number != next {
            let first = &self.ops[request.first as usize];
            if (&first.input, &first.op_type) != (&op.input, &op.op_type) {
                work.lacks(op, "it asks for something else under a business key that was used before".to_owned());
            }
        }
        let object = &mut self.objects[key as usize];
        if request.failed && effect != Effect::Failed {
            (request.failed, request.effective, request.begin) = (false, at, op.invoke_ts);
            object.requests.push(number);
        }
        if effect == Effect::Acknowledged {
            object.acknowledged += u64::from(!std::mem::replace(&mut request.acknowledged, true));
            self.quiet = self.quiet.max(op.complete_ts);
        }
    }

    /// Objects with acknowledged requests and no final read cannot be judged.
    fn demand_final_reads(&self, work: &mut Work<'_>) {
        for object in &self.objects {
            let is_final = |read: &Read| Some(read.invoke) > self.quiet;
            if object.acknowledged == 0 || object.reads.iter().any(is_final) {
                continue;
            }
            let mut acknowledged = object.requests.iter().map(|number| &self.requests[*number as usize]);
            if let Some(first) = acknowledged.find(|request| request.acknowledged).map(|request| request.first) {
                let problem = "its object has acknowledged requests, but no completed read of it began after the last \
                               acknowledged one of the history";
                work.lacks(&self.ops[first as usize], problem.to_owned());
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.requests.capacity() * size_of::<Request>() + self.pairs.bytes() + self.ops.len() * 4
    }

    pub(super) fn request(&self, key: u32, business: &Value) -> Option<u32> {
        self.pairs.known(key, business)
    }

    /// Each client's last read of the object after quiescence.
    pub(super) fn finals(&self, object: &Object) -> Vec<u32> {
        let mut last: FxHashMap<u64, u32> = FxHashMap::default();
        for read in object.reads.iter().rev() {
            // By invocation: from the end on, the first one that is not final ends it.
            if Some(read.invoke) <= self.quiet {
                break;
            }
            last.entry(read.process).or_insert(read.at);
        }
        let mut finals: Vec<u32> = last.into_values().collect();
        finals.sort_unstable();
        finals
    }

    /// A violation by a request (its first try) and a read.
    pub(super) fn violation(&self, anomaly: &str, request: Option<&Request>, read: &Op, why: &str) -> Violation {
        let tried = request.map(|request| &self.ops[request.effective as usize]);
        let subject = tried.map(|op| format!("{}: ", told(op))).unwrap_or_default();
        let mut ops: Vec<u64> = tried.map(|op| op.op_id).into_iter().collect();
        ops.push(read.op_id);
        Violation {
            anomaly: anomaly.to_owned(),
            key: read.key.clone(),
            ops,
            explanation: format!("{subject}{} {why}.", told(read)),
        }
    }
}

fn is_op_id(business: &Value, op_id: u64) -> bool {
    match business {
        Value::Number(number) => number.as_u64() == Some(op_id),
        Value::String(text) => text.parse() == Ok(op_id),
        _ => false,
    }
}
