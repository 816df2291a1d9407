//! Search for a legal order of the calls on one object.
//!
//! Just-in-time linearization (Lowe, "Testing for linearizability", Concurrency and Computation 2017): walk through the
//! completions in order of time; whatever must be ordered before a completion is ordered when it is reached, never
//! earlier. On top of it:
//!
//! - A configuration is (next completion, which calls in flight are ordered, state), not a set of all calls.
//! - A legal call that only reads is ordered at once, without a choice: any order that takes it later stays legal when
//!   it is taken now.
//! - A call of unknown outcome may be left out, so the least such calls are enough. It is tried only when the next call
//!   behaves differently because of it (otherwise leaving it out changes nothing), equal ones only in the order of their
//!   invocations, and a configuration is dropped when it used a superset of those that an equal one had used.
//! - Of equal calls in flight, the one that completes first is ordered first: exchanging them keeps an order legal.
//! - A configuration with a call that can never be legal again is dropped.
//! - First choices are those that make the completing call legal.

use super::budget::Budget;
use super::visited::Visited;
use crate::model::{Model, Step, Timed};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// What the search found.
pub(super) enum Found {
    /// A legal order: indices of all completed calls, and of those of unknown outcome that it needs.
    Order(Vec<u32>),
    /// None; no configuration survives the completion of this call (index).
    None { at: usize },
    /// It had to stop.
    Stopped(String),
}

/// Calls in flight at once on one object, at most.
const SLOTS: usize = 128;

/// Searches for a legal order of `calls` from `start`.
pub(super) fn search<M: Model>(
    model: &M,
    start: &M::State,
    calls: &[Timed<M::Call>],
    budget: &mut Budget<'_>,
) -> Found {
    let Some(track) = Track::new(calls) else {
        return Found::Stopped(format!("more than {SLOTS} operations in flight at once on one object"));
    };
    if track.completions.is_empty() {
        return Found::Order(Vec::new());
    }
    Search::new(model, calls, track, start.clone()).run(budget)
}

/// The calls in order of time: completions as rounds, and what arrives before each.
struct Track {
    /// Settled calls by completion.
    completions: Vec<u32>,
    /// Settled calls by invocation; those before `arrived[round]` are in flight or past when the round is decided.
    arrivals: Vec<u32>,
    arrived: Vec<u32>,
    /// Place of each settled call among those in flight.
    slot: Vec<u8>,
    /// Calls of unknown outcome by invocation, those before `available[round]` may be used.
    crashed: Vec<u32>,
    available: Vec<u32>,
    /// For each crashed call, the one before it that is equal (index into `crashed`).
    twin: Vec<Option<u32>>,
    /// Equal calls have equal numbers.
    kind: Vec<u32>,
}

impl Track {
    fn new<C: Eq + std::hash::Hash>(calls: &[Timed<C>]) -> Option<Track> {
        let by_invoke = |settled: bool| {
            let mut some: Vec<u32> =
                (0..calls.len()).filter(|i| calls[*i].complete.is_some() == settled).map(|i| i as u32).collect();
            some.sort_by_key(|i| calls[*i as usize].invoke);
            some
        };
        let (arrivals, crashed) = (by_invoke(true), by_invoke(false));
        let mut completions = arrivals.clone();
        completions.sort_by_key(|i| calls[*i as usize].complete);
        let before = |list: &[u32]| {
            let mut next = 0;
            let count = completions.iter().map(|i| {
                // Equal times are concurrent: the invocation counts as earlier.
                while next < list.len() && Some(calls[list[next] as usize].invoke) <= calls[*i as usize].complete {
                    next += 1;
                }
                next as u32
            });
            count.collect::<Vec<u32>>()
        };
        let (arrived, available) = (before(&arrivals), before(&crashed));
        let slot = slots(calls.len(), &completions, &arrivals, &arrived)?;
        let kind = kinds(calls);
        let mut last: Vec<Option<u32>> = vec![None; if crashed.is_empty() { 0 } else { calls.len() }];
        let twin = crashed.iter().zip(0..).map(|(i, at)| last[kind[*i as usize] as usize].replace(at)).collect();
        Some(Track { completions, arrivals, arrived, slot, crashed, available, twin, kind })
    }
}

