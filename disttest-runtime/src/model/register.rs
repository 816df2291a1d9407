//! A register: one value that is read, overwritten, compared and set.

use super::{Atom, Atoms, Model, Step};
use crate::base::recipe;
use crate::history::access::Touch;
use crate::history::{Effect, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `read`, `write` and `cas` of one value (`get` and `put` are the same words). Null until told otherwise.
///
/// A completed read that answers null saw null: nothing was there. What a `write` answers is not looked at. A `cas`
/// that answers `false` without an error saw another value; with an error it is a failed operation and says nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Register {
    start: Value,
    null_reads_say_nothing: bool,
}

impl Register {
    /// A register that starts as null.
    pub fn new() -> Register {
        Register::default()
    }

    /// A register that starts as `value`.
    pub fn starting_at(value: impl Into<Value>) -> Register {
        Register { start: value.into(), ..Register::default() }
    }

    /// Takes a completed read that answers null as one that says nothing, for recorders that lose answers. It blinds
    /// the check to values that vanish, so it is a model of another name, `register-ignoring-null-reads`: a scenario
    /// that declares `register` is not judged by it.
    pub fn ignoring_null_reads(self) -> Register {
        Register { null_reads_say_nothing: true, ..self }
    }
}

/// An operation on a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RegisterCall {
    /// Reads; what it saw, if it says.
    Read(Option<Atom>),
    /// Writes.
    Write(Atom),
    /// Removes the value; whether there was one, if it says.
    Delete(Option<bool>),
    /// Writes `to` over `from`; whether it did, if it says.
    Cas {
        /// Value asked for.
        from: Atom,
        /// Value to write.
        to: Atom,
        /// The answer.
        done: Option<bool>,
    },
}

impl RegisterCall {
    pub(super) fn of(touch: Touch<'_>, atoms: &mut Atoms) -> RegisterCall {
        match touch {
            Touch::Read(seen) => RegisterCall::Read(seen.map(|value| atoms.of(value))),
            Touch::Write(value) => RegisterCall::Write(atoms.of(value)),
            Touch::Delete(found) => RegisterCall::Delete(found),
            Touch::Cas { from, to, done } => RegisterCall::Cas { from: atoms.of(from), to: atoms.of(to), done },
        }
    }

    pub(super) fn step(&self, state: Atom) -> Step<Atom> {
        let to = |next: Atom| if next == state { Step::Unchanged } else { Step::To(next) };
        match *self {
            RegisterCall::Read(None) => Step::Unchanged,
            RegisterCall::Read(Some(seen)) if seen == state => Step::Unchanged,
            RegisterCall::Read(Some(_)) => Step::Illegal,
            RegisterCall::Write(value) => to(value),
            RegisterCall::Delete(Some(found)) if found != (state != Atom::NULL) => Step::Illegal,
            RegisterCall::Delete(_) => to(Atom::NULL),
            RegisterCall::Cas { from, done: Some(done), .. } if done != (state == from) => Step::Illegal,
            RegisterCall::Cas { from, to: next, .. } => {
                if state == from {
                    to(next)
                } else {
                    Step::Unchanged
                }
            }
        }
    }

    pub(super) fn only_reads(&self) -> bool {
        match self {
            RegisterCall::Read(_) => true,
            RegisterCall::Write(_) => false,
            RegisterCall::Delete(found) => *found == Some(false),
            RegisterCall::Cas { from, to, done } => *done == Some(false) || from == to,
        }
    }

    pub(super) fn observes(&self) -> bool {
        match self {
            RegisterCall::Write(_) => false,
            RegisterCall::Read(seen) => seen.is_some(),
            RegisterCall::Delete(found) => found.is_some(),
            RegisterCall::Cas { done, .. } => done.is_some(),
        }
    }
}

