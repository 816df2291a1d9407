//! A violation as an argument a person can check by hand.

use super::object::Object;
use super::shrink::core_ops;
use crate::base::time::Nanos;
use crate::checker::Violation;
use crate::history::access::Touch;
use crate::history::{Effect, Op, notation};
use crate::model::{Atoms, Model, Step};
use serde_json::Value;

/// Operations that one explanation lists, at most; the last are the telling ones.
const LISTED: usize = 20;

/// Sentences of one explanation, at most.
const SENTENCES: usize = 3;

/// The violation whose reason is `core` (indices into `object`).
pub(super) fn violation<M: Model>(
    model: &M,
    start: &M::State,
    object: &Object<'_, M>,
    core: &[usize],
    atoms: &mut Atoms,
) -> Violation {
    let ops = core_ops(object, core);
    let mut lines = vec![headline(object, ops.len())];
    let early = ops.len().saturating_sub(LISTED);
    if early > 0 {
        lines.push(format!("  … {early} earlier ones, then"));
    }
    lines.extend(ops[early..].iter().map(|op| format!("  {}", notation::line(op))));
    lines.extend(reasons(&ops, object.ops.as_slice()));
    if ops.len() <= 6 {
        lines.extend(dead_ends(model, start, &ops, atoms));
    }
    Violation {
        anomaly: "non-linearizable".to_owned(),
        key: object.key.map(str::to_owned),
        ops: ops.iter().map(|op| op.op_id).collect(),
        explanation: lines.join("\n"),
    }
}

fn headline<M: Model>(object: &Object<'_, M>, count: usize) -> String {
    let others = object.recorded.saturating_sub(count as u64);
    let (these, have) = if count == 1 { ("This operation", "has") } else { ("These operations", "have") };
    format!(
        "{these} on {} {have} no legal order, even if each of the {others} others may have taken effect at any time \
         after it began, or never (id, client, operation, [began..completed] in ns):",
        object.label()
    )
}

/// What each operation says of a value; nothing where it is no operation on a value.
pub(super) fn touches<'h>(all: &[&'h Op]) -> Vec<Option<Touch<'h>>> {
    all.iter().map(|op| Touch::of(op).ok()).collect()
}

/// Why single reads are impossible, where that can be said in a sentence; else what completed before what.
fn reasons(core: &[&Op], all: &[&Op]) -> Vec<String> {
    let touches = touches(all);
    // Sentences about who wrote what are true only where every operation is understood.
    let understood = touches.iter().all(Option::is_some);
    let told = core.iter().rev().filter(|_| understood).filter_map(|read| why_impossible(read, core, all, &touches));
    let told: Vec<String> = told.take(SENTENCES).collect();
    if !told.is_empty() {
        return told;
    }
    let mut order = Vec::new();
    for (at, early) in core.iter().enumerate() {
        for late in &core[at + 1..] {
            let between = core.iter().any(|op| before(early, op) && before(op, late));
            if before(early, late) && !between {
                order.push(format!("#{} completed before #{} began", early.op_id, late.op_id));
            }
        }
        if order.len() > LISTED {
            return Vec::new();
        }
    }
    if order.is_empty() || order.len() > LISTED { Vec::new() } else { vec![format!("{}.", order.join("; "))] }
}

