//! Source positions and diagnostics: what is wrong, where, why and what to write instead.

use serde::{Deserialize, Serialize};

/// Half-open range of byte offsets into a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The range `start..end`; an inverted range collapses to the empty range at `start`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end: end.max(start) }
    }
}

/// A value together with the place in the source it was read from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `value`, read from `span`.
    pub fn new(value: T, span: Span) -> Spanned<T> {
        Spanned { value, span }
    }
}

/// How bad a diagnostic is. An error makes `plan` exit 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; changes no exit status.
    Note,
    /// Probably a mistake; changes no exit status.
    Warning,
    /// The plan breaks a rule of the format.
    #[default]
    Error,
}

/// A change of the source that a program may make: the bytes of `span` become `replacement`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Edit {
    /// What is replaced, as bytes of the source; empty for text that is only put in.
    pub span: Span,
    /// What stands there afterwards.
    pub replacement: String,
}

/// One finding about a source text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Stable kebab-case rule name, such as `missing-budgets`.
    pub rule: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where, as bytes of the source.
    pub span: Span,
    /// What to write instead.
    pub help: Option<String>,
    /// Changes that mend it and change nothing that the plan promises: safe to make without asking. All or none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
}

impl Diagnostic {
    /// The same, mended by writing `text` in place of `span`; called again, by both changes together.
    #[must_use]
    pub fn with_edit(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.edits.push(Edit { span, replacement: text.into() });
        self
    }
}

/// Line and column, both from 1. A byte-order mark is no column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1; counts characters, or UTF-16 units where that is asked for.
    pub column: usize,
}

/// Bytes between two counts of [`LineIndex`].
const BLOCK: usize = 1024;

/// Maps byte offsets of one source text to lines and columns in O(log lines), however long a line is.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
    /// What stands before every [`BLOCK`]th byte.
    counts: Vec<Count>,
}

/// Characters that start in a stretch of text, and the UTF-16 units that they take.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    characters: usize,
    utf16: usize,
}

impl Count {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            // A byte that continues a character starts none; one that starts four bytes starts a surrogate pair.
            self.characters += usize::from(byte & 0xc0 != 0x80);
            self.utf16 += usize::from(byte & 0xc0 != 0x80) + usize::from(*byte >= 0xf0);
        }
    }
}

impl LineIndex {
    /// Reads `text` once.
    pub fn new(text: &str) -> LineIndex {
        let first = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut starts = vec![first];
        starts.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1));
        let mut count = Count::default();
        let mut counts = vec![count];
        for block in text.as_bytes().chunks(BLOCK) {
            count.add(block);
            counts.push(count);
        }
        LineIndex { starts, counts }
    }

    /// Position of byte `offset` of `text` (the text this index was made from), its column in characters. Offsets past
    /// the end are clamped; one inside a character is that character's.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        self.at(text, offset, |count| count.characters)
    }

    /// As [`LineIndex::position`], its column in UTF-16 units, as editors and SARIF count.
    pub fn position_utf16(&self, text: &str, offset: usize) -> Position {
        self.at(text, offset, |count| count.utf16)
    }

    /// The line with byte `offset`, without its line break.
    pub fn line(&self, text: &str, offset: usize) -> Span {
        let number = self.number(text, offset);
        let start = self.starts[number - 1];
        let end = self.starts.get(number).map_or(text.len(), |next| next - 1);
        let bare = text.get(start..end).map_or(0, |line| line.trim_end_matches('\r').len());
        Span::new(start, start + bare)
    }

    /// Number of lines.
    pub fn lines(&self) -> usize {
        self.starts.len()
    }

    fn number(&self, text: &str, offset: usize) -> usize {
        let offset = offset.min(text.len());
        self.starts.partition_point(|start| *start <= offset).max(1)
    }

    fn at(&self, text: &str, offset: usize, unit: fn(Count) -> usize) -> Position {
        let line = self.number(text, offset);
        let start = self.starts[line - 1];
        let offset = text.floor_char_boundary(offset).max(start);
        Position { line, column: unit(self.before(text, offset)) - unit(self.before(text, start)) + 1 }
    }

    /// Count of all that stands before `offset`.
    fn before(&self, text: &str, offset: usize) -> Count {
        let block = offset / BLOCK;
        let mut count = self.counts[block];
        count.add(&text.as_bytes()[block * BLOCK..offset]);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let text = "a\näb\n";
        let index = LineIndex::new(text);
        let at = |offset| {
            let Position { line, column } = index.position(text, offset);
            (line, column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(2), (2, 1));
        assert_eq!(at(4), (2, 2));
        assert_eq!(at(999), (3, 1));
    }

    #[test]
    fn columns_are_right_in_either_unit_wherever_the_blocks_end() {
        let check = |text: &str| {
            let index = LineIndex::new(text);
            for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
                let before = text[..offset].trim_start_matches('\u{feff}');
                let line = before.rsplit('\n').next().unwrap_or_default();
                let number = before.matches('\n').count() + 1;
                let (characters, utf16) = (line.chars().count() + 1, line.encode_utf16().count() + 1);
                assert_eq!(index.position(text, offset), Position { line: number, column: characters });
                assert_eq!(index.position_utf16(text, offset), Position { line: number, column: utf16 });
            }
        };
        check("");
        check("\u{feff}# é\r\n😀😀b\n\n\ttab");
        check(&"é😀x".repeat(700));
        check(&format!("{}\n{}", "😀".repeat(256), "ab".repeat(2000)));
    }

    #[test]
    fn an_offset_inside_a_character_is_that_characters() {
        let text = "a😀b";
        let index = LineIndex::new(text);
        assert_eq!([1, 2, 3, 4, 5].map(|at| index.position(text, at).column), [2, 2, 2, 2, 3]);
        assert_eq!([1, 3, 5].map(|at| index.position_utf16(text, at).column), [2, 2, 4]);
    }

    #[test]
    fn a_line_is_without_its_break_and_without_a_byte_order_mark() {
        let text = "\u{feff}one\r\ntwo\n\nend";
        let index = LineIndex::new(text);
        let line = |at: usize| {
            let span = index.line(text, at);
            &text[span.start..span.end]
        };
        assert_eq!([0, 4, 8, 12, 13, 16, 99].map(line), ["one", "one", "two", "", "end", "end", "end"]);
        assert_eq!(index.lines(), 4);
    }

    #[test]
    fn edits_are_left_out_of_json_when_there_are_none() {
        let plain = Diagnostic { rule: "r".to_owned(), ..Diagnostic::default() };
        let json = serde_json::to_value(&plain).expect("it is plain data");
        assert!(json.get("edits").is_none());
        assert_eq!(serde_json::from_value::<Diagnostic>(json).expect("it is whole"), plain);
        let edited = plain.with_edit(Span::new(1, 2), "x");
        let json = serde_json::to_value(&edited).expect("it is plain data");
        assert_eq!(json["edits"][0]["replacement"], "x");
    }
}
