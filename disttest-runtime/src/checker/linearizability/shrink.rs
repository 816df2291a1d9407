//! From an object without a legal order to the few operations that already have none.
//!
//! Leaving out an operation is not sound: without a write, a read of its value looks wrong. So operations are made
//! free instead: a free operation may take effect at any time after its invocation (answering what it answered), or
//! never. Freeing only adds legal orders; what is still without one is a reason by itself, whatever the free operations
//! did. The result is 1-minimal: freeing any further operation gives a legal order (unless effort ran out).

use super::budget::Budget;
use super::explain;
use super::object::{Object, Solved, Suspects, refined, solve};
use super::search::{Found, search};
use crate::base::time::Nanos;
use crate::history::Op;
use crate::model::{Model, Step, Timed};

/// Steps of search that all trials for one witness may cost, beside a multiple of its object's size.
const EFFORT: u64 = 300_000;

/// Steps that any witness is worth; from there the effort grows with the square of the object's size.
const LEAST: u64 = 4_000;

/// Steps that one trial may cost, likewise: a trial that takes longer counts as failed, and others get their turn.
const TRIAL: u64 = 20_000;

/// Operations that are freed one by one at once.
const FEW: usize = 3;

/// Operations that a reason may grow to, one by one.
const ROUNDS: usize = 200;

/// Indices, in the order of invocation, of operations of `object` that have no legal order whatever the others did.
pub(super) fn shrink<M: Model>(
    model: &M,
    start: &M::State,
    object: &Object<'_, M>,
    suspects: Suspects,
    budget: &mut Budget<'_>,
) -> Vec<usize> {
    let saved = budget.cap;
    let size = object.calls.len() as u64;
    // The witness of a small history must not take longer than its search.
    let effort = (LEAST + size * size / 2).min(EFFORT + 200 * size);
    let (end, patience) = (budget.steps + effort, (TRIAL + 20 * size).min(effort / 4));
    let mut trial = Trial { model, start, object, budget, end, patience };
    let mut firm = trial.first_guess(suspects);
    if firm.len() > FEW {
        trial.drop_late(&mut firm);
        trial.drop_early(&mut firm);
    }
    trial.drop_chunks(&mut firm);
    budget.cap = saved;
    firm
}

struct Trial<'a, 'h, 'b, M: Model> {
    model: &'a M,
    start: &'a M::State,
    object: &'a Object<'h, M>,
    budget: &'a mut Budget<'b>,
    /// Steps at which all trials end, and what one may take.
    end: u64,
    patience: u64,
}

