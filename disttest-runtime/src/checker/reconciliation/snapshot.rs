//! What replicas showed, and whether it had settled.

use crate::base::time::Nanos;
use crate::history::Op;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// The whole state of one replica, as the caller read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Its name.
    pub replica: String,
    /// When reading it began, on the run's clock.
    pub from: Nanos,
    /// When it ended.
    pub to: Nanos,
    /// What it holds: a key that is not there is absent.
    pub state: BTreeMap<String, Value>,
}

/// What one replica showed of one key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown<'a> {
    from: Nanos,
    to: Nanos,
    /// `None`: absent.
    pub(super) value: Option<&'a Value>,
    pub(super) op: Option<u64>,
}

impl<'a> Shown<'a> {
    pub(super) fn of_read(op: &'a Op) -> Shown<'a> {
        let to = op.complete_ts.unwrap_or(op.invoke_ts);
        Shown { from: op.invoke_ts, to, value: Some(&op.output), op: Some(op.op_id) }
    }

    pub(super) fn of_snapshot(snapshot: &Snapshot, value: &'a Value) -> Shown<'a> {
        Shown { from: snapshot.from, to: snapshot.to, value: Some(value), op: None }
    }

    pub(super) fn text(&self) -> String {
        let read = self.op.map_or_else(String::new, |op| format!(" (read {op})"));
        format!("{}{read}", super::text(self.value))
    }
}

/// Enters that a snapshot lacks a key that another has.
pub(super) fn absent<'a>(
    snapshots: &'a [Snapshot],
    quiet: Nanos,
    keys: &mut BTreeMap<&'a str, BTreeMap<&'a str, Vec<Shown<'a>>>>,
) {
    for (key, replicas) in keys.iter_mut() {
        for snapshot in snapshots.iter().filter(|s| s.from > quiet && !s.state.contains_key(*key)) {
            let shown = Shown { from: snapshot.from, to: snapshot.to, value: None, op: None };
            replicas.entry(&snapshot.replica).or_default().push(shown);
        }
    }
}

/// What a replica showed until the last look at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled<'a> {
    /// The last answer.
    pub(super) last: Shown<'a>,
    /// The state was this one at some moment before this time…
    pub(super) since: Nanos,
    /// … and at some moment after this one, and at every look between.
    pub(super) until: Nanos,
}

/// The last of `all` when it and those before it, back to one that ended `settle` before it began, agree; why not
/// otherwise.
pub(super) fn settled<'a>(all: &[Shown<'a>], settle: Duration) -> Result<Settled<'a>, String> {
    let mut sorted = all.to_vec();
    sorted.sort_by_key(|shown| (shown.from, shown.to, shown.op));
    let last = *sorted.last().ok_or("it was not asked")?;
    let agree = || sorted.iter().rev().take_while(|shown| shown.value == last.value);
    let since = agree().map(|shown| shown.to).min().unwrap_or(last.to);
    if since.plus(settle) <= last.from {
        return Ok(Settled { last, since, until: last.from });
    }
    match sorted.iter().rev().find(|shown| shown.value != last.value) {
        Some(earlier) => Err(format!("it showed {}, and then {}", earlier.text(), last.text())),
        None => Err(format!("it was not asked twice, {} ms apart", settle.as_millis())),
    }
}

/// Where two values differ first, as ` at /path`; empty at the top.
pub(super) fn differs(a: Option<&Value>, b: Option<&Value>) -> String {
    let mut path = String::new();
    let (mut a, mut b) = (a, b);
    loop {
        let step = match (a, b) {
            (Some(Value::Object(x)), Some(Value::Object(y))) => {
                let mut names: Vec<&String> = x.keys().chain(y.keys()).collect();
                names.sort_unstable();
                names
                    .into_iter()
                    .find(|name| x.get(*name) != y.get(*name))
                    .map(|name| (name.clone(), x.get(name), y.get(name)))
            }
            (Some(Value::Array(x)), Some(Value::Array(y))) => {
                let at = (0..x.len().max(y.len())).find(|at| x.get(*at) != y.get(*at));
                at.map(|at| (at.to_string(), x.get(at), y.get(at)))
            }
            _ => None,
        };
        let Some((name, x, y)) = step else { break };
        path.push('/');
        path.push_str(&name);
        (a, b) = (x, y);
    }
    if path.is_empty() { path } else { format!(" at {path} ({} and {})", super::text(a), super::text(b)) }
}
