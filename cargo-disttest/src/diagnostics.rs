//! Diagnostics as a compiler shows them: source line, underline, help.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use disttest_runtime::base::diagnostic::{Diagnostic, LineIndex, Severity};
use std::ops::Range;

/// Longest message that is shown whole, in characters.
const LONGEST: usize = 400;

/// All of `diags` about `text`, a blank line between them, ending in a line break unless there are none.
/// Time linear in the text and in what is shown.
pub fn render(file_name: &str, text: &str, diags: &[Diagnostic], color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let index = LineIndex::new(text);
    let mut out = String::new();
    for diagnostic in diags {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&one(&renderer, file_name, text, &index, diagnostic));
        out.push('\n');
    }
    out
}

/// `3 errors, 1 warning` and the like; empty for none at all.
pub fn count(diags: &[Diagnostic]) -> String {
    let words = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")];
    let counts = words.map(|(severity, word)| (diags.iter().filter(|d| d.severity == severity).count(), word));
    let some = counts.iter().filter(|(n, _)| *n > 0);
    some.map(|(n, word)| format!("{n} {word}{}", if *n == 1 { "" } else { "s" })).collect::<Vec<_>>().join(", ")
}

fn one(renderer: &Renderer, file_name: &str, text: &str, index: &LineIndex, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let shown = shown_line(text, diagnostic.span.start);
    let line = index.position(text, shown.start).line;
    let start = within(text, &shown, diagnostic.span.start) - shown.start;
    let end = within(text, &shown, diagnostic.span.end) - shown.start;
    let underline = AnnotationKind::Primary.span(start..end.max(start));
    let snippet = Snippet::source(&text[shown]).line_start(line).path(plain(file_name)).annotation(underline);
    let title = level.primary_title(plain(&diagnostic.message)).id(diagnostic.rule.as_str());
    let group = match &diagnostic.help {
        Some(help) => title.element(snippet).element(Level::HELP.message(plain(help))),
        None => title.element(snippet),
    };
    renderer.render(&[group])
}

/// `at` moved into `shown`, and back to the border of a character.
fn within(text: &str, shown: &Range<usize>, at: usize) -> usize {
    let at = at.clamp(shown.start, shown.end);
    (shown.start..=at).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(shown.start)
}

/// The line that byte `at` stands on, without its line break: the only part of the source that is shown, so that a
/// thousand diagnostics do not cost a thousand times the text.
fn shown_line(text: &str, at: usize) -> Range<usize> {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
    let line = text[start..end].trim_end_matches('\r');
    start..start + line.len()
}

/// One line without control characters: a plan is untrusted and must not steer the terminal.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::new();
    for (n, c) in text.chars().enumerate() {
        match c {
            _ if n >= LONGEST => {
                out.push('…');
                break;
            }
            '\n' | '\t' => out.push(' '),
            _ if c.is_control() || is_steering(c) => out.extend(c.escape_unicode()),
            _ => out.push(c),
        }
    }
    out
}

/// Characters that reorder or hide text.
fn is_steering(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use disttest_runtime::base::diagnostic::Span;

    fn told(message: &str, span: Range<usize>) -> Diagnostic {
        let span = Span::new(span.start, span.end);
        let (rule, message) = ("missing-oracle".to_owned(), message.to_owned());
        Diagnostic {
            rule,
            severity: Severity::Error,
            message,
            span,
            help: Some("write one".to_owned()),
            edits: Vec::new(),
        }
    }

    #[test]
    fn a_diagnostic_shows_place_line_underline_and_help() {
        let text = "# Test Plan: x\n\n### Scenario S1: é\n- **Closes:** H1\n";
        let at = text.find("S1").expect("it is there");
        let expect = "\
error[missing-oracle]: S1 has no oracle
 --> plans/x.md:3:14
  |
3 | ### Scenario S1: é
  |              ^^
  |
  = help: write one
";
        assert_eq!(render("plans/x.md", text, &[told("S1 has no oracle", at..at + 2)], false), expect);
    }

    #[test]
    fn long_spans_odd_offsets_and_control_characters_do_no_harm() {
        let text = "ab\u{1b}[31m é\r\nsecond\n";
        for span in [0..text.len(), 9..10, 500..900, 3..3, text.len()..text.len()] {
            let shown = render("x\u{1b}.md", text, &[told("a\u{1b}[2Jb\nc", span)], false);
            assert!(!shown.contains('\u{1b}'), "{shown:?}");
        }
        assert!(render("x", text, &[told("m", 0..1)], true).contains("\u{1b}["));
        assert_eq!(render("x", text, &[], false), "");
    }

    #[test]
    fn counts_are_words() {
        let warning = Diagnostic { severity: Severity::Warning, ..told("m", 0..1) };
        assert_eq!(count(&[told("m", 0..1), told("m", 0..1), warning]), "2 errors, 1 warning");
        assert_eq!(count(&[]), "");
    }
}
