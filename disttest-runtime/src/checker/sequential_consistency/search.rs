//! Search for a legal order that keeps the order of each session.
//!
//! A configuration is how far each session has come, which calls of unknown outcome were used, and the states of all
//! objects. A legal call that only reads is taken at once: any order that takes it later stays legal when it is taken now.
//! Else every session's next call is a choice, the one that completed first before others, and calls of unknown outcome
//! last. No configuration is visited twice.

use super::saturation::{self, Decided};
use crate::checker::Limits;
use crate::history::{Effect, Op};
use crate::model::{Model, Step};
use rustc_hash::FxHashSet;

/// The operations of one session, in order.
pub(super) struct Session<'h, M: Model> {
    pub(super) ops: Vec<&'h Op>,
    calls: Vec<M::Call>,
    objects: Vec<usize>,
}

impl<M: Model> Default for Session<'_, M> {
    fn default() -> Self {
        Session { ops: Vec::new(), calls: Vec::new(), objects: Vec::new() }
    }
}

impl<'h, M: Model> Session<'h, M> {
    /// Adds the next operation, as the model understands it, on an object.
    pub(super) fn push(&mut self, op: &'h Op, call: M::Call, object: usize) {
        self.ops.push(op);
        self.calls.push(call);
        self.objects.push(object);
    }

    /// The operations with their calls, in order.
    pub(super) fn places(&self) -> impl Iterator<Item = Place<'_, 'h, M>> {
        let ops = self.ops.iter().zip(&self.calls).zip(&self.objects);
        ops.map(|((op, call), object)| Place { op, call, object: *object })
    }
}

/// A call of a session with its operation.
pub(super) struct Place<'s, 'h, M: Model> {
    pub(super) op: &'h Op,
    pub(super) call: &'s M::Call,
    pub(super) object: usize,
}

impl<M: Model> Place<'_, '_, M> {
    pub(super) fn is_known(&self) -> bool {
        self.op.effect() == Effect::Acknowledged
    }

    /// When it completed.
    pub(super) fn by(&self) -> u64 {
        self.op.complete_ts.map_or(u64::MAX, |at| at.0)
    }
}

/// What the search found.
pub(super) enum Found {
    Order,
    None,
    Stopped(String),
}

/// Steps between two questions to the limits.
const PATIENCE: u64 = 1024;

/// Steps that all trials for a witness may take.
const SHRINKING: u64 = 300_000;

/// A call with its object, and when it completed if it must be ordered.
struct Item<'s, M: Model> {
    call: &'s M::Call,
    object: usize,
    by: u64,
}

/// How far the search has come.
#[derive(Clone, PartialEq, Eq, Hash)]
struct At<S> {
    /// Calls ordered of each session.
    taken: Box<[u32]>,
    /// Calls of unknown outcome that were used, as bits.
    used: Box<[u64]>,
    states: Box<[S]>,
}

pub(super) struct Search<'a, M: Model> {
    model: &'a M,
    start: &'a M::State,
    objects: usize,
    limits: &'a dyn Limits,
    effort: u64,
    pub(super) steps: u64,
    pub(super) peak_bytes: u64,
}

/// A session and how many of its calls come first.
type Before = (usize, u32);

/// Calls that must be ordered, by session; and those that may be, with the session and the number of its calls that
/// must come first.
struct Plan<'s, M: Model> {
    must: Vec<Vec<Item<'s, M>>>,
    may: Vec<(Item<'s, M>, Option<Before>)>,
}

