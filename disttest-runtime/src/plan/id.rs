//! Ids of plan elements: a letter, a number, and for scenarios an optional arm (`C3`, `H1`, `M2`, `S5/api`).

use serde::{Deserialize, Serialize};
use std::fmt;

/// An id. `S01` and `S1` are one id; `Display` gives the canonical spelling.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Id {
    letter: char,
    number: u32,
    arm: Option<String>,
}

impl Id {
    /// Reads `C3`, `S01`, `S5/api`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Id> {
        let (head, arm) = match text.split_once('/') {
            Some((head, arm)) => (head, Some(arm)),
            None => (text, None),
        };
        let mut chars = head.chars();
        let letter = chars.next().filter(char::is_ascii_uppercase)?;
        let digits = chars.as_str();
        if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let arm_ok =
            |arm: &str| !arm.is_empty() && arm.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
        if arm.is_some_and(|arm| letter != 'S' || !arm_ok(arm)) {
            return None;
        }
        Some(Id { letter, number: digits.parse().ok()?, arm: arm.map(str::to_owned) })
    }

    /// The id of that letter and number, without an arm.
    pub(super) fn numbered(letter: char, number: u32) -> Id {
        Id { letter, number, arm: None }
    }

    /// The kind of element: `C` claim, `H` hypothesis, `M` missing claim, `S` scenario, `T` technique.
    pub fn letter(&self) -> char {
        self.letter
    }

    /// The number behind the letter.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The arm of a scenario, if this is one's id.
    pub fn arm(&self) -> Option<&str> {
        self.arm.as_deref()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.letter, self.number)?;
        self.arm.as_ref().map_or(Ok(()), |arm| write!(f, "/{arm}"))
    }
}

impl From<Id> for String {
    fn from(id: Id) -> String {
        id.to_string()
    }
}

impl TryFrom<String> for Id {
    type Error = String;

    fn try_from(text: String) -> Result<Id, String> {
        Id::parse(&text).ok_or_else(|| format!("`{text}` is not an id such as C3, H1 or S5/api"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_one_canonical_spelling() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(Id::parse(text).map(|id| id.to_string()).as_deref(), expect, "{text}")
        };
        check("C3", Some("C3"));
        check("S01", Some("S1"));
        check("S5/api", Some("S5/api"));
        check("C5/api", None);
        check("c3", None);
        check("C", None);
        check("S5/", None);
    }
}
