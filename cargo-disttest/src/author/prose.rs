//! Text of a plan made safe for comments and string literals of Rust. A plan is untrusted input.

/// True for characters that end a line, hide text or reorder it: they must not reach source code. rustc rejects
/// the bidirectional ones itself (`text_direction_codepoint_in_comment`).
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// `text` as one line: unsafe characters and runs of white space become one space.
pub(crate) fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if is_unsafe(c) { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `text` as a Rust string literal of one line.
pub(crate) fn literal(text: &str) -> String {
    let mut out = String::from('"');
    for c in one_line(text).chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

/// `text` as comment lines: the first behind `first`, the others behind `rest`, broken at `width` columns where
/// words allow. List items of the plan start lines of their own. Empty text gives `first` alone.
pub(crate) fn comment(first: &str, rest: &str, text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = first.trim_end().to_owned();
    let mut empty = true;
    for paragraph in paragraphs(text) {
        if !empty {
            lines.push(std::mem::replace(&mut line, rest.trim_end().to_owned()));
            empty = true;
        }
        for word in paragraph.split(' ') {
            if !empty && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::replace(&mut line, rest.trim_end().to_owned()));
            }
            line.push(' ');
            line.push_str(word);
            empty = false;
        }
    }
    lines.push(line);
    lines
}

/// Lines of the plan joined to paragraphs; an item of a list begins one.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines().map(one_line) {
        if line.is_empty() {
            open = false;
        } else if open && !is_list_item(&line) {
            let last = paragraphs.last_mut().expect("an open paragraph is in the list");
            last.push(' ');
            last.push_str(&line);
        } else {
            paragraphs.push(line);
            open = true;
        }
    }
    paragraphs
}

fn is_list_item(line: &str) -> bool {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
        || (digits.len() < line.len() && (digits.starts_with(". ") || digits.starts_with(") ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_plan_leaves_its_comment() {
        let check = |text: &str, expect: &[&str]| assert_eq!(comment("// a —", "// |", text, 24), expect, "{text:?}");
        check("", &["// a —"]);
        check("short", &["// a — short"]);
        check("x\nfn main() {}", &["// a — x fn main() {}"]);
        check("x\rfn main() {}", &["// a — x fn main() {}"]);
        check("x\u{2028}y\u{202e}z\u{0}", &["// a — x y z"]);
        check("one two three four five six", &["// a — one two three", "// | four five six"]);
        check("list:\n- one\n- two\n  more", &["// a — list:", "// | - one", "// | - two more"]);
        check("disttest:end workload", &["// a — disttest:end", "// | workload"]);
        check("an_endless_word_that_fits_nowhere b", &["// a — an_endless_word_that_fits_nowhere", "// | b"]);
    }

    #[test]
    fn nothing_of_a_plan_leaves_its_string() {
        let check = |text: &str, expect: &str| assert_eq!(literal(text), expect);
        check("a \"quoted\" \\ back", r#""a \"quoted\" \\ back""#);
        check("\")] fn x() {} /*", r#""\")] fn x() {} /*""#);
        check("two\nlines\u{202e}", r#""two lines""#);
        check("not provided — no rig", "\"not provided — no rig\"");
    }
}
