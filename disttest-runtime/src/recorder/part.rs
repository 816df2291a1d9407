//! The part file of one client: a line for each operation that ended, written as the run goes on.

use crate::base::time::Nanos;
use serde_json::Value;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// A killed process loses at most this much of a client, or this long.
const LARGEST_BUFFER: usize = 32 << 10;
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// The twelve names of an operation, borrowed.
#[derive(Debug)]
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

impl Line<'_> {
    /// Appends the line to `out`, to the byte as [`crate::history::Op`] is serialised: the names are constants, which a
    /// general serialiser would look through for characters to escape, twelve times an operation.
    fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        number(out, br#"{"op_id":"#, Some(self.op_id));
        number(out, br#","process_id":"#, Some(self.process_id));
        number(out, br#","invoke_ts":"#, Some(self.invoke_ts.0));
        number(out, br#","complete_ts":"#, self.complete_ts.map(|at| at.0));
        text(out, br#","op_type":"#, Some(self.op_type))?;
        text(out, br#","key":"#, self.key)?;
        value(out, br#","input":"#, self.input)?;
        value(out, br#","output":"#, self.output)?;
        text(out, br#","error":"#, self.error)?;
        out.extend_from_slice(if self.timeout_marker {
            br#","timeout_marker":true"#
        } else {
            br#","timeout_marker":false"#
        });
        text(out, br#","node_seen":"#, self.node_seen)?;
        number(out, br#","fault_epoch":"#, self.fault_epoch);
        out.extend_from_slice(b"}\n");
        Ok(())
    }
}

fn number(out: &mut Vec<u8>, name: &[u8], number: Option<u64>) {
    out.extend_from_slice(name);
    let Some(mut rest) = number else { return out.extend_from_slice(b"null") };
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            return out.extend_from_slice(&digits[at..]);
        }
    }
}

fn text(out: &mut Vec<u8>, name: &[u8], text: Option<&str>) -> serde_json::Result<()> {
    out.extend_from_slice(name);
    serde_json::to_writer(out, &text)
}

fn value(out: &mut Vec<u8>, name: &[u8], value: &Value) -> serde_json::Result<()> {
    out.extend_from_slice(name);
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        value => serde_json::to_writer(out, value)?,
    }
    Ok(())
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
        match line.write(&mut self.buffer) {
            Ok(()) => self.lines += 1,
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
