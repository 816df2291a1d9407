//! Where the line comments of a test file in any language are, and where a line begins inside of a string, so that a
//! marker is neither taken from there nor put there.
//!
//! Not parsers: just enough of each language's lexical rules. What they cannot follow is an error, never a guess.

mod go;
mod python;
mod shell;
mod typescript;

use super::comments;
use super::language::Language;
use std::ops::Range;

/// What stands where in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    /// Line comments, without their line ends.
    pub comments: Vec<Range<usize>>,
    /// Tokens that go over a line end, sorted and apart: strings, block comments, here-documents, continued lines.
    pub long: Vec<Range<usize>>,
}

impl Scan {
    /// True when the line that begins at `at` begins inside of a token.
    pub(super) fn is_inside(&self, at: usize) -> bool {
        let before = self.long.partition_point(|token| token.start < at);
        self.long[..before].last().is_some_and(|token| at < token.end)
    }

    /// The comments that stand alone on their line: (start of the line, comment).
    pub(super) fn alone<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (usize, Range<usize>)> + 'a {
        self.comments.iter().filter_map(|comment| {
            let line = text[..comment.start].rfind('\n').map_or(0, |at| at + 1);
            let alone = text[line..comment.start].chars().all(|c| matches!(c, ' ' | '\t' | '\u{c}' | '\u{feff}'));
            (alone && !self.is_inside(line)).then(|| (line, comment.clone()))
        })
    }
}

/// Scans `text`; `Err` with the offset of a token that is opened and never closed. O(length).
pub(super) fn scan(language: Language, text: &str) -> Result<Scan, usize> {
    let mut found = match language {
        Language::Rust => comments::line_comments(text).map(|comments| Scan { comments, long: Vec::new() }),
        Language::Go => go::scan(text),
        Language::Python => python::scan(text),
        Language::TypeScript => typescript::scan(text),
        Language::Shell => shell::scan(text),
    }?;
    found.long.sort_by_key(|token| token.start);
    // Code in a string is part of the string.
    found.long.dedup_by(|inner, outer| {
        let overlap = inner.start < outer.end;
        if overlap {
            outer.end = outer.end.max(inner.end);
        }
        overlap
    });
    Ok(found)
}

/// A position in a text.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    found: Scan,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str) -> Cursor<'a> {
        Cursor { bytes: text.as_bytes(), at: 0, found: Scan::default() }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn sees(&self, text: &str) -> bool {
        self.bytes[self.at.min(self.bytes.len())..].starts_with(text.as_bytes())
    }

    /// A comment up to the end of the line. U+2028 and U+2029 end a line in TypeScript alone; a marker never stands
    /// behind one, so ending the comment there is right for all.
    fn line_comment(&mut self) {
        let rest = &self.bytes[self.at..];
        let newline = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        let separator = rest[..newline].windows(3).position(|w| w == b"\xe2\x80\xa8" || w == b"\xe2\x80\xa9");
        let length = separator.unwrap_or(newline);
        let text = rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length]);
        self.found.comments.push(self.at..self.at + text.len());
        self.at += length;
    }

    /// From here past the next `close`; a backslash hides the byte behind it when `escapes`.
    fn until(&mut self, open: usize, close: &str, escapes: bool, lines: Lines) -> Result<(), usize> {
        let start = self.at;
        self.at += open;
        while !self.sees(close) {
            match self.peek(0) {
                None => return Err(start),
                Some(b'\\') if escapes => self.at += if self.sees("\\\r\n") { 3 } else { 2 },
                Some(b'\n') if lines == Lines::One => return Err(start),
                Some(_) => self.at += 1,
            }
        }
        self.at += close.len();
        self.token(start);
        Ok(())
    }

    /// Remembers the token from `start` to here when it goes over a line end.
    fn token(&mut self, start: usize) {
        if self.bytes[start..self.at.min(self.bytes.len())].contains(&b'\n') {
            self.found.long.push(start..self.at);
        }
    }
}

