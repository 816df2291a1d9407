//! A register of the Jepsen kind: it starts at 0, and a read that answers nothing says nothing.

use super::register::of_one_value;
use super::{Atom, Atoms, Model, Register, RegisterCall};
use crate::base::recipe;
use crate::history::Op;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `read`, `write` and `cas` of one value, which is 0 until told otherwise.
///
/// A completed read that answers null is always legal: recorders of this kind write null when they lost the answer. (A
/// [`super::Register`] takes it as having seen nothing.) A `cas` that answers `false` without an error saw another value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CasRegister(Register);

impl Default for CasRegister {
    fn default() -> CasRegister {
        CasRegister::starting_at(0)
    }
}

impl CasRegister {
    /// A register that starts at 0.
    pub fn new() -> CasRegister {
        CasRegister::default()
    }

    /// A register that starts as `value`.
    pub fn starting_at(value: impl Into<Value>) -> CasRegister {
        CasRegister(Register::starting_at(value).ignoring_null_reads())
    }
}

impl Model for CasRegister {
    of_one_value!();

    fn name(&self) -> &str {
        "cas-register"
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("cas-register", self)
    }

    fn start(&self, atoms: &mut Atoms) -> Atom {
        self.0.start(atoms)
    }

    fn call(&self, op: &Op, atoms: &mut Atoms) -> Result<RegisterCall, String> {
        self.0.call(op, atoms)
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
