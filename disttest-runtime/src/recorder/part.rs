//! The part file of one client: a line for each operation that ended, written as the run goes on.

use crate::base::time::Nanos;
use serde::Serialize;
use serde_json::Value;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// A killed process loses at most this much of a client, or this long.
const LARGEST_BUFFER: usize = 32 << 10;
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// The twelve names of an operation, in the order of the format, borrowed.
#[derive(Debug, Serialize)]
pub(super) struct Line<'a> {
    pub(super) op_id: u64,
    pub(super) process_id: u64,
    pub(super) invoke_ts: Nanos,
    pub(super) complete_ts: Option<Nanos>,
    pub(super) op_type: &'a str,
    pub(super) key: Option<&'a str>,
    pub(super) input: &'a Value,
    pub(super) output: &'a Value,
    pub(super) error: Option<&'a str>,
    pub(super) timeout_marker: bool,
    pub(super) node_seen: Option<&'a str>,
    pub(super) fault_epoch: Option<u64>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Part {
    file: File,
    buffer: Vec<u8>,
    flushed_at: Nanos,
    lines: u64,
    /// Once a write has failed, nothing after it may be written: a line could be torn.
    broken: Option<io::Error>,
}

impl Part {
    /// A new file; an error when it exists, since another run's operations may be in it.
    pub(super) fn create(path: &Path) -> io::Result<Part> {
        let file = File::options().write(true).create_new(true).open(path)?;
        Ok(Part { file, buffer: Vec::new(), flushed_at: Nanos(0), lines: 0, broken: None })
    }

    /// Lines taken so far.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// Takes a line.
    pub(super) fn push(&mut self, line: &Line<'_>, now: Nanos) {
        let start = self.buffer.len();
        match serde_json::to_writer(&mut self.buffer, line) {
            Ok(()) => {
                self.buffer.push(b'\n');
                self.lines += 1;
            }
            Err(error) => {
                self.buffer.truncate(start);
                self.broken = Some(error.into());
            }
        }
        self.flush_if_due(now);
    }

    /// Hands the buffer to the kernel when it is large or old.
    pub(super) fn flush_if_due(&mut self, now: Nanos) {
        let is_old = now.since(self.flushed_at) >= LONGEST_WAIT && !self.buffer.is_empty();
        if self.buffer.len() >= LARGEST_BUFFER || is_old {
            self.flushed_at = now;
            // Kept, and reported when the recorder finishes.
            drop(self.flush());
        }
    }

    /// Hands the buffer to the kernel. An earlier failure stands.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if let Some(error) = &self.broken {
            return Err(io::Error::new(error.kind(), error.to_string()));
        }
        let written = self.file.write_all(&self.buffer);
        self.buffer.clear();
        if let Err(error) = &written {
            self.broken = Some(io::Error::new(error.kind(), error.to_string()));
        }
        written
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        drop(self.flush());
    }
}
