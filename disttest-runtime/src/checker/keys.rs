//! Keys of a history as small numbers, and on which of them something could have contradicted a checker.

use crate::history::Op;
use rustc_hash::FxHashMap;

/// Keys in the order of their first operation.
#[derive(Default)]
pub(super) struct Keys<'h> {
    numbers: FxHashMap<Option<&'h str>, u32>,
    list: Vec<Key<'h>>,
}

/// What is counted of a key.
pub(super) struct Key<'h> {
    pub(super) name: Option<&'h str>,
    /// Its operations.
    pub(super) recorded: u64,
    /// Something on it was compared: had it been otherwise, the answer would be.
    pub(super) observed: bool,
}

impl<'h> Keys<'h> {
    /// The number of the key of `op`, which is counted.
    pub(super) fn count(&mut self, op: &'h Op) -> u32 {
        let name = op.key.as_deref();
        let number = *self.numbers.entry(name).or_insert_with(|| {
            self.list.push(Key { name, recorded: 0, observed: false });
            self.list.len() as u32 - 1
        });
        self.list[number as usize].recorded += 1;
        number
    }

    pub(super) fn observe(&mut self, number: u32) {
        self.list[number as usize].observed = true;
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn name(&self, number: u32) -> Option<String> {
        self.list[number as usize].name.map(str::to_owned)
    }

    /// Operations of the keys on which something was compared, and the number of these keys.
    pub(super) fn observed(&self) -> (u64, u64) {
        let observed = self.list.iter().filter(|key| key.observed);
        observed.fold((0, 0), |(ops, keys), key| (ops + key.recorded, keys + 1))
    }

    /// What is said of keys on which nothing was compared, if there are any.
    pub(super) fn unobserved(&self) -> Option<String> {
        let mut blind = self.list.iter().filter(|key| !key.observed);
        let first = blind.next()?;
        let (mut keys, mut ops) = (1, first.recorded);
        for key in blind {
            (keys, ops) = (keys + 1, ops + key.recorded);
        }
        let name = first.name.map_or_else(|| "the object without a key".to_owned(), |name| format!("key {name:?}"));
        let of = self.list.len();
        Some(format!(
            "anything on {keys} of {of} keys, {name} the first, on which no two operations could be compared: {ops} \
             operations not counted"
        ))
    }
}
