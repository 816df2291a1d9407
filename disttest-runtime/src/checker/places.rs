//! What is known of each session and key.

use rustc_hash::FxHashMap;

/// A `T` for each session (`process_id`) and key, in the order in which they are first seen. Sessions are many where
/// clients reconnect, so the table that is searched holds numbers only.
pub(super) struct Places<T> {
    numbers: FxHashMap<(u64, u32), u32>,
    list: Vec<T>,
}

impl<T> Default for Places<T> {
    fn default() -> Places<T> {
        Places { numbers: FxHashMap::default(), list: Vec::new() }
    }
}

impl<T> Places<T> {
    /// What is known of a session and a key: `new` at first.
    pub(super) fn of(&mut self, session: u64, key: u32, new: impl FnOnce() -> T) -> &mut T {
        let next = self.list.len();
        let number = *self.numbers.entry((session, key)).or_insert(next as u32) as usize;
        if number == next {
            self.list.push(new());
        }
        &mut self.list[number]
    }

    /// All of it.
    pub(super) fn all(&self) -> &[T] {
        &self.list
    }

    /// Bytes held, about; what a `T` holds elsewhere is not counted.
    pub(super) fn bytes(&self) -> usize {
        self.numbers.capacity() * 25 + self.list.capacity() * size_of::<T>()
    }
}
