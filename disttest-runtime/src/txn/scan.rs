//! A cursor over the bytes of JSON text.

/// A place in JSON text.
#[derive(Clone, Debug)]
pub(super) struct Scan<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
}

/// What is wrong where the cursor stands.
pub(super) type Problem = &'static str;

impl<'a> Scan<'a> {
    /// Skips blanks other than line breaks.
    pub(super) fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Goes past `byte` and blanks around it, if it is next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        if self.peek() != Some(byte) {
            self.blanks();
            if self.peek() != Some(byte) {
                return false;
            }
        }
        self.at += 1;
        if self.peek() == Some(b' ') {
            self.blanks();
        }
        true
    }

    pub(super) fn expect(&mut self, byte: u8, problem: Problem) -> Result<(), Problem> {
        if self.take(byte) { Ok(()) } else { Err(problem) }
    }

    /// The rest of the text begins with `bytes`: goes past them.
    pub(super) fn literal(&mut self, bytes: &[u8]) -> bool {
        let found = self.text[self.at..].starts_with(bytes);
        if found {
            self.at += bytes.len();
        }
        found
    }

    /// What stands between the quotes of a string, as written.
    pub(super) fn string(&mut self) -> Result<&'a [u8], Problem> {
        if self.peek() != Some(b'"') {
            return Err("a string is expected");
        }
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(&self.text[start..self.at - 1]);
                }
                Some(b'\\') if self.text.get(self.at + 1).is_some_and(|byte| *byte != b'\n') => self.at += 2,
                None | Some(b'\n' | b'\\') => return Err("the string does not end"),
                Some(_) => self.at += 1,
            }
        }
    }

    /// The next plain value (a string with its quotes, a number, a word) or a whole list or object, as written.
    pub(super) fn value(&mut self) -> Result<&'a [u8], Problem> {
        let start = self.at;
        let mut depth = 0_u32;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'[' | b'{') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b']' | b'}') if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                    if depth == 0 {
                        break;
                    }
                }
                Some(b',' | b':' | b' ' | b'\t') if depth > 0 => self.at += 1,
                None | Some(b'\n') if depth > 0 => return Err("the list or object does not end"),
                None | Some(b',' | b']' | b'}' | b':' | b' ' | b'\t' | b'\r' | b'\n') => break,
                Some(_) => self.at += 1,
            }
        }
        let value = &self.text[start..self.at];
        if value.is_empty() { Err("a value is expected") } else { Ok(value) }
    }

    /// What stands between the brackets of a list of plain values, as written.
    pub(super) fn flat_list(&mut self) -> Result<&'a [u8], Problem> {
        let start = self.at + 1;
        // Numbers and commas need no closer look.
        let rest = self.text.get(start..).ok_or("a list is expected")?;
        match rest.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b',')) {
            Some(len) if rest[len] == b']' => {
                self.at = start + len + 1;
                Ok(&rest[..len])
            }
            _ => {
                let list = self.value()?;
                let inner =
                    list.strip_prefix(b"[").and_then(|list| list.strip_suffix(b"]")).ok_or("a list is expected")?;
                Ok(inner.trim_ascii())
            }
        }
    }
}