impl<M: Model> Trial<'_, '_, '_, M> {
    /// True when `firm` (sorted) has no legal order, all others being free. Undecided counts as false.
    fn suffices(&mut self, firm: &[usize]) -> bool {
        let (calls, _) = self.calls_with(firm);
        self.budget.cap = Some(self.end.min(self.budget.steps + self.patience));
        matches!(solve(self.model, self.start, calls, self.budget), Solved::NoOrder(_))
    }

    /// The calls with all but `firm` (sorted) free, and their indices in the object.
    fn calls_with(&self, firm: &[usize]) -> (Vec<Timed<M::Call>>, Vec<usize>) {
        // What begins after everything firm has completed cannot help.
        let end = firm.iter().filter_map(|index| self.object.calls[*index].complete).max().unwrap_or(0);
        let mut firm = firm.iter().copied().peekable();
        let (mut calls, mut indices) = (Vec::new(), Vec::new());
        for (index, call) in self.object.calls.iter().enumerate() {
            if firm.next_if_eq(&index).is_some() {
                calls.push(call.clone());
                indices.push(index);
            } else if call.invoke <= end && !self.model.only_reads(&call.call) {
                // A free read could as well never have been.
                calls.push(Timed { call: self.model.freed(&call.call), invoke: call.invoke, complete: None });
                indices.push(index);
            }
        }
        (calls, indices)
    }

    fn first_guess(&mut self, suspects: Suspects) -> Vec<usize> {
        let settled = |index: &usize| self.object.calls[*index].complete.is_some();
        let all: Vec<usize> = (0..self.object.calls.len()).filter(settled).collect();
        let guess: Vec<usize> = match suspects {
            Suspects::These(mut these) => {
                these.retain(settled);
                these.sort_unstable();
                these
            }
            Suspects::Until(last) => {
                if let Some(grown) = self.usual(last).or_else(|| self.grow(last)) {
                    return grown;
                }
                let end = self.object.calls[last].complete;
                all.iter().copied().filter(|index| self.object.calls[*index].complete <= end).collect()
            }
        };
        if self.suffices(&guess) { guess } else { all }
    }

    /// The usual reason, for a read at about the time of `last`. Whether it is one is for the search to say.
    fn usual(&mut self, last: usize) -> Option<Vec<usize>> {
        let calls = &self.object.calls;
        let (begin, end) = (calls[last].invoke, calls[last].complete);
        let near = |at: &usize| calls[*at].complete.is_some_and(|at| at >= begin) && Some(calls[*at].invoke) <= end;
        let reads: Vec<usize> = [last].into_iter().chain((0..calls.len()).filter(near)).collect();
        let touches = explain::touches(&self.object.ops);
        let reasons = reads.into_iter().filter_map(|read| explain::overwritten(&self.object.ops, &touches, read));
        let reasons: Vec<Vec<usize>> = reasons.take(8).collect();
        reasons.into_iter().find(|reason| self.suffices(reason))
    }

    /// Begins with one operation that no order gets past, and adds what each order found gets wrong, until there is
    /// none. Cheap, because what is free and compared with nothing drops out of the search.
    fn grow(&mut self, last: usize) -> Option<Vec<usize>> {
        self.budget.cap = Some(self.end.min(self.budget.steps + 10 * self.patience));
        let mut firm = vec![last];
        for _ in 0..ROUNDS {
            let (calls, indices) = self.calls_with(&firm);
            let (calls, kept) = refined(self.model, calls);
            match search(self.model, self.start, &calls, self.budget) {
                Found::None { .. } => return Some(firm),
                Found::Stopped(_) => return None,
                Found::Order(order) => {
                    let order: Vec<usize> = order.iter().map(|call| indices[kept[*call as usize]]).collect();
                    let more = self.contradicted(&order, &firm, last);
                    if more.is_empty() {
                        return None;
                    }
                    firm.extend(more);
                    firm.sort_unstable();
                }
            }
        }
        None
    }

    /// Operations that completed by the time `last` did and that `order` contradicts: a free one that it takes after its
    /// completion, with those that could stand in for it; or else the latest one that it leaves out and that fits in
    /// nowhere; or else, as they must contradict it together, the latest one that it leaves out.
    fn contradicted(&mut self, order: &[usize], firm: &[usize], last: usize) -> Vec<usize> {
        let calls = &self.object.calls;
        let end = calls[last].complete;
        let pinned = |index: &usize| {
            calls[*index].complete.is_some() && calls[*index].complete <= end && firm.binary_search(index).is_err()
        };
        let mut now = 0;
        for index in order {
            now = now.max(calls[*index].invoke);
            if pinned(index) && calls[*index].complete < Some(now) {
                let alike = |other: &usize| {
                    pinned(other) && calls[*other].call == calls[*index].call && calls[*other].complete < Some(now)
                };
                return (0..calls.len()).filter(alike).collect();
            }
        }
        let mut omitted: Vec<usize> = (0..calls.len()).filter(|at| pinned(at) && !order.contains(at)).collect();
        omitted.sort_by_key(|index| std::cmp::Reverse(calls[*index].invoke));
        let misfit = omitted.iter().copied().find(|index| !self.fits(*index, order));
        misfit.or(omitted.first().copied()).into_iter().collect()
    }

    /// True when `op` can be put somewhere into `order`.
    fn fits(&mut self, op: usize, order: &[usize]) -> bool {
        let calls = &self.object.calls;
        let call = &calls[op];
        let mut state = self.start.clone();
        let mut now = 0;
        for at in 0..=order.len() {
            let in_time = call.complete.is_none_or(|complete| complete >= now)
                && order[at..].iter().all(|next| calls[*next].complete.is_none_or(|end| end >= call.invoke));
            self.budget.steps += (order.len() - at) as u64;
            if in_time
                && let Some(with) = after(self.model, &state, &call.call)
                && order[at..]
                    .iter()
                    .try_fold(with, |state, next| after(self.model, &state, &calls[*next].call))
                    .is_some()
            {
                return true;
            }
            let Some(next) = order.get(at) else { break };
            now = now.max(calls[*next].invoke);
            match after(self.model, &state, &calls[*next].call) {
                Some(next) => state = next,
                None => return true,
            }
        }
        false
    }

    /// Frees the last to complete, as long as the rest suffices: the earliest contradiction reads best.
    fn drop_late(&mut self, firm: &mut Vec<usize>) {
        loop {
            let last = firm.iter().copied().max_by_key(|index| self.object.calls[*index].complete);
            let rest: Vec<usize> = firm.iter().copied().filter(|index| Some(*index) != last).collect();
            if rest.is_empty() || !self.suffices(&rest) {
                return;
            }
            *firm = rest;
        }
    }

    /// Keeps the last 1, 2, 4, … to complete, as soon as they suffice.
    fn drop_early(&mut self, firm: &mut Vec<usize>) {
        let mut by_completion = firm.clone();
        by_completion.sort_by_key(|index| self.object.calls[*index].complete);
        let mut keep = 1;
        while keep < firm.len() {
            let mut last = by_completion[by_completion.len() - keep..].to_vec();
            last.sort_unstable();
            if self.suffices(&last) {
                *firm = last;
                return;
            }
            keep *= 2;
        }
    }

    /// Frees halves, quarters, … and at last single operations, until no single one can be freed.
    fn drop_chunks(&mut self, firm: &mut Vec<usize>) {
        let mut chunk = if firm.len() > FEW { firm.len() / 2 } else { 1 };
        while chunk > 0 {
            let mut at = 0;
            let mut freed = false;
            while at < firm.len() {
                let rest: Vec<usize> =
                    firm.iter().enumerate().filter(|(i, _)| *i < at || *i >= at + chunk).map(|(_, op)| *op).collect();
                if !rest.is_empty() && self.suffices(&rest) {
                    *firm = rest;
                    freed = true;
                } else {
                    at += chunk;
                }
            }
            chunk = if chunk == 1 && freed { 1 } else { chunk / 2 };
        }
    }
}

/// The state after `call`, if it is legal.
fn after<M: Model>(model: &M, state: &M::State, call: &M::Call) -> Option<M::State> {
    match model.step(state, call) {
        Step::Illegal => None,
        Step::Unchanged => Some(state.clone()),
        Step::To(next) => Some(next),
    }
}

/// The operations of a core, by invocation.
pub(super) fn core_ops<'h, M: Model>(object: &Object<'h, M>, core: &[usize]) -> Vec<&'h Op> {
    let mut ops: Vec<&Op> = core.iter().map(|index| object.ops[*index]).collect();
    ops.sort_by_key(|op| (op.invoke_ts, op.complete_ts.unwrap_or(Nanos(u64::MAX)), op.op_id));
    ops
}
