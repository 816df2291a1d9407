//! Lines of text, written so that they are read as text.

use super::super::parse::bullet;

/// White space for a person and for the parser, a letter for Markdown: what follows it starts no block.
const GUARD: &str = "\u{a0}\u{a0}\u{a0}\u{a0}";

/// A heading. One that ends in `#` gets a closing run, which is no part of it.
pub(super) fn heading(out: &mut String, level: usize, title: &str) {
    out.push_str(&"#".repeat(level));
    if !title.is_empty() {
        out.push(' ');
        out.push_str(title);
    }
    if title.ends_with('#') {
        out.push_str(" #");
    }
    out.push_str("\n\n");
}

/// The name behind the id of a heading.
pub(super) fn name(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(": {name}") }
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A line of a value, with a guard if it would be taken for a heading, a quotation, code, a comment or an underline.
pub(super) fn line(out: &mut String, indent: usize, text: &str) {
    out.extend(std::iter::repeat_n(' ', indent));
    if starts_block(text) {
        out.push_str(GUARD);
    }
    out.push_str(text);
    out.push('\n');
}

/// A bullet, guarded if `text` behind its marker would start a block, and with another marker if the two would make a
/// rule of the line.
pub(super) fn item(out: &mut String, text: &str) {
    let rule = text.chars().all(|c| c == '-' || c.is_whitespace());
    out.push_str(if rule { "* " } else { "- " });
    if starts_block(text) {
        out.push_str(GUARD);
    }
    out.push_str(text);
    out.push('\n');
}

/// Paragraphs of a section, guarded where a line would be taken for one of the section's elements.
pub(super) fn prose(out: &mut String, text: &str, number: &str) {
    for paragraph_line in text.split('\n') {
        let element = match number {
            "4" => super::super::parse::starts_hypothesis(paragraph_line),
            "6" => super::super::parse::names_technique(paragraph_line),
            _ => false,
        };
        if element && !starts_block(paragraph_line) {
            out.push_str(GUARD);
        }
        line(out, 0, paragraph_line);
    }
}

/// True for a line that Markdown would not take for the text of a paragraph, in list items at its head either.
fn starts_block(text: &str) -> bool {
    let underline = |mark: char| !text.is_empty() && text.chars().all(|c| c == mark);
    text.starts_with(['>', '#', '<']) || underline('=') || underline('-') || starts_code(text)
}

fn starts_code(text: &str) -> bool {
    let mut rest = text;
    while let Some((at, content)) = bullet(rest) {
        let gap = rest[..at].trim_start_matches(|c: char| !c.is_whitespace());
        if gap.contains('\t') || gap.len() > 4 || content.starts_with(['<', '>']) {
            return true;
        }
        rest = content;
    }
    rest.starts_with("```") || rest.starts_with("~~~")
}

/// A fenced block, its fence longer than any run of backticks in it.
pub(super) fn fence(out: &mut String, indent: usize, language: &str, body: &str) {
    let fence = "`".repeat(longest_run(body).max(2) + 1);
    let pad = " ".repeat(indent);
    out.push_str(&format!("{pad}{fence}{language}\n"));
    for line in body.split_inclusive('\n') {
        if line != "\n" {
            out.push_str(&pad);
        }
        out.push_str(line);
    }
    if !body.is_empty() && !body.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(&format!("{pad}{fence}\n"));
}

/// True for code that can stand indented in a list and is read back to the byte.
pub(super) fn may_be_indented(body: &str) -> bool {
    body.lines().all(|line| !line.starts_with('\t') && (line.is_empty() || !line.trim().is_empty()))
}
