//! Registers whose every value is written once: linearizability in O(n log n), without search.
//!
//! Gibbons and Korach, "Testing shared memories", SIAM J. Comput. 26(4), 1997. A write and the reads that saw its
//! value form a cluster; in any legal order a cluster is contiguous. A successful `cas` is the write of its cluster and
//! follows the cluster of the value it found at once: such clusters form a block, whose inner order is fixed. Blocks must
//! be ordered whole. Let `f` be the earliest completion and `s` the latest invocation in a block. Block A must come before
//! B when some operation of A completed before one of B began: `f(A) < s(B)`. There is no order exactly when the inner
//! order of a block contradicts time, or two blocks must each come before the other: their forward zones (`f < s`)
//! overlap, or a backward zone lies inside a forward one. The start value is a cluster whose write lies before all time.
//!
//! A `cas` that found another value changes nothing. Without an order of the others there is none; with one, each such
//! `cas` is put into it where the value is another. Where that fails, another order may do: the search has to decide.

use super::{Atom, Decision, RegisterCall, Timed};
use rustc_hash::FxHashMap;

/// Decides, when there are only reads, writes and `cas`, and no value is written twice, the start value included; `None`
/// also when only an order that it did not look for could do.
pub(super) fn decide(start: Atom, calls: &[Timed<RegisterCall>]) -> Option<Decision> {
    let mut clusters = Clusters::of_writes(start, calls)?;
    match clusters.place_all() {
        Err(bad) => Some(Decision::NotLinearizable(bad)),
        Ok(()) => clusters.decide(),
    }
}

/// A moment: 0 is before all time, `u64::MAX` never.
type Moment = u64;

fn invoked(call: &Timed<RegisterCall>) -> Moment {
    call.invoke.saturating_add(1)
}

fn completed(call: &Timed<RegisterCall>) -> Moment {
    call.complete.map_or(Moment::MAX, |at| at.saturating_add(1))
}

/// A write and the reads of its value. `write` is `None` for the start value.
struct Cluster {
    write: Option<usize>,
    /// The value that the write, a `cas`, found.
    from: Option<Atom>,
    reads: Vec<usize>,
    /// Something shows that it happened: its write completed, or a value was found that goes back to it.
    shown: bool,
    /// The cluster of the `cas` that found this value.
    next: Option<usize>,
}

/// Clusters in their order, with the zone of all their operations.
struct Block {
    clusters: Vec<usize>,
    /// Earliest completion, and whose.
    f: (Moment, Option<usize>),
    /// Latest invocation, and whose.
    s: (Moment, Option<usize>),
}

impl Block {
    fn is_forward(&self) -> bool {
        self.f.0 < self.s.0
    }
}

struct Clusters<'c> {
    calls: &'c [Timed<RegisterCall>],
    of_value: FxHashMap<Atom, usize>,
    all: Vec<Cluster>,
}

