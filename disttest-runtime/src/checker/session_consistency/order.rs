//! Orders of writes that are demanded, and the cycles in them.

use super::super::Violation;
use super::super::work::{Work, told};
use super::Guarantee;
use super::by_value::{Span, end, reason};
use crate::history::Op;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Write `first` stands before write `then`, because of two operations of a session.
#[derive(Clone, Debug)]
pub(super) struct Demand {
    pub(super) first: u32,
    pub(super) then: u32,
    pub(super) guarantee: Guarantee,
    pub(super) ops: [u32; 2],
}

/// What time says of writes, and what sessions demand beyond it.
pub(super) struct Orders<'h> {
    ops: &'h [Op],
    spans: &'h [Span],
    real_time: bool,
    /// By key.
    demands: Vec<Vec<Demand>>,
    count: usize,
}

impl<'h> Orders<'h> {
    pub(super) fn new(ops: &'h [Op], spans: &'h [Span], real_time: bool) -> Orders<'h> {
        Orders { ops, spans, real_time, demands: Vec::new(), count: 0 }
    }

    pub(super) fn bytes(&self) -> usize {
        2 * self.count * size_of::<Demand>() + self.demands.capacity() * size_of::<Vec<Demand>>()
    }

    /// Time says that write `a` stands before write `b`.
    pub(super) fn is_before(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        self.spans[a].over < self.spans[b].begin && (self.real_time || self.ops[a].process_id == self.ops[b].process_id)
    }

    pub(super) fn demand(&mut self, key: u32, demand: Demand) {
        let key = key as usize;
        if key >= self.demands.len() {
            self.demands.resize_with(key + 1, Vec::new);
        }
        self.demands[key].push(demand);
        self.count += 1;
    }

    /// A violation for each key whose demands have a cycle.
    pub(super) fn find_cycles(mut self, work: &mut Work<'_>) {
        for mut demands in std::mem::take(&mut self.demands) {
            if !work.goes_on(|| self.bytes() + demands.len() * 100) {
                return;
            }
            let some = on_cycles(&demands);
            if some.is_empty() || Graph::new(&self, &some).cycle().is_none() {
                continue;
            }
            // The same with all of them: the shortest of the cycles that are looked at is told.
            demands.sort_by_key(|demand| (demand.first, demand.then));
            demands.dedup_by_key(|demand| (demand.first, demand.then));
            if let Some(cycle) = Graph::new(&self, &demands.iter().collect::<Vec<_>>()).cycle() {
                work.violates(|| self.violation(&cycle));
            }
        }
    }

    fn violation(&self, cycle: &[&Demand]) -> Violation {
        let ops = self.ops;
        let mut ids = Vec::new();
        let mut text = String::from("no order of the writes explains what sessions saw:");
        for (at, demand) in cycle.iter().enumerate() {
            let next = cycle[(at + 1) % cycle.len()];
            let (first, then) = (&ops[demand.first as usize], &ops[demand.then as usize]);
            text.push_str(&format!(" {} before {}, because {};", told(first), told(then), reason(ops, demand)));
            if next.first != demand.then {
                let following = told(&ops[next.first as usize]);
                text.push_str(&format!(" {} before {following}, because it had completed before;", told(then)));
            }
            ids.extend([demand.first, demand.ops[0], demand.ops[1], demand.then].map(|op| ops[op as usize].op_id));
        }
        text.push_str(" a contradiction.");
        let mut seen = rustc_hash::FxHashSet::default();
        ids.retain(|id| seen.insert(*id));
        let guarantee = cycle.iter().map(|demand| demand.guarantee).min().unwrap_or(Guarantee::MonotonicReads);
        let key = cycle.first().and_then(|demand| ops[demand.first as usize].key.clone());
        Violation { anomaly: guarantee.name().to_owned(), key, ops: ids, explanation: text }
    }
}

/// The demands that can lie on a cycle. Time, and the order of a session, go from writes that were invoked earlier to
/// later ones, so that a cycle goes back by demands. Those that do span stretches of the history, and a cycle stays within
/// stretches that overlap.
fn on_cycles(demands: &[Demand]) -> Vec<&Demand> {
    let back = demands.iter().filter(|demand| demand.then < demand.first);
    let mut stretches: Vec<(u32, u32)> = back.map(|demand| (demand.then, demand.first)).collect();
    stretches.sort_unstable();
    stretches.dedup_by(|next, last| {
        let overlap = next.0 <= last.1;
        if overlap {
            last.1 = last.1.max(next.1);
        }
        overlap
    });
    let within = |demand: &&Demand| {
        let (from, to) = (demand.first.min(demand.then), demand.first.max(demand.then));
        let at = stretches.partition_point(|stretch| stretch.0 <= from);
        at > 0 && to <= stretches[at - 1].1
    };
    if stretches.is_empty() { Vec::new() } else { demands.iter().filter(within).collect() }
}

