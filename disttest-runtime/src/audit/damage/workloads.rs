//! Damage to histories of one workload: an answer that contradicts what the others say.

use super::values::fresh;
use super::{Edit, read_at};
use crate::base::rng::Rng;
use crate::history::access::Touch;
use crate::history::{Effect, History, Op};
use serde_json::{Value, json};

/// A damage done to the operations of a history.
type Damage = fn(&[Op], &History, &mut Rng) -> Option<Edit>;

/// One answer, or a few, that the workload of `checker` surely forbids; for any of them without a name.
pub(super) fn contradict(history: &History, seed: u64, checker: Option<&str>) -> Option<Edit> {
    let workloads: [(&str, Damage); 6] = [
        ("bank", bank),
        ("counter-bounds", counter),
        ("unique-ids", ids),
        ("total-queue", queue),
        ("long-fork", fork),
        ("freshness", freshness),
    ];
    let mut rng = Rng::stream(seed, "contradictory-answer");
    let mut chosen = workloads.into_iter().filter(|(name, _)| checker.is_none_or(|checker| checker == *name));
    chosen.find_map(|(_, damage)| damage(history.ops(), history, &mut rng))
}

fn answered(op: &Op) -> bool {
    op.effect() == Effect::Acknowledged && !op.output.is_null()
}

fn pick(ops: &[Op], rng: &mut Rng, fits: impl Fn(&Op) -> bool) -> Option<usize> {
    let fitting: Vec<usize> = (0..ops.len()).filter(|at| fits(&ops[*at])).collect();
    rng.pick(&fitting).copied()
}

/// A read shows one more on an account than it did, when its total was that of the read that completed first.
fn bank(ops: &[Op], _: &History, rng: &mut Rng) -> Option<Edit> {
    if !ops.iter().any(|op| op.op_type == "transfer") {
        return None;
    }
    let first = ops.iter().filter(|op| op.op_type == "read" && answered(op)).map(|op| (op.complete_ts, op.op_id)).min();
    let at = pick(ops, rng, |op| op.op_type == "read" && answered(op) && Some((op.complete_ts, op.op_id)) != first)?;
    let mut output = ops[at].output.clone();
    let balance = match &mut output {
        Value::Object(accounts) => accounts.values_mut().next()?,
        Value::Array(accounts) => match accounts.first_mut()? {
            Value::Array(pair) => pair.get_mut(1)?,
            balance => balance,
        },
        _ => return None,
    };
    *balance = json!(balance.as_i64()?.checked_add(1)?);
    Some(Edit { changes: vec![(at, output)], detail: format!("{} shows 1 more on an account", read_at(&ops[at])) })
}

/// A read shows more than it did by all that was ever added or taken away, and 1: its lower bound was no higher than what
/// it showed, and its upper bound lies above the lower one by no more than that.
fn counter(ops: &[Op], _: &History, rng: &mut Rng) -> Option<Edit> {
    let changes = ["add", "inc", "increment", "dec", "decrement", "sub"];
    let amount = |op: &Op| if op.input.is_null() { 1 } else { op.input.as_i64().unwrap_or(0).saturating_abs() };
    let mine = || ops.iter().filter(|op| changes.contains(&op.op_type.as_str()));
    mine().next()?;
    let all = mine().map(amount).fold(1_i64, i64::saturating_add);
    let at = pick(ops, rng, |op| op.op_type == "read" && op.effect() == Effect::Acknowledged && op.output.is_i64())?;
    let shown = ops[at].output.as_i64()?.checked_add(all)?;
    Some(Edit { changes: vec![(at, json!(shown))], detail: format!("{} shows {shown}", read_at(&ops[at])) })
}

/// A call got the id of another.
fn ids(ops: &[Op], _: &History, rng: &mut Rng) -> Option<Edit> {
    let generates = |op: &Op| op.op_type == "generate" && answered(op);
    let one = pick(ops, rng, generates)?;
    let other = pick(ops, rng, |op| generates(op) && op.op_id != ops[one].op_id)?;
    let detail = format!("operation {} got the id of operation {}", ops[one].op_id, ops[other].op_id);
    Some(Edit { changes: vec![(one, ops[other].output.clone())], detail })
}

