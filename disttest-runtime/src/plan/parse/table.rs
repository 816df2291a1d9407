//! Tables: header words, cells, spans.

use super::line::Line;
use crate::base::diagnostic::Span;
use crate::plan::references::decoded;
use std::ops::Range;

/// A cell, trimmed; `\|` is `|` and `<br>` a line break.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    /// The text.
    pub(super) text: String,
    /// Where it stands, escapes included.
    pub(super) span: Span,
}

/// A table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Header cells.
    pub(super) header: Vec<Cell>,
    /// Rows, each with the span of its line.
    pub(super) rows: Vec<(Vec<Cell>, Span)>,
    /// Its lines among those it was found in.
    pub(super) lines: Range<usize>,
}

/// Every table of `lines`. A table is a line with a `|`, a delimiter line, and the lines with a `|` under it. Blank
/// lines (or a comment) between rows end no table as long as rows of its shape follow: an author who leaves room
/// between two claims means both.
pub(super) fn tables(lines: &[Line<'_>]) -> Vec<Table> {
    let read = |range: Range<usize>| {
        let header = cells(&lines[range.start], usize::MAX);
        let rows = lines[range.start + 2..range.end].iter().filter(|line| !line.is_blank());
        let row = |line: &Line<'_>| {
            let (at, text) = line.trimmed();
            (cells(line, header.len()), Span::new(at, at + text.len()))
        };
        Table { rows: rows.map(row).collect(), header, lines: range }
    };
    ranges(lines).into_iter().map(read).collect()
}

/// The lines of every table.
pub(super) fn ranges(lines: &[Line<'_>]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut i = 0;
    while i < lines.len() {
        if !opens(lines, i) || cells(&lines[i], usize::MAX).is_empty() {
            i += 1;
            continue;
        }
        let (first, mut columns) = (i, None);
        i += 2;
        while let Some(row) =
            next_row(lines, i, || *columns.get_or_insert_with(|| cells(&lines[first], usize::MAX).len()))
        {
            i = row + 1;
        }
        found.push(first..i);
    }
    found
}

/// True where a header stands above a delimiter line.
fn opens(lines: &[Line<'_>], i: usize) -> bool {
    lines.get(i + 1).is_some_and(is_delimiter) && has_pipe(&lines[i]) && !is_delimiter(&lines[i])
}

/// The line of the next row of a table of that many columns whose last line stands above line `i`.
fn next_row(lines: &[Line<'_>], i: usize, columns: impl FnOnce() -> usize) -> Option<usize> {
    let line = lines.get(i)?;
    if !line.is_blank() {
        return (has_pipe(line) && line.heading().is_none() && !(line.is_row() && opens(lines, i))).then_some(i);
    }
    let next = (i..lines.len()).find(|j| !lines[*j].is_blank())?;
    let row = &lines[next];
    let columns = || {
        let columns = columns();
        cells(row, columns).len() == columns
    };
    (row.is_row() && !opens(lines, next) && !is_delimiter(row) && columns()).then_some(next)
}

/// True for `|---|:--:|`; the number of its cells is not compared with the header.
fn is_delimiter(line: &Line<'_>) -> bool {
    let text = line.text.trim();
    text.contains('-')
        && text.contains('|')
        && text.split('|').all(|cell| cell.trim().trim_matches(':').bytes().all(|b| b == b'-'))
}

fn has_pipe(line: &Line<'_>) -> bool {
    line.text.contains('|')
}

/// Splits a row. A `|` in a code span is text unless only the plain reading gives `wanted` cells.
fn cells(line: &Line<'_>, wanted: usize) -> Vec<Cell> {
    let aware = split(line, true);
    if wanted == usize::MAX || aware.len() == wanted {
        return aware;
    }
    let plain = split(line, false);
    if plain.len() == wanted { plain } else { aware }
}

fn split(line: &Line<'_>, code_spans: bool) -> Vec<Cell> {
    let (at, text) = line.trimmed();
    let bytes = text.as_bytes();
    let mut cuts = Vec::new();
    // Widths of backtick runs known to have no partner; without it hostile rows would cost quadratic time.
    let mut lonely = [false; 4];
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 1,
            b'|' => cuts.push(i),
            b'`' if code_spans => i = code_end(bytes, i, &mut lonely),
            _ => {}
        }
        i += 1;
    }
    let mut from = 0;
    let mut out = Vec::new();
    for cut in cuts.into_iter().chain([bytes.len()]) {
        // Outer pipes make no cells.
        let outer = (cut == 0) || (from == bytes.len());
        if !outer {
            out.push(cell(at + from, &text[from..cut]));
        }
        from = (cut + 1).min(bytes.len());
        if cut == bytes.len() {
            break;
        }
    }
    out
}

/// Index of the last backtick of the code span that opens at `i`; the last of the opening run when it never closes
/// on this line. Runs of more than three backticks are text.
fn code_end(bytes: &[u8], i: usize, lonely: &mut [bool; 4]) -> usize {
    let width = bytes[i..].iter().take_while(|b| **b == b'`').count();
    let mut at = i + width;
    if lonely.get(width).is_none_or(|known| *known) {
        return at - 1;
    }
    while at < bytes.len() {
        if bytes[at] != b'`' {
            at += 1;
            continue;
        }
        let run = bytes[at..].iter().take_while(|b| **b == b'`').count();
        if run == width {
            return at + run - 1;
        }
        at += run;
    }
    lonely[width] = true;
    i + width - 1
}

fn cell(at: usize, raw: &str) -> Cell {
    let text = raw.trim();
    let start = at + raw.len() - raw.trim_start().len();
    let mut plain = decoded(text).into_owned();
    if text.contains('\\') {
        plain = plain.replace("\\|", "|");
    }
    if text.contains('<') {
        plain = plain.replace("<br>", "\n").replace("<br/>", "\n").replace("<br />", "\n");
    }
    Cell { text: plain, span: Span::new(start, start + text.len()) }
}

/// A column the format knows: its spelling and the lower-case words by which it is known.
pub(super) struct Column {
    /// The format's spelling.
    pub(super) name: &'static str,
    /// Any of these in the header makes it this column.
    pub(super) words: &'static [&'static str],
}

