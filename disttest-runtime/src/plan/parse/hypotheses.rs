//! §4: hypotheses, as lines, as bullets, or as a table.

use super::fields::{Collector, bullet};
use super::line::Line;
use super::rows::leading_id;
use super::table::{Column, Table, columns, is_blank_row, tables};
use super::{Lists, Reader, ids};
use crate::base::diagnostic::{Span, Spanned};
use crate::plan::NOTES;
use crate::plan::model::{Field, Hypothesis};
use crate::plan::references::decoded;
use crate::plan::rules::report;
use crate::plan::{Id, labels};
use rustc_hash::FxHashSet;
use std::borrow::Cow;

const COLUMNS: &[Column] = &[
    Column { name: "ID", words: &["id", "#", "h", "no", "nr"] },
    Column { name: "Could falsify", words: &["falsif", "claim"] },
    Column { name: "Suspected because", words: &["suspect", "because"] },
    Column { name: "Subsystem", words: &["subsystem"] },
    Column { name: "Hypothesis", words: &["hypothes", "title", "failure"] },
];

impl Reader<'_> {
    /// §4.
    pub(super) fn hypotheses(&mut self, lines: &[Line<'_>]) {
        let mut subsystem: Option<String> = None;
        let mut i = 0;
        while i < lines.len() {
            if let Some(start) = start(&lines[i]) {
                let end = i + length(&lines[i..]);
                self.hypothesis(&start, &lines[i..end], subsystem.clone());
                i = end;
                continue;
            }
            if let Some((_, at, title)) = lines[i].heading() {
                self.warn_unread(title, Span::new(at, at + title.len()));
                subsystem = Some(title.to_owned()).filter(|title| !title.is_empty());
            } else if !lines[i].text.trim_start().starts_with('|') {
                let (at, body) = lines[i].trimmed();
                let content = bullet(body).map_or(body, |(_, content)| content);
                self.warn_unread(content, Span::new(at, at + body.len()));
            }
            i += 1;
        }
        self.hypothesis_tables(lines);
    }

    /// Tells a line that starts with the id of a hypothesis and yet is none.
    fn warn_unread(&mut self, text: &str, span: Span) {
        let bare = text.trim_start_matches(['*', '`', '_', '[']);
        let id = bare.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("");
        if Id::parse(id).is_some_and(|id| id.letter() == 'H') {
            let help = format!("write `{id}. **<title>** — <one sentence>` on a line of its own");
            // `H1.2`, whole.
            let more = |rest: &str| rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
            let rest = &bare[id.len()..];
            let tail = if ids::numbers_on(rest) { more(rest) } else { 0 };
            let word = bare[..id.len() + tail].trim_end_matches('.');
            let message = format!("`{word}` starts this line, but it is no hypothesis that can be read");
            self.told.push(report("unreadable-hypothesis", span, message, help));
        }
    }

    fn hypothesis(&mut self, start: &Start, lines: &[Line<'_>], subsystem: Option<String>) {
        let first = Line::part(start.rest, &lines[0].text[start.rest - lines[0].start..]);
        let mut collector = Collector::new(&[labels::HYPOTHESIS]);
        collector.open(NOTES, true, start.rest);
        collector.text(&first);
        lines[1..].iter().for_each(|line| collector.line(line));
        let fields = collector.finish();
        let prose: Vec<&str> = fields.iter().filter(|f| f.label == NOTES).map(|f| f.value.value.as_str()).collect();
        let (title, text) = title_and_text(&prose.join("\n"), start.bold);
        let field = |label: &str| fields.iter().find(|f| f.label == label);
        let falsify = field("Could falsify").map(|f| f.value.span).or_else(|| self.inline_claims(lines));
        let claims = falsify.map(|span| self.id_list(span, 'C', Lists::Hypotheses)).unwrap_or_default();
        let value = |label: &str| field(label).map(|f| f.value.value.clone()).filter(|v| !v.is_empty());
        let suspected = value("Suspected because").or_else(|| inline(&text, "suspected because"));
        let subsystem = value("Subsystem").or_else(|| inline(&text, "subsystem")).or(subsystem);
        let known = |f: &Field| f.label == NOTES || labels::is_in(labels::HYPOTHESIS, &f.label);
        let other = fields.into_iter().filter(|f| !known(f)).collect();
        let id = start.id.clone();
        self.plan.hypotheses.push(Hypothesis { id, title, text, claims, suspected, subsystem, other });
    }

    /// The span behind an inline `Could falsify` (or a word that says the same), up to the end of its sentence.
    fn inline_claims(&self, lines: &[Line<'_>]) -> Option<Span> {
        let block = Span::new(lines[0].start, lines.last()?.end());
        let text = self.source.slice(block);
        let at = after_could(text, &["falsify"]).or_else(|| after_could(text, &["regress", "violate", "break"]))?;
        let rest = &text[at..];
        let stop = rest.find(". ").or_else(|| rest.find(".\n")).or_else(|| rest.find(".\r")).unwrap_or(rest.len());
        Some(Span::new(block.start + at, block.start + at + stop))
    }

    fn hypothesis_tables(&mut self, lines: &[Line<'_>]) {
        let defined: FxHashSet<Id> = self.plan.hypotheses.iter().map(|h| h.id.value.clone()).collect();
        for table in tables(lines).iter().filter(|t| defines(t, &defined)) {
            let names = columns(&table.header, COLUMNS);
            for (cells, span) in &table.rows {
                let cell = |name: &str| names.iter().position(|n| n == name).and_then(|i| cells.get(i));
                let Some(first) = cell("ID").or(cells.first()) else { continue };
                let own = &cells[..cells.len().min(names.len())];
                if is_blank_row(own) || self.is_filler(own, *span) {
                    continue;
                }
                let Some(id) = leading_id(&first.text).filter(|id| id.letter() == 'H') else {
                    let message = format!("`{}` is no id of the form H<number>; the row is not read", first.text);
                    self.told.push(report(
                        "unreadable-hypothesis",
                        *span,
                        message,
                        "start the row with an id such as `H1`",
                    ));
                    continue;
                };
                let text = cell("Hypothesis").map(|c| c.text.clone()).unwrap_or_default();
                let (title, text) = title_and_text(&text, false);
                let claims =
                    cell("Could falsify").map(|c| self.id_list(c.span, 'C', Lists::Hypotheses)).unwrap_or_default();
                let value = |name: &str| cell(name).map(|c| c.text.trim().to_owned()).filter(|t| !t.is_empty());
                let (suspected, subsystem) = (value("Suspected because"), value("Subsystem"));
                let id = Spanned::new(id, first.span);
                let other = Vec::new();
                self.plan.hypotheses.push(Hypothesis { id, title, text, claims, suspected, subsystem, other });
            }
        }
    }

    /// The ids of a span of the source; what is doubtful is told.
    pub(super) fn id_list(&mut self, span: Span, letter: char, of: Lists) -> Vec<Spanned<Id>> {
        let allowance = &mut self.ranges[of as usize];
        let list = match decoded(self.source.slice(span)) {
            Cow::Borrowed(written) => ids::list(written, span.start, letter, allowance),
            Cow::Owned(plain) => ids::list(&plain, 0, letter, allowance).at(span),
        };
        for id in &list.doubtful {
            if list.has(&id.value) {
                continue;
            }
            let message = format!("`{}` is mentioned here but not taken as part of the list", id.value);
            let help = "list the ids plainly: `C1, C3`; mention others elsewhere";
            self.told.push(report("ambiguous-id-list", id.span, message, help));
        }
        for range in &list.bad_ranges {
            let message = format!("`{}` is no range that can be taken; only its ends are", range.value);
            let help = "write the smaller number first, and no more than 1,000 ids in a range";
            self.told.push(report("unreadable-id-list", range.span, message, help));
        }
        list.ids
    }
}

struct Start {
    id: Spanned<Id>,
    /// Offset of what follows the id and its punctuation.
    rest: usize,
    /// The bold began before the id and is still open.
    bold: bool,
}

/// The start of a hypothesis: `H1. `, `**H1.** `, `- **H1. Title.**`, `### H1: `.
fn start(line: &Line<'_>) -> Option<Start> {
    let (at, body) = match line.heading() {
        Some((_, at, title)) => (at, title),
        None => {
            let (at, body) = line.trimmed();
            let marker = bullet(body);
            if line.indent() > if marker.is_some() { 3 } else { 1 } {
                return None;
            }
            let (offset, content) = marker.unwrap_or((0, body));
            (at + offset, content)
        }
    };
    let inner = body.trim_start_matches(['*', '`']);
    let opened = body.len() - inner.len();
    let word = inner.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("");
    let id = Id::parse(word).filter(|id| id.letter() == 'H')?;
    let mut rest = &inner[word.len()..];
    if ids::numbers_on(rest) {
        return None;
    }
    let closes = |text: &str| text.starts_with("**") && opened >= 2;
    let mark = rest.trim_start();
    let bounded = rest.starts_with(['.', ':', ')'])
        || closes(rest)
        || mark.starts_with(['—', '–'])
        || mark.starts_with("--")
        || mark.starts_with("- ")
        || (mark.starts_with("**") && opened == 0);
    if !bounded {
        return None;
    }
    let mut bold = opened >= 2;
    rest = rest.trim_start_matches('`');
    rest = rest.trim_start_matches(['.', ':', ')']);
    if bold && rest.starts_with("**") {
        bold = false;
        rest = rest[2..].trim_start_matches([':', '.']);
    }
    rest = rest.trim_start().trim_start_matches(['—', '–']);
    if let Some(tail) = rest.strip_prefix("--").or_else(|| rest.strip_prefix("- ")) {
        rest = tail;
    }
    let rest = rest.trim_start();
    let span = Span::new(at + opened, at + opened + word.len());
    Some(Start { id: Spanned::new(id, span), rest: at + body.len() - rest.len(), bold })
}

/// True for a table that lists hypotheses: its ids are in a column of their own or at the head of its first cells, it
/// is no walk through the pitfalls, and it says more than the lines above it, which `defined` those ids.
fn defines(table: &Table, defined: &FxHashSet<Id>) -> bool {
    let names = columns(&table.header, COLUMNS);
    let column = names.iter().position(|name| name == "ID").unwrap_or(0);
    let ids: Vec<Option<Id>> = table.rows.iter().map(|(cells, _)| leading_id(&cells.get(column)?.text)).collect();
    let hypotheses = || ids.iter().flatten().filter(|id| id.letter() == 'H');
    let about_pitfalls = table.header.iter().any(|cell| cell.text.to_lowercase().contains("pitfall"));
    let named = names.iter().filter(|name| COLUMNS.iter().any(|k| k.name == **name)).count() > 1;
    let listed = hypotheses().next().is_some() || (names.iter().any(|name| name == "ID") && named);
    listed && !about_pitfalls && !(hypotheses().next().is_some() && hypotheses().all(|id| defined.contains(id)))
}

/// What the prose of a hypothesis says behind `<label>:`, up to the end of the sentence. Linear.
fn inline(text: &str, label: &str) -> Option<String> {
    // ASCII letters only are lowered, so that offsets stay.
    let lower = text.to_ascii_lowercase();
    let rest = lower.match_indices(label).find_map(|(at, _)| {
        let opens = !lower[..at].ends_with(|c: char| c.is_alphanumeric());
        let rest = text[at + label.len()..].trim_start_matches('*');
        let value = rest.strip_prefix(':')?;
        opens.then_some(value)
    })?;
    let end = [". ", "; ", " (", " — "].iter().filter_map(|stop| rest.find(stop)).min().unwrap_or(rest.len());
    let value = rest[..end].trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '.' | ')'));
    (!value.is_empty()).then(|| value.to_owned())
}

/// The offset behind `could <word>`, whatever the case and the white space between the two.
fn after_could(text: &str, words: &[&str]) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    lower.match_indices("could").find_map(|(i, could)| {
        let rest = &lower[i + could.len()..];
        let word = rest.trim_start();
        let hit = words.iter().find(|w| word.starts_with(**w))?;
        (rest.len() > word.len()).then_some(text.len() - word.len() + hit.len())
    })
}

