//! TypeScript: `//` and `/* */`, strings, templates with code in them, regular expressions.

use super::{Cursor, Lines, Scan};

pub(super) fn scan(text: &str) -> Result<Scan, usize> {
    let mut scanner = Scanner { cursor: Cursor::new(text), templates: Vec::new(), depth: 0, value: false };
    while let Some(byte) = scanner.cursor.peek(0) {
        scanner.step(byte)?;
    }
    match scanner.templates.first() {
        Some(open) => Err(open.start),
        None => Ok(scanner.cursor.found),
    }
}

struct Scanner<'a> {
    cursor: Cursor<'a>,
    /// Templates whose `${ }` is being read, the outermost first.
    templates: Vec<Template>,
    /// Open braces.
    depth: usize,
    /// The last token was a value, so that `/` divides.
    value: bool,
}

struct Template {
    start: usize,
    depth: usize,
}

impl Scanner<'_> {
    fn step(&mut self, byte: u8) -> Result<(), usize> {
        let cursor = &mut self.cursor;
        match byte {
            b'/' if cursor.sees("//") => cursor.line_comment(),
            b'/' if cursor.sees("/*") => cursor.until(2, "*/", false, Lines::Many)?,
            b'/' if !self.value => self.regex()?,
            b'"' => self.string("\"")?,
            b'\'' => self.string("'")?,
            b'`' => self.template(self.cursor.at, 1)?,
            b'}' if self.templates.last().is_some_and(|open| open.depth == self.depth) => {
                let open = self.templates.pop().expect("just looked at");
                self.template(open.start, 1)?;
            }
            b if b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$') || b >= 0x80 => self.word(),
            b if b.is_ascii_whitespace() => cursor.at += 1,
            b => {
                match b {
                    b'{' => self.depth += 1,
                    b'}' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
                self.value = matches!(b, b')' | b']');
                cursor.at += 1;
            }
        }
        Ok(())
    }

    fn string(&mut self, quote: &str) -> Result<(), usize> {
        self.value = true;
        self.cursor.until(1, quote, true, Lines::One)
    }

    /// Words behind which a value comes, not a division.
    fn word(&mut self) {
        let start = self.cursor.at;
        let is_word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$') || b >= 0x80;
        while self.cursor.peek(0).is_some_and(is_word) {
            self.cursor.at += 1;
        }
        let word = &self.cursor.bytes[start..self.cursor.at];
        const BEFORE_VALUES: [&[u8]; 11] =
            [b"return", b"typeof", b"case", b"do", b"else", b"in", b"of", b"void", b"delete", b"throw", b"await"];
        self.value = !BEFORE_VALUES.contains(&word);
    }

    /// A template from its backtick, or from the `}` that ends code in it, to its end or to the next `${`.
    fn template(&mut self, start: usize, open: usize) -> Result<(), usize> {
        self.cursor.at += open;
        loop {
            match self.cursor.peek(0) {
                None => return Err(start),
                Some(b'\\') => self.cursor.at += 2,
                Some(b'`') => break,
                Some(b'$') if self.cursor.sees("${") => {
                    self.cursor.at += 2;
                    self.templates.push(Template { start, depth: self.depth });
                    self.value = false;
                    return Ok(());
                }
                Some(_) => self.cursor.at += 1,
            }
        }
        self.cursor.at += 1;
        self.value = true;
        self.cursor.token(start);
        Ok(())
    }

    /// `/…/flags`; a slash in a class does not close it.
    fn regex(&mut self) -> Result<(), usize> {
        let start = self.cursor.at;
        let mut class = false;
        self.cursor.at += 1;
        loop {
            match self.cursor.peek(0) {
                None | Some(b'\n') => return Err(start),
                Some(b'\\') => self.cursor.at += 1,
                Some(b'[') => class = true,
                Some(b']') => class = false,
                Some(b'/') if !class => break,
                Some(_) => {}
            }
            self.cursor.at += 1;
        }
        self.cursor.at += 1;
        self.value = true;
        Ok(())
    }
}
