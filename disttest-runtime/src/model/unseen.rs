//! Values that no operation compares with are all the same, and effects that lead only to them are none.

use super::{Atom, RegisterCall, Timed};

/// Rounds of looking for values that become unseen because an effect fell away. Stopping early only costs time.
const ROUNDS: usize = 64;

/// Replaces values that no call compares with by [`Atom::OTHER`], and calls of unknown outcome that could only write
/// such a value by reads that say nothing, unless some call needs the value to be a different one.
///
/// Legal orders stay the same: calls treat two values alike unless one compares with it, and leaving out an effect that
/// nothing sees changes no later answer.
pub(super) fn merge(calls: &mut [Timed<RegisterCall>]) {
    let asks_for_difference = calls.iter().any(|call| match call.call {
        RegisterCall::Cas { done, .. } => done == Some(false),
        RegisterCall::Delete(found) => found.is_some(),
        _ => false,
    });
    let mut seen = Compared::default();
    for _ in 0..ROUNDS {
        seen.look(calls);
        let mut changed = false;
        for call in calls.iter_mut() {
            if let Some(next) = merged(call, &seen, asks_for_difference) {
                changed = true;
                call.call = next;
            }
        }
        if !changed {
            return;
        }
    }
}

/// Values that some call compares with, as bits by atom.
#[derive(Default)]
struct Compared(Vec<u64>);

impl Compared {
    fn look(&mut self, calls: &[Timed<RegisterCall>]) {
        self.0.clear();
        for call in calls {
            match call.call {
                RegisterCall::Read(Some(value)) if call.complete.is_some() => self.add(value),
                RegisterCall::Cas { from, .. } => self.add(from),
                RegisterCall::Delete(Some(_)) => self.add(Atom::NULL),
                _ => {}
            }
        }
    }

    fn add(&mut self, value: Atom) {
        let Some(number) = value.number() else { return };
        let word = number / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % 64);
    }

    fn contains(&self, value: Atom) -> bool {
        value.number().is_some_and(|number| self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1))
    }
}

/// What `call` becomes, if it changes.
fn merged(call: &Timed<RegisterCall>, seen: &Compared, asks_for_difference: bool) -> Option<RegisterCall> {
    let nothing = RegisterCall::Read(None);
    let counts = call.complete.is_some() || asks_for_difference;
    match call.call {
        RegisterCall::Write(value) if !seen.contains(value) => match counts {
            true => (value != Atom::OTHER).then_some(RegisterCall::Write(Atom::OTHER)),
            false => Some(nothing),
        },
        RegisterCall::Cas { from, to, done } if !seen.contains(to) => match counts {
            true => (to != Atom::OTHER).then_some(RegisterCall::Cas { from, to: Atom::OTHER, done }),
            false => Some(nothing),
        },
        RegisterCall::Delete(None) if !counts && !seen.contains(Atom::NULL) => Some(nothing),
        _ => None,
    }
}
