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

pub(super) fn problem(op: &Op) -> Option<String> {
    match Touch::of(op) {
        Err(problem) => Some(problem),
        Ok(Touch::Cas { done: None, .. }) if op.effect() == Effect::Acknowledged => {
            Some("a completed cas answers true or false".to_owned())
        }
        Ok(_) => None,
    }
}

pub(super) fn is_acknowledged_write(op: &Op) -> bool {
    op.effect() == Effect::Acknowledged && Touch::of(op).is_ok_and(|touch| touch.surely_writes())
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
    for read in &ops.finals {
        let latest = latest_completion(ops, read);
        let missing: Vec<&Op> =
            ops.acknowledged.iter().copied().filter(|write| latest.is_none_or(|at| at < write.invoke_ts)).collect();
        found.fired += ops.acknowledged.len() as u64;
        if !missing.is_empty() {
            let why = match latest {
                None => "no operation that began before the read ended wrote that value",
                Some(_) => "every write of that value had completed before the lost write began",
            };
            found.lost = Some(lost(key, &missing, read, why));
            return found;
        }
    }
    found
}

/// When the last write of the value that `read` shows completed (never, if its outcome is unknown); `None` when no
/// write can have put it there.
fn latest_completion(ops: &KeyOps<'_>, read: &Op) -> Option<Nanos> {
    let shows = |op: &&&Op| {
        op.effect() != Effect::Failed
            && Some(op.invoke_ts) <= read.complete_ts
            && Touch::of(op).is_ok_and(|touch| touch.written() == Some(&read.output))
    };
    let completion = |op: &&Op| match op.effect() {
        Effect::Unknown => Nanos(u64::MAX),
        _ => op.complete_ts.unwrap_or(Nanos(u64::MAX)),
    };
    ops.all.iter().filter(shows).map(completion).max()
}
