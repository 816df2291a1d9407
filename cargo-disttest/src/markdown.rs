//! Markdown for a terminal: headings, emphasis, code, lists and tables by their looks in place of their signs.

use anstyle::{AnsiColor, Style};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

const TITLE: Style = AnsiColor::Cyan.on_default().bold();
const HEADING: Style = Style::new().bold();
const CODE: Style = AnsiColor::Green.on_default();
const FAINT: Style = Style::new().dimmed();

/// `text` in lines of at most `width` columns, with ANSI styles. Code and tables are not broken; comments are left out.
pub(crate) fn styled(text: &str, width: usize) -> String {
    let mut page = Page::new(width);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        page.event(event);
    }
    page.out
}

/// Text of one style without white space.
type Piece = (Style, String);

/// Words of a paragraph or a cell.
#[derive(Clone, Debug, Default)]
struct Words {
    words: Vec<Vec<Piece>>,
    /// The next text goes on with the last word.
    open: bool,
}

impl Words {
    fn push(&mut self, style: Style, text: &str) {
        for (at, word) in text.split(char::is_whitespace).enumerate() {
            self.open &= at == 0;
            if word.is_empty() {
                continue;
            }
            let piece = (style, word.to_owned());
            match self.words.last_mut().filter(|_| self.open) {
                Some(last) => last.push(piece),
                None => self.words.push(vec![piece]),
            }
            self.open = true;
        }
    }

    fn width(&self) -> usize {
        let words: usize = self.words.iter().map(|word| columns(word)).sum();
        words + self.words.len().saturating_sub(1)
    }

    /// Lines of at most `width` columns, or of one word.
    fn lines(&self, width: usize) -> Vec<String> {
        let mut lines: Vec<(usize, String)> = Vec::new();
        for word in &self.words {
            let columns = columns(word);
            match lines.last_mut().filter(|(used, _)| used + 1 + columns <= width) {
                Some((used, line)) => {
                    *used += 1 + columns;
                    line.push(' ');
                    line.push_str(&painted(word));
                }
                None => lines.push((columns, painted(word))),
            }
        }
        lines.into_iter().map(|(_, line)| line).collect()
    }
}

fn columns(word: &[Piece]) -> usize {
    word.iter().map(|(_, text)| text.chars().count()).sum()
}

fn painted(word: &[Piece]) -> String {
    word.iter().map(|(style, text)| paint(*style, text)).collect()
}

fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// A page that is being written.
struct Page {
    out: String,
    width: usize,
    words: Words,
    /// Of the text that comes, the innermost last.
    styles: Vec<Style>,
    /// The number of the next item of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// In front of the first line of the next block of an item.
    mark: Option<String>,
    quotes: usize,
    code: Option<String>,
    rows: Vec<Vec<Words>>,
    link: Option<String>,
}

