//! From events to operations.

use super::super::{Assumed, Problem, Raw, Tuples};
use super::event::{Event, Kind};
use super::split;
use disttest_runtime::base::time::Nanos;
use disttest_runtime::history::Op;
use rustc_hash::FxHashMap;
use serde_json::Value;

/// Operations whose completion repeats their argument and says nothing more by it.
const WRITES: [&str; 10] =
    ["write", "put", "enqueue", "add", "append", "delete", "inc", "transfer", "acquire", "release"];

/// Of these, the ones whose completion may say nothing else.
const ONLY_REPEAT: [&str; 3] = ["write", "put", "enqueue"];

/// Threads stamp an event before they write it: times may be out of order by so much, in nanoseconds.
const JITTER: u64 = 1_000_000_000;

/// Operations of which some have not completed yet.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    raw: Raw,
    /// Of each process, its operation in flight.
    open: FxHashMap<u64, usize>,
    /// Events seen.
    seen: u64,
    /// The last event's index.
    index: Option<u64>,
    /// Indices between events that are not there, and the line behind the first gap.
    gaps: (u64, usize),
    /// The moment of the last event.
    now: Option<u64>,
    times: bool,
    assumed: Assumed,
}

impl Pairing {
    /// Takes the next event.
    pub(super) fn see(&mut self, event: Event) -> Result<(), Problem> {
        self.place(&event)?;
        let at = self.moment(&event)?;
        let Some(process) = event.process else {
            self.raw.skipped += 1;
            return Ok(());
        };
        match event.kind {
            Kind::Invoke => self.begin(event, process, at),
            kind => {
                let Some(open) = self.open.remove(&process) else {
                    let problem = format!(
                        "`{}` of process {process} without an invocation: a line is missing, or stands elsewhere",
                        kind.word()
                    );
                    return Err(Problem::at(event.line, problem));
                };
                self.end(event, open, at)
            }
        }
    }

    /// Indices rise, and all events have one or none has.
    fn place(&mut self, event: &Event) -> Result<(), Problem> {
        let refuse = |problem: String| Err(Problem::at(event.line, problem));
        match (self.index, event.index) {
            (Some(last), Some(index)) if index <= last => {
                return refuse(format!(
                    "index {index} stands behind index {last}: the events are not in their order, or told twice"
                ));
            }
            (Some(last), Some(index)) if index > last + 1 => {
                self.gaps.0 += index - last - 1;
                self.gaps.1 = if self.gaps.1 == 0 { event.line } else { self.gaps.1 };
            }
            (Some(_), None) => return refuse("`index` is missing, and events before have one".to_owned()),
            (None, Some(_)) if self.seen > 0 => {
                return refuse("`index` is there, and events before have none".to_owned());
            }
            _ => {}
        }
        self.index = event.index;
        Ok(())
    }

    /// When the event happened: after all before it, and at its time if that allows.
    fn moment(&mut self, event: &Event) -> Result<u64, Problem> {
        if self.seen == 0 {
            self.times = event.time.is_some();
        }
        let place = self.seen;
        self.seen += 1;
        let after = self.now.map_or(0, |now| now.saturating_add(1));
        let wanted = match (self.times, event.time) {
            (true, Some(time)) => {
                let back = after.saturating_sub(time);
                if event.index.is_none() && back > JITTER {
                    let problem =
                        format!("{} ms earlier than the events before it: somebody moved the lines", back / 1_000_000);
                    return Err(Problem::at(event.line, problem));
                }
                if back > 1 {
                    self.assumed.add("earlier than the event before it, taken in the order of the lines", event.line);
                }
                time
            }
            (true, None) => after,
            (false, _) => place,
        };
        let at = wanted.max(after);
        self.now = Some(at);
        Ok(at)
    }

    fn begin(&mut self, event: Event, process: u64, at: u64) -> Result<(), Problem> {
        if let Some(before) = self.open.insert(process, self.raw.ops.len()) {
            let line = self.raw.lines[before];
            let problem = format!(
                "process {process} invokes while its operation of line {line} is in flight: a completion is missing, \
                 or the invocation stands twice"
            );
            return Err(Problem::at(event.line, problem));
        }
        if event.unnamed {
            self.assumed.add(super::UNNAMED, event.line);
        }
        if event.f.is_none() {
            self.assumed.add("`f` is absent, taken as a `txn`", event.line);
        }
        self.raw.ops.push(Op {
            op_id: event.index.unwrap_or(self.seen - 1),
            process_id: process,
            invoke_ts: Nanos(at),
            complete_ts: None,
            op_type: event.f.unwrap_or_else(|| "txn".to_owned()),
            key: None,
            input: event.value,
            output: Value::Null,
            error: None,
            timeout_marker: true,
            node_seen: None,
            fault_epoch: None,
        });
        self.raw.lines.push(event.line);
        Ok(())
    }

    fn end(&mut self, event: Event, open: usize, at: u64) -> Result<(), Problem> {
        let op = &mut self.raw.ops[open];
        if event.f.as_ref().is_some_and(|f| *f != op.op_type) {
            let f = event.f.unwrap_or_default();
            let problem = format!("completes a `{f}`, and line {} invoked a `{}`", self.raw.lines[open], op.op_type);
            return Err(Problem::at(event.line, problem));
        }
        match event.kind {
            Kind::Info | Kind::Invoke => {
                op.error = event.error;
                return Ok(());
            }
            Kind::Fail => op.error = Some(event.error.unwrap_or_else(|| "fail".to_owned())),
            Kind::Ok => op.output = answer(op, event.value).map_err(|problem| Problem::at(event.line, problem))?,
        }
        op.complete_ts = Some(Nanos(at));
        op.timeout_marker = false;
        Ok(())
    }

    /// The operations.
    pub(super) fn finish(self, tuples: Tuples) -> Result<Raw, Problem> {
        let Pairing { mut raw, open, gaps, assumed, times, .. } = self;
        raw.assumed = assumed.sentences("event");
        raw.untimed = !times && !raw.ops.is_empty();
        if !open.is_empty() {
            let first = open.values().map(|at| raw.lines[*at]).min().unwrap_or_default();
            let count = open.len();
            raw.assumed.push(format!(
                "{count} operation{} never completed, taken as of unknown outcome (line {first} the first): the end \
                 of a run, or of a file that was cut off",
                if count == 1 { "" } else { "s" }
            ));
        }
        if gaps.0 > 0 {
            raw.assumed.push(format!(
                "{} event indices are not there (line {} stands behind the first gap): what these events were is not known \
                 to the check",
                gaps.0, gaps.1
            ));
        }
        split::keys(&mut raw, tuples)?;
        Ok(raw)
    }
}

/// What the value of an `ok` says beyond that of its invocation.
fn answer(op: &Op, value: Value) -> Result<Value, String> {
    let f = op.op_type.as_str();
    let repeats = value == op.input;
    match f {
        "cas" if repeats || value.is_null() => Ok(true.into()),
        _ if ONLY_REPEAT.contains(&f) && !repeats && !value.is_null() => {
            Err(format!("a `{f}` of {} was invoked, and {value} completed", op.input))
        }
        "cas" => Err(format!("a `cas` of {} was invoked, and {value} completed", op.input)),
        _ if WRITES.contains(&f) && repeats => Ok(Value::Null),
        _ => Ok(value),
    }
}
