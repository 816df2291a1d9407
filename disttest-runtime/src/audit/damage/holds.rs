//! Damage to holds: a lock is granted while somebody holds it.

use crate::base::rng::Rng;
use crate::base::time::Nanos;
use crate::history::{Effect, History, Op};
use std::collections::BTreeMap;

/// What a holder did with a key: its first operation, and its first release after that.
struct Holder {
    first: usize,
    release: Option<Nanos>,
}

fn is_acquire(op: &Op) -> bool {
    matches!(op.op_type.as_str(), "acquire" | "lock" | "elect" | "become-leader")
}

/// The operations, with one acquire moved to where another holder's was; and what was done.
pub(super) fn overlap(history: &History, seed: u64) -> Option<(Vec<Op>, String)> {
    let mut rng = Rng::stream(seed, "overlapping-hold");
    let ops = history.ops();
    let mut keys: BTreeMap<Option<&str>, BTreeMap<u64, Holder>> = BTreeMap::new();
    for (at, op) in ops.iter().enumerate() {
        let release = matches!(op.op_type.as_str(), "release" | "unlock" | "step-down" | "resign");
        if !release && !is_acquire(op) && !matches!(op.op_type.as_str(), "renew" | "keepalive" | "heartbeat") {
            continue;
        }
        let holders = keys.entry(op.key.as_deref()).or_default();
        let holder = holders.entry(op.process_id).or_insert(Holder { first: at, release: None });
        if release && op.effect() != Effect::Failed && holder.release.is_none() {
            holder.release = Some(op.invoke_ts);
        }
    }
    // Null is a grant where no acquire answers anything.
    let silent = ops.iter().filter(|op| is_acquire(op)).all(|op| op.output.is_null());
    let granted = |op: &Op| {
        let answered = op.output != false && (silent || !op.output.is_null());
        is_acquire(op) && op.effect() == Effect::Acknowledged && answered
    };
    let mut places = Vec::new();
    for holders in keys.values() {
        let mut grants: Vec<&Holder> = holders.values().filter(|holder| granted(&ops[holder.first])).collect();
        grants.sort_by_key(|holder| holder.first);
        for two in grants.windows(2) {
            let (first, second) = (&ops[two[0].first], &ops[two[1].first]);
            let Some(complete) = first.complete_ts.filter(|complete| *complete < second.invoke_ts) else { continue };
            if two.iter().all(|holder| holder.release.is_none_or(|release| release > complete)) {
                let same_node = first.node_seen.is_some() && first.node_seen == second.node_seen;
                // A lease that was granted quickly holds longest.
                places.push((same_node, complete.since(first.invoke_ts), two[0].first, two[1].first));
            }
        }
    }
    places.sort_unstable();
    places.truncate(4);
    let same_node = places.first()?.0;
    places.retain(|place| place.0 == same_node);
    let (.., first, second) = *rng.pick(&places)?;
    let mut moved = ops.to_vec();
    (moved[second].invoke_ts, moved[second].complete_ts) = (ops[first].invoke_ts, ops[first].complete_ts);
    let detail = format!(
        "acquire {} of client {} was granted when acquire {} of client {} was, which had not been released",
        ops[second].op_id, ops[second].process_id, ops[first].op_id, ops[first].process_id
    );
    Some((moved, detail))
}
