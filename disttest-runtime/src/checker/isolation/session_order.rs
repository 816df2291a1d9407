//! The orders that come from outside of the data: of each process, and of real time.

use super::graph::{Edges, Rel};
use crate::txn::{NONE, Status, Txns};

/// Each committed transaction before the next one of its process.
pub(super) fn process_edges(txns: &Txns, edges: &mut Edges) {
    let mut last = vec![NONE; txns.process_count()];
    for txn in txns.all().filter(|txn| txns.is_ok(*txn)) {
        let last = &mut last[txns.process(txn) as usize];
        if *last != NONE {
            edges.add(*last, txn, Rel::Process);
        }
        *last = txn;
    }
}

/// Each committed transaction before all that were invoked after it had completed: a chain of hubs, at most one an
/// invocation, so that there are about three edges a transaction whatever the concurrency. The hubs are the nodes from
/// the one returned on.
pub(super) fn realtime_edges(txns: &Txns, edges: &mut Edges) -> u32 {
    let mut first_hub = NONE;
    let (mut last_hub, mut completed): (u32, Vec<u32>) = (NONE, Vec::new());
    in_order(txns, txns.all(), |event| match event {
        Step::Completed(txn) => completed.push(txn),
        Step::Invoked(txn) => {
            if !completed.is_empty() {
                let hub = edges.hub();
                first_hub = first_hub.min(hub);
                if last_hub != NONE {
                    edges.add(last_hub, hub, Rel::Via);
                }
                completed.drain(..).for_each(|before| edges.add(before, hub, Rel::Realtime));
                last_hub = hub;
            }
            if last_hub != NONE {
                edges.add(last_hub, txn, Rel::Via);
            }
        }
    });
    first_hub
}

/// The transitive reduction of the order of real time among `members`: (before, after). `None` when it has more than
/// `most` edges.
pub(super) fn realtime_pairs(txns: &Txns, members: &[u32], most: usize) -> Option<Vec<(u32, u32)>> {
    let (mut pairs, mut frontier): (Vec<(u32, u32)>, Vec<u32>) = (Vec::new(), Vec::new());
    in_order(txns, members.iter().copied(), |event| match event {
        Step::Invoked(txn) if pairs.len() <= most => pairs.extend(frontier.iter().map(|before| (*before, txn))),
        Step::Invoked(_) => {}
        Step::Completed(txn) => {
            frontier.retain(|before| txns.completed(*before) > txns.invoked(txn));
            frontier.push(txn);
        }
    });
    (pairs.len() <= most).then_some(pairs)
}

/// What happens in real time, as far as it orders transactions.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// A transaction begins that committed or may have.
    Invoked(u32),
    /// A transaction commits.
    Completed(u32),
}

/// Calls `each` with what happened to `members` (rising), in the order of real time.
pub(super) fn in_order(txns: &Txns, members: impl Iterator<Item = u32> + Clone, mut each: impl FnMut(Step)) {
    let possible = members.filter(|txn| txns.status(*txn) != Status::Fail);
    let mut ends: Vec<u64> = possible
        .clone()
        .filter(|txn| txns.is_ok(*txn))
        .map(|txn| u64::from(txns.completed(txn)) << 32 | u64::from(txn))
        .collect();
    ends.sort_unstable();
    let mut ends = ends.into_iter().peekable();
    for txn in possible {
        while let Some(end) = ends.next_if(|end| (end >> 32) < u64::from(txns.invoked(txn))) {
            each(Step::Completed(end as u32));
        }
        each(Step::Invoked(txn));
    }
    ends.for_each(|end| each(Step::Completed(end as u32)));
}
