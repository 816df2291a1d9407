//! A place inside a JSON value (JSON pointer, RFC 6901), read once.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A path of fields and indices; the empty one is the value itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pointer {
    text: String,
    steps: Vec<String>,
}

impl Pointer {
    /// `"/a/b"`; a pointer without a leading slash is the name of a field.
    pub(super) fn new(text: &str) -> Pointer {
        let path = text.strip_prefix('/').unwrap_or(text);
        let step = |step: &str| step.replace("~1", "/").replace("~0", "~");
        let steps = if text.is_empty() { Vec::new() } else { path.split('/').map(step).collect() };
        Pointer { text: text.to_owned(), steps }
    }

    /// What stands there.
    pub(super) fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.steps.iter().try_fold(value, |value, step| match value {
            Value::Object(fields) => fields.get(step),
            Value::Array(values) => values.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// As it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pointer_finds_fields_and_elements() {
        let value = json!({"a": [{"b/c": 7}], "x": null});
        let check = |pointer: &str, expect: Option<Value>| {
            assert_eq!(Pointer::new(pointer).of(&value).cloned(), expect, "{pointer}");
        };
        check("", Some(value.clone()));
        check("/a/0/b~1c", Some(json!(7)));
        check("x", Some(Value::Null));
        check("/a/1", None);
        check("/a/b", None);
    }
}
