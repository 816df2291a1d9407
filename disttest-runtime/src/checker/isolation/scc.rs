//! Strongly connected components, by Tarjan's algorithm without recursion (SIAM J. Comput. 1972).

use super::graph::{Graph, Rel};
use crate::txn::NONE;

/// Which component each node is in. Components are numbered in reverse topological order.
#[derive(Clone, Debug, Default)]
pub(super) struct Components {
    /// Component of each node.
    pub(super) of: Vec<u32>,
    /// Nodes in each component.
    pub(super) sizes: Vec<u32>,
}

/// The components of `graph` restricted to the edges (from, to, why) that `allowed` takes. O(nodes + edges).
pub(super) fn components(graph: &Graph, allowed: impl Fn(u32, u32, Rel) -> bool) -> Components {
    let nodes = graph.len();
    let mut found = Components { of: vec![NONE; nodes], sizes: Vec::new() };
    // The order in which nodes were come upon, and the earliest open node that each reaches.
    let (mut order, mut low) = (vec![NONE; nodes], vec![NONE; nodes]);
    let (mut stack, mut path): (Vec<u32>, Vec<(u32, usize)>) = (Vec::new(), Vec::new());
    let mut next = 0;
    for root in 0..nodes as u32 {
        if order[root as usize] != NONE {
            continue;
        }
        let mut open = Some(root);
        loop {
            if let Some(node) = open.take() {
                (order[node as usize], low[node as usize]) = (next, next);
                next += 1;
                stack.push(node);
                path.push((node, graph.range(node).start));
            }
            let Some((node, at)) = path.last_mut() else { break };
            let node = *node;
            let end = graph.range(node).end;
            while *at < end {
                let (to, rel) = graph.edge(*at);
                *at += 1;
                if !allowed(node, to, rel) {
                    continue;
                }
                if order[to as usize] == NONE {
                    open = Some(to);
                    break;
                }
                if found.of[to as usize] == NONE {
                    low[node as usize] = low[node as usize].min(order[to as usize]);
                }
            }
            if open.is_some() {
                continue;
            }
            path.pop();
            let mine = low[node as usize];
            if let Some((parent, _)) = path.last() {
                low[*parent as usize] = low[*parent as usize].min(mine);
            }
            if mine == order[node as usize] {
                found.close(node, &mut stack);
            }
        }
    }
    found
}

impl Components {
    fn close(&mut self, root: u32, stack: &mut Vec<u32>) {
        let number = self.sizes.len() as u32;
        let mut size = 0;
        while let Some(node) = stack.pop() {
            self.of[node as usize] = number;
            size += 1;
            if node == root {
                break;
            }
        }
        self.sizes.push(size);
    }

    /// True when both nodes are in one component.
    pub(super) fn together(&self, a: u32, b: u32) -> bool {
        self.of[a as usize] == self.of[b as usize]
    }

    /// The nodes of each component with at least two, in the order of their first nodes.
    pub(super) fn members(&self) -> Vec<Vec<u32>> {
        let mut place = vec![NONE; self.sizes.len()];
        let mut lists: Vec<Vec<u32>> = Vec::new();
        for (node, component) in self.of.iter().enumerate() {
            if self.sizes[*component as usize] < 2 {
                continue;
            }
            let place = &mut place[*component as usize];
            if *place == NONE {
                *place = lists.len() as u32;
                lists.push(Vec::with_capacity(self.sizes[*component as usize] as usize));
            }
            lists[*place as usize].push(node as u32);
        }
        lists
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::Edges;
    use super::*;
    use crate::base::rng::Rng;

    #[test]
    fn nodes_are_together_exactly_when_they_reach_each_other() {
        let mut rng = Rng::new(3);
        for _ in 0..2000 {
            let nodes = 1 + rng.below(7) as u32;
            let mut edges = Edges::new(nodes);
            let mut reach = vec![vec![false; nodes as usize]; nodes as usize];
            for _ in 0..rng.below(12) {
                let (a, b) = (rng.below(u64::from(nodes)) as u32, rng.below(u64::from(nodes)) as u32);
                edges.add(a, b, Rel::Ww);
                reach[a as usize][b as usize] = true;
            }
            for via in 0..nodes as usize {
                for a in 0..nodes as usize {
                    for b in 0..nodes as usize {
                        reach[a][b] |= reach[a][via] && reach[via][b];
                    }
                }
            }
            let found = components(&edges.graph(), |_, _, _| true);
            for a in 0..nodes {
                for b in 0..nodes {
                    let both = a == b || (reach[a as usize][b as usize] && reach[b as usize][a as usize]);
                    assert_eq!(found.together(a, b), both);
                }
            }
        }
    }
}
