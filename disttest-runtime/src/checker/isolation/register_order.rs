//! Registers: a partial order of the versions of each key, from what the caller may assume.

use super::graph::{Edges, Graph, Rel};
use super::list_order::possible_writer;
use super::scc::{Components, components};
use super::session_order::{Step, in_order};
use super::{KeyOrder, VersionOrder};
use crate::txn::{MopKind, Status, Txns};
use rustc_hash::FxHashMap;

/// Versions are elements, and one more for each key: its initial state.
#[derive(Clone, Debug)]
pub(super) struct RegisterOrder {
    /// First and last version of each key that each transaction touched from outside.
    pub(super) touches: Touches,
    /// Which version comes right before which.
    pub(super) graph: Graph,
    /// Versions of one key that come before each other: each a component of the graph that could not be used.
    pub(super) cyclic: Vec<Vec<u32>>,
}

/// How a transaction touched a key, seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    pub(super) key: u32,
    /// The version that it read before it wrote any, if it committed; the initial state counts as one.
    pub(super) read: Option<u32>,
    /// The version that it wrote last.
    pub(super) wrote: Option<u32>,
}

/// The touches of all transactions that are not known to have failed.
#[derive(Clone, Debug, Default)]
pub(super) struct Touches {
    list: Vec<Touch>,
    starts: Vec<u32>,
    elements: u32,
}

impl Touches {
    fn of(txns: &Txns) -> Touches {
        let elements = txns.element_count() as u32;
        let mut found = Touches { list: Vec::new(), starts: vec![0], elements };
        for txn in txns.all() {
            if txns.status(txn) != Status::Fail {
                found.add(txns, txn);
            }
            found.starts.push(found.list.len() as u32);
        }
        found
    }

    fn add(&mut self, txns: &Txns, txn: u32) {
        let start = self.list.len();
        for mop in txns.mops(txn) {
            let key = mop.key();
            let (read, wrote) = match mop.kind() {
                MopKind::Write(element) | MopKind::Append(element) => (None, Some(element)),
                MopKind::Value(element) => (Some(element), None),
                MopKind::Nil => (Some(self.elements + key), None),
                MopKind::Unread | MopKind::List { .. } => continue,
            };
            match self.list[start..].iter_mut().find(|touch| touch.key == key) {
                None => self.list.push(Touch { key, read, wrote }),
                Some(touch) => touch.wrote = wrote.or(touch.wrote),
            }
        }
    }

    /// The touches of `txn`.
    pub(super) fn by(&self, txn: u32) -> &[Touch] {
        &self.list[self.starts[txn as usize] as usize..self.starts[txn as usize + 1] as usize]
    }

    /// The initial state of `key`.
    pub(super) fn initial(&self, key: u32) -> u32 {
        self.elements + key
    }

    /// True when `version` is the initial state of a key.
    pub(super) fn is_initial(&self, version: u32) -> bool {
        version >= self.elements
    }
}

impl Touch {
    /// The version that others with a place after this transaction come after.
    fn last(&self) -> Option<u32> {
        self.wrote.or(self.read)
    }

    /// The version that others with a place before this transaction come before.
    fn first(&self, touches: &Touches) -> Option<u32> {
        self.read.filter(|read| self.wrote.is_none() || !touches.is_initial(*read)).or(self.wrote)
    }
}

impl RegisterOrder {
    /// The order of versions that `assumed` gives.
    pub(super) fn of(txns: &Txns, assumed: &VersionOrder) -> RegisterOrder {
        let touches = Touches::of(txns);
        let mut list = initial_first(txns, &touches);
        let nodes = (txns.element_count() + txns.key_count()) as u32;
        let mut cyclic: Vec<Vec<u32>> = Vec::new();
        for source in sources(txns, &touches, assumed) {
            let before = list.len();
            list.extend(source);
            let (_, components) = version_graph(&list, nodes);
            let found = components.members();
            if !found.is_empty() {
                // What was assumed does not hold here: its edges are no evidence.
                cyclic.extend(found);
                list.truncate(before);
            }
        }
        list.sort_unstable();
        list.dedup();
        let (graph, _) = version_graph(&list, nodes);
        RegisterOrder { touches, graph, cyclic }
    }

