//! Strings by key: what is put is read, what is appended is behind it.

use disttest_runtime::history::{Effect, Op};
use disttest_runtime::model::{Atoms, Model, Step};
use serde_json::Value;
use std::sync::Arc;

/// `get`, `put` and `append` of strings over keys (`read` and `write` are the same words as `get` and `put`). Every key
/// holds the empty string until told otherwise.
///
/// Each key is an object of its own: checked whole or per key, the answer is the same. What a `put` or an `append`
/// answers is not looked at. A completed `get` that answers null saw that nothing was there, which is the empty string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Strings {
    start: Arc<str>,
}

impl Strings {
    /// Keys that hold the empty string.
    pub(super) fn new() -> Strings {
        Strings::default()
    }

    /// Keys that hold `text`.
    pub(super) fn starting_at(text: impl Into<Arc<str>>) -> Strings {
        Strings { start: text.into() }
    }
}

/// An operation on a string.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum StringCall {
    /// Reads; what it saw, if it says.
    Get(Option<Arc<str>>),
    /// Writes.
    Put(Arc<str>),
    /// Writes behind what is there.
    Append(Arc<str>),
}

impl Model for Strings {
    type State = Arc<str>;
    type Call = StringCall;

    fn name(&self) -> &str {
        "kv"
    }

    fn start(&self, _: &mut Atoms) -> Arc<str> {
        self.start.clone()
    }

    fn call(&self, op: &Op, _: &mut Atoms) -> Result<StringCall, String> {
        match (op.op_type.as_str(), op.effect() == Effect::Acknowledged) {
            ("get" | "read", false) => Ok(StringCall::Get(None)),
            ("get" | "read", true) => match &op.output {
                Value::Null => Ok(StringCall::Get(Some("".into()))),
                seen => text(seen).map(|seen| StringCall::Get(Some(seen))),
            },
            ("put" | "write", _) => text(&op.input).map(StringCall::Put),
            ("append", _) => text(&op.input).map(StringCall::Append),
            (other, _) => Err(format!("`{other}` is none of get/read, put/write, append")),
        }
    }

    fn step(&self, state: &Arc<str>, call: &StringCall) -> Step<Arc<str>> {
        match call {
            StringCall::Get(None) => Step::Unchanged,
            StringCall::Get(Some(seen)) if seen == state => Step::Unchanged,
            StringCall::Get(Some(_)) => Step::Illegal,
            StringCall::Put(text) if text == state => Step::Unchanged,
            StringCall::Put(text) => Step::To(text.clone()),
            StringCall::Append(more) if more.is_empty() => Step::Unchanged,
            StringCall::Append(more) => Step::To([&**state, more].concat().into()),
        }
    }

    fn one_object_per_key(&self) -> bool {
        true
    }

    fn observes(&self, call: &StringCall) -> bool {
        matches!(call, StringCall::Get(Some(_)))
    }

    fn only_reads(&self, call: &StringCall) -> bool {
        match call {
            StringCall::Get(_) => true,
            StringCall::Put(_) => false,
            StringCall::Append(more) => more.is_empty(),
        }
    }

    fn show(&self, state: &Arc<str>, _: &Atoms) -> String {
        Value::from(&**state).to_string()
    }
}

fn text(value: &Value) -> Result<Arc<str>, String> {
    value.as_str().map(Arc::from).ok_or_else(|| format!("a key holds a string, not {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use disttest_runtime::checker::{Checker, Linearizability, Outcome, Unlimited};
    use disttest_runtime::history::notation::history;

    #[test]
    fn histories_of_strings() {
        let check = |text: &str, expect: &str| {
            let outcome =
                Linearizability::whole(Strings::new()).check(&history(text).expect("valid"), &Unlimited).outcome;
            let got = match outcome {
                Outcome::Valid => "valid".to_owned(),
                Outcome::Invalid { .. } => "invalid".to_owned(),
                Outcome::Unknown { why } => format!("unknown: {why}"),
            };
            assert!(
                got.starts_with("unknown") == expect.starts_with("unknown")
                    && got.contains(expect.trim_start_matches("unknown: ")),
                "{text}: {got}"
            );
        };
        check("c1 get x -> \"\" [0..1]", "valid");
        check("c1 get x -> null [0..1]", "valid");
        check("c1 put x \"a\" [0..1]\nc2 append x \"b\" [2..3]\nc1 get x -> \"ab\" [4..5]", "valid");
        check("c1 put x \"a\" [0..1]\nc2 append x \"b\" [2..3]\nc1 get x -> \"ba\" [4..5]", "invalid");
        check("c1 put x \"a\" [0..1]\nc2 append y \"b\" [2..3]\nc1 get x -> \"a\" [4..5]", "valid");
        check("c1 put x \"a\" [0..1]\nc1 get x -> null [4..5]", "invalid");
        check("c1 append x \"a\" [0..]\nc1 get x -> \"a\" [4..5]", "valid");
        check("c1 append x \"a\" !refused [0..1]\nc1 get x -> \"a\" [4..5]", "invalid");
        check("c1 put x \"a\" [0..1]", "unknown: no completed operation observes");
        check("c1 put x 1 [0..1]", "unknown: a key holds a string, not 1");
        check("c1 cas x [1,2] [0..1]", "unknown: `cas` is none of");
        check("", "unknown: empty");
    }
}
