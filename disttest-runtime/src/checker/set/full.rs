//! Sets read at any time: what becomes of each element.

use super::super::inquiry::{Group, Inquiry, Numbering, Witness, acknowledged, brief, by_key, end, lasting, told};
use super::super::{Answer, Checker, Limits, recipe};
use super::acts::{self, Act, Addition, Additions, sets};
use crate::history::{History, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Checks each element of a grow-only set (`add` of one element, `read` or `read-set` of all) over all reads.
///
/// An element is *known* from the first acknowledgement of an `add` of it or the first completion of a read that shows
/// it, whichever is earlier. A read that was invoked later and misses it contradicts that. By invocation of the reads,
/// an element is
///
/// - **stable** when the last read shows it, or every read after the last one that shows it had completed before the
///   element was added;
/// - **stale** when it is stable and yet some read that was invoked after it was known misses it;
/// - **lost** when it is known, and the last read was invoked after that and misses it;
/// - **never read** otherwise: no read began after it was known, so that nothing can be said.
///
/// `lost` is a violation, and so is `stale` for a set that claims to be linearizable ([`SetFull::linearizable`]).
/// Beyond that reads are judged by themselves: `unexpected`, `failed-add-visible` and `duplicated` as in
/// [`Set`](super::Set). Without any stable element the answer is unknown. Needs what [`Set`](super::Set) needs.
/// O(adds + elements read), linear memory. After Jepsen's `jepsen.checker/set-full`, which lists what is stale by whole
/// milliseconds: here it is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetFull {
    linearizable: bool,
}

/// Kinds, most telling first.
const RANKS: &[&str] = &["lost", "stale", "unexpected", "failed-add-visible", "duplicated"];

impl SetFull {
    /// Elements may appear late, but must not get lost.
    pub fn new() -> SetFull {
        SetFull::default()
    }

    /// Every read shows what was known when it began.
    pub fn linearizable() -> SetFull {
        SetFull { linearizable: true }
    }
}

/// What became of an element, with the operation that made it known and the read that missed it then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate<'h> {
    Stable,
    Stale { known: &'h Op, absent: &'h Op },
    Lost { known: &'h Op, absent: &'h Op },
    NeverRead,
}

impl Checker for SetFull {
    fn name(&self) -> &str {
        "set-full"
    }

    fn model(&self) -> Option<&str> {
        Some("set")
    }

    fn cannot_detect(&self) -> Vec<String> {
        let mut list = vec![
            "what became of elements that no read could have missed: no read began after they were known".to_owned(),
            "an order between different elements: two reads that each miss what the other shows".to_owned(),
            "a second effect of an add, and removals".to_owned(),
        ];
        if !self.linearizable {
            list.push("elements that were missing for a while and came back".to_owned());
        }
        list
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("set-full", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        acts::missing(history)
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut inquiry = Inquiry::new(history, limits);
        let (mut stable, mut judged) = (0, 0);
        for group in sets(by_key(history), &mut inquiry) {
            let mut numbering = Numbering::new(group.ops.len());
            let Some(fates) = fates(&group, &mut numbering, &mut inquiry) else { break };
            for (element, fate) in fates.into_iter().enumerate() {
                judged += 1;
                match fate {
                    None | Some(Fate::NeverRead) => {}
                    Some(Fate::Stable) => stable += 1,
                    Some(Fate::Stale { known, absent }) => {
                        stable += 1;
                        if self.linearizable {
                            inquiry
                                .found("stale", group.key, || missed(known, absent, numbering.values[element], false));
                        }
                    }
                    Some(Fate::Lost { known, absent }) => {
                        inquiry.found("lost", group.key, || missed(known, absent, numbering.values[element], true));
                    }
                }
            }
        }
        if stable == 0 && judged > 0 {
            inquiry.undecided(format!("none of {judged} elements was read after it was known"));
        }
        inquiry.answer(self, RANKS, "no element was added")
    }
}

/// The fate of each added element of a group (none for one whose adds all failed); `None` when limits say to stop.
pub(super) fn fates<'h>(
    group: &Group<'h>,
    numbering: &mut Numbering<'h>,
    inquiry: &mut Inquiry<'_>,
) -> Option<Vec<Option<Fate<'h>>>> {
    let adds = Additions::of(group, numbering);
    let reads: Vec<(&Op, &[Value])> = group.ops.iter().copied().filter_map(completed_read).collect();
    inquiry.evidence.partitions += 1;
    inquiry.evidence.consumed += group.ops.len() as u64;
    let bytes = 96 * (group.ops.len() + numbering.values.len()) as u64;
    let mut traces: Vec<Trace<'_>> = adds.known.iter().map(Trace::of).collect();
    let mut seen = vec![0; traces.len()];
    for (back, (read, elements)) in reads.iter().rev().enumerate() {
        if !inquiry.go_on(elements.len() as u64 + 1, bytes) {
            return None;
        }
        let complete = end(read);
        let stamp = back as u32 + 1;
        adds.judge_shown(group.key, (read, elements), numbering, (&mut seen, stamp), inquiry, |number| {
            if let Some(trace) = traces.get_mut(number) {
                trace.show(read, complete, back);
            }
        });
    }
    // The latest completion among the reads from each rank on, counted from the last read.
    let mut latest = Vec::with_capacity(reads.len());
    for (read, _) in reads.iter().rev() {
        latest.push(end(read).max(latest.last().copied().unwrap_or(0)));
    }
    inquiry.evidence.fired += traces.len() as u64;
    let fate = |(trace, addition): (&Trace<'h>, &Addition<'h>)| addition.first.map(|_| trace.fate(&reads, &latest));
    Some(traces.iter().zip(&adds.known).map(fate).collect())
}

