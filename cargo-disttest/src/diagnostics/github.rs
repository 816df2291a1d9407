//! Diagnostics as workflow commands of GitHub Actions, which shows them at the lines of a pull request.
//!
//! A command is one line, `::error file=…,line=…::message`. A percent sign and a line break in the message, and in
//! properties a colon and a comma as well, are written as `%25`, `%0D`, `%0A`, `%3A`, `%2C` (Actions toolkit,
//! `core/src/command.ts`), so that no text of a plan can end a command or start another.

use super::plain;
use disttest_runtime::base::diagnostic::{Diagnostic, LineIndex, Severity};

/// One command. `file` is relative to the root of the repository.
pub(crate) fn command(diagnostic: &Diagnostic, file: &str, text: &str, index: &LineIndex) -> String {
    let name = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let (start, end) = (index.position(text, diagnostic.span.start), index.position(text, diagnostic.span.end));
    let mut properties = vec![
        ("file", file.to_owned()),
        ("line", start.line.to_string()),
        ("endLine", end.line.to_string()),
        ("col", start.column.to_string()),
    ];
    // GitHub takes an end column only where the line is the same.
    if start.line == end.line {
        properties.push(("endColumn", end.column.to_string()));
    }
    properties.push(("title", diagnostic.rule.clone()));
    let properties: Vec<String> = properties.iter().map(|(key, value)| format!("{key}={}", property(value))).collect();
    let help = diagnostic.help.as_deref().map(|help| format!("\nhelp: {}", plain(help))).unwrap_or_default();
    format!("::{name} {}::{}", properties.join(","), data(&format!("{}{help}", plain(&diagnostic.message))))
}

/// A command about a file that could not be read.
pub(crate) fn unreadable(file: &str, message: &str) -> String {
    format!("::error file={},title=unreadable::{}", property(file), data(&plain(message)))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use disttest_runtime::base::diagnostic::Span;

    fn told(text: &str, span: Span, message: &str, help: Option<&str>) -> String {
        let (rule, message, help) = ("missing-oracle".to_owned(), message.to_owned(), help.map(str::to_owned));
        let diagnostic = Diagnostic { rule, message, help, span, ..Diagnostic::default() };
        command(&diagnostic, "docs/a,b:c.md", text, &LineIndex::new(text))
    }

    #[test]
    fn a_command_is_one_line_with_place_title_and_message() {
        let text = "one\ntwo é three\n";
        assert_eq!(
            told(text, Span::new(4, 7), "100% wrong: S1, S2", Some("write `x`")),
            "::error file=docs/a%2Cb%3Ac.md,line=2,endLine=2,col=1,endColumn=4,title=missing-oracle\
             ::100%25 wrong: S1, S2%0Ahelp: write `x`"
        );
        assert_eq!(
            told(text, Span::new(0, 7), "m", None),
            "::error file=docs/a%2Cb%3Ac.md,line=1,endLine=2,col=1,title=missing-oracle::m"
        );
    }

    #[test]
    fn no_text_can_end_a_command_or_start_another() {
        let evil = "a\r\n::set-output name=x::y\u{2028}\u{1b}[2J";
        let line = told("x", Span::new(0, 1), evil, Some(evil));
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(!line.contains(['\r', '\n', '\u{1b}']), "{line}");
        assert_eq!(unreadable("a\n::b", "m\n::c").lines().count(), 1);
    }
}
