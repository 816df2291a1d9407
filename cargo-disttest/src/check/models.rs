//! The models that `check` knows, and the checkers that fit each.
//!
//! Adding a model is one line of [`MODELS`].

use super::strings::Strings;
use disttest_runtime::base::nearest::nearest;
use disttest_runtime::checker::{Checker, Linearizability, NoLostAck};
use disttest_runtime::model::{Log, MapModel, Model, Register};
use serde_json::Value;

/// A model, by the name it has on the command line.
#[derive(Debug)]
pub(crate) struct Known {
    /// The name.
    pub name: &'static str,
    /// Its operations, and what it starts with.
    pub what: &'static str,
    /// `--init` means something to it.
    pub init: bool,
    /// Values `[key value]` of Jepsen's events may be taken apart.
    pub tuples: bool,
    /// The checkers that fit it; the first is used when none is named.
    pub checkers: &'static [(&'static str, Make)],
}

/// What a checker is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// `--init`.
    pub init: Option<&'a Value>,
    /// One object per key.
    pub by_key: bool,
}

/// Makes a checker; `Err` says why these settings do not fit.
pub(crate) type Make = fn(&Asked<'_>) -> Result<Box<dyn Checker>, String>;

const LIN: &str = "linearizability";
const ACK: &str = "no-lost-ack";

/// All of them.
pub(crate) const MODELS: &[Known] = &[
    known(
        "register",
        "read, write, cas [from, to]; starts as null",
        true,
        true,
        &[(LIN, |a| lin(a, register(a))), (ACK, overwritable)],
    ),
    known(
        "cas-register",
        "as register; a read that answers null says nothing",
        true,
        true,
        &[(LIN, |a| lin(a, register(a).ignoring_null_reads())), (ACK, overwritable)],
    ),
    known(
        "map",
        "get, put, delete, cas per key; every key starts as null",
        true,
        true,
        &[(LIN, |a| lin(a, MapModel::starting_at(init(a)))), (ACK, overwritable)],
    ),
    known(
        "kv",
        "get, put, append of strings per key; every key starts as \"\"",
        true,
        true,
        &[(LIN, |a| lin(a, strings(a)?))],
    ),
    known(
        "log",
        "append, read of entries that stay",
        false,
        true,
        &[(LIN, |a| lin(a, Log::new())), (ACK, append_only)],
    ),
];

const fn known(
    name: &'static str,
    what: &'static str,
    init: bool,
    tuples: bool,
    checkers: &'static [(&'static str, Make)],
) -> Known {
    Known { name, what, init, tuples, checkers }
}

/// The model of a name.
pub(crate) fn find(name: &str) -> Result<&'static Known, String> {
    if let Some(known) = MODELS.iter().find(|known| known.name == name) {
        return Ok(known);
    }
    let near = nearest(name, MODELS.iter().map(|known| known.name));
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let names: Vec<String> = MODELS.iter().map(|known| format!("{} ({})", known.name, known.what)).collect();
    Err(format!("there is no model `{name}`; {near}the models are {}", names.join("; ")))
}

fn init(asked: &Asked<'_>) -> Value {
    asked.init.cloned().unwrap_or_default()
}

fn register(asked: &Asked<'_>) -> Register {
    Register::starting_at(init(asked))
}

fn strings(asked: &Asked<'_>) -> Result<Strings, String> {
    match asked.init {
        None | Some(Value::Null) => Ok(Strings::new()),
        Some(Value::String(text)) => Ok(Strings::starting_at(text.clone())),
        Some(other) => Err(format!("a key of a `kv` starts as a string, not as {other}")),
    }
}

fn lin<M: Model + 'static>(asked: &Asked<'_>, model: M) -> Result<Box<dyn Checker>, String> {
    Ok(if asked.by_key { Box::new(Linearizability::per_key(model)) } else { Box::new(Linearizability::whole(model)) })
}

fn overwritable(_: &Asked<'_>) -> Result<Box<dyn Checker>, String> {
    Ok(Box::new(NoLostAck::overwritable()))
}

fn append_only(_: &Asked<'_>) -> Result<Box<dyn Checker>, String> {
    Ok(Box::new(NoLostAck::append_only()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_told_apart_and_every_model_has_a_checker() {
        let names: BTreeSet<&str> = MODELS.iter().map(|known| known.name).collect();
        assert_eq!(names.len(), MODELS.len());
        for known in MODELS {
            let (_, make) = known.checkers.first().expect(known.name);
            assert!(make(&Asked { init: None, by_key: true }).is_ok(), "{}", known.name);
        }
    }

    #[test]
    fn an_unknown_model_is_answered_with_those_that_are_known() {
        let said = find("cas-regster").expect_err("unknown");
        assert!(said.contains("did you mean `cas-register`?") && said.contains("kv (get, put"), "{said}");
        assert!(!find("blockchain").expect_err("unknown").contains("did you mean"));
    }
}
