//! Comments: whoever sees a write sees those that had completed before it began.

use super::inquiry::{Group, Inquiry, Numbering, Witness, acknowledged, brief, by_key, problems, told};
use super::{Answer, Checker, Limits, recipe};
use crate::history::{Effect, History, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Checks that no read shows a write and misses another one that was acknowledged before the first began: a comment, but
/// not the one that it answers.
///
/// Operations are `write` of a value that stays (also `add`, `insert`), and `read` of the list of all values. A read that
/// shows a and not b, though the write of b had been acknowledged before that of a began, is `later-without-earlier`.
/// Strict serializability forbids that, serializability does not. Values that nobody wrote are left alone; of a value
/// that was written twice the first invocation and the first acknowledgement count. Needs: `input` of each write, a list
/// as `output` of each read, both timestamps. Each key is a stream of its own. Without a read that shows a write which
/// began after another was acknowledged the answer is unknown. O(n log n) in writes and values read, linear memory. After
/// `comments` of Jepsen's test of CockroachDB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comments;

impl Comments {
    /// For streams of any length.
    pub fn new() -> Comments {
        Comments
    }

    /// Reads of `history` that could contradict. Costs as much as a check.
    pub fn observing(&self, history: &History) -> u64 {
        let mut inquiry = Inquiry::new(history, &super::Unlimited);
        by_key(history).iter().for_each(|group| judge(group, &mut inquiry));
        inquiry.evidence.fired
    }
}

fn is_write(op: &Op) -> bool {
    matches!(op.op_type.as_str(), "write" | "add" | "insert")
}

fn problem(op: &Op) -> Option<String> {
    match op.op_type.as_str() {
        _ if is_write(op) => None,
        "read" if acknowledged(op) && !op.output.is_array() => {
            Some(format!("a read answers the list of all values, not {}", brief(&op.output.to_string())))
        }
        "read" => None,
        other => Some(format!("`{other}` is none of write, add, insert, read")),
    }
}

impl Checker for Comments {
    fn name(&self) -> &str {
        "comments"
    }

    fn cannot_detect(&self) -> Vec<String> {
        vec![
            "acknowledged writes that no read shows, and nothing later either".to_owned(),
            "the order of writes that were in flight at once".to_owned(),
            "reads that go back, as long as what they show is complete".to_owned(),
        ]
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("comments", self)
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
            None => by_key(history).iter().for_each(|group| judge(group, &mut inquiry)),
        }
        inquiry.answer(self, &[], "no read shows a write that began after another one was acknowledged")
    }
}

/// What is known of a value: its first write, and the one that was acknowledged first.
#[derive(Clone, Copy, Default)]
struct Written<'h> {
    first: Option<&'h Op>,
    acknowledged: Option<&'h Op>,
}

fn judge(group: &Group<'_>, inquiry: &mut Inquiry<'_>) {
    inquiry.evidence.partitions += 1;
    inquiry.evidence.consumed += group.ops.len() as u64;
    let mut numbers = Numbering::new(group.ops.len());
    let mut written: Vec<Written<'_>> = Vec::new();
    for op in group.ops.iter().copied().filter(|op| is_write(op) && op.effect() != Effect::Failed) {
        let number = numbers.of(&op.input) as usize;
        written.resize(written.len().max(number + 1), Written::default());
        let of = &mut written[number];
        if of.first.is_none_or(|first| op.invoke_ts < first.invoke_ts) {
            of.first = Some(op);
        }
        if acknowledged(op) && of.acknowledged.is_none_or(|first| op.complete_ts < first.complete_ts) {
            of.acknowledged = Some(op);
        }
    }
    let mut by_end: Vec<(u64, u32)> =
        (0..).zip(&written).filter_map(|(number, of)| Some((of.acknowledged?.complete_ts?.0, number))).collect();
    by_end.sort_unstable();
    for read in group.ops.iter().copied().filter(|op| op.op_type == "read" && acknowledged(op)) {
        let shown = read.output.as_array().map_or(&[][..], Vec::as_slice);
        if !inquiry.go_on(1 + shown.len() as u64, 40 * written.len() as u64) {
            return;
        }
        look(read, shown, &numbers, &written, &by_end, inquiry);
    }
}

