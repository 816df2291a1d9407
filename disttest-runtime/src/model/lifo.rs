//! Stacks whose every value is pushed once: linearizability without search, in O(n log n + n·d) where values are nested
//! d deep.
//!
//! A value is on the stack from a moment of its push to a moment of its pop, surely between the completion of the push
//! and the invocation of the pop. A legal order is a choice of moments such that these intervals are nested or disjoint.
//!
//! - A value that was not surely there at any moment is pushed and popped at once, in no other value's way.
//! - Sure intervals that overlap make a component. In a legal order intervals that overlap are nested, so one value of the
//!   component is below all its others. Cutting intervals off at the ends of their component keeps them legal, so
//!   components do not depend on each other, and a pop that finds nothing needs a moment outside of all components.
//! - A value that may have been pushed by the begin of the component and popped after its end can lie below all others:
//!   whatever order the others have, it stays legal with this one around it. So all such values may be taken away, and
//!   what is left decided in the same way. Where there is no such value, there is no order.
//!
//! Outcomes that are unknown: a push whose value nobody popped never was. A pop that may have taken a value gives it more
//! freedom, the more the earlier it was invoked. Where even all values taken by the earliest such pop have no order, there
//! is none; where no value taken has one, there is one, or where only those values are taken that lie on one that was
//! popped, or were there before a pop that found nothing, in order of these deadlines. Else the search has to decide.

use super::held::{Item, Items, Moment, NEVER, never_empty, never_found_empty, why_not_empty};
use super::{Atom, Decision, TakeCall, Timed};

/// Decides, when no value is pushed twice and the stack is empty at the start.
pub(super) fn decide(start: &[Atom], calls: &[Timed<TakeCall>]) -> Option<Decision> {
    if !start.is_empty() {
        return None;
    }
    let mut items = match Items::of(calls) {
        Ok(items) => items,
        Err(decision) => return decision,
    };
    // To be gone some time or never is more freedom than to stay.
    for item in items.all.iter_mut().filter(|item| item.take.is_none()) {
        item.take_from = item.may_go.unwrap_or(NEVER);
    }
    let judge = |all: &[Item]| conflict(all, &items.empties, calls);
    let stays = judge(&items.all);
    let Some(conflict) = stays else {
        return Some(Decision::Linearizable);
    };
    let Some(first) = items.pool.first() else {
        return Some(Decision::NotLinearizable(conflict));
    };
    let gone =
        |item: &Item| if item.take.is_none() { Item { take_from: item.take_from.min(*first), ..*item } } else { *item };
    if let Some(conflict) = judge(&items.all.iter().map(gone).collect::<Vec<Item>>()) {
        return Some(Decision::NotLinearizable(conflict));
    }
    judge(&without_the_obstacles(&items, calls)?).is_none().then_some(Decision::Linearizable)
}

/// The items without those that must be gone at some time, taken in the order of their deadlines by the pops of unknown
/// outcome in the order of their invocations; `None` when these come too late.
fn without_the_obstacles(items: &Items, calls: &[Timed<TakeCall>]) -> Option<Vec<Item>> {
    let mut removed = items.all.clone();
    let mut deadlines: Vec<(Moment, usize)> = Vec::new();
    for (at, item) in removed.iter().enumerate().filter(|(_, item)| item.take_from == NEVER) {
        let below = |other: &&Item| other.put_by < item.put_from && other.take_from > item.put_by;
        let popped = removed.iter().filter(below).map(|other| other.take_by);
        let empty = items.empties.iter().filter(|index| calls[**index].invoke > item.put_by);
        let deadline = popped.chain(empty.filter_map(|index| calls[*index].complete)).min();
        deadlines.extend(deadline.filter(|deadline| *deadline != NEVER).map(|deadline| (deadline, at)));
    }
    deadlines.sort_unstable();
    for (rank, (deadline, at)) in deadlines.into_iter().enumerate() {
        removed[at].take_from = items.pool.get(rank).copied().filter(|since| *since <= deadline)?;
    }
    Some(removed)
}

/// Calls because of which there is no order, if there is none.
fn conflict(all: &[Item], empties: &[usize], calls: &[Timed<TakeCall>]) -> Option<Vec<usize>> {
    if !empties.is_empty()
        && let Some(index) = never_found_empty(empties, calls, &never_empty(all))
    {
        return Some(why_not_empty(index, all, calls));
    }
    let mut sure: Vec<&Item> = all.iter().filter(|item| item.is_sure()).collect();
    sure.sort_by_key(|item| item.put_by);
    let mut groups = vec![sure];
    while let Some(group) = groups.pop() {
        let mut rest = &group[..];
        while let Some(first) = rest.first() {
            let (begin, mut end): (Moment, Moment) = (first.put_by, first.take_from);
            let mut size = 1;
            while let Some(next) = rest.get(size).filter(|next| next.put_by < end) {
                end = end.max(next.take_from);
                size += 1;
            }
            let (component, others) = rest.split_at(size);
            rest = others;
            let below_all = |item: &&&Item| item.put_from <= begin && item.take_by >= end;
            let inner: Vec<&Item> = component.iter().filter(|item| !below_all(item)).copied().collect();
            if inner.len() == component.len() {
                let mut witness: Vec<usize> =
                    inner.iter().flat_map(|item| std::iter::once(item.put).chain(item.take)).collect();
                witness.sort_unstable();
                return Some(witness);
            }
            if inner.len() > 1 {
                groups.push(inner);
            }
        }
    }
    None
}
