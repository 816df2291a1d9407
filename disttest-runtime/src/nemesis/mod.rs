//! L4: nemeses: what they do to a system, what shows that they did it, and how it is undone on every exit path.

mod journal;
mod process;
pub mod procfs;
mod sys;

pub use journal::{Act, JOURNAL_FILE, Journal, journaled_injections, read_journal, undo_journal};
pub use process::{Exit, Launcher, Process};
