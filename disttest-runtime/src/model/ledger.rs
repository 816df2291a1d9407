//! A ledger: the balance of an account, credited and debited.

use super::counter::{number_in, whole};
use super::{Atoms, Model, Step};
use crate::base::recipe;
use crate::history::{Effect, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `credit` and `debit` of an amount (a whole number, or the `amount` of an object), and `balance`; one account per key.
///
/// A `debit` that answers `false` was refused: the balance was less than the amount. Other answers say that it was
/// booked, and when they are numbers, the balance after it. A balance is never below zero unless overdrafts are allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    start: i64,
    overdraft: bool,
}

impl Ledger {
    /// A ledger of empty accounts.
    pub fn new() -> Ledger {
        Ledger::default()
    }

    /// A ledger whose every account holds `amount`.
    pub fn starting_at(amount: i64) -> Ledger {
        Ledger { start: amount, ..Ledger::default() }
    }

    /// Lets balances go below zero: no debit is refused then.
    pub fn with_overdraft(self) -> Ledger {
        Ledger { overdraft: true, ..self }
    }
}

/// An operation on an account.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LedgerCall {
    /// Adds to the balance.
    Credit {
        /// How much.
        amount: i64,
        /// The balance after it, if the answer says.
        after: Option<i128>,
    },
    /// Takes from the balance, if there is enough.
    Debit {
        /// How much.
        amount: i64,
        /// Whether it was booked, if there is an answer.
        booked: Option<bool>,
        /// The balance after it, if the answer says.
        after: Option<i128>,
    },
    /// Reads the balance, if it says.
    Balance(Option<i128>),
}

fn amount(op: &Op) -> Result<i64, String> {
    let value = op.input.get("amount").unwrap_or(&op.input);
    let amount = whole(value, "an amount")?;
    if amount < 0 { Err(format!("an amount is not negative: {amount}")) } else { Ok(amount) }
}

impl Model for Ledger {
    type State = i128;
    type Call = LedgerCall;

    fn name(&self) -> &str {
        "ledger"
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("ledger", self)
    }

    fn start(&self, _: &mut Atoms) -> i128 {
        self.start.into()
    }

    fn call(&self, op: &Op, _: &mut Atoms) -> Result<LedgerCall, String> {
        let completed = op.effect() == Effect::Acknowledged;
        let after = || number_in(&op.output, "a balance");
        match op.op_type.as_str() {
            "credit" => Ok(LedgerCall::Credit { amount: amount(op)?, after: after()? }),
            "debit" => {
                let booked = completed.then_some(op.output != Value::Bool(false));
                Ok(LedgerCall::Debit { amount: amount(op)?, booked, after: after()? })
            }
            "balance" | "read" if completed => Ok(LedgerCall::Balance(Some(whole(&op.output, "a balance")?.into()))),
            "balance" | "read" => Ok(LedgerCall::Balance(None)),
            other => Err(format!("`{other}` is none of credit, debit, balance")),
        }
    }

    fn step(&self, state: &i128, call: &LedgerCall) -> Step<i128> {
        let to = |next: i128, after: Option<i128>| match after {
            Some(after) if after != next => Step::Illegal,
            _ if next == *state => Step::Unchanged,
            _ => Step::To(next),
        };
        match *call {
            LedgerCall::Credit { amount, after } => to(state + i128::from(amount), after),
            LedgerCall::Debit { amount, booked, after } => {
                let enough = self.overdraft || *state >= i128::from(amount);
                match booked {
                    Some(booked) if booked != enough => Step::Illegal,
                    _ if enough => to(state - i128::from(amount), after),
                    _ => Step::Unchanged,
                }
            }
            LedgerCall::Balance(seen) if seen.is_none_or(|seen| seen == *state) => Step::Unchanged,
            LedgerCall::Balance(_) => Step::Illegal,
        }
    }

    fn one_object_per_key(&self) -> bool {
        true
    }

    fn observes(&self, call: &LedgerCall) -> bool {
        match call {
            LedgerCall::Credit { after, .. } => after.is_some(),
            LedgerCall::Debit { booked, after, .. } => {
                after.is_some() || booked.is_some_and(|booked| !(booked && self.overdraft))
            }
            LedgerCall::Balance(seen) => seen.is_some(),
        }
    }

    fn only_reads(&self, call: &LedgerCall) -> bool {
        match call {
            LedgerCall::Credit { amount, .. } => *amount == 0,
            LedgerCall::Debit { amount, booked, .. } => *amount == 0 || *booked == Some(false),
            LedgerCall::Balance(_) => true,
        }
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
    fn what_is_credited_can_be_debited_and_no_more() {
        for (text, expect) in [
            ("credit a 10 | debit a 4 -> true | balance a -> 6 | debit a 7 -> false", "10 6 6 6"),
            ("credit a {\"amount\":3,\"id\":\"k\"} -> 3 | debit a 3 -> 0 | balance a -> 0", "3 0 0"),
            ("debit a 1 -> true", "illegal"),
            ("credit a 5 | debit a 5 -> false", "5 illegal"),
            ("credit a 5 -> 6", "illegal"),
            ("credit a 5 | debit a 1 -> 5", "5 illegal"),
            ("balance a -> 1", "illegal"),
            ("credit a -1", "refused: not negative"),
            ("debit a x", "refused: a whole number"),
            ("transfer a 1", "refused: none of credit"),
        ] {
            run(Ledger::new(), text, expect);
        }
        run(
            Ledger::starting_at(5).with_overdraft(),
            "debit a 7 -> true | balance a -> -2 | debit a 1 -> false",
            "-2 -2 illegal",
        );
    }
}
