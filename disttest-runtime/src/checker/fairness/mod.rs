//! Fairness: no group of operations is served worse than the others (plan format, section 7, pattern 14).

mod figures;
#[cfg(test)]
mod tests;

pub use figures::Figures;

use super::conclusion::{Found, lacks, says_nothing};
use super::{Answer, Checker, Evidence, Limits, Outcome, Violation, recipe};
use crate::history::{History, Op};
use figures::Measured;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What groups operations (plan format, section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words of the plan format")]
pub enum Dimension {
    Tenant,
    Shard,
    Queue,
    Partition,
    Region,
    Priority,
    User,
    Table,
    WorkloadClass,
}

impl Dimension {
    fn word(self) -> &'static str {
        match self {
            Dimension::Tenant => "tenant",
            Dimension::Shard => "shard",
            Dimension::Queue => "queue",
            Dimension::Partition => "partition",
            Dimension::Region => "region",
            Dimension::Priority => "priority",
            Dimension::User => "user",
            Dimension::Table => "table",
            Dimension::WorkloadClass => "workload-class",
        }
    }
}

/// Code that finds the group of an operation.
type GroupOf = dyn for<'a> Fn(&'a Op) -> Option<Cow<'a, str>> + Send + Sync;

/// Where an operation says of which group it is.
#[derive(Clone, Serialize, Deserialize)]
enum Grouping {
    Key,
    KeyPrefix(char),
    Input(String),
    #[serde(skip)]
    Code(Arc<GroupOf>),
}

impl Grouping {
    fn of<'a>(&self, op: &'a Op) -> Option<Cow<'a, str>> {
        match self {
            Grouping::Key => op.key.as_deref().map(Cow::Borrowed),
            Grouping::KeyPrefix(separator) => {
                op.key.as_deref().and_then(|key| key.split_once(*separator)).map(|(head, _)| Cow::Borrowed(head))
            }
            Grouping::Input(field) => match op.input.get(field)? {
                serde_json::Value::String(text) => Some(Cow::Borrowed(text.as_str())),
                serde_json::Value::Null => None,
                other => Some(Cow::Owned(other.to_string())),
            },
            Grouping::Code(group) => group(op),
        }
    }
}

/// Checks the formulas of the plan format for each group: `worst_group_p99 / aggregate_p99 <= threshold`,
/// `min_group_throughput >= threshold`, `error_rate_by_group == 0`, `repeat_spread <= threshold`.
///
/// - **Latency** is the time from invocation to completion of an acknowledged operation. One that was never answered is
///   slower than any that was; a failed one has no latency (a quick refusal is no service).
/// - **Throughput** is acknowledged operations a second, over the time from the first invocation to the last event.
/// - **Errors** are operations that failed or were never answered. A `cas` that answers `false` did its work.
/// - **Repeats** are equal slices of that time ([`Fairness::repeat_spread`]); the spread of a group is the difference of
///   its largest and smallest p99 over its median p99.
///
/// Whatever the formulas, a group none of whose operations was acknowledged while others were served is starved: a
/// violation. A declared group without any operation was offered no load, and is unknown; so are less than two groups,
/// a group with too few samples ([`Fairness::at_least`]), and an operation without group.
///
/// Required: `invoke_ts`, `complete_ts`, and the field that names the group, on every operation. Witness: the group, the
/// figures of all groups, and operations that made the figure. Linear in operations and memory.
/// Source: plan format §7, pattern 14.
#[derive(Clone, Serialize, Deserialize)]
pub struct Fairness {
    dimension: Dimension,
    group: Grouping,
    declared: Vec<String>,
    least: usize,
    worst_p99: Option<f64>,
    throughput: Option<f64>,
    errors: bool,
    spread: Option<(usize, f64)>,
}

impl fmt::Debug for Fairness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fairness").field("dimension", &self.dimension).finish_non_exhaustive()
    }
}

