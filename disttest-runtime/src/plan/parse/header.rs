//! The title, the bold-key lines under it, and the sections made of labelled bullets or plain bullets.

use super::Reader;
use super::fields::{Collector, bullet};
use super::line::Line;
use super::prose::outside_tables;
use super::rows::CONFIDENCE;
use super::sections::plan_title;
use super::table::tables;
use crate::base::diagnostic::{Span, Spanned};
use crate::plan::labels;
use crate::plan::model::{Header, PlanMode, Row};
use crate::plan::references::{decode, decoded};
use crate::plan::rules::report;

impl Reader<'_> {
    /// Everything above the first section.
    pub(super) fn header(&mut self, lines: &[Line<'_>]) {
        let slug = lines.iter().find_map(title);
        let under = lines.iter().position(|l| title(l).is_some()).map_or(0, |i| i + 1);
        let fields = Collector::fields(&[labels::HEADER], &lines[under..]);
        let mut mode = PlanMode::ChangeScoped;
        if let Some(field) = fields.iter().find(|f| f.label == "Plan mode") {
            let word = field.value.value.to_lowercase().replace(['`', '*'], "");
            let words: Vec<&str> = word.split([' ', '-', '\n', ',', '.', ';', '(']).filter(|w| !w.is_empty()).collect();
            match words.as_slice() {
                ["project", "wide", ..] => mode = PlanMode::ProjectWide,
                ["change", "scoped", ..] => {}
                _ => {
                    let help = "write `change-scoped` or `project-wide`; it is read as change-scoped";
                    let message = format!("`{}` is no plan mode", field.value.value);
                    self.told.push(report("unreadable-plan-mode", field.value.span, message, help));
                }
            }
        }
        self.plan.header = Header { slug, mode, fields };
    }

    /// §2.
    pub(super) fn sut_model(&mut self, lines: &[Line<'_>]) {
        let fields = Collector::fields(&[labels::SUT_MODEL], lines);
        self.plan.sut_model.extend(fields.into_iter().filter(|f| f.label != labels::NOTES));
    }

    /// The bullets of §2 where its heading is missing and they follow §1c (format D1).
    pub(super) fn sut_model_elsewhere(&mut self, lines: &[Line<'_>]) {
        let mut collector = Collector::new(&[labels::SUT_MODEL]);
        outside_tables(lines).into_iter().for_each(|line| collector.line(line));
        let fields = collector.finish();
        let known = |label: &str| labels::is_in(labels::SUT_MODEL, label);
        self.plan.sut_model.extend(fields.into_iter().filter(|f| known(&f.label)));
    }

    /// §7d: paragraphs first, then a table of aspects.
    pub(super) fn confidence(&mut self, lines: &[Line<'_>]) {
        let found = tables(lines);
        let above = &lines[..found.first().map_or(lines.len(), |table| table.lines.start)];
        let prose = above.iter().filter(|l| !l.is_blank() && !l.is_rule() && l.heading().is_none());
        let paragraph: Vec<(usize, &str)> = prose.take_while(|l| !l.is_row()).map(Line::trimmed).collect();
        let start = paragraph.first().map_or(0, |(at, _)| *at);
        let end = paragraph.last().map_or(start, |(at, text)| at + text.len());
        let text = paragraph.iter().map(|(_, text)| *text).collect::<Vec<_>>().join("\n");
        let aspects: Vec<Row> = found.into_iter().flat_map(|t| self.rows(t, CONFIDENCE, &[])).collect();
        let confidence = &mut self.plan.confidence;
        if confidence.statement.value.is_empty() {
            confidence.statement = Spanned::new(decoded(&text).into_owned(), Span::new(start, end));
        }
        confidence.aspects.extend(aspects);
    }

    /// §8.
    pub(super) fn not_covered(&mut self, lines: &[Line<'_>]) {
        self.plan.not_covered.extend(bullets(lines));
    }

    /// §9.
    pub(super) fn open_questions(&mut self, lines: &[Line<'_>]) {
        self.plan.open_questions.extend(bullets(lines));
    }
}

/// The slug of `# Test Plan: <slug>`.
fn title(line: &Line<'_>) -> Option<Spanned<String>> {
    let (_, at, title) = line.heading().filter(|(level, ..)| *level == 1)?;
    let lead = |c: char| matches!(c, ':' | '—' | '–' | '-' | '`' | '*') || c.is_whitespace();
    let rest = plan_title(title)?.trim_start_matches(lead);
    let start = at + title.len() - rest.len();
    let slug = rest.trim_end_matches(|c: char| matches!(c, '`' | '*') || c.is_whitespace());
    Some(Spanned::new(decoded(slug).into_owned(), Span::new(start, start + slug.len())))
}

/// Bullets with their continuation lines; a paragraph counts as one entry.
fn bullets(lines: &[Line<'_>]) -> Vec<Spanned<String>> {
    let mut out: Vec<Spanned<String>> = Vec::new();
    let mut blank = true;
    for line in lines {
        if line.is_blank() || line.is_rule() || line.heading().is_some() {
            blank = true;
            continue;
        }
        let (at, body) = line.trimmed();
        let marker = bullet(body).filter(|_| line.indent() < 2);
        let fresh = marker.is_some() || (blank && line.indent() < 2);
        match out.last_mut().filter(|_| !fresh) {
            Some(open) => {
                open.value.push('\n');
                open.value.push_str(body);
                open.span.end = at + body.len();
            }
            None => {
                let (offset, text) = marker.unwrap_or((0, body));
                out.push(Spanned::new(text.to_owned(), Span::new(at + offset, at + body.len())));
            }
        }
        blank = false;
    }
    for entry in &mut out {
        decode(&mut entry.value);
    }
    out
}
