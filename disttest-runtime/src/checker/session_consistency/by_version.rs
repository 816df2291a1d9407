//! Guarantees by the system's own versions: what a session has read and written so far is two versions.

use super::super::ahead::{Parts, ahead};
use super::super::monotonic_read::{deleted_keys, say};
use super::super::places::Places;
use super::super::shown::{Highest, Shown};
use super::super::version::{Version, Versions};
use super::super::work::{Work, told};
use super::super::{Limits, Violation};
use super::{Guarantee, Keys, SessionConsistency, is_read};
use crate::history::{Effect, History, Op};
use std::cell::LazyCell;

/// What a session did with a key.
#[derive(Default)]
struct Place {
    reads: Highest,
    writes: Highest,
    /// Guarantees whose violation was told.
    told: [bool; 4],
}

pub(super) fn work<'h, 'l>(
    checker: &SessionConsistency,
    versions: &Versions,
    across_keys: bool,
    history: &'h History,
    limits: &'l dyn Limits,
) -> (Work<'l>, Keys<'h>) {
    let mut work = Work::new(history, limits);
    let mut keys = Keys::default();
    let deleted = LazyCell::new(|| deleted_keys(history));
    let mut places: Places<Place> = Places::default();
    let ops = history.ops();
    let mut shown = Shown::new(ops.len());
    for (at, op) in ahead(ops, Parts::Outputs).enumerate() {
        if !work.goes_on(|| places.bytes() + shown.bytes()) {
            break;
        }
        let key = keys.count(op);
        let Some(complete) = op.complete_ts.filter(|_| op.effect() == Effect::Acknowledged) else { continue };
        let read = is_read(op);
        if read && op.output.is_null() && deleted.contains(&op.key.as_deref()) || op.output == false {
            continue;
        }
        let bare = || if read { None } else { Version::of(&op.output) };
        let version = versions.of(op).or_else(bare);
        if version.is_none() && !(read && op.output.is_null()) {
            if read || checker.guarantees != Guarantee::ALL.map(|one| one == Guarantee::MonotonicReads) {
                work.lacks(op, versions.lack(op));
            }
            continue;
        }
        let mark = shown.add(version, at as u32);
        let mut compare = |place: &mut Place, guarantees: [Guarantee; 2]| {
            let [after_writes, after_reads] = guarantees;
            for (guarantee, before) in
                [(after_writes, place.writes.before(op, &shown)), (after_reads, place.reads.before(op, &shown))]
            {
                let Some(before) = before.filter(|_| checker.has(guarantee)) else { continue };
                work.evidence.fired += 1;
                keys.observe(key);
                if version < shown.version(before) && !std::mem::replace(&mut place.told[guarantee as usize], true) {
                    work.violates(|| {
                        violation(guarantee, (&ops[shown.op(before)], shown.version(before)), (op, version))
                    });
                }
            }
        };
        if read {
            let place = places.of(op.process_id, key, Place::default);
            compare(place, [Guarantee::ReadYourWrites, Guarantee::MonotonicReads]);
            place.reads.completes(complete, mark);
        }
        if read && !across_keys {
            continue;
        }
        // The place of the session as a whole has no key.
        let slot = if across_keys { u32::MAX } else { key };
        let place = places.of(op.process_id, slot, Place::default);
        if read {
            place.reads.completes(complete, mark);
            continue;
        }
        compare(place, [Guarantee::MonotonicWrites, Guarantee::WritesFollowReads]);
        place.writes.completes(complete, mark);
        if across_keys {
            places.of(op.process_id, key, Place::default).writes.completes(complete, mark);
        }
    }
    (work, keys)
}

fn violation(guarantee: Guarantee, before: (&Op, Option<Version>), after: (&Op, Option<Version>)) -> Violation {
    let did = if is_read(before.0) { "read" } else { "written" };
    let then = if is_read(after.0) { "its later read" } else { "its later write" };
    let explanation = format!(
        "session {} had {did} {} by {}; {then}, {}, {} {}, which is older.",
        after.0.process_id,
        say(before.1),
        told(before.0),
        told(after.0),
        if is_read(after.0) { "shows" } else { "got" },
        say(after.1),
    );
    Violation {
        anomaly: guarantee.name().to_owned(),
        key: after.0.key.clone(),
        ops: vec![before.0.op_id, after.0.op_id],
        explanation,
    }
}
