//! One log, replayed and compared with what clients were told.

use super::super::Violation;
use super::super::conclusion::{Found, brief};
use crate::base::time::Nanos;
use crate::history::access::{Entry, Seen};
use crate::history::notation::short;
use crate::history::{Effect, Op};
use serde_json::Value;
use std::collections::BTreeMap;

/// The log as it was read at the end.
struct Replayed<'a> {
    /// Entries from offset 0, each with the read that showed it.
    entries: Vec<(&'a Value, &'a Op)>,
    /// The read that showed the end.
    ended: &'a Op,
}

fn seen(op: &Op) -> Option<Seen<'_>> {
    match Entry::of(op) {
        Ok(Entry::Read(seen)) => seen,
        _ => None,
    }
}

fn appended(op: &Op) -> Option<(&Value, Option<u64>)> {
    match Entry::of(op) {
        Ok(Entry::Append { value, offset }) => Some((value, offset)),
        _ => None,
    }
}

/// What was found at offsets: the operations, and what they say.
type Differing = BTreeMap<u64, (Vec<u64>, String)>;

/// An anomaly with its operations and what they say.
type Miscounted = (&'static str, Vec<u64>, String);

pub(super) fn judge(key: Option<&str>, ops: &[&Op], found: &mut Found) {
    let acknowledged = ops.iter().filter(|op| op.effect() == Effect::Acknowledged);
    let appends: Vec<&Op> = acknowledged.clone().filter(|op| appended(op).is_some()).copied().collect();
    let quiet = appends.iter().filter_map(|op| op.complete_ts).max().unwrap_or_default();
    let reads: Vec<(&Op, Seen<'_>)> = acknowledged.filter_map(|op| Some((*op, seen(op)?))).collect();
    let mut values = Values::of(ops);
    let mut differing = Differing::new();
    acknowledged_offsets(&appends, &reads, quiet, &mut differing, &mut found.fired);
    let mut miscounted = values.strangers(&reads, &mut found.fired);
    for (read, seen) in reads.iter().filter(|(read, seen)| read.invoke_ts > quiet && seen.offset == 0 && seen.end) {
        miscounted = miscounted.or_else(|| values.counted(seen.values.iter(), read, false, &mut found.fired));
    }
    match replay(&reads, quiet) {
        None => {
            let named = key.map_or_else(|| "the log".to_owned(), |key| format!("log {key:?}"));
            found.doubt(format!("{named} was not read from offset 0 to its end after its last acknowledged append"));
        }
        Some(log) => {
            earlier(&reads, &log, &mut differing, &mut found.fired);
            let entries = log.entries.iter().map(|(value, _)| *value);
            miscounted = miscounted.or_else(|| values.counted(entries, log.ended, true, &mut found.fired));
        }
    }
    let violation = |(anomaly, ops, explanation): Miscounted| Violation {
        anomaly: anomaly.to_owned(),
        key: key.map(str::to_owned),
        ops,
        explanation,
    };
    let count = differing.len();
    if let Some((_, (ops, what))) = differing.into_iter().next() {
        let more = if count > 1 { format!(" {count} offsets differ.") } else { String::new() };
        found.violations.push(violation(("replay-differs", ops, format!("{what}.{more}"))));
    }
    found.violations.extend(miscounted.map(violation));
}

/// Acknowledged offsets against every final read: another entry there, or an end before.
fn acknowledged_offsets(
    appends: &[&Op],
    reads: &[(&Op, Seen<'_>)],
    quiet: Nanos,
    differing: &mut Differing,
    fired: &mut u64,
) {
    let mut offsets: BTreeMap<u64, Vec<(&Op, &Value)>> = BTreeMap::new();
    for append in appends {
        if let Some((value, Some(offset))) = appended(append) {
            offsets.entry(offset).or_default().push((append, value));
        }
    }
    for (read, seen) in reads.iter().filter(|(read, _)| read.invoke_ts > quiet) {
        let end = end(seen);
        for (offset, appends) in offsets.range(seen.offset..end) {
            let there = &seen.values[(offset - seen.offset) as usize];
            *fired += 1;
            if let Some((append, _)) = appends.iter().find(|(_, value)| *value != there) {
                let what = format!(
                    "{} was acknowledged at offset {offset}, and the replay (read {}) has {} there",
                    short(append),
                    read.op_id,
                    brief(&there.to_string())
                );
                differing.entry(*offset).or_insert((vec![append.op_id, read.op_id], what));
            }
        }
        if let Some((offset, appends)) = offsets.range(end..).next().filter(|_| seen.end) {
            *fired += 1;
            let append = appends[0].0;
            let what = format!(
                "{} was acknowledged at offset {offset}, and the replay ends at offset {end} (read {})",
                short(append),
                read.op_id
            );
            differing.entry(*offset).or_insert((vec![append.op_id, read.op_id], what));
        }
    }
}

/// What reads showed against the replay.
fn earlier(reads: &[(&Op, Seen<'_>)], log: &Replayed<'_>, differing: &mut Differing, fired: &mut u64) {
    let length = log.entries.len() as u64;
    for (read, seen) in reads {
        for (offset, value) in (seen.offset..).zip(seen.values) {
            let there = log.entries.get(offset as usize);
            // What landed after the end was read is no part of this replay.
            if offset >= length && read.complete_ts >= Some(log.ended.invoke_ts) {
                break;
            }
            *fired += 1;
            if there.is_none_or(|(entry, _)| *entry != value) {
                let ops = vec![read.op_id, there.map_or(log.ended, |(_, read)| read).op_id];
                let shown = brief(&value.to_string());
                differing.entry(offset).or_insert_with(|| {
                    (ops, format!("read {} showed {shown} at offset {offset}, and {}", read.op_id, told(there, log)))
                });
            }
        }
    }
}

fn end(seen: &Seen<'_>) -> u64 {
    seen.offset + seen.values.len() as u64
}

fn told(there: Option<&(&Value, &Op)>, log: &Replayed<'_>) -> String {
    match there {
        Some((value, read)) => format!("the replay (read {}) has {} there", read.op_id, brief(&value.to_string())),
        None => format!("the replay ends at offset {} (read {})", log.entries.len(), log.ended.op_id),
    }
}

/// The log from 0 to its end, of reads that began after `quiet`; `None` where it has a hole or no end.
fn replay<'a>(reads: &[(&'a Op, Seen<'a>)], quiet: Nanos) -> Option<Replayed<'a>> {
    let finals = || reads.iter().filter(|(op, _)| op.invoke_ts > quiet);
    let (ended, last) = finals().filter(|(_, seen)| seen.end).max_by_key(|(op, seen)| (end(seen), op.op_id))?;
    let mut entries: BTreeMap<u64, (&Value, &Op)> = BTreeMap::new();
    for (op, seen) in finals() {
        for (offset, value) in (seen.offset..end(last)).zip(seen.values) {
            entries.entry(offset).or_insert((value, *op));
        }
    }
    let whole = entries.len() as u64 == end(last);
    whole.then(|| Replayed { entries: entries.into_values().collect(), ended })
}

/// How often each value was appended.
struct Values {
    counts: BTreeMap<String, Counts>,
}

#[derive(Default)]
struct Counts {
    /// Acknowledged.
    least: u64,
    /// Of unknown outcome as well.
    most: u64,
    replayed: u64,
    ops: Vec<u64>,
}

impl Values {
    fn of(ops: &[&Op]) -> Values {
        let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
        for op in ops.iter().filter(|op| op.effect() != Effect::Failed) {
            let Some((value, _)) = appended(op) else { continue };
            let entry = counts.entry(value.to_string()).or_default();
            entry.least += u64::from(op.effect() == Effect::Acknowledged);
            entry.most += 1;
            if entry.ops.len() < 20 {
                entry.ops.push(op.op_id);
            }
        }
        Values { counts }
    }

    /// A read that shows a value that nobody appended.
    fn strangers(&self, reads: &[(&Op, Seen<'_>)], fired: &mut u64) -> Option<Miscounted> {
        for (read, value) in reads.iter().flat_map(|(read, seen)| seen.values.iter().map(move |value| (read, value))) {
            *fired += 1;
            let text = value.to_string();
            if !self.counts.contains_key(&text) {
                let what = format!("read {} shows {}, and no append of it took effect.", read.op_id, brief(&text));
                return Some((WITHOUT, vec![read.op_id], what));
            }
        }
        None
    }

    /// The first value of which `entries` has fewer than were acknowledged or, if `all` of the log is told, more than
    /// were appended.
    fn counted<'a>(
        &mut self,
        entries: impl Iterator<Item = &'a Value>,
        read: &Op,
        all: bool,
        fired: &mut u64,
    ) -> Option<Miscounted> {
        self.counts.values_mut().for_each(|counts| counts.replayed = 0);
        for value in entries {
            if let Some(counts) = self.counts.get_mut(&value.to_string()) {
                counts.replayed += 1;
            }
        }
        for (value, Counts { least, most, replayed, ops }) in &self.counts {
            *fired += 1;
            let (anomaly, what) = match *replayed {
                few if few < *least => ("replay-lacks-entry", format!("{least} appends of it were acknowledged")),
                many if all && many > *most => (WITHOUT, format!("at most {most} appends of it took effect")),
                _ => continue,
            };
            let ops = ops.iter().copied().chain([read.op_id]).collect();
            let value = brief(value);
            return Some((anomaly, ops, format!("The replayed log has {value} {replayed} times, and {what}.")));
        }
        None
    }
}

/// An entry that comes from no operation.
const WITHOUT: &str = "replayed-entry-without-operation";
