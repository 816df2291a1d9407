//! What is put into a collection and taken from it, value by value: the common ground of the monitors of queues and
//! stacks whose values are put once.

use super::{Atom, Decision, TakeCall, Timed};
use rustc_hash::FxHashMap;

/// A moment; `NEVER` is after all.
pub(super) type Moment = u64;

pub(super) const NEVER: Moment = Moment::MAX;

/// A value that was surely put: the call was acknowledged, or the value was taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// Index of the call that put it, and when it may have taken effect.
    pub(super) put: usize,
    pub(super) put_from: Moment,
    pub(super) put_by: Moment,
    /// Index of the completed call that took it, if there is one.
    pub(super) take: Option<usize>,
    /// When it may have been taken; never for a value that stays.
    pub(super) take_from: Moment,
    pub(super) take_by: Moment,
    /// Since when a call of unknown outcome may have taken this very value.
    pub(super) may_go: Option<Moment>,
}

impl Item {
    /// True when the value was surely held for some time: after its put was over and before its take began.
    pub(super) fn is_sure(&self) -> bool {
        self.put_by < self.take_from
    }
}

/// All calls on a collection, sorted out.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// Values that were surely put.
    pub(super) all: Vec<Item>,
    /// Completed calls that found nothing.
    pub(super) empties: Vec<usize>,
    /// Invocations, sorted, of calls of unknown outcome that may have taken any value.
    pub(super) pool: Vec<Moment>,
}

impl Items {
    /// Sorts out `calls`. `Err(None)` when a value is put twice, `Err(Some(…))` when a take by itself is impossible.
    pub(super) fn of(calls: &[Timed<TakeCall>]) -> Result<Items, Option<Decision>> {
        let mut of_value: FxHashMap<Atom, usize> = FxHashMap::default();
        let mut items = Items::default();
        for (index, call) in calls.iter().enumerate() {
            if let TakeCall::Put(value) = call.call {
                if of_value.insert(value, items.all.len()).is_some() {
                    return Err(None);
                }
                items.all.push(Item {
                    put: index,
                    put_from: call.invoke,
                    put_by: call.complete.unwrap_or(NEVER),
                    take: None,
                    take_from: NEVER,
                    take_by: NEVER,
                    may_go: None,
                });
            }
        }
        for (index, call) in calls.iter().enumerate() {
            match (&call.call, call.complete) {
                (TakeCall::Put(_), _) | (TakeCall::Empty, None) => {}
                (TakeCall::Empty, Some(_)) => items.empties.push(index),
                (TakeCall::Take(None), None) => items.pool.push(call.invoke),
                (TakeCall::Take(None), Some(_)) => return Err(None),
                (TakeCall::Take(Some(value)), complete) => match (of_value.get(value), complete) {
                    (Some(at), _) => items.all[*at].taken(index, call).map_err(Some)?,
                    (None, Some(_)) => return Err(Some(Decision::NotLinearizable(vec![index]))),
                    (None, None) => {}
                },
            }
        }
        // What nobody shows to have been put was not.
        items.all.retain(|item| item.take.is_some() || item.put_by != NEVER);
        items.pool.sort_unstable();
        Ok(items)
    }
}

impl Item {
    fn taken(&mut self, index: usize, call: &Timed<TakeCall>) -> Result<(), Decision> {
        let Some(complete) = call.complete else {
            self.may_go = Some(self.may_go.map_or(call.invoke, |before| before.min(call.invoke)));
            return Ok(());
        };
        let clash = self.take.into_iter().chain([self.put, index]);
        if self.take.is_some() || complete < self.put_from {
            let mut clash: Vec<usize> = clash.collect();
            clash.sort_unstable();
            return Err(Decision::NotLinearizable(clash));
        }
        (self.take, self.take_from, self.take_by) = (Some(index), call.invoke, complete);
        Ok(())
    }
}

/// Open intervals in which a collection surely holds something, merged where they overlap, sorted.
pub(super) fn never_empty(items: &[Item]) -> Vec<(Moment, Moment)> {
    let mut sure: Vec<(Moment, Moment)> =
        items.iter().filter(|item| item.is_sure()).map(|item| (item.put_by, item.take_from)).collect();
    sure.sort_unstable();
    sure.dedup_by(|next, before| {
        let overlap = next.0 < before.1;
        if overlap {
            before.1 = before.1.max(next.1);
        }
        overlap
    });
    sure
}

/// A call that found nothing and has no moment outside of `never_empty`.
pub(super) fn never_found_empty(
    empties: &[usize],
    calls: &[Timed<TakeCall>],
    never_empty: &[(Moment, Moment)],
) -> Option<usize> {
    empties.iter().copied().find(|index| {
        let (from, by) = (calls[*index].invoke, calls[*index].complete.unwrap_or(NEVER));
        let after = never_empty.partition_point(|(begin, _)| *begin < from);
        never_empty[..after].last().is_some_and(|(_, end)| by < *end)
    })
}

/// A few items whose sure intervals together leave the call at `index` no moment, and the call: as calls.
pub(super) fn why_not_empty(index: usize, items: &[Item], calls: &[Timed<TakeCall>]) -> Vec<usize> {
    let (mut reached, by) = (calls[index].invoke, calls[index].complete.unwrap_or(NEVER));
    let mut witness = vec![index];
    let mut sure: Vec<&Item> = items.iter().filter(|item| item.is_sure()).collect();
    sure.sort_by_key(|item| item.put_by);
    let mut sure = sure.into_iter().peekable();
    let mut best: Option<&Item> = None;
    while reached <= by {
        while let Some(item) = sure.next_if(|item| item.put_by < reached) {
            best = best.filter(|best| best.take_from >= item.take_from).or(Some(item));
        }
        let Some(item) = best.filter(|best| best.take_from > reached) else { break };
        witness.push(item.put);
        witness.extend(item.take);
        reached = item.take_from;
        if reached == NEVER {
            break;
        }
    }
    witness.sort_unstable();
    witness
}
