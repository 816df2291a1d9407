//! Guarantees by distinct values: is there an order of each key's writes that explains what sessions saw?
//!
//! Each guarantee asks that one write stands before another: of a session's write and what it reads later, of what it
//! reads first and what it reads later, of what it reads and what it writes later. Real time (or the order of a session)
//! asks the same of writes that completed and writes that began later. Some order of the writes satisfies all of them
//! exactly when they have no cycle. Most demands agree with time and need not be kept; one that contradicts time is a
//! cycle by itself; only those between concurrent writes make a graph.

use super::super::pairs::Pairs;
use super::super::places::Places;
use super::super::settling::Settling;
use super::super::work::{Work, told};
use super::super::{Limits, Violation};
use super::order::{Demand, Orders};
use super::{Guarantee, Keys, SessionConsistency, is_read};
use crate::base::time::Nanos;
use crate::history::access::Touch;
use crate::history::{Effect, History, Op};
use serde_json::Value;

/// What there was before every write.
const START: u32 = u32::MAX;
/// More than one operation wrote it.
const SEVERAL: u32 = u32::MAX - 1;
/// No operation wrote it.
const NOBODY: u32 = u32::MAX;

/// An operation of a session and the write that it made or showed (as index into the history).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    op: u32,
    write: u32,
}

/// Steps of a session on a key: those that completed and were not followed by another one are the last ones.
#[derive(Default)]
struct Steps {
    settling: Settling<Step>,
    last: Vec<Step>,
    latest_invoke: Nanos,
}

#[derive(Default)]
struct Place {
    reads: Steps,
    writes: Steps,
    told: [bool; 4],
}

impl Steps {
    /// The last steps that had completed before `op` began. Without `chained` steps stay until time says what they
    /// would demand.
    fn before(&mut self, op: &Op, spans: &[Span], chained: bool, real_time: bool) -> &[Step] {
        while let Some((_, step)) = self.settling.before(op.invoke_ts) {
            self.latest_invoke = self.latest_invoke.max(spans[step.op as usize].begin);
            let latest = self.latest_invoke;
            let stays = |last: &Step| {
                if chained {
                    spans[last.op as usize].over >= latest
                } else {
                    last.write != step.write && !(real_time && is_over(spans, last.write, op))
                }
            };
            self.last.retain(stays);
            self.last.push(step);
        }
        &self.last
    }
}

/// When an operation began, and when it was over for sure. These are looked up here and there, where whole operations
/// would be far apart.
pub(super) struct Span {
    pub(super) begin: Nanos,
    pub(super) over: Nanos,
}

fn is_over(spans: &[Span], write: u32, op: &Op) -> bool {
    write == START || spans[write as usize].over < op.invoke_ts
}

/// When a write was over; never, if its outcome is unknown.
pub(super) fn end(op: &Op) -> Nanos {
    op.complete_ts.filter(|_| op.effect() == Effect::Acknowledged).unwrap_or(Nanos(u64::MAX))
}

pub(super) fn work<'h, 'l>(
    checker: &SessionConsistency,
    real_time: bool,
    history: &'h History,
    limits: &'l dyn Limits,
) -> (Work<'l>, Keys<'h>) {
    let mut work = Work::new(history, limits);
    let mut keys = Keys::default();
    let ops = history.ops();
    let Some(noted) = Noted::of(ops, &mut work, &mut keys) else { return (work, keys) };
    if checker.has(Guarantee::MonotonicWrites)
        && let Some(write) = ops.iter().find(|op| !is_read(op))
    {
        work.lacks(write, "monotonic writes need the system's versions in the outputs of writes".to_owned());
    }
    let mut places: Places<Place> = Places::default();
    let mut orders = Orders::new(ops, &noted.spans, real_time);
    for (at, (op, note)) in ops.iter().zip(&noted.notes).enumerate() {
        if !work.goes_on(|| places.bytes() + noted.bytes() + orders.bytes()) {
            return (work, keys);
        }
        let (read, key) = (note.act == Act::Reads, note.key);
        let Some(step) = noted.step(at, op, &mut work) else { continue };
        let place = places.of(op.process_id, key, Place::default);
        let chained = checker.has(Guarantee::MonotonicReads);
        let (own, seen) = match read {
            true => (Guarantee::ReadYourWrites, Guarantee::MonotonicReads),
            // Own writes are in the order of their session.
            false => (Guarantee::MonotonicWrites, Guarantee::WritesFollowReads),
        };
        let Place { reads, writes, told } = place;
        let writes_before = if read { writes.before(op, &noted.spans, true, real_time) } else { &[] };
        let pairs = [(own, writes_before), (seen, reads.before(op, &noted.spans, chained, real_time))];
        for (guarantee, before) in pairs {
            for earlier in before.iter().filter(|_| checker.has(guarantee)) {
                work.evidence.fired += 1;
                keys.observe(key);
                if earlier.write == step.write || earlier.write == START {
                    continue;
                }
                let demand = Demand { first: earlier.write, then: step.write, guarantee, ops: [earlier.op, step.op] };
                let contradicts = step.write == START || orders.is_before(step.write, earlier.write);
                if contradicts {
                    if !std::mem::replace(&mut told[guarantee as usize], true) {
                        work.violates(|| against_time(ops, &demand));
                    }
                } else if !orders.is_before(earlier.write, step.write) {
                    orders.demand(key, demand);
                }
            }
        }
        let steps = if read { reads } else { writes };
        if let Some(complete) = op.complete_ts.filter(|_| op.effect() == Effect::Acknowledged) {
            steps.settling.push(complete, step);
        }
    }
    orders.find_cycles(&mut work);
    (work, keys)
}