fn completed_read(op: &Op) -> Option<(&Op, &[Value])> {
    match acts::act(op) {
        Ok(Act::Read(Some(elements))) if acknowledged(op) => Some((op, elements)),
        _ => None,
    }
}

/// What the reads show of one element. Reads are counted from the last one back.
struct Trace<'h> {
    /// When it was added first; reads that completed earlier say nothing of it.
    added: u64,
    /// What made it known first.
    known: Option<&'h Op>,
    /// When that was.
    since: u64,
    /// Reads from the last one that all show it.
    streak: usize,
    /// The last read that shows it.
    present: Option<usize>,
}

impl<'h> Trace<'h> {
    fn of(addition: &Addition<'h>) -> Trace<'h> {
        let since = addition.acknowledged.map_or(u64::MAX, end);
        Trace { added: addition.begin, known: addition.acknowledged, since, streak: 0, present: None }
    }

    /// `read`, complete at `complete`, shows it.
    fn show(&mut self, read: &'h Op, complete: u64, back: usize) {
        if complete < self.added {
            return;
        }
        if self.streak == back {
            self.streak += 1;
        }
        self.present = self.present.or(Some(back));
        if self.known.is_none() || complete < self.since {
            (self.known, self.since) = (Some(read), complete);
        }
    }

    fn fate(&self, reads: &[(&'h Op, &[Value])], latest: &[u64]) -> Fate<'h> {
        let at = |back: usize| reads.len().checked_sub(back + 1).map(|rank| reads[rank].0);
        let after = |op: &Op, known: &Op| op.invoke_ts.0 > end(known);
        let Some(last) = at(0) else { return Fate::NeverRead };
        if self.streak > 0 {
            return match (self.known, at(self.streak)) {
                (Some(known), Some(absent)) if after(absent, known) => Fate::Stale { known, absent },
                _ => Fate::Stable,
            };
        }
        match (self.known, self.present) {
            (Some(known), _) if after(last, known) => Fate::Lost { known, absent: last },
            (_, Some(back)) if latest[back - 1] < self.added => Fate::Stable,
            _ => Fate::NeverRead,
        }
    }
}

fn missed(known: &Op, absent: &Op, element: &Value, lost: bool) -> Witness {
    let how = match acts::is_add(known) {
        true => "was acknowledged",
        false => "had shown it",
    };
    let late = absent.invoke_ts.0.saturating_sub(end(known));
    let since = match lost {
        true => "no read that began later shows it",
        false => "it came back later",
    };
    Witness {
        ops: vec![known.op_id, absent.op_id],
        explanation: format!(
            "element {} was in the set: {} {how}; {} began {} later and misses it, and {since}.",
            brief(&element.to_string()),
            told(known),
            told(absent),
            lasting(late)
        ),
    }
}