impl Fairness {
    /// Groups by what `group` says of an operation. Add formulas: without any, every answer is unknown.
    pub fn by<F>(dimension: Dimension, group: F) -> Fairness
    where
        F: for<'a> Fn(&'a Op) -> Option<Cow<'a, str>> + Send + Sync + 'static,
    {
        Fairness::grouped(dimension, Grouping::Code(Arc::new(group)))
    }

    fn grouped(dimension: Dimension, group: Grouping) -> Fairness {
        Fairness {
            dimension,
            group,
            declared: Vec::new(),
            least: 100,
            worst_p99: None,
            throughput: None,
            errors: false,
            spread: None,
        }
    }

    /// Each key is a group.
    pub fn by_key(dimension: Dimension) -> Fairness {
        Fairness::grouped(dimension, Grouping::Key)
    }

    /// What stands before the first `separator` of a key is its group: `a` of `a/cart/7`.
    pub fn by_key_prefix(dimension: Dimension, separator: char) -> Fairness {
        Fairness::grouped(dimension, Grouping::KeyPrefix(separator))
    }

    /// The field of this name of the input is the group: `tenant` of `{"tenant": "a", …}`.
    pub fn by_input(dimension: Dimension, field: &str) -> Fairness {
        Fairness::grouped(dimension, Grouping::Input(field.to_owned()))
    }

    /// Groups that must be there: one without operations is unknown, not absent.
    pub fn groups<G: Into<String>>(mut self, groups: impl IntoIterator<Item = G>) -> Fairness {
        self.declared.extend(groups.into_iter().map(Into::into));
        self
    }

    /// Fewest samples of a group for a p99, in place of 100: with fewer the p99 is the maximum.
    pub fn at_least(mut self, samples: usize) -> Fairness {
        self.least = samples.max(1);
        self
    }

    /// `worst_group_p99 / aggregate_p99 <= at_most`.
    pub fn worst_p99_over_aggregate(mut self, at_most: f64) -> Fairness {
        self.worst_p99 = Some(at_most);
        self
    }

    /// `min_group_throughput >= at_least`, in acknowledged operations a second.
    pub fn min_throughput(mut self, at_least: f64) -> Fairness {
        self.throughput = Some(at_least);
        self
    }

    /// `error_rate_by_group == 0`.
    pub fn no_errors(mut self) -> Fairness {
        self.errors = true;
        self
    }

    /// `repeat_spread <= at_most` over `repeats` equal slices of the time (at least 2).
    pub fn repeat_spread(mut self, repeats: usize, at_most: f64) -> Fairness {
        self.spread = Some((repeats, at_most));
        self
    }

    /// The figures of each group, by name, for a report.
    pub fn figures(&self, history: &History) -> Vec<Figures> {
        Measured::of(history, &self.group, &self.declared, self.slices()).figures()
    }

    fn slices(&self) -> usize {
        self.spread.map_or(1, |(repeats, _)| repeats.clamp(1, 1_000))
    }

    /// What makes every answer unknown, whatever the history.
    fn misuse(&self) -> Option<String> {
        let thresholds = [self.worst_p99, self.throughput, self.spread.map(|(_, most)| most)];
        if thresholds.iter().flatten().any(|threshold| !threshold.is_finite() || *threshold <= 0.0) {
            return Some("a threshold is not a positive number".to_owned());
        }
        if self.spread.is_some_and(|(repeats, _)| !(2..=1_000).contains(&repeats)) {
            return Some("a spread needs 2 to 1,000 repeats".to_owned());
        }
        let none = thresholds.iter().all(Option::is_none) && !self.errors;
        none.then(|| "no formula is declared".to_owned())
    }
}

impl Checker for Fairness {
    fn name(&self) -> &str {
        "fairness"
    }

