//! Values that later writes replace (format decision D20).
//!
//! Let a final read show value v. Write w of the key is accounted for when some write of v, acknowledged or of unknown
//! outcome, is w itself or had not completed before w began: then w is visible, or was overwritten by what is. A write
//! of unknown outcome has no completion, so it may overwrite anything, as late as just before the read.

use super::finals::{Finals, KeyOps};
use super::{Found, lost};
use crate::base::time::Nanos;
use crate::history::access::Touch;
use crate::history::{Effect, Op};
use rustc_hash::FxHashMap;
use serde_json::Value;

pub(super) fn is_acknowledged_write(op: &Op) -> Result<bool, String> {
    let acknowledged = op.effect() == Effect::Acknowledged;
    match Touch::of(op)? {
        Touch::Cas { done: None, .. } if acknowledged => Err("a completed cas answers true or false".to_owned()),
        touch => Ok(acknowledged && touch.surely_writes()),
    }
}

pub(super) fn judge(key: Option<&str>, ops: &KeyOps<'_>, finals: &Finals<'_>) -> Found {
    let mut found = Found { lost: None, unread: None, fired: 0 };
    if ops.acknowledged.is_empty() {
        return found;
    }
    if ops.finals.is_empty() {
        found.unread = Some(finals.say_unread(key));
        return found;
    }
    let writers = Writers::of(ops);
    // By invocation: what was there after the last one began accounts for all.
    let last = ops.acknowledged.last().map(|write| write.invoke_ts);
    for read in &ops.finals {
        let latest = writers.latest_completion(read);
        found.fired += ops.acknowledged.len() as u64;
        if latest >= last {
            continue;
        }
        let missing: Vec<&Op> =
            ops.acknowledged.iter().copied().filter(|write| latest.is_none_or(|at| at < write.invoke_ts)).collect();
        let why = match latest {
            None => "no operation that began before the read ended wrote that value",
            Some(_) => "every write of that value had completed before the lost write began",
        };
        found.lost = Some(lost(key, &missing, read, why));
        return found;
    }
    found
}

/// The writes of each value that a final read shows.
struct Writers<'h>(FxHashMap<&'h Value, Vec<(Nanos, Nanos)>>);

impl<'h> Writers<'h> {
    fn of(ops: &KeyOps<'h>) -> Writers<'h> {
        let mut writers: FxHashMap<&Value, Vec<(Nanos, Nanos)>> =
            ops.finals.iter().map(|read| (&read.output, Vec::new())).collect();
        for op in ops.all.iter().filter(|op| op.effect() != Effect::Failed) {
            let Some(value) = Touch::of(op).ok().and_then(|touch| touch.written()) else { continue };
            if let Some(of_value) = writers.get_mut(value) {
                let over = op.complete_ts.filter(|_| op.effect() == Effect::Acknowledged);
                of_value.push((op.invoke_ts, over.unwrap_or(Nanos(u64::MAX))));
            }
        }
        Writers(writers)
    }

    /// When the last write of the value that `read` shows completed (never, if its outcome is unknown); `None` when no
    /// write can have put it there.
    fn latest_completion(&self, read: &Op) -> Option<Nanos> {
        let in_time = |(invoke, _): &&(Nanos, Nanos)| Some(*invoke) <= read.complete_ts;
        self.0.get(&read.output)?.iter().filter(in_time).map(|(_, over)| *over).max()
    }
}
