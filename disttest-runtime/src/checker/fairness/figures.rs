//! What was measured of each group.

use super::super::Percentile;
use super::Grouping;
use crate::history::{Effect, History, Op};
use rustc_hash::FxHashMap;
use std::fmt;

/// The latency of an operation that was never answered: above any that was.
pub(super) const NEVER: u64 = u64::MAX;

/// What was measured of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Its name.
    pub group: String,
    /// Operations.
    pub operations: u64,
    /// Of these, acknowledged.
    pub acknowledged: u64,
    /// Of these, failed or never answered.
    pub errors: u64,
    /// Latencies, of operations never answered among them.
    pub latencies: usize,
    /// Their p99 in nanoseconds; `u64::MAX` when it is one that was never answered.
    pub p99: Option<u64>,
    /// Acknowledged operations a second.
    pub per_second: f64,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { group, operations, acknowledged, errors, per_second, .. } = self;
        let p99 = shown(self.p99);
        write!(f, "{group}: {acknowledged} of {operations} acknowledged, {errors} errors, {per_second:.3}/s, p99 {p99}")
    }
}

/// A latency in words.
pub(super) fn shown(latency: Option<u64>) -> String {
    match latency {
        None => "none".to_owned(),
        Some(NEVER) => "never answered".to_owned(),
        Some(nanos) => format!("{} ns", nanos),
    }
}

/// How long `op` took; `None` when it failed.
pub(super) fn latency(op: &Op) -> Option<u64> {
    match op.effect() {
        // At most NEVER - 1: this one was answered.
        Effect::Acknowledged => Some(op.complete_ts?.0.saturating_sub(op.invoke_ts.0).min(NEVER - 1)),
        Effect::Unknown => Some(NEVER),
        Effect::Failed if refused(op) => Some(op.complete_ts?.0.saturating_sub(op.invoke_ts.0).min(NEVER - 1)),
        Effect::Failed => None,
    }
}

/// A `cas` that answered `false` did its work.
fn refused(op: &Op) -> bool {
    op.op_type == "cas" && op.output.as_bool() == Some(false)
}

/// True when the operation failed or was never answered.
pub(super) fn is_error(op: &Op) -> bool {
    op.effect() != Effect::Acknowledged && !refused(op)
}

#[derive(Debug, Default)]
pub(super) struct Group {
    name: String,
    operations: u64,
    acknowledged: u64,
    errors: u64,
    /// (invocation, latency), by invocation.
    latencies: Vec<(u64, u64)>,
}

/// All groups of a history.
#[derive(Debug)]
pub(super) struct Measured {
    /// By name.
    pub(super) groups: Vec<Group>,
    /// Operations that have a group.
    pub(super) grouped: u64,
    /// The first operation without.
    pub(super) bare: Option<u64>,
    from: u64,
    to: u64,
    slices: usize,
}

impl Measured {
    /// Measures `history`, in linear time and sixteen bytes an operation.
    pub(super) fn of(history: &History, grouping: &Grouping, declared: &[String], slices: usize) -> Measured {
        let mut groups: Vec<Group> = Vec::new();
        let mut known: FxHashMap<String, usize> = FxHashMap::default();
        for name in declared {
            index(&mut groups, &mut known, name);
        }
        let (mut grouped, mut bare, mut from, mut to) = (0, None, u64::MAX, 0);
        for op in history.ops() {
            from = from.min(op.invoke_ts.0);
            to = to.max(op.complete_ts.map_or(op.invoke_ts.0, |at| at.0));
            let Some(name) = grouping.of(op) else {
                bare = bare.or(Some(op.op_id));
                continue;
            };
            grouped += 1;
            let at = index(&mut groups, &mut known, &name);
            let group = &mut groups[at];
            group.operations += 1;
            group.acknowledged += u64::from(!is_error(op));
            group.errors += u64::from(is_error(op));
            if let Some(latency) = latency(op) {
                group.latencies.push((op.invoke_ts.0, latency));
            }
        }
        groups.sort_by(|a, b| a.name.cmp(&b.name));
        Measured { groups, grouped, bare, from: from.min(to), to, slices }
    }

    pub(super) fn seconds(&self) -> f64 {
        (self.to - self.from) as f64 / 1e9
    }

    /// The figures of each group.
    pub(super) fn figures(&self) -> Vec<Figures> {
        let seconds = self.seconds();
        let of = |group: &Group| Figures {
            group: group.name.clone(),
            operations: group.operations,
            acknowledged: group.acknowledged,
            errors: group.errors,
            latencies: group.latencies.len(),
            p99: p99(group.latencies.iter()),
            per_second: if seconds > 0.0 { group.acknowledged as f64 / seconds } else { 0.0 },
        };
        self.groups.iter().map(of).collect()
    }

    /// The p99 of all groups together.
    pub(super) fn aggregate_p99(&self) -> Option<u64> {
        p99(self.groups.iter().flat_map(|group| &group.latencies))
    }

    /// Of each group, in each slice: how many latencies, and their p99.
    pub(super) fn slices(&self) -> impl Iterator<Item = Vec<(usize, Option<u64>)>> + '_ {
        self.groups.iter().map(|group| {
            // By invocation, so that a slice is a stretch of them.
            let mut rest = group.latencies.as_slice();
            let slices = (0..self.slices).map(|slice| {
                let (these, later) = rest.split_at(rest.partition_point(|sample| self.slice(sample.0) <= slice));
                rest = later;
                (these.len(), p99(these.iter()))
            });
            slices.collect()
        })
    }

    fn slice(&self, at: u64) -> usize {
        let (width, into) = (u128::from(self.to - self.from) + 1, u128::from(at.saturating_sub(self.from)));
        ((into * self.slices as u128 / width) as usize).min(self.slices - 1)
    }
}

fn index(groups: &mut Vec<Group>, known: &mut FxHashMap<String, usize>, name: &str) -> usize {
    if let Some(at) = known.get(name) {
        return *at;
    }
    known.insert(name.to_owned(), groups.len());
    groups.push(Group { name: name.to_owned(), ..Group::default() });
    groups.len() - 1
}

fn p99<'a>(samples: impl Iterator<Item = &'a (u64, u64)>) -> Option<u64> {
    let mut latencies: Vec<u64> = samples.map(|(_, latency)| *latency).collect();
    Percentile::P99.of(&mut latencies)
}
