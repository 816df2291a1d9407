//! Why a history was refused: where, and what stands there.

use super::edn::Bad;

/// Longest stretch of a line that is shown, in characters.
const WIDEST: usize = 120;

/// A history that cannot be read, or cannot be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Line, from 1, where there is one.
    pub line: Option<usize>,
    /// Column, from 1 and in bytes, where it is known.
    pub column: Option<usize>,
    /// What is at hand of the line, and the column of its first byte.
    pub text: Option<(String, usize)>,
    /// What is wrong, and what to do about it.
    pub problem: String,
}

impl Problem {
    /// A complaint about the whole.
    pub(crate) fn new(problem: impl Into<String>) -> Problem {
        Problem { problem: problem.into(), ..Problem::default() }
    }

    /// A complaint about a line.
    pub(crate) fn at(line: usize, problem: impl Into<String>) -> Problem {
        Problem { line: Some(line), ..Problem::new(problem) }
    }

    /// With the text of the line.
    pub(crate) fn showing(self, text: &[u8]) -> Problem {
        let text = String::from_utf8_lossy(text).trim_end_matches(['\n', '\r']).to_owned();
        Problem { text: Some((text, 1)), ..self }
    }

    /// `file:line:column: what is wrong`, and the line with a mark under the place.
    pub(crate) fn render(&self, file: &str) -> String {
        let mut out = format!("{}: {}", self.place(file), self.problem);
        let Some((text, first)) = self.text.as_ref().filter(|(text, _)| !text.trim().is_empty()) else { return out };
        // Columns count bytes; what is shown counts characters.
        let offset = self.column.map(|column| column.saturating_sub(*first));
        let mark = offset.map(|offset| text.char_indices().take_while(|(at, _)| *at < offset).count());
        let from = mark.map_or(0, |mark| mark.saturating_sub(WIDEST / 2));
        let shown: String =
            text.chars().skip(from).take(WIDEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let (before, after) =
            (if from > 0 { "…" } else { "" }, if text.chars().count() > from + WIDEST { "…" } else { "" });
        let number = self.line.map(|line| line.to_string()).unwrap_or_default();
        let margin = " ".repeat(number.len());
        out.push_str(&format!("\n{margin} |\n{number} | {before}{shown}{after}"));
        if let Some(mark) = mark {
            out.push_str(&format!("\n{margin} | {}^", " ".repeat(mark - from + before.chars().count())));
        }
        out
    }

    /// `file:line:column`, as far as it is known.
    pub(crate) fn place(&self, file: &str) -> String {
        match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
            (Some(line), None) => format!("{file}:{line}"),
            _ => file.to_owned(),
        }
    }
}

impl From<Bad> for Problem {
    fn from(bad: Bad) -> Problem {
        Problem {
            line: Some(bad.place.line),
            column: Some(bad.place.column),
            text: Some((bad.text, bad.text_column)),
            problem: bad.problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_marked_in_its_line() {
        let problem = Problem { column: Some(4), ..Problem::at(12, "no number").showing("aé 7x\n".as_bytes()) };
        assert_eq!(problem.render("h.edn"), "h.edn:12:4: no number\n   |\n12 | aé 7x\n   |   ^");
        let far = Problem { column: Some(1001), ..Problem::at(1, "no").showing(&[b'x'; 2000]) };
        let shown = far.render("h");
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[2].chars().count(), 4 + 2 + WIDEST);
        assert_eq!(lines[3].chars().count(), 4 + 1 + WIDEST / 2 + 1);
        assert_eq!(Problem::new("is empty").render("h"), "h: is empty");
    }
}
