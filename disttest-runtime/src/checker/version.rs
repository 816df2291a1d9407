//! The system's own versions: offsets, revisions, tags.

use super::pointer::Pointer;
use crate::history::Op;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// A version, ordered by its first number, then by its second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64, pub u64);

impl Version {
    /// A number, a list of one or two numbers (counter and tie-breaker), or a text that ends with digits behind letters
    /// or signs, such as `rev12`.
    pub fn of(value: &Value) -> Option<Version> {
        match value {
            Value::Number(number) => number.as_u64().map(|number| Version(number, 0)),
            Value::String(text) => {
                let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
                digits.parse().ok().map(|number| Version(number, 0))
            }
            Value::Array(list) => match list.as_slice() {
                [one] => Some(Version(one.as_u64()?, 0)),
                [one, two] => Some(Version(one.as_u64()?, two.as_u64()?)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            0 => write!(f, "{}", self.0),
            minor => write!(f, "{}.{minor}", self.0),
        }
    }
}

/// What finds the version of an operation.
type VersionOf = dyn Fn(&Op) -> Option<Version> + Send + Sync;

/// Where operations say their version.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Versions {
    At(Pointer),
    #[serde(skip)]
    By(Arc<VersionOf>),
}

impl Versions {
    pub(super) fn of(&self, op: &Op) -> Option<Version> {
        match self {
            Versions::At(pointer) => pointer.of(&op.output).and_then(Version::of),
            Versions::By(version) => version(op),
        }
    }

    /// What an operation lacks that has none.
    pub(super) fn lack(&self, op: &Op) -> String {
        let op_type = &op.op_type;
        match self {
            Versions::At(pointer) if pointer.text().is_empty() => format!("the output of a {op_type} is no version"),
            Versions::At(pointer) => {
                format!("the output of a {op_type} has no version at {:?}", pointer.text())
            }
            Versions::By(_) => format!("the version extractor finds no version in a {op_type}"),
        }
    }
}

impl fmt::Debug for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Versions::At(pointer) => write!(f, "at {:?}", pointer.text()),
            Versions::By(_) => f.write_str("by a function"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn versions_are_numbers_tags_and_revisions() {
        let check = |value: Value, expect: Option<(u64, u64)>| {
            assert_eq!(Version::of(&value).map(|v| (v.0, v.1)), expect, "{value}");
        };
        check(json!(7), Some((7, 0)));
        check(json!([7, 2]), Some((7, 2)));
        check(json!("rev12"), Some((12, 0)));
        check(json!("12"), Some((12, 0)));
        check(json!("OK"), None);
        check(json!("1-2"), None);
        check(json!(-1), None);
        check(json!(null), None);
    }
}
