//! The HTML comments of a Markdown text: no code, no quotation, nothing that only looks like one.

use crate::base::diagnostic::Span;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";

/// A comment that is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comment {
    /// Its marks included.
    pub(super) span: Span,
}

impl Comment {
    /// What stands between its marks.
    pub(super) fn body<'t>(&self, text: &'t str) -> &'t str {
        let Span { start, end } = self.span;
        text.get(start + OPEN.len()..end.saturating_sub(CLOSE.len())).unwrap_or("")
    }
}

/// All of `text`, in order. What the parser of plans blanks out as a comment is one here, and nothing else. Linear.
pub(super) fn read(text: &str) -> Vec<Comment> {
    let mut out = Vec::new();
    let mut quotes = 0_usize;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotes = quotes.saturating_sub(1),
            _ if quotes > 0 => {}
            Event::InlineHtml(tag) if tag.starts_with(OPEN) => out.push(comment(range)),
            Event::Start(Tag::HtmlBlock) => of_block(text, range, &mut out),
            _ => {}
        }
    }
    // The library tells what stands in a table's cells or a footnote when it comes to it.
    out.sort_by_key(|comment| comment.span.start);
    out.dedup();
    out
}

/// The comments of a block of HTML; none where its content is a script or preformatted.
fn of_block(text: &str, range: Range<usize>, out: &mut Vec<Comment>) {
    let block = &text[range.clone()];
    let head = block.trim_start().get(..9).unwrap_or(block.trim_start()).to_ascii_lowercase();
    if ["<pre", "<script", "<style", "<textarea"].iter().any(|tag| head.starts_with(tag)) {
        return;
    }
    let mut at = 0;
    while let Some(open) = block[at..].find(OPEN).map(|i| at + i) {
        // One that is never closed hides the rest of the block, as the parser tells.
        let Some(close) = block[open..].find(CLOSE).map(|i| open + i + CLOSE.len()) else { return };
        out.push(comment(range.start + open..range.start + close));
        at = close;
    }
}

fn comment(range: Range<usize>) -> Comment {
    Comment { span: Span::new(range.start, range.end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_those_of_markdown() {
        let check = |text: &str, expect: &[&str]| {
            let found: Vec<&str> = read(text).iter().map(|comment| comment.body(text).trim()).collect();
            assert_eq!(found, expect, "{text:?}");
            let masked = crate::plan::parse::masked(text);
            for comment in read(text) {
                let Span { start, end } = comment.span;
                assert!(masked[start..end].trim().is_empty(), "the parser of plans reads it: {text:?}");
            }
        };
        check("a <!-- one --> b <!-- two -->\n", &["one", "two"]);
        check("<!-- one -->\n\n<!--\ntwo\n-->\n", &["one", "two"]);
        check("<!-- one --><!-- two -->\n", &["one", "two"]);
        check("### Scenario S1: x <!-- one -->\n", &["one"]);
        check("- item <!-- one -->\n\n  <!-- two -->\n", &["one", "two"]);
        check("| a | b |\n|---|---|\n| c <!-- one --> | d |\n", &["one"]);
        check("```\n<!-- code -->\n```\n", &[]);
        check("    <!-- code -->\n", &[]);
        check("`<!-- code -->`\n", &[]);
        check("> <!-- quoted -->\n\nb\n", &[]);
        check("<pre>\n<!-- shown -->\n</pre>\n", &[]);
        check("<!-- open\n\n## 1. b\n", &[]);
        check("\\<!-- text -->\n", &[]);
        check("\u{feff}<!-- ä -->\r\n", &["ä"]);
        check("<!-->\n<!--->\n", &["", ""]);
    }
}
