//! Text → plan. Never fails, never panics, linear in the text; what it cannot read is a diagnostic.

mod budget;
mod categories;
mod fields;
mod header;
mod hypotheses;
mod ids;
mod rows;
mod scenario;
mod skeleton;
mod source;
mod table;
mod techniques;

pub(super) use categories::nearest as nearest_category;

use super::model::{Plan, Section};
use super::rules::report;
use super::{Budget, Id, Release};
use crate::base::diagnostic::{Diagnostic, Span};
use source::{Line, Source};

/// Reads a plan. Every byte range in the result is one of `text`. Time and memory linear in the text.
pub fn parse(text: &str) -> (Plan, Vec<Diagnostic>) {
    let (plan, diagnostics, _) = parse_masked(text);
    (plan, diagnostics)
}

/// [`parse`], and the text with code, comments and quotations blanked out; offsets stay.
pub(super) fn parse_masked(text: &str) -> (Plan, Vec<Diagnostic>, String) {
    let source = Source::new(text);
    let mut reader = Reader { source: &source, plan: Plan::default(), diagnostics: Vec::new() };
    reader.read();
    let Reader { plan, mut diagnostics, .. } = reader;
    diagnostics.sort_by_key(|d| (d.span.start, d.span.end));
    (plan, diagnostics, source.masked)
}

/// The ids with this letter that a cell or field lists; doubtful ones are left out.
pub(super) fn ids_in(text: &str, letter: char) -> Vec<Id> {
    ids::list(text, 0, letter).ids.into_iter().map(|id| id.value).collect()
}

/// A smoke or hardening budget, if the text is one.
pub(super) fn tier(text: &str, no_faults: bool) -> Option<Budget> {
    budget::read(text, no_faults).ok()
}

/// A release budget or its disclosure, if the text is one.
pub(super) fn release_tier(text: &str, hardening: &Budget) -> Option<Release> {
    budget::read_release(text, Some(hardening)).ok().map(|read| read.release)
}

/// `text` with code, comments and quotations blanked out; offsets stay.
pub(super) fn masked(text: &str) -> String {
    Source::new(text).masked
}

/// What everyone who reads a section writes into.
struct Reader<'s> {
    source: &'s Source,
    plan: Plan,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn read(&mut self) {
        let lines = self.source.lines();
        self.unclosed();
        let starts: Vec<usize> = (0..lines.len())
            .filter(|i| section_heading(&lines[*i]).is_some() || scenario::opens_alone(&lines[*i]))
            .collect();
        let head = &lines[..starts.first().copied().unwrap_or(lines.len())];
        self.header(head);
        for (i, start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(lines.len());
            self.section(&lines[*start..end]);
        }
    }

    fn unclosed(&mut self) {
        for code in self.source.codes.iter().filter(|c| !c.closed) {
            let help = "end the fence with a line of its own, indented like its first line, or the text below is lost";
            let span = Span::new(code.span.start, code.span.start + 3);
            self.diagnostics.push(report("unclosed-fence", span, "this code fence is never closed", help));
        }
        for span in &self.source.open_comments {
            let help = "end the comment with `-->`; everything below it is hidden";
            self.diagnostics.push(report("unclosed-comment", *span, "this comment is never closed", help));
        }
    }

    fn section(&mut self, lines: &[Line<'_>]) {
        let Some((number, title, span)) = section_heading(&lines[0]) else {
            // A scenario heading outside any section, such as one of level 2.
            return self.scenarios(lines, false);
        };
        let end = lines.last().map_or(span.end, |l| l.start + l.text.len());
        let section = Section { number, title, span: Span::new(span.start, end) };
        let body = &lines[1..];
        match section.number.as_str() {
            "1b" => self.claims(body),
            "1c" => {
                self.missing_claims(body);
                self.sut_model_elsewhere(body);
            }
            "2" => self.sut_model(body),
            "3" => self.inventory(body),
            "4" => self.hypotheses(body),
            "5" => self.coverage(body),
            "6" => self.techniques(body),
            "6b" => self.environment(body),
            "7b" => self.adequacy(body),
            "7c" => self.residual(body),
            "7d" => self.confidence(body),
            "8" => self.not_covered(body),
            "9" => self.open_questions(body),
            _ => {}
        }
        self.scenarios(body, section.number == "7");
        self.plan.sections.push(section);
    }
}

/// Number, title and span of a `## n. title` heading.
fn section_heading(line: &Line<'_>) -> Option<(String, String, Span)> {
    let (level, at, title) = line.heading()?;
    let bare = title.trim_start_matches(['*', '§', '`', ' ']);
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let letter = bare[digits..].bytes().next().is_some_and(|b| b.is_ascii_lowercase());
    let width = digits + usize::from(letter);
    let rest = &bare[width..];
    let bounded = rest.is_empty() || rest.starts_with(['.', ')', ':', ' ', '—', '–', '-']);
    if level != 2 || digits == 0 || digits > 2 || !bounded {
        return None;
    }
    let name = rest.trim_start_matches(['.', ')', ':', ' ', '—', '–', '-']).trim_end_matches(['*', '`']);
    let (start, _) = line.trimmed();
    Some((bare[..width].to_owned(), name.to_owned(), Span::new(start, at + title.len())))
}

#[cfg(test)]
mod tests;
