//! The text of a plan with everything that is no plan content blanked out.
//!
//! A Markdown library says what is code, comment and quotation; the rest is read line by line. Reading lines instead
//! of the library's tree is deliberate: by CommonMark a second `H2. …` line is a lazy continuation of the bullet
//! above it, a table whose delimiter row is one cell short is no table, and cells beyond the header are dropped. Each
//! would lose a claim or a hypothesis without a word.

use super::line::{Line, lines_of};
use crate::base::diagnostic::Span;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::borrow::Cow;
use std::ops::Range;

/// A code block outside quotations.
#[derive(Clone, Debug)]
pub(super) struct Code {
    /// Where it stands, fences included.
    pub(super) span: Span,
    /// First word of the info string.
    pub(super) language: String,
    /// The code, without the indentation of the list it stands in; line breaks are `\n`.
    pub(super) body: String,
    /// False for a fence that is never closed.
    pub(super) closed: bool,
    /// False for a block made by indentation.
    pub(super) fenced: bool,
}

/// Why a text that was blanked out is no plan content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A comment, or an element whose content is no Markdown.
    Comment,
    /// A block quotation.
    Quotation,
}

/// A text, masked.
pub(super) struct Source<'t> {
    /// The text as written.
    pub(super) text: &'t str,
    /// As long as the original; code, comments and quotations are spaces.
    pub(super) masked: String,
    /// Code blocks in order.
    pub(super) codes: Vec<Code>,
    /// Comments that are never closed.
    pub(super) open_comments: Vec<Span>,
    /// What was blanked out, holds a `#`, and is no code.
    pub(super) hidden: Vec<(Span, Place)>,
    setext: Vec<(usize, usize)>,
}

impl<'t> Source<'t> {
    /// Masks `text`. Linear in its length; any text will do.
    pub(super) fn new(text: &'t str) -> Source<'t> {
        let (codes, open_comments, hidden, setext) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut unix = with_line_feeds(text);
        let mut bytes = unix.as_bytes().to_vec();
        if text.starts_with('\u{feff}') {
            // To the library empty lines, so that what stands behind the mark starts a line.
            unix.to_mut().replace_range(0..3, "\n\n\n");
            bytes[..3].fill(b' ');
        }
        let mut mask = Mask { text: &unix, bytes, codes, open_comments, hidden, setext };
        mask.read();
        let masked = String::from_utf8(mask.bytes).unwrap_or_else(|bad| {
            // A range that splits a character: blank what is not ASCII, so that no offset moves.
            bad.into_bytes().iter().map(|b| if b.is_ascii() { char::from(*b) } else { ' ' }).collect()
        });
        let Mask { codes, open_comments, hidden, setext, .. } = mask;
        Source { text, masked, codes, open_comments, hidden, setext }
    }

    /// Every line.
    pub(super) fn lines(&self) -> Vec<Line<'_>> {
        lines_of(&self.masked, &self.setext)
    }

    /// The masked text of `span`.
    pub(super) fn slice(&self, span: Span) -> &str {
        self.masked.get(span.start..span.end).unwrap_or("")
    }

    /// The code blocks that start within `span`. O(log n + answer).
    pub(super) fn codes_in(&self, span: Span) -> &[Code] {
        let from = self.codes.partition_point(|c| c.span.start < span.start);
        let to = self.codes.partition_point(|c| c.span.start < span.end);
        &self.codes[from..to.max(from)]
    }
}

struct Mask<'t> {
    text: &'t str,
    bytes: Vec<u8>,
    codes: Vec<Code>,
    open_comments: Vec<Span>,
    hidden: Vec<(Span, Place)>,
    setext: Vec<(usize, usize)>,
}