/// Numbers calls such that equal ones get equal numbers.
fn kinds<C: Eq + std::hash::Hash>(calls: &[Timed<C>]) -> Vec<u32> {
    let mut known: FxHashMap<&C, u32> = FxHashMap::with_capacity_and_hasher(calls.len(), FxBuildHasher);
    calls.iter().zip(0..).map(|(call, at)| *known.entry(&call.call).or_insert(at)).collect()
}

/// Gives each settled call a place that no other one holds while it is in flight.
fn slots(calls: usize, completions: &[u32], arrivals: &[u32], arrived: &[u32]) -> Option<Vec<u8>> {
    let mut slot = vec![0; calls];
    let mut free: Vec<u8> = (0..SLOTS as u8).rev().collect();
    let mut next = 0;
    for (completed, upto) in completions.iter().zip(arrived) {
        for call in &arrivals[next..*upto as usize] {
            slot[*call as usize] = free.pop()?;
        }
        next = *upto as usize;
        free.push(slot[*completed as usize]);
    }
    Some(slot)
}

/// A place to come back to: a configuration and what is left to try from it.
struct Choice<S> {
    round: usize,
    ordered: u128,
    state: S,
    /// Where its candidates end in the stack of candidates; they are taken from the end.
    base: usize,
    /// Where the crashed calls it used begin in the stack of words.
    used: usize,
    /// How many calls were ordered.
    path: usize,
}

/// A settled call by its slot, or a crashed one.
#[derive(Clone, Copy)]
enum Candidate {
    Settled(u8),
    Crashed(u32),
}

enum Settled {
    AllOrdered,
    DeadEnd,
    MustChoose,
}

struct Search<'a, M: Model> {
    model: &'a M,
    calls: &'a [Timed<M::Call>],
    track: Track,
    // The configuration at hand.
    round: usize,
    in_flight: u128,
    at_slot: [u32; SLOTS],
    ordered: u128,
    state: M::State,
    used: Vec<u64>,
    path: Vec<u32>,
    // The way back.
    choices: Vec<Choice<M::State>>,
    candidates: Vec<Candidate>,
    used_stack: Vec<u64>,
    visited: Visited<M::State>,
    deepest: usize,
    /// Room for [`Search::firsts`].
    firsts: Vec<u8>,
}

impl<'a, M: Model> Search<'a, M> {
    fn new(model: &'a M, calls: &'a [Timed<M::Call>], track: Track, state: M::State) -> Self {
        let words = track.crashed.len().div_ceil(64);
        let mut search = Search {
            model,
            calls,
            track,
            round: 0,
            in_flight: 0,
            at_slot: [0; SLOTS],
            ordered: 0,
            state,
            used: vec![0; words],
            path: Vec::new(),
            choices: Vec::new(),
            candidates: Vec::new(),
            used_stack: Vec::new(),
            visited: Visited::new(words),
            deepest: 0,
            firsts: Vec::new(),
        };
        search.arrive();
        search
    }

    fn run(mut self, budget: &mut Budget<'_>) -> Found {
        let mut fresh = self.in_flight;
        loop {
            match self.settle(fresh, budget) {
                Settled::AllOrdered => return Found::Order(self.path),
                Settled::DeadEnd => {}
                Settled::MustChoose => {
                    if self.visited.is_new(self.round as u32, self.ordered, &self.state, &self.used) {
                        self.open_choice(budget);
                    }
                }
            }
            if let Some(why) = budget.stop(|| self.bytes()) {
                return Found::Stopped(why);
            }
            if !self.next_candidate(budget) {
                return Found::None { at: self.track.completions[self.deepest] as usize };
            }
            fresh = self.in_flight & !self.ordered;
        }
    }

    fn bytes(&self) -> u64 {
        let stacks = self.choices.capacity() * size_of::<Choice<M::State>>()
            + self.candidates.capacity() * size_of::<Candidate>()
            + self.used_stack.capacity() * 8;
        let track = self.calls.len() * 32;
        self.visited.bytes() + (stacks + track) as u64
    }