    fn cannot_detect(&self) -> Vec<String> {
        vec![
            format!("unfairness inside a {}: between its own members", self.dimension.word()),
            "unfairness that load did not provoke: groups were offered what the workload offered, not the same"
                .to_owned(),
            "wrong answers: only how fast and whether there was an answer".to_owned(),
            "time that operations waited before they were invoked (clients that wait for answers offer less load)"
                .to_owned(),
        ]
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("fairness", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        let mut bare = history.ops().iter().filter(|op| self.group.of(op).is_none());
        let what = format!("no {} can be told from it", self.dimension.word());
        let first = bare.next();
        first.map(|first| lacks(&what, first.op_id, 1 + bare.count() as u64)).into_iter().collect()
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut evidence = Evidence { recorded: history.ops().len() as u64, ..Evidence::default() };
        let outcome = self.judge(history, limits, &mut evidence);
        Answer { checker: self.name().to_owned(), model: None, outcome, evidence, cannot_detect: self.cannot_detect() }
    }
}

impl Fairness {
    fn judge(&self, history: &History, limits: &dyn Limits, evidence: &mut Evidence) -> Outcome {
        evidence.peak_bytes = evidence.recorded * 16;
        let stop = limits.exceeded(evidence.peak_bytes).map(|why| format!("stopped by {why}"));
        if let Some(why) = says_nothing(history).or_else(|| self.misuse()).or(stop) {
            return Outcome::Unknown { why };
        }
        let measured = Measured::of(history, &self.group, &self.declared, self.slices());
        evidence.consumed = measured.grouped;
        evidence.partitions = measured.groups.len() as u64;
        let mut found = Found::default();
        if let Some(first) = measured.bare {
            found.doubt(format!("operation {first} has no {}", self.dimension.word()));
        }
        if measured.groups.len() < 2 {
            found.doubt(format!("{} {}: nobody to be unfair to", measured.groups.len(), self.dimension.word()));
            return found.outcome();
        }
        if let Some(why) = limits.exceeded(evidence.peak_bytes) {
            return Outcome::Unknown { why: format!("stopped by {why}") };
        }
        let (table, aggregate) = (measured.figures(), measured.aggregate_p99());
        let judged = Judged { fairness: self, measured: &measured, table: &table, aggregate, history };
        judged.starved(&mut found);
        judged.errors(&mut found);
        judged.throughput(&mut found);
        judged.latency(&mut found);
        judged.spread(&mut found);
        evidence.fired = found.fired;
        found.outcome()
    }
}

/// What was measured, with what is asked of it.
struct Judged<'a> {
    fairness: &'a Fairness,
    measured: &'a Measured,
    table: &'a [Figures],
    aggregate: Option<u64>,
    history: &'a History,
}

/// Violations that come with operations as witness; each costs a walk over the history.
const WITNESSED: usize = 10;

