//! Causal consistency by vector clocks: all pairs that the axiom gives, for histories that no guess settles.
//!
//! The algorithm is that of AWDIT (Møldrup and Pavlogiannis, PLDI 2025): of each session, only the last write of a key that
//! is among the causes of a read counts. In place of sessions there are chains, in which each happened before the next, and
//! the clocks are kept for a few chains at a time.

use super::line::{Line, Must};
use super::observed::pair;
use super::parts::Parts;
use crate::checker::isolation::effort::{Effort, Stopped};
use crate::txn::NONE;

/// Chains whose clocks are kept at once: a row is a line of the cache.
const WIDTH: usize = 16;

/// All pairs that the causal axiom gives and that the causes do not give already. O(n·k) for n reads and writes and k
/// chains.
pub(super) fn pairs(parts: &Parts, line: &Line, effort: &mut Effort<'_>) -> Result<Vec<Must>, Stopped> {
    let chains = Chains::of(parts, line);
    let mut writers: Vec<(u32, u32, u32, u32)> = Vec::new();
    for &txn in &line.txns {
        let (chain, index) = chains.of[txn as usize];
        if chain == NONE {
            continue;
        }
        writers.extend(parts.wrote(txn).iter().map(|key| (chain / WIDTH as u32, *key, chain, index)));
    }
    writers.sort_unstable();
    let mut found = Vec::new();
    let mut clocks = vec![[0_u32; WIDTH]; parts.len()];
    let mut keys = vec![(0_u32, 0_u32); parts.keys];
    for block in writers.chunk_by(|a, b| a.0 == b.0) {
        let number = block[0].0;
        keys.fill((0, 0));
        let mut start = 0;
        for of_key in block.chunk_by(|a, b| a.1 == b.1) {
            let end = start + of_key.len();
            keys[of_key[0].1 as usize] = (start as u32, end as u32);
            start = end;
        }
        for &reader in &line.txns {
            let clock = chains.clock(parts, reader, number, &clocks);
            clocks[reader as usize] = clock;
            for read in parts.reads(reader) {
                let (start, end) = keys[read.key as usize];
                for of_chain in block[start as usize..end as usize].chunk_by(|a, b| a.2 == b.2) {
                    let chain = of_chain[0].2;
                    let column = chain as usize % WIDTH;
                    let visible = of_chain.partition_point(|writer| writer.3 < clock[column]);
                    let Some(&(.., index)) = visible.checked_sub(1).and_then(|last| of_chain.get(last)) else {
                        continue;
                    };
                    let before = chains.at(chain, index);
                    let follows = read.from != NONE && clocks[read.from as usize][column] > index;
                    if before != read.from && !follows {
                        found.push(pair(before, *read, reader));
                    }
                }
            }
        }
        effort.spend((parts.len() * WIDTH) as u64)?;
        effort.holds((found.len() * 16 + parts.len() * 4 * WIDTH) as u64)?;
    }
    Ok(found)
}

/// Transactions in chains, in each of which one happened before the next.
struct Chains {
    /// Chain of each transaction, and its number in it.
    of: Vec<(u32, u32)>,
    list: Vec<Vec<u32>>,
}

impl Chains {
    /// Each transaction that is a cause goes on with the chain of a cause of its own that is the last of its chain, if there
    /// is one.
    fn of(parts: &Parts, line: &Line) -> Chains {
        let mut chains = Chains { of: vec![(NONE, 0); parts.len()], list: Vec::new() };
        let are_causes = parts.are_causes();
        for &txn in line.txns.iter().filter(|txn| are_causes[**txn as usize]) {
            let is_last = |cause: &u32| {
                let (chain, index) = chains.of[*cause as usize];
                chains.list[chain as usize].len() == index as usize + 1
            };
            let chain = match parts.causes(txn).find(is_last) {
                Some(cause) => chains.of[cause as usize].0,
                None => {
                    chains.list.push(Vec::new());
                    chains.list.len() as u32 - 1
                }
            };
            let list = &mut chains.list[chain as usize];
            chains.of[txn as usize] = (chain, list.len() as u32);
            list.push(txn);
        }
        chains
    }

    fn at(&self, chain: u32, index: u32) -> u32 {
        self.list[chain as usize][index as usize]
    }

    /// How many of each chain of block `number` happened before `txn`.
    fn clock(&self, parts: &Parts, txn: u32, number: u32, clocks: &[[u32; WIDTH]]) -> [u32; WIDTH] {
        let mut clock = [0; WIDTH];
        for cause in parts.causes(txn) {
            let of_cause = &clocks[cause as usize];
            clock.iter_mut().zip(of_cause).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
            let (chain, index) = self.of[cause as usize];
            if chain / WIDTH as u32 == number {
                let column = &mut clock[chain as usize % WIDTH];
                *column = (*column).max(index + 1);
            }
        }
        clock
    }
}
