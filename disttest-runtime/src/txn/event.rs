//! Events of transactional histories, as any reader can make them.

use super::Value;

/// An event: a process invokes a transaction, or what became of it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Event<'a> {
    /// Its index, as the history gives it; indices rise. Without one it is named by its position.
    pub index: Option<u64>,
    /// The process.
    pub process: i64,
    /// What happened.
    pub kind: EventKind,
    /// The micro-operations.
    pub mops: &'a [EventMop],
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The transaction begins.
    Invoke,
    /// It committed.
    Ok,
    /// It is known not to have happened.
    Fail,
    /// Nobody knows what became of it.
    Info,
}

/// A micro-operation in an event.
#[derive(Clone, Debug, PartialEq)]
pub enum EventMop {
    /// Appends the value to the list at the key.
    Append(Value, Value),
    /// Sets the key to the value.
    Write(Value, Value),
    /// Reads the key.
    Read(Value, Answer),
}

/// What a read in an event shows. Only reads of events that are [`EventKind::Ok`] say anything.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Null: in a committed transaction the initial state.
    Nil,
    /// A list.
    List(Vec<Value>),
    /// One value.
    Value(Value),
}
