//! The slow checkers that the fast ones are compared with: every order is tried, nothing is remembered.

use crate::history::{Effect, History, Op};
use crate::model::{Atoms, Model, Step};
use std::collections::BTreeMap;

/// Linearizable per key, by trying every order (Wing and Gong, JPDC 1993). For ten operations a key, hardly more.
pub(crate) fn linearizable<M: Model>(model: &M, history: &History) -> bool {
    let mut keys: BTreeMap<Option<&str>, Vec<&Op>> = BTreeMap::new();
    for op in history.ops().iter().filter(|op| op.effect() != Effect::Failed) {
        keys.entry(op.key.as_deref()).or_default().push(op);
    }
    keys.values().all(|ops| {
        let mut atoms = Atoms::default();
        let start = model.start(&mut atoms);
        let calls: Vec<M::Call> = ops.iter().map(|op| model.call(op, &mut atoms).expect("understood")).collect();
        let mut left: Vec<usize> = (0..ops.len()).collect();
        orderable(model, &start, ops, &calls, &mut left)
    })
}

fn orderable<M: Model>(model: &M, state: &M::State, ops: &[&Op], calls: &[M::Call], left: &mut Vec<usize>) -> bool {
    let settled = |op: usize| ops[op].effect() == Effect::Acknowledged;
    if !left.iter().any(|op| settled(*op)) {
        return true;
    }
    for at in 0..left.len() {
        let op = left[at];
        let too_early = left.iter().any(|other| settled(*other) && ops[*other].complete_ts < Some(ops[op].invoke_ts));
        if too_early {
            continue;
        }
        let next = match model.step(state, &calls[op]) {
            Step::Illegal => continue,
            Step::Unchanged => state.clone(),
            Step::To(next) => next,
        };
        left.remove(at);
        let found = orderable(model, &next, ops, calls, left);
        left.insert(at, op);
        if found {
            return true;
        }
    }
    false
}
