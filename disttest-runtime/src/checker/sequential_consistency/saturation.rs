//! What must come before what, where every value is written once: decides most histories of registers without a search.
//!
//! A read then comes behind the one write of its value, and no other write of its object may come in between. A write
//! that must precede the read thus precedes the write of its value, and one that must follow the write of its value follows the
//! read. What follows from that again is added until nothing more does. A cycle is a contradiction, whatever the order;
//! without one an order that takes the calls as they completed is tried, and where it fails the question stays open (it
//! is NP-complete: Gibbons and Korach, SIAM J. Comput. 26(4), 1997). O(rounds · calls · sessions), mostly a few rounds.

use super::search::Session;
use crate::checker::Limits;
use crate::history::Op;
use crate::model::{Atom, Model, RegisterCall, Step};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decided {
    /// There is an order.
    Order,
    /// There is none.
    Contradiction,
}

/// Bytes that clocks may take.
const MOST_BYTES: usize = 1 << 28;

/// A call in the order that is looked for.
struct Node {
    chain: usize,
    /// Calls of its chain before it.
    place: u32,
    object: usize,
    by: u64,
    /// Of a read, the write of its value; none for the value at the start.
    source: Option<u32>,
    writes: bool,
}

/// The writes of one object by chain: place and node.
type Writes = Vec<(usize, Vec<(u32, u32)>)>;

struct Graph {
    nodes: Vec<Node>,
    chains: usize,
    /// What must come before each node.
    before: Vec<Vec<u32>>,
    edges: FxHashSet<(u32, u32)>,
    writes: Vec<Writes>,
    /// Reads of each write.
    readers: Vec<Vec<u32>>,
}