/// The usual reason, if it holds for the read at `index`: after the last write of the value it saw had completed, and
/// before it began, another operation (the latest such) shows another value. That one, the writes and the read.
pub(super) fn overwritten(all: &[&Op], touches: &[Option<Touch<'_>>], index: usize) -> Option<Vec<usize>> {
    let read = all[index];
    let Some(Touch::Read(Some(value))) = touches[index] else {
        return None;
    };
    let written = |at: usize| touches[at].as_ref().and_then(Touch::written);
    let writers: Vec<usize> =
        (0..all.len()).filter(|at| written(*at) == Some(value) && !before(read, all[*at])).collect();
    let last = writers.iter().map(|at| all[*at].complete_ts.unwrap_or(Nanos(u64::MAX))).max();
    let shows_other = |at: &usize| {
        let op = all[*at];
        before(op, read)
            && last.is_none_or(|last| last < op.invoke_ts)
            && op.effect() == Effect::Acknowledged
            && touches[*at].as_ref().and_then(shown_by).is_some_and(|other| other != value)
    };
    let other = (0..all.len()).filter(shows_other).max_by_key(|at| all[*at].invoke_ts);
    let mut reason: Vec<usize> = match other {
        Some(other) => writers.into_iter().chain([other, index]).collect(),
        None if writers.is_empty() => vec![index],
        None => return None,
    };
    reason.sort_unstable();
    Some(reason)
}

fn before(early: &Op, late: &Op) -> bool {
    early.complete_ts.is_some_and(|complete| complete < late.invoke_ts)
}

fn why_impossible(read: &Op, core: &[&Op], all: &[&Op], touches: &[Option<Touch<'_>>]) -> Option<String> {
    let Ok(Touch::Read(Some(value))) = Touch::of(read) else {
        return None;
    };
    let saw = format!("Client {} read {value} (#{})", read.process_id, read.op_id);
    let writes = |touch: &Option<Touch<'_>>| touch.as_ref().and_then(Touch::written) == Some(value);
    let writers: Vec<&&Op> = all.iter().zip(touches).filter(|(_, touch)| writes(touch)).map(|(op, _)| op).collect();
    let in_time: Vec<&&&Op> = writers.iter().filter(|writer| !before(read, writer)).collect();
    if in_time.is_empty() && core.len() == 1 {
        return Some(match writers.first() {
            None => format!("{saw}, which nobody ever wrote."),
            Some(writer) => format!(
                "{saw}, which was first written by client {} (#{}), after the read had completed.",
                writer.process_id, writer.op_id
            ),
        });
    }
    // The latest operation that shows another value after the last write of this one and before the read.
    let shows_other = |op: &&&Op| {
        before(op, read)
            && shown(op).is_some_and(|other| other != value)
            && in_time.iter().all(|writer| before(writer, op))
    };
    let other = core.iter().filter(shows_other).max_by_key(|op| op.invoke_ts)?;
    let did = match Touch::of(other) {
        Ok(Touch::Read(_)) => "read of",
        Ok(Touch::Delete(_)) => "delete, leaving",
        _ => "write of",
    };
    let last = in_time.iter().max_by_key(|writer| writer.complete_ts);
    let nobody = match last {
        None => format!("nobody wrote {value} before the read completed"),
        Some(last) => format!(
            "nobody wrote {value} after that {}began: client {} wrote it last (#{}), completed at {}",
            if did == "read of" { "read " } else { "write " },
            last.process_id,
            last.op_id,
            last.complete_ts.map_or(0, |at| at.0)
        ),
    };
    Some(format!(
        "{saw} at [{}..{}] although client {}'s {did} {} (#{}) completed at {}, before the read began, and {nobody}.",
        read.invoke_ts.0,
        read.complete_ts.map_or(0, |at| at.0),
        other.process_id,
        shown(other).unwrap_or(&Value::Null),
        other.op_id,
        other.complete_ts.map_or(0, |at| at.0),
    ))
}

/// The value that was there when a completed operation took effect, or right after it.
fn shown(op: &Op) -> Option<&Value> {
    shown_by(&Touch::of(op).ok()?)
}

fn shown_by<'h>(touch: &Touch<'h>) -> Option<&'h Value> {
    match touch {
        Touch::Read(seen) => *seen,
        touch if touch.surely_writes() => touch.written(),
        _ => None,
    }
}

/// Every order of `core` alone, up to where it gets stuck; at most six.
fn dead_ends<M: Model>(model: &M, start: &M::State, core: &[&Op], atoms: &mut Atoms) -> Vec<String> {
    let calls: Option<Vec<M::Call>> = core.iter().map(|op| model.call(op, atoms).ok()).collect();
    let Some(calls) = calls else {
        return Vec::new();
    };
    let mut walk = Walk { model, core, calls, atoms, lines: Vec::new() };
    walk.go_on(start, &mut Vec::new());
    if walk.lines.len() > 6 {
        let more = walk.lines.len() - 6;
        walk.lines.truncate(6);
        walk.lines.push(format!("  … and {more} more"));
    }
    if !walk.lines.is_empty() {
        walk.lines.insert(0, "Orders of these alone:".to_owned());
    }
    walk.lines
}

struct Walk<'a, M: Model> {
    model: &'a M,
    core: &'a [&'a Op],
    calls: Vec<M::Call>,
    atoms: &'a Atoms,
    lines: Vec<String>,
}

impl<M: Model> Walk<'_, M> {
    fn go_on(&mut self, state: &M::State, taken: &mut Vec<usize>) {
        let left: Vec<usize> = (0..self.core.len()).filter(|op| !taken.contains(op)).collect();
        let can_be_next = |op: &usize| !left.iter().any(|other| before(self.core[*other], self.core[*op]));
        let candidates: Vec<usize> = left.iter().copied().filter(can_be_next).collect();
        let mut stuck = Vec::new();
        for op in candidates.iter().copied() {
            let next = match self.model.step(state, &self.calls[op]) {
                Step::Illegal => {
                    stuck.push(op);
                    continue;
                }
                Step::Unchanged => state.clone(),
                Step::To(next) => next,
            };
            taken.push(op);
            self.go_on(&next, taken);
            taken.pop();
        }
        if !stuck.is_empty() && stuck == candidates {
            self.lines.push(self.line(state, taken, &stuck));
        }
    }

    fn line(&self, state: &M::State, taken: &[usize], stuck: &[usize]) -> String {
        let ids =
            |ops: &[usize]| ops.iter().map(|op| format!("#{}", self.core[*op].op_id)).collect::<Vec<_>>().join(", ");
        let first = if taken.is_empty() { "at first".to_owned() } else { format!("after {}", ids(taken)) };
        let shown = self.model.show(state, self.atoms);
        let state = if shown.is_empty() { String::new() } else { format!(" the state is {shown}, and") };
        let cannot: Vec<String> = stuck
            .iter()
            .map(|op| format!("#{} ({}) cannot be next", self.core[*op].op_id, notation::short(self.core[*op])))
            .collect();
        format!("  {first}{state} {}", cannot.join(", "))
    }
}
