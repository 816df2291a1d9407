//! An event.

use serde_json::Value;

/// What happened to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::import) enum Kind {
    /// It began.
    Invoke,
    /// It took effect.
    Ok,
    /// It did not, and never will.
    Fail,
    /// Nobody knows.
    Info,
}

impl Kind {
    /// By the word of the file.
    pub(super) fn parse(word: &str) -> Option<Kind> {
        match word {
            "invoke" => Some(Kind::Invoke),
            "ok" => Some(Kind::Ok),
            "fail" => Some(Kind::Fail),
            "info" => Some(Kind::Info),
            _ => None,
        }
    }

    /// The word of the file.
    pub(super) fn word(self) -> &'static str {
        match self {
            Kind::Invoke => "invoke",
            Kind::Ok => "ok",
            Kind::Fail => "fail",
            Kind::Info => "info",
        }
    }
}

/// An event as written, in the words of JSON.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::import) struct Event {
    /// What happened.
    pub kind: Kind,
    /// The client; `None` for what is no client.
    pub process: Option<u64>,
    /// It does not say which client: all such events are of one.
    pub unnamed: bool,
    /// What it does; a transaction when nothing is said.
    pub f: Option<String>,
    /// Argument or answer.
    pub value: Value,
    /// Number of the event.
    pub index: Option<u64>,
    /// Nanoseconds.
    pub time: Option<u64>,
    /// What went wrong.
    pub error: Option<String>,
    /// Where it stands.
    pub line: usize,
}
