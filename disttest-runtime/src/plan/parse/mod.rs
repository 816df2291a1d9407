//! Text → plan. Never fails, never panics, linear in the text; what it cannot read is a diagnostic.

mod budget;
mod categories;
mod draft;
mod fields;
mod head;
mod header;
mod hidden;
mod hypotheses;
mod ids;
mod laid_out;
mod line;
mod prose;
mod quantity;
mod rows;
mod scenario;
mod sections;
mod segments;
mod skeleton;
mod source;
mod table;
mod techniques;
mod units;

pub(super) use categories::nearest as nearest_category;
pub(super) use fields::{bullet, label_at};
use sections::is_title;
pub(super) use sections::marks_of_section;

use super::model::{Plan, Section};
use super::rules::report;
use super::told::Told;
use super::{Budget, Id, Release};
use crate::base::diagnostic::{Diagnostic, Span, Spanned};
use line::Line;
use scenario::places;
use sections::{Opening, opening};
use source::Source;

/// Reads a plan. Every byte range in the result is one of `text`. Time and memory linear in the text.
pub fn parse(text: &str) -> (Plan, Vec<Diagnostic>) {
    let (plan, diagnostics, _) = parse_masked(text);
    (plan, diagnostics)
}

/// [`parse`], and the text with code, comments and quotations blanked out; offsets stay.
pub(super) fn parse_masked(text: &str) -> (Plan, Vec<Diagnostic>, String) {
    let source = Source::new(text);
    let mut reader = Reader {
        source: &source,
        plan: Plan::default(),
        told: Told::default(),
        ranges: [ids::Allowance::for_text(); 2],
        last: String::new(),
        loose_claims: Vec::new(),
        rows_of_scenarios: Vec::new(),
    };
    reader.read();
    let Reader { plan, told, .. } = reader;
    (plan, told.in_order(), source.masked)
}

/// The ids with this letter that a cell or field lists; doubtful ones are left out.
pub(super) fn ids_in(text: &str, letter: char) -> Vec<Id> {
    ids::list(text, 0, letter, &mut ids::Allowance::for_cell()).ids.into_iter().map(|id| id.value).collect()
}

/// A smoke or hardening budget, if the text is one.
pub(super) fn tier(text: &str, no_faults: bool) -> Option<Budget> {
    budget::read(text, no_faults).ok().map(|(budget, _)| budget)
}

/// A release budget or its disclosure, if the text is one.
pub(super) fn release_tier(text: &str, hardening: &Budget) -> Option<Release> {
    budget::read_release(text, Some(hardening)).ok().map(|(release, _)| release)
}

/// `text` with code, comments and quotations blanked out; offsets stay.
pub(super) fn masked(text: &str) -> String {
    Source::new(text).masked
}

/// Where the fenced blocks of plain text stand: those of no language, and of the language `text`.
pub(super) fn plain_blocks(text: &str) -> Vec<Span> {
    let plain = |code: &&source::Code| code.fenced && ["", "text", "txt"].contains(&code.language.as_str());
    Source::new(text).codes.iter().filter(plain).map(|code| code.span).collect()
}

/// True for a line that a reader of §4 would take for the start of a hypothesis.
pub(super) fn starts_hypothesis(line: &str) -> bool {
    hypotheses::starts_one(&Line::part(0, line))
}

/// True for a line that a reader of §6 would take for the name of a technique.
pub(super) fn names_technique(line: &str) -> bool {
    techniques::names_one(&Line::part(0, line))
}

/// True for a line that opens a section or a scenario.
pub(super) fn opens_section(line: &str) -> bool {
    let line = Line::part(0, line);
    opening(&line).is_some() || head::head(&line, false).is_some_and(|head| head.id.is_some())
}

/// Whose lists of ids. Neither can use up the ranges of the other, so the order of the sections does not matter.
#[derive(Clone, Copy, Debug)]
enum Lists {
    Hypotheses,
    Scenarios,
}

/// What everyone who reads a section writes into.
struct Reader<'s> {
    source: &'s Source<'s>,
    plan: Plan,
    told: Told,
    /// What the ranges of each [`Lists`] may still stand for.
    ranges: [ids::Allowance; 2],
    /// Number of the last numbered section.
    last: String,
    /// Bullets of §1b that start with the id of a claim.
    loose_claims: Vec<Spanned<Id>>,
    /// Rows of tables of §7 that start with the id of a scenario.
    rows_of_scenarios: Vec<Spanned<Id>>,
}

