//! Decides all objects of a history, in parallel where that pays.

use super::budget::Budget;
use super::object::{Object, Solved};
use super::shrink;
use crate::checker::Limits;
use crate::model::Model;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// What is known of one object.
pub(super) enum Found {
    /// A legal order exists.
    Order,
    /// None exists, because of these operations (indices).
    NoOrder(Vec<usize>),
    /// The limits stopped the search.
    Stopped(String),
}

/// What was found of one object, and what it took.
pub(super) struct Settled {
    pub(super) found: Found,
    pub(super) steps: u64,
    pub(super) peak_bytes: u64,
}

/// Operations below which threads cost more than they save.
const MANY: usize = 20_000;

/// Decides each of `objects`. Each has its own budget of effort, so that the answers do not depend on the others, nor on
/// which thread decides it.
pub(super) fn all<M: Model>(
    model: &M,
    start: &M::State,
    objects: &[Object<'_, M>],
    limits: &dyn Limits,
) -> Vec<Settled> {
    let operations: usize = objects.iter().map(|object| object.calls.len()).sum();
    let threads = match operations >= MANY && objects.len() > 1 {
        true => limits.threads().clamp(1, objects.len()),
        false => 1,
    };
    if threads == 1 {
        return objects.iter().map(|object| one(model, start, object, limits)).collect();
    }
    in_parallel(model, start, objects, limits, threads)
}

pub(super) fn in_parallel<M: Model>(
    model: &M,
    start: &M::State,
    objects: &[Object<'_, M>],
    limits: &dyn Limits,
    threads: usize,
) -> Vec<Settled> {
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<Settled>>> = objects.iter().map(|_| Mutex::new(None)).collect();
    let held: Vec<AtomicU64> = (0..threads).map(|_| AtomicU64::new(0)).collect();
    std::thread::scope(|scope| {
        for me in 0..threads {
            let (next, done, held) = (&next, &done, &held);
            scope.spawn(move || {
                let limits = Together { limits, held, me };
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(object) = objects.get(at) else { break };
                    let settled = one(model, start, object, &limits);
                    *done[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(settled);
                }
            });
        }
    });
    let stopped = || Settled { found: Found::Stopped("its thread".to_owned()), steps: 0, peak_bytes: 0 };
    done.into_iter()
        .map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(stopped))
        .collect()
}

/// Limits that count what all threads hold.
struct Together<'a> {
    limits: &'a dyn Limits,
    held: &'a [AtomicU64],
    me: usize,
}

impl Limits for Together<'_> {
    fn exceeded(&self, bytes: u64) -> Option<String> {
        self.held[self.me].store(bytes, Ordering::Relaxed);
        self.limits.exceeded(self.held.iter().map(|held| held.load(Ordering::Relaxed)).sum())
    }
}

fn one<M: Model>(model: &M, start: &M::State, object: &Object<'_, M>, limits: &dyn Limits) -> Settled {
    let mut budget = Budget::new(limits);
    let found = match object.solve(model, start, &mut budget) {
        Solved::Order => Found::Order,
        Solved::NoOrder(suspects) => Found::NoOrder(shrink::shrink(model, start, object, suspects, &mut budget)),
        Solved::Stopped(why) => Found::Stopped(why),
    };
    Settled { found, steps: budget.steps, peak_bytes: budget.peak_bytes }
}
