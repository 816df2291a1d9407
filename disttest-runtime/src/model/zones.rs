//! Registers whose every value is written once: linearizability in O(n log n), without search.
//!
//! Gibbons and Korach, "Testing shared memories", SIAM J. Comput. 26(4), 1997. A write and the reads that saw its
//! value form a cluster; in any legal order a cluster is contiguous, so clusters must be ordered whole. Let `f` be the
//! earliest completion and `s` the latest invocation in a cluster. Cluster A must come before B when some operation of
//! A completed before one of B began: `f(A) < s(B)`. There is no order exactly when a read precedes its write, or two
//! clusters must each come before the other: their forward zones (`f < s`) overlap, or a backward zone lies inside a
//! forward one. The start value is a cluster whose write lies before all time.

use super::{Atom, Decision, RegisterCall, Timed};
use rustc_hash::FxHashMap;

/// Decides, when there are only reads and writes and no value is written twice, the start value included.
pub(super) fn decide(start: Atom, calls: &[Timed<RegisterCall>]) -> Option<Decision> {
    let mut clusters = Clusters::of_writes(start, calls)?;
    if let Some(bad) = clusters.add_reads(calls) {
        return Some(Decision::NotLinearizable(bad));
    }
    let conflict = clusters.conflict();
    Some(conflict.map_or(Decision::Linearizable, |(a, b)| Decision::NotLinearizable(clusters.witness(a, b))))
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
    write_invoked: Moment,
    /// Earliest completion, and whose.
    f: (Moment, Option<usize>),
    /// Latest invocation, and whose.
    s: (Moment, Option<usize>),
    /// Nothing shows that it happened: a write of unknown outcome that nobody read.
    moot: bool,
}

struct Clusters {
    of_value: FxHashMap<Atom, usize>,
    all: Vec<Cluster>,
}

impl Clusters {
    fn of_writes(start: Atom, calls: &[Timed<RegisterCall>]) -> Option<Clusters> {
        let mut clusters = Clusters { of_value: FxHashMap::default(), all: Vec::new() };
        clusters.of_value.insert(start, 0);
        clusters.all.push(Cluster { write: None, write_invoked: 0, f: (0, None), s: (0, None), moot: false });
        for (index, call) in calls.iter().enumerate() {
            match call.call {
                RegisterCall::Write(value) => {
                    if clusters.of_value.insert(value, clusters.all.len()).is_some() {
                        return None;
                    }
                    clusters.all.push(Cluster {
                        write: Some(index),
                        write_invoked: invoked(call),
                        f: (completed(call), Some(index)),
                        s: (invoked(call), Some(index)),
                        moot: call.complete.is_none(),
                    });
                }
                RegisterCall::Read(_) => {}
                RegisterCall::Delete(_) | RegisterCall::Cas { .. } => return None,
            }
        }
        Some(clusters)
    }

    /// Puts each read to its write; a read that can have none is returned, with its write if there is one.
    fn add_reads(&mut self, calls: &[Timed<RegisterCall>]) -> Option<Vec<usize>> {
        for (index, call) in calls.iter().enumerate() {
            let (RegisterCall::Read(Some(value)), Some(_)) = (&call.call, call.complete) else {
                continue;
            };
            let Some(&cluster) = self.of_value.get(value) else {
                return Some(vec![index]);
            };
            let cluster = &mut self.all[cluster];
            if completed(call) < cluster.write_invoked {
                return Some(cluster.write.into_iter().chain([index]).collect());
            }
            cluster.moot = false;
            cluster.f = cluster.f.min((completed(call), Some(index)));
            cluster.s = cluster.s.max((invoked(call), Some(index)));
        }
        None
    }

    /// Two clusters that must each come before the other.
    fn conflict(&self) -> Option<(usize, usize)> {
        let live = |index: &usize| !self.all[*index].moot;
        let is_forward = |index: &usize| self.all[*index].f.0 < self.all[*index].s.0;
        let mut forward: Vec<usize> = (0..self.all.len()).filter(live).filter(is_forward).collect();
        forward.sort_by_key(|index| (self.all[*index].f.0, self.all[*index].s.0));
        // Sorted by their beginnings, disjoint neighbours mean that all are disjoint.
        if let Some(pair) = forward.windows(2).find(|pair| self.must_precede_each_other(pair[0], pair[1])) {
            return Some((pair[0], pair[1]));
        }
        for backward in (0..self.all.len()).filter(live).filter(|index| !is_forward(index)) {
            // Of disjoint forward zones that begin before `s`, only the last can reach beyond it.
            let after = forward.partition_point(|index| self.all[*index].f.0 < self.all[backward].s.0);
            if let Some(&last) = forward[..after].last()
                && self.must_precede_each_other(last, backward)
            {
                return Some((last, backward));
            }
        }
        None
    }

    fn must_precede_each_other(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.all[a], &self.all[b]);
        a.f.0 < b.s.0 && b.f.0 < a.s.0
    }

    /// The writes of both clusters and the four operations whose times conflict.
    fn witness(&self, a: usize, b: usize) -> Vec<usize> {
        let (a, b) = (&self.all[a], &self.all[b]);
        let mut ops: Vec<usize> = [a.write, b.write, a.f.1, a.s.1, b.f.1, b.s.1].into_iter().flatten().collect();
        ops.sort_unstable();
        ops.dedup();
        ops
    }
}