/// Canonical name of each header cell: the exact spelling wins, then a header that only one column's words fit, then
/// the first column that is not taken; a header that nothing matches keeps its own spelling.
pub(super) fn columns(header: &[Cell], known: &[Column]) -> Vec<String> {
    let names: Vec<String> = header.iter().map(|cell| plain(&cell.text)).collect();
    let fits = |name: &String| -> Vec<usize> {
        let fits = |k: &usize| known[*k].words.iter().any(|word| has_word(name, word));
        (0..known.len()).filter(fits).collect()
    };
    let exact = |name: &String| (0..known.len()).filter(|k| known[*k].name.eq_ignore_ascii_case(name)).collect();
    let candidates: Vec<Vec<usize>> = names.iter().take(MOST_COLUMNS).map(fits).collect();
    let single = candidates.iter().map(|fits| if fits.len() == 1 { fits.clone() } else { Vec::new() }).collect();
    let mut column: Vec<Option<usize>> = vec![None; header.len()];
    let mut taken = vec![false; known.len()];
    for pass in [names.iter().map(exact).collect::<Vec<_>>(), single, candidates] {
        for (i, wanted) in pass.into_iter().enumerate().filter(|(_, wanted)| !wanted.is_empty()) {
            if column[i].is_none()
                && let Some(free) = wanted.into_iter().find(|k| !taken[*k])
            {
                taken[free] = true;
                column[i] = Some(free);
            }
        }
    }
    let name = |(column, cell): (Option<usize>, &Cell)| column.map_or(cell.text.clone(), |k| known[k].name.to_owned());
    column.into_iter().zip(header).map(name).collect()
}