/// Looks for what `read` had to show besides what it shows.
fn look(
    read: &Op,
    shown: &[Value],
    numbers: &Numbering<'_>,
    written: &[Written<'_>],
    by_end: &[(u64, u32)],
    inquiry: &mut Inquiry<'_>,
) {
    let mut seen: Vec<u32> = shown.iter().filter_map(|value| numbers.known(value)).collect();
    let latest = seen.iter().filter_map(|number| written[*number as usize].first).max_by_key(|op| op.invoke_ts);
    let Some(latest) = latest else { return };
    let owed = &by_end[..by_end.partition_point(|(end, _)| *end < latest.invoke_ts.0)];
    if owed.is_empty() {
        return;
    }
    inquiry.evidence.fired += 1;
    seen.sort_unstable();
    seen.dedup();
    let held = seen.iter().filter(|number| {
        let end = written[**number as usize].acknowledged.and_then(|op| op.complete_ts);
        end.is_some_and(|end| end.0 < latest.invoke_ts.0)
    });
    if held.count() == owed.len() {
        return;
    }
    let lost: Vec<&Op> = owed
        .iter()
        .filter(|(_, number)| seen.binary_search(number).is_err())
        .filter_map(|(_, number)| written[*number as usize].acknowledged)
        .collect();
    let Some(first) = lost.first() else { return };
    inquiry.found("later-without-earlier", read.key.as_deref(), || Witness {
        ops: vec![first.op_id, latest.op_id, read.op_id],
        explanation: format!(
            "{} had been acknowledged before {} began; {} shows the later and not the earlier. In all it misses {} that \
             were acknowledged by then.",
            told(first),
            told(latest),
            told(read),
            lost.len()
        ),
    });
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::base::rng::Rng;
    use crate::checker::{Outcome, Unlimited};
    use crate::history::notation::history;

    fn check(text: &str, expect: &str) {
        let answer = Comments::new().check(&history(text).unwrap(), &Unlimited);
        let got = match &answer.outcome {
            Outcome::Valid => "valid".to_owned(),
            Outcome::Invalid { violations } => format!("{} {:?}", violations[0].anomaly, violations[0].ops),
            Outcome::Unknown { .. } => "unknown".to_owned(),
        };
        assert_eq!(got, expect, "{text}\n{answer:?}");
    }

    #[test]
    fn a_write_is_seen_with_those_that_were_acknowledged_before_it_began() {
        let two = "c1 write - 1 [0..1]\nc2 write - 2 [2..3]\nc3 read - -> ";
        check(&format!("{two}[1,2] [0..9]"), "valid");
        check(&format!("{two}[2] [0..9]"), "later-without-earlier [0, 1, 2]");
        check(&format!("{two}[2,7] [0..9]"), "later-without-earlier [0, 1, 2]");
        check(&format!("{two}[1] [0..9]"), "unknown");
        check(&format!("{two}[] [0..9]"), "unknown");
        // In flight at once, of unknown outcome, failed: none is owed.
        check(&format!("{two}[2] [0..9]").replace("[2..3]", "[1..3]"), "unknown");
        check(&format!("{two}[2] [0..9]").replace("[0..1]", "[0..]"), "unknown");
        check(&format!("{two}[2] [0..9]").replace("1 [0..1]", "1 !no [0..1]"), "unknown");
        // Of unknown outcome and seen: what came before it is owed.
        check(&format!("{two}[2] [0..9]").replace("[2..3]", "[2..]"), "later-without-earlier [0, 1, 2]");
        // Written again: it may be the first one that is seen.
        check(&format!("{two}[2] [0..9]\nc4 write - 2 [0..]"), "unknown");
        // Other streams.
        check("c1 write a 1 [0..1]\nc2 write b 2 [2..3]\nc3 read b -> [2] [0..9]", "unknown");
        check("", "unknown");
        check("c1 write - 1 [0..1]\nc3 read - -> 1 [0..9]", "unknown");
        check("c1 cas - 1 [0..1]", "unknown");
    }

    /// Each pair of writes, and each read.
    fn reference(history: &History) -> bool {
        let ops = history.ops();
        let shows = |read: &Op, write: &Op| read.output.as_array().is_some_and(|all| all.contains(&write.input));
        let writes = || ops.iter().filter(|op| op.op_type == "write" && op.effect() != Effect::Failed);
        ops.iter().filter(|op| op.op_type == "read" && acknowledged(op)).any(|read| {
            writes().any(|a| {
                shows(read, a)
                    && writes().any(|b| {
                        acknowledged(b) && b.complete_ts.is_some_and(|end| end < a.invoke_ts) && !shows(read, b)
                    })
            })
        })
    }

    #[test]
    fn small_histories_are_judged_as_every_pair_is() {
        let mut rng = Rng::new(7);
        let mut found = 0;
        for _ in 0..3_000 {
            let count = 2 + rng.below(5);
            let mut text = String::new();
            for value in 0..count {
                let from = rng.below(20);
                let fate = match rng.below(6) {
                    0 => format!("[{from}..]"),
                    1 => format!("!no [{from}..{}]", from + 1),
                    _ => format!("[{from}..{}]", from + rng.below(6)),
                };
                text.push_str(&format!("c{value} write - {value} {fate}\n"));
            }
            for read in 0..2 {
                let shown: Vec<String> = (0..count).filter(|_| rng.below(3) > 0).map(|v| v.to_string()).collect();
                text.push_str(&format!("c{} read - -> [{}] [0..30]\n", 10 + read, shown.join(",")));
            }
            let history = history(&text).unwrap();
            let invalid = matches!(Comments.check(&history, &Unlimited).outcome, Outcome::Invalid { .. });
            assert_eq!(invalid, reference(&history), "{text}");
            found += u32::from(invalid);
        }
        assert!(found > 500, "{found}");
    }
}