    /// Orders what needs no choice and passes completions of ordered calls. `fresh` are the calls in flight whose
    /// behaviour in this state has not been looked at.
    fn settle(&mut self, mut fresh: u128, budget: &mut Budget<'_>) -> Settled {
        loop {
            for slot in bits(fresh) {
                budget.step();
                let call = &self.calls[self.at_slot[slot as usize] as usize].call;
                match self.model.step(&self.state, call) {
                    Step::Unchanged | Step::To(_) if self.model.only_reads(call) => {
                        self.ordered |= 1 << slot;
                        self.path.push(self.at_slot[slot as usize]);
                    }
                    Step::Unchanged | Step::To(_) => {}
                    Step::Illegal if self.model.hopeless(&self.state, call) => {
                        self.deepest = self.deepest.max(self.round);
                        return Settled::DeadEnd;
                    }
                    Step::Illegal => {}
                }
            }
            if self.ordered & self.completing() == 0 {
                self.deepest = self.deepest.max(self.round);
                return Settled::MustChoose;
            }
            self.ordered &= !self.completing();
            if self.round + 1 == self.track.completions.len() {
                return Settled::AllOrdered;
            }
            let before = self.in_flight & !self.completing();
            self.advance();
            fresh = self.in_flight & !before;
        }
    }

    /// The bit of the call that completes in this round.
    fn completing(&self) -> u128 {
        1 << self.track.slot[self.track.completions[self.round] as usize]
    }

    fn advance(&mut self) {
        self.in_flight &= !self.completing();
        self.round += 1;
        self.arrive();
    }

    fn arrivals(&self) -> std::ops::Range<usize> {
        let from = if self.round == 0 { 0 } else { self.track.arrived[self.round - 1] as usize };
        from..self.track.arrived[self.round] as usize
    }

    fn arrive(&mut self) {
        for at in self.arrivals() {
            let call = self.track.arrivals[at];
            let slot = self.track.slot[call as usize];
            self.at_slot[slot as usize] = call;
            self.in_flight |= 1 << slot;
        }
    }

    fn retreat_to(&mut self, round: usize) {
        while self.round > round {
            for at in self.arrivals() {
                self.in_flight &= !(1 << self.track.slot[self.track.arrivals[at] as usize]);
            }
            self.round -= 1;
            let back = self.track.completions[self.round];
            let slot = self.track.slot[back as usize];
            self.at_slot[slot as usize] = back;
            self.in_flight |= 1 << slot;
        }
    }

    /// Puts the configuration on the stack with its candidates, the best one last.
    fn open_choice(&mut self, budget: &mut Budget<'_>) {
        let base = self.candidates.len();
        self.choices.push(Choice {
            round: self.round,
            ordered: self.ordered,
            state: self.state.clone(),
            base,
            used: self.used_stack.len(),
            path: self.path.len(),
        });
        self.used_stack.extend_from_slice(&self.used);
        let completing = self.completing();
        let target = &self.calls[self.track.completions[self.round] as usize].call;
        let target_legal = self.model.step(&self.state, target) != Step::Illegal;
        let enables =
            |search: &Self, state: &M::State| !target_legal && search.model.step(state, target) != Step::Illegal;
        let (mut good, mut crashed_good, mut other) = (Vec::new(), Vec::new(), Vec::new());
        self.firsts();
        for at in 0..self.firsts.len() {
            let slot = self.firsts[at];
            if 1 << slot == completing {
                continue;
            }
            budget.step();
            let call = &self.calls[self.at_slot[slot as usize] as usize].call;
            if let Some(state) = self.outcome(&self.state, call) {
                let list = if enables(self, &state) { &mut good } else { &mut other };
                list.push(Candidate::Settled(slot));
            }
        }
        for at in 0..self.track.available[self.round] {
            budget.step();
            let kind = self.track.kind[self.track.crashed[at as usize] as usize];
            if self.firsts.iter().any(|slot| self.kind_at(*slot) == kind) {
                continue;
            }
            if let Some(state) = self.useful_crash(at) {
                if enables(self, &state) {
                    crashed_good.push(Candidate::Crashed(at));
                } else {
                    self.candidates.push(Candidate::Crashed(at));
                }
            }
        }
        self.candidates.append(&mut other);
        self.candidates.append(&mut crashed_good);
        self.candidates.append(&mut good);
        if target_legal {
            self.candidates.push(Candidate::Settled(completing.trailing_zeros() as u8));
        }
    }

