//! Freshness: no read shows a value that was overwritten longer ago than is allowed.

use super::ahead::{Parts, ahead};
use super::inquiry::{Group, Inquiry, Numbering, Witness, acknowledged, by_key, end, lasting, told};
use super::{Answer, Checker, Limits, Unlimited, recipe};
use crate::history::access::Touch;
use crate::history::{Effect, History, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// Checks that reads are stale by no more than a bound: reads from replicas, followers, caches.
///
/// A read of v is a `stale-read` when v was surely overwritten more than the bound before the read began: some write
/// was acknowledged by then that had been invoked after every write of v that can have come before the end of the read
/// had completed. A write of unknown outcome may take effect at any later time, so values it wrote are never surely
/// overwritten. A value that nobody wrote counts as there from the start. The bound 0 forbids whatever had been overwritten
/// when the read began.
///
/// Operations are `read`, `get`, or any type that begins with `read-`, and `write`, `put`, `delete`, `cas` (format of
/// [`Touch`]). Keys that are never written so are left alone. Without a read that began more than the bound after an
/// acknowledged write of its key the answer is unknown. Needs: `input` of writes, `output` of reads, both timestamps of one
/// clock in nanoseconds. O(n log n), linear memory. It is the bounded form of atomicity ("Δ-atomicity": Golab, Li and
/// Shah, PODC 2011), one read at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freshness {
    bound: u64,
    reads: Option<String>,
}

impl Freshness {
    /// Reads are stale by `bound` at most.
    pub fn within(bound: Duration) -> Freshness {
        Freshness { bound: u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX), reads: None }
    }

    /// Holds reads of type `op_type` to the bound, and no others.
    pub fn of(mut self, op_type: impl Into<String>) -> Freshness {
        self.reads = Some(op_type.into());
        self
    }

    /// The read that is stale longest, and how long at least; `None` when no read is surely stale. Whatever the bound is.
    pub fn stalest(&self, history: &History) -> Option<(u64, Duration)> {
        let mut inquiry = Inquiry::new(history, &Unlimited);
        let groups = by_key(history);
        let shelves: Vec<Shelf<'_>> = groups.iter().filter_map(|group| self.shelf(group, &mut inquiry)).collect();
        let stale = shelves
            .iter()
            .flat_map(|shelf| shelf.reads.iter().filter_map(|read| Some((shelf.staleness(read)?.0, read))));
        let (by, read) = stale.max_by_key(|(by, read)| (*by, std::cmp::Reverse(read.op.op_id)))?;
        (by > 0).then(|| (read.op.op_id, Duration::from_nanos(by)))
    }
}

static NULL: Value = Value::Null;

/// What `op` does here; `Err` says what is not understood.
fn touch(op: &Op) -> Result<Touch<'_>, String> {
    if op.op_type.starts_with("read-") {
        return Ok(Touch::Read(acknowledged(op).then_some(&op.output)));
    }
    Touch::of(op)
}

fn writes(op: &Op) -> bool {
    matches!(op.op_type.as_str(), "write" | "put" | "delete" | "cas")
}

impl Checker for Freshness {
    fn name(&self) -> &str {
        "freshness"
    }

    fn cannot_detect(&self) -> Vec<String> {
        vec![
            format!("reads that are stale by {} or less", lasting(self.bound)),
            "stale reads of a value whose write had an unknown outcome, or that was written again".to_owned(),
            "reads that go back and forth within the bound, and values that nobody wrote".to_owned(),
        ]
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("freshness", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        let groups = by_key(history);
        let written = groups.iter().filter(|group| group.ops.iter().any(|op| writes(op)));
        let problem = |group: &Group<'_>| {
            group.ops.iter().find_map(|op| Some(format!("operation {}: {}", op.op_id, touch(op).err()?)))
        };
        let mut list: Vec<String> = written.filter_map(problem).collect();
        if !history.ops().iter().any(writes) {
            list.extend(history.ops().first().map(|op| format!("no write of any key (first operation {})", op.op_id)));
        }
        list
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut inquiry = Inquiry::new(history, limits);
        for group in by_key(history) {
            let Some(shelf) = self.shelf(&group, &mut inquiry) else { continue };
            inquiry.evidence.partitions += 1;
            inquiry.evidence.consumed += group.ops.len() as u64;
            for read in &shelf.reads {
                if !inquiry.go_on(1, 32 * group.ops.len() as u64) {
                    break;
                }
                inquiry.evidence.fired += u64::from(shelf.can_tell(read, self.bound));
                if let Some((by, over)) = shelf.staleness(read).filter(|(by, _)| *by > self.bound) {
                    inquiry.found("stale-read", group.key, || self.witness(&shelf, read, over, by));
                }
            }
        }
        inquiry.answer(self, &[], "no read began later than the bound after an acknowledged write of its key")
    }
}

