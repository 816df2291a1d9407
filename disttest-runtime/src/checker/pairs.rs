//! Pairs of a key and a value as small numbers.

use super::inquiry::Numbering;
use rustc_hash::FxHashMap;
use serde_json::Value;

/// Numbers for pairs of a key (itself a number) and a value, from 0 in the order they are first seen. A value is mostly
/// found under one key only: such pairs, of small natural numbers, need no hashing.
#[derive(Default)]
pub(super) struct Pairs<'h> {
    values: Numbering<'h>,
    /// Of each value, the first key that it was found under, and the number of that pair.
    first: Vec<(u32, u32)>,
    others: FxHashMap<(u32, u32), u32>,
    len: u32,
}

impl<'h> Pairs<'h> {
    /// For about `expected` pairs.
    pub(super) fn new(expected: usize) -> Pairs<'h> {
        Pairs { values: Numbering::new(expected), first: Vec::with_capacity(expected / 2), ..Pairs::default() }
    }

    /// The number of a pair, a new one ([`Pairs::len`] before) if it has none.
    pub(super) fn of(&mut self, key: u32, value: &'h Value) -> u32 {
        let value = self.values.of(value);
        let number = match self.first.get(value as usize) {
            None => {
                self.first.push((key, self.len));
                self.len
            }
            Some((first, number)) if *first == key => *number,
            Some(_) => *self.others.entry((key, value)).or_insert(self.len),
        };
        self.len += u32::from(number == self.len);
        number
    }

    /// The number of a pair, if it has one.
    pub(super) fn known(&self, key: u32, value: &Value) -> Option<u32> {
        let value = self.values.known(value)?;
        match self.first[value as usize] {
            (first, number) if first == key => Some(number),
            _ => self.others.get(&(key, value)).copied(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// Bytes held, about.
    pub(super) fn bytes(&self) -> usize {
        self.values.bytes() + self.first.capacity() * 8 + self.others.capacity() * 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_that_end_in_numbers_are_told_apart() {
        let texts =
            ["a1", "a01", "a", "1", "a11", "b1", "c1", "d1", "e1", "a1x", "a12345678901", "a2345678901", "é7", "0"];
        let values = texts.map(|text| json!(text));
        let mut pairs = Pairs::new(2);
        let first: Vec<u32> = values.iter().map(|value| pairs.of(0, value)).collect();
        assert_eq!(first, (0..texts.len() as u32).collect::<Vec<u32>>());
        assert_eq!(values.iter().map(|value| pairs.of(0, value)).collect::<Vec<u32>>(), first);
        assert!(values.iter().zip(&first).all(|(value, number)| pairs.known(0, value) == Some(*number)));
        assert_eq!(["a2", "a9", "f1", "a001"].map(|text| pairs.known(0, &json!(text))), [None; 4]);
    }

    #[test]
    fn equal_pairs_have_equal_numbers() {
        let values = [json!(7), json!("7"), json!(7), json!(null), json!(u64::MAX), json!([7])];
        let mut pairs = Pairs::new(2);
        let mut numbers = Vec::new();
        for key in [3, 0, 3] {
            numbers.push(values.each_ref().map(|value| pairs.of(key, value)));
        }
        assert_eq!(numbers, [[0, 1, 0, 2, 3, 4], [5, 6, 5, 7, 8, 9], [0, 1, 0, 2, 3, 4]]);
        assert_eq!(pairs.len(), 10);
        assert_eq!(values.each_ref().map(|value| pairs.known(0, value)), [5, 6, 5, 7, 8, 9].map(Some));
        assert_eq!((pairs.known(1, &values[0]), pairs.known(0, &json!(8))), (None, None));
    }
}