/// Decides whether `sessions` have an order; operations that are not `firm` may take effect at any time, or never. `None`
/// when that is open, or the calls are not those of registers whose values are written once.
pub(super) fn decide<M: Model>(
    model: &M,
    start: &M::State,
    sessions: &[Session<'_, M>],
    firm: impl Fn(&Op) -> bool,
    limits: &dyn Limits,
) -> Option<Decided> {
    let mut graph = match Graph::of(model, start, sessions, firm)? {
        Ok(graph) => graph,
        Err(decided) => return Some(decided),
    };
    if graph.nodes.len() * graph.chains * 4 > MOST_BYTES {
        return None;
    }
    loop {
        if limits.exceeded((graph.nodes.len() * (graph.chains * 4 + 64)) as u64).is_some() {
            return None;
        }
        let Some(order) = graph.order() else { return Some(Decided::Contradiction) };
        let clocks = graph.clocks(&order);
        if !graph.saturate(&clocks) {
            return graph.schedule().then_some(Decided::Order);
        }
    }
}

/// A write that stands alone: not firm, or of unknown outcome.
struct Alone {
    object: usize,
    by: u64,
    after: Option<u32>,
    node: Option<u32>,
}

/// Who writes a value.
#[derive(Clone, Copy)]
enum Writer {
    Node(u32),
    Alone(usize),
}

impl Graph {
    /// `None` where this way of deciding does not apply.
    fn of<M: Model>(
        model: &M,
        start: &M::State,
        sessions: &[Session<'_, M>],
        firm: impl Fn(&Op) -> bool,
    ) -> Option<Result<Graph, Decided>> {
        let mut graph = Graph {
            nodes: Vec::new(),
            chains: sessions.len(),
            before: Vec::new(),
            edges: FxHashSet::default(),
            writes: Vec::new(),
            readers: Vec::new(),
        };
        let mut writers: FxHashMap<(usize, Atom), Writer> = FxHashMap::default();
        let mut alone: Vec<Alone> = Vec::new();
        let mut reads: Vec<(u32, (usize, Atom), bool)> = Vec::new();
        for (chain, session) in sessions.iter().enumerate() {
            let (mut place, mut last) = (0, None);
            for at in session.places() {
                let (known, object, by) = (at.is_known(), at.object, at.by());
                let binds = known && firm(at.op);
                let mut add = |graph: &mut Graph, writes: bool| {
                    let node = graph.add(Node { chain, place, object, by, source: None, writes });
                    if let Some(last) = last {
                        graph.edge(last, node);
                    }
                    (place, last) = (place + 1, Some(node));
                    node
                };
                match *model.on_value(at.call)? {
                    RegisterCall::Write(value) => {
                        let writer = if binds {
                            Writer::Node(add(&mut graph, true))
                        } else {
                            alone.push(Alone { object, by, after: last.filter(|_| !known), node: None });
                            Writer::Alone(alone.len() - 1)
                        };
                        if writers.insert((object, value), writer).is_some() {
                            return None;
                        }
                    }
                    RegisterCall::Read(Some(value)) if binds => {
                        let initial = model.step(start, at.call) != Step::Illegal;
                        reads.push((add(&mut graph, false), (object, value), initial));
                    }
                    RegisterCall::Read(_) => {}
                    RegisterCall::Delete(_) | RegisterCall::Cas { .. } => return None,
                }
            }
        }
        for (read, value, initial) in reads {
            graph.nodes[read as usize].source = match (writers.get(&value), initial) {
                (Some(_), true) => return None,
                (None, false) => return Some(Err(Decided::Contradiction)),
                (None, true) => None,
                (Some(Writer::Node(node)), false) => Some(*node),
                (Some(Writer::Alone(number)), false) => Some(graph.stands_alone(&mut alone[*number])),
            };
        }
        graph.index();
        Some(Ok(graph))
    }

    fn add(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        self.before.push(Vec::new());
        self.nodes.len() as u32 - 1
    }

    /// The node of a write that has a chain of its own; one that nobody reads has none.
    fn stands_alone(&mut self, write: &mut Alone) -> u32 {
        if let Some(node) = write.node {
            return node;
        }
        let (chain, object, by) = (self.chains, write.object, write.by);
        self.chains += 1;
        let node = self.add(Node { chain, place: 0, object, by, source: None, writes: true });
        if let Some(after) = write.after {
            self.edge(after, node);
        }
        write.node = Some(node);
        node
    }

    /// True when that is new.
    fn edge(&mut self, first: u32, then: u32) -> bool {
        let new = self.edges.insert((first, then));
        if new {
            self.before[then as usize].push(first);
        }
        new
    }

    /// Finds writes and readers, and what the reads say at once.
    fn index(&mut self) {
        let objects = self.nodes.iter().map(|node| node.object + 1).max().unwrap_or(0);
        self.writes = vec![Vec::new(); objects];
        self.readers = vec![Vec::new(); self.nodes.len()];
        // Nodes of a chain are in its order.
        for (node, number) in self.nodes.iter().zip(0..).filter(|(node, _)| node.writes) {
            let of_object = &mut self.writes[node.object];
            match of_object.iter_mut().find(|(chain, _)| *chain == node.chain) {
                Some((_, list)) => list.push((node.place, number)),
                None => of_object.push((node.chain, vec![(node.place, number)])),
            }
        }
        for read in 0..self.nodes.len() as u32 {
            let Node { object, source, writes: false, .. } = self.nodes[read as usize] else { continue };
            match source {
                Some(write) => {
                    self.readers[write as usize].push(read);
                    self.edge(write, read);
                }
                None => {
                    let first: Vec<u32> = self.writes[object].iter().map(|(_, list)| list[0].1).collect();
                    first.into_iter().for_each(|write| {
                        self.edge(read, write);
                    });
                }
            }
        }
    }

    /// The nodes so that each comes behind what must come before it; `None` when there is a cycle.
    fn order(&self) -> Option<Vec<u32>> {
        let (mut left, after) = self.degrees();
        let mut order: Vec<u32> = (0..self.nodes.len() as u32).filter(|node| left[*node as usize] == 0).collect();
        let mut at = 0;
        while let Some(node) = order.get(at).copied() {
            at += 1;
            for next in &after[node as usize] {
                left[*next as usize] -= 1;
                if left[*next as usize] == 0 {
                    order.push(*next);
                }
            }
        }
        (order.len() == self.nodes.len()).then_some(order)
    }

    /// How many nodes must come right before each, and which right after it.
    fn degrees(&self) -> (Vec<usize>, Vec<Vec<u32>>) {
        let mut after = vec![Vec::new(); self.nodes.len()];
        for (before, node) in self.before.iter().zip(0_u32..) {
            before.iter().for_each(|first| after[*first as usize].push(node));
        }
        (self.before.iter().map(Vec::len).collect(), after)
    }

    /// Of each node and chain, how many calls of the chain come before the node, itself among them.
    fn clocks(&self, order: &[u32]) -> Vec<u32> {
        let mut clocks = vec![0; self.nodes.len() * self.chains];
        for node in order.iter().map(|node| *node as usize) {
            let row = node * self.chains;
            for first in &self.before[node] {
                let from = *first as usize * self.chains;
                for chain in 0..self.chains {
                    clocks[row + chain] = clocks[row + chain].max(clocks[from + chain]);
                }
            }
            clocks[row + self.nodes[node].chain] = self.nodes[node].place + 1;
        }
        clocks
    }

    /// Adds what follows; false when there is nothing new.
    fn saturate(&mut self, clocks: &[u32]) -> bool {
        let comes = |first: u32, then: u32| {
            let node = &self.nodes[first as usize];
            clocks[then as usize * self.chains + node.chain] > node.place
        };
        let mut found: Vec<(u32, u32)> = Vec::new();
        for (node, number) in self.nodes.iter().zip(0_u32..) {
            for (chain, list) in &self.writes[node.object] {
                // Of a chain, the last write that comes before: the others come before that one.
                let limit =
                    if *chain == node.chain { node.place } else { clocks[number as usize * self.chains + chain] };
                let Some(last) = list[..list.partition_point(|(place, _)| *place < limit)].last() else { continue };
                let write = last.1;
                match node.source {
                    Some(source) if write != source && !comes(write, source) => found.push((write, source)),
                    None if node.writes => {
                        let readers = self.readers[write as usize].iter();
                        found.extend(readers.filter(|read| !comes(**read, number)).map(|read| (*read, number)));
                    }
                    _ => {}
                }
            }
        }
        found.into_iter().fold(false, |new, (first, then)| self.edge(first, then) || new)
    }

    /// Tries one order: reads as soon as they can be, writes as they completed, when nobody is left to read what they
    /// overwrite.
    fn schedule(&self) -> bool {
        let (mut left, after) = self.degrees();
        let mut unread: Vec<usize> = self.readers.iter().map(Vec::len).collect();
        let mut current: Vec<Option<u32>> = vec![None; self.writes.len()];
        let mut initial = vec![0_usize; self.writes.len()];
        for node in self.nodes.iter().filter(|node| !node.writes && node.source.is_none()) {
            initial[node.object] += 1;
        }
        let key = |node: u32| (self.nodes[node as usize].writes, self.nodes[node as usize].by, node);
        let ready = (0..self.nodes.len() as u32).filter(|node| left[*node as usize] == 0);
        let mut ready: BTreeSet<(bool, u64, u32)> = ready.map(key).collect();
        let mut count = 0;
        while count < self.nodes.len() {
            let can_be = |number: u32| {
                let node = &self.nodes[number as usize];
                match node.writes {
                    true => current[node.object].map_or(initial[node.object], |write| unread[write as usize]) == 0,
                    false => current[node.object] == node.source,
                }
            };
            let Some(next) = ready.iter().copied().find(|(_, _, number)| can_be(*number)) else { return false };
            ready.remove(&next);
            count += 1;
            let node = &self.nodes[next.2 as usize];
            match (node.writes, node.source) {
                (true, _) => current[node.object] = Some(next.2),
                (false, Some(source)) => unread[source as usize] -= 1,
                (false, None) => initial[node.object] -= 1,
            }
            for then in &after[next.2 as usize] {
                left[*then as usize] -= 1;
                if left[*then as usize] == 0 {
                    ready.insert(key(*then));
                }
            }
        }
        true
    }
}
