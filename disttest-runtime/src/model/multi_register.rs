//! Registers that are read and written together, atomically.

use super::{Atom, Atoms, Model, Step};
use crate::base::recipe;
use crate::history::{Effect, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// `txn` of micro-operations `[["read"|"write", key, value], …]` (`"r"` and `"w"` for short), all of which take effect
/// at once, in order.
///
/// What a read saw stands in the output, or in the input where the output repeats none; null says nothing. Registers
/// hold null until told otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MultiRegister {
    start: Value,
}

impl MultiRegister {
    /// Registers that hold null.
    pub fn new() -> MultiRegister {
        MultiRegister::default()
    }

    /// Registers that hold what an object says of them, and null where it says nothing; or, when it is no object, all
    /// this value.
    pub fn starting_at(start: impl Into<Value>) -> MultiRegister {
        MultiRegister { start: start.into() }
    }
}

/// A read or a write within a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Micro {
    write: bool,
    key: Atom,
    value: Atom,
}

/// A transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MultiCall(Box<[Micro]>);

/// Values of registers by key, where they differ from what the others hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MultiState {
    values: Arc<[(Atom, Atom)]>,
    others: Atom,
}

fn get(values: &[(Atom, Atom)], others: Atom, key: Atom) -> Atom {
    values.binary_search_by_key(&key, |(key, _)| *key).map_or(others, |at| values[at].1)
}

fn micro(part: &Value, answered: Option<&Value>, atoms: &mut Atoms) -> Result<Option<Micro>, String> {
    let refuse = || format!("a micro-operation is [\"read\"|\"write\", key, value], not {part}");
    let ([kind, key] | [kind, key, _]) = part.as_array().map(Vec::as_slice).ok_or_else(refuse)? else {
        return Err(refuse());
    };
    let write = match kind.as_str() {
        Some("read" | "r") => false,
        Some("write" | "w") => true,
        _ => return Err(refuse()),
    };
    if let Some(other) = answered
        && (other.get(0) != Some(kind) || other.get(1) != Some(key))
    {
        return Err(format!("the answer {other} is of another micro-operation than {part}"));
    }
    let asked = part.get(2).unwrap_or(&Value::Null);
    let value = answered.and_then(|other| other.get(2)).filter(|value| !write && !value.is_null()).unwrap_or(asked);
    // A read that tells nothing changes nothing.
    Ok((write || !value.is_null()).then(|| Micro { write, key: atoms.of(key), value: atoms.of(value) }))
}

impl Model for MultiRegister {
    type State = MultiState;
    type Call = MultiCall;

    fn name(&self) -> &str {
        "multi-register"
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("multi-register", self)
    }

    fn start(&self, atoms: &mut Atoms) -> MultiState {
        let Value::Object(fields) = &self.start else {
            return MultiState { values: Arc::new([]), others: atoms.of(&self.start) };
        };
        let mut values: Vec<(Atom, Atom)> =
            fields.iter().map(|(key, value)| (atoms.of(&Value::from(key.as_str())), atoms.of(value))).collect();
        values.retain(|(_, value)| *value != Atom::NULL);
        values.sort_unstable();
        MultiState { values: values.into(), others: Atom::NULL }
    }

    fn call(&self, op: &Op, atoms: &mut Atoms) -> Result<MultiCall, String> {
        if op.op_type != "txn" {
            return Err(format!("`{}` is not txn", op.op_type));
        }
        let parts = op.input.as_array().ok_or_else(|| format!("a txn is a list, not {}", op.input))?;
        let answered = op.output.as_array().filter(|_| op.effect() == Effect::Acknowledged);
        if answered.is_some_and(|answered| answered.len() != parts.len()) {
            return Err("the answer of a txn has as many micro-operations as its input".to_owned());
        }
        let known = op.effect() == Effect::Acknowledged;
        let mut micros = Vec::with_capacity(parts.len());
        for (at, part) in parts.iter().enumerate() {
            let micro = micro(part, answered.map(|answered| &answered[at]), atoms)?;
            micros.extend(micro.filter(|micro| micro.write || known));
        }
        Ok(MultiCall(micros.into()))
    }

    fn step(&self, state: &MultiState, call: &MultiCall) -> Step<MultiState> {
        let mut changed: Option<Vec<(Atom, Atom)>> = None;
        for micro in &call.0 {
            let values: &[(Atom, Atom)] = changed.as_deref().unwrap_or(&state.values);
            let same = get(values, state.others, micro.key) == micro.value;
            if same {
                continue;
            }
            if !micro.write {
                return Step::Illegal;
            }
            let values = changed.get_or_insert_with(|| state.values.to_vec());
            match (values.binary_search_by_key(&micro.key, |(key, _)| *key), micro.value == state.others) {
                (Ok(at), false) => values[at].1 = micro.value,
                (Ok(at), true) => drop(values.remove(at)),
                (Err(at), _) => values.insert(at, (micro.key, micro.value)),
            }
        }
        match changed {
            Some(values) if *values != *state.values => {
                Step::To(MultiState { values: values.into(), others: state.others })
            }
            _ => Step::Unchanged,
        }
    }

    fn observes(&self, call: &MultiCall) -> bool {
        call.0.iter().any(|micro| !micro.write)
    }

    fn only_reads(&self, call: &MultiCall) -> bool {
        call.0.iter().all(|micro| !micro.write)
    }

    /// Transactions of one register each do not depend on those of others.
    fn part(&self, call: &MultiCall) -> Option<Atom> {
        let first = call.0.first()?.key;
        call.0.iter().all(|micro| micro.key == first).then_some(first)
    }

    fn show(&self, state: &MultiState, atoms: &Atoms) -> String {
        let each = state.values.iter().map(|(key, value)| format!("{}:{}", atoms.value(*key), atoms.value(*value)));
        format!("{{{}}}", each.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::table::run;
    use serde_json::json;

    #[test]
    fn transactions_take_effect_as_a_whole() {
        for (text, expect) in [
            (
                r#"txn - [["write","x",1],["write","y",2]] | txn - [["read","y",2],["read","x",1]]"#,
                r#"{"x":1,"y":2} {"x":1,"y":2}"#,
            ),
            (r#"txn - [["w","x",1],["r","x",null]] -> [["w","x",1],["r","x",1]]"#, r#"{"x":1}"#),
            (r#"txn - [["w","x",1],["r","x",null]] -> [["w","x",1],["r","x",2]]"#, "illegal"),
            (
                r#"txn - [["w","x",1]] | txn - [["r","x",null],["w","x",3]] | txn - [["r","x",1]]"#,
                r#"{"x":1} {"x":3} illegal"#,
            ),
            (r#"txn - [["w","x",1]] | txn - [["w","x",null]]"#, r#"{"x":1} {}"#),
            (r#"txn - [["r","x",1]]"#, "illegal"),
            (r#"txn - [["cas","x",1]]"#, "refused: a micro-operation is"),
            (r#"txn - [["r","x",null]] -> [["r","y",1]]"#, "refused: another micro-operation"),
            (r#"txn - [["r","x",null]] -> []"#, "refused: as many"),
            (r#"txn - 1"#, "refused: a list"),
            (r#"read x"#, "refused: is not txn"),
        ] {
            run(MultiRegister::new(), text, expect);
        }
        run(
            MultiRegister::starting_at(json!({"x": 5, "y": null})),
            r#"txn - [["r","x",5],["w","y",1]]"#,
            r#"{"x":5,"y":1}"#,
        );
        run(MultiRegister::starting_at(0), r#"txn - [["r","x",0],["w","y",1]] | txn - [["w","y",0]]"#, r#"{"y":1} {}"#);
    }
}
