//! Sets that only grow, read as a whole: linearizability in O(n log n) in the size of the history.
//!
//! Where elements are added once and never removed, reads of the whole set that can be ordered at all are ordered by
//! inclusion. That fixes for each operation a phase: reads that saw the same set share one, and an add lies between the
//! last read that did not see its element and the first that did. There is an order exactly when nothing completed
//! before something of an earlier phase began. An element that nobody saw is added after all reads; if the outcome of its
//! add is unknown, never.

use super::{Atom, Decision, SetCall, Timed};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Decides, when there are only adds of distinct elements that are not there at the start (without a telling answer, or
/// answering that the element was new) and reads of the whole set, at least one.
pub(super) fn decide(start: &[Atom], calls: &[Timed<SetCall>]) -> Option<Decision> {
    let mut adds: FxHashMap<Atom, usize> = FxHashMap::default();
    let mut reads: Vec<(usize, &Arc<[Atom]>)> = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        match &call.call {
            SetCall::Add(element, None | Some(true)) => {
                if adds.insert(*element, index).is_some() || start.contains(element) {
                    return None;
                }
            }
            SetCall::Read(Some(seen)) if call.complete.is_some() => reads.push((index, seen)),
            SetCall::Read(_) => {}
            SetCall::Add(..) | SetCall::Remove(..) | SetCall::Contains(..) => return None,
        }
    }
    if reads.is_empty() {
        return None;
    }
    reads.sort_by_key(|(index, seen)| (seen.len(), *index));
    // Phase 2p + 1 is that of the p-th distinct read, 2p lies before it.
    let mut phases: Vec<(usize, usize)> = Vec::new();
    let mut before: (&[Atom], Option<usize>) = (start, None);
    let mut phase = 1;
    for (index, seen) in reads {
        if **seen != *before.0 || before.1.is_none() {
            phase += 2;
            // What the read before saw, this one must see.
            let mut rest = before.0.iter().copied().peekable();
            for element in seen.iter() {
                if rest.next_if_eq(element).is_some() {
                    continue;
                }
                match adds.remove(element) {
                    Some(add) => phases.push((phase - 1, add)),
                    // Nobody added it, or an earlier read saw it and one between does not.
                    None => return Some(Decision::NotLinearizable(vec![index])),
                }
            }
            if rest.peek().is_some() {
                return Some(Decision::NotLinearizable(before.1.into_iter().chain([index]).collect()));
            }
            before = (seen, Some(index));
        }
        phases.push((phase, index));
    }
    let unseen = adds.into_values().filter(|add| calls[*add].complete.is_some());
    phases.extend(unseen.map(|add| (phase + 1, add)));
    phases.sort_unstable();
    Some(in_time(&phases, calls).map_or(Decision::Linearizable, |(a, b)| {
        let mut witness = vec![a, b];
        // An add out of place is wrong because of the reads that place it.
        let near = |at: &(usize, usize)| {
            at.0 % 2 == 1 && phases.iter().any(|(phase, op)| (*op == a || *op == b) && phase.abs_diff(at.0) == 1)
        };
        let mut last = None;
        for (phase, op) in phases.iter().filter(|at| near(at)) {
            if last.replace(*phase) != Some(*phase) {
                witness.push(*op);
            }
        }
        witness.sort_unstable();
        witness.dedup();
        Decision::NotLinearizable(witness)
    }))
}

/// Two calls of which the first, of a later phase, completed before the second, of an earlier one, began.
fn in_time(phases: &[(usize, usize)], calls: &[Timed<SetCall>]) -> Option<(usize, usize)> {
    // The latest to begin in all earlier phases, and in this one.
    let (mut earlier, mut current): (Option<usize>, Option<usize>) = (None, None);
    let mut at = 0;
    let later = |a: Option<usize>, b: usize| a.filter(|a| calls[*a].invoke >= calls[b].invoke).or(Some(b));
    for (phase, op) in phases {
        if *phase != at {
            at = *phase;
            earlier = current.map_or(earlier, |current| later(earlier, current));
            current = None;
        }
        if let Some(late) = earlier
            && calls[*op].complete.is_some_and(|complete| complete < calls[late].invoke)
        {
            return Some((*op, late));
        }
        current = later(current, *op);
    }
    None
}