struct Read<'h> {
    op: &'h Op,
    value: u32,
    invoke: u64,
    complete: u64,
}

/// A write with the value it writes.
#[derive(Clone, Copy)]
struct Write<'h> {
    op: &'h Op,
    value: u32,
    invoke: u64,
    /// When it has taken effect for sure; the end of time if that is not known.
    by: u64,
}

/// Reads and writes of one key.
struct Shelf<'h> {
    reads: Vec<Read<'h>>,
    /// By value and invocation; `by` is the latest among those of the value so far.
    written: Vec<Write<'h>>,
    /// Where the writes of each value begin in `written`.
    starts: Vec<usize>,
    /// Acknowledged writes by invocation; for each the index of the one that was complete first from it on.
    sure: Vec<(Write<'h>, usize)>,
    /// Their invocations.
    invokes: Vec<u64>,
}

impl Freshness {
    /// The shelf of a group that is written to; one that does not fit is told to `inquiry`.
    fn shelf<'h>(&self, group: &Group<'h>, inquiry: &mut Inquiry<'_>) -> Option<Shelf<'h>> {
        if !group.ops.iter().any(|op| writes(op)) {
            return None;
        }
        let mut numbering = Numbering::new(group.ops.len());
        let (mut reads, mut written, mut sure) = (Vec::new(), Vec::new(), Vec::new());
        for op in ahead(&group.ops, Parts::Names).copied().filter(|op| op.effect() != Effect::Failed) {
            let touch = match touch(op) {
                Ok(touch) => touch,
                Err(why) => {
                    inquiry.undecided(format!("the history does not fit: operation {}: {why}", op.op_id));
                    return None;
                }
            };
            if let Touch::Read(Some(value)) = touch {
                if self.reads.as_ref().is_none_or(|only| *only == op.op_type) {
                    reads.push(Read { op, value: numbering.of(value), invoke: op.invoke_ts.0, complete: end(op) });
                }
            } else if let Some(value) = touch.written() {
                let value = numbering.of(if matches!(touch, Touch::Delete(_)) { &NULL } else { value });
                let write =
                    Write { op, value, invoke: op.invoke_ts.0, by: if acknowledged(op) { end(op) } else { u64::MAX } };
                written.push(write);
                if acknowledged(op) && touch.surely_writes() {
                    sure.push((write, sure.len()));
                }
            }
        }
        for at in (1..sure.len()).rev() {
            let earliest: usize = sure[at].1;
            if sure[earliest].0.by < sure[at - 1].0.by {
                sure[at - 1].1 = earliest;
            }
        }
        Some(Shelf::new(reads, written, sure, numbering.values.len()))
    }

    fn witness(&self, shelf: &Shelf<'_>, read: &Read<'_>, over: &Op, by: u64) -> Witness {
        let wrote = shelf.last_write(read).map(|write| write.op);
        let what = match wrote {
            Some(op) => format!("the value of {}", told(op)),
            None => "a value from before every write".to_owned(),
        };
        Witness {
            ops: wrote.into_iter().chain([over, read.op]).map(|op| op.op_id).collect(),
            explanation: format!(
                "{} shows {what}, which {} had overwritten {} before the read began; {} is allowed.",
                told(read.op),
                told(over),
                lasting(by),
                lasting(self.bound)
            ),
        }
    }
}

impl<'h> Shelf<'h> {
    fn new(
        reads: Vec<Read<'h>>,
        mut written: Vec<Write<'h>>,
        sure: Vec<(Write<'h>, usize)>,
        values: usize,
    ) -> Shelf<'h> {
        // Stable: writes of a value stay by invocation.
        written.sort_by_key(|write| write.value);
        let mut starts = vec![written.len(); values + 1];
        for (at, write) in written.iter().enumerate().rev() {
            starts[write.value as usize] = at;
        }
        for value in (0..values).rev() {
            starts[value] = starts[value].min(starts[value + 1]);
        }
        for at in 1..written.len() {
            if written[at].value == written[at - 1].value {
                written[at].by = written[at].by.max(written[at - 1].by);
            }
        }
        let invokes = sure.iter().map(|(write, _)| write.invoke).collect();
        Shelf { reads, written, starts, sure, invokes }
    }

