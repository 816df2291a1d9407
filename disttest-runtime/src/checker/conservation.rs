//! Conservation: what is there is what came in, less what went out.

use super::inquiry::{Group, Inquiry, Witness, acknowledged, by_key, end, problems, told};
use super::{Answer, Checker, Limits};
use crate::history::{Effect, History, Op};
use std::fmt;
use std::sync::Arc;

/// What an operation says about a conserved quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// If it takes effect, it adds this much (takes it away, when negative).
    Flow(i64),
    /// It saw this much.
    Level(i64),
    /// It added this much, and saw that much after it.
    FlowTo(i64, i64),
    /// It says nothing, such as a read that did not complete, or a transfer within.
    Nothing,
}

/// Checks a quantity that only declared flows change: stock of a warehouse, money of a bank, tokens of a bucket, a count.
///
/// A level that was seen must lie between two bounds. A flow that was acknowledged before the read began is there for
/// sure; one that was invoked before the read completed, and did not fail, may be there. So the lower bound is the
/// initial level, all sure flows, and those negative flows that may be there; the upper one has the positive flows that
/// may be there instead. A flow of unknown outcome may be there from its invocation to the end. Levels outside are
/// `below-bounds` or `above-bounds`.
///
/// ```
/// use disttest_runtime::checker::{Checker, Conservation, Measure, Unlimited};
/// use disttest_runtime::history::notation::history;
///
/// let stock = Conservation::new("stock", |op| match (op.op_type.as_str(), &op.input, &op.output) {
///     ("deliver", amount, _) => amount.as_i64().map(Measure::Flow).ok_or("no amount".to_owned()),
///     ("pick", amount, _) => amount.as_i64().map(|n| Measure::Flow(-n)).ok_or("no amount".to_owned()),
///     (_, _, level) => Ok(level.as_i64().map_or(Measure::Nothing, Measure::Level)),
/// });
/// let history = history("c1 deliver - 5 [0..1]\nc2 pick - 2 [2..3]\nc3 count - -> 4 [4..5]").unwrap();
/// let answer = stock.check(&history, &Unlimited);
/// assert!(matches!(answer.outcome, disttest_runtime::checker::Outcome::Invalid { .. }));
/// ```
///
/// Needs what the measure needs, and both timestamps. Each key is conserved by itself. O(n log n), linear memory.
#[derive(Clone)]
pub struct Conservation {
    name: String,
    initial: i64,
    measure: MeasureOf,
}

/// What an operation says; `Err` says what is not understood.
type MeasureOf = Arc<dyn Fn(&Op) -> Result<Measure, String> + Send + Sync>;

impl fmt::Debug for Conservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conservation").field("name", &self.name).field("initial", &self.initial).finish_non_exhaustive()
    }
}

/// Kinds, most telling first.
pub(super) const RANKS: &[&str] = &["below-bounds", "above-bounds"];

impl Conservation {
    /// The law `name` over what `measure` sees in an operation, from an initial level of 0. `Err` of the measure says
    /// what it does not understand: then the history does not fit.
    pub fn new(
        name: impl Into<String>,
        measure: impl Fn(&Op) -> Result<Measure, String> + Send + Sync + 'static,
    ) -> Conservation {
        Conservation { name: name.into(), initial: 0, measure: Arc::new(measure) }
    }

    /// The level at the start.
    pub fn starting_at(mut self, initial: i64) -> Conservation {
        self.initial = initial;
        self
    }
}

impl Checker for Conservation {
    fn name(&self) -> &str {
        &self.name
    }

    fn cannot_detect(&self) -> Vec<String> {
        blind_spots()
    }

    fn missing(&self, history: &History) -> Vec<String> {
        problems(history, |op| (self.measure)(op).err())
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut inquiry = Inquiry::new(history, limits);
        judge(history, self.initial, &*self.measure, &mut inquiry);
        inquiry.answer(self, RANKS, NOTHING)
    }
}

/// What levels within bounds do not exclude.
pub(super) fn blind_spots() -> Vec<String> {
    vec![
        "a level within the bounds that no subset of the flows in flight adds up to".to_owned(),
        "two reads that contradict each other, each within its bounds: a level that goes back and forth".to_owned(),
        "a lost flow that a doubled one makes up for".to_owned(),
    ]
}

/// Said when nothing was compared.
pub(super) const NOTHING: &str = "no completed read saw a level";

/// Compares every level with its bounds.
pub(super) fn judge(
    history: &History,
    initial: i64,
    measure: &dyn Fn(&Op) -> Result<Measure, String>,
    inquiry: &mut Inquiry<'_>,
) {
    for group in by_key(history) {
        match Sheet::of(&group, measure) {
            Err(why) => inquiry.undecided(why),
            Ok(sheet) => {
                inquiry.evidence.partitions += 1;
                inquiry.evidence.consumed += group.ops.len() as u64;
                if !sheet.judge(group.key, initial, inquiry) {
                    return;
                }
            }
        }
    }
}

/// Flows and levels of one key.
#[derive(Default)]
struct Sheet<'h> {
    /// Flows that did not fail: invocation and amount, by invocation.
    possible: Vec<(u64, i64)>,
    /// Acknowledged flows: completion and amount, by completion.
    sure: Vec<(u64, i64)>,
    levels: Vec<Level<'h>>,
}

