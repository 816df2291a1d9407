//! Counters: every read lies between what was surely counted and what may have been.

use super::conservation::{self, Measure};
use super::inquiry::{Inquiry, acknowledged, brief, problems};
use super::{Answer, Checker, Limits, recipe};
use crate::history::{History, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Checks the reads of a counter: `add`, `inc`, `increment` of a number, `dec`, `decrement`, `sub` of one, `read`.
///
/// Each read must lie between the sum of the additions that were acknowledged before it began and the sum of those
/// that were invoked before it completed, except the failed ones; subtractions that may or may not be there widen the
/// bounds downwards (see [`Conservation`](super::Conservation), whose `below-bounds` and `above-bounds` these are). An
/// addition of unknown outcome may be there from its invocation to the end. What `inc` and `dec` answer, if it is a
/// number, is the value after them, and is held to the same bounds; an `add` answers anything.
///
/// Needs: a number as `input` of each change (1 when null), a number as `output` of each read, both timestamps. Each
/// key is a counter. O(n log n), linear memory. After Jepsen's `jepsen.checker/counter`, which knows no decrements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterBounds {
    initial: i64,
}

impl CounterBounds {
    /// A counter that starts at 0.
    pub fn new() -> CounterBounds {
        CounterBounds::default()
    }

    /// The value at the start.
    pub fn starting_at(initial: i64) -> CounterBounds {
        CounterBounds { initial }
    }
}

fn measure(op: &Op) -> Result<Measure, String> {
    let (sign, answers) = match op.op_type.as_str() {
        "add" => (1, false),
        "inc" | "increment" => (1, true),
        "sub" => (-1, false),
        "dec" | "decrement" => (-1, true),
        "read" => {
            return match (acknowledged(op), op.output.as_i64()) {
                (false, _) => Ok(Measure::Nothing),
                (true, Some(level)) => Ok(Measure::Level(level)),
                (true, None) => Err(format!("a counter reads a whole number, not {}", brief(&op.output.to_string()))),
            };
        }
        other => return Err(format!("`{other}` is none of add, inc, dec, sub, read")),
    };
    let amount = match &op.input {
        Value::Null => Some(1),
        amount => amount.as_i64(),
    };
    let amount = amount.and_then(|amount| amount.checked_mul(sign));
    let amount =
        amount.ok_or_else(|| format!("a counter counts whole numbers, not {}", brief(&op.input.to_string())))?;
    Ok(match op.output.as_i64().filter(|_| answers) {
        Some(level) => Measure::FlowTo(amount, level),
        None => Measure::Flow(amount),
    })
}

impl Checker for CounterBounds {
    fn name(&self) -> &str {
        "counter-bounds"
    }

    fn model(&self) -> Option<&str> {
        Some("counter")
    }

