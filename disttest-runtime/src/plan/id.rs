//! Ids of plan elements: a letter, a number, and for scenarios an optional arm (`C3`, `H1`, `M2`, `S5/api`).

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// More digits than this are no id.
pub(super) const DIGITS: usize = 7;

/// An id. `S01` and `S1` are one id; `C12b`, which stands between `C12` and `C13`, is one of its own. `Display` gives the canonical spelling, [`Id::written`] the author's.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Id {
    letter: char,
    number: u32,
    /// Of what was put in later, as `C12b` was. A scenario has none: the letter behind `S3a` is that of a threat (§7b).
    insert: Option<char>,
    arm: Option<String>,
    /// How many digits were written. Tells no ids apart.
    digits: usize,
}

impl Id {
    /// Reads `C3`, `S01`, `C12b`, `S5/api`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Id> {
        let (head, arm) = match text.split_once('/') {
            Some((head, arm)) => (head, Some(arm)),
            None => (text, None),
        };
        let mut chars = head.chars();
        let letter = chars.next().filter(char::is_ascii_uppercase)?;
        let digits = chars.as_str();
        let insert = digits.chars().next_back().filter(|c| letter != 'S' && c.is_ascii_lowercase());
        let digits = &digits[..digits.len() - usize::from(insert.is_some())];
        if digits.is_empty() || digits.len() > DIGITS || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let arm_ok =
            |arm: &str| !arm.is_empty() && arm.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
        if arm.is_some_and(|arm| letter != 'S' || !arm_ok(arm)) {
            return None;
        }
        Some(Id { letter, number: digits.parse().ok()?, insert, arm: arm.map(str::to_owned), digits: digits.len() })
    }

    /// The id of that letter and number, without an arm.
    pub(super) fn numbered(letter: char, number: u32) -> Id {
        Id { letter, number, insert: None, arm: None, digits: 0 }
    }

    /// The kind of element: `C` claim, `H` hypothesis, `M` missing claim, `S` scenario, `T` technique.
    pub fn letter(&self) -> char {
        self.letter
    }

    /// The number behind the letter, without what stands behind it.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// A number that tells ids of one letter apart, arms aside: those of plain ids that follow each other do so, too.
    pub(super) fn rank(&self) -> u32 {
        let insert = self.insert.map_or(0, |c| u32::from(c) - u32::from('a') + 1);
        self.number + insert * 10_u32.pow(DIGITS as u32)
    }

    /// True for `C12b`.
    pub(super) fn is_inserted(&self) -> bool {
        self.insert.is_some()
    }

    /// As its author spelt it, zeros in front included: for people. Programs and digests take the canonical spelling.
    pub fn written(&self) -> String {
        let arm = self.arm.as_ref().map(|arm| format!("/{arm}")).unwrap_or_default();
        let insert = self.insert.map(String::from).unwrap_or_default();
        format!("{}{:0digits$}{insert}{arm}", self.letter, self.number, digits = self.digits)
    }

    /// What tells ids apart.
    fn key(&self) -> (char, u32, Option<char>, Option<&str>) {
        (self.letter, self.number, self.insert, self.arm.as_deref())
    }

    /// The arm of a scenario, if this is one's id.
    pub fn arm(&self) -> Option<&str> {
        self.arm.as_deref()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.letter, self.number)?;
        self.insert.map_or(Ok(()), |insert| write!(f, "{insert}"))?;
        self.arm.as_ref().map_or(Ok(()), |arm| write!(f, "/{arm}"))
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Id) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Id {}

impl PartialOrd for Id {
    fn partial_cmp(&self, other: &Id) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Id {
    fn cmp(&self, other: &Id) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
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
        check("C012b", Some("C12b"));
        check("C12bc", None);
        check("C12B", None);
        check("S12b", None);
        check("Cb", None);
        check("C12345678", None);
        check("C5/api", None);
        check("c3", None);
        check("C", None);
        check("S5/", None);
    }

    #[test]
    fn the_authors_spelling_is_kept_and_tells_no_ids_apart() {
        let id = |text: &str| Id::parse(text).expect("an id");
        for text in ["S01", "S1", "S007/api", "C10", "C02b", "H0"] {
            assert_eq!(id(text).written(), text);
        }
        assert_eq!(id("S01"), id("S1"));
        assert_eq!(id("S01").cmp(&id("S1")), Ordering::Equal);
        assert!(id("S02") > id("S1") && id("S10") > id("S09"));
        assert!(std::collections::HashSet::from([id("S01")]).contains(&id("S1")));
        assert_eq!(String::from(id("S01/api")), "S1/api");
        assert!(id("C12") < id("C12b") && id("C12b") < id("C12c") && id("C12c") < id("C13"));
        let ranks = ["C12", "C13", "C12b", "C13b", "C12c"].map(|text| id(text).rank());
        assert_eq!(std::collections::BTreeSet::from(ranks).len(), ranks.len());
    }
}