impl<'c> Clusters<'c> {
    fn of_writes(start: Atom, calls: &'c [Timed<RegisterCall>]) -> Option<Clusters<'c>> {
        let mut clusters = Clusters { calls, of_value: FxHashMap::default(), all: Vec::new() };
        clusters.add(start, None, None, true)?;
        for (index, call) in calls.iter().enumerate() {
            match call.call {
                RegisterCall::Write(value) => clusters.add(value, Some(index), None, call.complete.is_some())?,
                RegisterCall::Cas { from, to, done } if done != Some(false) => {
                    clusters.add(to, Some(index), Some(from), call.complete.is_some())?;
                }
                RegisterCall::Read(_) | RegisterCall::Cas { .. } => {}
                RegisterCall::Delete(_) => return None,
            }
        }
        Some(clusters)
    }

    fn add(&mut self, value: Atom, write: Option<usize>, from: Option<Atom>, shown: bool) -> Option<()> {
        if self.of_value.insert(value, self.all.len()).is_some() {
            return None;
        }
        self.all.push(Cluster { write, from, reads: Vec::new(), shown, next: None });
        Some(())
    }

    /// Puts each read to its write and each `cas` behind what it found; `Err` says which calls make that impossible.
    fn place_all(&mut self) -> Result<(), Vec<usize>> {
        for (index, call) in self.calls.iter().enumerate() {
            if let (RegisterCall::Read(Some(value)), Some(_)) = (&call.call, call.complete) {
                let cluster = *self.of_value.get(value).ok_or_else(|| vec![index])?;
                self.all[cluster].reads.push(index);
                self.all[cluster].shown = true;
            }
        }
        let mut open: Vec<usize> = (0..self.all.len()).filter(|at| self.all[*at].shown).collect();
        while let Some(at) = open.pop() {
            let Some(from) = self.all[at].from else { continue };
            let because = |more: Option<usize>| {
                let mut calls: Vec<usize> = self.all[at].write.into_iter().chain(more).collect();
                calls.extend(self.all[at].reads.first());
                calls
            };
            let before = *self.of_value.get(&from).ok_or_else(|| because(None))?;
            match self.all[before].next {
                // Two that found the one value.
                Some(next) if next != at => return Err(because(self.all[next].write)),
                Some(_) => continue,
                None => self.all[before].next = Some(at),
            }
            if !std::mem::replace(&mut self.all[before].shown, true) {
                open.push(before);
            }
        }
        Ok(())
    }

    fn decide(&self) -> Option<Decision> {
        let mut blocks = Vec::new();
        let mut placed = 0;
        for first in (0..self.all.len()).filter(|at| self.all[*at].shown && self.all[*at].from.is_none()) {
            match self.block(first) {
                Ok(block) => {
                    placed += block.clusters.len();
                    blocks.push(block);
                }
                Err(bad) => return Some(Decision::NotLinearizable(bad)),
            }
        }
        let shown = || self.all.iter().filter(|cluster| cluster.shown);
        if placed < shown().count() {
            // What is left found each other's values in a circle.
            let bad = shown().filter(|cluster| cluster.from.is_some()).filter_map(|cluster| cluster.write).collect();
            return Some(Decision::NotLinearizable(bad));
        }
        if let Some((a, b)) = conflict(&blocks) {
            return Some(Decision::NotLinearizable(self.witness([&blocks[a], &blocks[b]])));
        }
        self.with_refused(blocks).then_some(Decision::Linearizable)
    }

    /// The block that begins with a cluster, or two calls that contradict its order, with their writes.
    fn block(&self, first: usize) -> Result<Block, Vec<usize>> {
        let mut block = Block { clusters: Vec::new(), f: (Moment::MAX, None), s: (0, None) };
        if self.all[first].write.is_none() {
            block.f = (0, None);
        }
        let mut next = Some(first);
        while let Some(at) = next {
            let cluster = &self.all[at];
            let latest = block.s;
            let add = |block: &mut Block, index: usize, latest: (Moment, Option<usize>)| {
                let call = &self.calls[index];
                if completed(call) < latest.0 {
                    let writes = block.clusters.iter().chain([&at]).filter_map(|at| self.all[*at].write);
                    let mut bad: Vec<usize> = writes.chain(latest.1).chain([index]).collect();
                    bad.sort_unstable();
                    bad.dedup();
                    return Err(bad);
                }
                block.f = block.f.min((completed(call), Some(index)));
                block.s = block.s.max((invoked(call), Some(index)));
                Ok(())
            };
            let mut after_write = latest;
            if let Some(write) = cluster.write {
                add(&mut block, write, latest)?;
                after_write = latest.max((invoked(&self.calls[write]), Some(write)));
            }
            for read in &cluster.reads {
                add(&mut block, *read, after_write)?;
            }
            block.clusters.push(at);
            next = cluster.next;
        }
        Ok(block)
    }

    /// The writes of both blocks that their outermost operations go back to, and the four operations whose times conflict.
    fn witness(&self, blocks: [&Block; 2]) -> Vec<usize> {
        let mut ops: Vec<usize> = blocks.iter().flat_map(|block| [block.f.1, block.s.1]).flatten().collect();
        for block in blocks {
            let touched = |at: &usize| {
                let cluster = &self.all[*at];
                let is =
                    |op: &Option<usize>| op.is_some_and(|op| Some(op) == cluster.write || cluster.reads.contains(&op));
                is(&block.f.1) || is(&block.s.1)
            };
            let first = block.clusters.iter().position(&touched).unwrap_or(0);
            let last = block.clusters.iter().rposition(touched).unwrap_or(first);
            ops.extend(block.clusters[first..=last].iter().filter_map(|at| self.all[*at].write));
        }
        ops.sort_unstable();
        ops.dedup();
        ops
    }

    /// Orders the blocks and puts each `cas` that found another value into the order; false when one fits in nowhere.
    fn with_refused(&self, mut blocks: Vec<Block>) -> bool {
        let is_refused = |call: &Timed<RegisterCall>| {
            matches!(call.call, RegisterCall::Cas { done: Some(false), .. }) && call.complete.is_some()
        };
        let mut refused: Vec<usize> = (0..self.calls.len()).filter(|at| is_refused(&self.calls[*at])).collect();
        if refused.is_empty() {
            return true;
        }
        // If A must come before B, it does so in this order.
        blocks.sort_by_key(|block| (block.f.0.min(block.s.0), block.is_forward()));
        let mut order: Vec<usize> = Vec::new();
        // Places (numbers of operations before) at which a value is there.
        let mut places: FxHashMap<usize, (usize, usize)> = FxHashMap::default();
        for at in blocks.iter().flat_map(|block| &block.clusters) {
            let cluster = &self.all[*at];
            let begin = order.len() + usize::from(cluster.write.is_some());
            let mut reads = cluster.reads.clone();
            reads.sort_by_key(|read| self.calls[*read].invoke);
            order.extend(cluster.write.into_iter().chain(reads));
            places.insert(*at, (begin, order.len()));
        }
        let latest = running(order.iter().map(|at| invoked(&self.calls[*at])), Moment::max, 0);
        let mut earliest = running(order.iter().rev().map(|at| completed(&self.calls[*at])), Moment::min, Moment::MAX);
        earliest.reverse();
        refused.sort_by_key(|at| self.calls[*at].invoke);
        let mut done: Vec<(Moment, usize)> = Vec::new();
        refused.into_iter().all(|at| {
            let call = &self.calls[at];
            let RegisterCall::Cas { from, .. } = call.call else { return false };
            let first = earliest.partition_point(|earliest| *earliest < invoked(call));
            let last = latest.partition_point(|latest| *latest <= completed(call)).saturating_sub(1);
            let before = done.iter().filter(|(by, _)| *by < invoked(call)).map(|(_, place)| *place).max();
            let mut place = first.max(before.unwrap_or(0));
            if let Some((begin, end)) = self.of_value.get(&from).and_then(|at| places.get(at))
                && (*begin..=*end).contains(&place)
            {
                place = end + 1;
            }
            // Only the latest places matter to those that follow.
            done.retain(|(by, other)| *by >= invoked(call) || Some(*other) == before);
            done.push((completed(call), place));
            place <= last
        })
    }
}

/// `start`, and what `join` makes of it with each of `moments` in turn.
fn running(moments: impl Iterator<Item = Moment>, join: fn(Moment, Moment) -> Moment, start: Moment) -> Vec<Moment> {
    let mut all = vec![start];
    for moment in moments {
        all.push(join(all[all.len() - 1], moment));
    }
    all
}

/// Two blocks that must each come before the other.
fn conflict(blocks: &[Block]) -> Option<(usize, usize)> {
    let clash = |a: usize, b: usize| blocks[a].f.0 < blocks[b].s.0 && blocks[b].f.0 < blocks[a].s.0;
    let mut forward: Vec<usize> = (0..blocks.len()).filter(|at| blocks[*at].is_forward()).collect();
    forward.sort_by_key(|at| (blocks[*at].f.0, blocks[*at].s.0));
    // Sorted by their beginnings, disjoint neighbours mean that all are disjoint.
    if let Some(pair) = forward.windows(2).find(|pair| clash(pair[0], pair[1])) {
        return Some((pair[0], pair[1]));
    }
    (0..blocks.len()).filter(|at| !blocks[*at].is_forward()).find_map(|backward| {
        // Of disjoint forward zones that begin before `s`, only the last can reach beyond it.
        let after = forward.partition_point(|at| blocks[*at].f.0 < blocks[backward].s.0);
        let last = *forward[..after].last()?;
        clash(last, backward).then_some((last, backward))
    })
}