    /// The last write of the value that can have come before the end of `read`; its `by` is that of all of them.
    fn last_write(&self, read: &Read<'_>) -> Option<&Write<'h>> {
        let of_value = &self.written[self.starts[read.value as usize]..self.starts[read.value as usize + 1]];
        of_value[..of_value.partition_point(|write| write.invoke <= read.complete)].last()
    }

    /// How long before `read` its value had surely been overwritten, and by what; `None` if it had not.
    fn staleness(&self, read: &Read<'_>) -> Option<(u64, &'h Op)> {
        let later = match self.last_write(read) {
            Some(last) => self.invokes.partition_point(|invoke| *invoke <= last.by),
            None => 0,
        };
        let (_, earliest) = self.sure.get(later)?;
        let over = &self.sure[*earliest].0;
        Some((read.invoke.checked_sub(over.by)?, over.op))
    }

    /// Some value would have been too old for `read`.
    fn can_tell(&self, read: &Read<'_>, bound: u64) -> bool {
        let first = self.sure.first().map(|(_, earliest)| self.sure[*earliest].0.by);
        first.is_some_and(|first| first.saturating_add(bound) < read.invoke)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::base::rng::Rng;
    use crate::checker::Outcome;
    use crate::checker::reference::{said, seeds};
    use crate::history::notation::history;

    fn check(bound: u64, text: &str, expect: &str) {
        let answer = Freshness::within(Duration::from_nanos(bound)).check(&history(text).unwrap(), &Unlimited);
        let got = said(&answer.outcome);
        assert_eq!(got, expect, "{bound} {text}\n{answer:#?}");
    }

    #[test]
    fn a_value_may_be_read_for_a_while_after_it_was_overwritten() {
        let two = "c1 write x 1 [0..1]\nc1 write x 2 [2..10]\n";
        let then = |read: &str| format!("{two}c2 {read}");
        check(5, &then("read x -> 1 [15..16]"), "valid");
        check(5, &then("read x -> 1 [16..17]"), "stale-read [0, 1, 2]");
        check(5, &then("read-serializable x -> 1 [16..17]"), "stale-read [0, 1, 2]");
        check(5, &then("read x -> 2 [99..100]"), "valid");
        check(5, &then("read x -> null [6..7]"), "unknown");
        check(5, &then("read x -> null [6..7]\nc2 read x -> 2 [30..31]"), "valid");
        check(4, &then("read x -> null [6..7]"), "stale-read [0, 2]");
        check(5, &then("read x -> 7 [99..100]"), "stale-read [0, 2]");
        check(0, &then("read x -> 1 [10..11]"), "valid");
        check(0, &then("read x -> 1 [11..12]"), "stale-read [0, 1, 2]");
        // Written again, perhaps, or by an operation that hangs.
        check(5, &then("write x 1 [3..]\nc3 read x -> 1 [99..100]"), "valid");
        check(5, &then("write x 1 [90..120]\nc3 read x -> 1 [99..100]"), "valid");
        check(5, &then("write x 1 [101..]\nc3 read x -> 1 [99..100]"), "stale-read [0, 1, 3]");
        check(5, &then("write x 1 !no [3..9]\nc3 read x -> 1 [99..100]"), "stale-read [0, 1, 3]");
        // The overwriting one may not have happened, or have come before.
        check(5, "c1 write x 1 [0..1]\nc1 write x 2 [2..]\nc2 read x -> 1 [99..100]", "valid");
        check(5, "c1 write x 1 [0..3]\nc1 write x 2 [2..9]\nc2 read x -> 1 [99..100]", "valid");
        check(5, "c1 put x 1 [0..1]\nc1 delete x [2..3]\nc2 get x -> 1 [9..10]", "stale-read [0, 1, 2]");
        check(5, "c1 put x 1 [0..1]\nc1 delete x [2..3]\nc2 get x -> null [99..100]", "valid");
        check(5, "c1 put x 1 [0..1]\nc1 delete x -> false [2..3]\nc2 get x -> 1 [99..100]", "valid");
        check(5, "c1 cas x [0,1] -> true [0..1]\nc1 cas x [1,2] -> false [2..3]\nc2 read x -> 1 [99..100]", "valid");
        check(5, "c1 cas x [0,1] -> true [0..1]\nc2 read x -> 0 [99..100]", "stale-read [0, 1]");
        for text in [
            "",
            "c2 read x -> 1 [0..1]",
            "c1 write x 1 [0..1]\nc2 read x -> null [3..4]",
            "c1 write x 1 [0..]\nc2 read x -> null [99..100]",
            "c1 write x 1 [0..1]\nc2 read x [99..]",
            "c1 write x 1 [0..1]\nc2 swap x 2 [2..3]\nc2 read x -> 1 [99..100]",
        ] {
            check(5, text, "unknown");
        }
        check(5, &then("add s 1 [0..1]\nc2 read x -> 2 [99..100]"), "valid");
    }

    #[test]
    fn one_type_of_read_can_be_held_to_the_bound_and_the_stalest_is_found() {
        let text = "c1 write x 1 [0..1]\nc1 write x 2 [2..3]\nc2 read-local x -> 1 [9..10]\nc2 read x -> 2 [9..10]\nc2 read-local x -> 1 [8..9]";
        let history = history(text).unwrap();
        let freshness = Freshness::within(Duration::ZERO);
        assert_eq!(freshness.stalest(&history), Some((2, Duration::from_nanos(6))));
        assert_eq!(freshness.clone().of("read").stalest(&history), None);
        assert_eq!(freshness.of("read").check(&history, &Unlimited).outcome, Outcome::Valid);
    }

    /// Every choice of instants at which the writes take effect: the value is there at some instant that is recent enough.
    fn recent(writes: &[&Op], read: &Op, bound: u64, at: &mut Vec<Option<u64>>) -> bool {
        let Some(write) = writes.get(at.len()) else {
            let from = read.invoke_ts.0.saturating_sub(bound);
            let quiet = |begin: Option<u64>, instant: u64| {
                at.iter().flatten().all(|other| begin.is_some_and(|begin| *other <= begin) || *other >= instant)
            };
            let instants = from..=end(read);
            let initial = !writes.iter().any(|write| write.input == read.output);
            return instants.clone().any(|instant| {
                let written = |(write, at): (&&Op, &Option<u64>)| {
                    write.input == read.output && at.is_some_and(|at| at <= instant && quiet(Some(at), instant))
                };
                writes.iter().zip(at.iter()).any(written) || initial && quiet(None, instant)
            });
        };
        let latest = if acknowledged(write) { end(write) } else { 24 };
        let never = (!acknowledged(write)).then_some(None);
        (write.invoke_ts.0..=latest).map(Some).chain(never).any(|instant| {
            at.push(instant);
            let found = recent(writes, read, bound, at);
            at.pop();
            found
        })
    }

    #[test]
    fn a_stale_read_is_one_that_no_choice_of_instants_explains() {
        let mut seen = [0, 0];
        for seed in seeds(1500) {
            let mut rng = Rng::stream(seed, "fresh");
            let mut text = String::new();
            for op in 0..1 + rng.below(3) {
                let (from, length, value) = (rng.below(10), rng.below(4), 1 + rng.below(3));
                text.push_str(&match rng.below(8) {
                    0 => format!("c{op} write x {value} [{from}..]\n"),
                    1 => format!("c{op} write x {value} !no [{from}..{}]\n", from + length),
                    _ => format!("c{op} write x {value} [{from}..{}]\n", from + length),
                });
            }
            let (from, length, bound) = (rng.below(20), rng.below(4), rng.below(8));
            let value = ["null", "1", "2", "3"][rng.below(4) as usize];
            text.push_str(&format!("c9 read x -> {value} [{from}..{}]\n", from + length));
            let history = history(&text).unwrap();
            let read = history.ops().iter().find(|op| op.op_type == "read").unwrap();
            let writes: Vec<&Op> =
                history.ops().iter().filter(|op| op.op_type == "write" && op.effect() != Effect::Failed).collect();
            let outcome = Freshness::within(Duration::from_nanos(bound)).check(&history, &Unlimited).outcome;
            let stale = matches!(outcome, Outcome::Invalid { .. });
            // What is written only after the read cannot be what it shows.
            let writes: Vec<&Op> = writes.into_iter().filter(|write| write.invoke_ts.0 <= end(read)).collect();
            assert_eq!(stale, !recent(&writes, read, bound, &mut Vec::new()), "{seed} {bound}\n{text}");
            seen[usize::from(stale)] += 1;
        }
        assert!(seen.iter().all(|count| *count > 150), "{seen:?}");
    }
}
