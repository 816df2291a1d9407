//! Dense numbers for keys, processes, and the values written to each key.

use rustc_hash::FxHashMap;

/// "Not there" in columns of numbers.
pub const NONE: u32 = u32::MAX;

/// Atoms as dense numbers in the order they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Interner {
    near: Near,
    far: FxHashMap<i64, u32>,
    /// The atom of each number.
    pub(super) atoms: Vec<i64>,
}

impl Interner {
    /// The number of `atom`.
    pub(super) fn number(&mut self, atom: i64) -> u32 {
        let next = self.atoms.len() as u32;
        let slot = match self.near.slot(atom, self.atoms.len()) {
            Some(slot) if *slot == NONE => match self.far.get(&atom) {
                Some(&number) => {
                    *slot = number;
                    return number;
                }
                None => slot,
            },
            Some(slot) => return *slot,
            None => self.far.entry(atom).or_insert(NONE),
        };
        if *slot == NONE {
            *slot = next;
            self.atoms.push(atom);
        }
        *slot
    }
}

/// A table for small atoms that grows with what is in it.
#[derive(Clone, Debug, Default)]
struct Near(Vec<u32>);

impl Near {
    /// The slot of `atom`, where `count` is how many atoms there are; `None` when it is too large for a table.
    fn slot(&mut self, atom: i64, count: usize) -> Option<&mut u32> {
        let at = usize::try_from(atom).ok()?;
        if at >= self.0.len() {
            if at >= 64 + 4 * count {
                return None;
            }
            self.0.resize((at + 1).next_power_of_two().max(8), NONE);
        }
        self.0.get_mut(at)
    }
}

/// What was appended or written: each pair of key and value is one element.
#[derive(Clone, Debug, Default)]
pub(super) struct Elements {
    /// Key of each element.
    pub(super) keys: Vec<u32>,
    /// Atom of each element.
    pub(super) atoms: Vec<i64>,
    /// Transaction that first appended or wrote it; [`NONE`] when it was only read.
    pub(super) writers: Vec<u32>,
    near: Vec<(Near, u32)>,
    far: FxHashMap<(u32, i64), u32>,
}

impl Elements {
    /// The element of `atom` at `key`.
    pub(super) fn number(&mut self, key: u32, atom: i64) -> u32 {
        if self.near.len() <= key as usize {
            self.near.resize_with(key as usize + 1, Default::default);
        }
        let next = self.atoms.len() as u32;
        let (near, count) = &mut self.near[key as usize];
        let slot = match near.slot(atom, *count as usize) {
            Some(slot) if *slot == NONE => match self.far.get(&(key, atom)) {
                Some(&number) => {
                    *slot = number;
                    return number;
                }
                None => slot,
            },
            Some(slot) => return *slot,
            None => self.far.entry((key, atom)).or_insert(NONE),
        };
        if *slot == NONE {
            *slot = next;
            *count += 1;
            self.keys.push(key);
            self.atoms.push(atom);
            self.writers.push(NONE);
        }
        *slot
    }

    /// Lets go of what only interning needs.
    pub(super) fn freeze(&mut self) {
        self.near = Vec::new();
        self.far = FxHashMap::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use std::collections::HashMap;

    #[test]
    fn numbers_are_dense_and_the_same_for_the_same_atom_whatever_its_size() {
        let (mut interner, mut elements) = (Interner::default(), Elements::default());
        let (mut known, mut pairs) = (HashMap::new(), HashMap::new());
        let mut rng = Rng::new(7);
        for _ in 0..20_000 {
            let bound = 1 << (1 + rng.below(20));
            let atom = rng.below(bound) as i64 - i64::from(rng.chance(1, 10)) * 50;
            let next = known.len() as u32;
            assert_eq!(interner.number(atom), *known.entry(atom).or_insert(next));
            let key = rng.below(5) as u32;
            let next = pairs.len() as u32;
            assert_eq!(elements.number(key, atom), *pairs.entry((key, atom)).or_insert(next));
        }
        assert_eq!(interner.atoms.len(), known.len());
        assert_eq!(elements.atoms.len(), pairs.len());
    }
}
