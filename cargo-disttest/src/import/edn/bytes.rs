//! Bytes of a text one after the other, and where each stands.

use std::io::{self, Read};

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;
/// Bytes that are kept before the chunk, so that a message can show the line.
const KEPT: usize = 256;

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// From 1, in bytes.
    pub column: usize,
}

/// The bytes of a text of any length, in constant memory.
#[derive(Debug)]
pub(super) struct Bytes<R> {
    inner: R,
    buffer: Vec<u8>,
    at: usize,
    /// Bytes of the text before `buffer`.
    before: usize,
    line: usize,
    /// Where the line begins in the text.
    line_start: usize,
    ended: bool,
}

impl<R: Read> Bytes<R> {
    pub(super) fn new(inner: R) -> Bytes<R> {
        Bytes { inner, buffer: Vec::new(), at: 0, before: 0, line: 1, line_start: 0, ended: false }
    }

    /// The next byte, which stays.
    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.at == self.buffer.len() {
            self.fill()?;
        }
        Ok(self.buffer.get(self.at).copied())
    }

    /// The byte after the next one; both stay.
    pub(super) fn peek_second(&mut self) -> io::Result<Option<u8>> {
        if self.peek()?.is_some() && self.at + 1 == self.buffer.len() {
            self.fill()?;
        }
        Ok(self.buffer.get(self.at + 1).copied())
    }

    /// The next byte, which is taken.
    pub(super) fn next(&mut self) -> io::Result<Option<u8>> {
        let byte = self.peek()?;
        if let Some(byte) = byte {
            self.at += 1;
            if byte == b'\n' {
                self.line += 1;
                self.line_start = self.before + self.at;
            }
        }
        Ok(byte)
    }

    /// Takes bytes as long as `goes_on`, none of them a line break, and puts them behind `into`.
    pub(super) fn take_while(&mut self, goes_on: impl Fn(u8) -> bool, into: &mut Vec<u8>) -> io::Result<()> {
        while self.peek()?.is_some() {
            let rest = &self.buffer[self.at..];
            let end = rest.iter().position(|byte| *byte == b'\n' || !goes_on(*byte));
            let taken = end.unwrap_or(rest.len());
            into.extend_from_slice(&rest[..taken]);
            self.at += taken;
            if end.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Where the next byte stands.
    pub(super) fn place(&self) -> Place {
        Place { line: self.line, column: self.before + self.at - self.line_start + 1 }
    }

    /// What is at hand of the line of the next byte, and the column of its first byte.
    pub(super) fn line_text(&mut self) -> (String, usize) {
        let from = self.line_start.saturating_sub(self.before).min(self.at);
        let rest = &self.buffer[from..];
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let column = (self.before + from).saturating_sub(self.line_start) + 1;
        (String::from_utf8_lossy(&rest[..end]).into_owned(), column)
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.ended {
            return Ok(());
        }
        let gone = self.at.saturating_sub(KEPT);
        self.buffer.drain(..gone);
        self.before += gone;
        self.at -= gone;
        let had = self.buffer.len();
        self.buffer.resize(had + CHUNK, 0);
        let read = loop {
            match self.inner.read(&mut self.buffer[had..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(had + read.as_ref().map_or(0, |read| *read));
        self.ended = matches!(read, Ok(0));
        read.map(drop)
    }
}
