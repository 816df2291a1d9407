//! Classes of cycles, strongest first, and the search for one of each in a knot of transactions.
//!
//! A cycle of a class implies cycles of weaker classes, which then are not looked for (table in `anomalies.rs`). What is
//! decided are closed walks. For all classes but G-nonadjacent a closed walk contains a cycle of the class or of one that
//! implies it; for G-nonadjacent a closed walk is what snapshot isolation prohibits (Cerone and Gotsman, "Analysing
//! Snapshot Isolation", PODC 2016: (ww ∪ wr) ; rw? has no cycle).

use super::anomalies::Anomaly;
use super::effort::{Effort, Stopped};
use super::graph::{Edges, Graph, Rel};
use super::knot::Knot;
use super::scc::components;
use super::walk::{Rels, Walk, closed_walk, walk_through, walk_with_one_rw};
use std::sync::LazyLock;

/// How many anti-dependencies (rw) a cycle has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Anti {
    None,
    /// Exactly one.
    One,
    /// Any number, no two in a row.
    Apart,
    /// Any number.
    Any,
}

/// A class of cycles.
struct Class {
    name: &'static str,
    /// Relations besides rw.
    free: Rels,
    anti: Anti,
    /// Relations that must occur, besides rw where there is any.
    needs: &'static [Rel],
}

const WW: Rels = Rels::of(&[Rel::Ww, Rel::Via]);
const DATA: Rels = Rels::of(&[Rel::Ww, Rel::Wr, Rel::Via]);

const fn class(name: &'static str, free: Rels, anti: Anti, needs: &'static [Rel]) -> Class {
    Class { name, free, anti, needs }
}

/// [A] Adya 1999 for G0, G1c, G-single, G2-item; G-nonadjacent: Cerone and Gotsman 2016; -process and -realtime: Daudjee and
/// Salem 2004. In an order in which no class is implied by a later one.
const CLASSES: [Class; 15] = [
    class("G0", WW, Anti::None, &[Rel::Ww]),
    class("G1c", DATA, Anti::None, &[Rel::Wr]),
    class("G-single-item", DATA, Anti::One, &[]),
    class("G-nonadjacent-item", DATA, Anti::Apart, &[]),
    class("G2-item", DATA, Anti::Any, &[]),
    class("G0-process", WW, Anti::None, &[Rel::Process]),
    class("G1c-process", DATA, Anti::None, &[Rel::Wr, Rel::Process]),
    class("G-single-item-process", DATA, Anti::One, &[Rel::Process]),
    class("G-nonadjacent-item-process", DATA, Anti::Apart, &[Rel::Process]),
    class("G2-item-process", DATA, Anti::Any, &[Rel::Process]),
    class("G0-realtime", WW, Anti::None, &[Rel::Realtime]),
    class("G1c-realtime", DATA, Anti::None, &[Rel::Wr, Rel::Realtime]),
    class("G-single-item-realtime", DATA, Anti::One, &[Rel::Realtime]),
    class("G-nonadjacent-item-realtime", DATA, Anti::Apart, &[Rel::Realtime]),
    class("G2-item-realtime", DATA, Anti::Any, &[Rel::Realtime]),
];

/// The anomaly of each class.
static ANOMALIES: LazyLock<Vec<Anomaly>> =
    LazyLock::new(|| CLASSES.iter().filter_map(|class| Anomaly::named(class.name)).collect());

/// The classes but those of what was written and read.
pub(super) fn classes_beyond_reads() -> impl Iterator<Item = Anomaly> {
    ANOMALIES.iter().copied().filter(|anomaly| !matches!(anomaly.name(), "G0" | "G1c"))
}

/// A cycle: its class, and from each transaction the relation to the next; the last leads to the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cycle {
    pub(super) anomaly: Anomaly,
    pub(super) steps: Vec<(u32, Rel)>,
}

