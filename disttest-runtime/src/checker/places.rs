//! What is known of each session and key.

use rustc_hash::FxHashMap;

/// Keys that are found without hashing.
const NEAR: u32 = 256;

/// No place.
const NONE: u32 = u32::MAX;

/// A `T` for each session (`process_id`) and key, in the order in which they are first seen. Sessions are many where
/// clients reconnect, and few at a time: what is looked up of these few stays together.
pub(super) struct Places<T> {
    sessions: FxHashMap<u64, u32>,
    /// Of each session, the place of each near key.
    near: Vec<Vec<u32>>,
    /// The places of other keys.
    far: FxHashMap<(u64, u32), u32>,
    list: Vec<T>,
}

impl<T> Default for Places<T> {
    fn default() -> Places<T> {
        let (sessions, far) = (FxHashMap::default(), FxHashMap::default());
        Places { sessions, near: Vec::new(), far, list: Vec::new() }
    }
}

impl<T> Places<T> {
    /// What is known of a session and a key: `new` at first.
    pub(super) fn of(&mut self, session: u64, key: u32, new: impl FnOnce() -> T) -> &mut T {
        let next = self.list.len() as u32;
        let slot = if key < NEAR { self.near(session, key) } else { self.far.entry((session, key)).or_insert(NONE) };
        if *slot == NONE {
            *slot = next;
        }
        let number = *slot;
        if number == next {
            self.list.push(new());
        }
        &mut self.list[number as usize]
    }

    fn near(&mut self, session: u64, key: u32) -> &mut u32 {
        let next = self.near.len() as u32;
        let number = *self.sessions.entry(session).or_insert(next);
        if number == next {
            self.near.push(Vec::new());
        }
        let (slots, key) = (&mut self.near[number as usize], key as usize);
        if slots.len() <= key {
            slots.resize(key + 1, NONE);
        }
        &mut slots[key]
    }

    /// All of it.
    pub(super) fn all(&self) -> &[T] {
        &self.list
    }

    /// Bytes held, about; what a `T` holds elsewhere is not counted.
    pub(super) fn bytes(&self) -> usize {
        let slots = self.near.len() * (size_of::<Vec<u32>>() + 64) + self.list.len() * 4;
        (self.sessions.capacity() + self.far.capacity()) * 17 + slots + self.list.capacity() * size_of::<T>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_session_and_key_has_one_place() {
        let mut places: Places<(u64, u32, u32)> = Places::default();
        let all = [(7, 0), (7, 3), (1, 3), (u64::MAX, 255), (7, 256), (1, 256), (7, u32::MAX)];
        for round in 0..3 {
            for (session, key) in all {
                let place = places.of(session, key, || (session, key, 0));
                assert_eq!(*place, (session, key, round));
                place.2 += 1;
            }
        }
        assert!(places.all().iter().map(|(session, key, _)| (*session, *key)).eq(all));
    }
}