/// Something comes out of a queue that nobody put in.
fn queue(ops: &[Op], history: &History, rng: &mut Rng) -> Option<Edit> {
    let at = pick(ops, rng, |op| match op.op_type.as_str() {
        "dequeue" => answered(op),
        "drain" => answered(op) && op.output.is_array(),
        _ => false,
    })?;
    let stranger = fresh(history, &json!(0), rng);
    let mut output = ops[at].output.clone();
    match output.as_array_mut().filter(|_| ops[at].op_type == "drain") {
        Some(list) => list.push(stranger),
        None => output = stranger,
    }
    Some(Edit {
        changes: vec![(at, output)],
        detail: format!("operation {} took what nobody had put in", ops[at].op_id),
    })
}

/// Of two reads of a and b one saw a and not b: the other now sees b and not a.
fn fork(ops: &[Op], _: &History, rng: &mut Rng) -> Option<Edit> {
    let value = |op: &Op, key: &Value| -> Option<Value> {
        let list = op.output.as_array().filter(|_| op.effect() == Effect::Acknowledged)?;
        list.iter().find(|micro| micro[0] == "r" && micro[1] == *key).map(|micro| micro[2].clone())
    };
    // Each read that saw some of its keys only, with one that it saw and one that it did not.
    let mixed = |op: &Op| -> Option<(Value, Value)> {
        let list = op.output.as_array().filter(|_| op.effect() == Effect::Acknowledged)?;
        let key = |seen: bool| list.iter().find(|m| m[0] == "r" && m[2].is_null() != seen).map(|m| m[1].clone());
        Some((key(true)?, key(false)?))
    };
    let one = pick(ops, rng, |op| mixed(op).is_some())?;
    let (seen, unseen) = mixed(&ops[one])?;
    let both = |op: &Op| op.op_id != ops[one].op_id && value(op, &seen).is_some() && value(op, &unseen).is_some();
    let other = pick(ops, rng, both)?;
    let written = |op: &Op| {
        let list = if op.output.is_array() { &op.output } else { &op.input };
        list.as_array()?.iter().find(|m| m[0] == "w" && m[1] == unseen).map(|m| m[2].clone())
    };
    let read = |op: &Op| value(op, &unseen).filter(|value| !value.is_null());
    let there = ops.iter().find_map(read).or_else(|| ops.iter().find_map(written)).unwrap_or(json!(1));
    let mut output = ops[other].output.clone();
    for micro in output.as_array_mut()? {
        if micro[1] == seen {
            micro[2] = Value::Null;
        } else if micro[1] == unseen {
            micro[2] = there.clone();
        }
    }
    let detail = format!(
        "operation {} sees {unseen} and not {seen}, operation {} the other way round",
        ops[other].op_id, ops[one].op_id
    );
    Some(Edit { changes: vec![(other, output)], detail })
}

/// Every read that began after a write of its key was acknowledged shows what nobody wrote, as if from before every write:
/// where the checker could tell at all, one of these began later than the bound.
fn freshness(ops: &[Op], history: &History, rng: &mut Rng) -> Option<Edit> {
    let reads = |op: &Op| matches!(op.op_type.as_str(), "read" | "get") || op.op_type.starts_with("read-");
    let writes =
        |op: &Op| Touch::of(op).is_ok_and(|touch| touch.surely_writes()) && op.effect() == Effect::Acknowledged;
    let mut written = std::collections::BTreeMap::<Option<&str>, u64>::new();
    for op in ops.iter().filter(|op| writes(op)) {
        let by = op.complete_ts.map_or(u64::MAX, |at| at.0);
        let first = written.entry(op.key.as_deref()).or_insert(by);
        *first = by.min(*first);
    }
    let stranger = fresh(history, &json!(0), rng);
    let stale = |op: &Op| {
        let first = written.get(&op.key.as_deref());
        reads(op) && op.effect() == Effect::Acknowledged && first.is_some_and(|first| *first < op.invoke_ts.0)
    };
    let changes: Vec<(usize, Value)> =
        (0..ops.len()).filter(|at| stale(&ops[*at])).map(|at| (at, stranger.clone())).collect();
    let detail = format!("{} reads show a value from before every write", changes.len());
    (!changes.is_empty()).then_some(Edit { changes, detail })
}
