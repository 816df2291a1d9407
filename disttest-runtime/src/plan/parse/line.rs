//! A line of the masked text: what it is by itself.

/// A line of the masked text, without its line break.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Byte offset of the line.
    pub(super) start: usize,
    /// The text.
    pub(super) text: &'a str,
    /// Level of the heading that this line is because of the line under it; 0 for every other line.
    pub(super) underlined: u8,
}

/// The lines of `masked`; `setext` has the offsets of underlined headings, ascending, with their levels.
pub(super) fn lines_of<'a>(masked: &'a str, setext: &[(usize, usize)]) -> Vec<Line<'a>> {
    let mut setext = setext.iter().peekable();
    let mut lines = Vec::with_capacity(masked.len() / 32);
    let mut start = 0;
    for line in masked.split_inclusive('\n') {
        let next = start + line.len();
        let underlined = setext.next_if(|(at, _)| (start..next).contains(at)).map_or(0, |(_, level)| *level as u8);
        let text = line.strip_suffix('\n').unwrap_or(line);
        lines.push(Line { start, text: text.strip_suffix('\r').unwrap_or(text), underlined });
        start = next;
    }
    lines
}

impl<'a> Line<'a> {
    /// A part of a line that begins at byte `start` of the source.
    pub(super) fn part(start: usize, text: &'a str) -> Line<'a> {
        Line { start, text, underlined: 0 }
    }

    /// Offset of the end of the line, its break left out.
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Width of the leading white space; a tab counts four.
    pub(super) fn indent(&self) -> usize {
        self.text.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 4 } else { 1 }).sum()
    }

    /// The text without outer white space, and its offset in the source.
    pub(super) fn trimmed(&self) -> (usize, &'a str) {
        let body = self.text.trim_start();
        (self.start + self.text.len() - body.len(), body.trim_end())
    }

    /// True when nothing but white space is left.
    pub(super) fn is_blank(&self) -> bool {
        let letter = self.text.bytes().next().is_some_and(|b| b.is_ascii_graphic());
        !letter && self.text.trim_start().is_empty()
    }

    /// True for `---`, `***` and `___`.
    pub(super) fn is_rule(&self) -> bool {
        if self.text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric()) {
            return false;
        }
        let mut marks = self.text.chars().filter(|c| !c.is_whitespace());
        let first = marks.next().filter(|c| matches!(c, '-' | '*' | '_'));
        first.is_some_and(|first| {
            let mut count = 1;
            marks.all(|c| {
                count += 1;
                c == first
            }) && count >= 3
        })
    }

    /// True for a line of a table: it starts with `|`.
    pub(super) fn is_row(&self) -> bool {
        self.text.trim_start().starts_with('|')
    }

    /// Level and title of a heading, with the offset of the title.
    pub(super) fn heading(&self) -> Option<(usize, usize, &'a str)> {
        // Most lines are none; nothing is trimmed for them.
        let lead = self.text.bytes().take_while(|b| matches!(b, b' ' | b'\t')).count();
        if self.underlined == 0 && (self.text.as_bytes().get(lead) != Some(&b'#') || self.indent() > 3) {
            return None;
        }
        let (at, body) = self.trimmed();
        if self.underlined > 0 {
            return Some((usize::from(self.underlined), at, body));
        }
        let level = body.bytes().take_while(|b| *b == b'#').count();
        let rest = &body[level..];
        if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
            return None;
        }
        let title = rest.trim_start();
        let start = at + body.len() - title.len();
        let bare = title.trim_end_matches('#');
        let closed = bare.is_empty() || bare.ends_with([' ', '\t']);
        Some((level, start, if closed { bare.trim_end() } else { title.trim_end() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_need_a_space_and_little_indentation() {
        let check = |text: &str, expect: Option<(usize, usize, &str)>| {
            assert_eq!(Line::part(10, text).heading(), expect, "{text:?}")
        };
        check("## 1b. Claims ##", Some((2, 13, "1b. Claims")));
        check("  ### S1", Some((3, 16, "S1")));
        check("# C#", Some((1, 12, "C#")));
        check("##x", None);
        check("    ## x", None);
        check("#", Some((1, 11, "")));
    }
}