/// What models have in common whose state is one value and whose calls are [`RegisterCall`]s.
macro_rules! of_one_value {
    () => {
        type State = $crate::model::Atom;
        type Call = $crate::model::RegisterCall;

        fn step(&self, state: &Self::State, call: &Self::Call) -> $crate::model::Step<Self::State> {
            call.step(*state)
        }

        fn observes(&self, call: &Self::Call) -> bool {
            call.observes()
        }

        fn only_reads(&self, call: &Self::Call) -> bool {
            call.only_reads()
        }

        fn on_value<'c>(&self, call: &'c Self::Call) -> Option<&'c $crate::model::RegisterCall> {
            Some(call)
        }

        fn refine(&self, calls: &mut [$crate::model::Timed<Self::Call>]) {
            $crate::model::unseen::merge(calls);
        }

        fn decide(
            &self,
            start: &Self::State,
            calls: &[$crate::model::Timed<Self::Call>],
        ) -> Option<$crate::model::Decision> {
            $crate::model::zones::decide(*start, calls)
        }

        fn show(&self, state: &Self::State, atoms: &$crate::model::Atoms) -> String {
            atoms.value(*state).to_string()
        }
    };
}

pub(super) use of_one_value;

impl Model for Register {
    of_one_value!();

    fn name(&self) -> &str {
        if self.null_reads_say_nothing { "register-ignoring-null-reads" } else { "register" }
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("register", self)
    }

    fn start(&self, atoms: &mut Atoms) -> Atom {
        atoms.of(&self.start)
    }

    fn call(&self, op: &Op, atoms: &mut Atoms) -> Result<RegisterCall, String> {
        match Touch::of(op)? {
            Touch::Delete(_) => Err("`delete` is an operation of a map, not of a register".to_owned()),
            Touch::Read(Some(Value::Null)) if self.null_reads_say_nothing => Ok(RegisterCall::Read(None)),
            Touch::Cas { done: None, .. } if op.effect() == Effect::Acknowledged => {
                Err("a completed cas answers true or false".to_owned())
            }
            touch => Ok(RegisterCall::of(touch, atoms)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::notation::history;

    #[test]
    fn what_each_call_does_to_a_value() {
        let mut atoms = Atoms::default();
        let [null, one, two] = [Atom::NULL, atoms.of(&1.into()), atoms.of(&2.into())];
        let cas = |done| RegisterCall::Cas { from: one, to: two, done };
        let table = [
            (RegisterCall::Read(None), null, Step::Unchanged),
            (RegisterCall::Read(Some(null)), null, Step::Unchanged),
            (RegisterCall::Read(Some(null)), one, Step::Illegal),
            (RegisterCall::Read(Some(one)), one, Step::Unchanged),
            (RegisterCall::Write(one), two, Step::To(one)),
            (RegisterCall::Write(one), one, Step::Unchanged),
            (RegisterCall::Delete(None), one, Step::To(null)),
            (RegisterCall::Delete(Some(true)), null, Step::Illegal),
            (RegisterCall::Delete(Some(false)), null, Step::Unchanged),
            (RegisterCall::Delete(Some(false)), one, Step::Illegal),
            (cas(Some(true)), one, Step::To(two)),
            (cas(Some(true)), two, Step::Illegal),
            (cas(Some(false)), one, Step::Illegal),
            (cas(Some(false)), two, Step::Unchanged),
            (cas(None), one, Step::To(two)),
            (cas(None), two, Step::Unchanged),
        ];
        for (call, state, expect) in table {
            assert_eq!(call.step(state), expect, "{call:?} in {state:?}");
        }
    }

    #[test]
    fn operations_it_does_not_know_are_refused() {
        for (line, problem) in [
            ("c1 append x 1 [0..1]", "`append` is none of"),
            ("c1 delete x [0..1]", "an operation of a map"),
            ("c1 cas x [1,2] [0..1]", "answers true or false"),
        ] {
            let history = history(line).expect("valid");
            let error = Register::new().call(&history.ops()[0], &mut Atoms::default()).expect_err(line);
            assert!(error.contains(problem), "{error}");
        }
    }
}
