//! A membership table: who is a member.

use super::set::{elements, shown, with, without};
use super::{Atom, Atoms, Model, Step};
use crate::base::recipe;
use crate::history::{Effect, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// `join` and `leave` of a member (the input), and `view`, which answers the members as a list, or the `members` of an
/// object. Nobody is a member at first, until told otherwise.
///
/// A `join` or `leave` that answers `false` changed nothing: the member was there, or was not; `true` says the opposite,
/// and other answers say nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MembershipTable {
    start: Vec<Value>,
}

impl MembershipTable {
    /// An empty table.
    pub fn new() -> MembershipTable {
        MembershipTable::default()
    }

    /// A table of these members.
    pub fn starting_with(members: impl IntoIterator<Item = impl Into<Value>>) -> MembershipTable {
        MembershipTable { start: members.into_iter().map(Into::into).collect() }
    }
}

/// An operation on a membership table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MembershipCall {
    /// Adds a member; whether it was none before, if the answer says.
    Join(Atom, Option<bool>),
    /// Removes a member; whether it was one before, if the answer says.
    Leave(Atom, Option<bool>),
    /// Reads all members (sorted), if the answer says.
    View(Option<Arc<[Atom]>>),
}

impl Model for MembershipTable {
    type State = Arc<[Atom]>;
    type Call = MembershipCall;

    fn name(&self) -> &str {
        "membership-table"
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("membership-table", self)
    }

    fn start(&self, atoms: &mut Atoms) -> Arc<[Atom]> {
        let mut members: Vec<Atom> = self.start.iter().map(|member| atoms.of(member)).collect();
        members.sort_unstable();
        members.dedup();
        members.into()
    }

    fn call(&self, op: &Op, atoms: &mut Atoms) -> Result<MembershipCall, String> {
        match op.op_type.as_str() {
            "join" => Ok(MembershipCall::Join(atoms.of(&op.input), op.output.as_bool())),
            "leave" => Ok(MembershipCall::Leave(atoms.of(&op.input), op.output.as_bool())),
            "view" if op.effect() == Effect::Acknowledged => match op.output.get("members").unwrap_or(&op.output) {
                Value::Array(list) => Ok(MembershipCall::View(Some(elements(list, atoms)?))),
                other => Err(format!("a view answers a list of members, not {other}")),
            },
            "view" => Ok(MembershipCall::View(None)),
            other => Err(format!("`{other}` is none of join, leave, view")),
        }
    }

    fn step(&self, members: &Arc<[Atom]>, call: &MembershipCall) -> Step<Arc<[Atom]>> {
        let (next, changed) = match call {
            MembershipCall::Join(member, changed) => (with(members, *member), changed),
            MembershipCall::Leave(member, changed) => (without(members, *member), changed),
            MembershipCall::View(Some(seen)) if seen != members => return Step::Illegal,
            MembershipCall::View(_) => return Step::Unchanged,
        };
        if changed.is_some_and(|changed| changed != next.is_some()) {
            return Step::Illegal;
        }
        next.map_or(Step::Unchanged, Step::To)
    }

    fn observes(&self, call: &MembershipCall) -> bool {
        match call {
            MembershipCall::Join(_, answer) | MembershipCall::Leave(_, answer) => answer.is_some(),
            MembershipCall::View(seen) => seen.is_some(),
        }
    }

    fn only_reads(&self, call: &MembershipCall) -> bool {
        match call {
            MembershipCall::Join(_, answer) | MembershipCall::Leave(_, answer) => *answer == Some(false),
            MembershipCall::View(_) => true,
        }
    }

    /// Whether somebody is a member does not depend on the others.
    fn part(&self, call: &MembershipCall) -> Option<Atom> {
        match call {
            MembershipCall::Join(member, _) | MembershipCall::Leave(member, _) => Some(*member),
            MembershipCall::View(_) => None,
        }
    }

    fn show(&self, members: &Arc<[Atom]>, atoms: &Atoms) -> String {
        shown(members, atoms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::table::run;

    #[test]
    fn members_join_and_leave() {
        for (text, expect) in [
            ("join t \"a\" | join t \"b\" -> true | view t -> [\"b\",\"a\"]", r#"{"a"} {"a","b"} {"a","b"}"#),
            ("join t \"a\" | leave t \"a\" | view t -> {\"members\":[],\"epoch\":2}", r#"{"a"} {} {}"#),
            ("join t \"a\" | view t -> []", r#"{"a"} illegal"#),
            ("leave t \"a\" -> true", "illegal"),
            ("leave t \"a\" -> false", "{}"),
            ("view t -> [\"a\",\"a\"]", "refused: read twice"),
            ("view t -> 1", "refused: a list of members"),
            ("elect t", "refused: none of join"),
        ] {
            run(MembershipTable::new(), text, expect);
        }
        run(MembershipTable::starting_with(["n1", "n2", "n1"]), "leave t \"n1\" -> true", r#"{"n2"}"#);
    }
}
