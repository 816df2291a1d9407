//! Queues whose every value is enqueued once: linearizability in O(n log n), without search.
//!
//! With all outcomes known, a history is not linearizable exactly when it shows one of four patterns (Henzinger, Sezgin
//! and Vafeiadis, "Aspect-oriented linearizability proofs", CONCUR 2013; Bouajjani, Emmi, Enea and Hamza, ICALP 2015): a
//! value is dequeued that was not enqueued before, or twice; a was enqueued before b, and b was dequeued before a, or a
//! never; a dequeue finds nothing although at every moment of it some value surely was there.
//!
//! Outcomes that are unknown: an enqueue whose value nobody dequeued never was. A value that was not dequeued stays,
//! unless it stands in the way: b, enqueued after it, was dequeued. Then a dequeue of unknown outcome must have taken it,
//! one that was invoked by the time the dequeue of b completed. The one that was invoked earliest is as good as any other
//! for any value, so that values in order of their deadlines take them in order of their invocations. Where dequeues that
//! found nothing leave a choice of which values were taken so, and neither taking all that could be nor as few as possible
//! settles it, the search has to decide.

use super::held::{Item, Items, Moment, NEVER, never_empty, never_found_empty, why_not_empty};
use super::{Atom, Decision, TakeCall, Timed};

/// Decides, when no value is enqueued twice and the queue is empty at the start.
pub(super) fn decide(start: &[Atom], calls: &[Timed<TakeCall>]) -> Option<Decision> {
    if !start.is_empty() {
        return None;
    }
    let items = match Items::of(calls) {
        Ok(items) => items,
        Err(decision) => return decision,
    };
    if let Some((a, b)) = overtaken(&items.all) {
        return Some(Decision::NotLinearizable(witness_of([a, b])));
    }
    let few = match remove(&items, false) {
        Ok(few) => few,
        Err(conflict) => return Some(Decision::NotLinearizable(conflict)),
    };
    let Some(blocked) = blocked(&items, &few, calls) else {
        return Some(Decision::Linearizable);
    };
    let may_go = |item: &Item| item.take.is_none() && (item.may_go.is_some() || !items.pool.is_empty());
    if !items.all.iter().any(may_go) {
        return Some(Decision::NotLinearizable(why_not_empty(blocked, &few, calls)));
    }
    if remove(&items, true).is_ok_and(|many| self::blocked(&items, &many, calls).is_none()) {
        return Some(Decision::Linearizable);
    }
    // If not even all that could be gone makes room, nothing does.
    let first = items.pool.first().copied();
    let gone = |item: &Item| match item.take {
        None => Item { take_from: item.may_go.into_iter().chain(first).min().unwrap_or(NEVER), ..*item },
        Some(_) => *item,
    };
    let all_gone: Vec<Item> = items.all.iter().map(gone).collect();
    let blocked = self::blocked(&items, &all_gone, calls)?;
    Some(Decision::NotLinearizable(why_not_empty(blocked, &all_gone, calls)))
}

fn blocked(items: &Items, removed: &[Item], calls: &[Timed<TakeCall>]) -> Option<usize> {
    if items.empties.is_empty() {
        return None;
    }
    never_found_empty(&items.empties, calls, &never_empty(removed))
}

/// Two values with known takes, of which the first was put before the second, and taken after it.
fn overtaken(items: &[Item]) -> Option<(&Item, &Item)> {
    let taken = || items.iter().filter(|item| item.take.is_some());
    let (mut early, mut late): (Vec<&Item>, Vec<&Item>) = (taken().collect(), taken().collect());
    early.sort_by_key(|item| item.put_by);
    late.sort_by_key(|item| item.put_from);
    let mut early = early.into_iter().peekable();
    let mut latest: Option<&Item> = None;
    late.into_iter().find_map(|b| {
        while let Some(a) = early.next_if(|a| a.put_by < b.put_from) {
            latest = latest.filter(|latest| latest.take_from >= a.take_from).or(Some(a));
        }
        latest.filter(|a| b.take_by < a.take_from).map(|a| (a, b))
    })
}

fn witness_of<'i>(items: impl IntoIterator<Item = &'i Item>) -> Vec<usize> {
    let mut witness: Vec<usize> =
        items.into_iter().flat_map(|item| std::iter::once(item.put).chain(item.take)).collect();
    witness.sort_unstable();
    witness.dedup();
    witness
}

/// The items with those removed that must be, or (`all`) also those that calls of unknown outcome may have taken for
/// sure; or the calls because of which that is impossible.
fn remove(items: &Items, all: bool) -> Result<Vec<Item>, Vec<usize>> {
    let mut removed = items.all.clone();
    if all {
        for item in removed.iter_mut().filter(|item| item.take.is_none()) {
            item.take_from = item.may_go.unwrap_or(NEVER);
        }
    }
    // By the time of their put: those that are gone, and (from the end) the one that was surely taken first.
    let mut gone: Vec<usize> =
        (0..removed.len()).filter(|at| removed[*at].take.is_some() || removed[*at].take_from != NEVER).collect();
    gone.sort_by_key(|at| removed[*at].put_from);
    let mut first: Vec<usize> = gone.clone();
    for at in (1..first.len()).rev() {
        if removed[first[at]].take_by < removed[first[at - 1]].take_by {
            first[at - 1] = first[at];
        }
    }
    let mut in_the_way: Vec<(Moment, usize, usize)> = Vec::new();
    for (at, item) in removed.iter().enumerate().filter(|(_, item)| item.take.is_none()) {
        let after = gone.partition_point(|other| removed[*other].put_from <= item.put_by);
        let Some(other) = first.get(after).copied() else { continue };
        let deadline = removed[other].take_by;
        match item.may_go {
            Some(since) if since <= deadline => {}
            _ => in_the_way.push((deadline, at, other)),
        }
    }
    let forced = |item: &Item| gone.last().is_some_and(|last| items.all[*last].put_from > item.put_by);
    for item in removed.iter_mut().filter(|item| item.take.is_none() && forced(item)) {
        item.take_from = item.may_go.unwrap_or(NEVER);
    }
    in_the_way.sort_unstable();
    for (rank, (deadline, at, _)) in in_the_way.iter().enumerate() {
        match items.pool.get(rank) {
            Some(since) if since <= deadline => removed[*at].take_from = *since,
            _ => {
                let pairs = in_the_way[..=rank].iter().flat_map(|(_, at, other)| [&items.all[*at], &items.all[*other]]);
                return Err(witness_of(pairs));
            }
        }
    }
    Ok(removed)
}
