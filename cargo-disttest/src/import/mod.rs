//! Histories from files: our own records, and the events that Jepsen and its relatives write.
//!
//! Formats: the twelve names of the plan format as JSON Lines or a JSON array (`fields`), Jepsen's events as either or as
//! EDN (`jepsen`); each plain, gzip or zstd. All are read as a stream; what is packed is told by its first bytes, the
//! format by the first value ([`format`]).
//!
//! What cannot have happened is refused with its place, never mended: a cut line, an id twice, a completion without an
//! invocation, lines that are in no order.

pub mod edn;
mod fields;
mod format;
mod jepsen;
mod json;
mod keys;
mod lines;
mod order;
mod problem;
mod source;
mod txns;

pub(crate) use format::{Format, InputFormat};
pub(crate) use problem::Problem;
pub(crate) use source::{Packing, STDIN};
pub(crate) use txns::read as read_txns;

use disttest_runtime::checker::Limits;
use disttest_runtime::history::{History, Op};
use disttest_runtime::txn::Txns;
use lines::Lines;
use std::collections::BTreeSet;
use std::io::BufRead;
use std::path::Path;

/// How a history is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The format; detected by default.
    pub format: InputFormat,
    /// Whether the values of Jepsen's events are `[key value]`.
    pub tuples: Tuples,
}

/// Whether a value `[k v]` is value `v` of key `k` (Jepsen's `independent`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tuples {
    /// When every value is such a pair and the invocation of every read is `[k nil]`, which no other history shows.
    #[default]
    Detect,
    /// Yes; a value that is no pair is refused.
    Always,
    /// No: it is a value.
    Never,
}

/// What was recorded.
#[derive(Debug)]
pub(crate) enum Body {
    /// Operations.
    Ops {
        /// They.
        history: History,
        /// Line of each (of its invocation), by operation id.
        lines: Vec<(u64, usize)>,
    },
    /// Transactions.
    Txns(Box<Txns>),
}

/// A history, and what had to be said while it was read.
#[derive(Debug)]
pub(crate) struct Imported {
    /// What was recorded.
    pub body: Body,
    /// What it was read from.
    pub format: Format,
    /// How that was packed.
    pub packing: Packing,
    /// Events that were no operation of a client.
    pub skipped: usize,
    /// Its times are places in an order, not times of a clock.
    pub untimed: bool,
    /// What was absent or doubtful, and what was assumed: one sentence each.
    pub assumed: Vec<String>,
}

impl Imported {
    /// How many operations there are.
    pub(crate) fn len(&self) -> usize {
        match &self.body {
            Body::Ops { history, .. } => history.ops().len(),
            Body::Txns(txns) => txns.len(),
        }
    }

    /// The operations with these ids, in the order in which they began. Linear in the history.
    pub(crate) fn ops(&self, ids: &[u64]) -> Vec<Op> {
        let ids: BTreeSet<u64> = ids.iter().copied().collect();
        match &self.body {
            Body::Ops { history, .. } => history.ops().iter().filter(|op| ids.contains(&op.op_id)).cloned().collect(),
            Body::Txns(txns) => {
                let of = txns.all().filter(|txn| ids.contains(&txns.index(*txn)));
                of.map(|txn| txns::operation(txns, txn)).collect()
            }
        }
    }

    /// Up to `most` other operations on the objects of `witness` that were in flight while it was, and a quarter as many
    /// of unknown outcome; the last ones, which are closest to what went wrong. Cycles of transactions have no neighbours.
    pub(crate) fn near(&self, witness: &[Op], most: usize) -> Vec<Op> {
        let Body::Ops { history, .. } = &self.body else { return Vec::new() };
        let ids: BTreeSet<u64> = witness.iter().map(|op| op.op_id).collect();
        let keys: BTreeSet<Option<&str>> = witness.iter().map(|op| op.key.as_deref()).collect();
        let from = witness.iter().map(|op| op.invoke_ts).min().unwrap_or_default();
        let to = witness.iter().map(|op| op.complete_ts.unwrap_or(op.invoke_ts)).max().unwrap_or_default();
        let near = |op: &&Op| {
            !ids.contains(&op.op_id)
                && keys.contains(&op.key.as_deref())
                && op.invoke_ts <= to
                && op.complete_ts.is_none_or(|at| at >= from)
        };
        // What is pending forever stands beside everything, and tells little.
        let (ended, pending): (Vec<&Op>, Vec<&Op>) =
            history.ops().iter().rev().filter(near).partition(|op| op.complete_ts.is_some());
        ended.into_iter().take(most).chain(pending.into_iter().take(most / 4)).cloned().collect()
    }