impl<'a, M: Model> Search<'a, M> {
    pub(super) fn new(
        model: &'a M,
        start: &'a M::State,
        objects: usize,
        limits: &'a dyn Limits,
        effort: u64,
    ) -> Search<'a, M> {
        Search { model, start, objects, limits, effort, steps: 0, peak_bytes: 0 }
    }

    /// Decides by what must come before what, and looks for an order where that leaves the question open; operations
    /// that are not `firm` may take effect at any time, or never.
    pub(super) fn run(&mut self, sessions: &[Session<'_, M>], firm: impl Fn(&Op) -> bool) -> Found {
        self.steps += sessions.iter().map(|session| session.ops.len() as u64).sum::<u64>();
        match saturation::decide(self.model, self.start, sessions, &firm, self.limits) {
            Some(Decided::Order) => Found::Order,
            Some(Decided::Contradiction) => Found::None,
            None => self.look(sessions, firm),
        }
    }

    /// Looks for an order.
    pub(super) fn look(&mut self, sessions: &[Session<'_, M>], firm: impl Fn(&Op) -> bool) -> Found {
        let plan = self.plan(sessions, firm);
        let first = At {
            taken: vec![0; plan.must.len()].into(),
            used: vec![0; plan.may.len().div_ceil(64)].into(),
            states: vec![self.start.clone(); self.objects].into(),
        };
        let size =
            (first.taken.len() * 4 + first.used.len() * 8 + self.objects * (size_of::<M::State>() + 16) + 64) as u64;
        let mut visited: FxHashSet<At<M::State>> = FxHashSet::default();
        let mut open = vec![first];
        let mut next_question = 0;
        while let Some(mut at) = open.pop() {
            self.take_reads(&plan, &mut at);
            if plan.must.iter().zip(&at.taken).all(|(calls, taken)| calls.len() == *taken as usize) {
                return Found::Order;
            }
            if self.steps >= next_question {
                next_question = self.steps + PATIENCE;
                let bytes = (visited.len() + open.len()) as u64 * size;
                self.peak_bytes = self.peak_bytes.max(bytes);
                if let Some(why) = self.limits.exceeded(bytes) {
                    return Found::Stopped(why);
                }
                if self.steps > self.effort {
                    return Found::Stopped(format!("{} steps of search", self.effort));
                }
            }
            self.open_all(&plan, &at, &mut open);
            visited.insert(at);
            while open.last().is_some_and(|next| visited.contains(next)) {
                open.pop();
            }
        }
        Found::None
    }

    fn plan<'s>(&self, sessions: &'s [Session<'_, M>], firm: impl Fn(&Op) -> bool) -> Plan<'s, M> {
        let mut plan = Plan { must: Vec::new(), may: Vec::new() };
        for (at, session) in sessions.iter().enumerate() {
            let mut must = Vec::new();
            for place in session.places() {
                let (known, by) = (place.is_known(), place.by());
                let item = Item { call: place.call, object: place.object, by };
                if known && firm(place.op) {
                    must.push(item);
                } else if !self.model.only_reads(place.call) {
                    plan.may.push((item, (!known).then_some((at, must.len() as u32))));
                }
            }
            plan.must.push(must);
        }
        plan
    }

    fn take_reads(&mut self, plan: &Plan<'_, M>, at: &mut At<M::State>) {
        // Reads change nothing: one pass takes all there are.
        for (calls, taken) in plan.must.iter().zip(at.taken.iter_mut()) {
            while let Some(item) = calls.get(*taken as usize) {
                self.steps += 1;
                let legal = self.model.step(&at.states[item.object], item.call) != Step::Illegal;
                if !legal || !self.model.only_reads(item.call) {
                    break;
                }
                *taken += 1;
            }
        }
    }

    fn open_all(&mut self, plan: &Plan<'_, M>, at: &At<M::State>, open: &mut Vec<At<M::State>>) {
        let mut found: Vec<(bool, u64, At<M::State>)> = Vec::new();
        for (session, calls) in plan.must.iter().enumerate() {
            let Some(item) = calls.get(at.taken[session] as usize) else { continue };
            self.steps += 1;
            let mut next = match self.model.step(&at.states[item.object], item.call) {
                Step::Illegal => continue,
                Step::Unchanged => at.clone(),
                Step::To(state) => with(at, item.object, state),
            };
            next.taken[session] += 1;
            found.push((false, item.by, next));
        }
        for (index, (item, after)) in plan.may.iter().enumerate() {
            let is_used = at.used[index / 64] >> (index % 64) & 1 == 1;
            if is_used || after.is_some_and(|(session, count)| at.taken[session] < count) {
                continue;
            }
            self.steps += 1;
            if let Step::To(state) = self.model.step(&at.states[item.object], item.call) {
                let mut next = with(at, item.object, state);
                next.used[index / 64] |= 1 << (index % 64);
                found.push((true, item.by, next));
            }
        }
        // The last is tried first.
        found.sort_by_key(|(may, by, _)| std::cmp::Reverse((*may, *by)));
        open.extend(found.into_iter().map(|(_, _, next)| next));
    }

    /// Ids of operations that have no order whatever the others did, none of which can be spared (unless effort ran out).
    pub(super) fn shrink(&mut self, sessions: &[Session<'_, M>]) -> Vec<u64> {
        let known = sessions.iter().flat_map(|session| &session.ops).filter(|op| op.effect() == Effect::Acknowledged);
        let mut by_completion: Vec<&&Op> = known.collect();
        by_completion.sort_by_key(|op| op.complete_ts);
        let mut firm: Vec<u64> = by_completion.iter().map(|op| op.op_id).collect();
        let (usual, end) = (self.effort, self.steps + SHRINKING);
        let mut chunk = firm.len().div_ceil(2);
        while chunk > 0 && self.steps < end {
            let (mut from, mut freed) = (firm.len(), false);
            while from > 0 && self.steps < end {
                let begin = from.saturating_sub(chunk);
                let rest: FxHashSet<u64> = firm[..begin].iter().chain(&firm[from..]).copied().collect();
                self.effort = end.min(self.steps + SHRINKING / 20);
                if !rest.is_empty() && matches!(self.run(sessions, |op| rest.contains(&op.op_id)), Found::None) {
                    firm.drain(begin..from);
                    freed = true;
                }
                from = begin;
            }
            chunk = if chunk == 1 && freed { 1 } else { chunk / 2 };
        }
        self.effort = usual;
        firm
    }
}

fn with<S: Clone>(at: &At<S>, object: usize, state: S) -> At<S> {
    let mut next = at.clone();
    next.states[object] = state;
    next
}
