//! A log: entries that are appended at the end and never change.

use super::{Atom, Atoms, Model, Step, Timed};
use crate::base::recipe;
use crate::history::Op;
use crate::history::access::Entry;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// `append` of a value, whose answer may be the offset it got, and `read` of one entry, of a range, or of the end.
///
/// A read answers `{"offset": n, "value": v}`, or `{"offset": n, "values": […]}` (what is there from `n` on, perhaps
/// not all of it), with `"end": true` when nothing followed. No values means that the log had at most `n` entries. A
/// bare list is the whole log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log;

impl Log {
    /// A log without entries.
    pub fn new() -> Log {
        Log
    }
}

/// An operation on a log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LogCall {
    /// Appends; the offset it got, if known.
    Append {
        /// The value.
        value: Atom,
        /// The offset.
        offset: Option<u64>,
    },
    /// Reads; nothing known of the answer.
    ReadNothing,
    /// Reads.
    Read {
        /// Offset of the first value.
        offset: u64,
        /// Values from there on.
        values: Box<[Atom]>,
        /// Nothing followed.
        end: bool,
    },
}

/// Entries as a chain from the last one to the first, so that states share what they have in common.
#[derive(Clone, Default)]
pub struct LogState {
    last: Option<Arc<Link>>,
    length: u64,
    /// Hash of all entries.
    hash: u64,
}

struct Link {
    value: Atom,
    before: Option<Arc<Link>>,
}

impl LogState {
    fn push(&self, value: Atom) -> LogState {
        let mut hasher = rustc_hash::FxHasher::default();
        (self.hash, value).hash(&mut hasher);
        let last = Some(Arc::new(Link { value, before: self.last.clone() }));
        LogState { last, length: self.length + 1, hash: hasher.finish() }
    }

    /// Entries from the last to the first.
    fn backwards(&self) -> impl Iterator<Item = &Arc<Link>> {
        std::iter::successors(self.last.as_ref(), |link| link.before.as_ref())
    }

    /// True when each of `values` that lies inside the log, the first at `offset`, is there. O(length - offset).
    fn agrees(&self, offset: u64, values: &[Atom]) -> bool {
        let mut position = self.length;
        for link in self.backwards() {
            position -= 1;
            let Some(index) = position.checked_sub(offset) else {
                return true;
            };
            if values.get(index as usize).is_some_and(|value| *value != link.value) {
                return false;
            }
        }
        true
    }
}

impl PartialEq for LogState {
    fn eq(&self, other: &LogState) -> bool {
        if self.length != other.length || self.hash != other.hash {
            return false;
        }
        for (a, b) in self.backwards().zip(other.backwards()) {
            if Arc::ptr_eq(a, b) {
                return true;
            }
            if a.value != b.value {
                return false;
            }
        }
        true
    }
}

impl Eq for LogState {}

impl Hash for LogState {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
        state.write_u64(self.length);
    }
}

impl Drop for LogState {
    /// A chain of a million links dropped by recursion would overflow the stack.
    fn drop(&mut self) {
        let mut next = self.last.take();
        while let Some(mut link) = next.and_then(Arc::into_inner) {
            next = link.before.take();
        }
    }
}

impl Model for Log {
    type State = LogState;
    type Call = LogCall;

    fn name(&self) -> &str {
        "log"
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("log", self)
    }

    fn start(&self, _: &mut Atoms) -> LogState {
        LogState::default()
    }

    fn call(&self, op: &Op, atoms: &mut Atoms) -> Result<LogCall, String> {
        if op.op_type == "add" || op.op_type == "read-set" {
            return Err(format!("`{}` is an operation of a set, not of a log", op.op_type));
        }
        Ok(match Entry::of(op)? {
            Entry::Append { value, offset } => LogCall::Append { value: atoms.of(value), offset },
            Entry::Read(None) => LogCall::ReadNothing,
            Entry::Read(Some(seen)) => LogCall::Read {
                offset: seen.offset,
                values: seen.values.iter().map(|value| atoms.of(value)).collect(),
                end: seen.end,
            },
        })
    }

    fn step(&self, state: &LogState, call: &LogCall) -> Step<LogState> {
        match call {
            LogCall::Append { value, offset } if offset.is_none_or(|offset| offset == state.length) => {
                Step::To(state.push(*value))
            }
            LogCall::Append { .. } => Step::Illegal,
            LogCall::ReadNothing => Step::Unchanged,
            LogCall::Read { offset, values, end } => {
                let upto = offset.saturating_add(values.len() as u64);
                // A read past the end sees nothing; only then may the log be shorter than the offset.
                let there = if values.is_empty() { state.length <= *offset } else { upto <= state.length };
                let ended = !end || state.length <= upto;
                if there && ended && state.agrees(*offset, values) { Step::Unchanged } else { Step::Illegal }
            }
        }
    }

