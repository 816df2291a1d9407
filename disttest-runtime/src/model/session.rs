//! A register with versions, as a client session sees it.

use super::{Atom, Atoms, Model, Step};
use crate::base::recipe;
use crate::history::{Effect, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `write`, whose answer is the version it made, and `read`, which answers `{"value", "version"}`; one object per key.
///
/// A version is a number, or the `version` of an object that is answered. Versions grow with every write. A key that
/// was never written has version 0 and holds null. An answer without a version says nothing of it; a read that answers
/// no object has seen that value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session;

impl Session {
    /// Objects at version 0.
    pub fn new() -> Session {
        Session
    }
}

/// An operation on a value with a version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SessionCall {
    /// Writes a value; the version it got, if the answer says.
    Write(Atom, Option<u64>),
    /// Reads a value and its version, what of it the answer says.
    Read(Option<Atom>, Option<u64>),
}

/// A value and its version; the version is unknown after a write that did not tell, and then at least this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Versioned {
    value: Atom,
    version: u64,
    exact: bool,
}

impl Model for Session {
    type State = Versioned;
    type Call = SessionCall;

    fn name(&self) -> &str {
        "session"
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("session", self)
    }

    fn start(&self, _: &mut Atoms) -> Versioned {
        Versioned { value: Atom::NULL, version: 0, exact: true }
    }

    fn call(&self, op: &Op, atoms: &mut Atoms) -> Result<SessionCall, String> {
        let version = match op.output.get("version") {
            None => None,
            Some(version) => Some(version.as_u64().ok_or_else(|| format!("a version is a number, not {version}"))?),
        };
        match op.op_type.as_str() {
            "write" | "put" => Ok(SessionCall::Write(atoms.of(&op.input), version.or(op.output.as_u64()))),
            "read" | "get" if op.effect() == Effect::Acknowledged => {
                let value = match &op.output {
                    Value::Object(fields) => fields.get("value"),
                    value => Some(value),
                };
                Ok(SessionCall::Read(value.map(|value| atoms.of(value)), version))
            }
            "read" | "get" => Ok(SessionCall::Read(None, None)),
            other => Err(format!("`{other}` is none of read/get, write/put")),
        }
    }

    fn step(&self, state: &Versioned, call: &SessionCall) -> Step<Versioned> {
        match *call {
            SessionCall::Write(value, Some(version)) if version > state.version => {
                Step::To(Versioned { value, version, exact: true })
            }
            SessionCall::Write(_, Some(_)) => Step::Illegal,
            SessionCall::Write(value, None) => {
                Step::To(Versioned { value, version: state.version.saturating_add(1), exact: false })
            }
            SessionCall::Read(value, version) => {
                let fits = |seen: u64| if state.exact { seen == state.version } else { seen >= state.version };
                if value.is_some_and(|value| value != state.value) || !version.is_none_or(fits) {
                    return Step::Illegal;
                }
                match version {
                    Some(version) if !state.exact => Step::To(Versioned { version, exact: true, ..*state }),
                    _ => Step::Unchanged,
                }
            }
        }
    }

    fn one_object_per_key(&self) -> bool {
        true
    }

    fn observes(&self, call: &SessionCall) -> bool {
        match call {
            SessionCall::Write(_, version) => version.is_some(),
            SessionCall::Read(value, version) => value.is_some() || version.is_some(),
        }
    }

    fn only_reads(&self, call: &SessionCall) -> bool {
        // A read with a version tells which one a write got that did not say.
        matches!(call, SessionCall::Read(_, None))
    }

    fn hopeless(&self, state: &Versioned, call: &SessionCall) -> bool {
        match call {
            SessionCall::Write(_, version) => version.is_some_and(|version| version <= state.version),
            SessionCall::Read(_, version) => version.is_some_and(|version| version < state.version),
        }
    }

    fn show(&self, state: &Versioned, atoms: &Atoms) -> String {
        let at = if state.exact { "@" } else { "@>=" };
        format!("{}{at}{}", atoms.value(state.value), state.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::table::run;

    #[test]
    fn versions_grow_with_every_write() {
        for (text, expect) in [
            ("write x 5 -> 3 | read x -> {\"value\":5,\"version\":3} | write x 6 -> 4", "5@3 5@3 6@4"),
            ("write x 5 -> 3 | write x 6 -> 3", "5@3 illegal"),
            ("write x 5 | read x -> {\"value\":5,\"version\":8} | write x 6 -> {\"version\":9}", "5@>=1 5@8 6@9"),
            ("write x 5 | write x 6 | read x -> {\"value\":6,\"version\":1}", "5@>=1 6@>=2 illegal"),
            ("write x 5 -> OK | read x -> 5 | read x -> {\"version\":0}", "5@>=1 5@>=1 illegal"),
            ("write x 5 -> 1 | read x -> 6", "5@1 illegal"),
            ("read x -> null | read x -> {\"value\":null,\"version\":0}", "null@0 null@0"),
            ("read x -> {\"version\":\"a\"}", "refused: a version is a number"),
            ("inc x", "refused: none of read"),
        ] {
            run(Session::new(), text, expect);
        }
    }
}
