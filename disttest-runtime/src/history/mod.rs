//! L1: histories: the record of an operation, a validated history, its JSON Lines form, a one-line notation. Pure.

pub mod access;
mod coverage;
mod crossing;
mod error;
pub mod generate;
pub mod jsonl;
pub mod notation;
mod op;
pub mod services;
pub mod systems;
mod validate;
mod weakness;

pub use coverage::{Seen, Watched, overwritten, unobserved};
pub use crossing::unread_across;
pub use error::HistoryError;
pub use op::{Effect, Op};
pub use weakness::{FaultSpan, weakness};

/// A validated history: unique operation ids, completions after invocations, outputs only where there was an answer.
///
/// It may be empty, and it may be weak (see [`weakness`]): both are for the verdict to judge, and no checker of ours
/// calls an empty history valid.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    ops: Vec<Op>,
}

impl History {
    /// Validates `ops` and sorts them by invocation (ties by operation id), in O(n log n).
    ///
    /// Errors name the first offending operation in the order given: an id used twice, a completion before the
    /// invocation, an output without an answer, an error beside an output (except a failed `cas` that answers
    /// `false`), a timeout with a completion. An operation without completion and without `timeout_marker` is kept:
    /// its outcome is unknown, and the history is weak.
    pub fn new(mut ops: Vec<Op>) -> Result<History, HistoryError> {
        validate::all(&ops).map_err(|(index, problem)| HistoryError::at_op(ops[index].op_id, problem))?;
        ops.sort_by_key(|op| (op.invoke_ts, op.op_id));
        Ok(History { ops })
    }

    /// Operations by invocation.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The operations, given back for editing; [`History::new`] validates them again.
    pub fn into_ops(self) -> Vec<Op> {
        self.ops
    }
}

#[cfg(test)]
mod tests {
    use super::notation::history;

    fn check(text: &str, expect: Option<&str>) {
        let got = history(text).err().map(|e| e.to_string());
        match (&got, expect) {
            (None, None) => {}
            (Some(got), Some(expect)) => assert!(got.contains(expect), "{text}: {got}"),
            _ => panic!("{text}: got {got:?}, expected {expect:?}"),
        }
    }

    #[test]
    fn a_history_must_be_possible() {
        check("", None);
        check("c1 write x 1 [0..5]", None);
        check("c1 write x 1 [5..5]", None);
        check("c1 write x 1 [5..4]", Some("operation 0: completed at 4 ns, before its invocation at 5 ns"));
        check("c1 read x -> 1 [5..]", Some("operation 0: has an output although its outcome is unknown"));
        check("c1 read x -> 1 !refused [0..5]", Some("operation 0: has both an output and an error"));
        check("c1 cas x [1,2] -> false !mismatch [0..5]", None);
        check("c1 cas x [1,2] -> true !mismatch [0..5]", Some("both an output and an error"));
        check("c1 write x 1 !refused [0..5]", None);
        check("c1 write x 1 !timeout [0..]", None);
        check("#7 c1 read x [0..5]\n#7 c2 read x [0..5]", Some("operation 7: its id was used before"));
    }

    #[test]
    fn a_timeout_with_a_completion_is_rejected() {
        let mut ops = history("c1 write x 1 [0..5]").expect("valid").into_ops();
        ops[0].timeout_marker = true;
        let error = super::History::new(ops).expect_err("contradiction");
        assert!(error.to_string().contains("marked as timed out and yet completed"), "{error}");
    }

    #[test]
    fn operations_are_sorted_by_invocation() {
        let sorted = history("c1 write x 1 [7..9]\nc2 write x 2 [3..4]").expect("valid");
        assert_eq!(sorted.ops().iter().map(|op| op.op_id).collect::<Vec<_>>(), [1, 0]);
    }
}
