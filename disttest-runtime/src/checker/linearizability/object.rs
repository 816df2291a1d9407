//! The operations on one object, as its model understands them.

use super::budget::Budget;
use super::search::{Found, search};
use crate::history::{Effect, Op};
use crate::model::{Atom, Atoms, Decision, Model, Timed};
use rustc_hash::FxHashMap;

/// The operations on one object.
pub(super) struct Object<'h, M: Model> {
    /// The key, when the history is checked per key.
    pub(super) key: Option<&'h str>,
    /// All operations recorded on it.
    pub(super) recorded: u64,
    /// Completed operations that some state forbids.
    pub(super) observing: u64,
    /// Operations that can matter: neither failed nor inert.
    pub(super) ops: Vec<&'h Op>,
    /// `ops` as calls.
    pub(super) calls: Vec<Timed<M::Call>>,
}

/// What is known of one object.
pub(super) enum Solved {
    /// A legal order exists.
    Order,
    /// None exists.
    NoOrder(Suspects),
    /// The limits stopped the search.
    Stopped(String),
}

/// Where to look for the smallest reason.
pub(super) enum Suspects {
    /// These calls (indices) suffice.
    These(Vec<usize>),
    /// What was invoked until this call completed suffices.
    Until(usize),
}

impl<'h, M: Model> Object<'h, M> {
    pub(super) fn new(key: Option<&'h str>) -> Self {
        Object { key, recorded: 0, observing: 0, ops: Vec::new(), calls: Vec::new() }
    }

    /// Makes room for `count` operations.
    pub(super) fn reserve(&mut self, count: usize) {
        self.ops.reserve(count);
        self.calls.reserve(count);
    }

    /// Takes the next operation; `Err` says what the model does not understand of it.
    pub(super) fn add(&mut self, op: &'h Op, model: &M, atoms: &mut Atoms) -> Result<(), String> {
        self.recorded += 1;
        if op.effect() == Effect::Failed {
            return Ok(());
        }
        let call = model.call(op, atoms)?;
        if is_inert(model, &call) {
            return Ok(());
        }
        let complete = if op.effect() == Effect::Unknown { None } else { op.complete_ts.map(|at| at.0) };
        self.observing += u64::from(complete.is_some() && model.observes(&call));
        self.ops.push(op);
        self.calls.push(Timed { call, invoke: op.invoke_ts.0, complete });
        Ok(())
    }

    /// False when something was acknowledged here and no answer says anything of the state.
    pub(super) fn is_observed(&self) -> bool {
        self.observing > 0 || self.calls.iter().all(|call| call.complete.is_none())
    }

    pub(super) fn label(&self) -> String {
        self.key.map_or_else(|| "the object".to_owned(), |key| format!("key {key:?}"))
    }

    pub(super) fn solve(&self, model: &M, start: &M::State, budget: &mut Budget<'_>) -> Solved {
        solve(model, start, self.calls.clone(), budget)
    }
}

/// True when leaving out `call` makes no difference: it is legal in every state and changes none.
fn is_inert<M: Model>(model: &M, call: &M::Call) -> bool {
    model.only_reads(call) && !model.observes(call)
}

/// Decides whether `calls` have a legal order from `start`.
pub(super) fn solve<M: Model>(
    model: &M,
    start: &M::State,
    calls: Vec<Timed<M::Call>>,
    budget: &mut Budget<'_>,
) -> Solved {
    if let Some(why) = budget.stop(|| size_of_val(&calls[..]) as u64) {
        return Solved::Stopped(why);
    }
    if let Some(decision) = model.decide(start, &calls) {
        budget.steps += calls.len() as u64;
        return match decision {
            Decision::Linearizable => Solved::Order,
            Decision::NotLinearizable(these) => Solved::NoOrder(Suspects::These(these)),
        };
    }
    match by_part(model, &calls) {
        Some(parts) => solve_parts(model, start, &calls, &parts, budget),
        None => by_search(model, start, calls, budget),
    }
}

fn by_search<M: Model>(model: &M, start: &M::State, calls: Vec<Timed<M::Call>>, budget: &mut Budget<'_>) -> Solved {
    let (calls, indices) = refined(model, calls);
    match search(model, start, &calls, budget) {
        Found::Order(_) => Solved::Order,
        Found::None { at } => Solved::NoOrder(Suspects::Until(indices[at])),
        Found::Stopped(why) => Solved::Stopped(why),
    }
}

/// `calls` with what they imply of each other, without those that make no difference then; and which they were.
pub(super) fn refined<M: Model>(model: &M, mut calls: Vec<Timed<M::Call>>) -> (Vec<Timed<M::Call>>, Vec<usize>) {
    model.refine(&mut calls);
    let mut indices = Vec::with_capacity(calls.len());
    let mut at = 0;
    calls.retain(|call| {
        let matters = !is_inert(model, &call.call);
        if matters {
            indices.push(at);
        }
        at += 1;
        matters
    });
    (calls, indices)
}

/// Indices of the calls of each part, when the object has parts that do not depend on each other.
fn by_part<M: Model>(model: &M, calls: &[Timed<M::Call>]) -> Option<Vec<Vec<usize>>> {
    let mut place: FxHashMap<Atom, usize> = FxHashMap::default();
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let at = *place.entry(model.part(&call.call)?).or_insert(parts.len());
        if at == parts.len() {
            parts.push(Vec::new());
        }
        parts[at].push(index);
    }
    (parts.len() > 1).then_some(parts)
}

/// The first part without a legal order, or undecided, decides.
fn solve_parts<M: Model>(
    model: &M,
    start: &M::State,
    calls: &[Timed<M::Call>],
    parts: &[Vec<usize>],
    budget: &mut Budget<'_>,
) -> Solved {
    let mut stopped = None;
    for part in parts {
        match by_search(model, start, part.iter().map(|index| calls[*index].clone()).collect(), budget) {
            Solved::Order => {}
            Solved::NoOrder(Suspects::Until(at)) => return Solved::NoOrder(Suspects::Until(part[at])),
            Solved::NoOrder(Suspects::These(these)) => {
                return Solved::NoOrder(Suspects::These(these.into_iter().map(|at| part[at]).collect()));
            }
            Solved::Stopped(why) => stopped = Some(why),
        }
    }
    stopped.map_or(Solved::Order, Solved::Stopped)
}
