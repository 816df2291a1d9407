//! Damage to whom is served.

use super::Damaged;
use crate::base::rng::Rng;
use crate::history::{Effect, History, Op};
use serde_json::Value;

/// True when a client got an answer that counts as service; a `cas` that answered `false` is one.
fn served(op: &Op) -> bool {
    op.effect() == Effect::Acknowledged || op.complete_ts.is_some() && !op.output.is_null()
}

/// Every operation that was answered is never answered, but for one.
pub(super) fn starve(history: &History, seed: u64) -> Option<Damaged> {
    let mut rng = Rng::stream(seed, "starved-groups");
    let answered: Vec<usize> = history
        .ops()
        .iter()
        .enumerate()
        .filter(|(_, op)| op.effect() == Effect::Acknowledged)
        .map(|(at, _)| at)
        .collect();
    let kept = *rng.pick(&answered).filter(|_| answered.len() > 1)?;
    let mut ops = history.ops().to_vec();
    let mut count = 0;
    for (_, op) in ops.iter_mut().enumerate().filter(|(at, op)| *at != kept && served(op)) {
        (op.complete_ts, op.output, op.error, op.timeout_marker) = (None, Value::Null, None, true);
        count += 1;
    }
    let detail = format!("{count} operations were never answered, all but {}", ops[kept].op_id);
    Some(Damaged { history: History::new(ops).ok()?, detail })
}