impl Mask<'_> {
    fn read(&mut self) {
        let mut quotes = 0_usize;
        let mut code: Option<Code> = None;
        let mut html: Option<Range<usize>> = None;
        let mut spans: Vec<Range<usize>> = Vec::new();
        for (event, range) in Parser::new_ext(self.text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::BlockQuote(_)) => {
                    quotes += 1;
                    // A quotation inside a quotation is blanked with the outer one.
                    if quotes == 1 {
                        self.quote(range);
                    }
                }
                Event::End(TagEnd::BlockQuote(_)) => quotes = quotes.saturating_sub(1),
                Event::Start(Tag::CodeBlock(kind)) => {
                    let (fenced, language) = match &kind {
                        CodeBlockKind::Fenced(info) => (true, first_word(info)),
                        CodeBlockKind::Indented => (false, String::new()),
                    };
                    let closed = !fenced || ends_with_fence(&self.text[range.clone()]);
                    let span = Span::new(range.start, range.end);
                    let body = String::with_capacity(range.len());
                    code = Some(Code { span, language, body, closed, fenced });
                    self.blank(range);
                }
                Event::End(TagEnd::CodeBlock) => {
                    if let Some(mut block) = code.take().filter(|_| quotes == 0) {
                        if !block.body.is_empty() && !block.body.ends_with('\n') {
                            block.body.push('\n');
                        }
                        self.codes.push(block);
                    }
                }
                Event::Text(text) => {
                    if let Some(block) = &mut code {
                        // `\r` stands only before `\n` by now.
                        block.body.extend(text.split('\r'));
                    }
                }
                Event::Start(Tag::HtmlBlock) => html = Some(range),
                Event::End(TagEnd::HtmlBlock) => {
                    if let Some(block) = html.take() {
                        self.html(block);
                    }
                }
                Event::Code(code) if code.contains("<!--") && !self.text[range.clone()].contains('\n') => {
                    spans.push(range)
                }
                Event::InlineHtml(tag) if tag.starts_with("<!--") => self.hide(range, Place::Comment),
                Event::Start(Tag::Heading { level: HeadingLevel::H1 | HeadingLevel::H2, .. }) => self.heading(range),
                _ => {}
            }
        }
        self.lonely_marks(&spans);
    }

    /// Blanks what opens a comment and is none, for its end is missing from the paragraph; in `spans` of code it is
    /// text. Otherwise the plan would change its meaning where its paragraphs change places.
    fn lonely_marks(&mut self, spans: &[Range<usize>]) {
        let mut spans = spans.iter().peekable();
        let text = self.text;
        let marks = text.match_indices('<').map(|(at, _)| at).filter(|at| text[*at..].starts_with("<!--"));
        for at in marks {
            while spans.next_if(|span| span.end <= at).is_some() {}
            if spans.peek().is_none_or(|span| at < span.start) {
                self.blank(at..at + 4);
            }
        }
    }

    fn blank(&mut self, range: Range<usize>) {
        for byte in self.bytes.get_mut(range).into_iter().flatten() {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }

    fn hide(&mut self, range: Range<usize>, place: Place) {
        if self.text[range.clone()].contains('#') {
            self.hidden.push((Span::new(range.start, range.end), place));
        }
        self.blank(range);
    }

    /// Remembers an underlined title or heading of a plan, and blanks its line. Other underlined texts stay what they
    /// are: `---` under `§7.M: not applicable` was meant as a rule.
    fn heading(&mut self, range: Range<usize>) {
        let text = &self.text[range.clone()];
        let mut lines = text.trim_end().split('\n');
        let (Some(title), Some(line), None) = (lines.next(), lines.next(), lines.next()) else { return };
        let level = match line.trim_start().as_bytes().first() {
            Some(b'=') => 1,
            Some(b'-') => 2,
            _ => return,
        };
        if !title.starts_with('#') && super::is_title(level, title.trim()) {
            let start = range.start + title.len() + 1;
            self.setext.push((range.start, level));
            self.blank(start..start + line.len());
        }
    }

    /// Blanks the lines of a quotation that carry its mark. A lazy line without the mark stays: who forgets a blank
    /// line after a quotation must not lose a hypothesis.
    fn quote(&mut self, range: Range<usize>) {
        let mut start = range.start;
        if self.text[range.clone()].contains('#') {
            self.hidden.push((Span::new(range.start, range.end), Place::Quotation));
        }
        for line in self.text[range].split_inclusive('\n') {
            let bare = line.trim_start();
            if bare.starts_with('>') {
                self.blank(start..start + line.len());
            }
            start += line.len();
        }
    }

    /// Blanks comments, and whole elements whose content is no Markdown. A comment that is never closed hides the rest
    /// of the block only if the block starts with it, and the rest is then all of the text: in another block it ends
    /// with a paragraph, and would hide other lines where that changes places.
    fn html(&mut self, range: Range<usize>) {
        let text = &self.text[range.clone()];
        let bare = text.trim_start();
        let verbatim = |tag: &str| bare.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag));
        if ["<pre", "<script", "<style", "<textarea"].into_iter().any(verbatim) {
            return self.hide(range, Place::Comment);
        }
        let mut at = 0;
        while let Some(open) = text[at..].find("<!--").map(|i| at + i) {
            let close = text[open..].find("-->").map(|i| open + i + 3);
            if close.is_none() {
                self.open_comments.push(Span::new(range.start + open, range.start + open + 4));
            }
            if close.is_none() && open > text.len() - bare.len() {
                return;
            }
            at = close.unwrap_or(text.len());
            self.hide(range.start + open..range.start + at, Place::Comment);
        }
    }
}

