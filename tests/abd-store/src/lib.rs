//! Example system under test: a replicated key-value store of atomic registers, and of counters.
//!
//! Three to five servers keep every key. Any of them coordinates an operation in the multi-writer form of the
//! algorithm of Attiya, Bar-Noy and Dolev ("Sharing Memory Robustly in Message-Passing Systems", JACM 42(1), 1995;
//! several writers as in Lynch and Shvartsman, FTCS 1997): a write asks a majority for the highest [`Tag`] and stores
//! the value under a higher one at a majority; a read asks a majority and, unless they agree, stores what it is about
//! to return at a majority first. There is no leader and no clock in it: a majority that can talk makes progress, and
//! a minority can neither acknowledge nor answer. Beside the registers there are counters: an increment takes effect
//! exactly once however often it is tried under its idempotency key, through whatever node ([`counting`]).
//!
//! ```text
//!  client ──Get/Put──▶ server (coordinator) ──Query/Store──▶ replica of each node ──▶ log, fdatasync ──▶ map
//!           Incr/Sum                           Collect/Add
//! ```
//!
//! | file | holds |
//! |---|---|
//! | [`tag`] | order of versions |
//! | [`counting`] | sets of increments, and why they need no consensus |
//! | [`wire`] | messages, to the byte |
//! | [`frames`] | frames of a connection |
//! | [`log`] | the append-only file: batches with a checksum, recovery, the group commit |
//! | [`replica`] | one node's copy: what a query sees is durable |
//! | [`link`] | connection to a peer: reconnects, resends, counts timeouts |
//! | [`coordinator`] | the phases of reads, writes and increments |
//! | [`server`] | listener, signals, life of a node |
//! | [`options`] | command line and the named defects of `--bug` |
//! | [`stats`] | counters a client can ask for |
//! | [`client`] | the client library |

pub mod client;
pub mod coordinator;
pub mod counting;
pub mod frames;
pub mod link;
pub mod log;
pub mod options;
pub mod replica;
pub mod server;
pub mod stats;
pub mod tag;
pub mod wire;

pub use options::{Bug, Options};
pub use tag::{Tag, Version};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. No code here panics while it holds a lock, so the poison flag carries no news.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes one line to stderr, where the log of a node goes. A log that cannot be written is not worth a crash.
fn say(node: &str, text: std::fmt::Arguments<'_>) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr().lock(), "abd-node {node}: {text}");
}