    /// True when `second` comes right after `first`.
    pub(super) fn is_next(&self, first: u32, second: u32) -> bool {
        self.graph.from(first).any(|(to, _)| to == second)
    }

    /// Adds the edges that the data give: ww, wr, rw.
    pub(super) fn edges(&self, txns: &Txns, edges: &mut Edges) {
        let readers = self.readers(txns);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for version in 0..self.graph.len() as u32 {
            let writer = self.writer(txns, version);
            let readers = readers.of(version);
            if let Some(writer) = writer {
                readers.iter().for_each(|reader| edges.add(writer, *reader, Rel::Wr));
            }
            after.clear();
            after.extend(self.graph.from(version).filter_map(|(next, _)| self.writer(txns, next)));
            if let Some(writer) = writer {
                after.iter().for_each(|next| edges.add(writer, *next, Rel::Ww));
            }
            before.clear();
            before.extend_from_slice(readers);
            edges.all_to_all(&before, &after, Rel::Rw);
        }
    }

    /// Calls `each` with the writers of versions of which one comes right after the other.
    pub(super) fn successions(&self, txns: &Txns, mut each: impl FnMut(u32, u32)) {
        for version in 0..self.graph.len() as u32 {
            let Some(writer) = self.writer(txns, version) else { continue };
            self.graph
                .from(version)
                .filter_map(|(next, _)| self.writer(txns, next))
                .for_each(|next| each(writer, next));
        }
    }

    /// The transaction that made `version` visible: its last write of the key.
    pub(super) fn writer(&self, txns: &Txns, version: u32) -> Option<u32> {
        if self.touches.is_initial(version) {
            return None;
        }
        let writer = possible_writer(txns, version)?;
        self.touches.by(writer).iter().any(|touch| touch.wrote == Some(version)).then_some(writer)
    }

    fn readers(&self, txns: &Txns) -> Readers {
        let mut found = Readers { list: Vec::new(), starts: vec![0; self.graph.len() + 2] };
        let reads = |each: &mut dyn FnMut(u32, u32)| {
            for txn in txns.all() {
                self.touches.by(txn).iter().filter_map(|touch| touch.read).for_each(|version| each(txn, version));
            }
        };
        reads(&mut |_, version| found.starts[version as usize + 2] += 1);
        for at in 2..found.starts.len() {
            found.starts[at] += found.starts[at - 1];
        }
        found.list = vec![0; found.starts.last().map_or(0, |end| *end as usize)];
        reads(&mut |txn, version| {
            let next = &mut found.starts[version as usize + 1];
            found.list[*next as usize] = txn;
            *next += 1;
        });
        found
    }
}

/// Who read each version.
struct Readers {
    list: Vec<u32>,
    starts: Vec<u32>,
}

impl Readers {
    fn of(&self, version: u32) -> &[u32] {
        &self.list[self.starts[version as usize] as usize..self.starts[version as usize + 1] as usize]
    }
}

/// Pairs of versions of one key, first before second.
type Pairs = Vec<(u32, u32)>;

fn version_graph(pairs: &Pairs, nodes: u32) -> (Graph, Components) {
    let mut edges = Edges::new(nodes);
    pairs.iter().for_each(|(from, to)| edges.add(*from, *to, Rel::Ww));
    let graph = edges.graph();
    let components = components(&graph, |_, _, _| true);
    (graph, components)
}