struct Level<'h> {
    op: &'h Op,
    invoke: u64,
    complete: u64,
    level: i64,
    /// What the operation itself added.
    own: i64,
    /// Sum of the flows that are there for sure, and of their negative part.
    sure: i128,
    sure_negative: i128,
}

impl<'h> Sheet<'h> {
    fn of(group: &Group<'h>, measure: &dyn Fn(&Op) -> Result<Measure, String>) -> Result<Sheet<'h>, String> {
        let mut sheet = Sheet::default();
        for op in group.ops.iter().copied().filter(|op| op.effect() != Effect::Failed) {
            let measure =
                measure(op).map_err(|why| format!("the history does not fit: operation {}: {why}", op.op_id))?;
            let (own, level) = match measure {
                Measure::Nothing => continue,
                Measure::Flow(own) => (own, None),
                Measure::Level(level) => (0, Some(level)),
                Measure::FlowTo(own, level) => (own, Some(level)),
            };
            if own != 0 {
                sheet.possible.push((op.invoke_ts.0, own));
                if acknowledged(op) {
                    sheet.sure.push((end(op), own));
                }
            }
            if let Some(level) = level.filter(|_| acknowledged(op)) {
                sheet.levels.push(Level {
                    op,
                    invoke: op.invoke_ts.0,
                    complete: end(op),
                    level,
                    own,
                    sure: 0,
                    sure_negative: 0,
                });
            }
        }
        sheet.sure.sort_unstable();
        Ok(sheet)
    }

    /// False when limits say to stop.
    fn judge(mut self, key: Option<&str>, initial: i64, inquiry: &mut Inquiry<'_>) -> bool {
        let bytes = 16 * (self.possible.len() + self.sure.len()) as u64 + 96 * self.levels.len() as u64;
        let mut sure = self.sure.iter().peekable();
        let (mut sum, mut negative) = (0, 0);
        for level in &mut self.levels {
            while let Some((_, amount)) = sure.next_if(|(at, _)| *at < level.invoke) {
                sum += i128::from(*amount);
                negative += i128::from(*amount.min(&0));
            }
            (level.sure, level.sure_negative) = (sum, negative);
        }
        let mut order: Vec<(u64, u32)> = self.levels.iter().map(|level| level.complete).zip(0..).collect();
        order.sort_unstable();
        let mut possible = self.possible.iter().peekable();
        let (mut sum, mut negative) = (0, 0);
        for (complete, at) in order {
            let level = &self.levels[at as usize];
            while let Some((_, amount)) = possible.next_if(|(at, _)| *at <= complete) {
                sum += i128::from(*amount);
                negative += i128::from(*amount.min(&0));
            }
            if !inquiry.go_on(1, bytes) {
                return false;
            }
            inquiry.evidence.fired += 1;
            // Its own flow is there, whatever the others are.
            let own = i128::from(level.own);
            let lower = i128::from(initial) + level.sure + (negative - level.sure_negative) + (own - own.min(0));
            let positive = (sum - negative) - (level.sure - level.sure_negative);
            let upper = i128::from(initial) + level.sure + positive + (own - own.max(0));
            let kind = match i128::from(level.level) {
                seen if seen < lower => "below-bounds",
                seen if seen > upper => "above-bounds",
                _ => continue,
            };
            inquiry.found(kind, key, || level.out_of(lower, upper));
        }
        true
    }
}

impl Level<'_> {
    fn out_of(&self, lower: i128, upper: i128) -> Witness {
        let bounds = match lower == upper {
            true => format!("exactly {lower}"),
            false => format!("at least {lower} and at most {upper}"),
        };
        Witness {
            ops: vec![self.op.op_id],
            explanation: format!(
                "{} saw {}; the flows acknowledged before it began, and those in flight until it completed, allow {bounds}.",
                told(self.op),
                self.level
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::{Outcome, Unlimited};
    use crate::history::notation::history;

    fn stock() -> Conservation {
        Conservation::new("stock", |op| match op.op_type.as_str() {
            "in" => op.input.as_i64().map(Measure::Flow).ok_or_else(|| "no amount".to_owned()),
            "out" => op.input.as_i64().map(|n| Measure::Flow(-n)).ok_or_else(|| "no amount".to_owned()),
            "move" => Ok(Measure::Nothing),
            _ => Ok(op.output.as_i64().map_or(Measure::Nothing, Measure::Level)),
        })
    }

    #[test]
    fn a_law_of_ones_own_is_checked() {
        let check = |text: &str, expect: &str| {
            let answer = stock().starting_at(10).check(&history(text).expect("valid"), &Unlimited);
            let got = match answer.outcome {
                Outcome::Valid => "valid".to_owned(),
                Outcome::Invalid { violations } => violations[0].anomaly.clone(),
                Outcome::Unknown { why } => why,
            };
            assert_eq!(got, expect, "{text}");
            assert_eq!(answer.checker, "stock");
        };
        check("c1 in - 5 [0..1]\nc1 out - 3 [2..3]\nc1 move - 9 [2..3]\nc2 see - -> 12 [4..5]", "valid");
        check("c1 in - 5 [0..1]\nc1 out - 3 [2..6]\nc2 see - -> 11 [4..5]", "below-bounds");
        check("c1 in a 5 [0..1]\nc2 see b -> 15 [4..5]", "above-bounds");
        check("c1 in - 5 [0..1]", NOTHING);
        check("c1 in - x [0..1]\nc2 see - -> 15 [4..5]", "the history does not fit: operation 0: no amount");
    }
}