/// The text with a line feed for each carriage return that ends a line by itself; offsets stay.
fn with_line_feeds(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let alone = |i: usize| bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n');
    if !text.match_indices('\r').any(|(i, _)| alone(i)) {
        return Cow::Borrowed(text);
    }
    let feed = |(i, c): (usize, char)| if c == '\r' && alone(i) { '\n' } else { c };
    Cow::Owned(text.char_indices().map(feed).collect())
}

fn first_word(info: &str) -> String {
    info.split([' ', '\t', ',', '{']).next().unwrap_or("").to_ascii_lowercase()
}

fn ends_with_fence(block: &str) -> bool {
    let mut lines = block.trim_end().lines();
    let opening = lines.next();
    let last = lines.next_back().map(str::trim);
    opening.is_some()
        && last.is_some_and(|l| l.len() >= 3 && (l.bytes().all(|b| b == b'`') || l.bytes().all(|b| b == b'~')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible(text: &str) -> String {
        let source = Source::new(text);
        assert_eq!(source.masked.len(), text.len(), "offsets must not move");
        source.masked.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn code_comments_and_quotations_are_blanked_and_nothing_else() {
        let check = |text: &str, expect: &str| assert_eq!(visible(text), expect, "{text:?}");
        check("a\n```\n## 4. fake\n```\nb", "a b");
        check("a\n\n    ### Scenario S9: fake\n\nb", "a b");
        check("a <!-- C9 --> b", "a b");
        check("<!--\n\n## 1b. fake\n\n-->\n\nb", "b");
        check("> H9. quoted\n> more\n\nb", "b");
        check("> quoted\nH1. not quoted", "H1. not quoted");
        check("- item\n  > quoted\n  rest", "- item rest");
        check("\u{feff}# Test Plan: x", "# Test Plan: x");
        check("\u{feff} # Test Plan: x", "# Test Plan: x");
        check("\u{feff}<!-- # Test Plan: x\n# y -->\nz", "z");
        check("`<!--` stays", "`<!--` stays");
        check("é <!-- ü --> ß\r\n> ö\r\n", "é ß");
    }

    #[test]
    fn a_code_block_in_a_list_loses_the_indentation_of_the_list() {
        let source = Source::new("- **Skeleton:**\r\n  ```rust\r\n  fn a() {\r\n      b();\r\n  }\r\n  ```\r\n");
        let code = &source.codes[0];
        assert_eq!((code.language.as_str(), code.body.as_str()), ("rust", "fn a() {\n    b();\n}\n"));
        assert!(code.closed && code.fenced);
    }

    #[test]
    fn an_unclosed_fence_and_an_unclosed_comment_are_known() {
        assert!(!Source::new("a\n```rust\nb\n").codes[0].closed);
        assert!(!Source::new("- x\n  ```rust\nfn b() {}\n").codes[0].closed);
        assert_eq!(Source::new("<!-- a\n\n## 1. b\n").open_comments.len(), 1);
    }
}
