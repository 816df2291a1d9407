//! Our own histories: JSON Lines of the twelve names, one operation a line.
//!
//! More lenient than the reader of a recorder's own file (`history::jsonl`): an absent name means null (format decision
//! D14), empty lines are skipped, and an operation that is marked as timed out and yet has a completion is taken as
//! timed out, as some recorders stamp the moment at which they gave up. All that is told.

use super::json::{self, Field, Strict};
use super::keys::Keys;
use super::lines::Lines;
use super::{Assumed, Pace, Problem, Raw, Stopped};
use disttest_runtime::base::time::Nanos;
use disttest_runtime::checker::Limits;
use disttest_runtime::history::Op;
use disttest_runtime::history::jsonl::NAMES;
use serde::Deserialize;
use serde_json::Value;
use std::io::BufRead;

/// Reads a history.
pub(super) fn read(text: impl BufRead, limits: &dyn Limits) -> Result<Raw, Stopped> {
    let (mut raw, mut pace) = (Raw::default(), Pace::new(limits));
    let (mut lines, mut keys) = (Lines::new(text), Keys::default());
    let (mut assumed, mut orders) = (Assumed::default(), Orders::default());
    while let Some((text, number)) = lines.next()? {
        pace.step()?;
        let line: Line = json::line(text, number)?;
        for name in line.absent() {
            assumed.add(&format!("`{name}` is absent, taken as null"), number);
        }
        let mut op = line.into_op(&mut keys, number).map_err(|problem| problem.showing(text))?;
        if op.timeout_marker && op.complete_ts.take().is_some() {
            assumed.add("marked as timed out and yet completed, taken as timed out", number);
        } else if !op.timeout_marker && op.complete_ts.is_none() {
            assumed.add("neither completed nor marked as timed out, taken as of unknown outcome", number);
        }
        orders.see(&op, number).map_err(|problem| problem.showing(text))?;
        raw.ops.push(op);
        raw.lines.push(number);
    }
    raw.assumed = assumed.sentences("operation");
    raw.assumed.extend(orders.gaps());
    Ok(raw)
}

/// A line as written. Names beyond the twelve are extensions, and are not read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line {
    op_id: Field<u64>,
    process_id: Field<u64>,
    invoke_ts: Field<Nanos>,
    complete_ts: Field<Nanos>,
    op_type: Field<String>,
    key: Field<Strict>,
    input: Field<Strict>,
    output: Field<Strict>,
    error: Field<String>,
    timeout_marker: Field<bool>,
    node_seen: Field<String>,
    fault_epoch: Field<u64>,
}

impl Line {
    fn absent(&self) -> impl Iterator<Item = &'static str> {
        let there = [
            self.op_id.present,
            self.process_id.present,
            self.invoke_ts.present,
            self.complete_ts.present,
            self.op_type.present,
            self.key.present,
            self.input.present,
            self.output.present,
            self.error.present,
            self.timeout_marker.present,
            self.node_seen.present,
            self.fault_epoch.present,
        ];
        NAMES.into_iter().zip(there).filter(|(_, there)| !there).map(|(name, _)| name)
    }

    fn into_op(self, keys: &mut Keys, number: usize) -> Result<Op, Problem> {
        fn need<T>(field: Field<T>, name: &str, number: usize) -> Result<T, Problem> {
            field.value.ok_or_else(|| Problem::at(number, format!("`{name}` is missing or null")))
        }
        let value = |field: Field<Strict>| field.value.unwrap_or_default().0;
        Ok(Op {
            op_id: need(self.op_id, "op_id", number)?,
            process_id: need(self.process_id, "process_id", number)?,
            invoke_ts: need(self.invoke_ts, "invoke_ts", number)?,
            complete_ts: self.complete_ts.value,
            op_type: need(self.op_type, "op_type", number)?,
            key: keys.text(&self.key.value.map_or(Value::Null, |key| key.0), number)?,
            input: value(self.input),
            output: value(self.output),
            error: self.error.value,
            timeout_marker: self.timeout_marker.value.unwrap_or(false),
            node_seen: self.node_seen.value,
            fault_epoch: self.fault_epoch.value,
        })
    }
}

/// The orders that the lines of a history may stand in: by invocation, by operation id, by completion. Lines that are
/// in none of them were moved, and nobody knows what else was done to them.
#[derive(Debug, Default)]
struct Orders {
    last_invoke: Nanos,
    last_id: Option<u64>,
    last_complete: Nanos,
    by_invoke: Broken,
    by_id: Broken,
    by_complete: Broken,
    /// Smallest and largest id, and how many there are.
    ids: Option<(u64, u64, u64)>,
}

/// The first line that is out of an order.
type Broken = Option<usize>;

impl Orders {
    fn see(&mut self, op: &Op, number: usize) -> Result<(), Problem> {
        let broken = |into: &mut Broken, is: bool| {
            if is {
                into.get_or_insert(number);
            }
        };
        broken(&mut self.by_invoke, op.invoke_ts < self.last_invoke);
        broken(&mut self.by_id, self.last_id.is_some_and(|last| op.op_id < last));
        broken(&mut self.by_complete, op.complete_ts.is_some_and(|at| at < self.last_complete));
        self.last_invoke = op.invoke_ts;
        self.last_id = Some(op.op_id);
        self.last_complete = op.complete_ts.unwrap_or(self.last_complete);
        let ids = self.ids.get_or_insert((op.op_id, op.op_id, 0));
        *ids = (ids.0.min(op.op_id), ids.1.max(op.op_id), ids.2 + 1);
        match (self.by_invoke, self.by_id, self.by_complete) {
            (Some(a), Some(b), Some(c)) => {
                let problem = format!(
                    "the lines are in no order: not by invocation (line {a}), nor by op_id (line {b}), nor by \
                     completion (line {c}); somebody moved them. If that is how it was recorded: \
                     jq -s -c 'sort_by(.invoke_ts)[]' FILE"
                );
                Err(Problem::at(number, problem))
            }
            _ => Ok(()),
        }
    }

    /// What is said of ids that are not there.
    fn gaps(&self) -> Option<String> {
        let (least, most, count) = self.ids?;
        let missing = (most - least).saturating_sub(count - 1);
        (missing > 0).then(|| {
            format!(
                "{missing} op_ids between {least} and {most} are not there: what these operations did is not known \
                 to the check"
            )
        })
    }
}