/// True for a row that says nothing: its cells are blank, or dashes that part the rows around it.
pub(super) fn is_blank_row(cells: &[Cell]) -> bool {
    let dashes = |text: &str| text.trim_matches(':').bytes().all(|b| b == b'-');
    cells.iter().all(|cell| dashes(&cell.text))
}

/// How many of the format's columns a table has.
pub(super) fn known_columns(table: &Table, known: &[Column]) -> usize {
    columns(&table.header, known).iter().filter(|name| known.iter().any(|k| k.name == *name)).count()
}

/// Columns further right have the format's names only if they spell them out.
const MOST_COLUMNS: usize = 64;

fn plain(text: &str) -> String {
    text.replace(['*', '`', '_'], "").trim().to_lowercase()
}

/// True when a word of `text` starts with `word`.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '#').any(|w| w.starts_with(word) && (word.len() > 2 || w == word))
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::*;

    fn rows(text: &str) -> Vec<Vec<String>> {
        let source = Source::new(text);
        let found = tables(&source.lines());
        let texts = |cells: &[Cell]| cells.iter().map(|c| c.text.clone()).collect::<Vec<_>>();
        found
            .iter()
            .flat_map(|t| std::iter::once(texts(&t.header)).chain(t.rows.iter().map(|(r, _)| texts(r))))
            .collect()
    }

    #[test]
    fn rows_survive_escapes_code_spans_and_missing_pipes() {
        let check = |row: &str, expect: &[&str]| {
            let found = rows(&format!("| a | b |\n|---|---|\n{row}\n"));
            assert_eq!(found[1..], [expect.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>()], "{row}");
        };
        check("| x | y |", &["x", "y"]);
        check("x | y", &["x", "y"]);
        check("| x \\| z | y |", &["x | z", "y"]);
        check("| `x | z` | y |", &["`x | z`", "y"]);
        check("| `x | z` |", &["`x", "z`"]);
        check("| x | |", &["x", ""]);
        check("| | y |", &["", "y"]);
        check("| x | y | z |", &["x", "y", "z"]);
        check("| a<br>b | `` ` `` |", &["a\nb", "`` ` ``"]);
        check("| ` | y |", &["`", "y"]);
    }

    #[test]
    fn a_delimiter_row_that_is_a_cell_short_still_makes_a_table() {
        assert_eq!(rows("| a | b |\n|---|\n| x | y |\n").len(), 2);
        assert_eq!(rows("a | b\nx | y\n").len(), 0);
    }

    #[test]
    fn blank_lines_and_comments_between_rows_end_no_table() {
        let head = "| a | b |\n|---|---|\n| 1 | 2 |\n";
        let check = |under: &str, expect: usize| {
            assert_eq!(rows(&format!("{head}{under}")).len(), 2 + expect, "{under}");
        };
        check("\n| 3 | 4 |\n", 1);
        check("<!-- x -->\n| 3 | 4 |\n", 1);
        check("\nprose with a | in it\n", 0);
        check("\n| 3 | 4 | 5 |\n", 0);
        // The header and the row of a second table, with or without a blank line.
        check("\n| c | d |\n|---|---|\n| 5 | 6 |\n", 2);
        check("| c | d |\n|---|---|\n| 5 | 6 |\n", 2);
    }

    #[test]
    fn columns_are_matched_by_words_not_by_position() {
        let known = [
            Column { name: "ID", words: &["id", "#"] },
            Column { name: "Claim", words: &["claim", "promise"] },
            Column { name: "Inferred?", words: &["inferred"] },
        ];
        let header: Vec<Cell> = ["**Inferred**", "Owner", "The promise", "id"]
            .iter()
            .map(|t| Cell { text: (*t).to_owned(), span: Span::default() })
            .collect();
        assert_eq!(columns(&header, &known), ["Inferred?", "Owner", "Claim", "ID"]);
        let header: Vec<Cell> = ["The claim id", "Claim", "inferred claims"]
            .iter()
            .map(|t| Cell { text: (*t).to_owned(), span: Span::default() })
            .collect();
        assert_eq!(columns(&header, &known), ["ID", "Claim", "Inferred?"]);
    }
}
