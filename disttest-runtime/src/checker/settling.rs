//! What had completed before an instant.

use crate::base::time::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Things by completion.
type Later<T> = BinaryHeap<Reverse<(Nanos, T)>>;

/// Things that count from their completion on. Asked at instants that never go back; O(log in flight) each.
pub(super) struct Settling<T> {
    /// The one that completes first: a client that does one thing after another never has more.
    next: Option<(Nanos, T)>,
    /// Behind a pointer: there are many of these, and most have none.
    rest: Option<Box<Later<T>>>,
}

impl<T: Ord> Default for Settling<T> {
    fn default() -> Settling<T> {
        Settling { next: None, rest: None }
    }
}

impl<T: Ord> Settling<T> {
    /// `what` counts from `complete` on.
    pub(super) fn push(&mut self, complete: Nanos, what: T) {
        let mut new = (complete, what);
        match &mut self.next {
            None => self.next = Some(new),
            Some(next) => {
                if new < *next {
                    std::mem::swap(next, &mut new);
                }
                self.rest.get_or_insert_default().push(Reverse(new));
            }
        }
    }

    /// What has not been taken.
    pub(super) fn pending(&self) -> impl Iterator<Item = &T> {
        let rest = self.rest.iter().flat_map(|rest| rest.iter()).map(|Reverse(rest)| rest);
        self.next.iter().chain(rest).map(|(_, what)| what)
    }

    /// Takes what had completed before `instant` (strictly: at the same instant is concurrent), in that order.
    pub(super) fn before(&mut self, instant: Nanos) -> Option<(Nanos, T)> {
        if self.next.as_ref()?.0 >= instant {
            return None;
        }
        let next = self.rest.as_mut().and_then(|rest| rest.pop()).map(|Reverse(next)| next);
        std::mem::replace(&mut self.next, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_completed_strictly_before_is_taken_in_order() {
        let mut settling = Settling::default();
        for complete in [5, 3, 9, 4] {
            settling.push(Nanos(complete), complete);
        }
        let mut taken = |instant| std::iter::from_fn(|| settling.before(Nanos(instant))).map(|(_, it)| it).collect();
        let taken: [Vec<u64>; 4] = [taken(3), taken(5), taken(6), taken(100)];
        assert_eq!(taken, [vec![], vec![3, 4], vec![5], vec![9]]);
    }
}