impl Reader<'_> {
    fn read(&mut self) {
        let lines = self.source.lines();
        self.unclosed();
        let starts = starts(&lines);
        let first = starts.first().map_or(lines.len(), |(i, _)| *i);
        self.head(&lines[..first]);
        for (n, (start, opening)) in starts.iter().enumerate() {
            let end = starts.get(n + 1).map_or(lines.len(), |(i, _)| *i);
            match opening {
                Some(opening) => self.section(opening, &lines[*start + 1..end]),
                // A scenario heading of the level of sections.
                None => {
                    let (lines, expected) = (&lines[*start..end], self.last == "7");
                    self.scenarios(lines, places(lines, expected), expected);
                }
            }
        }
        self.tell_loose_claims();
        self.tell_rows_of_scenarios();
        self.hidden_scenarios();
    }

    fn unclosed(&mut self) {
        for code in self.source.codes.iter().filter(|c| !c.closed) {
            let help = "end the fence with a line of its own, indented like its first line, or the text below is lost";
            let span = Span::new(code.span.start, (code.span.start + 3).min(code.span.end));
            self.told.push(report("unclosed-fence", span, "this code fence is never closed", help));
        }
        for span in &self.source.open_comments {
            let help = "end the comment with `-->`; everything below it is hidden";
            self.told.push(report("unclosed-comment", *span, "this comment is never closed", help));
        }
    }

    /// Everything above the first section.
    fn head(&mut self, lines: &[Line<'_>]) {
        let places = places(lines, false);
        self.header(&lines[..places.first().map_or(lines.len(), |place| place.start)]);
        self.scenarios(lines, places, false);
    }

    fn section(&mut self, opening: &Opening, body: &[Line<'_>]) {
        let Opening { number, title, span, departs } = opening;
        if let Some(departs) = departs {
            let message = format!("the heading of section {number} {departs}");
            let help = format!("write `## {number}. {title}`");
            self.told.push(report("section-heading", *span, message, help));
        }
        let span = Span::new(span.start, body.last().map_or(span.end, Line::end));
        let appendix = number.is_empty();
        if !appendix {
            self.last.clone_from(number);
        }
        let expected = self.last == "7";
        let places = places(body, expected);
        let own = &body[..places.first().map_or(body.len(), |place| place.start)];
        let holds = if appendix { self.elements_in_appendix(own) } else { self.elements(number, own) };
        let text = self.text_of(if holds { &self.last } else { "" }, own);
        self.scenarios(body, places, expected);
        let section = Section { number: number.clone(), title: title.clone(), span, text };
        let home = if appendix { &mut self.plan.appendices } else { &mut self.plan.sections };
        home.push(section);
    }

    /// Reads what a numbered section holds; false for one that is prose.
    fn elements(&mut self, number: &str, body: &[Line<'_>]) -> bool {
        match number {
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
            "7" => self.scenarios_in_tables(body),
            _ => return false,
        }
        true
    }

    /// A heading without a number between numbered sections may be a mere group of what the section above it holds.
    fn elements_in_appendix(&mut self, body: &[Line<'_>]) -> bool {
        let count = |plan: &Plan| plan.claims.len() + plan.missing_claims.len() + plan.hypotheses.len();
        let before = count(&self.plan);
        match self.last.as_str() {
            "1b" => self.claims(body),
            "1c" => self.missing_claims(body),
            "4" => self.hypotheses(body),
            "7" => self.scenarios_in_tables(body),
            _ => {}
        }
        count(&self.plan) > before
    }
}

/// The lines that open a section, or (`None`) a scenario at the level of sections.
fn starts(lines: &[Line<'_>]) -> Vec<(usize, Option<Opening>)> {
    let mut out = Vec::new();
    let mut in_scenarios = false;
    for (i, line) in lines.iter().enumerate() {
        if head::opens_alone(line, in_scenarios) {
            out.push((i, None));
        } else if let Some(opening) = opening(line) {
            in_scenarios = if opening.number.is_empty() { in_scenarios } else { opening.number == "7" };
            out.push((i, Some(opening)));
        }
    }
    out
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod variants;
