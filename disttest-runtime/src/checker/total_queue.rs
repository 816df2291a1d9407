//! Total queues: what goes in comes out.

use super::inquiry::{Group, Inquiry, Numbering, Witness, acknowledged, brief, by_key, end, problems, told};
use super::{Answer, Checker, Limits, recipe};
use crate::history::{Effect, History, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Checks that every acknowledged `enqueue` came out of a queue that was drained at the end, in whatever order.
///
/// `enqueue` has the element as input; `dequeue` answers one, or null for an empty queue; `drain` answers the list of
/// all that were left. An element is
///
/// - `lost` when it was acknowledged more often than it came out;
/// - `unexpected` when it came out, and no enqueue of it had been invoked by then;
/// - `failed-enqueue-delivered` when it came out, and every enqueue of it is known to have failed;
/// - `duplicated` when it came out more often than it may have gone in; a violation only for [`TotalQueue::once`], since
///   queues that deliver at least once do that;
/// - recovered when it came out though its enqueue has an unknown outcome, which is fine.
///
/// A `dequeue` of unknown outcome may have taken an element that nobody saw, and a `drain` any number: elements that
/// may have gone that way are not lost but unknown. Nor can any be called lost before the queue was seen empty, that
/// is, a `drain`, or a `dequeue` that answered null or failed, began after the last acknowledged enqueue had
/// completed; unless the caller knows ([`TotalQueue::drained`]), as Jepsen's `total-queue` takes for granted.
///
/// Needs: `input` of each enqueue, `output` of each drain, both timestamps. Each key is a queue. O(elements), linear
/// memory. After Jepsen's `jepsen.checker/total-queue`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TotalQueue {
    once: bool,
    drained: bool,
}

/// Kinds, most telling first.
const RANKS: &[&str] = &["lost", "duplicated", "unexpected", "failed-enqueue-delivered"];

impl TotalQueue {
    /// Elements come out at least once.
    pub fn new() -> TotalQueue {
        TotalQueue::default()
    }

    /// Elements come out exactly once.
    pub fn once(mut self) -> TotalQueue {
        self.once = true;
        self
    }

    /// The queue is known to be empty at the end of the history, even if no operation shows it.
    pub fn drained(mut self) -> TotalQueue {
        self.drained = true;
        self
    }
}

/// The elements that `op` took out; `Err` says what is not understood.
fn taken(op: &Op) -> Result<&[Value], String> {
    match op.op_type.as_str() {
        "enqueue" => Ok(&[]),
        _ if !acknowledged(op) && matches!(op.op_type.as_str(), "dequeue" | "drain") => Ok(&[]),
        "dequeue" if op.output.is_null() => Ok(&[]),
        "dequeue" => Ok(std::slice::from_ref(&op.output)),
        "drain" => match &op.output {
            Value::Array(elements) => Ok(elements),
            other => Err(format!("a drain answers the list of what was left, not {}", brief(&other.to_string()))),
        },
        other => Err(format!("`{other}` is none of enqueue, dequeue, drain")),
    }
}

/// True when `op` saw the queue empty, at its end at the latest.
fn saw_empty(op: &Op) -> bool {
    match op.op_type.as_str() {
        "drain" => acknowledged(op),
        "dequeue" => op.effect() == Effect::Failed || acknowledged(op) && op.output.is_null(),
        _ => false,
    }
}

impl Checker for TotalQueue {
    fn name(&self) -> &str {
        "total-queue"
    }

    fn model(&self) -> Option<&str> {
        Some("queue")
    }

    fn cannot_detect(&self) -> Vec<String> {
        let mut list = vec![
            "the order of elements (see `prefix-order`)".to_owned(),
            "elements that were gone for a while and came back before the queue was drained".to_owned(),
            "whether enqueues of unknown outcome took effect".to_owned(),
        ];
        if !self.once {
            list.push("elements that came out more often than they went in".to_owned());
        }
        list
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("total-queue", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        let mut list = problems(history, |op| taken(op).err());
        for group in by_key(history) {
            if let (false, Some(last)) = (self.drained || is_drained(&group), last_enqueued(&group)) {
                let name = group.key.map_or_else(|| "the queue".to_owned(), |key| format!("queue {key:?}"));
                list.push(format!(
                    "{name} was not seen empty after its last acknowledged enqueue (operation {})",
                    last.op_id
                ));
            }
        }
        list
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut inquiry = Inquiry::new(history, limits);
        for group in by_key(history) {
            match group.ops.iter().find_map(|op| Some((op, taken(op).err()?))) {
                Some((op, why)) => {
                    inquiry.undecided(format!("the history does not fit: operation {}: {why}", op.op_id));
                }
                None if !self.judge(&group, &mut inquiry) => break,
                None => {}
            }
        }
        inquiry.answer(self, RANKS, "no acknowledged enqueue could have been lost, and nothing came out")
    }
}

fn last_enqueued<'h>(group: &Group<'h>) -> Option<&'h Op> {
    let enqueued = group.ops.iter().copied().filter(|op| op.op_type == "enqueue" && acknowledged(op));
    enqueued.max_by_key(|op| (op.complete_ts, op.op_id))
}

