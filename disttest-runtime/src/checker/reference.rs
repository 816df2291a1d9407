//! The slow checkers that the fast ones are compared with: every order is tried.

use super::Outcome;
use crate::history::access::Touch;
use crate::history::{Effect, History, Op};
use crate::model::{Atoms, Model, Step, Timed};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

/// Seeds of the histories to compare: `usual` of them, or as many as `DISTTEST_FUZZ` says, or those it names (`from..to`).
pub(crate) fn seeds(usual: u64) -> Range<u64> {
    let Ok(asked) = std::env::var("DISTTEST_FUZZ") else { return 0..usual };
    let (from, to) = asked.split_once("..").unwrap_or(("0", &asked));
    from.parse().expect("DISTTEST_FUZZ=N or FROM..TO")..to.parse().expect("DISTTEST_FUZZ=N or FROM..TO")
}

/// An outcome as tests write it: `valid`, `unknown`, or each anomaly with its operations, such as `lost [0, 3]`.
pub(crate) fn said(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Valid => "valid".to_owned(),
        Outcome::Unknown { .. } => "unknown".to_owned(),
        Outcome::Invalid { violations } => {
            violations.iter().map(|v| format!("{} {:?}", v.anomaly, v.ops)).collect::<Vec<_>>().join(", ")
        }
    }
}

/// Linearizable per key, by trying every order (Wing and Gong, JPDC 1993). For ten operations a key, hardly more.
pub(crate) fn linearizable<M: Model>(model: &M, history: &History) -> bool {
    of_each_key(model, history, |start, calls| orderable(model, start, calls, &mut (0..calls.len()).collect()))
}

/// As [`linearizable`], for up to 64 operations a key: what was tried is remembered.
pub(crate) fn linearizable_remembering<M: Model>(model: &M, history: &History) -> bool {
    of_each_key(model, history, |start, calls| orderable_remembering(model, start, calls))
}

fn of_each_key<M: Model>(
    model: &M,
    history: &History,
    orderable: impl Fn(&M::State, &[Timed<M::Call>]) -> bool,
) -> bool {
    let mut keys: BTreeMap<Option<&str>, Vec<&Op>> = BTreeMap::new();
    for op in history.ops().iter().filter(|op| op.effect() != Effect::Failed) {
        keys.entry(op.key.as_deref()).or_default().push(op);
    }
    keys.values().all(|ops| {
        let mut atoms = Atoms::default();
        let start = model.start(&mut atoms);
        let calls: Vec<Timed<M::Call>> = ops.iter().map(|op| timed(model, op, &mut atoms)).collect();
        orderable(&start, &calls)
    })
}

/// `op` as a call with its time.
pub(crate) fn timed<M: Model>(model: &M, op: &Op, atoms: &mut Atoms) -> Timed<M::Call> {
    let complete = op.complete_ts.filter(|_| op.effect() == Effect::Acknowledged);
    let call = model.call(op, atoms).expect("understood");
    Timed { call, invoke: op.invoke_ts.0, complete: complete.map(|at| at.0) }
}

/// Some legal order from `state` holds all completed calls among those `left`, and any of the others.
pub(crate) fn orderable<M: Model>(
    model: &M,
    state: &M::State,
    calls: &[Timed<M::Call>],
    left: &mut Vec<usize>,
) -> bool {
    if left.iter().all(|call| calls[*call].complete.is_none()) {
        return true;
    }
    for at in 0..left.len() {
        let call = left[at];
        let precedes = |other: &usize| calls[*other].complete.is_some_and(|complete| complete < calls[call].invoke);
        if left.iter().any(precedes) {
            continue;
        }
        let next = match model.step(state, &calls[call].call) {
            Step::Illegal => continue,
            Step::Unchanged => state.clone(),
            Step::To(next) => next,
        };
        left.remove(at);
        let found = orderable(model, &next, calls, left);
        left.insert(at, call);
        if found {
            return true;
        }
    }
    false
}

