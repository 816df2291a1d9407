//! Closed walks in a graph: which there are, and a short one as a witness.

use super::effort::{Effort, Stopped};
use super::graph::{Graph, Rel};
use super::scc::{Components, components};
use crate::txn::NONE;
use std::collections::{BinaryHeap, VecDeque};

/// Set of relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rels(u8);

impl Rels {
    pub(super) const fn of(rels: &[Rel]) -> Rels {
        let (mut bits, mut at) = (0, 0);
        while at < rels.len() {
            bits |= 1 << rels[at] as u8;
            at += 1;
        }
        Rels(bits)
    }

    pub(super) fn has(self, rel: Rel) -> bool {
        self.0 & 1 << rel as u8 != 0
    }

    pub(super) fn and(self, rel: Rel) -> Rels {
        Rels(self.0 | 1 << rel as u8)
    }
}

/// The edges of a closed walk: from each node by this relation to the next.
pub(super) type Walk = Vec<(u32, Rel)>;

/// How many starts are tried for a shorter witness, and how many edges that may cost.
const STARTS: usize = 64;
const COST: u64 = 2_000_000;

/// A short closed walk over `allowed` edges that has an edge of each of `needs` (at most three), if there is any closed
/// walk like that. Decides in O(nodes + edges).
pub(super) fn closed_walk(
    graph: &Graph,
    allowed: Rels,
    needs: &[Rel],
    effort: &mut Effort<'_>,
) -> Result<Option<Walk>, Stopped> {
    effort.spend(graph.len() as u64)?;
    let found = components(graph, |_, _, rel| allowed.has(rel));
    let mut needed: Vec<u8> = vec![0; found.sizes.len()];
    let mut starts: Vec<(u32, usize)> = Vec::new();
    for node in 0..graph.len() as u32 {
        for at in graph.range(node) {
            let (to, rel) = graph.edge(at);
            if let Some(need) = needs.iter().position(|need| *need == rel).filter(|_| found.together(node, to)) {
                needed[found.of[node as usize] as usize] |= 1 << need;
                if need == 0 {
                    starts.push((node, at));
                }
            }
        }
    }
    let all = (1 << needs.len()) - 1;
    starts.retain(|(node, _)| needed[found.of[*node as usize] as usize] == all);
    // Small components make short walks.
    starts.sort_by_key(|(node, _)| found.sizes[found.of[*node as usize] as usize]);
    let mut best: Option<Walk> = None;
    let (mut search, begun) = (Search::new(graph.len() << needs.len()), effort.steps);
    for (node, at) in starts.into_iter().take(STARTS) {
        let (to, rel) = graph.edge(at);
        let most = best.as_ref().map_or(usize::MAX, Vec::len);
        let mask =
            |mask: u32, rel: Rel| needs.iter().position(|need| *need == rel).map_or(mask, |need| mask | 1 << need);
        let step = |state: u32, each: &mut dyn FnMut(u32, Rel)| {
            let (from, bits) = (state >> needs.len(), state & all as u32);
            for (next, rel) in graph.from(from) {
                if allowed.has(rel) && found.together(from, next) {
                    each(next << needs.len() | mask(bits, rel), rel);
                }
            }
        };
        let (start, goal) = (to << needs.len() | mask(0, rel), node << needs.len() | all as u32);
        if let Some(path) = search.path(start, |state| state == goal, step, most, effort)? {
            let mut walk = vec![(node, rel)];
            walk.extend(path.into_iter().map(|(state, rel)| (state >> needs.len(), rel)));
            best = Some(walk);
        }
        if best.is_some() && effort.steps - begun > COST {
            break;
        }
    }
    Ok(best)
}

/// A short closed walk over `free` edges and exactly one rw edge, if there is any. `possible` says which rw edges may be
/// on one. A search for each start, confined to what lies between its ends in topological order.
pub(super) fn walk_with_one_rw(
    graph: &Graph,
    free: Rels,
    possible: impl Fn(u32, u32) -> bool,
    effort: &mut Effort<'_>,
) -> Result<Option<Walk>, Stopped> {
    let found = components(graph, |_, _, rel| free.has(rel));
    let place = topological(graph, &found, free);
    let at = |node: u32| place[found.of[node as usize] as usize];
    // By the node that an rw edge leads to: from which nodes it may come.
    let mut back: Vec<(u32, u32)> = Vec::new();
    for node in 0..graph.len() as u32 {
        for (to, rel) in graph.from(node) {
            if rel == Rel::Rw && at(to) <= at(node) && possible(node, to) {
                back.push((to, node));
            }
        }
    }
    back.sort_unstable();
    let mut best: Option<Walk> = None;
    let (mut search, mut goals, begun) = (Search::new(graph.len()), Stamps::new(graph.len()), effort.steps);
    let mut hits = 0;
    for group in back.chunk_by(|a, b| a.0 == b.0) {
        let start = group[0].0;
        goals.clear();
        group.iter().for_each(|(_, from)| goals.set(*from));
        let last = group.iter().map(|(_, from)| at(*from)).max().unwrap_or(0);
        let most = best.as_ref().map_or(usize::MAX, Vec::len);
        let step = |state: u32, each: &mut dyn FnMut(u32, Rel)| {
            graph.from(state).filter(|(to, rel)| free.has(*rel) && at(*to) <= last).for_each(|(to, rel)| each(to, rel));
        };
        if let Some(path) = search.path(start, |state| goals.has(state), step, most, effort)? {
            hits += 1;
            let end = search.end;
            let mut walk = vec![(end, Rel::Rw)];
            walk.extend(path);
            best = Some(walk);
        }
        if hits >= STARTS || (best.is_some() && effort.steps - begun > COST) {
            break;
        }
    }
    Ok(best)
}