/// What an operation does to its key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Act {
    Writes,
    Reads,
    Nothing,
}

/// An operation in numbers.
struct Note {
    key: u32,
    /// Number of key and value.
    pair: u32,
    act: Act,
}

/// The history in columns.
struct Noted {
    notes: Vec<Note>,
    spans: Vec<Span>,
    /// Of each pair, the operation that wrote it, [`NOBODY`] or [`SEVERAL`].
    writers: Vec<u32>,
}

impl Noted {
    fn of<'h>(ops: &'h [Op], work: &mut Work<'_>, keys: &mut Keys<'h>) -> Option<Noted> {
        let (notes, spans) = (Vec::with_capacity(ops.len()), Vec::with_capacity(ops.len()));
        let mut noted = Noted { notes, spans, writers: Vec::with_capacity(ops.len() / 2) };
        let mut pairs = Pairs::new(ops.len());
        for (at, op) in ops.iter().enumerate() {
            if !work.goes_on(|| noted.bytes() + pairs.bytes()) {
                return None;
            }
            let key = keys.count(op);
            let (act, value) = match noted.look(op, work) {
                Some((act, value)) => (act, Some(value)),
                None => (Act::Nothing, None),
            };
            let pair = value.map_or(0, |value| pairs.of(key, value));
            noted.writers.resize(pairs.len(), NOBODY);
            if act == Act::Writes {
                let writer = &mut noted.writers[pair as usize];
                *writer = if *writer == NOBODY { at as u32 } else { SEVERAL };
            }
            noted.spans.push(Span { begin: op.invoke_ts, over: end(op) });
            noted.notes.push(Note { key, pair, act });
        }
        // What is not understood may have written anything.
        (!work.has_problems()).then_some(noted)
    }

    /// What `op` does, with the value it writes or shows; `None` for what says nothing.
    fn look<'h>(&self, op: &'h Op, work: &mut Work<'_>) -> Option<(Act, &'h Value)> {
        if op.effect() == Effect::Failed {
            return None;
        }
        match Touch::of(op) {
            Err(problem) => {
                work.lacks(op, problem);
                None
            }
            Ok(Touch::Read(value)) => Some((Act::Reads, value?)),
            Ok(touch) => Some((Act::Writes, touch.written()?)),
        }
    }

    fn bytes(&self) -> usize {
        self.notes.capacity() * size_of::<Note>()
            + self.spans.capacity() * size_of::<Span>()
            + self.writers.capacity() * 4
    }

    /// What operation `at` wrote or showed; `None` for what says nothing, or cannot be placed.
    fn step(&self, at: usize, op: &Op, work: &mut Work<'_>) -> Option<Step> {
        let note = &self.notes[at];
        match note.act {
            Act::Nothing => return None,
            Act::Writes => return Some(Step { op: at as u32, write: at as u32 }),
            Act::Reads => {}
        }
        let (value, writer) = (&op.output, self.writers[note.pair as usize]);
        let problem = if writer == NOBODY && value.is_null() {
            return Some(Step { op: at as u32, write: START });
        } else if writer == NOBODY {
            "it shows a value that no operation wrote, so that its version is not known"
        } else if value.is_null() || writer == SEVERAL {
            "it shows a value that was written more than once (null: deleted), so that its version is not known"
        } else if Some(self.spans[writer as usize].begin) > op.complete_ts {
            "it shows a value that was written only after it had completed"
        } else {
            return Some(Step { op: at as u32, write: writer });
        };
        work.lacks(op, problem.to_owned());
        None
    }
}

/// Why `first` must stand before `then`.
pub(super) fn reason(ops: &[Op], demand: &Demand) -> String {
    let [before, after] = demand.ops.map(|op| &ops[op as usize]);
    let session = after.process_id;
    match demand.guarantee {
        Guarantee::ReadYourWrites => {
            format!("session {session} wrote it by {} and then read the other by {}", told(before), told(after))
        }
        Guarantee::MonotonicReads => {
            format!("session {session} read it by {} and then the other by {}", told(before), told(after))
        }
        _ => format!("session {session} read it by {} and then wrote the other by {}", told(before), told(after)),
    }
}

/// A demand that real time, or the order of a session, contradicts.
fn against_time(ops: &[Op], demand: &Demand) -> Violation {
    let first = &ops[demand.first as usize];
    let why = match ops.get(demand.then as usize) {
        None => "the other is what there was before every write".to_owned(),
        Some(then) => format!("the other, {}, had been written before it began", told(then)),
    };
    let explanation = format!("{} must stand first: {}; but {why}.", told(first), reason(ops, demand));
    let mut list = vec![demand.ops[0], demand.ops[1], demand.first];
    list.extend((demand.then != START).then_some(demand.then));
    let mut ids: Vec<u64> = Vec::new();
    for id in list.into_iter().map(|op| ops[op as usize].op_id) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Violation { anomaly: demand.guarantee.name().to_owned(), key: first.key.clone(), ops: ids, explanation }
}