    fn kind_at(&self, slot: u8) -> u32 {
        self.track.kind[self.at_slot[slot as usize] as usize]
    }

    /// Collects the slots of calls in flight to be ordered, of equal ones the one that completes first.
    fn firsts(&mut self) {
        self.firsts.clear();
        let completes = |search: &Self, slot: u8| search.calls[search.at_slot[slot as usize] as usize].complete;
        for slot in bits(self.in_flight & !self.ordered) {
            let kind = self.kind_at(slot);
            match self.firsts.iter().position(|other| self.kind_at(*other) == kind) {
                Some(at) if completes(self, slot) < completes(self, self.firsts[at]) => self.firsts[at] = slot,
                Some(_) => {}
                None => self.firsts.push(slot),
            }
        }
    }

    fn is_used(&self, at: u32) -> bool {
        self.used[at as usize / 64] & (1 << (at % 64)) != 0
    }

    /// The state after crashed call `at`, when it may be used now and some next call behaves differently because of it.
    fn useful_crash(&self, at: u32) -> Option<M::State> {
        if self.is_used(at) || self.track.twin[at as usize].is_some_and(|twin| !self.is_used(twin)) {
            return None;
        }
        let call = |at: u32| &self.calls[self.track.crashed[at as usize] as usize].call;
        let Step::To(state) = self.model.step(&self.state, call(at)) else {
            return None;
        };
        let differs = |next: &M::Call| match self.outcome(&state, next) {
            None => false,
            after => after != self.outcome(&self.state, next),
        };
        let settled = bits(self.in_flight & !self.ordered)
            .any(|slot| differs(&self.calls[self.at_slot[slot as usize] as usize].call));
        let useful = settled
            || (0..self.track.available[self.round])
                .any(|other| other != at && !self.is_used(other) && differs(call(other)));
        (useful && state != self.state).then_some(state)
    }

    fn outcome(&self, state: &M::State, call: &M::Call) -> Option<M::State> {
        match self.model.step(state, call) {
            Step::Illegal => None,
            Step::Unchanged => Some(state.clone()),
            Step::To(next) => Some(next),
        }
    }

    /// Takes the next candidate of the last choice that has one; false when there is none left at all.
    fn next_candidate(&mut self, budget: &mut Budget<'_>) -> bool {
        loop {
            let Some(choice) = self.choices.last() else {
                return false;
            };
            if self.candidates.len() == choice.base {
                self.used_stack.truncate(choice.used);
                self.choices.pop();
                continue;
            }
            let (round, ordered, used) = (choice.round, choice.ordered, choice.used);
            self.path.truncate(choice.path);
            self.state = choice.state.clone();
            self.ordered = ordered;
            self.used.copy_from_slice(&self.used_stack[used..]);
            self.retreat_to(round);
            let call = match self.candidates.pop().expect("the stack is longer than its base") {
                Candidate::Settled(slot) => {
                    self.ordered |= 1 << slot;
                    self.at_slot[slot as usize]
                }
                Candidate::Crashed(at) => {
                    self.used[at as usize / 64] |= 1 << (at % 64);
                    self.track.crashed[at as usize]
                }
            };
            self.path.push(call);
            budget.step();
            if let Step::To(state) = self.model.step(&self.state, &self.calls[call as usize].call) {
                self.state = state;
            }
            return true;
        }
    }
}

/// Numbers of the bits that are set.
fn bits(mut mask: u128) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let slot = (mask != 0).then(|| mask.trailing_zeros() as u8)?;
        mask &= mask - 1;
        Some(slot)
    })
}