/// The initial state of each key comes before all that was written or read.
fn initial_first(txns: &Txns, touches: &Touches) -> Pairs {
    let mut pairs = Pairs::new();
    for txn in txns.all() {
        for touch in touches.by(txn) {
            for version in [touch.read, touch.wrote].into_iter().flatten().filter(|v| !touches.is_initial(*v)) {
                pairs.push((touches.initial(touch.key), version));
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

fn sources(txns: &Txns, touches: &Touches, assumed: &VersionOrder) -> Vec<Pairs> {
    match assumed {
        VersionOrder::Inferred(KeyOrder { writes_follow_reads, sequential, linearizable }) => {
            let mut found = Vec::new();
            if *writes_follow_reads {
                found.push(writes_after_reads(txns, touches));
            }
            if *sequential {
                found.push(by_process(txns, touches));
            }
            if *linearizable {
                found.push(by_real_time(txns, touches));
            }
            found
        }
        VersionOrder::Values => vec![known(txns, touches, |element| txns.value_number(element), true)],
        VersionOrder::Transactions(ranks) => {
            let rank = |element| ranks.get(&txns.index(txns.writer(element)?)).copied();
            vec![known(txns, touches, rank, false)]
        }
    }
}

/// What a transaction wrote comes after what it had read.
fn writes_after_reads(txns: &Txns, touches: &Touches) -> Pairs {
    let touches_of_ok = txns.all().filter(|txn| txns.is_ok(*txn)).flat_map(|txn| touches.by(txn));
    touches_of_ok
        .filter_map(|touch| Some((touch.read?, touch.wrote?)))
        .filter(|(read, _)| !touches.is_initial(*read))
        .collect()
}

/// Each process sees versions of a key in their order.
fn by_process(txns: &Txns, touches: &Touches) -> Pairs {
    let mut last: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut pairs = Pairs::new();
    for txn in txns.all().filter(|txn| txns.is_ok(*txn)) {
        for touch in touches.by(txn) {
            let (Some(first), Some(now)) = (touch.first(touches), touch.last()) else { continue };
            if let Some(before) = last.insert((txns.process(txn), touch.key), now).filter(|before| *before != first) {
                pairs.push((before, first));
            }
        }
    }
    pairs
}

/// Versions of a key that were there when a transaction had completed come before those that later ones touch.
fn by_real_time(txns: &Txns, touches: &Touches) -> Pairs {
    // Of each key: transactions that completed, without those that another one of the key followed.
    let mut frontiers: Vec<Vec<(u32, u32)>> = vec![Vec::new(); txns.key_count()];
    let mut pairs = Pairs::new();
    in_order(txns, txns.all(), |step| match step {
        Step::Invoked(txn) => {
            for touch in touches.by(txn) {
                let Some(first) = touch.first(touches) else { continue };
                let frontier = &frontiers[touch.key as usize];
                let from = pairs.len();
                for &(_, version) in frontier.iter().filter(|(_, version)| *version != first) {
                    // Readers of one version complete side by side.
                    if pairs[from..].last() != Some(&(version, first)) {
                        pairs.push((version, first));
                    }
                }
            }
        }
        Step::Completed(txn) => {
            for touch in touches.by(txn) {
                let Some(last) = touch.last() else { continue };
                let frontier = &mut frontiers[touch.key as usize];
                frontier.retain(|(before, _)| txns.completed(*before) > txns.invoked(txn));
                frontier.push((txn, last));
            }
        }
    });
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Versions by a known rank: each that a transaction made visible before the next of its key, and with `unwritten` each
/// that was only read before the one written next.
fn known(txns: &Txns, touches: &Touches, rank: impl Fn(u32) -> Option<i64>, unwritten: bool) -> Pairs {
    // One of unknown outcome that nobody saw may never have happened.
    let mut happened: Vec<bool> = txns.all().map(|txn| txns.is_ok(txn)).collect();
    for touch in txns.all().filter(|txn| txns.is_ok(*txn)).flat_map(|txn| touches.by(txn)) {
        if let Some(writer) = touch.read.filter(|read| !touches.is_initial(*read)).and_then(|read| txns.writer(read)) {
            happened[writer as usize] = true;
        }
    }
    let is_visible = |element: u32| {
        let writer = possible_writer(txns, element).filter(|writer| happened[*writer as usize])?;
        Some(touches.by(writer).iter().any(|touch| touch.wrote == Some(element)))
    };
    let mut ranked: Vec<(u32, i64, u32, bool)> = (0..txns.element_count() as u32)
        .filter_map(|element| {
            let written = match txns.writer(element) {
                Some(_) => is_visible(element).filter(|visible| *visible)?,
                None if unwritten => false,
                None => return None,
            };
            Some((txns.key_of(element), rank(element)?, element, written))
        })
        .collect();
    ranked.sort_unstable();
    let (mut pairs, mut waiting): (Pairs, Vec<u32>) = (Pairs::new(), Vec::new());
    for of_key in ranked.chunk_by(|a, b| a.0 == b.0) {
        waiting.clear();
        for &(_, _, element, written) in of_key {
            if written {
                pairs.extend(waiting.drain(..).map(|before| (before, element)));
            }
            waiting.push(element);
        }
    }
    pairs
}
