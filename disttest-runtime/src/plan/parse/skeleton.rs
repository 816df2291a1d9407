//! Target test file, skeleton language and skeleton of a scenario or arm.

use super::Reader;
use super::source::Code;
use crate::base::diagnostic::{Span, Spanned};
use crate::plan::labels::{LANGUAGE, TARGET};
use crate::plan::model::Field;
use crate::plan::references::decoded;
use crate::plan::rules::report;
use std::borrow::Cow;

/// Words for "there is none", which are no paths.
const NO_TARGET: &[&str] = &["none", "n/a", "—", "-", "tbd", "not"];

impl Reader<'_> {
    /// The first path of the target field.
    pub(super) fn target(&mut self, fields: &[Field]) -> Option<Spanned<String>> {
        let field = fields.iter().find(|f| f.label == TARGET).filter(|f| !f.value.value.is_empty())?;
        let written = self.source.slice(field.value.span);
        let paths = match decoded(written) {
            Cow::Borrowed(written) => paths(written, field.value.span.start),
            Cow::Owned(plain) => whole(paths(&plain, 0), field.value.span),
        };
        let span = field.value.span;
        let first_word = field.value.value.split([' ', '\n', ',', '.']).next().unwrap_or("").to_lowercase();
        if paths.is_empty() {
            if !NO_TARGET.contains(&first_word.as_str()) {
                let message = format!("`{}` has no path that can be read", field.value.value);
                let help = "write one relative path, such as `tests/auto/s1_name.rs`";
                self.told.push(report("unreadable-target", span, message, help));
            }
            return None;
        }
        if let Some(second) = paths.get(1) {
            let message = format!("more than one path; `{}` is taken", paths[0].value);
            self.told.push(report("several-targets", second.span, message, "name one file; arms may name their own"));
        } else if let Some(note) = note_beside(&field.value.value, &paths[0].value) {
            let message = format!("a note stands beside the path: `{note}` is not read; `{}` is taken", paths[0].value);
            self.told.push(report("several-targets", span, message, "write the path alone"));
        }
        paths.into_iter().next()
    }

    /// The language field, or else the language of the fence; one that the format does not know is kept as written.
    pub(super) fn language(&mut self, fields: &[Field], code: Option<&Code>) -> Option<Spanned<String>> {
        let word = |text: &str| {
            let bare = text.replace(['`', '*'], "").to_lowercase();
            bare.split([' ', '\n', ',', '.', '(']).next().unwrap_or("").to_owned()
        };
        let field = fields.iter().find(|f| f.label == LANGUAGE && !f.value.value.is_empty());
        let written = field.map(|f| Spanned::new(word(&f.value.value), f.value.span));
        let fence = code.filter(|c| !c.language.is_empty()).map(|c| Spanned::new(c.language.clone(), c.span));
        let language = written.or(fence)?;
        let canonical = match language.value.as_str() {
            "rust" | "rs" => "rust",
            "go" | "golang" => "go",
            "python" | "py" => "python",
            "typescript" | "ts" => "typescript",
            "shell" | "sh" | "bash" => "shell",
            other => {
                let message = format!("`{other}` is no skeleton language");
                let help = "write rust, go, python, typescript or shell";
                self.told.push(report("unknown-skeleton-language", language.span, message, help));
                return Some(language).filter(|language| !language.value.is_empty());
            }
        };
        Some(Spanned::new(canonical.to_owned(), language.span))
    }

    /// Warns of a skeleton that is prose.
    pub(super) fn skeleton_prose(&mut self, span: Span) {
        let help = "put the skeleton into a fenced block, indented two spaces";
        let message = "this skeleton is no fenced block; it counts as none";
        self.told.push(report("skeleton-not-fenced", span, message, help));
    }
}

/// The values, each at the place of all of them: in references a part of a text has no place of its own.
pub(super) fn whole<T>(values: Vec<Spanned<T>>, place: Span) -> Vec<Spanned<T>> {
    values.into_iter().map(|value| Spanned::new(value.value, place)).collect()
}

/// What stands in a target field beside its only path: `(new)`, `+ helper`. A link names its path twice.
fn note_beside<'t>(text: &'t str, path: &str) -> Option<&'t str> {
    let quotes = |c: char| c.is_whitespace() || "`*\"',;.".contains(c);
    let (before, after) = text.split_once(path)?;
    let note = if before.trim_matches(quotes).is_empty() { after } else { before };
    let note = note.trim_matches(quotes);
    let link =
        note.starts_with(['[', ']']) || after.trim_start_matches('`').starts_with("](") || before.ends_with("](");
    (!note.is_empty() && !link).then_some(note)
}

/// Everything in `text` that looks like a path: backticked or bare words with a `/` or a file suffix.
fn paths(text: &str, base: usize) -> Vec<Spanned<String>> {
    let mut out = Vec::new();
    let mut at = 0;
    for word in text.split_inclusive(|c: char| c.is_whitespace() || c == ',' || c == ';') {
        let start = at;
        at += word.len();
        let bare = word.trim_start_matches(['`', '*', '(', '"', '[', ' ']);
        let lead = word.len() - bare.len();
        // A link shows one path and leads to it or to another.
        let mut from = base + start + lead;
        for part in bare.split("](") {
            let path = part.trim_end_matches(|c: char| c.is_whitespace() || "`*)\",;].".contains(c));
            if looks_like_path(path) {
                out.push(Spanned::new(path.to_owned(), Span::new(from, from + path.len())));
                break;
            }
            from += part.len() + 2;
        }
    }
    out
}

fn looks_like_path(word: &str) -> bool {
    let suffix = word.rsplit_once('.').filter(|(stem, end)| {
        !stem.is_empty() && (1..=4).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_alphabetic())
    });
    let no_word = NO_TARGET.contains(&word.to_lowercase().as_str()) || word.starts_with("http");
    !no_word && (suffix.is_some() || (word.contains('/') && word.len() > 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_beside_a_path_is_seen() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(note_beside(text, "a/b.rs"), expect, "{text}");
        check("`a/b.rs`", None);
        check("a/b.rs.", None);
        check("a/b.rs (new)", Some("(new)"));
        check("`a/b.rs` + helper", Some("+ helper"));
        check("new: `a/b.rs`", Some("new:"));
        check("[`a/b.rs`](a/b.rs)", None);
        check("[the test](a/b.rs)", None);
    }

    #[test]
    fn paths_are_found_in_notes_and_lists() {
        let check = |text: &str, expect: &[&str]| {
            let found: Vec<String> = paths(text, 0).into_iter().map(|p| p.value).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("`tests/auto/s1.rs`", &["tests/auto/s1.rs"]);
        check("tests/auto/s1.rs (new)", &["tests/auto/s1.rs"]);
        check("`a/b.rs`, `c/d.rs`", &["a/b.rs", "c/d.rs"]);
        check("`a/b.rs` + helper", &["a/b.rs"]);
        check("[`a/b.rs`](a/b.rs)", &["a/b.rs"]);
        check("[the test](a/b.rs)", &["a/b.rs"]);
        check("none", &[]);
        check("N/A", &[]);
        check("/etc/passwd", &["/etc/passwd"]);
        check("../up.rs", &["../up.rs"]);
    }
}
