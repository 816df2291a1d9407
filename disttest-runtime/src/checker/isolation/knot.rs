//! A knot: transactions that all reach each other, by themselves. Each pair is joined by one reason only.

use super::graph::{Edges, Graph, Rel};
use super::session_order::realtime_pairs;
use crate::txn::Txns;

/// One strongly connected component of the dependencies, with nodes of its own numbering.
#[derive(Clone, Debug)]
pub(super) struct Knot {
    /// The transaction of each node; nodes from its end on are hubs.
    pub(super) txns: Vec<u32>,
    /// The edges, one for each pair.
    pub(super) graph: Graph,
    /// The edges with all reasons for each pair.
    pub(super) with_all_reasons: Graph,
}

impl Knot {
    /// The knot of `members` (rising) in the whole graph, whose nodes from `clock` on are the hubs of real time.
    ///
    /// Real time is spelt out pair by pair, so that a pair that the data order as well counts as ordered by the data;
    /// where that is too much the hubs stay.
    ///
    /// Of several reasons for a pair, that of `first` counts, then the others in their order.
    pub(super) fn of(txns: &Txns, whole: &Graph, members: &[u32], clock: u32, first: Rel) -> Knot {
        let transactions = members.partition_point(|node| (*node as usize) < txns.len());
        let has_clock = members.last().is_some_and(|last| *last >= clock);
        let most = 64 * transactions + 10_000;
        let pairs = if has_clock { realtime_pairs(txns, &members[..transactions], most) } else { Some(Vec::new()) };
        let spelt_out = pairs.is_some();
        let local = |node: u32| members.binary_search(&node).ok().map(|at| at as u32);
        let mut list: Vec<(u32, u32, Rel)> = Vec::new();
        for (at, &node) in members.iter().enumerate().filter(|(_, node)| !spelt_out || **node < clock) {
            for (to, rel) in whole.from(node).filter(|(to, _)| !spelt_out || *to < clock) {
                list.extend(local(to).map(|to| (at as u32, to, rel)));
            }
        }
        for (before, after) in pairs.unwrap_or_default() {
            if let (Some(before), Some(after)) = (local(before), local(after)) {
                list.push((before, after, Rel::Realtime));
            }
        }
        list.sort_unstable_by_key(|(from, to, rel)| (*from, *to, *rel != first, *rel));
        list.dedup();
        let graph = |list: &[(u32, u32, Rel)]| {
            let mut edges = Edges::new(members.len() as u32);
            list.iter().for_each(|(from, to, rel)| edges.add(*from, *to, *rel));
            edges.graph()
        };
        let with_all_reasons = graph(&list);
        list.dedup_by_key(|(from, to, _)| (*from, *to));
        Knot { txns: members[..transactions].to_vec(), graph: graph(&list), with_all_reasons }
    }

    /// True when `node` is a hub.
    pub(super) fn is_hub(&self, node: u32) -> bool {
        node as usize >= self.txns.len()
    }
}
