//! A key-value store of strings, with `append`.

use super::{Atom, Atoms, Decision, Model, RegisterCall, Step, Timed, zones};
use crate::base::recipe;
use crate::history::{Effect, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// `get`, `put` and `append` (`read` and `write` are the same words as `get` and `put`) of strings, one per key.
///
/// Each key is an object of its own and holds the empty string until told otherwise. A completed `get` that answers
/// null saw the empty string. What `put` and `append` answer is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kv {
    start: String,
}

impl Kv {
    /// A store whose every key holds the empty string.
    pub fn new() -> Kv {
        Kv::default()
    }

    /// A store whose every key holds `text`.
    pub fn starting_at(text: impl Into<String>) -> Kv {
        Kv { start: text.into() }
    }
}

/// A string that is cheap to clone, compare and hash.
#[derive(Clone, Debug)]
pub struct Text {
    text: Arc<str>,
    hash: u64,
    /// The atom of it, where it was put or read as a whole.
    atom: Atom,
}

/// Factor of the polynomial hash of a text, any large odd number.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

impl Text {
    fn new(text: &str, atoms: &mut Atoms) -> Text {
        let atom = atoms.of(&Value::from(text));
        Text { hash: Text::hash_on(0, text), text: text.into(), atom }
    }

    /// The hash of a text that goes on with `more` after a part whose hash is `hash`.
    fn hash_on(hash: u64, more: &str) -> u64 {
        more.bytes().fold(hash, |hash, byte| hash.wrapping_mul(FACTOR).wrapping_add(u64::from(byte) + 1))
    }

    fn then(&self, more: &Text) -> Text {
        let mut text = String::with_capacity(self.text.len() + more.text.len());
        text.push_str(&self.text);
        text.push_str(&more.text);
        Text { text: text.into(), hash: Text::hash_on(self.hash, &more.text), atom: Atom::OTHER }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        self.hash == other.hash && (Arc::ptr_eq(&self.text, &other.text) || self.text == other.text)
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// An operation on a string.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KvCall {
    /// Reads; what it saw, if it says.
    Get(Option<Text>),
    /// Replaces.
    Put(Text),
    /// Puts more behind what is there.
    Append(Text),
}

fn text_of(value: &Value, what: &str, atoms: &mut Atoms) -> Result<Text, String> {
    match value {
        Value::String(text) => Ok(Text::new(text, atoms)),
        Value::Null => Ok(Text::new("", atoms)),
        other => Err(format!("{what} is a string, not {other}")),
    }
}

impl Model for Kv {
    type State = Text;
    type Call = KvCall;

    fn name(&self) -> &str {
        "kv"
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("kv", self)
    }

    fn start(&self, atoms: &mut Atoms) -> Text {
        Text::new(&self.start, atoms)
    }

    fn call(&self, op: &Op, atoms: &mut Atoms) -> Result<KvCall, String> {
        match op.op_type.as_str() {
            "get" | "read" if op.effect() == Effect::Acknowledged => {
                Ok(KvCall::Get(Some(text_of(&op.output, "the answer of a get", atoms)?)))
            }
            "get" | "read" => Ok(KvCall::Get(None)),
            "put" | "write" => Ok(KvCall::Put(text_of(&op.input, "what is put", atoms)?)),
            "append" => Ok(KvCall::Append(text_of(&op.input, "what is appended", atoms)?)),
            other => Err(format!("`{other}` is none of get, put, append")),
        }
    }

    fn step(&self, state: &Text, call: &KvCall) -> Step<Text> {
        match call {
            KvCall::Get(None) => Step::Unchanged,
            KvCall::Get(Some(seen)) if seen == state => Step::Unchanged,
            KvCall::Get(Some(_)) => Step::Illegal,
            KvCall::Put(text) if text == state => Step::Unchanged,
            KvCall::Put(text) => Step::To(text.clone()),
            KvCall::Append(more) if more.text.is_empty() => Step::Unchanged,
            KvCall::Append(more) => Step::To(state.then(more)),
        }
    }

    fn one_object_per_key(&self) -> bool {
        true
    }

    fn observes(&self, call: &KvCall) -> bool {
        matches!(call, KvCall::Get(Some(_)))
    }

    fn only_reads(&self, call: &KvCall) -> bool {
        matches!(call, KvCall::Get(_))
    }

    /// Without an `append`, a string is a register.
    fn decide(&self, start: &Text, calls: &[Timed<KvCall>]) -> Option<Decision> {
        let as_register = |call: &Timed<KvCall>| {
            let register = match &call.call {
                KvCall::Get(seen) => RegisterCall::Read(seen.as_ref().map(|text| text.atom)),
                KvCall::Put(text) => RegisterCall::Write(text.atom),
                KvCall::Append(_) => return None,
            };
            Some(Timed { call: register, invoke: call.invoke, complete: call.complete })
        };
        let calls: Option<Vec<Timed<RegisterCall>>> = calls.iter().map(as_register).collect();
        zones::decide(start.atom, &calls?)
    }

    fn show(&self, state: &Text, _: &Atoms) -> String {
        format!("{:?}", &*state.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::table::run;

    #[test]
    fn strings_are_replaced_and_appended_to() {
        for (text, expect) in [
            ("get x -> \"\" | append x \"a\" | append x \"b\" | get x -> \"ab\"", r#""" "a" "ab" "ab""#),
            ("put x \"q\" | append x \"\" | get x -> \"q\"", r#""q" "q" "q""#),
            ("append x \"a\" | put x \"b\" | get x -> \"ab\"", r#""a" "b" illegal"#),
            ("get x -> null", r#""""#),
            ("put x 1", "refused: a string, not 1"),
            ("cas x [1,2]", "refused: none of get, put, append"),
        ] {
            run(Kv::new(), text, expect);
        }
        run(Kv::starting_at("s"), "append x \"t\" | get x -> \"st\"", r#""st" "st""#);
    }

    #[test]
    fn texts_are_equal_by_content_however_they_were_put_together() {
        let mut atoms = Atoms::default();
        let mut text = |text| Text::new(text, &mut atoms);
        let (a, b, ab) = (text("a"), text("b"), text("ab"));
        assert_eq!(a.then(&b), ab);
        assert_ne!(b.then(&a), ab);
        assert_ne!(text(""), text("\0"));
    }
}