/// The length of a shortest closed walk through `node` over `free` edges and exactly one rw edge.
pub(super) fn walk_through(
    graph: &Graph,
    free: Rels,
    node: u32,
    effort: &mut Effort<'_>,
) -> Result<Option<usize>, Stopped> {
    let step = |state: u32, each: &mut dyn FnMut(u32, Rel)| {
        for (to, rel) in graph.from(state >> 1) {
            let used = state & 1;
            match rel {
                Rel::Rw if used == 0 => each(to << 1 | 1, rel),
                _ if free.has(rel) => each(to << 1 | used, rel),
                _ => {}
            }
        }
    };
    let goal = node << 1 | 1;
    let path = Search::new(graph.len() << 1).path(node << 1, |state| state == goal, step, usize::MAX, effort)?;
    Ok(path.map(|path| path.len()))
}

/// A place for each component, such that edges lead to later places; as close to the order of nodes as can be.
fn topological(graph: &Graph, found: &Components, allowed: Rels) -> Vec<u32> {
    let count = found.sizes.len();
    let (mut incoming, mut first, mut members) = (vec![0_u32; count], vec![NONE; count], vec![Vec::new(); count]);
    for node in 0..graph.len() as u32 {
        let component = found.of[node as usize] as usize;
        first[component] = first[component].min(node);
        members[component].push(node);
        for (to, _) in graph.from(node).filter(|(to, rel)| allowed.has(*rel) && !found.together(node, *to)) {
            incoming[found.of[to as usize] as usize] += 1;
        }
    }
    let later = |component: usize| (std::cmp::Reverse(first[component]), component);
    let mut ready: BinaryHeap<_> = (0..count).filter(|component| incoming[*component] == 0).map(later).collect();
    let (mut place, mut next) = (vec![0; count], 0);
    while let Some((_, component)) = ready.pop() {
        place[component] = next;
        next += 1;
        for &node in &members[component] {
            for (to, _) in graph.from(node).filter(|(to, rel)| allowed.has(*rel) && !found.together(node, *to)) {
                let to = found.of[to as usize] as usize;
                incoming[to] -= 1;
                if incoming[to] == 0 {
                    ready.push(later(to));
                }
            }
        }
    }
    place
}

/// A set that is emptied in no time.
struct Stamps {
    stamps: Vec<u32>,
    now: u32,
}

impl Stamps {
    fn new(len: usize) -> Stamps {
        Stamps { stamps: vec![0; len], now: 0 }
    }

    fn clear(&mut self) {
        self.now += 1;
    }

    fn set(&mut self, at: u32) {
        self.stamps[at as usize] = self.now;
    }

    fn has(&self, at: u32) -> bool {
        self.stamps[at as usize] == self.now
    }
}

/// Breadth-first search that can be repeated without clearing.
struct Search {
    seen: Stamps,
    /// From which state, and how, each seen state was reached.
    from: Vec<(u32, Rel)>,
    queue: VecDeque<(u32, usize)>,
    /// Where the last path ended.
    end: u32,
}

impl Search {
    fn new(states: usize) -> Search {
        Search { seen: Stamps::new(states), from: vec![(NONE, Rel::Via); states], queue: VecDeque::new(), end: NONE }
    }

    /// The edges of a shortest path from `start` to a goal, each with the state it leaves; `None` when there is none
    /// with fewer than `most` - 1 edges.
    fn path(
        &mut self,
        start: u32,
        is_goal: impl Fn(u32) -> bool,
        step: impl Fn(u32, &mut dyn FnMut(u32, Rel)),
        most: usize,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Walk>, Stopped> {
        self.seen.clear();
        self.queue.clear();
        self.seen.set(start);
        self.queue.push_back((start, 0));
        while let Some((state, length)) = self.queue.pop_front() {
            if length + 1 >= most {
                return Ok(None);
            }
            if is_goal(state) {
                self.end = state;
                return Ok(Some(self.trace(start, state)));
            }
            let (seen, from, queue, mut looked) = (&mut self.seen, &mut self.from, &mut self.queue, 1);
            step(state, &mut |next, rel| {
                looked += 1;
                if !seen.has(next) {
                    seen.set(next);
                    from[next as usize] = (state, rel);
                    queue.push_back((next, length + 1));
                }
            });
            effort.spend(looked)?;
        }
        Ok(None)
    }

    fn trace(&self, start: u32, end: u32) -> Walk {
        let (mut walk, mut at) = (Walk::new(), end);
        while at != start {
            let (before, rel) = self.from[at as usize];
            walk.push((before, rel));
            at = before;
        }
        walk.reverse();
        walk
    }
}
