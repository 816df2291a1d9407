//! Go: `//` and `/* */`, strings, runes, raw strings.

use super::{Cursor, Lines, Scan};

pub(super) fn scan(text: &str) -> Result<Scan, usize> {
    let mut cursor = Cursor::new(text);
    while let Some(byte) = cursor.peek(0) {
        match byte {
            b'/' if cursor.sees("//") => cursor.line_comment(),
            b'/' if cursor.sees("/*") => cursor.until(2, "*/", false, Lines::Many)?,
            b'"' => cursor.until(1, "\"", true, Lines::One)?,
            b'\'' => cursor.until(1, "'", true, Lines::One)?,
            b'`' => cursor.until(1, "`", false, Lines::Many)?,
            _ => cursor.at += 1,
        }
    }
    Ok(cursor.found)
}
