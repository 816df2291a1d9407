//! Evidence from sums: what took effect adds up.

use super::super::keys::Keys;
use super::super::work::Work;
use super::effects::{Effects, Object, Request};

/// What a sum can be: from `least` to `most`, in steps of `step` (0: no step).
#[derive(Clone, Copy, Debug)]
struct Range {
    least: i128,
    most: i128,
    step: u64,
}

/// What is wrong with a sum, in words.
type Why = fn(Range) -> String;

impl Range {
    fn only(sum: i64) -> Range {
        Range { least: i128::from(sum), most: i128::from(sum), step: 0 }
    }

    /// How it is said that `sum` cannot be, and why.
    fn excludes(self, sum: i128) -> Option<(&'static str, Why)> {
        let Range { least, most, step } = self;
        if sum > most {
            Some(("effect-twice", |of| format!("shows more than {}, which all requests together come to", of.most)))
        } else if sum < least {
            Some(("effect-lost", |of| {
                format!("shows less than {}, which acknowledged requests come to at least", of.least)
            }))
        } else if step > 1 && (sum - least) % i128::from(step) != 0 || step == 0 && sum != least {
            Some(("effect-of-other-size", |of| {
                format!("is not {} and some of the requests that may have taken effect", of.least)
            }))
        } else {
            None
        }
    }

    /// With this request, which may have taken effect or not.
    fn may(self, amount: i64) -> Range {
        let (amount, step) = (i128::from(amount), amount.unsigned_abs());
        Range { least: self.least + amount.min(0), most: self.most + amount.max(0), step: gcd(self.step, step) }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    match (a, b) {
        (1, _) => 1,
        (a, 0) => a,
        (a, b) => gcd(b, a % b),
    }
}

pub(super) fn judge(effects: &Effects<'_>, start: i64, work: &mut Work<'_>, keys: &mut Keys<'_>) {
    for (object, key) in effects.objects.iter().zip(0..) {
        let sums = sums(effects, object, start, work);
        if !sums.is_empty() {
            keys.observe(key);
        }
        let (wrong, ended) = wrong(effects, object, start, &sums, work);
        for Wrong { read, sum, range } in wrong {
            let Some((anomaly, why)) = range.excludes(sum) else { continue };
            let op = &effects.ops[object.reads[read].at as usize];
            let last = |request: &&Request| Some(request.begin) <= op.complete_ts;
            let mut requests = object.requests.iter().rev().map(|number| &effects.requests[*number as usize]);
            let tried = requests.find(last);
            work.violates(|| effects.violation(anomaly, tried, op, &why(range)));
        }
        if !ended {
            return;
        }
    }
}

/// A read of an object, by its index, and the sum that it answers.
type Sum = (usize, i128);

/// The sums that something can be wrong with, by completion of their reads.
fn sums(effects: &Effects<'_>, object: &Object, start: i64, work: &mut Work<'_>) -> Vec<Sum> {
    let mut sums = Vec::with_capacity(object.reads.len());
    for (number, read) in object.reads.iter().enumerate() {
        match read.sum {
            None => {
                let op = &effects.ops[read.at as usize];
                work.lacks(op, format!("the answer of a {} is no whole number", op.op_type));
            }
            Some(sum) if object.requests.is_empty() && sum == start => {}
            Some(sum) => sums.push((number, i128::from(sum))),
        }
    }
    sums.sort_by_key(|(number, _)| object.reads[*number].complete);
    sums
}

/// A sum that cannot be.
struct Wrong {
    read: usize,
    sum: i128,
    range: Range,
}

/// What is wrong with sums, by invocation of their reads; false when it was stopped.
fn wrong(effects: &Effects<'_>, object: &Object, start: i64, sums: &[Sum], work: &mut Work<'_>) -> (Vec<Wrong>, bool) {
    let finals = effects.finals(object);
    let whole = at_quiescence(effects, object, start);
    // Before, each request that has begun may have taken effect.
    let mut begun = Range::only(start);
    let mut requests = object.requests.iter().map(|number| &effects.requests[*number as usize]).peekable();
    let (mut list, mut ended) = (Vec::new(), true);
    for (number, sum) in sums {
        if !work.goes_on(|| effects.bytes() + size_of_val(sums)) {
            ended = false;
            break;
        }
        work.evidence.fired += 1;
        let read = &object.reads[*number];
        while let Some(request) = requests.next_if(|request| request.begin <= read.complete) {
            begun = begun.may(request.amount);
        }
        let range = if finals.binary_search(&read.at).is_ok() { whole } else { begun };
        if range.excludes(*sum).is_some() {
            list.push(Wrong { read: *number, sum: *sum, range });
        }
    }
    list.sort_by_key(|wrong| wrong.read);
    (list, ended)
}

/// At quiescence acknowledged requests have taken effect, and others may have.
fn at_quiescence(effects: &Effects<'_>, object: &Object, start: i64) -> Range {
    let none = Range::only(start);
    object.requests.iter().map(|number| &effects.requests[*number as usize]).fold(none, |range, request| {
        let Range { least, most, step } = range;
        let amount = i128::from(request.amount);
        match request.acknowledged {
            true => Range { least: least + amount, most: most + amount, step },
            false => range.may(request.amount),
        }
    })
}