impl Judged<'_> {
    fn violation(&self, anomaly: &str, of: &Figures, ops: Vec<u64>, what: String) -> Violation {
        let rows: Vec<String> = self.table.iter().take(10).map(Figures::to_string).collect();
        let more = self.table.len().saturating_sub(10);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let explanation = format!(
            "{} {}: {what}. Measured over {:.3} s: {}{more}. All together: p99 {}.",
            self.fairness.dimension.word(),
            of.group,
            self.measured.seconds(),
            rows.join("; "),
            figures::shown(self.aggregate),
        );
        Violation { anomaly: anomaly.to_owned(), key: Some(of.group.clone()), ops, explanation }
    }

    /// Up to five operations of the group of which `which` holds; none once enough violations have some.
    fn witness(&self, found: &Found, group: &str, which: impl Fn(&Op) -> bool) -> Vec<u64> {
        if found.violations.len() >= WITNESSED {
            return Vec::new();
        }
        let of_group = |op: &&Op| self.fairness.group.of(op).as_deref() == Some(group);
        self.history.ops().iter().filter(of_group).filter(|op| which(op)).take(5).map(|op| op.op_id).collect()
    }

    fn starved(&self, found: &mut Found) {
        for row in self.table {
            match (row.operations, row.acknowledged) {
                (0, _) => found.doubt(format!("{} has no operations: no load was offered", row.group)),
                (count, 0) => {
                    let what = format!("none of its {count} operations was acknowledged, and others were served");
                    let ops = self.witness(found, &row.group, |_| true);
                    found.violations.push(self.violation("starved-group", row, ops, what));
                }
                _ => {}
            }
            found.fired += u64::from(row.operations > 0);
        }
    }

    fn errors(&self, found: &mut Found) {
        for row in self.table.iter().filter(|row| self.fairness.errors && row.operations > 0) {
            found.fired += 1;
            if row.errors > 0 {
                let what = format!("{} of {} operations are errors, allowed is none", row.errors, row.operations);
                let ops = self.witness(found, &row.group, figures::is_error);
                found.violations.push(self.violation("group-errors", row, ops, what));
            }
        }
    }

    fn throughput(&self, found: &mut Found) {
        let Some(least) = self.fairness.throughput else { return };
        if self.measured.seconds() <= 0.0 {
            return found.doubt("the history takes no time: there is no rate");
        }
        for row in self.table.iter().filter(|row| row.operations > 0) {
            found.fired += 1;
            if row.per_second < least {
                let what = format!("{:.3} acknowledged operations/s are below {least}", row.per_second);
                found.violations.push(self.violation("group-throughput", row, Vec::new(), what));
            }
        }
    }

    /// True when a p99 of this group says something; a doubt otherwise.
    fn enough(&self, row: &Figures, samples: usize, what: &str, found: &mut Found) -> bool {
        let least = self.fairness.least;
        if samples < least && row.operations > 0 {
            found.doubt(format!("{} has {samples} latencies{what}, too few for a p99 (at least {least})", row.group));
        }
        samples >= least
    }

    fn latency(&self, found: &mut Found) {
        let Some(most) = self.fairness.worst_p99 else { return };
        let Some(aggregate) = self.aggregate.filter(|p99| *p99 > 0 && *p99 < figures::NEVER) else {
            return found.doubt("the p99 of all operations together is zero, or they were never answered: no ratio");
        };
        for row in self.table {
            let (true, Some(p99)) = (self.enough(row, row.latencies, "", found), row.p99) else { continue };
            found.fired += 1;
            let ratio = if p99 == figures::NEVER { f64::INFINITY } else { p99 as f64 / aggregate as f64 };
            if ratio > most {
                let what = format!("its p99 is {ratio:.3} times that of all together, allowed is {most}");
                let ops = self.witness(found, &row.group, |op| figures::latency(op).is_some_and(|it| it >= p99));
                found.violations.push(self.violation("worst-group-p99", row, ops, what));
            }
        }
    }

    fn spread(&self, found: &mut Found) {
        let Some((repeats, most)) = self.fairness.spread else { return };
        for (row, slices) in self.table.iter().zip(self.measured.slices()) {
            let enough = |(at, slice): (usize, &(usize, Option<u64>))| (slice.0, format!(" in repeat {}", at + 1));
            let sizes: Vec<(usize, String)> = slices.iter().enumerate().map(enough).collect();
            if !sizes.into_iter().all(|(count, place)| self.enough(row, count, &place, found)) {
                continue;
            }
            let mut p99s: Vec<u64> = slices.iter().filter_map(|(_, p99)| *p99).collect();
            p99s.sort_unstable();
            let (Some(low), Some(high)) = (p99s.first(), p99s.last()) else { continue };
            let middle = p99s[(p99s.len() - 1) / 2];
            if middle == 0 || middle == figures::NEVER {
                found.doubt(format!("the median p99 of {} is zero, or it was never answered: no spread", row.group));
                continue;
            }
            found.fired += 1;
            let spread = if *high == figures::NEVER { f64::INFINITY } else { (high - low) as f64 / middle as f64 };
            if spread > most {
                let shown: Vec<String> = slices.iter().map(|(_, p99)| figures::shown(*p99)).collect();
                let what = format!(
                    "its p99 over {repeats} repeats is {}, a spread of {spread:.3}, allowed is {most}",
                    shown.join(", ")
                );
                found.violations.push(self.violation("repeat-spread", row, Vec::new(), what));
            }
        }
    }
}
