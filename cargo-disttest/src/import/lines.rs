//! The lines of a text, one in memory at a time.

use super::Problem;
use std::io::{BufRead, Read};

/// Longest line, in bytes: what is longer is no history, or one that was written without line breaks.
const LONGEST: usize = 1 << 30;

/// Lines that hold something.
pub(super) struct Lines<R> {
    text: R,
    buffer: Vec<u8>,
    number: usize,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(text: R) -> Lines<R> {
        Lines { text, buffer: Vec::new(), number: 0 }
    }

    /// The next line that holds something, and its number.
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], usize)>, Problem> {
        loop {
            self.buffer.clear();
            self.number += 1;
            let mut limited = (&mut self.text).take(LONGEST as u64);
            let read = limited.read_until(b'\n', &mut self.buffer);
            match read.map_err(|error| Problem::at(self.number, format!("cannot be read: {error}")))? {
                0 => return Ok(None),
                LONGEST => return Err(Problem::at(self.number, "the line is longer than a gigabyte")),
                _ if self.buffer.iter().all(u8::is_ascii_whitespace) => {}
                _ => return Ok(Some((&self.buffer, self.number))),
            }
        }
    }
}
