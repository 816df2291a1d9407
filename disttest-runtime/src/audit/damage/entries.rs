//! Damage to entries that stay.

use super::values::fresh;
use super::{Edit, read_at};
use crate::base::rng::Rng;
use crate::history::access::{Entry, Seen};
use crate::history::{Effect, History, Op};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Operations of one key, as indices into the history.
#[derive(Default)]
struct Key {
    /// Acknowledged appends with their offsets.
    appends: Vec<(usize, Option<u64>)>,
    /// Completed reads.
    reads: Vec<usize>,
}

/// Keys on which something was appended, and every operation is understood.
fn keys(history: &History) -> Vec<Key> {
    let mut keys: BTreeMap<Option<&str>, Option<Key>> = BTreeMap::new();
    for (at, op) in history.ops().iter().enumerate().filter(|(_, op)| op.effect() != Effect::Failed) {
        let slot = keys.entry(op.key.as_deref()).or_insert_with(|| Some(Key::default()));
        let Some(key) = slot else { continue };
        match Entry::of(op) {
            Ok(Entry::Append { offset, .. }) if op.effect() == Effect::Acknowledged => key.appends.push((at, offset)),
            Ok(Entry::Read(Some(_))) => key.reads.push(at),
            Ok(_) => {}
            Err(_) => *slot = None,
        }
    }
    keys.into_values().flatten().filter(|key| !key.appends.is_empty()).collect()
}

fn seen(op: &Op) -> Option<Seen<'_>> {
    match Entry::of(op) {
        Ok(Entry::Read(seen)) => seen,
        _ => None,
    }
}

/// Every later read that showed an acknowledged entry shows the log as if it had never been there.
pub(super) fn drop_append(history: &History, seed: u64, at_quiescence: bool) -> Option<Edit> {
    let mut rng = Rng::stream(seed, "dropped-acknowledged-write");
    let ops = history.ops();
    let mut places = Vec::new();
    for key in keys(history) {
        for (w, offset) in &key.appends {
            let value = &ops[*w].input;
            let twice =
                |read: &usize| seen(&ops[*read]).is_some_and(|s| s.values.iter().filter(|v| *v == value).count() > 1);
            if key.reads.iter().any(twice) {
                continue;
            }
            let others = key.appends.iter().filter(|(other, _)| other != w && ops[*other].input == *value).count();
            let reads: Vec<usize> =
                key.reads.iter().copied().filter(|read| shows(&ops[*read], value, *offset)).collect();
            let sure = reads.iter().filter(|read| ops[*w].complete_ts < Some(ops[**read].invoke_ts));
            let last = sure.map(|read| ops[*read].invoke_ts).max();
            if let (0, Some(last)) = (others, last) {
                places.push((last, *w, *offset, reads));
            }
        }
    }
    // One that was read late, so that final reads miss it.
    places.sort_by_key(|(last, w, ..)| (std::cmp::Reverse(*last), *w));
    let quiet =
        ops.iter().filter(|op| matches!(op.op_type.as_str(), "append" | "add")).filter_map(|op| op.complete_ts).max();
    let finals = places.iter().filter(|place| Some(place.0) > quiet).count();
    let places = if finals > 0 || at_quiescence { &places[..finals] } else { &places[..] };
    let (_, w, offset, reads) = rng.pick(places)?;
    let changes: Vec<(usize, Value)> =
        reads.iter().map(|read| (*read, without(&ops[*read], &ops[*w].input, *offset))).collect();
    let detail = format!(
        "append {} of {} by client {} vanished from {} reads",
        ops[*w].op_id,
        ops[*w].input,
        ops[*w].process_id,
        changes.len()
    );
    Some(Edit { changes, detail })
}

/// The read shows the entry, at its offset if it has one; a read that shows the value twice is left alone.
fn shows(read: &Op, value: &Value, offset: Option<u64>) -> bool {
    let Some(seen) = seen(read) else { return false };
    let at: Vec<u64> =
        (seen.offset..).zip(seen.values).filter(|(_, there)| *there == value).map(|(at, _)| at).collect();
    // Without a known offset only a read of everything proves that the entry is gone.
    at.len() == 1 && offset.map_or(seen.offset == 0 && seen.end, |offset| at[0] == offset)
}

/// What the read would show had the entry never been there: what followed it moves up, and nothing follows.
fn without(read: &Op, value: &Value, offset: Option<u64>) -> Value {
    let Some(seen) = seen(read) else { return read.output.clone() };
    let gone = |at: u64, there: &Value| there == value && offset.is_none_or(|offset| offset == at);
    let left: Vec<&Value> = (seen.offset..).zip(seen.values).filter(|(at, v)| !gone(*at, v)).map(|(_, v)| v).collect();
    if read.output.is_array() { json!(left) } else { json!({"offset": seen.offset, "values": left, "end": true}) }
}

/// One read shows a log that ends before an entry that had been acknowledged before the read began.
pub(super) fn short_read(history: &History, seed: u64) -> Option<Edit> {
    let mut rng = Rng::stream(seed, "stale-read");
    let ops = history.ops();
    let mut places = Vec::new();
    for key in keys(history) {
        for read in &key.reads {
            let known = key.appends.iter().filter(|(w, _)| ops[*w].complete_ts < Some(ops[*read].invoke_ts));
            let length = known.filter_map(|(_, offset)| *offset).max().map(|offset| offset + 1);
            if let (Some(length), Some(seen)) = (length, seen(&ops[*read]))
                && seen.offset < length
            {
                places.push((*read, length));
            }
        }
    }
    let (read, length) = *rng.pick(&places)?;
    let seen = seen(&ops[read])?;
    // It ends at some length in seen.offset..length, after what it showed up to there.
    let keep = rng.below((length - seen.offset).min(seen.values.len() as u64 + 1)) as usize;
    let kept = &seen.values[..keep];
    let output = if ops[read].output.is_array() {
        json!(kept)
    } else {
        json!({"offset": seen.offset, "values": kept, "end": true})
    };
    let detail = format!(
        "{} shows a log of {} entries, though {length} had been acknowledged before it began",
        read_at(&ops[read]),
        seen.offset + keep as u64
    );
    Some(Edit { changes: vec![(read, output)], detail })
}

/// One read shows an entry that nobody appended.
pub(super) fn phantom(history: &History, seed: u64) -> Option<Edit> {
    let mut rng = Rng::stream(seed, "phantom-value");
    let ops = history.ops();
    let keys = keys(history);
    let reads: Vec<(usize, usize)> =
        keys.iter().flat_map(|key| key.reads.iter().map(|read| (*read, key.appends[0].0))).collect();
    let (read, append) = *rng.pick(&reads)?;
    let seen = seen(&ops[read])?;
    let value = fresh(history, &ops[append].input, &mut rng);
    let mut values = seen.values.to_vec();
    match rng.below(values.len().max(1) as u64) as usize {
        at if at < values.len() => values[at] = value.clone(),
        _ => values.push(value.clone()),
    }
    let output = if ops[read].output.is_array() {
        json!(values)
    } else {
        json!({"offset": seen.offset, "values": values, "end": seen.end})
    };
    let detail = format!("{} shows {value}, which nobody appended", read_at(&ops[read]));
    Some(Edit { changes: vec![(read, output)], detail })
}