fn is_drained(group: &Group<'_>) -> bool {
    let quiet = last_enqueued(group).and_then(|op| op.complete_ts);
    group.ops.iter().any(|op| saw_empty(op) && Some(op.invoke_ts) > quiet)
}

/// What is known of one element.
#[derive(Clone, Copy, Default)]
struct Passage<'h> {
    /// The enqueue that was invoked first, of those not known to have failed.
    first: Option<&'h Op>,
    /// Enqueues that did not fail.
    attempts: u64,
    /// The last acknowledged enqueue.
    acknowledged: Option<&'h Op>,
    acknowledgements: u64,
    failed: Option<&'h Op>,
    out: u64,
}

impl TotalQueue {
    /// False when limits say to stop.
    fn judge<'h>(&self, group: &Group<'h>, inquiry: &mut Inquiry<'_>) -> bool {
        let mut numbering = Numbering::new(group.ops.len());
        let mut passages: Vec<Passage<'h>> = Vec::with_capacity(group.ops.len());
        inquiry.evidence.partitions += 1;
        inquiry.evidence.consumed += group.ops.len() as u64;
        for op in group.ops.iter().copied().filter(|op| op.op_type == "enqueue") {
            let number = numbering.of(&op.input) as usize;
            if number == passages.len() {
                passages.push(Passage::default());
            }
            passages[number].enter(op);
        }
        for op in &group.ops {
            let elements = taken(op).unwrap_or(&[]);
            if !inquiry.go_on(1 + elements.len() as u64, 96 * passages.len() as u64) {
                return false;
            }
            for element in elements {
                inquiry.evidence.fired += 1;
                let passage = numbering.known(element).and_then(|number| passages.get_mut(number as usize));
                let mut unknown = Passage::default();
                let passage = passage.unwrap_or(&mut unknown);
                passage.out += 1;
                self.judge_delivery(group.key, op, element, passage, inquiry);
            }
        }
        inquiry.evidence.fired += passages.iter().filter(|passage| passage.acknowledged.is_some()).count() as u64;
        self.judge_losses(group, &passages, inquiry);
        true
    }

    fn judge_delivery(
        &self,
        key: Option<&str>,
        op: &Op,
        element: &Value,
        passage: &Passage<'_>,
        inquiry: &mut Inquiry<'_>,
    ) {
        let element = || brief(&element.to_string());
        match (passage.first, passage.failed) {
            (Some(first), _) if first.invoke_ts.0 > end(op) => inquiry.found("unexpected", key, || Witness {
                ops: vec![op.op_id, first.op_id],
                explanation: format!("{} had completed when {} went in first: {}.", told(op), element(), told(first)),
            }),
            (Some(first), _) if self.once && passage.out > passage.attempts => {
                inquiry.found("duplicated", key, || Witness {
                    ops: vec![first.op_id, op.op_id],
                    explanation: format!(
                        "{} went in at most {} times, and came out {} times by {}.",
                        element(),
                        passage.attempts,
                        passage.out,
                        told(op)
                    ),
                })
            }
            (Some(_), _) => {}
            (None, Some(failed)) => inquiry.found("failed-enqueue-delivered", key, || Witness {
                ops: vec![failed.op_id, op.op_id],
                explanation: format!(
                    "{} is known to have failed, and {} came out: {}.",
                    told(failed),
                    element(),
                    told(op)
                ),
            }),
            (None, None) => inquiry.found("unexpected", key, || Witness {
                ops: vec![op.op_id],
                explanation: format!("{} came out, and nobody put it in: {}.", element(), told(op)),
            }),
        }
    }

    fn judge_losses(&self, group: &Group<'_>, passages: &[Passage<'_>], inquiry: &mut Inquiry<'_>) {
        let lost = || passages.iter().filter(|passage| passage.acknowledgements > passage.out);
        let count: u64 = lost().map(|passage| passage.acknowledgements - passage.out).sum();
        let unknown = |kind: &str| {
            group.ops.iter().filter(|op| op.op_type == kind && op.effect() == Effect::Unknown).count() as u64
        };
        let (dequeues, drains) = (unknown("dequeue"), unknown("drain"));
        let Some(first) = lost().find_map(|passage| passage.acknowledged) else { return };
        let undecided =
            |why: &str| format!("{count} acknowledged elements did not come out ({} first): {why}", told(first));
        if !self.drained && !is_drained(group) {
            inquiry.undecided(undecided("the queue was not seen empty after the last acknowledged enqueue"));
        } else if drains > 0 {
            inquiry.undecided(undecided("a drain of unknown outcome may have taken them"));
        } else if count <= dequeues {
            inquiry.undecided(undecided(&format!("{dequeues} dequeues of unknown outcome may have taken them")));
        } else {
            for passage in lost() {
                let Some(add) = passage.acknowledged else { continue };
                let but = match dequeues {
                    0 => String::new(),
                    some => format!(
                        " ({count} elements are missing; {some} dequeues of unknown outcome can have taken {some} of them)"
                    ),
                };
                inquiry.found("lost", group.key, || Witness {
                    ops: vec![add.op_id],
                    explanation: format!(
                        "{} was acknowledged, {} times in all, and came out {} times before the queue was drained{but}.",
                        told(add),
                        passage.acknowledgements,
                        passage.out
                    ),
                });
            }
        }
    }
}

