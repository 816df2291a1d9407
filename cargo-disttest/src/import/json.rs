//! JSON that says each thing once.

use super::Problem;
use serde::de::{DeserializeOwned, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::fmt;

/// A JSON value in which no object has a name twice: which of the two was meant, nobody knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Strict(pub(super) Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Strict, D::Error> {
        deserializer.deserialize_any(Once).map(Strict)
    }
}

struct Once;

impl<'de> Visitor<'de> for Once {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        // Whole numbers beyond 64 bits arrive here, rounded: two of them could become one.
        if value.abs() >= 9e15 {
            return Err(E::custom("a number this large cannot be told from its neighbours: write it as a text"));
        }
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some((name, Strict(value))) = fields.next_entry::<String, Strict>()? {
            if all.contains_key(&name) {
                return Err(A::Error::custom(format_args!("`{name}` stands twice in an object")));
            }
            all.insert(name, value);
        }
        Ok(Value::Object(all))
    }
}

/// A field that knows whether its name was there.
#[derive(Debug)]
pub(super) struct Field<T> {
    pub(super) value: Option<T>,
    pub(super) present: bool,
}

impl<T> Default for Field<T> {
    fn default() -> Field<T> {
        Field { value: None, present: false }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Field<T>, D::Error> {
        Ok(Field { value: Option::deserialize(deserializer)?, present: true })
    }
}

/// What the line says; a line that ends early is told as that.
pub(super) fn line<T: DeserializeOwned>(text: &[u8], number: usize) -> Result<T, Problem> {
    serde_json::from_slice(text).map_err(|error| {
        let cut =
            error.is_eof() || (error.is_syntax() && !text.ends_with(b"\n") && !text.trim_ascii_end().ends_with(b"}"));
        let what = if cut { "the line is cut off" } else { "the line cannot be read" };
        // The line number in the message is that of a text of one line.
        let said = error.to_string();
        let said = said.split(" at line ").next().unwrap_or_default();
        let column = Some(error.column().max(1));
        // The elements of an array may stand on several lines.
        let below = error.line().saturating_sub(1);
        let shown = text.split(|byte| *byte == b'\n').nth(below).unwrap_or(text);
        Problem { column, ..Problem::at(number + below, format!("{what}: {said}")) }.showing(shown)
    })
}
