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

/// Line and column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Maps byte offsets of one source text to lines and columns in O(log lines).
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Reads `text` once.
    pub fn new(text: &str) -> LineIndex {
        let mut starts = vec![0];
        starts.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1));
        LineIndex { starts }
    }

    /// Position of byte `offset` of `text` (the text this index was made from). Offsets past the end are clamped.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        let column = text.get(start..offset).map_or(offset - start, |s| s.chars().count()) + 1;
        Position { line, column }
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
}
