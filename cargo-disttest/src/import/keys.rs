//! Keys as texts.

use super::Problem;
use rustc_hash::FxHashMap;
use serde_json::Value;

/// Turns keys into texts and sees to it that no two keys become one.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// Of each text, whether it was written as one, and the line where it was first seen.
    seen: FxHashMap<String, (bool, usize)>,
}

impl Keys {
    /// The text of `key`; null has none.
    pub(super) fn text(&mut self, key: &Value, line: usize) -> Result<Option<String>, Problem> {
        let (text, is_text) = match key {
            Value::Null => return Ok(None),
            Value::String(text) => (text.clone(), true),
            Value::Number(_) => (key.to_string(), false),
            other => return Err(Problem::at(line, format!("a key is a text or a number, not {other}"))),
        };
        let (known, first) = *self.seen.entry(text.clone()).or_insert((is_text, line));
        if known != is_text {
            let problem = format!("the key {key} is a text in one place and a number in another (line {first})");
            return Err(Problem::at(line, problem));
        }
        Ok(Some(text))
    }
}
