//! Values of transactional histories as 64-bit atoms: integers are themselves, everything else is a number of a text.

use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A key or a value, as a history spells it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// An integer.
    Int(i64),
    /// Anything else, as one JSON text: `"x"` (with its quotes), `true`, `1.5`.
    Json(String),
}

impl Value {
    /// A string value.
    pub fn text(text: &str) -> Value {
        Value::Json(serde_json::Value::from(text).to_string())
    }

    /// The value of a JSON value; `None` for null.
    pub fn of(value: &serde_json::Value) -> Option<Value> {
        match value {
            serde_json::Value::Null => None,
            serde_json::Value::Number(number) => {
                Some(number.as_i64().map_or_else(|| Value::Json(number.to_string()), Value::Int))
            }
            other => Some(Value::Json(other.to_string())),
        }
    }
}

/// Atoms below this are texts: integers that small are kept as texts too.
const TEXTS_END: i64 = i64::MIN + (1 << 32);

/// The texts behind atoms.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    texts: Vec<Box<str>>,
    index: FxHashMap<Box<str>, u32>,
}

impl Texts {
    /// The atom of `value`.
    pub(super) fn atom(&mut self, value: &Value) -> i64 {
        match value {
            Value::Int(number) if *number >= TEXTS_END => *number,
            Value::Int(number) => self.text(&number.to_string()),
            Value::Json(text) => integer(text.as_bytes()).unwrap_or_else(|| self.text(text)),
        }
    }

    /// The atom of a JSON token without blanks around it; `None` when it is no JSON value, or null.
    pub(super) fn token(&mut self, token: &[u8]) -> Option<i64> {
        if let Some(number) = integer(token) {
            return Some(number);
        }
        let value: serde_json::Value = serde_json::from_slice(token).ok()?;
        Some(self.atom(&Value::of(&value)?))
    }

    fn text(&mut self, text: &str) -> i64 {
        if let Some(&number) = self.index.get(text) {
            return i64::MIN + i64::from(number);
        }
        // A history with 2^32 different texts does not fit in memory.
        let number = self.texts.len() as u32;
        self.texts.push(text.into());
        self.index.insert(text.into(), number);
        i64::MIN + i64::from(number)
    }

    /// The JSON text of an atom.
    pub(super) fn show(&self, atom: i64) -> Cow<'_, str> {
        if atom >= TEXTS_END {
            return Cow::Owned(atom.to_string());
        }
        let number = atom.wrapping_sub(i64::MIN) as usize;
        Cow::Borrowed(self.texts.get(number).map_or("?", |text| text))
    }

    /// The integer of an atom, if it is one.
    pub(super) fn number(&self, atom: i64) -> Option<i64> {
        if atom >= TEXTS_END { Some(atom) } else { self.show(atom).parse().ok() }
    }
}

/// The integer that `token` spells canonically (no sign but a minus, no leading zeros), if it is one of up to 18 digits.
pub(super) fn integer(token: &[u8]) -> Option<i64> {
    let (negative, digits) = match token {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let leading_zero = digits.len() > 1 && digits[0] == b'0';
    if digits.is_empty() || digits.len() > 18 || leading_zero || (negative && digits == b"0") {
        return None;
    }
    let mut number = 0_i64;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + i64::from(digit);
    }
    Some(if negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_only_in_their_canonical_spelling() {
        let check = |token: &str, expect: Option<i64>| assert_eq!(integer(token.as_bytes()), expect, "{token}");
        check("0", Some(0));
        check("-17", Some(-17));
        check("007", None);
        check("-0", None);
        check("+1", None);
        check("1.0", None);
        check("", None);
        check("9999999999999999999", None);
    }

    #[test]
    fn an_atom_shows_the_value_it_was_made_of_and_equal_values_are_one_atom() {
        let mut texts = Texts::default();
        for token in ["5", "-5", "\"x\"", "true", "1.5", "9223372036854775807", "-9223372036854775808", "[1,2]"] {
            let atom = texts.token(token.as_bytes()).expect("a value");
            assert_eq!(texts.show(atom), token);
            assert_eq!(texts.token(token.as_bytes()), Some(atom), "{token}");
        }
        assert_eq!(texts.token(b"\"\\u0078\""), texts.token(b"\"x\""));
        assert_eq!(texts.token(b"null"), None);
        assert_eq!(texts.token(b"x"), None);
        assert_eq!(texts.atom(&Value::text("x")), texts.token(b"\"x\"").expect("a value"));
    }
}