/// True for a line that starts a hypothesis.
pub(super) fn starts_one(line: &Line<'_>) -> bool {
    start(line).is_some()
}

/// How many lines the hypothesis has that the first one starts. A paragraph at the margin that follows its bullets
/// after a blank line is no part of it.
fn length(lines: &[Line<'_>]) -> usize {
    let mut listed = bullet(lines[0].trimmed().1).is_some();
    let mut blank = false;
    for (i, line) in lines.iter().enumerate().skip(1) {
        let item = bullet(line.trimmed().1).is_some();
        if ends(line) || (blank && listed && !line.is_blank() && !item && line.indent() == 0) {
            return i;
        }
        listed |= item;
        blank = line.is_blank();
    }
    lines.len()
}

/// True where a hypothesis ends: the next one, a heading that is none of its parts, a rule or a table.
fn ends(line: &Line<'_>) -> bool {
    start(line).is_some() || line.heading().is_some() || line.is_rule() || line.text.trim_start().starts_with('|')
}

/// Splits `**Title** — sentence`, `Title.** sentence` (bold open) or `Title — sentence`.
fn title_and_text(prose: &str, bold_open: bool) -> (String, String) {
    let flat = prose.split_whitespace().collect::<Vec<_>>().join(" ");
    let split = match flat.strip_prefix("**") {
        Some(inner) if !bold_open => inner.split_once("**"),
        _ if bold_open => flat.split_once("**"),
        _ => flat.split_once(" — ").or_else(|| flat.split_once(" -- ")).or_else(|| flat.split_once(" – ")),
    };
    let (title, text) = split.unwrap_or((&flat, ""));
    let text = text.trim_start_matches([' ', '—', '–', '-', ':']);
    let lead = |c: char| matches!(c, ' ' | '*' | '-' | '—' | '–');
    let title = title.trim_start_matches(lead).trim_end_matches(['.', ':', ' ', '*']);
    (decoded(title).into_owned(), decoded(text.trim()).into_owned())
}
