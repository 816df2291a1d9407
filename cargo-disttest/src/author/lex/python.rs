//! Python: `#`, strings of one line and of many, lines joined by a backslash.
//!
//! In a raw string a backslash keeps the quote behind it from closing the string, too.

use super::{Cursor, Lines, Scan};

pub(super) fn scan(text: &str) -> Result<Scan, usize> {
    let mut cursor = Cursor::new(text);
    while let Some(byte) = cursor.peek(0) {
        match byte {
            b'#' => cursor.line_comment(),
            b'"' if cursor.sees("\"\"\"") => cursor.until(3, "\"\"\"", true, Lines::Many)?,
            b'\'' if cursor.sees("'''") => cursor.until(3, "'''", true, Lines::Many)?,
            b'"' => cursor.until(1, "\"", true, Lines::One)?,
            b'\'' => cursor.until(1, "'", true, Lines::One)?,
            b'\\' => joined(&mut cursor),
            _ => cursor.at += 1,
        }
    }
    Ok(cursor.found)
}

fn joined(cursor: &mut Cursor<'_>) {
    let start = cursor.at;
    cursor.at += if cursor.sees("\\\r\n") { 3 } else { 2 };
    if cursor.at < cursor.bytes.len() && cursor.bytes[start..cursor.at].contains(&b'\n') {
        // One byte into the next line, so that its start counts as inside.
        cursor.found.long.push(start..cursor.at + 1);
    }
}
