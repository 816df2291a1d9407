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

impl Range {
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
        let finals = effects.finals(object);
        let whole = at_quiescence(effects, object, start);
        let begun = as_begun(effects, object, start);
        let mut known = 1;
        for read in &object.reads {
            if !work.goes_on(|| effects.bytes() + begun.len() * size_of::<(u64, Range)>()) {
                return;
            }
            let op = &effects.ops[read.at as usize];
            let Some(sum) = read.sum.map(i128::from) else {
                work.lacks(op, format!("the answer of a {} is no whole number", op.op_type));
                continue;
            };
            if object.requests.is_empty() && sum == i128::from(start) {
                continue;
            }
            work.evidence.fired += 1;
            keys.observe(key);
            known = near(known, begun.len(), |at| begun[at].0 <= read.complete.0);
            let range = if finals.binary_search(&read.at).is_ok() { whole } else { begun[known - 1].1 };
            let Range { least, most, step } = range;
            let (anomaly, why) = if sum > most {
                ("effect-twice", format!("shows more than {most}, which all requests together come to"))
            } else if sum < least {
                ("effect-lost", format!("shows less than {least}, which acknowledged requests come to at least"))
            } else if step > 1 && (sum - least) % i128::from(step) != 0 || step == 0 && sum != least {
                ("effect-of-other-size", format!("is not {least} and some of the requests that may have taken effect"))
            } else {
                continue;
            };
            let last = |request: &&Request| Some(effects.ops[request.effective as usize].invoke_ts) <= op.complete_ts;
            let mut requests = object.requests.iter().rev().map(|number| &effects.requests[*number as usize]);
            let tried = requests.find(last);
            work.violates(|| effects.violation(anomaly, tried, op, &why));
        }
    }
}

/// How many of `count` things `holds`, which it does for the first ones: mostly about `guess`.
fn near(guess: usize, count: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut from, mut to) = (guess.saturating_sub(8), (guess + 8).min(count));
    if from > 0 && !holds(from - 1) {
        (from, to) = (0, from - 1);
    } else if to < count && holds(to) {
        (from, to) = (to + 1, count);
    }
    while from < to {
        let middle = from.midpoint(to);
        if holds(middle) { from = middle + 1 } else { to = middle }
    }
    from
}

/// At quiescence acknowledged requests have taken effect, and others may have.
fn at_quiescence(effects: &Effects<'_>, object: &Object, start: i64) -> Range {
    let start = i128::from(start);
    let none = Range { least: start, most: start, step: 0 };
    object.requests.iter().map(|number| &effects.requests[*number as usize]).fold(none, |range, request| {
        let Range { least, most, step } = range;
        let amount = i128::from(request.amount);
        match request.acknowledged {
            true => Range { least: least + amount, most: most + amount, step },
            false => range.may(request.amount),
        }
    })
}

/// Before, each request that has begun may have taken effect: ranges by the invocation from which they hold.
fn as_begun(effects: &Effects<'_>, object: &Object, start: i64) -> Vec<(u64, Range)> {
    let start = i128::from(start);
    let mut range = Range { least: start, most: start, step: 0 };
    let mut ranges = vec![(0, range)];
    for request in object.requests.iter().map(|number| &effects.requests[*number as usize]) {
        range = range.may(request.amount);
        ranges.push((effects.ops[request.effective as usize].invoke_ts.0, range));
    }
    ranges
}
