//! The objects of a text, one in memory at a time: a line each, or the elements of a JSON array.

use super::Problem;
use std::io::{BufRead, Read};

/// Longest line, in bytes: what is longer is no history, or one that was written without line breaks.
const LONGEST: usize = 1 << 30;

/// Objects of a text.
pub(super) struct Lines<R> {
    text: R,
    buffer: Vec<u8>,
    number: usize,
    array: Option<Array>,
}

/// How far an array was read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Its `[` comes.
    Before,
    /// An element or its end comes.
    Start,
    /// A comma or its end comes.
    Behind,
    /// An element comes.
    Comma,
}

#[derive(Debug)]
struct Array {
    state: State,
    /// Column of the next byte, from 1.
    column: usize,
}

impl<R: BufRead> Lines<R> {
    /// Lines that hold something.
    pub(super) fn new(text: R) -> Lines<R> {
        Lines { text, buffer: Vec::new(), number: 0, array: None }
    }

    /// Elements of the array that the text is.
    pub(super) fn of_array(text: R) -> Lines<R> {
        let array = Some(Array { state: State::Before, column: 1 });
        Lines { text, buffer: Vec::new(), number: 1, array }
    }

    /// The next line that holds something, and its number; or the next element, behind as many blanks as put it into its
    /// column, and the number of its first line.
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], usize)>, Problem> {
        if self.array.is_some() {
            return self.element();
        }
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

    fn element(&mut self) -> Result<Option<(&[u8], usize)>, Problem> {
        loop {
            let Some(byte) = self.take_significant()? else {
                return Err(self.refuse("the text ends before the closing `]`: it is cut off"));
            };
            let state = self.array.as_ref().map_or(State::Before, |array| array.state);
            let next = match (state, byte) {
                (State::Before, b'[') => State::Start,
                (State::Start | State::Behind, b']') => {
                    return match self.take_significant()? {
                        None => Ok(None),
                        Some(_) => Err(self.refuse("something follows the array: a file holds one history")),
                    };
                }
                (State::Behind, b',') => State::Comma,
                (State::Start | State::Comma, b'{') => {
                    let first = self.number;
                    self.object()?;
                    self.set(State::Behind);
                    return Ok(Some((&self.buffer, first)));
                }
                (State::Before, _) => return Err(self.refuse("a JSON array begins with `[`")),
                (State::Behind, _) => return Err(self.refuse("a comma or the closing `]` belongs here")),
                _ => return Err(self.refuse("an element is an object: `{` belongs here")),
            };
            self.set(next);
        }
    }

    fn set(&mut self, state: State) {
        if let Some(array) = &mut self.array {
            array.state = state;
        }
    }

    /// A problem at the byte that was taken last.
    fn refuse(&self, problem: &str) -> Problem {
        let column = self.array.as_ref().map(|array| (array.column - 1).max(1));
        Problem { column, ..Problem::at(self.number, problem) }
    }

    /// The next byte.
    fn take(&mut self) -> Result<Option<u8>, Problem> {
        let number = self.number;
        let rest = self.text.fill_buf().map_err(|error| Problem::at(number, format!("cannot be read: {error}")))?;
        let Some(byte) = rest.first().copied() else { return Ok(None) };
        self.text.consume(1);
        if let Some(array) = &mut self.array {
            array.column += 1;
            if byte == b'\n' {
                self.number += 1;
                array.column = 1;
            }
        }
        Ok(Some(byte))
    }

    fn take_significant(&mut self) -> Result<Option<u8>, Problem> {
        loop {
            match self.take()? {
                Some(byte) if byte.is_ascii_whitespace() => {}
                other => return Ok(other),
            }
        }
    }

    /// Reads the object whose `{` was taken into the buffer.
    fn object(&mut self) -> Result<(), Problem> {
        let column = self.array.as_ref().map_or(1, |array| array.column - 1);
        self.buffer.clear();
        self.buffer.resize(column - 1, b' ');
        self.buffer.push(b'{');
        let (mut depth, mut inside_text, mut escaped) = (1_usize, false, false);
        while depth > 0 {
            let Some(byte) = self.take()? else {
                return Err(self.refuse("the text ends inside of an object: it is cut off"));
            };
            self.buffer.push(byte);
            if self.buffer.len() >= LONGEST {
                return Err(self.refuse("the object is longer than a gigabyte"));
            }
            match byte {
                _ if escaped => escaped = false,
                b'\\' if inside_text => escaped = true,
                b'"' => inside_text = !inside_text,
                b'{' | b'[' if !inside_text => depth += 1,
                b'}' | b']' if !inside_text => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let mut lines = Lines::of_array(text.as_bytes());
        let mut got = Vec::new();
        loop {
            match lines.next() {
                Ok(None) => break,
                Ok(Some((object, line))) => got.push(format!("{line}:{}", String::from_utf8_lossy(object))),
                Err(problem) => {
                    got.push(format!("{}: {}", problem.place("h"), problem.problem));
                    break;
                }
            }
        }
        assert_eq!(got.join("|"), expect, "{text}");
    }

    #[test]
    fn an_array_is_its_objects_one_by_one() {
        check("[]", "");
        check(" [\n] \n", "");
        check("[{\"a\":1},{\"b\":[{}]}]", "1: {\"a\":1}|1:         {\"b\":[{}]}");
        check("[\n{\"a\":\"]}\\\"{\"}\n,\n{\n}]", "2:{\"a\":\"]}\\\"{\"}|4:{\n}");
    }

    #[test]
    fn what_is_no_array_of_objects_is_refused_with_its_place() {
        check("[{}", "1: {}|h:1:3: the text ends before the closing `]`: it is cut off");
        check("[{}\n{}]", "1: {}|h:2:1: a comma or the closing `]` belongs here");
        check("[{},]", "1: {}|h:1:5: an element is an object: `{` belongs here");
        check("[,{}]", "h:1:2: an element is an object: `{` belongs here");
        check("[1]", "h:1:2: an element is an object: `{` belongs here");
        check("[{}]\n [", "1: {}|h:2:2: something follows the array: a file holds one history");
        check("[{\"a\":", "h:1:6: the text ends inside of an object: it is cut off");
        check("{}", "h:1:1: a JSON array begins with `[`");
    }
}
