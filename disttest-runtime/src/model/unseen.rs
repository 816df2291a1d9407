//! Values that no operation compares with are all the same, and effects that lead only to them are none.

use super::{Atom, RegisterCall, Timed};
use rustc_hash::FxHashSet;

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
    for _ in 0..ROUNDS {
        let seen = compared(calls);
        let mut changed = false;
        for call in calls.iter_mut() {
            let next = merged(call, &seen, asks_for_difference);
            changed |= next != call.call;
            call.call = next;
        }
        if !changed {
            return;
        }
    }
}

/// Values that some call compares with.
fn compared(calls: &[Timed<RegisterCall>]) -> FxHashSet<Atom> {
    let mut seen = FxHashSet::default();
    for call in calls {
        match call.call {
            RegisterCall::Read(Some(value)) if call.complete.is_some() => seen.insert(value),
            RegisterCall::Cas { from, .. } => seen.insert(from),
            RegisterCall::Delete(Some(_)) => seen.insert(Atom::NULL),
            _ => false,
        };
    }
    seen
}

fn merged(call: &Timed<RegisterCall>, seen: &FxHashSet<Atom>, asks_for_difference: bool) -> RegisterCall {
    let settled = call.complete.is_some();
    let nothing = RegisterCall::Read(None);
    match call.call {
        RegisterCall::Write(value) if !seen.contains(&value) => {
            if settled || asks_for_difference {
                RegisterCall::Write(Atom::OTHER)
            } else {
                nothing
            }
        }
        RegisterCall::Cas { from, to, done } if !seen.contains(&to) => {
            if settled || asks_for_difference {
                RegisterCall::Cas { from, to: Atom::OTHER, done }
            } else {
                nothing
            }
        }
        RegisterCall::Delete(None) if !settled && !asks_for_difference && !seen.contains(&Atom::NULL) => nothing,
        ref other => other.clone(),
    }
}