    fn observes(&self, call: &LogCall) -> bool {
        match call {
            LogCall::Append { offset, .. } => offset.is_some(),
            LogCall::Read { .. } => true,
            LogCall::ReadNothing => false,
        }
    }

    fn only_reads(&self, call: &LogCall) -> bool {
        !matches!(call, LogCall::Append { .. })
    }

    /// A log only grows: an offset that is taken stays taken, an entry stays what it is, an end that was passed is gone.
    fn hopeless(&self, state: &LogState, call: &LogCall) -> bool {
        match call {
            LogCall::Append { offset, .. } => offset.is_some_and(|offset| offset < state.length),
            LogCall::ReadNothing => false,
            LogCall::Read { offset, values, end } => {
                let upto = offset.saturating_add(values.len() as u64);
                (*end && state.length > upto) || !state.agrees(*offset, values)
            }
        }
    }

    /// Gives an append without a known offset the one at which its value was seen, when the value was appended once and
    /// seen at one offset only.
    fn refine(&self, calls: &mut [Timed<LogCall>]) {
        let mut appended: FxHashMap<Atom, u32> = FxHashMap::default();
        let mut seen: FxHashMap<Atom, Result<u64, ()>> = FxHashMap::default();
        for call in calls.iter() {
            match &call.call {
                LogCall::Append { value, .. } => *appended.entry(*value).or_default() += 1,
                LogCall::Read { offset, values, .. } if call.complete.is_some() => {
                    for (value, position) in values.iter().zip(*offset..) {
                        let known = seen.entry(*value).or_insert(Ok(position));
                        if *known != Ok(position) {
                            *known = Err(());
                        }
                    }
                }
                _ => {}
            }
        }
        for call in calls {
            if let LogCall::Append { value, offset: offset @ None } = &mut call.call
                && appended.get(value) == Some(&1)
                && let Some(Ok(position)) = seen.get(value)
            {
                *offset = Some(*position);
            }
        }
    }

    fn show(&self, state: &LogState, atoms: &Atoms) -> String {
        let mut last: Vec<String> = state.backwards().take(4).map(|link| atoms.value(link.value).to_string()).collect();
        last.reverse();
        let more = if state.length > 4 { "…, " } else { "" };
        format!("{} entries [{more}{}]", state.length, last.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::notation::history;

    fn state(values: &[i64], atoms: &mut Atoms) -> LogState {
        values.iter().fold(LogState::default(), |state, value| state.push(atoms.of(&(*value).into())))
    }

    fn check(entries: &[i64], op: &str, expect: &str, hopeless: bool) {
        let mut atoms = Atoms::default();
        let state = state(entries, &mut atoms);
        let history = history(&format!("c1 {op} [0..1]")).expect("valid");
        let call = Log.call(&history.ops()[0], &mut atoms).expect("understood");
        let got = match Log.step(&state, &call) {
            Step::Illegal => "illegal".to_owned(),
            Step::Unchanged => "unchanged".to_owned(),
            Step::To(next) => Log.show(&next, &atoms),
        };
        assert_eq!((got.as_str(), Log.hopeless(&state, &call)), (expect, hopeless), "{op} on {entries:?}");
    }

    #[test]
    fn what_each_call_does_to_a_log() {
        check(&[1, 2], "append x 3 -> 2", "3 entries [1, 2, 3]", false);
        check(&[1, 2], "append x 3", "3 entries [1, 2, 3]", false);
        check(&[1, 2], "append x 3 -> 1", "illegal", true);
        check(&[1, 2], "append x 3 -> 3", "illegal", false);
        check(&[1, 2], "read x -> [1,2]", "unchanged", false);
        check(&[1, 2], "read x -> [1]", "illegal", true);
        check(&[1, 2], "read x -> [1,3]", "illegal", true);
        check(&[1, 2], "read x -> [1,2,3]", "illegal", false);
        check(&[1, 2], "read x -> {\"offset\":1,\"value\":2}", "unchanged", false);
        check(&[1, 2], "read x -> {\"offset\":0,\"value\":1}", "unchanged", false);
        check(&[1, 2], "read x -> {\"offset\":2,\"value\":3}", "illegal", false);
        check(&[1, 2], "read x -> {\"offset\":2,\"values\":[]}", "unchanged", false);
        check(&[1, 2], "read x -> {\"offset\":5,\"values\":[]}", "unchanged", false);
        check(&[1, 2], "read x -> {\"offset\":1,\"values\":[]}", "illegal", true);
    }

    #[test]
    fn equal_logs_are_equal_however_they_came_to_be() {
        let mut atoms = Atoms::default();
        let long: Vec<i64> = (0..100_000).collect();
        assert!(state(&long, &mut atoms) == state(&long, &mut atoms));
        assert!(state(&[1, 2], &mut atoms) != state(&[2, 1], &mut atoms));
        assert!(state(&[1], &mut atoms) != state(&[1, 1], &mut atoms));
    }
}
