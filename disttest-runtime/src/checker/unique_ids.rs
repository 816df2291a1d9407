//! Unique ids: no two acknowledged calls of a generator got the same one.

use super::inquiry::{Inquiry, Numbering, Witness, acknowledged, brief, problems, told};
use super::{Answer, Checker, Limits, recipe};
use crate::history::{History, Op};
use serde::{Deserialize, Serialize};

/// Checks that the ids that `generate` answered are pairwise different, over all keys.
///
/// A second answer with an id is `duplicate-id`. Calls that failed or whose outcome is unknown got no id that anybody
/// knows. Needs: `output` of each completed `generate`. With fewer than two ids the answer is unknown. O(n), linear
/// memory. After Jepsen's `jepsen.checker/unique-ids`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UniqueIds;

impl UniqueIds {
    /// For operations of type `generate`.
    pub fn new() -> UniqueIds {
        UniqueIds
    }
}

fn problem(op: &Op) -> Option<String> {
    match op.op_type.as_str() {
        "generate" => {
            (acknowledged(op) && op.output.is_null()).then(|| "a completed `generate` answers no id".to_owned())
        }
        other => Some(format!("`{other}` is not generate")),
    }
}

impl Checker for UniqueIds {
    fn name(&self) -> &str {
        "unique-ids"
    }

    fn cannot_detect(&self) -> Vec<String> {
        vec![
            "ids that were given out by calls of unknown outcome".to_owned(),
            "ids in use from before the history".to_owned(),
            "an order of the ids, and gaps between them".to_owned(),
        ]
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("unique-ids", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        problems(history, problem)
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut inquiry = Inquiry::new(history, limits);
        match history.ops().iter().find_map(|op| Some((op, problem(op)?))) {
            Some((op, why)) => {
                inquiry.undecided(format!("the history does not fit: operation {}: {why}", op.op_id));
            }
            None => judge(history, &mut inquiry),
        }
        inquiry.answer(self, &[], "fewer than two ids were given out")
    }
}

fn judge(history: &History, inquiry: &mut Inquiry<'_>) {
    let mut numbering = Numbering::new(history.ops().len());
    let mut holders: Vec<&Op> = Vec::with_capacity(history.ops().len());
    inquiry.evidence.partitions = 1;
    for op in history.ops() {
        if !inquiry.go_on(1, 64 * holders.len() as u64) {
            return;
        }
        inquiry.evidence.consumed += 1;
        if !acknowledged(op) {
            continue;
        }
        inquiry.evidence.fired += u64::from(!holders.is_empty());
        let number = numbering.of(&op.output) as usize;
        match holders.get(number) {
            None => holders.push(op),
            Some(first) => inquiry.found("duplicate-id", None, || Witness {
                ops: vec![first.op_id, op.op_id],
                explanation: format!(
                    "{} and {} got the same id {}.",
                    told(first),
                    told(op),
                    brief(&op.output.to_string())
                ),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::base::rng::Rng;
    use crate::checker::reference::{said, seeds};
    use crate::checker::{Outcome, Unlimited};
    use crate::history::notation::history;

    fn check(text: &str, expect: &str) {
        let answer = UniqueIds::new().check(&history(text).unwrap(), &Unlimited);
        let got = said(&answer.outcome);
        assert_eq!(got, expect, "{text}\n{answer:#?}");
    }

    #[test]
    fn no_id_is_given_out_twice() {
        check("c1 generate - -> 1 [0..1]\nc2 generate - -> 2 [0..1]", "valid");
        check("c1 generate - -> \"1\" [0..1]\nc2 generate - -> 1 [0..1]", "valid");
        check("c1 generate - -> [1,2] [0..1]\nc2 generate - -> [1,3] [0..1]\nc2 generate - [2..]", "valid");
        check("c1 generate - -> 1 [0..1]\nc2 generate - -> 1 [0..1]", "duplicate-id [0, 1]");
        check("c1 generate a -> x [0..1]\nc2 generate b -> x [0..1]", "duplicate-id [0, 1]");
        check(
            "c1 generate - -> 7 [0..1]\nc1 generate - -> 8 [2..3]\nc1 generate - -> 7 [4..5]\nc1 generate - -> 7 [6..7]",
            "duplicate-id [0, 2], duplicate-id [0, 3]",
        );
        check("", "unknown");
        check("c1 generate - -> 1 [0..1]", "unknown");
        check("c1 generate - -> 1 [0..1]\nc1 generate - !busy [2..3]\nc1 generate - [4..]", "unknown");
        check("c1 generate - [0..1]\nc1 generate - -> 1 [2..3]", "unknown");
        check("c1 write - 1 [0..1]\nc1 generate - -> 1 [2..3]", "unknown");
        let missing = UniqueIds.missing(&history("c1 generate - [0..1]\nc1 generate - [2..3]").unwrap());
        assert_eq!(missing, ["operation 0 and 2 in all: a completed `generate` answers no id"]);
    }

    #[test]
    fn every_pair_is_compared() {
        let mut twice = 0;
        for seed in seeds(3000) {
            let mut rng = Rng::stream(seed, "ids");
            let mut text = String::new();
            for at in 0..2 + rng.below(5) {
                let id = if rng.chance(1, 3) { 1_000_000 + rng.below(9) } else { rng.below(9) };
                text.push_str(&match rng.below(6) {
                    0 => format!("c{at} generate - [{at}..]\n"),
                    1 => format!("c{at} generate - !no [{at}..{}]\n", at + 3),
                    _ => format!("c{at} generate - -> {id} [{at}..{}]\n", at + 3),
                });
            }
            let history = history(&text).unwrap();
            let ids: Vec<&Op> = history.ops().iter().filter(|op| acknowledged(op)).collect();
            let pair = ids.iter().any(|a| ids.iter().any(|b| a.op_id < b.op_id && a.output == b.output));
            let outcome = UniqueIds.check(&history, &Unlimited).outcome;
            match (ids.len() < 2, pair) {
                (true, _) => assert!(matches!(outcome, Outcome::Unknown { .. }), "{text}"),
                (_, true) => assert!(matches!(outcome, Outcome::Invalid { .. }), "{text}"),
                (_, false) => assert_eq!(outcome, Outcome::Valid, "{text}"),
            }
            twice += u64::from(pair);
        }
        assert!(twice > 300, "{twice}");
    }
}
