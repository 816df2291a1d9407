//! A set of elements, added and removed.

use super::{Atom, Atoms, Decision, Model, Step, Timed, snapshots};
use crate::base::recipe;
use crate::history::{Effect, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// `add` and `remove` of an element, `contains` of one, and `read` of the whole set (a list, in any order). Empty at
/// first.
///
/// An `add` that answers `false` found the element there, a `remove` that answers `false` did not; `true` says the
/// opposite, and other answers say nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetModel;

impl SetModel {
    /// An empty set.
    pub fn new() -> SetModel {
        SetModel
    }
}

/// An operation on a set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SetCall {
    /// Adds an element; whether it was new, if the answer says.
    Add(Atom, Option<bool>),
    /// Removes an element; whether it was there, if the answer says.
    Remove(Atom, Option<bool>),
    /// Asks for an element; whether it was there, if the answer says.
    Contains(Atom, Option<bool>),
    /// Reads all elements (sorted), if the answer says.
    Read(Option<Arc<[Atom]>>),
}

/// The elements of a list, sorted; `Err` when one stands twice.
pub(super) fn elements(list: &[Value], atoms: &mut Atoms) -> Result<Arc<[Atom]>, String> {
    let mut elements: Vec<Atom> = list.iter().map(|value| atoms.of(value)).collect();
    elements.sort_unstable();
    match elements.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("a set holds an element once, and {} was read twice", atoms.value(pair[0]))),
        None => Ok(elements.into()),
    }
}

/// `set` with `element`, or `None` when it is there.
pub(super) fn with(set: &[Atom], element: Atom) -> Option<Arc<[Atom]>> {
    let at = set.binary_search(&element).err()?;
    Some(set[..at].iter().chain([&element]).chain(&set[at..]).copied().collect())
}

/// `set` without `element`, or `None` when it is not there.
pub(super) fn without(set: &[Atom], element: Atom) -> Option<Arc<[Atom]>> {
    let at = set.binary_search(&element).ok()?;
    Some(set[..at].iter().chain(&set[at + 1..]).copied().collect())
}

/// Elements for people.
pub(super) fn shown(set: &[Atom], atoms: &Atoms) -> String {
    let elements: Vec<String> = set.iter().map(|element| atoms.value(*element).to_string()).collect();
    format!("{{{}}}", elements.join(","))
}

impl Model for SetModel {
    type State = Arc<[Atom]>;
    type Call = SetCall;

    fn name(&self) -> &str {
        "set"
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("set", self)
    }

    fn start(&self, _: &mut Atoms) -> Arc<[Atom]> {
        Arc::new([])
    }

    fn call(&self, op: &Op, atoms: &mut Atoms) -> Result<SetCall, String> {
        let answer = op.output.as_bool();
        let completed = op.effect() == Effect::Acknowledged;
        match op.op_type.as_str() {
            "add" => Ok(SetCall::Add(atoms.of(&op.input), answer)),
            "remove" => Ok(SetCall::Remove(atoms.of(&op.input), answer)),
            "contains" if completed && answer.is_none() => Err("a completed contains answers true or false".to_owned()),
            "contains" => Ok(SetCall::Contains(atoms.of(&op.input), answer)),
            "read" | "read-set" if completed => match &op.output {
                Value::Array(list) => Ok(SetCall::Read(Some(elements(list, atoms)?))),
                other => Err(format!("a read of a set answers a list, not {other}")),
            },
            "read" | "read-set" => Ok(SetCall::Read(None)),
            other => Err(format!("`{other}` is none of add, remove, contains, read")),
        }
    }

    fn step(&self, set: &Arc<[Atom]>, call: &SetCall) -> Step<Arc<[Atom]>> {
        let to = |next: Option<Arc<[Atom]>>| next.map_or(Step::Unchanged, Step::To);
        match call {
            SetCall::Add(element, new) => match with(set, *element) {
                next if new.is_some_and(|new| new != next.is_some()) => Step::Illegal,
                next => to(next),
            },
            SetCall::Remove(element, there) => match without(set, *element) {
                next if there.is_some_and(|there| there != next.is_some()) => Step::Illegal,
                next => to(next),
            },
            SetCall::Contains(element, Some(there)) if *there != set.binary_search(element).is_ok() => Step::Illegal,
            SetCall::Contains(..) => Step::Unchanged,
            SetCall::Read(Some(seen)) if seen != set => Step::Illegal,
            SetCall::Read(_) => Step::Unchanged,
        }
    }

    fn observes(&self, call: &SetCall) -> bool {
        match call {
            SetCall::Add(_, answer) | SetCall::Remove(_, answer) | SetCall::Contains(_, answer) => answer.is_some(),
            SetCall::Read(seen) => seen.is_some(),
        }
    }

    fn only_reads(&self, call: &SetCall) -> bool {
        match call {
            SetCall::Add(_, answer) | SetCall::Remove(_, answer) => *answer == Some(false),
            SetCall::Contains(..) | SetCall::Read(_) => true,
        }
    }

    /// Whether an element is there does not depend on the others.
    fn part(&self, call: &SetCall) -> Option<Atom> {
        match call {
            SetCall::Add(element, _) | SetCall::Remove(element, _) | SetCall::Contains(element, _) => Some(*element),
            SetCall::Read(_) => None,
        }
    }

    fn decide(&self, start: &Arc<[Atom]>, calls: &[Timed<SetCall>]) -> Option<Decision> {
        snapshots::decide(start, calls)
    }

    fn show(&self, set: &Arc<[Atom]>, atoms: &Atoms) -> String {
        shown(set, atoms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::table::run;

    #[test]
    fn elements_are_there_between_add_and_remove() {
        for (text, expect) in [
            ("add s 2 -> true | add s 1 | add s 2 -> false | read s -> [2,1]", "{2} {2,1} {2,1} {2,1}"),
            ("add s 1 | remove s 1 -> true | remove s 1 -> false | contains s 1 -> false", "{1} {} {} {}"),
            ("add s 1 | contains s 1 -> true | contains s 2 -> true", "{1} {1} illegal"),
            ("add s 1 | add s 1 -> true", "{1} illegal"),
            ("add s 1 -> false", "illegal"),
            ("remove s 1 -> true", "illegal"),
            ("add s 1 | read s -> []", "{1} illegal"),
            ("read s -> [1,1]", "refused: was read twice"),
            ("contains s 1", "refused: answers true or false"),
            ("read s -> 1", "refused: a list, not 1"),
            ("clear s", "refused: none of add"),
        ] {
            run(SetModel::new(), text, expect);
        }
    }
}
