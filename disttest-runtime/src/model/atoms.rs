//! Values as small numbers, so that states compare and hash fast.

use rustc_hash::FxHashMap;
use serde_json::Value;

/// A value. Equal values have equal atoms within one [`Atoms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atom(u32);

impl Atom {
    /// JSON null.
    pub const NULL: Atom = Atom(0);

    /// Stands for all values that nothing compares with; the atom of no value.
    pub(super) const OTHER: Atom = Atom(u32::MAX);

    /// A small number, the same for equal values; none for [`Atom::OTHER`].
    pub(super) fn number(self) -> Option<usize> {
        (self != Atom::OTHER).then_some(self.0 as usize)
    }
}

/// The table of values of one check. Numbers are equal when they are written alike: 1 and 1.0 differ.
#[derive(Debug)]
pub struct Atoms {
    numbers: FxHashMap<i64, Atom>,
    others: FxHashMap<Value, Atom>,
    values: Vec<Value>,
}

impl Default for Atoms {
    fn default() -> Atoms {
        Atoms { numbers: FxHashMap::default(), others: FxHashMap::default(), values: vec![Value::Null] }
    }
}

impl Atoms {
    /// The atom of `value`, in O(size of `value`).
    pub fn of(&mut self, value: &Value) -> Atom {
        let next = Atom(u32::try_from(self.values.len()).expect("fewer than 2^32 distinct values in memory"));
        let known = match value {
            Value::Null => return Atom::NULL,
            Value::Number(number) if number.is_i64() => {
                *self.numbers.entry(number.as_i64().unwrap_or_default()).or_insert(next)
            }
            _ => match self.others.get(value) {
                Some(known) => *known,
                None => {
                    self.others.insert(value.clone(), next);
                    next
                }
            },
        };
        if known == next {
            self.values.push(value.clone());
        }
        known
    }

    /// The value of an atom of this table.
    pub fn value(&self, atom: Atom) -> &Value {
        &self.values[atom.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equal_values_and_only_they_share_an_atom() {
        let values =
            [json!(null), json!(1), json!(1.0), json!("1"), json!([1]), json!(u64::MAX), json!(-1), json!(true)];
        let mut atoms = Atoms::default();
        let first: Vec<Atom> = values.iter().map(|value| atoms.of(value)).collect();
        let again: Vec<Atom> = values.iter().map(|value| atoms.of(value)).collect();
        assert_eq!(first, again);
        let distinct: std::collections::BTreeSet<Atom> = first.iter().copied().collect();
        assert_eq!(distinct.len(), values.len());
        assert!(first.iter().zip(&values).all(|(atom, value)| atoms.value(*atom) == value));
    }
}
