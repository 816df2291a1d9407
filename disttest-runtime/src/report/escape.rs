//! Text from outside, made inert: it can neither break a table, a line or a list, nor start a heading, a link or HTML.

/// `text` as inline Markdown on one line, safe in a table cell, after a bullet and inside a heading.
///
/// White space collapses to single blanks; control and text-direction characters become U+FFFD.
pub fn inline(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::with_capacity(flat.len() + 8);
    let mut previous = None;
    let mut rest = flat.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '$' | '^' => out.extend(['\\', c]),
            // Inside a word an underscore is no emphasis, and names stay readable.
            '_' if is_word(previous) && is_word(rest.peek().copied()) => out.push(c),
            '_' => out.push_str("\\_"),
            '#' | '-' | '+' | '=' if previous.is_none() => out.extend(['\\', c]),
            '.' | ')' if out.bytes().all(|b| b.is_ascii_digit()) && !out.is_empty() => out.extend(['\\', c]),
            // `http://` and `www.` would become links of their own.
            ':' if rest.peek() == Some(&'/') => out.push_str("&#58;"),
            '.' if out.to_ascii_lowercase().ends_with("www") => out.push_str("&#46;"),
            '@' => out.push_str("&#64;"),
            c => out.push(visible(c)),
        }
        previous = Some(c);
    }
    out
}

/// [`inline`], and an em dash for nothing: an empty cell says so.
pub fn cell(text: &str) -> String {
    let text = inline(text);
    if text.is_empty() { "—".to_owned() } else { text }
}

/// `text` as a code span on one line; not for tables. Empty text gives an em dash.
pub fn code(text: &str) -> String {
    let flat: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().map(visible).collect();
    if flat.is_empty() {
        return "—".to_owned();
    }
    let fence = "`".repeat(longest_run(&flat) + 1);
    let pad = if flat.starts_with('`') || flat.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{flat}{pad}{fence}")
}

/// `text` as a fenced block, each line indented by `indent` blanks.
pub fn block(text: &str, indent: usize) -> String {
    let margin = " ".repeat(indent);
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    let mut out = format!("{margin}{fence}text\n");
    for line in text.lines() {
        let line: String = line.chars().map(|c| if c == '\t' { ' ' } else { visible(c) }).collect();
        out.push_str(format!("{margin}{line}").trim_end());
        out.push('\n');
    }
    out.push_str(&margin);
    out.push_str(&fence);
    out
}

/// `word` for a POSIX shell: quoted when it is more than letters, digits and `_-./=:,%+@`.
pub fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,%+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn is_word(c: Option<char>) -> bool {
    c.is_some_and(char::is_alphanumeric)
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Control characters and those that reorder text are shown as U+FFFD.
fn visible(c: char) -> char {
    let reorders =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    if c.is_control() || reorders { '\u{fffd}' } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    #[test]
    fn outside_text_stays_one_inert_line() {
        let check = |text: &str, expect: &str| assert_eq!(inline(text), expect, "{text:?}");
        check("plain_name of n1->n2", "plain_name of n1-&gt;n2");
        check("a | b\n# c", r"a \| b # c");
        check("# title", r"\# title");
        check("1. item", r"1\. item");
        check("<script>`x`</script>", r"&lt;script&gt;\`x\`&lt;/script&gt;");
        check("[a](http://b)", r"\[a\](http&#58;//b)");
        check("_x_ **y**", r"\_x\_ \*\*y\*\*");
        check("\u{1b}[31m red \u{202e}", "\u{fffd}\\[31m red \u{fffd}");
        check("", "");
        assert_eq!(cell(" \n "), "—");
    }

    #[test]
    fn code_spans_and_blocks_outlast_the_backticks_in_them() {
        assert_eq!(code("a `` b"), "```a `` b```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(block("x\n```\n# y", 2), "  ````text\n  x\n  ```\n  # y\n  ````");
        assert_eq!(shell("--bug=stale"), "--bug=stale");
        assert_eq!(shell("a b'c"), r"'a b'\''c'");
    }

    /// What hostile text must stay in every place it is written to: one text, nothing else.
    #[test]
    fn a_markdown_parser_sees_only_text() {
        let hostile = [
            "# h",
            "- a",
            "+ a",
            "* a",
            "1) a",
            "1. a",
            "> q",
            "| a | b |",
            "--- ",
            "===",
            "```",
            "~~~",
            "<b>x</b>",
            "<!-- x",
            "![i](u)",
            "[l](u)",
            "[l]: u",
            "http://e.org",
            "www.e.org",
            "me@e.org",
            "<http://e.org>",
            "**b**",
            "_e_",
            "~~s~~",
            "`c`",
            "\\",
            "a\\",
            "&lt;",
            "x\r\n\r\n# y",
            "- [ ] t",
            "[^1]",
            "$x$",
            "    code",
            "\tcode",
            ":::",
            "{#id}",
            "a  \nb",
            "|",
            "\\|",
            "`|`",
        ];
        for text in hostile {
            let cell = cell(text);
            let page = format!("## {cell}\n\n- {cell}\n\n**K:** {cell}\n\n| a | b |\n|---|---|\n| {cell} | end |\n");
            let tags: Vec<String> = Parser::new_ext(&page, Options::all())
                .filter_map(|event| match event {
                    Event::Start(tag) => Some(name(&tag)),
                    Event::End(TagEnd::TableCell) => Some("/".to_owned()),
                    Event::End(_) | Event::Text(_) | Event::SoftBreak => None,
                    other => Some(format!("{other:?}")),
                })
                .collect();
            let expect = "heading list item paragraph strong table head cell / cell / row cell / cell /";
            assert_eq!(tags.join(" "), expect, "{text:?} as {cell:?}");
        }
    }

    fn name(tag: &Tag<'_>) -> String {
        match tag {
            Tag::Heading { .. } => "heading".to_owned(),
            Tag::List(None) => "list".to_owned(),
            Tag::Item => "item".to_owned(),
            Tag::Paragraph => "paragraph".to_owned(),
            Tag::Strong => "strong".to_owned(),
            Tag::Table(_) => "table".to_owned(),
            Tag::TableHead => "head".to_owned(),
            Tag::TableRow => "row".to_owned(),
            Tag::TableCell => "cell".to_owned(),
            other => format!("{other:?}"),
        }
    }
}
