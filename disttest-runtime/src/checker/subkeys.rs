//! Subkeys: what one client inserts one after another is seen in that order.

use super::inquiry::{Inquiry, Witness, acknowledged, brief, problems, told};
use super::{Answer, Checker, Limits, recipe};
use crate::history::{History, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Checks reads of subkeys that one client inserted one after another, and that another client reads one after another
/// from the last to the first: once a subkey is seen, all that were inserted before it must be.
///
/// Operations are `add` (also `write`, `insert`) of a subkey, and `read`, which answers a list: for each subkey, the last
/// inserted first, its value, or null where it was not there. A null behind a value is `insert-not-seen`. Sequential
/// consistency forbids that, whatever the keys. Needs: a list as `output` of each read; what was inserted is not looked
/// at. Without a read that shows a subkey the answer is unknown. O(values read), constant memory. After `sequential` of
/// Jepsen's tests of CockroachDB, TiDB and Dgraph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subkeys;

impl Subkeys {
    /// For any number of subkeys.
    pub fn new() -> Subkeys {
        Subkeys
    }
}

fn problem(op: &Op) -> Option<String> {
    match op.op_type.as_str() {
        "add" | "write" | "insert" => None,
        "read" if acknowledged(op) && !op.output.is_array() => {
            Some(format!("a read answers a list, a place a subkey, not {}", brief(&op.output.to_string())))
        }
        "read" => None,
        other => Some(format!("`{other}` is none of add, write, insert, read")),
    }
}

impl Checker for Subkeys {
    fn name(&self) -> &str {
        "subkeys"
    }

    fn cannot_detect(&self) -> Vec<String> {
        vec![
            "inserts that are lost from the last one on, and reads that show nothing".to_owned(),
            "violations that the order of subkeys does not show".to_owned(),
        ]
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("subkeys", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        problems(history, problem)
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut inquiry = Inquiry::new(history, limits);
        for op in history.ops() {
            if let Some(why) = problem(op) {
                inquiry.undecided(format!("the history does not fit: operation {}: {why}", op.op_id));
                break;
            }
            inquiry.evidence.consumed += 1;
            let shown = op.output.as_array().filter(|_| op.op_type == "read" && acknowledged(op));
            let shown = shown.map_or(&[][..], Vec::as_slice);
            if !inquiry.go_on(1 + shown.len() as u64, 0) {
                break;
            }
            look(op, shown, &mut inquiry);
        }
        inquiry.evidence.partitions = u64::from(!history.ops().is_empty());
        inquiry.answer(self, &[], "no read shows a subkey")
    }
}

fn look(read: &Op, shown: &[Value], inquiry: &mut Inquiry<'_>) {
    let Some(seen) = shown.iter().position(|value| !value.is_null()) else { return };
    inquiry.evidence.fired += 1;
    if let Some(gone) = shown[seen..].iter().position(Value::is_null).map(|at| seen + at) {
        inquiry.found("insert-not-seen", read.key.as_deref(), || Witness {
            ops: vec![read.op_id],
            explanation: format!(
                "{} saw {} (place {}) and then nothing at place {}, which was inserted earlier.",
                told(read),
                brief(&shown[seen].to_string()),
                seen + 1,
                gone + 1
            ),
        });
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::checker::{Outcome, Unlimited};
    use crate::history::notation::history;

    #[test]
    fn what_was_inserted_before_what_is_seen_is_seen() {
        for (shown, expect) in [
            ("[\"b\",\"a\"]", "valid"),
            ("[null,\"a\"]", "valid"),
            ("[null,null,\"b\",\"a\"]", "valid"),
            ("[\"b\",null]", "insert-not-seen [1]"),
            ("[null,\"b\",\"a\",null]", "insert-not-seen [1]"),
            ("[null,null]", "unknown"),
            ("[]", "unknown"),
            ("7", "unknown"),
        ] {
            let text = format!("c1 add k a [0..1]\nc2 read k -> {shown} [2..3]");
            let answer = Subkeys::new().check(&history(&text).unwrap(), &Unlimited);
            let got = match &answer.outcome {
                Outcome::Valid => "valid".to_owned(),
                Outcome::Invalid { violations } => format!("{} {:?}", violations[0].anomaly, violations[0].ops),
                Outcome::Unknown { .. } => "unknown".to_owned(),
            };
            assert_eq!(got, expect, "{text}\n{answer:?}");
        }
        let crashed = history("c2 read k [2..]\nc2 read k !no [2..3]").unwrap();
        assert!(matches!(Subkeys.check(&crashed, &Unlimited).outcome, Outcome::Unknown { .. }));
        assert_eq!(Subkeys.missing(&history("c1 cas k 1 [0..1]").unwrap()).len(), 1);
    }
}
