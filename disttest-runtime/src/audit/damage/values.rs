//! Damage to values that are overwritten.

use super::{Edit, read_at};
use crate::base::rng::Rng;
use crate::base::time::Nanos;
use crate::history::access::{Entry, Touch};
use crate::history::{Effect, History, Op};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// Operations of one key, as indices into the history.
#[derive(Default)]
struct Key<'h> {
    /// Acknowledged operations that surely wrote, by invocation.
    writes: Vec<usize>,
    /// Completed reads, by invocation.
    reads: Vec<usize>,
    /// Of each value: how many operations may have written it, and when the last of them completed (never, if unknown).
    written: HashMap<&'h Value, (u32, Nanos)>,
    /// Values that a `cas` asks for.
    compared: Vec<&'h Value>,
}

const NEVER: Nanos = Nanos(u64::MAX);

fn keys(history: &History) -> Vec<Key<'_>> {
    let mut keys: BTreeMap<Option<&str>, Key<'_>> = BTreeMap::new();
    let mut strange: Vec<Option<&str>> = Vec::new();
    for (at, op) in history.ops().iter().enumerate().filter(|(_, op)| op.effect() != Effect::Failed) {
        let name = op.key.as_deref();
        let key = keys.entry(name).or_default();
        let Ok(touch) = Touch::of(op) else {
            // An operation we do not understand may do anything to its key.
            strange.push(name);
            continue;
        };
        let acknowledged = op.effect() == Effect::Acknowledged;
        if let Some(value) = touch.written() {
            let last = key.written.entry(value).or_insert((0, Nanos(0)));
            last.0 += 1;
            last.1 = last.1.max(if acknowledged { op.complete_ts.unwrap_or(NEVER) } else { NEVER });
        }
        match touch {
            Touch::Read(Some(_)) => key.reads.push(at),
            Touch::Cas { from, .. } => key.compared.push(from),
            _ => {}
        }
        if acknowledged && touch.surely_writes() {
            key.writes.push(at);
        }
    }
    keys.into_iter().filter(|(name, _)| !strange.contains(name)).map(|(_, key)| key).collect()
}

fn written(history: &History, at: usize) -> Option<&Value> {
    Touch::of(&history.ops()[at]).ok()?.written()
}

impl<'h> Key<'h> {
    /// A value that surely was no longer there once write `w` had begun: that of the latest write that qualifies, else
    /// null if nobody ever wrote null.
    fn gone_when(&self, history: &'h History, w: &Op) -> Option<Value> {
        let is_gone = |value: &Value| self.written.get(value).is_some_and(|(_, last)| *last < w.invoke_ts);
        let before = self.writes.partition_point(|at| history.ops()[*at].invoke_ts < w.invoke_ts);
        let candidates = self.writes[..before].iter().rev().take(64).filter_map(|at| written(history, *at));
        let own = Touch::of(w).ok()?.written()?;
        candidates
            .filter(|value| is_gone(value) && *value != own)
            .max_by_key(|value| self.written[value].1)
            .cloned()
            .or_else(|| (!self.written.contains_key(&Value::Null) && !own.is_null()).then_some(Value::Null))
    }
}

/// Reads of the value of an acknowledged write show what was there before it.
pub(super) fn drop_write(history: &History, seed: u64, at_quiescence: bool) -> Option<Edit> {
    let mut rng = Rng::stream(seed, "dropped-acknowledged-write");
    let keys = keys(history);
    let ops = history.ops();
    let quiet = keys.iter().flat_map(|key| &key.writes).filter_map(|at| ops[*at].complete_ts).max()?;
    let mut places: Vec<(u8, usize, usize)> = Vec::new();
    for (at_key, key) in keys.iter().enumerate() {
        let mut shown: HashMap<&Value, Vec<usize>> = HashMap::new();
        for read in &key.reads {
            shown.entry(&ops[*read].output).or_default().push(*read);
        }
        for w in &key.writes {
            let Some(value) = written(history, *w) else { continue };
            let alone = key.written.get(value).is_some_and(|(count, _)| *count == 1);
            let Some(reads) = shown.get(value).filter(|_| alone && !key.compared.contains(&value)) else { continue };
            let later = reads.iter().any(|read| ops[*w].complete_ts < Some(ops[*read].invoke_ts));
            let finals = reads.iter().any(|read| ops[*read].invoke_ts > quiet && is_last_of_client(ops, key, *read));
            if let (true, Some(gone)) = (later, key.gone_when(history, &ops[*w])) {
                // Best: seen at quiescence, and something else was there before.
                let rank = 2 * u8::from(!finals) + u8::from(gone.is_null());
                places.push((rank, at_key, *w));
            }
        }
    }
    // Ranks 0 and 1 are seen at quiescence.
    places.retain(|place| place.0 < 2 || !at_quiescence);
    let best = places.iter().map(|place| place.0).min()?;
    places.retain(|place| place.0 == best);
    let (_, at_key, w) = *rng.pick(&places)?;
    let value = written(history, w)?;
    let gone = keys[at_key].gone_when(history, &ops[w])?;
    let reads: Vec<usize> = keys[at_key].reads.iter().copied().filter(|read| ops[*read].output == *value).collect();
    let detail = format!(
        "write {} of {value} by client {} on {} vanished: {} reads that showed it show {gone}",
        ops[w].op_id,
        ops[w].process_id,
        ops[w].key.as_deref().unwrap_or("the object"),
        reads.len()
    );
    Some(Edit { changes: reads.into_iter().map(|read| (read, gone.clone())).collect(), detail })
}

