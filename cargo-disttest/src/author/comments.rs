//! Finds the line comments of a Rust text, and is not fooled by strings, characters or block comments.
//!
//! Our own because the lexers at hand (proc-macro2, syn) drop comments, and because a file that somebody is in the
//! middle of editing need not parse.

use std::ops::Range;

/// Byte ranges of the `//` comments of `text`, without their line ends; `Err` with the offset where a string or
/// block comment is opened and never closed. O(length).
pub(super) fn line_comments(text: &str) -> Result<Vec<Range<usize>>, usize> {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0, comments: Vec::new() };
    scanner.run()?;
    Ok(scanner.comments)
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    comments: Vec<Range<usize>>,
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<(), usize> {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'/' if self.peek(1) == Some(b'/') => self.line_comment(),
                b'/' if self.peek(1) == Some(b'*') => self.block_comment()?,
                b'"' => self.string()?,
                b'\'' => self.character_or_lifetime(),
                b if is_word(b) => self.word()?,
                _ => self.at += 1,
            }
        }
        Ok(())
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn line_comment(&mut self) {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        let text = rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length]);
        self.comments.push(self.at..self.at + text.len());
        self.at += length;
    }

    /// Block comments nest.
    fn block_comment(&mut self) -> Result<(), usize> {
        let start = self.at;
        let mut depth = 0;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b'/'), Some(b'*')) => (depth, self.at) = (depth + 1, self.at + 2),
                (Some(b'*'), Some(b'/')) => (depth, self.at) = (depth - 1, self.at + 2),
                (Some(_), _) => self.at += 1,
                (None, _) => return Err(start),
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn string(&mut self) -> Result<(), usize> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek(0) {
                Some(b'\\') => self.at += 2,
                Some(b'"') => break,
                Some(_) => self.at += 1,
                None => return Err(start),
            }
        }
        self.at += 1;
        Ok(())
    }

    /// An identifier, a number or a prefix: `r"…"`, `br#"…"#`, `cr"…"` are raw strings, `r#name` is an identifier.
    fn word(&mut self) -> Result<(), usize> {
        let start = self.at;
        while self.peek(0).is_some_and(is_word) {
            self.at += 1;
        }
        if !matches!(&self.bytes[start..self.at], b"r" | b"br" | b"cr") {
            return Ok(());
        }
        let hashes = self.bytes[self.at..].iter().take_while(|b| **b == b'#').count();
        if self.peek(hashes) != Some(b'"') {
            return Ok(());
        }
        self.at += hashes + 1;
        let close = [&b"\""[..], &vec![b'#'; hashes]].concat();
        let rest = &self.bytes[self.at..];
        let length = rest.windows(close.len()).position(|w| w == close).ok_or(start)?;
        self.at += length + close.len();
        Ok(())
    }

    /// `'a'`, `'\''`, `'é'` are characters, `'a` is a lifetime.
    fn character_or_lifetime(&mut self) {
        self.at += 1;
        match self.peek(0) {
            Some(b'\\') => {
                self.at += 2;
                while self.peek(0).is_some_and(|b| b != b'\'' && b != b'\n') {
                    self.at += 1;
                }
                self.at += 1;
            }
            Some(first) if first != b'\n' => {
                let length = utf8_length(first);
                self.at += if self.peek(length) == Some(b'\'') { length + 1 } else { 0 };
            }
            _ => {}
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn utf8_length(first: u8) -> usize {
    match first {
        0..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_line_comments_are_found() {
        let check = |text: &str, expect: &[&str]| {
            let found: Vec<&str> = line_comments(text).expect(text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("a // b\r\nc", &["// b"]);
        check("\"// no\" // yes", &["// yes"]);
        check(r#""\"// no" // yes"#, &["// yes"]);
        check("r#\"\n// no \" \n\"# // yes", &["// yes"]);
        check("br##\"// no \"# \"## // yes", &["// yes"]);
        check("c\"// no\" b\"// no\" // yes", &["// yes"]);
        check("/* // no /* */ // no */ // yes", &["// yes"]);
        check("'\"' // yes", &["// yes"]);
        check("'\\'' // yes '\"'", &["// yes '\"'"]);
        check("'é' \"// no\"", &[]);
        check("fn f<'a>(x: &'a str) {} // yes", &["// yes"]);
        check("r#type // yes", &["// yes"]);
        check("br'\"' // yes", &["// yes"]);
        check("/// doc\n//! doc", &["/// doc", "//! doc"]);
        check("日本 // yes 日本", &["// yes 日本"]);
    }

    #[test]
    fn an_open_string_or_comment_is_an_error_with_its_place() {
        assert_eq!(line_comments("a \" // "), Err(2));
        assert_eq!(line_comments("a /* /* */"), Err(2));
        assert_eq!(line_comments("r#\"x\""), Err(0));
    }
}
