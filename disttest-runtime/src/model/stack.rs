//! A stack: last in, first out.

use super::queue::shown;
use super::{Atom, Atoms, Decision, Model, Step, TakeCall, Timed, lifo};
use crate::base::recipe;
use crate::history::Op;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// `push` of a value and `pop`, which answers the value that was pushed last, or null when there is none.
///
/// Histories whose values are pushed once are decided without search, in O(n²) at worst.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack;

impl Stack {
    /// An empty stack.
    pub fn new() -> Stack {
        Stack
    }
}

impl Model for Stack {
    type State = Arc<[Atom]>;
    type Call = TakeCall;

    fn name(&self) -> &str {
        "stack"
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("stack", self)
    }

    fn start(&self, _: &mut Atoms) -> Arc<[Atom]> {
        Arc::new([])
    }

    fn call(&self, op: &Op, atoms: &mut Atoms) -> Result<TakeCall, String> {
        TakeCall::of(op, "push", "pop", atoms)
    }

    fn step(&self, held: &Arc<[Atom]>, call: &TakeCall) -> Step<Arc<[Atom]>> {
        match (call, held.split_last()) {
            (TakeCall::Put(value), _) => Step::To(held.iter().chain([value]).copied().collect()),
            (TakeCall::Take(None) | TakeCall::Empty, None) => Step::Unchanged,
            (TakeCall::Take(None), Some((_, rest))) => Step::To(rest.into()),
            (TakeCall::Take(Some(value)), Some((last, rest))) if value == last => Step::To(rest.into()),
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
        lifo::decide(start, calls)
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
    fn the_last_in_is_the_first_out() {
        for (text, expect) in [
            ("push s 1 | push s 2 | pop s -> 2 | pop s -> 1 | pop s -> null", "[1] [1,2] [1] [] []"),
            ("push s 1 | push s 2 | pop s -> 1", "[1] [1,2] illegal"),
            ("pop s -> 1", "illegal"),
            ("push s 1 | pop s -> null", "[1] illegal"),
            ("push s null", "refused: could not be told from nothing"),
            ("enqueue s 1", "refused: none of push"),
        ] {
            run(Stack::new(), text, expect);
        }
    }
}
