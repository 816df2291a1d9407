//! Sets: what was added and acknowledged is in the final read, and nothing else is.

mod acts;
mod full;
#[cfg(test)]
mod tests;

pub use full::SetFull;

use super::inquiry::{Group, Inquiry, Numbering, Witness, acknowledged, brief, by_key, end, told};
use super::{Answer, Checker, Limits, recipe};
use crate::history::{History, Op};
use acts::{Act, Additions, sets};
use serde::{Deserialize, Serialize};

/// Checks the final read of a grow-only set (`add` of one element, `read` or `read-set` of all) against what was added.
///
/// The final read of a key is the completed read that completed last, as in Jepsen's `set` checker; with
/// [`Set::each_client`] it is the last one of every client, so that replicas that disagree at the end are seen. An
/// element is
///
/// - `lost` when an `add` of it was acknowledged before a final read began and that read misses it;
/// - `unexpected` when a final read shows it and no `add` of it had been invoked by the time the read completed;
/// - `failed-add-visible` when a final read shows it and every `add` of it is known to have failed;
/// - `duplicated` when one final read shows it more than once;
/// - recovered when it is shown and its `add` has an unknown outcome, which is fine;
/// - ok otherwise.
///
/// Needs: `input` of each `add`, a list as `output` of each read, both timestamps. Elements should be added once. An
/// acknowledged element that is missing from a read which had begun before its acknowledgement is unknown, and so is a
/// set that was never read. Keys are sets of their own; operations on keys without any `add` are left alone.
/// O(adds + elements of the final reads), linear memory. After Jepsen's `jepsen.checker/set`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Set {
    each_client: bool,
}

/// Kinds, most telling first.
const RANKS: &[&str] = &["lost", "unexpected", "failed-add-visible", "duplicated"];

impl Set {
    /// The read that completed last decides.
    pub fn new() -> Set {
        Set::default()
    }

    /// The last read of each client decides, among those that began after the last acknowledged `add` had completed;
    /// without any such read, the one that completed last.
    pub fn each_client() -> Set {
        Set { each_client: true }
    }

    fn finals<'h>(&self, group: &Group<'h>) -> Vec<&'h Op> {
        let reads = || group.ops.iter().copied().filter(|op| acts::is_read(op) && acknowledged(op));
        let Some(last) = reads().max_by_key(|op| (op.complete_ts, op.op_id)) else { return Vec::new() };
        if !self.each_client {
            return vec![last];
        }
        let adds = group.ops.iter().filter(|op| acts::is_add(op) && acknowledged(op));
        let quiet = adds.map(|op| end(op)).max().unwrap_or(0);
        let mut finals: Vec<&Op> = Vec::new();
        for read in reads().filter(|op| op.invoke_ts.0 > quiet) {
            match finals.iter_mut().find(|known| known.process_id == read.process_id) {
                Some(known) => *known = read,
                None => finals.push(read),
            }
        }
        if finals.is_empty() { vec![last] } else { finals }
    }
}

impl Checker for Set {
    fn name(&self) -> &str {
        "set"
    }

    fn model(&self) -> Option<&str> {
        Some("set")
    }

    fn cannot_detect(&self) -> Vec<String> {
        vec![
            "what reads before the final one showed: stale reads, elements that vanished and came back (see `set-full`)"
                .to_owned(),
            "whether an add of unknown outcome took effect and its element was lost again".to_owned(),
            "a second effect of an add, and removals".to_owned(),
        ]
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("set", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        acts::missing(history)
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut inquiry = Inquiry::new(history, limits);
        for group in sets(by_key(history), &mut inquiry) {
            if !self.judge(&group, &mut inquiry) {
                break;
            }
        }
        inquiry.answer(self, RANKS, "no acknowledged element could have been missing from a final read")
    }
}

impl Set {
    /// False when limits say to stop.
    fn judge(&self, group: &Group<'_>, inquiry: &mut Inquiry<'_>) -> bool {
        let mut numbering = Numbering::new(group.ops.len());
        let adds = Additions::of(group, &mut numbering);
        let finals = self.finals(group);
        inquiry.evidence.partitions += 1;
        inquiry.evidence.consumed += group.ops.len() as u64;
        if finals.is_empty() {
            let key = group.key.map_or_else(|| "the set".to_owned(), |key| format!("set {key:?}"));
            inquiry.undecided(format!("{key} was never read to completion"));
        }
        let mut seen = vec![0; numbering.values.len()];
        for (read, stamp) in finals.into_iter().zip(1..) {
            let Act::Read(Some(elements)) = acts::act(read).unwrap_or(Act::Read(None)) else { continue };
            let bytes = 64 * (numbering.values.len() + elements.len()) as u64;
            if !inquiry.go_on(elements.len() as u64 + adds.known.len() as u64, bytes) {
                return false;
            }
            adds.judge_shown(group.key, (read, elements), &numbering, (&mut seen, stamp), inquiry, |_| {});
            for (element, add) in adds.acknowledged() {
                inquiry.evidence.fired += 1;
                if seen[element] == stamp {
                    continue;
                }
                let value = numbering.values[element];
                if end(add) < read.invoke_ts.0 {
                    inquiry.found("lost", group.key, || Witness {
                        ops: vec![add.op_id, read.op_id],
                        explanation: format!(
                            "{} was acknowledged before the final read began, and the final read misses {}: {}.",
                            told(add),
                            brief(&value.to_string()),
                            told(read)
                        ),
                    });
                } else {
                    inquiry.undecided(format!(
                        "{} was acknowledged, and no later read shows whether it stayed",
                        told(add)
                    ));
                }
            }
        }
        true
    }
}