/// One short cycle of each class that `knot` has and that no other found implies.
///
/// In a knot that has cycles without rw edges, one with a single rw edge is told only if it is not in their shadow: Elle
/// tries one candidate, of its first transaction, and where an rw edge of that is a ww or wr edge as well the candidate is
/// one of theirs. Nothing is lost: they rule out all that the other would.
pub(super) fn cycles(knot: &Knot, effort: &mut Effort<'_>, found: &mut Vec<Cycle>) -> Result<(), Stopped> {
    let start = found.len();
    let mut known: Vec<Anomaly> = Vec::new();
    for (class, anomaly) in CLASSES.iter().zip(ANOMALIES.iter().copied()) {
        if known.iter().any(|known| known.implies(anomaly)) {
            continue;
        }
        if let Some(walk) = class.find(&knot.graph, effort)? {
            let has_shadow = class.anti == Anti::One && class.needs.is_empty() && found.len() > start;
            if !(has_shadow && class.is_in_shadow(knot, effort)?) {
                found.push(Cycle { anomaly, steps: without_hubs(knot, walk) });
            }
            known.push(anomaly);
        }
    }
    Ok(())
}

impl Class {
    /// True when the first transaction on a walk of the class with any of the reasons for its pairs is on none as short
    /// with the reason that counts.
    fn is_in_shadow(&self, knot: &Knot, effort: &mut Effort<'_>) -> Result<bool, Stopped> {
        for node in 0..knot.txns.len() as u32 {
            if let Some(any) = walk_through(&knot.with_all_reasons, self.free, node, effort)? {
                let counted = walk_through(&knot.graph, self.free, node, effort)?;
                return Ok(counted.is_none_or(|length| length > any));
            }
        }
        Ok(false)
    }

    fn find(&self, graph: &Graph, effort: &mut Effort<'_>) -> Result<Option<Walk>, Stopped> {
        let free = self.needs.iter().fold(self.free, |free, need| free.and(*need));
        let needs_rw: Vec<Rel> = self.needs.iter().copied().chain([Rel::Rw]).collect();
        match self.anti {
            Anti::None => closed_walk(graph, free, self.needs, effort),
            Anti::Any => closed_walk(graph, free.and(Rel::Rw), &needs_rw, effort),
            Anti::Apart => {
                let apart = anti_dependencies_apart(graph, free);
                let walk = closed_walk(&apart, free.and(Rel::Rw), &needs_rw, effort)?;
                Ok(walk.map(|walk| walk.into_iter().map(|(node, rel)| (node >> 1, rel)).collect()))
            }
            Anti::One => {
                let apart = anti_dependencies_apart(graph, free);
                let knots = components(&apart, |_, _, _| true);
                walk_with_one_rw(graph, free, |from, to| knots.together(from << 1, to << 1 | 1), effort)
            }
        }
    }
}

/// Each node twice: reached by an rw edge last (odd), or not (even). No two rw edges follow each other.
fn anti_dependencies_apart(graph: &Graph, free: Rels) -> Graph {
    let mut edges = Edges::new(graph.len() as u32 * 2);
    for node in 0..graph.len() as u32 {
        for (to, rel) in graph.from(node) {
            let (even, odd) = (node << 1, node << 1 | 1);
            match rel {
                Rel::Rw => edges.add(even, to << 1 | 1, rel),
                Rel::Via => {
                    edges.add(even, to << 1, rel);
                    edges.add(odd, to << 1 | 1, rel);
                }
                _ if free.has(rel) => {
                    edges.add(even, to << 1, rel);
                    edges.add(odd, to << 1, rel);
                }
                _ => {}
            }
        }
    }
    edges.graph()
}

/// The walk from transaction to transaction, as their numbers in the history.
fn without_hubs(knot: &Knot, mut walk: Walk) -> Vec<(u32, Rel)> {
    if let Some(first) = walk.iter().position(|(node, _)| !knot.is_hub(*node)) {
        walk.rotate_left(first);
    }
    walk.into_iter()
        .filter(|(node, _)| !knot.is_hub(*node))
        .map(|(node, rel)| (knot.txns[node as usize], rel))
        .collect()
}