/// Over how many lines a token may go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    One,
    Many,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_comments_of_each_language_are_found() {
        let check = |language: Language, text: &str, expect: &[&str]| {
            let scan = scan(language, text).unwrap_or_else(|at| panic!("{language:?} open at {at}: {text}"));
            let found: Vec<&str> = scan.comments.into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, expect, "{language:?} {text}");
        };
        use Language::{Go, Python, Shell, TypeScript};
        check(Go, "a // b\r\nc", &["// b"]);
        check(Go, "`// no\n` + \"// no\" + '\"' // yes", &["// yes"]);
        check(Go, "/* // no */ // yes /*", &["// yes /*"]);
        check(Go, "\"\\\"// no\" // yes", &["// yes"]);
        check(Python, "a # b\n'# no' \"# no\" # yes", &["# b", "# yes"]);
        check(Python, "\"\"\"\n# no \" \\\"\"\" \n\"\"\" # yes", &["# yes"]);
        check(Python, "r'\\'' # yes", &["# yes"]);
        check(Python, "f'{x[\"a\"]}' # yes", &["# yes"]);
        check(TypeScript, "`// no ${ f(`// no ${1}`) + '}' } // no` // yes", &["// yes"]);
        check(TypeScript, "a = /[/\"'`]\\/\\// // yes", &["// yes"]);
        check(TypeScript, "a / b / c // yes", &["// yes"]);
        check(TypeScript, "if (x) return /'/.test(y) // yes", &["// yes"]);
        check(TypeScript, "(a) / 2 // yes", &["// yes"]);
        check(TypeScript, "x // a\u{2028}y // b", &["// a", "// b"]);
        check(Shell, "echo a#b '# no\n# no' \"# no $(f \"x # no\" # yes\n)\" # yes", &["# yes", "# yes"]);
        check(Shell, "echo ${#x} $# ${x#y} # yes", &["# yes"]);
        check(Shell, "cat <<EOF # yes\n# no ' \"\nEOF\n# yes", &["# yes", "# yes"]);
        check(Shell, "cat <<-'E F' <<X\n# no\n\tE F\n# no\nX\n# yes", &["# yes"]);
        check(Shell, "x=$((1<<2)) # yes\ncat <<<'a' # yes", &["# yes", "# yes"]);
        check(Shell, "echo $'it\\'s' # yes", &["# yes"]);
        check(Shell, "echo \\' # yes", &["# yes"]);
        check(Shell, "case $x in a) f;; esac # yes", &["# yes"]);
    }

    #[test]
    fn what_is_never_closed_is_an_error() {
        let check = |language: Language, text: &str| assert!(scan(language, text).is_err(), "{language:?} {text}");
        check(Language::Go, "\"a\n\"");
        check(Language::Go, "`a");
        check(Language::Go, "/* a");
        check(Language::Python, "'a\n'");
        check(Language::Python, "'''a");
        check(Language::TypeScript, "`${a`");
        check(Language::TypeScript, "\"a\n");
        check(Language::Shell, "cat <<EOF\nx\n");
        check(Language::Shell, "echo 'a");
        check(Language::Shell, "echo \"$(a\"");
    }

    #[test]
    fn a_line_inside_of_a_token_is_known() {
        let check = |language: Language, text: &str, inside: &[&str]| {
            let scan = scan(language, text).expect(text);
            let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
            let found: Vec<&str> =
                starts.filter(|at| scan.is_inside(*at)).filter_map(|at| text[at..].lines().next()).collect();
            assert_eq!(found, inside, "{language:?} {text}");
        };
        check(Language::Go, "a := `x\ny\n`\nb", &["y", "`"]);
        check(Language::Python, "a = \"\"\"x\ny\"\"\"\nb = 1 + \\\n2\nc", &["y\"\"\"", "2"]);
        check(Language::TypeScript, "a = `x${\n1}\ny`\nb", &["1}", "y`"]);
        check(Language::Shell, "cat <<E\nx\nE\necho 'a\nb' \\\nc\nd", &["x", "E", "b' \\", "c"]);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic() {
        let odd = [
            "\\", "'\\", "\"\\", "`\\", "${", "/*", "/", "<<", "<<-", "<<'", "\"\"\"\\", "r\"", "$((", "$'\\", "é'\\é",
        ];
        for language in [Language::Go, Language::Python, Language::TypeScript, Language::Shell, Language::Rust] {
            for a in odd {
                for b in odd {
                    let _ = scan(language, &format!("{a}{b}"));
                    let _ = scan(language, &format!("{a}\n{b}\n"));
                }
            }
        }
    }
}
