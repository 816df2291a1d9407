//! A counter: a whole number that is increased.

use super::{Atoms, Model, Step};
use crate::base::recipe;
use crate::history::{Effect, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `inc` (or `add`) and `dec` by a whole number (1 when the input is null), whose answer may be the value after it, and
/// `read`. Zero until told otherwise.
///
/// An answer that is no number (`"OK"`) says nothing of the value; a completed read answers a number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    start: i64,
}

impl Counter {
    /// A counter at zero.
    pub fn new() -> Counter {
        Counter::default()
    }

    /// A counter at `value`.
    pub fn starting_at(value: i64) -> Counter {
        Counter { start: value }
    }
}

/// An operation on a counter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CounterCall {
    /// Adds.
    Add {
        /// What is added; may be negative.
        by: i64,
        /// The value after it, if the answer says.
        after: Option<i128>,
    },
    /// Reads; what it saw, if it says.
    Read(Option<i128>),
}

/// A whole number, or what is wrong with it.
pub(super) fn whole(value: &Value, what: &str) -> Result<i64, String> {
    value.as_i64().ok_or_else(|| format!("{what} is a whole number of 64 bits, not {value}"))
}

/// What an answer says of a number: nothing, when it is none.
pub(super) fn number_in(answer: &Value, what: &str) -> Result<Option<i128>, String> {
    match answer {
        Value::Number(_) => whole(answer, what).map(|number| Some(number.into())),
        _ => Ok(None),
    }
}

impl Model for Counter {
    type State = i128;
    type Call = CounterCall;

    fn name(&self) -> &str {
        "counter"
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("counter", self)
    }

    fn start(&self, _: &mut Atoms) -> i128 {
        self.start.into()
    }

    fn call(&self, op: &Op, _: &mut Atoms) -> Result<CounterCall, String> {
        let by = || if op.input.is_null() { Ok(1) } else { whole(&op.input, "the step of a counter") };
        let after = || number_in(&op.output, "the value of a counter");
        match op.op_type.as_str() {
            "inc" | "add" => Ok(CounterCall::Add { by: by()?, after: after()? }),
            "dec" => {
                let by = by()?.checked_neg().ok_or("the step of a counter is out of range")?;
                Ok(CounterCall::Add { by, after: after()? })
            }
            "read" if op.effect() == Effect::Acknowledged => {
                Ok(CounterCall::Read(Some(whole(&op.output, "the value of a counter")?.into())))
            }
            "read" => Ok(CounterCall::Read(None)),
            other => Err(format!("`{other}` is none of inc/add, dec, read")),
        }
    }

    fn step(&self, state: &i128, call: &CounterCall) -> Step<i128> {
        match *call {
            CounterCall::Add { by, after } => {
                // 2^64 steps of 2^63 fit.
                let next = state + i128::from(by);
                match after {
                    Some(after) if after != next => Step::Illegal,
                    _ if by == 0 => Step::Unchanged,
                    _ => Step::To(next),
                }
            }
            CounterCall::Read(seen) if seen.is_none_or(|seen| seen == *state) => Step::Unchanged,
            CounterCall::Read(_) => Step::Illegal,
        }
    }

    fn observes(&self, call: &CounterCall) -> bool {
        match call {
            CounterCall::Add { after, .. } => after.is_some(),
            CounterCall::Read(seen) => seen.is_some(),
        }
    }

    fn only_reads(&self, call: &CounterCall) -> bool {
        matches!(call, CounterCall::Read(_) | CounterCall::Add { by: 0, .. })
    }

    fn show(&self, state: &i128, _: &Atoms) -> String {
        state.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::table::run;

    #[test]
    fn what_is_added_is_there() {
        for (text, expect) in [
            ("inc x 2 -> 2 | inc x -> 3 | dec x 5 | read x -> -2", "2 3 -2 -2"),
            ("add x 2 -> OK | read x -> 2", "2 2"),
            ("inc x 1 -> 2", "illegal"),
            ("inc x 0 -> 1", "illegal"),
            ("read x -> 1", "illegal"),
            ("inc x 9223372036854775807 | inc x 9223372036854775807", "9223372036854775807 18446744073709551614"),
            ("dec x -9223372036854775808", "refused: out of range"),
            ("inc x 1.5", "refused: a whole number"),
            ("read x -> null", "refused: a whole number"),
            ("reset x", "refused: none of inc"),
        ] {
            run(Counter::new(), text, expect);
        }
        run(Counter::starting_at(7), "read x -> 7", "7");
    }
}
