//! POSIX shells and bash: `#`, quotes, `$( )` inside of quotes, arithmetic, here-documents, lines joined by a backslash.

use super::{Cursor, Lines, Scan};

pub(super) fn scan(text: &str) -> Result<Scan, usize> {
    let mut scanner = Scanner { cursor: Cursor::new(text), open: Vec::new(), documents: Vec::new() };
    while let Some(byte) = scanner.cursor.peek(0) {
        match scanner.open.last() {
            Some(Open { kind: Kind::Quotes, .. }) => scanner.in_quotes(byte),
            Some(Open { kind: Kind::Sum, .. }) => scanner.in_sum(byte),
            _ => scanner.in_code(byte)?,
        }
    }
    match (scanner.open.first(), scanner.documents.first()) {
        (Some(open), _) => Err(open.start),
        (None, Some(document)) => Err(document.start),
        (None, None) => Ok(scanner.cursor.found),
    }
}

struct Scanner<'a> {
    cursor: Cursor<'a>,
    /// What is open, the outermost first.
    open: Vec<Open>,
    /// Here-documents whose bodies begin on the next line.
    documents: Vec<Document>,
}

struct Open {
    kind: Kind,
    start: usize,
    /// Round brackets open inside of it.
    depth: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `"…"`
    Quotes,
    /// `$(…)`
    Code,
    /// `((…))`
    Sum,
}

struct Document {
    start: usize,
    word: Vec<u8>,
    tabs: bool,
}

impl Scanner<'_> {
    fn in_code(&mut self, byte: u8) -> Result<(), usize> {
        let at = self.cursor.at;
        match byte {
            b'#' if self.begins_word() => self.cursor.line_comment(),
            b'\\' => self.joined(),
            b'\'' => {
                let ansi = at > 0 && self.cursor.bytes[at - 1] == b'$';
                self.cursor.until(1, "'", ansi, Lines::Many)?;
            }
            b'"' => self.enter(Kind::Quotes, 1),
            b'$' if self.cursor.sees("$((") => self.enter(Kind::Sum, 3),
            b'(' if self.cursor.sees("((") && self.begins_word() => self.enter(Kind::Sum, 2),
            b'$' if self.cursor.sees("$(") => self.enter(Kind::Code, 2),
            b'(' => self.bracket(1),
            b')' => self.bracket(-1),
            b'<' if self.cursor.sees("<<<") => self.cursor.at += 3,
            b'<' if self.cursor.sees("<<") => self.document(),
            b'\n' => {
                self.cursor.at += 1;
                self.bodies()?;
            }
            _ => self.cursor.at += 1,
        }
        Ok(())
    }

    fn in_quotes(&mut self, byte: u8) {
        match byte {
            b'\\' => self.cursor.at += 2,
            b'"' => self.leave(1),
            b'$' if self.cursor.sees("$((") => self.enter(Kind::Sum, 3),
            b'$' if self.cursor.sees("$(") => self.enter(Kind::Code, 2),
            _ => self.cursor.at += 1,
        }
    }

    fn in_sum(&mut self, byte: u8) {
        let depth = self.open.last().map_or(0, |open| open.depth);
        match byte {
            b'(' => self.bracket(1),
            b')' if depth == 0 => self.leave(if self.cursor.sees("))") { 2 } else { 1 }),
            b')' => self.bracket(-1),
            _ => self.cursor.at += 1,
        }
    }

    fn enter(&mut self, kind: Kind, length: usize) {
        self.open.push(Open { kind, start: self.cursor.at, depth: 0 });
        self.cursor.at += length;
    }

    fn leave(&mut self, length: usize) {
        let open = self.open.pop().expect("only called inside of something");
        self.cursor.at += length;
        self.cursor.token(open.start);
    }

    /// A bracket of code; one too many ends the `$(` it stands in. A `case` pattern has no opening one.
    fn bracket(&mut self, by: i8) {
        match self.open.last_mut() {
            Some(open) if by > 0 => open.depth += 1,
            Some(open) if open.depth > 0 => open.depth -= 1,
            Some(_) => return self.leave(1),
            None => {}
        }
        self.cursor.at += 1;
    }

    fn begins_word(&self) -> bool {
        let before = self.cursor.at.checked_sub(1).map(|at| self.cursor.bytes[at]);
        before.is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b';' | b'&' | b'|' | b'(' | b')'))
    }

    fn joined(&mut self) {
        let start = self.cursor.at;
        self.cursor.at += if self.cursor.sees("\\\r\n") { 3 } else { 2 };
        if self.cursor.at < self.cursor.bytes.len() && self.cursor.bytes[start..self.cursor.at].contains(&b'\n') {
            self.cursor.found.long.push(start..self.cursor.at + 1);
        }
    }

    /// `<<WORD`, `<<-'WORD'`: the word ends the document; quotes in it are not part of it.
    fn document(&mut self) {
        let start = self.cursor.at;
        self.cursor.at += 2;
        let tabs = self.cursor.peek(0) == Some(b'-');
        self.cursor.at += usize::from(tabs);
        while matches!(self.cursor.peek(0), Some(b' ' | b'\t')) {
            self.cursor.at += 1;
        }
        let (mut word, mut quote) = (Vec::new(), None);
        while let Some(byte) = self.cursor.peek(0) {
            match byte {
                b'\n' => break,
                b if quote == Some(b) => quote = None,
                b'\'' | b'"' if quote.is_none() => quote = Some(byte),
                b'\\' if quote.is_none() => {}
                b if quote.is_none() && (b.is_ascii_whitespace() || b";&|<>()".contains(&b)) => break,
                b => word.push(b),
            }
            self.cursor.at += 1;
        }
        if !word.is_empty() {
            self.documents.push(Document { start, word, tabs });
        }
    }

    /// The bodies of the documents that the line before opened.
    fn bodies(&mut self) -> Result<(), usize> {
        for document in std::mem::take(&mut self.documents) {
            let start = self.cursor.at.saturating_sub(1);
            loop {
                let rest = &self.cursor.bytes[self.cursor.at..];
                if rest.is_empty() {
                    return Err(document.start);
                }
                let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                let line = rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length]);
                let first = if document.tabs { line.iter().take_while(|b| **b == b'\t').count() } else { 0 };
                self.cursor.at += (length + 1).min(rest.len());
                if line[first..] == document.word {
                    break;
                }
            }
            self.cursor.found.long.push(start..self.cursor.at);
        }
        Ok(())
    }
}
