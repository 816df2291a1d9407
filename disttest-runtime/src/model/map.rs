//! A map: a value per key.

use super::register::of_one_value;
use super::{Atom, Atoms, Model, RegisterCall};
use crate::base::recipe;
use crate::history::access::Touch;
use crate::history::{Effect, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `get`, `put`, `delete` (and `cas`) over keys (`read` and `write` are the same words). Keys hold null, that is
/// nothing, until told otherwise.
///
/// Each key is an object of its own: checked whole or per key, the answer is the same. What a `put` answers is not
/// looked at; a `delete` that answers `true` or `false` says whether there was a value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MapModel {
    start: Value,
}

impl MapModel {
    /// A map without entries.
    pub fn new() -> MapModel {
        MapModel::default()
    }

    /// A map whose every key holds `value`, such as the empty string.
    pub fn starting_at(value: impl Into<Value>) -> MapModel {
        MapModel { start: value.into() }
    }
}

impl Model for MapModel {
    of_one_value!();

    fn name(&self) -> &str {
        "map"
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("map", self)
    }

    fn start(&self, atoms: &mut Atoms) -> Atom {
        atoms.of(&self.start)
    }

    fn call(&self, op: &Op, atoms: &mut Atoms) -> Result<RegisterCall, String> {
        match Touch::of(op)? {
            Touch::Cas { done: None, .. } if op.effect() == Effect::Acknowledged => {
                Err("a completed cas answers true or false".to_owned())
            }
            touch => Ok(RegisterCall::of(touch, atoms)),
        }
    }

    fn one_object_per_key(&self) -> bool {
        true
    }
}