impl Page {
    fn new(width: usize) -> Page {
        Page {
            out: String::new(),
            width: width.max(20),
            words: Words::default(),
            styles: vec![Style::new()],
            lists: Vec::new(),
            mark: None,
            quotes: 0,
            code: None,
            rows: Vec::new(),
            link: None,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.words.push(self.style(), &text),
            },
            Event::Code(text) => self.words.push(CODE, &text),
            Event::SoftBreak => self.words.push(self.style(), " "),
            Event::HardBreak => self.paragraph(),
            Event::Rule => {
                self.gap();
                let rule = "─".repeat(self.width);
                self.line(&paint(FAINT, &rule));
            }
            // Comments speak to programs.
            Event::Html(text) | Event::InlineHtml(text) if text.trim_start().starts_with("<!--") => {}
            Event::Html(text) | Event::InlineHtml(text) => self.words.push(FAINT, &text),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let under = self.style();
        match tag {
            Tag::Heading { level, .. } => {
                self.gap();
                self.styles.push(if level == HeadingLevel::H1 { TITLE } else { HEADING });
            }
            Tag::Paragraph | Tag::HtmlBlock => self.gap(),
            Tag::CodeBlock(_) => {
                self.paragraph();
                self.gap();
                self.code = Some(String::new());
            }
            Tag::List(first) => {
                self.paragraph();
                if self.lists.is_empty() {
                    self.gap();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_owned(),
                };
                self.mark = Some(mark);
            }
            Tag::BlockQuote(_) => {
                self.gap();
                self.quotes += 1;
            }
            Tag::Table(_) => self.gap(),
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            Tag::Emphasis => self.styles.push(under.italic()),
            Tag::Strong => self.styles.push(under.bold()),
            Tag::Strikethrough => self.styles.push(under.strikethrough()),
            Tag::Link { dest_url, .. } => {
                self.link = Some(dest_url.to_string());
                self.styles.push(under.underline());
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.paragraph();
                self.styles.pop();
            }
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.paragraph(),
            TagEnd::Item => {
                self.paragraph();
                self.mark = None;
            }
            TagEnd::CodeBlock => {
                let code = self.code.take().unwrap_or_default();
                for line in code.lines() {
                    let line = if line.is_empty() { String::new() } else { format!("    {}", paint(CODE, line)) };
                    self.line(&line);
                }
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::BlockQuote(_) => self.quotes -= 1,
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.words);
                self.rows.last_mut().into_iter().for_each(|row| row.push(cell.clone()));
            }
            TagEnd::Table => self.table(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link => {
                self.styles.pop();
                let link = self.link.take().unwrap_or_default();
                let told = self.words.words.last().is_some_and(|word| word.iter().any(|(_, text)| *text == link));
                if !told {
                    self.words.push(FAINT, &format!(" ({link})"));
                }
            }
            _ => {}
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    /// A blank line before a block, unless it is the first, or the first of an item.
    fn gap(&mut self) {
        if !self.out.is_empty() && self.mark.is_none() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// Writes the words that were gathered.
    fn paragraph(&mut self) {
        let words = std::mem::take(&mut self.words);
        let room = self.width.saturating_sub(self.indent()).max(10);
        words.lines(room).iter().for_each(|line| self.line(line));
    }

    fn indent(&self) -> usize {
        2 * self.quotes + 2 * self.lists.len()
    }

    fn line(&mut self, line: &str) {
        let quotes = paint(FAINT, "│ ").repeat(self.quotes);
        let inner = 2 * self.lists.len();
        let mark = self.mark.take().unwrap_or_default();
        let line = format!("{quotes}{mark:>inner$}{line}");
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    /// Columns as wide as their widest cell, two columns apart.
    fn table(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let count = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(Words::width).max().unwrap_or(0);
        let widths: Vec<usize> = (0..count).map(width).collect();
        for (number, row) in rows.iter().enumerate() {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                let text = cell.lines(usize::MAX).join("");
                line.push_str(&text);
                line.push_str(&" ".repeat(width - cell.width() + 2));
            }
            self.line(line.trim_end());
            if number == 0 {
                let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                self.line(&paint(FAINT, &rule.join("  ")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Styles as `<1;36>`, their end as `<>`.
    fn shown(text: &str, width: usize) -> String {
        let text = styled(text, width).replace("\u{1b}[0m", "<>");
        let mut out = String::new();
        for (at, part) in text.split("\u{1b}[").enumerate() {
            out.push_str(&if at == 0 { part.to_owned() } else { format!("<{}", part.replacen('m', ">", 1)) });
        }
        out.replace("><", ";")
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(shown(text, 30), expect);
    }

    #[test]
    fn each_kind_of_block_has_its_looks() {
        check("# A b\n\nc\n", "<1;36>A<> <1;36>b<>\n\nc\n");
        check("## A\ntext\n", "<1>A<>\n\ntext\n");
        check("a **b** *c* `d e`.\n", "a <1>b<> <3>c<> <32>d<> <32>e<>.\n");
        check("```rust\nlet  a;\n\nb\n```\n", "    <32>let  a;<>\n\n    <32>b<>\n");
        check("- a\n- b\n  - c\n\nd\n", "• a\n• b\n  • c\n\nd\n");
        check("1. a\n2. b\n", "1. a\n2. b\n");
        check("> a\n", "<2>│ <>a\n");
        check("| A | Bcd |\n|---|---|\n| e f | `g` |\n", "A    Bcd\n<2>───  ───<>\ne f  <32>g<>\n");
        check("[a](http://b) <http://c>\n", "<4>a<> <2>(http://b)<> <4>http://c<>\n");
        check("a\n<!-- b -->\n\nc <!-- d --> e\n", "a\n\nc e\n");
    }

    #[test]
    fn paragraphs_are_filled_and_code_is_not_broken() {
        check(
            "one two three four five six seven eight nine\nten\n",
            "one two three four five six\nseven eight nine ten\n",
        );
        check(&format!("```\n{}\n```\n", "x".repeat(50)), &format!("    <32>{}<>\n", "x".repeat(50)));
        check("- one two three four five six seven\n", "• one two three four five six\n  seven\n");
    }

    #[test]
    fn what_is_said_is_not_lost() {
        let words = |text: &str| -> Vec<String> {
            text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_owned).collect()
        };
        let text = "# T\n\npara `code` **bold**\n\n- item\n\n  more of it\n\n1. first\n\n> quote\n\n| a | b |\n|---|---|\n| c | d |\n\n---\n\nlast\n";
        let plain = anstream::adapter::strip_str(&styled(text, 40)).to_string();
        let mut expect = words(text);
        let mut got = words(&plain);
        expect.sort();
        got.sort();
        assert_eq!(got, expect, "{plain}");
    }
}
