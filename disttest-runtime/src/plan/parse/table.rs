//! Tables: header words, cells, spans.

use super::source::Line;
use crate::base::diagnostic::Span;

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
}

/// Every table of `lines`. A table is a line with a `|`, a delimiter line, and the lines with a `|` under it.
pub(super) fn tables(lines: &[Line<'_>]) -> Vec<Table> {
    let mut found = Vec::new();
    let mut i = 0;
    while i + 1 < lines.len() {
        if !(has_pipe(&lines[i]) && is_delimiter(&lines[i + 1])) {
            i += 1;
            continue;
        }
        let header = cells(&lines[i], usize::MAX);
        let mut rows = Vec::new();
        i += 2;
        while i < lines.len() && has_pipe(&lines[i]) && lines[i].heading().is_none() {
            let (at, text) = lines[i].trimmed();
            rows.push((cells(&lines[i], header.len()), Span::new(at, at + text.len())));
            i += 1;
        }
        found.push(Table { header, rows });
    }
    found
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
    let plain = text.replace("\\|", "|").replace("<br>", "\n").replace("<br/>", "\n").replace("<br />", "\n");
    Cell { text: plain, span: Span::new(start, start + text.len()) }
}

/// A column the format knows: its spelling and the lower-case words by which it is known.
pub(super) struct Column {
    /// The format's spelling.
    pub(super) name: &'static str,
    /// Any of these in the header makes it this column.
    pub(super) words: &'static [&'static str],
}

/// Canonical name of each header cell: the exact spelling wins, then the first column one of whose words occurs and
/// which is not taken; a header that nothing matches keeps its own spelling.
pub(super) fn columns(header: &[Cell], known: &[Column]) -> Vec<String> {
    let plain = |text: &str| text.replace(['*', '`', '_'], "").trim().to_lowercase();
    let mut taken = vec![false; known.len()];
    let mut names: Vec<Option<String>> = vec![None; header.len()];
    for (slot, cell) in names.iter_mut().zip(header) {
        if let Some(i) = known.iter().position(|k| k.name.to_lowercase() == plain(&cell.text)).filter(|i| !taken[*i]) {
            taken[i] = true;
            *slot = Some(known[i].name.to_owned());
        }
    }
    for (slot, cell) in names.iter_mut().zip(header).filter(|(slot, _)| slot.is_none()) {
        let text = plain(&cell.text);
        let hit = known.iter().enumerate().position(|(i, k)| !taken[i] && k.words.iter().any(|w| has_word(&text, w)));
        if let Some(i) = hit {
            taken[i] = true;
            *slot = Some(known[i].name.to_owned());
        }
    }
    names.into_iter().zip(header).map(|(name, cell)| name.unwrap_or_else(|| cell.text.clone())).collect()
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
    }
}