/// The writes that demands speak of, and instants of time: a write that is over comes before an instant, instants come
/// one after another, and an instant comes before writes that begin later. Three edges a write say all that time says.
struct Graph<'d> {
    demands: &'d [&'d Demand],
    /// Edges by node: target and the demand, if it is one.
    edges: Vec<Vec<(u32, Option<u32>)>>,
}

impl<'d> Graph<'d> {
    fn new(orders: &Orders<'_>, demands: &'d [&'d Demand]) -> Graph<'d> {
        let ops = orders.ops;
        let group = |write: u32| if orders.real_time { 0 } else { ops[write as usize].process_id };
        let mut writes: Vec<u32> = demands.iter().flat_map(|demand| [demand.first, demand.then]).collect();
        writes.sort_unstable_by_key(|write| (group(*write), end(&ops[*write as usize]), *write));
        writes.dedup();
        let numbers: FxHashMap<u32, u32> = writes.iter().zip(0..).map(|(write, number)| (*write, number)).collect();
        let count = writes.len();
        let mut edges: Vec<Vec<(u32, Option<u32>)>> = vec![Vec::new(); count * 2];
        for (at, write) in writes.iter().enumerate() {
            // The instant behind write `at`, in the order in which writes were over, is node `count + at`.
            edges[at].push(((count + at) as u32, None));
            if at + 1 < count && group(writes[at + 1]) == group(*write) {
                edges[count + at].push(((count + at + 1) as u32, None));
            }
            let begins = ops[*write as usize].invoke_ts;
            let over =
                writes.partition_point(|other| (group(*other), end(&ops[*other as usize])) < (group(*write), begins));
            if over > 0 && group(writes[over - 1]) == group(*write) {
                edges[count + over - 1].push((at as u32, None));
            }
        }
        for (demand, number) in demands.iter().zip(0..) {
            edges[numbers[&demand.first] as usize].push((numbers[&demand.then], Some(number)));
        }
        Graph { demands, edges }
    }

    /// The demands of a short cycle, if there is one.
    fn cycle(&self) -> Option<Vec<&'d Demand>> {
        let mut incoming = vec![0_u32; self.edges.len()];
        for (to, _) in self.edges.iter().flatten() {
            incoming[*to as usize] += 1;
        }
        let mut free: Vec<u32> = (0..self.edges.len() as u32).filter(|node| incoming[*node as usize] == 0).collect();
        while let Some(node) = free.pop() {
            for (to, _) in &self.edges[node as usize] {
                incoming[*to as usize] -= 1;
                if incoming[*to as usize] == 0 {
                    free.push(*to);
                }
            }
        }
        // What is left lies on cycles or behind them; a few starts are enough for a short one.
        let left = (0..self.edges.len() as u32).filter(|node| incoming[*node as usize] > 0);
        let mut best: Option<Vec<&Demand>> = None;
        for (tries, node) in left.enumerate() {
            if tries >= 64 && best.is_some() {
                break;
            }
            if let Some(found) = self.back_to(node, &incoming)
                && best.as_ref().is_none_or(|best| found.len() < best.len())
            {
                best = Some(found);
            }
        }
        best
    }

    /// The demands on a shortest way from `start` back to it, among the nodes that are left.
    fn back_to(&self, start: u32, left: &[u32]) -> Option<Vec<&'d Demand>> {
        let mut came: FxHashMap<u32, (u32, Option<u32>)> = FxHashMap::default();
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for (to, demand) in &self.edges[node as usize] {
                if left[*to as usize] == 0 || came.contains_key(to) {
                    continue;
                }
                came.insert(*to, (node, *demand));
                if *to == start {
                    return Some(self.way(start, &came));
                }
                queue.push_back(*to);
            }
        }
        None
    }

    fn way(&self, start: u32, came: &FxHashMap<u32, (u32, Option<u32>)>) -> Vec<&'d Demand> {
        let mut demands = Vec::new();
        let mut node = start;
        loop {
            let (before, demand) = came[&node];
            demands.extend(demand.map(|demand| self.demands[demand as usize]));
            node = before;
            if node == start {
                demands.reverse();
                return demands;
            }
        }
    }
}