/// As [`orderable`], of all `calls`: each set of calls and the state behind it is tried once (Lowe, "Testing for
/// linearizability", Concurrency and Computation 2017).
fn orderable_remembering<M: Model>(model: &M, start: &M::State, calls: &[Timed<M::Call>]) -> bool {
    assert!(calls.len() <= 64);
    let those = |which: &dyn Fn(&Timed<M::Call>) -> bool| {
        (0..calls.len()).filter(|at| which(&calls[*at])).fold(0_u64, |those, at| those | 1 << at)
    };
    let firm = those(&|call| call.complete.is_some());
    let before = |call: &Timed<M::Call>| those(&|other| other.complete.is_some_and(|complete| complete < call.invoke));
    let before: Vec<u64> = calls.iter().map(before).collect();
    let (mut known, mut open) = (HashSet::new(), vec![(0_u64, start.clone())]);
    while let Some((done, state)) = open.pop() {
        if done & firm == firm {
            return true;
        }
        for at in (0..calls.len()).filter(|at| done >> at & 1 == 0 && before[*at] & !done == 0) {
            let next = match model.step(&state, &calls[at].call) {
                Step::Illegal => continue,
                Step::Unchanged => state.clone(),
                Step::To(next) => next,
            };
            if known.insert((done | 1 << at, next.clone())) {
                open.push((done | 1 << at, next));
            }
        }
    }
    false
}

/// No order of the writes of some key, with the writes of unknown outcome in any place or nowhere, ends with what a
/// final read shows. Final reads are each client's last read of the key after all acknowledged writes of the history.
pub(crate) fn loses(history: &History) -> bool {
    let writes = |op: &&Op| Touch::of(op).is_ok_and(|touch| touch.written().is_some());
    let quiet = history.ops().iter().filter(|op| acknowledged(op)).filter(writes).filter_map(|op| op.complete_ts).max();
    let keys: BTreeSet<&Option<String>> = history.ops().iter().map(|op| &op.key).collect();
    keys.into_iter().any(|key| {
        let of_key: Vec<&Op> =
            history.ops().iter().filter(|op| op.key == *key && op.effect() != Effect::Failed).collect();
        let finals = of_key.iter().filter(|op| acknowledged(op) && op.op_type.len() <= 4 && Some(op.invoke_ts) > quiet);
        let finals: Vec<&&Op> = finals.filter(|op| matches!(Touch::of(op), Ok(Touch::Read(_)))).collect();
        let last = |op: &&&Op| !finals.iter().any(|o| o.process_id == op.process_id && o.invoke_ts > op.invoke_ts);
        let writes: Vec<&Op> = of_key.iter().copied().filter(|op| writes(op)).collect();
        let some_ack = writes.iter().any(|op| acknowledged(op));
        some_ack && finals.iter().copied().filter(last).any(|read| !ends_with(&writes, read, &mut Vec::new()))
    })
}

fn acknowledged(op: &Op) -> bool {
    op.effect() == Effect::Acknowledged
}

/// Some order of `writes` (each acknowledged one in it, respecting time) ends with a write of what `read` shows.
fn ends_with(writes: &[&Op], read: &Op, order: &mut Vec<usize>) -> bool {
    let left: Vec<usize> = (0..writes.len()).filter(|op| !order.contains(op)).collect();
    let done = left.iter().all(|op| !acknowledged(writes[*op]));
    let shows = |op: &usize| Touch::of(writes[*op]).is_ok_and(|touch| touch.written() == Some(&read.output));
    if done && order.last().is_some_and(shows) {
        return true;
    }
    left.iter().copied().any(|op| {
        let may_be_next = Some(writes[op].invoke_ts) <= read.complete_ts
            && !left
                .iter()
                .any(|other| acknowledged(writes[*other]) && writes[*other].complete_ts < Some(writes[op].invoke_ts));
        if !may_be_next {
            return false;
        }
        order.push(op);
        let found = ends_with(writes, read, order);
        order.pop();
        found
    })
}
