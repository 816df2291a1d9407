//! A register of the Jepsen kind: it starts at 0, and a read that answers nothing says nothing.

use super::{Atom, Atoms, Decision, Model, RegisterCall, Step, Timed, unseen, zones};
use crate::history::access::Touch;
use crate::history::{Effect, Op};
use serde_json::{Value, json};

/// `read`, `write` and `cas` of one value, which is 0 until told otherwise.
///
/// A completed read that answers null is always legal: recorders of this kind write null when they lost the answer. (A
/// [`super::Register`] takes it as having seen nothing.) A `cas` that answers `false` without an error saw another value.
#[derive(Clone, Debug, PartialEq)]
pub struct CasRegister {
    start: Value,
}

impl Default for CasRegister {
    fn default() -> CasRegister {
        CasRegister { start: json!(0) }
    }
}

impl CasRegister {
    /// A register that starts at 0.
    pub fn new() -> CasRegister {
        CasRegister::default()
    }

    /// A register that starts as `value`.
    pub fn starting_at(value: impl Into<Value>) -> CasRegister {
        CasRegister { start: value.into() }
    }
}

impl Model for CasRegister {
    type State = Atom;
    type Call = RegisterCall;

    fn name(&self) -> &str {
        "cas-register"
    }

    fn start(&self, atoms: &mut Atoms) -> Atom {
        atoms.of(&self.start)
    }

    fn call(&self, op: &Op, atoms: &mut Atoms) -> Result<RegisterCall, String> {
        match Touch::of(op)? {
            Touch::Delete(_) => Err("`delete` is an operation of a map, not of a register".to_owned()),
            Touch::Read(Some(Value::Null)) => Ok(RegisterCall::Read(None)),
            Touch::Cas { done: None, .. } if op.effect() == Effect::Acknowledged => {
                Err("a completed cas answers true or false".to_owned())
            }
            touch => Ok(RegisterCall::of(touch, atoms)),
        }
    }

    fn step(&self, state: &Atom, call: &RegisterCall) -> Step<Atom> {
        call.step(*state)
    }

    fn observes(&self, call: &RegisterCall) -> bool {
        call.observes()
    }

    fn only_reads(&self, call: &RegisterCall) -> bool {
        call.only_reads()
    }

    fn refine(&self, calls: &mut [Timed<RegisterCall>]) {
        unseen::merge(calls);
    }

    fn decide(&self, start: &Atom, calls: &[Timed<RegisterCall>]) -> Option<Decision> {
        zones::decide(*start, calls)
    }

    fn show(&self, state: &Atom, atoms: &Atoms) -> String {
        atoms.value(*state).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::table::run;

    #[test]
    fn it_starts_at_zero_and_a_read_without_an_answer_says_nothing() {
        for (text, expect) in [
            ("read x -> 0 | write x 1 | read x -> 1 | read x -> null", "0 1 1 1"),
            ("cas x [0,5] -> true | cas x [0,6] -> false | read x -> 5", "5 5 5"),
            ("read x -> 1", "illegal"),
            ("cas x [1,2] -> true", "illegal"),
            ("cas x [0,2] -> false", "illegal"),
            ("delete x", "refused: an operation of a map"),
            ("cas x [0,1]", "refused: answers true or false"),
        ] {
            run(CasRegister::new(), text, expect);
        }
        run(CasRegister::starting_at(7), "read x -> 7 | read x -> 0", "7 illegal");
    }
}
