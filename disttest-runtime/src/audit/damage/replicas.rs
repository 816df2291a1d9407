//! Damage to what replicas show.

use super::Edit;
use super::values::fresh;
use crate::base::rng::Rng;
use crate::history::{Effect, History, Op};
use std::collections::{BTreeMap, BTreeSet};

fn reads(op: &Op) -> bool {
    matches!(op.op_type.as_str(), "read" | "get" | "view" | "dump")
}

/// Every read of one key at one replica shows the same strange value, and at the others what they showed.
pub(super) fn diverge(history: &History, seed: u64) -> Option<Edit> {
    let mut rng = Rng::stream(seed, "diverged-replica");
    let ops = history.ops();
    let changes = ops.iter().filter(|op| !reads(op));
    let quiet = changes.map(|op| op.complete_ts.unwrap_or(op.invoke_ts)).max().unwrap_or_default();
    let answered = |op: &Op| reads(op) && op.effect() == Effect::Acknowledged;
    let mut places: BTreeMap<Option<&str>, BTreeSet<&str>> = BTreeMap::new();
    for op in ops.iter().filter(|op| answered(op) && op.invoke_ts > quiet) {
        places.entry(op.key.as_deref()).or_default().extend(op.node_seen.as_deref());
    }
    let places: Vec<(Option<&str>, &str)> = places
        .into_iter()
        .filter(|(_, replicas)| replicas.len() > 1)
        .flat_map(|(key, replicas)| replicas.into_iter().map(move |replica| (key, replica)))
        .collect();
    let (key, replica) = *rng.pick(&places)?;
    let here = |op: &&Op| answered(op) && op.key.as_deref() == key && op.node_seen.as_deref() == Some(replica);
    let value = fresh(history, &ops.iter().find(here)?.output, &mut rng);
    let changes = (0..ops.len()).filter(|at| here(&&ops[*at])).map(|at| (at, value.clone())).collect();
    let detail = format!("replica {replica} shows {value} for {}, and no other does", key.unwrap_or("the object"));
    Some(Edit { changes, detail })
}
