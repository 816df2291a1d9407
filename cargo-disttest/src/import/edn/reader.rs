//! From bytes to values.

use super::bytes::{Bytes, Place};
use super::{DEEPEST, Edn, atoms};
use std::io::{self, Read};

/// Why a text is no EDN, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bad {
    /// Where.
    pub place: Place,
    /// What is at hand of the line.
    pub text: String,
    /// Column of the first byte of `text`.
    pub text_column: usize,
    /// What is wrong, in one clause.
    pub problem: String,
}

/// Reads values one after the other, in memory for one of them.
#[derive(Debug)]
pub struct Reader<R> {
    bytes: Bytes<R>,
}

type Read1<T> = Result<T, Bad>;

impl<R: Read> Reader<R> {
    /// A reader of `inner`, which need not be buffered.
    pub fn new(inner: R) -> Reader<R> {
        Reader { bytes: Bytes::new(inner) }
    }

    /// The next value and where it begins; `None` at the end of the text.
    ///
    /// # Errors
    /// A place that is no EDN, or cannot be read. Nothing more can be read then.
    pub fn value(&mut self) -> Result<Option<(Edn, Place)>, Bad> {
        self.blank(0)?;
        let place = self.bytes.place();
        match self.peek()? {
            None => Ok(None),
            Some(_) => Ok(Some((self.form(0)?, place))),
        }
    }

    /// Takes the bracket that opens a list or a vector, when one is next; gives the one that closes it.
    ///
    /// # Errors
    /// As [`Reader::value`].
    pub fn open(&mut self) -> Result<Option<u8>, Bad> {
        self.blank(0)?;
        let close = match self.peek()? {
            Some(b'[') => b']',
            Some(b'(') => b')',
            _ => return Ok(None),
        };
        self.next()?;
        Ok(Some(close))
    }

    /// The next value inside of a bracket that [`Reader::open`] took, and where it begins; `None` when `close` is taken.
    ///
    /// # Errors
    /// As [`Reader::value`]; a text that ends before `close`.
    pub fn element(&mut self, close: u8) -> Result<Option<(Edn, Place)>, Bad> {
        self.blank(1)?;
        let place = self.bytes.place();
        match self.peek()? {
            None => Err(self.bad(format!("the text ends before the closing `{}`: it is cut off", close as char))),
            Some(byte) if byte == close => {
                self.next()?;
                Ok(None)
            }
            Some(_) => Ok(Some((self.form(1)?, place))),
        }
    }

    /// A complaint about the next byte.
    pub fn bad(&mut self, problem: impl Into<String>) -> Bad {
        let place = self.bytes.place();
        self.bad_at(place, problem)
    }

    /// A complaint about `place`.
    pub fn bad_at(&mut self, place: Place, problem: impl Into<String>) -> Bad {
        let here = self.bytes.place();
        let (text, text_column) =
            if here.line == place.line { self.bytes.line_text() } else { (String::new(), place.column) };
        // Of a long line only the end is at hand, which may begin behind the place.
        let (text, text_column) =
            if text_column <= place.column { (text, text_column) } else { (String::new(), place.column) };
        Bad { place, text, text_column, problem: problem.into() }
    }

    fn peek(&mut self) -> Read1<Option<u8>> {
        let byte = self.bytes.peek();
        byte.map_err(|error| self.io(&error))
    }

    fn next(&mut self) -> Read1<Option<u8>> {
        let byte = self.bytes.next();
        byte.map_err(|error| self.io(&error))
    }

    fn io(&mut self, error: &io::Error) -> Bad {
        self.bad(format!("cannot be read: {error}"))
    }

