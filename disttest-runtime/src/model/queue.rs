//! A queue: first in, first out.

use super::{Atom, Atoms, Decision, Model, Step, Timed, fifo};
use crate::base::recipe;
use crate::history::{Effect, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// `enqueue` of a value and `dequeue`, which answers the value that was enqueued first, or null when there is none.
///
/// Histories whose values are enqueued once are decided in O(n log n).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue;

impl Queue {
    /// An empty queue.
    pub fn new() -> Queue {
        Queue
    }
}

/// An operation on a collection that values are put into and taken from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TakeCall {
    /// Puts a value.
    Put(Atom),
    /// Takes a value; which one, if the answer says.
    Take(Option<Atom>),
    /// Finds nothing to take.
    Empty,
}

impl TakeCall {
    /// Reads an operation whose words for the two are `put` and `take`.
    pub(super) fn of(op: &Op, put: &str, take: &str, atoms: &mut Atoms) -> Result<TakeCall, String> {
        if op.op_type == put && op.input.is_null() {
            return Err(format!("`{put}` of null could not be told from nothing"));
        }
        match op.op_type.as_str() {
            other if other == put => Ok(TakeCall::Put(atoms.of(&op.input))),
            other if other != take => Err(format!("`{other}` is none of {put}, {take}")),
            _ if op.effect() != Effect::Acknowledged => Ok(TakeCall::Take(None)),
            _ if op.output == Value::Null => Ok(TakeCall::Empty),
            _ => Ok(TakeCall::Take(Some(atoms.of(&op.output)))),
        }
    }

    /// True when some state forbids it.
    pub(super) fn observes(&self) -> bool {
        matches!(self, TakeCall::Take(Some(_)) | TakeCall::Empty)
    }
}

/// Values for people, in the order they are held.
pub(super) fn shown(values: &[Atom], atoms: &Atoms) -> String {
    let values: Vec<String> = values.iter().map(|value| atoms.value(*value).to_string()).collect();
    format!("[{}]", values.join(","))
}

impl Model for Queue {
    type State = Arc<[Atom]>;
    type Call = TakeCall;

    fn name(&self) -> &str {
        "queue"
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("queue", self)
    }

    fn start(&self, _: &mut Atoms) -> Arc<[Atom]> {
        Arc::new([])
    }

    fn call(&self, op: &Op, atoms: &mut Atoms) -> Result<TakeCall, String> {
        TakeCall::of(op, "enqueue", "dequeue", atoms)
    }

    fn step(&self, held: &Arc<[Atom]>, call: &TakeCall) -> Step<Arc<[Atom]>> {
        match (call, held.split_first()) {
            (TakeCall::Put(value), _) => Step::To(held.iter().chain([value]).copied().collect()),
            (TakeCall::Take(None) | TakeCall::Empty, None) => Step::Unchanged,
            (TakeCall::Take(None), Some((_, rest))) => Step::To(rest.into()),
            (TakeCall::Take(Some(value)), Some((first, rest))) if value == first => Step::To(rest.into()),
            (TakeCall::Take(Some(_)), _) | (TakeCall::Empty, Some(_)) => Step::Illegal,
        }
    }

    fn observes(&self, call: &TakeCall) -> bool {
        call.observes()
    }

    fn only_reads(&self, call: &TakeCall) -> bool {
        *call == TakeCall::Empty
    }

    fn decide(&self, start: &Arc<[Atom]>, calls: &[Timed<TakeCall>]) -> Option<Decision> {
        fifo::decide(start, calls)
    }

    fn show(&self, held: &Arc<[Atom]>, atoms: &Atoms) -> String {
        shown(held, atoms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::table::run;

    #[test]
    fn the_first_in_is_the_first_out() {
        for (text, expect) in [
            ("enqueue q 1 | enqueue q 2 | dequeue q -> 1 | dequeue q -> 2 | dequeue q -> null", "[1] [1,2] [2] [] []"),
            ("enqueue q 1 | enqueue q 2 | dequeue q -> 2", "[1] [1,2] illegal"),
            ("dequeue q -> 1", "illegal"),
            ("enqueue q 1 | dequeue q -> null", "[1] illegal"),
            ("enqueue q null", "refused: could not be told from nothing"),
            ("push q 1", "refused: none of enqueue"),
        ] {
            run(Queue::new(), text, expect);
        }
    }
}