impl<'h> Passage<'h> {
    fn enter(&mut self, op: &'h Op) {
        match op.effect() {
            Effect::Failed => {
                self.failed = Some(op);
                return;
            }
            Effect::Unknown => {}
            Effect::Acknowledged => {
                self.acknowledged = Some(op);
                self.acknowledgements += 1;
            }
        }
        self.attempts += 1;
        self.first = self.first.or(Some(op));
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

    fn check(checker: TotalQueue, text: &str, expect: &str) {
        let answer = checker.check(&history(text).unwrap(), &Unlimited);
        let got = said(&answer.outcome);
        assert_eq!(got, expect, "{text}\n{answer:#?}");
    }

    #[test]
    fn what_goes_in_comes_out_of_a_drained_queue() {
        for (expect, text) in [
            ("valid", "c1 enqueue q 1 [0..1]\nc2 dequeue q -> 1 [2..3]\nc2 dequeue q -> null [4..5]"),
            ("valid", "c1 enqueue q 1 [0..1]\nc2 drain q -> [1] [4..5]"),
            ("valid", "c1 enqueue q 1 [0..]\nc1 enqueue q 2 [0..3]\nc2 drain q -> [1,2] [4..5]"),
            ("valid", "c1 enqueue q 1 [0..]\nc1 enqueue q 2 [0..3]\nc2 drain q -> [2] [4..5]"),
            ("valid", "c1 enqueue q 1 [0..1]\nc1 enqueue q 1 [2..3]\nc2 drain q -> [1,1] [4..5]"),
            ("valid", "c1 enqueue q 1 [0..1]\nc2 drain q -> [1,1] [4..5]"),
            ("valid", "c2 dequeue q -> 1 [0..5]\nc1 enqueue q 1 [4..7]\nc2 dequeue q !empty [8..9]"),
            ("lost [0]", "c1 enqueue q 1 [0..1]\nc2 drain q -> [] [4..5]"),
            ("lost [0]", "c1 enqueue q 1 [0..1]\nc2 dequeue q !empty [4..5]"),
            ("lost [1]", "c1 enqueue q 1 [0..1]\nc1 enqueue q 1 [2..3]\nc2 drain q -> [1] [4..5]"),
            (
                "lost [0]",
                "c1 enqueue q 1 [0..1]\nc1 enqueue r 1 [0..1]\nc2 drain q -> [] [4..5]\nc2 drain r -> [1] [4..5]",
            ),
            // One crashed dequeue cannot have taken two.
            ("unknown", "c1 enqueue q 1 [0..1]\nc3 dequeue q [2..]\nc2 drain q -> [] [4..5]"),
            (
                "lost [0], lost [1]",
                "c1 enqueue q 1 [0..1]\nc1 enqueue q 2 [0..1]\nc3 dequeue q [2..]\nc2 drain q -> [] [4..5]",
            ),
            ("unknown", "c1 enqueue q 1 [0..1]\nc3 drain q [2..]\nc2 drain q -> [] [4..5]"),
            // Not seen empty since.
            ("unknown", "c1 enqueue q 1 [0..1]"),
            ("unknown", "c2 drain q -> [] [0..1]\nc1 enqueue q 1 [2..3]"),
            ("unexpected [1]", "c1 enqueue q 1 [0..1]\nc2 drain q -> [1,2] [4..5]"),
            ("unexpected [1, 2]", "c1 enqueue q 1 [0..1]\nc2 drain q -> [1,2] [4..5]\nc1 enqueue q 2 [6..]"),
            ("failed-enqueue-delivered [0, 1]", "c1 enqueue q 1 !full [0..1]\nc2 drain q -> [1] [4..5]"),
            ("unknown", ""),
            ("unknown", "c2 drain q -> [] [4..5]"),
            ("unknown", "c1 enqueue q 1 [0..]\nc2 drain q -> [] [4..5]"),
            ("unknown", "c1 enqueue q 1 [0..1]\nc2 drain q -> 1 [4..5]"),
            ("unknown", "c1 push q 1 [0..1]\nc2 drain q -> [1] [4..5]"),
        ] {
            check(TotalQueue::new(), text, expect);
        }
        check(TotalQueue::new().drained(), "c1 enqueue q 1 [0..1]", "lost [0]");
        check(TotalQueue::new().once(), "c1 enqueue q 1 [0..1]\nc2 drain q -> [1,1] [4..5]", "duplicated [0, 1]");
        let missing = TotalQueue::new().missing(&history("c1 enqueue q 1 [0..1]").unwrap());
        assert_eq!(missing, ["queue \"q\" was not seen empty after its last acknowledged enqueue (operation 0)"]);
    }

    /// Counts by looking through the history once more for every element.
    fn reference(history: &History) -> Vec<String> {
        let ops = history.ops();
        let out = |element: u64| -> u64 {
            let in_list = |op: &&Op| taken(op).unwrap().iter().filter(|value| **value == element).count() as u64;
            ops.iter().map(|op| in_list(&op)).sum()
        };
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for element in 0..5 {
            let of = |effect: Effect| {
                let mine = ops.iter().filter(|op| op.op_type == "enqueue" && op.input == element);
                mine.filter(|op| op.effect() == effect).count() as u64
            };
            let may = of(Effect::Acknowledged) + of(Effect::Unknown);
            match (may, of(Effect::Failed)) {
                (0, 0) => found.extend((0..out(element)).map(|_| "unexpected".to_owned())),
                (0, _) => found.extend((0..out(element)).map(|_| "failed-enqueue-delivered".to_owned())),
                _ => found.extend((may..out(element)).map(|_| "duplicated".to_owned())),
            }
            let surely = of(Effect::Acknowledged);
            missing.extend((out(element)..surely).map(|_| element));
        }
        let crashed = ops.iter().filter(|op| op.op_type == "dequeue" && op.effect() == Effect::Unknown).count();
        if missing.len() > crashed {
            missing.dedup();
            found.extend(missing.iter().map(|_| "lost".to_owned()));
        }
        found.sort();
        found
    }

    #[test]
    fn counts_agree_with_a_look_at_every_element() {
        let mut kinds = std::collections::BTreeSet::new();
        for seed in seeds(4000) {
            let mut rng = Rng::stream(seed, "queue");
            let mut text = String::new();
            for at in 0..2 + rng.below(8) {
                let element = rng.below(5);
                text.push_str(&match rng.below(10) {
                    0 => format!("c{at} enqueue - {element} [{at}..]\n"),
                    1 => format!("c{at} enqueue - {element} !full [{at}..50]\n"),
                    2..6 => format!("c{at} enqueue - {element} [{at}..50]\n"),
                    6 => format!("c{at} dequeue - [{at}..]\n"),
                    _ => format!("c{at} dequeue - -> {element} [{at}..50]\n"),
                });
            }
            let left: Vec<u64> = (0..5).filter(|_| rng.chance(1, 3)).collect();
            text.push_str(&format!("c1 drain - -> {} [60..70]\n", serde_json::json!(left)));
            let history = history(&text).unwrap();
            let outcome = TotalQueue::new().once().check(&history, &Unlimited).outcome;
            let mut got: Vec<String> = match outcome {
                Outcome::Invalid { violations } => violations.into_iter().map(|v| v.anomaly).collect(),
                _ => Vec::new(),
            };
            got.sort();
            assert_eq!(got, reference(&history), "{seed}\n{text}");
            kinds.extend(got);
        }
        assert_eq!(kinds.len(), 4, "{kinds:?}");
    }
}
