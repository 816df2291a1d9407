//! The graph of dependencies: transactions, hubs, labelled edges.
//!
//! A hub stands for "each of these before each of those": as many edges as there are ends, not pairs of them.

/// Why one transaction comes before another. In the order in which a pair that has several is explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(super) enum Rel {
    /// It wrote the version before.
    Ww = 0,
    /// It wrote the version that the other read.
    Wr = 1,
    /// It read the version before the one that the other wrote.
    Rw = 2,
    /// Its process ran it before.
    Process = 3,
    /// It completed before the other was invoked.
    Realtime = 4,
    /// From a hub on: the edge into the hub says why.
    Via = 5,
    /// Some read saw what the other wrote although it was visible (of weak levels).
    Must = 6,
}

impl Rel {
    fn of(bits: u32) -> Rel {
        match bits {
            0 => Rel::Ww,
            1 => Rel::Wr,
            2 => Rel::Rw,
            3 => Rel::Process,
            4 => Rel::Realtime,
            5 => Rel::Via,
            _ => Rel::Must,
        }
    }
}

const NODE_BITS: u32 = 29;

/// Edges as they are found.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    /// From in the high half; relation and target in the low one.
    list: Vec<u64>,
    nodes: u32,
}

impl Edges {
    /// No edges between `nodes` transactions.
    pub(super) fn new(nodes: u32) -> Edges {
        Edges { list: Vec::new(), nodes }
    }

    pub(super) fn add(&mut self, from: u32, to: u32, rel: Rel) {
        debug_assert!(to < 1 << NODE_BITS, "the builder refuses histories that large");
        if from != to {
            self.list.push(u64::from(from) << 32 | u64::from((rel as u32) << NODE_BITS | to));
        }
    }

    /// A new hub.
    pub(super) fn hub(&mut self) -> u32 {
        self.nodes += 1;
        self.nodes - 1
    }

    /// Each of `from` before each of `to`.
    pub(super) fn all_to_all(&mut self, from: &[u32], to: &[u32], rel: Rel) {
        if from.len().saturating_mul(to.len()) <= 16 * (from.len() + to.len()) {
            for &a in from {
                to.iter().for_each(|&b| self.add(a, b, rel));
            }
            return;
        }
        let hub = self.hub();
        from.iter().for_each(|&a| self.add(a, hub, rel));
        to.iter().for_each(|&b| self.add(hub, b, Rel::Via));
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.list.len() as u64 * 12 + u64::from(self.nodes) * 16
    }

    /// The graph of these edges.
    pub(super) fn graph(self) -> Graph {
        let mut starts = vec![0_u32; self.nodes as usize + 2];
        for edge in &self.list {
            starts[(edge >> 32) as usize + 2] += 1;
        }
        for node in 2..starts.len() {
            starts[node] += starts[node - 1];
        }
        let mut targets = vec![0_u32; self.list.len()];
        for edge in &self.list {
            let next = &mut starts[(edge >> 32) as usize + 1];
            targets[*next as usize] = *edge as u32;
            *next += 1;
        }
        starts.pop();
        Graph { starts, targets }
    }
}

/// Edges by the node they come from.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Graph {
    /// How many nodes, hubs among them.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The edges from `node`.
    pub(super) fn from(&self, node: u32) -> impl Iterator<Item = (u32, Rel)> + '_ {
        self.targets[self.range(node)].iter().map(|target| unpack(*target))
    }

    /// Where the edges of `node` stand.
    pub(super) fn range(&self, node: u32) -> std::ops::Range<usize> {
        self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize
    }

    /// The edge at this place.
    pub(super) fn edge(&self, at: usize) -> (u32, Rel) {
        unpack(self.targets[at])
    }
}

fn unpack(target: u32) -> (u32, Rel) {
    (target & ((1 << NODE_BITS) - 1), Rel::of(target >> NODE_BITS))
}
