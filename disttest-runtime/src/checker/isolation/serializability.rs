//! Serializability as a checker of scenarios: operations of type `txn` whose input and output are micro-operations.

use super::{IsolationAnswer, KeyOrder, Level, Model, Options, VersionOrder, check};
use crate::checker::{Answer, Checker, Limits, Outcome, recipe};
use crate::history::{Effect, History, Op};
use crate::txn::{Answer as Shown, Builder, Event, EventKind, EventMop, Txns, Value};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Checks transactions of a scenario.
///
/// An operation is a transaction: `op_type` is `txn`, `input` the micro-operations, `output` the same with what reads
/// showed: `["append", key, value]`, `["w", key, value]`, `["r", key, answer]`, where an answer is null, a list or a value.
/// Two operations of one process never overlap; a process goes on as a new one after an unknown outcome. Operations that
/// share a timestamp are taken as concurrent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serializability {
    options: Options,
}

impl Serializability {
    /// Lists, strictly serializable.
    pub fn list_append() -> Serializability {
        Serializability { options: Options::list_append() }
    }

    /// Registers, strictly serializable.
    pub fn register(assumed: KeyOrder) -> Serializability {
        Serializability { options: Options::register(assumed) }
    }

    /// The same with another consistency model to hold.
    #[must_use]
    pub fn at(self, level: Level) -> Serializability {
        Serializability { options: self.options.at(level) }
    }
}

impl Checker for Serializability {
    fn name(&self) -> &str {
        "serializability"
    }

    fn model(&self) -> Option<&str> {
        Some(match self.options.model {
            Model::ListAppend => "list-append",
            Model::Register(VersionOrder::Inferred(_)) => "rw-register",
            Model::Register(_) => "versioned-register",
        })
    }

    fn cannot_detect(&self) -> Vec<String> {
        super::cannot_detect(&self.options)
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("serializability", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        let mut problems: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for op in history.ops() {
            if let Err(problem) = micro_operations(op) {
                problems.entry(problem).or_insert((op.op_id, 0)).1 += 1;
            }
        }
        let say = |(problem, (first, count))| format!("operation {first} and {count} in all: {problem}");
        problems.into_iter().map(say).collect()
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let (outcome, evidence, cannot_detect) = match transactions(history) {
            Ok(txns) => {
                let IsolationAnswer { outcome, evidence, cannot_detect, .. } = check(&txns, &self.options, limits);
                (outcome, evidence, cannot_detect)
            }
            Err(why) => {
                let why = format!("the history does not fit: {why}");
                (Outcome::Unknown { why }, Default::default(), self.cannot_detect())
            }
        };
        let mut evidence = evidence;
        evidence.recorded = history.ops().len() as u64;
        Answer {
            checker: self.name().to_owned(),
            model: self.model().map(str::to_owned),
            outcome,
            evidence,
            cannot_detect,
        }
    }
}

/// The operations of type `txn` of `history` as transactions, named by operation ids; `Err` says which is none.
pub fn transactions(history: &History) -> Result<Txns, String> {
    // Invocations come before completions of the same instant, which makes them concurrent.
    let mut events: Vec<(u64, bool, usize)> = Vec::new();
    for (at, op) in history.ops().iter().enumerate() {
        events.push((op.invoke_ts.0, false, at));
        events.extend(op.complete_ts.map(|end| (end.0, true, at)));
    }
    events.sort_unstable();
    let mut builder = Builder::new();
    let mut lanes = Lanes::default();
    let mut ids: Vec<u64> = Vec::with_capacity(events.len());
    for (_, is_end, at) in events {
        let op = &history.ops()[at];
        let (asked, shown) = micro_operations(op).map_err(|problem| format!("operation {}: {problem}", op.op_id))?;
        let kind = match (is_end, op.effect()) {
            (false, _) => EventKind::Invoke,
            (true, Effect::Acknowledged) => EventKind::Ok,
            (true, Effect::Failed) => EventKind::Fail,
            (true, Effect::Unknown) => EventKind::Info,
        };
        let process = lanes.lane(op, is_end);
        let mops = if kind == EventKind::Ok { &shown } else { &asked };
        let event = Event { index: None, process, kind, mops };
        builder.event(&event).map_err(|refusal| format!("operation {}: {}", op.op_id, refusal.problem))?;
        ids.push(op.op_id);
    }
    Ok(builder.finish_named(ids))
}

/// Processes as the builder knows them: one whose operation has an unknown outcome goes on as a new one.
#[derive(Default)]
struct Lanes {
    /// The lane of each open operation.
    open: BTreeMap<u64, i64>,
    busy: BTreeSet<i64>,
    /// How often each process went on as a new one.
    turns: BTreeMap<u64, i64>,
}

impl Lanes {
    fn lane(&mut self, op: &Op, is_end: bool) -> i64 {
        if is_end {
            let lane = self.open.remove(&op.op_id).unwrap_or_default();
            self.busy.remove(&lane);
            return lane;
        }
        let turn = self.turns.entry(op.process_id).or_insert(0);
        // Lanes of later turns have numbers far from those of processes.
        let mut lane = (op.process_id as i64 & 0xffff_ffff) + *turn * (1 << 32);
        while !self.busy.insert(lane) {
            *turn += 1;
            lane += 1 << 32;
        }
        self.open.insert(op.op_id, lane);
        lane
    }
}

type Asked = Vec<EventMop>;

/// What `op` asked, and what it showed (when it was acknowledged).
fn micro_operations(op: &Op) -> Result<(Asked, Asked), String> {
    if op.op_type != "txn" {
        return Err(format!("`{}` is no `txn`", op.op_type));
    }
    let asked = list(&op.input).ok_or_else(|| "its input is no list of micro-operations".to_owned())?;
    if op.effect() != Effect::Acknowledged {
        return Ok((asked, Vec::new()));
    }
    let shown = list(&op.output).ok_or_else(|| "its output is no list of micro-operations".to_owned())?;
    Ok((asked, shown))
}

fn list(value: &serde_json::Value) -> Option<Vec<EventMop>> {
    value.as_array()?.iter().map(mop).collect()
}

fn mop(value: &serde_json::Value) -> Option<EventMop> {
    let [verb, key, argument] = value.as_array()?.as_slice() else { return None };
    let key = Value::of(key)?;
    match verb.as_str()? {
        "append" => Some(EventMop::Append(key, Value::of(argument)?)),
        "w" => Some(EventMop::Write(key, Value::of(argument)?)),
        "r" => {
            let shown = match argument {
                serde_json::Value::Null => Shown::Nil,
                serde_json::Value::Array(values) => {
                    Shown::List(values.iter().map(Value::of).collect::<Option<Vec<Value>>>()?)
                }
                value => Shown::Value(Value::of(value)?),
            };
            Some(EventMop::Read(key, shown))
        }
        _ => None,
    }
}