    /// Skips white space, commas, comments and discarded forms.
    fn blank(&mut self, depth: usize) -> Read1<()> {
        while let Some(byte) = self.peek()? {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b',' | 0x0b | 0x0c | 0x1c..=0x1f => {
                    self.next()?;
                }
                b';' => self.comment()?,
                b'#' => {
                    // Only a discard is blank; what else `#` begins is a form.
                    if !self.discard(depth)? {
                        return Ok(());
                    }
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    fn comment(&mut self) -> Read1<()> {
        while self.next()?.is_some_and(|byte| byte != b'\n') {}
        Ok(())
    }

    /// Skips `#_ form` if that is next.
    fn discard(&mut self, depth: usize) -> Read1<bool> {
        let second = self.bytes.peek_second();
        if second.map_err(|error| self.io(&error))? != Some(b'_') {
            return Ok(false);
        }
        self.next()?;
        self.next()?;
        self.deeper(depth)?;
        self.blank(depth + 1)?;
        if self.peek()?.is_none() {
            return Err(self.bad("nothing follows `#_`"));
        }
        self.form(depth + 1)?;
        Ok(true)
    }

    fn deeper(&mut self, depth: usize) -> Read1<()> {
        if depth >= DEEPEST {
            return Err(self.bad(format!("more than {DEEPEST} values inside of each other")));
        }
        Ok(())
    }

    /// The value that the next byte begins.
    fn form(&mut self, depth: usize) -> Read1<Edn> {
        self.deeper(depth)?;
        let place = self.bytes.place();
        match self.peek()? {
            None => Err(self.bad("the text ends where a value should be: it is cut off")),
            Some(b'(') => Ok(Edn::List(self.items(b')', depth)?)),
            Some(b'[') => Ok(Edn::Vector(self.items(b']', depth)?)),
            Some(b'{') => Ok(Edn::Map(self.map(depth)?)),
            Some(b'"') => self.text(),
            Some(b'\\') => self.character(),
            Some(b'#') => self.dispatch(depth),
            Some(byte @ (b')' | b']' | b'}')) => {
                Err(self.bad(format!("nothing is open that `{}` closes", byte as char)))
            }
            Some(byte @ (b'^' | b'@' | b'`' | b'~')) => {
                Err(self.bad(format!("`{}` is no EDN (metadata and quoting are code)", byte as char)))
            }
            Some(_) => {
                let token = self.token()?;
                atoms::atom(&token).map_err(|problem| self.bad_at(place, problem))
            }
        }
    }

    fn items(&mut self, close: u8, depth: usize) -> Read1<Vec<Edn>> {
        let open = self.bytes.place();
        self.next()?;
        let mut items = Vec::new();
        loop {
            self.blank(depth + 1)?;
            match self.peek()? {
                None => {
                    let problem =
                        format!("the text ends before the `{}` of line {}: it is cut off", close as char, open.line);
                    return Err(self.bad(problem));
                }
                Some(byte) if byte == close => {
                    self.next()?;
                    return Ok(items);
                }
                Some(_) => items.push(self.form(depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Read1<Vec<(Edn, Edn)>> {
        let place = self.bytes.place();
        let items = self.items(b'}', depth)?;
        if items.len() % 2 == 1 {
            return Err(self.bad_at(place, "a map has a key without a value"));
        }
        let mut entries = Vec::with_capacity(items.len() / 2);
        let mut items = items.into_iter();
        while let (Some(key), Some(value)) = (items.next(), items.next()) {
            entries.push((key, value));
        }
        self.unique(place, entries.iter().map(|(key, _)| key), "a map has the key", "twice")?;
        Ok(entries)
    }

    /// Refuses equal elements: few by comparison, many by their texts.
    fn unique<'e>(
        &mut self,
        place: Place,
        elements: impl Iterator<Item = &'e Edn>,
        before: &str,
        after: &str,
    ) -> Read1<()> {
        let elements: Vec<&Edn> = elements.collect();
        let twice = if elements.len() <= 16 {
            elements.iter().enumerate().find(|(at, e)| elements[..*at].contains(e)).map(|(_, e)| e.to_string())
        } else {
            let mut texts: Vec<String> = elements.iter().map(ToString::to_string).collect();
            texts.sort_unstable();
            texts.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone())
        };
        twice.map_or(Ok(()), |what| Err(self.bad_at(place, format!("{before} `{what}` {after}"))))
    }

    /// What `#` begins: a set, a tag, a map with a namespace, `##Inf`.
    fn dispatch(&mut self, depth: usize) -> Read1<Edn> {
        let place = self.bytes.place();
        self.next()?;
        match self.peek()? {
            Some(b'{') => {
                let items = self.items(b'}', depth)?;
                self.unique(place, items.iter(), "a set has", "twice")?;
                Ok(Edn::Set(items))
            }
            Some(b'#') => {
                self.next()?;
                let token = self.token()?;
                atoms::symbolic(&token).map_err(|problem| self.bad_at(place, problem))
            }
            Some(b':') => {
                self.next()?;
                let namespace = self.token()?;
                if !atoms::is_namespace(&namespace) {
                    return Err(self.bad_at(place, format!("`{namespace}` is no namespace")));
                }
                self.blank(depth)?;
                if self.peek()? != Some(b'{') {
                    return Err(self.bad("a map must follow its namespace"));
                }
                let mut entries = self.map(depth)?;
                for (key, _) in &mut entries {
                    let qualified = within(&namespace, key.clone());
                    let no_key = || format!("`{key}` cannot be a key of this map");
                    *key = qualified.ok_or_else(no_key).map_err(|problem| self.bad_at(place, problem))?;
                }
                // Two keys may differ until both have the same namespace.
                self.unique(place, entries.iter().map(|(key, _)| key), "a map has the key", "twice")?;
                Ok(Edn::Map(entries))
            }
            Some(byte) if byte.is_ascii_alphabetic() => {
                let tag = self.token()?;
                self.blank(depth + 1)?;
                Ok(Edn::Tagged(tag, Box::new(self.form(depth + 1)?)))
            }
            _ => Err(self.bad("`#` begins a set, a tag, `#_` or `##Inf`; this is none")),
        }
    }

    /// The bytes up to the next delimiter.
    fn token(&mut self) -> Read1<String> {
        let place = self.bytes.place();
        let mut token = Vec::new();
        let goes_on = |byte: u8| {
            !matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'"' | b';' | b',' | b'\\' | 0x7f) && byte > b' '
        };
        self.bytes.take_while(goes_on, &mut token).map_err(|error| self.io(&error))?;
        if token.is_empty() {
            return Err(self.bad("no value begins with this"));
        }
        String::from_utf8(token).map_err(|_| self.bad_at(place, "this is no UTF-8"))
    }

    fn text(&mut self) -> Read1<Edn> {
        let open = self.bytes.place();
        self.next()?;
        let mut text = Vec::new();
        loop {
            let plain = |byte: u8| byte != b'"' && byte != b'\\';
            self.bytes.take_while(plain, &mut text).map_err(|error| self.io(&error))?;
            match self.next()? {
                None => {
                    let problem = format!("the text ends inside of the string of line {}: it is cut off", open.line);
                    return Err(self.bad(problem));
                }
                Some(b'"') => break,
                Some(b'\\') => self.escape(&mut text)?,
                Some(byte) => text.push(byte),
            }
        }
        String::from_utf8(text).map(Edn::Text).map_err(|_| self.bad_at(open, "the string is no UTF-8"))
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Read1<()> {
        let place = self.bytes.place();
        let byte = match self.next()? {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'u') => {
                let c = self.unicode(place)?;
                text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.bad_at(place, "no escape of a string")),
        };
        text.push(byte);
        Ok(())
    }

    /// Four digits, and four more after the first half of a pair.
    fn unicode(&mut self, place: Place) -> Read1<char> {
        let high = self.four(place)?;
        if !(0xd800..0xdc00).contains(&high) {
            return char::from_u32(high).ok_or_else(|| self.bad_at(place, "half of a pair of code units"));
        }
        for expected in [b'\\', b'u'] {
            if self.next()? != Some(expected) {
                return Err(self.bad_at(place, "half of a pair of code units"));
            }
        }
        let low = self.four(place)?;
        let whole = 0x10000 + ((high - 0xd800) << 10) + low.wrapping_sub(0xdc00);
        let whole = char::from_u32(whole).filter(|_| (0xdc00..0xe000).contains(&low));
        whole.ok_or_else(|| self.bad_at(place, "half of a pair of code units"))
    }

    fn four(&mut self, place: Place) -> Read1<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.next()?.and_then(|byte| (byte as char).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.bad_at(place, "four hexadecimal digits follow `\\u`"))?;
        }
        Ok(code)
    }

    fn character(&mut self) -> Read1<Edn> {
        let place = self.bytes.place();
        self.next()?;
        // The first byte belongs to it whatever it is: `\(` and `\\` are characters.
        let Some(first) = self.next()? else {
            return Err(self.bad("the text ends inside of a character: it is cut off"));
        };
        let mut name = vec![first];
        while let Some(byte) = self.peek()?.filter(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80) {
            name.push(byte);
            self.next()?;
        }
        let name = String::from_utf8(name).map_err(|_| self.bad_at(place, "this is no UTF-8"))?;
        atoms::character(&name).map(Edn::Char).ok_or_else(|| self.bad_at(place, format!("`\\{name}` is no character")))
    }
}

/// A key of a map with a namespace; `None` when what comes of it is no such key any more.
fn within(namespace: &str, key: Edn) -> Option<Edn> {
    let qualify = |name: String| match name.strip_prefix("_/") {
        Some(plain) => plain.to_owned(),
        None if name.contains('/') => name,
        None => format!("{namespace}/{name}"),
    };
    let qualified = match key {
        Edn::Keyword(name) => Edn::Keyword(qualify(name)),
        Edn::Symbol(name) => Edn::Symbol(qualify(name)),
        other => return Some(other),
    };
    (atoms::atom(&qualified.to_string()).as_ref() == Ok(&qualified)).then_some(qualified)
}
