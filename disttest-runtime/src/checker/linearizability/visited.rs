//! Configurations that a search has been in.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Configurations with the sets of crashed calls they had used; supersets of a kept set are not new.
pub(super) struct Visited<S> {
    /// Words in a set.
    words: usize,
    /// First set of a configuration, as an index into `next` and (times `words`) into `sets`.
    first: FxHashMap<(u128, u32, S), u32>,
    sets: Vec<u64>,
    next: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl<S: Clone + Eq + Hash> Visited<S> {
    pub(super) fn new(words: usize) -> Visited<S> {
        Visited { words, first: FxHashMap::default(), sets: Vec::new(), next: Vec::new() }
    }

    /// Keeps the configuration and tells whether it was new.
    pub(super) fn is_new(&mut self, round: u32, ordered: u128, state: &S, used: &[u64]) -> bool {
        let head = self.first.entry((ordered, round, state.clone())).or_insert(NONE);
        if self.words == 0 {
            return std::mem::replace(head, 0) == NONE;
        }
        let mut at = *head;
        while at != NONE {
            let kept = &self.sets[at as usize * self.words..][..self.words];
            if kept.iter().zip(used).all(|(kept, used)| kept & !used == 0) {
                return false;
            }
            at = self.next[at as usize];
        }
        self.next.push(*head);
        *head = (self.next.len() - 1) as u32;
        self.sets.extend_from_slice(used);
        true
    }

    /// Estimate of the memory it holds.
    pub(super) fn bytes(&self) -> u64 {
        // A state on the heap is guessed at 48 bytes.
        let entry = size_of::<(u128, u32, S)>() + size_of::<u32>() + 1 + 48;
        (self.first.capacity() * entry + self.sets.capacity() * 8 + self.next.capacity() * 4) as u64
    }
}