fn is_last_of_client(ops: &[Op], key: &Key<'_>, read: usize) -> bool {
    !key.reads.iter().any(|other| {
        ops[*other].process_id == ops[read].process_id && (ops[*other].invoke_ts, *other) > (ops[read].invoke_ts, read)
    })
}

/// One read shows a value that had been overwritten before it began.
pub(super) fn stale_read(history: &History, seed: u64) -> Option<Edit> {
    let mut rng = Rng::stream(seed, "stale-read");
    let keys = keys(history);
    let ops = history.ops();
    let mut reads: Vec<(usize, usize)> =
        keys.iter().enumerate().flat_map(|(k, key)| key.reads.iter().map(move |read| (k, *read))).collect();
    rng.shuffle(&mut reads);
    // Null is a poor lie (some models let it say nothing): only when no read can tell a better one.
    for null_will_do in [false, true] {
        for (k, read) in &reads {
            let key = &keys[*k];
            // Of the writes that were over, the one that began last leaves the most behind it.
            let over = key.writes.iter().rev().find(|w| ops[**w].complete_ts < Some(ops[*read].invoke_ts));
            let Some(w) = over else { continue };
            let Some(gone) = key.gone_when(history, &ops[*w]).filter(|gone| null_will_do || !gone.is_null()) else {
                continue;
            };
            if gone != ops[*read].output {
                let detail = format!(
                    "{} shows {gone} instead of {}, though write {} had completed before it began",
                    read_at(&ops[*read]),
                    ops[*read].output,
                    ops[*w].op_id
                );
                return Some(Edit { changes: vec![(*read, gone)], detail });
            }
        }
    }
    None
}

/// One read shows a value that nobody wrote.
pub(super) fn phantom(history: &History, seed: u64) -> Option<Edit> {
    let mut rng = Rng::stream(seed, "phantom-value");
    let ops = history.ops();
    let keys = keys(history);
    let reads: Vec<usize> = keys
        .iter()
        .flat_map(|key| key.reads.iter().copied())
        .filter(|read| !matches!(Entry::of(&ops[*read]), Ok(Entry::Read(_))))
        .collect();
    let read = *rng.pick(&reads)?;
    // A read that saw nothing gets a value of the sort that is written.
    let like = keys.iter().flat_map(|key| &key.writes).filter_map(|w| written(history, *w)).find(|v| !v.is_null());
    let like = if ops[read].output.is_null() { like } else { None };
    let value = fresh(history, like.unwrap_or(&ops[read].output), &mut rng);
    let detail = format!("{} shows {value}, which nobody wrote, instead of {}", read_at(&ops[read]), ops[read].output);
    Some(Edit { changes: vec![(read, value)], detail })
}

/// Every answer is a value that occurs nowhere.
pub(super) fn foreign(history: &History, seed: u64) -> Option<Edit> {
    let mut rng = Rng::stream(seed, "foreign-answers");
    let acknowledged = || history.ops().iter().enumerate().filter(|(_, op)| op.effect() == Effect::Acknowledged);
    // Of the sort that is answered most plainly.
    let like = acknowledged().map(|(_, op)| &op.output).find(|output| !output.is_null()).unwrap_or(&Value::Null);
    let value = fresh(history, like, &mut rng);
    let changes: Vec<(usize, Value)> = acknowledged().map(|(at, _)| (at, value.clone())).collect();
    let detail = format!("{} operations answered {value}, which is found nowhere in the history", changes.len());
    (!changes.is_empty()).then_some(Edit { changes, detail })
}

/// A value that does not occur in `history`, of the sort of `like`.
pub(super) fn fresh(history: &History, like: &Value, rng: &mut Rng) -> Value {
    let (mut largest, mut longest) = (0, 0);
    for op in history.ops() {
        for value in [&op.input, &op.output] {
            measure(value, &mut largest, &mut longest);
        }
    }
    if like.is_number() && largest < i64::MAX - 2_000_000 {
        json!(largest + 1_000_000 + rng.below(1_000_000) as i64)
    } else {
        json!(format!("phantom-{}", "f".repeat(longest + 1 + rng.below(8) as usize)))
    }
}

fn measure(value: &Value, largest: &mut i64, longest: &mut usize) {
    match value {
        // Numbers beyond i64 make the phantom a string.
        Value::Number(number) => {
            *largest = (*largest).max(number.as_f64().map_or(i64::MAX, |float| float.ceil() as i64))
        }
        Value::String(text) => *longest = (*longest).max(text.len()),
        Value::Array(values) => values.iter().for_each(|value| measure(value, largest, longest)),
        Value::Object(fields) => fields.values().for_each(|value| measure(value, largest, longest)),
        Value::Null | Value::Bool(_) => {}
    }
}