    fn cannot_detect(&self) -> Vec<String> {
        conservation::blind_spots()
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("counter-bounds", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        problems(history, |op| measure(op).err())
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut inquiry = Inquiry::new(history, limits);
        conservation::judge(history, self.initial, &measure, &mut inquiry);
        inquiry.answer(self, conservation::RANKS, conservation::NOTHING)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::base::rng::Rng;
    use crate::checker::reference::seeds;
    use crate::checker::{Outcome, Unlimited};
    use crate::history::Effect;
    use crate::history::notation::history;

    fn check(checker: CounterBounds, text: &str, expect: &str) {
        let answer = checker.check(&history(text).unwrap(), &Unlimited);
        let got = match &answer.outcome {
            Outcome::Valid => "valid".to_owned(),
            Outcome::Invalid { violations } => {
                let said = |v: &crate::checker::Violation| format!("{} {}", v.anomaly, v.ops[0]);
                violations.iter().map(said).collect::<Vec<_>>().join(", ")
            }
            Outcome::Unknown { .. } => "unknown".to_owned(),
        };
        assert_eq!(got, expect, "{text}\n{answer:#?}");
    }

    #[test]
    fn a_read_lies_between_what_was_counted_and_what_may_have_been() {
        for (expect, text) in [
            ("valid", "c1 read - -> 0 [0..1]"),
            ("above-bounds 0", "c1 read - -> 1 [0..1]"),
            ("valid", "c1 add - 1 !refused [0..1]\nc1 read - -> 0 [2..3]"),
            ("above-bounds 1", "c1 add - 1 !refused [0..1]\nc1 read - -> 1 [2..3]"),
            ("valid", "c1 add - 1 -> 1 [0..1]\nc1 add - 2 [2..9]\nc2 read - -> 1 [3..4]\nc3 read - -> 3 [3..4]"),
            ("below-bounds 2", "c1 add - 1 [0..1]\nc1 add - 2 [2..9]\nc2 read - -> 0 [3..4]"),
            ("above-bounds 2", "c1 add - 1 [0..1]\nc1 add - 2 [5..9]\nc2 read - -> 3 [3..4]"),
            // Concurrent to the read: invoked before it completed.
            ("valid", "c2 read - -> 3 [0..5]\nc1 add - 3 [4..9]"),
            ("valid", "c1 add - 1 [0..]\nc2 read - -> 0 [3..4]\nc2 read - -> 1 [5..6]"),
            ("valid", "c1 add - 5 [0..1]\nc1 dec - 2 [2..9]\nc2 read - -> 3 [3..4]\nc2 read - -> 5 [5..6]"),
            ("below-bounds 2", "c1 add - 5 [0..1]\nc1 dec - 2 [2..9]\nc2 read - -> 2 [3..4]"),
            ("above-bounds 2", "c1 add - 5 [0..1]\nc1 sub - 2 [2..3]\nc2 read - -> 4 [4..5]"),
            ("valid", "c1 add - 5 [0..1]\nc1 add - -2 [2..3]\nc2 read - -> 3 [4..5]"),
            // An increment that answers saw itself.
            ("valid", "c1 inc - 1 -> 1 [0..1]\nc1 inc - -> 2 [2..3]"),
            ("below-bounds 0", "c1 inc - 1 -> 0 [0..1]"),
            ("below-bounds 1", "c1 inc - 1 -> 1 [0..1]\nc1 inc - 1 -> 1 [2..3]"),
            ("above-bounds 0", "c1 dec - 1 -> 0 [0..1]"),
            ("above-bounds 3", "c1 add a 1 [0..1]\nc1 add b 2 [0..1]\nc2 read a -> 1 [2..3]\nc2 read b -> 3 [2..3]"),
            ("unknown", ""),
            ("unknown", "c1 add - 1 [0..1]"),
            ("unknown", "c1 add - 1 [0..1]\nc1 read - [2..]"),
            ("unknown", "c1 add - 1 [0..1]\nc1 read - -> null [2..3]"),
            ("unknown", "c1 add - 1.5 [0..1]\nc1 read - -> 1 [2..3]"),
            ("unknown", "c1 cas - [0,1] -> true [0..1]\nc1 read - -> 1 [2..3]"),
        ] {
            check(CounterBounds::new(), text, expect);
        }
        check(CounterBounds::starting_at(7), "c1 read - -> 7 [0..1]", "valid");
        let missing = CounterBounds::new().missing(&history("c1 add - x [0..1]").unwrap());
        assert_eq!(missing, ["operation 0 and 1 in all: a counter counts whole numbers, not \"x\""]);
    }

    /// Least and greatest level over every choice of the changes that may be there.
    fn reference(history: &History, read: &Op) -> (i64, i64) {
        let amount = |op: &Op| op.input.as_i64().unwrap() * if op.op_type == "dec" { -1 } else { 1 };
        let changes = history.ops().iter().filter(|op| op.op_type != "read" && op.effect() != Effect::Failed);
        let (sure, maybe): (Vec<&Op>, Vec<&Op>) = changes
            .filter(|op| op.invoke_ts <= read.complete_ts.unwrap())
            .partition(|op| op.effect() == Effect::Acknowledged && op.complete_ts.unwrap() < read.invoke_ts);
        let base: i64 = sure.into_iter().map(amount).sum();
        let sums = (0..1_u32 << maybe.len()).map(|chosen| {
            base + maybe
                .iter()
                .enumerate()
                .filter(|(at, _)| chosen >> at & 1 == 1)
                .map(|(_, op)| amount(op))
                .sum::<i64>()
        });
        (sums.clone().min().unwrap(), sums.max().unwrap())
    }

    #[test]
    fn bounds_are_those_over_every_choice_of_what_may_be_there() {
        let mut seen = [0, 0];
        for seed in seeds(4000) {
            let mut rng = Rng::stream(seed, "counter");
            let mut text = String::new();
            for op in 0..2 + rng.below(9) {
                let (from, length, amount) = (rng.below(40), rng.below(15), rng.below(6));
                let to = from + length;
                text.push_str(&match rng.below(10) {
                    0 => format!("c{op} add - {amount} [{from}..]\n"),
                    1 => format!("c{op} add - {amount} !no [{from}..{to}]\n"),
                    2..5 => format!("c{op} add - {amount} [{from}..{to}]\n"),
                    5 => format!("c{op} dec - {amount} [{from}..{to}]\n"),
                    6 => format!("c{op} dec - {amount} [{from}..]\n"),
                    _ => format!("c{op} read - -> {} [{from}..{to}]\n", rng.below(12)),
                });
            }
            let history = history(&text).unwrap();
            let reads = history.ops().iter().filter(|op| op.op_type == "read");
            let mut expect: Vec<u64> = reads
                .filter(|read| {
                    let (least, greatest) = reference(&history, read);
                    !(least..=greatest).contains(&read.output.as_i64().unwrap())
                })
                .map(|read| read.op_id)
                .collect();
            let mut got: Vec<u64> = match CounterBounds::new().check(&history, &Unlimited).outcome {
                Outcome::Invalid { violations } => violations.iter().map(|v| v.ops[0]).collect(),
                _ => Vec::new(),
            };
            expect.sort_unstable();
            got.sort_unstable();
            assert_eq!(got, expect, "{seed}\n{text}");
            seen[usize::from(got.is_empty())] += 1;
        }
        assert!(seen.iter().all(|count| *count > 500), "{seen:?}");
    }
}