    /// The line of an operation.
    pub(crate) fn line(&self, op_id: u64) -> Option<usize> {
        let Body::Ops { lines, .. } = &self.body else { return None };
        lines.binary_search_by_key(&op_id, |(id, _)| *id).ok().map(|at| lines[at].1)
    }

    /// The operations, when that is what was read.
    #[cfg(test)]
    fn history(&self) -> &History {
        match &self.body {
            Body::Ops { history, .. } => history,
            Body::Txns(_) => panic!("transactions"),
        }
    }
}

/// Why there is no history.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// It cannot be read, or cannot be.
    Refused(Problem),
    /// Reading it takes more than was allowed: this limit.
    Limit(String),
}

impl From<Problem> for Stopped {
    fn from(problem: Problem) -> Stopped {
        Stopped::Refused(problem)
    }
}

/// Operations and what was seen beside them, as a reader of one format gives them.
#[derive(Debug, Default)]
struct Raw {
    ops: Vec<Op>,
    lines: Vec<usize>,
    skipped: usize,
    untimed: bool,
    assumed: Vec<String>,
}

/// Reads the history `name`: a file, or `-` for standard input.
pub(crate) fn read(name: &Path, reading: Reading, limits: &dyn Limits) -> Result<Imported, Stopped> {
    let (bytes, packing) = source::open(name)?;
    read_from(bytes, packing, reading, limits)
}

fn read_from(
    bytes: Box<dyn BufRead>,
    packing: Packing,
    reading: Reading,
    limits: &dyn Limits,
) -> Result<Imported, Stopped> {
    let (format, bytes) = format::detect(bytes, reading.format)?;
    let Some(format) = format else {
        return finish(Raw::default(), Format::Jsonl, packing);
    };
    let raw = match format {
        Format::Jsonl => fields::read(Lines::new(bytes), limits)?,
        Format::Json => fields::read(Lines::of_array(bytes), limits)?,
        Format::JepsenJsonl | Format::JepsenJson | Format::Edn => jepsen::read(format, bytes, reading.tuples, limits)?,
    };
    finish(raw, format, packing)
}

fn finish(raw: Raw, format: Format, packing: Packing) -> Result<Imported, Stopped> {
    let Raw { ops, lines, skipped, untimed, assumed } = raw;
    let mut lines: Vec<(u64, usize)> = ops.iter().map(|op| op.op_id).zip(lines).collect();
    lines.sort_unstable();
    if let Some(pair) = lines.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let problem = format!("operation {} was told before, at line {}: an id is used once", pair[1].0, pair[0].1);
        return Err(Problem::at(pair[1].1, problem).into());
    }
    let history = History::new(ops).map_err(|error| {
        let line = error.op_id.and_then(|id| lines.binary_search_by_key(&id, |(id, _)| *id).ok());
        let problem = match error.op_id {
            Some(id) => format!("operation {id} {}", error.problem),
            None => error.problem,
        };
        Problem { line: line.map(|at| lines[at].1), ..Problem::new(problem) }
    })?;
    let mut assumed = assumed;
    order::look(&history, &lines, &mut assumed)?;
    Ok(Imported { body: Body::Ops { history, lines }, format, packing, skipped, untimed, assumed })
}

/// Counts what was assumed, in the order in which it was first seen.
#[derive(Debug, Default)]
struct Assumed(Vec<(String, usize, usize)>);

impl Assumed {
    fn add(&mut self, what: &str, line: usize) {
        match self.0.iter_mut().find(|(known, ..)| known == what) {
            Some((_, count, _)) => *count += 1,
            None => self.0.push((what.to_owned(), 1, line)),
        }
    }

    fn sentences(self, of: &str) -> Vec<String> {
        let sentence = |(what, count, line): (String, usize, usize)| {
            format!("{count} {of}{}: {what} (line {line} the first)", if count == 1 { "" } else { "s" })
        };
        self.0.into_iter().map(sentence).collect()
    }
}

/// Asks the limits now and then.
struct Pace<'l> {
    limits: &'l dyn Limits,
    seen: usize,
}

impl Pace<'_> {
    fn new(limits: &dyn Limits) -> Pace<'_> {
        Pace { limits, seen: 0 }
    }

    fn step(&mut self) -> Result<(), Stopped> {
        self.seen += 1;
        if self.seen.is_multiple_of(1024)
            && let Some(limit) = self.limits.exceeded(0)
        {
            return Err(Stopped::Limit(limit));
        }
        Ok(())
    }
}
