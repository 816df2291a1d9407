//! Plan → canonical Markdown. What [`parse`](super::parse()) reads from it is the plan again, places aside.
//!
//! The order is that of the plan's sections; a section that stands twice is written once with everything, and once
//! empty. Claims, rows and hypotheses are written in one form, fields in their order under their labels, code blocks
//! at the head of their scenario. Prose beside the elements (`Section::text`) stands under the heading of its section.
//!
//! A text may mean something else in its new place: `<div>` opens a block of HTML only where no other is open, a lone
//! backtick finds a partner in the next cell. So what is written is read, and if another plan comes of it, the texts are
//! written in references ([`quoted`]), first those of the sections, then all. Then every line has one of a few shapes
//! that hold nothing but ids, names of the format, words and references, and no context gives them another meaning;
//! the plan of any text survives.

mod elements;
mod fields;
mod quoted;
mod scenario;
mod table;
mod text;

use super::model::{Plan, Section};
use super::{labels, parse};
use fields::Fields;
use std::collections::HashSet;
use std::fmt::Write as _;
use text::heading;

/// The plan as Markdown. Linear in its size.
pub fn render(plan: &Plan) -> String {
    let model = plan.clone().without_spans();
    let page = write(plan);
    let survives = |page: &String| parse(page).0.without_spans() == model;
    if survives(&page) {
        return page;
    }
    Some(write(&quoted::sections(plan))).filter(survives).unwrap_or_else(|| render_in_references(plan))
}

/// The plan as Markdown with every text in numeric character references: what [`render`] falls back to, and is tested
/// on every text rather than on the few that need it. Linear in its size.
#[doc(hidden)]
pub fn render_in_references(plan: &Plan) -> String {
    write(&quoted::everything(plan))
}

/// The page of a plan, which may not survive.
fn write(plan: &Plan) -> String {
    let mut page = Page { plan, out: String::new() };
    page.header();
    let numbers: HashSet<&str> = plan.sections.iter().map(|s| s.number.as_str()).collect();
    if !numbers.contains("7") {
        page.scenarios();
    }
    let mut sections: Vec<&Section> = plan.sections.iter().chain(&plan.appendices).collect();
    sections.sort_by_key(|section| section.span.start);
    let mut written = HashSet::new();
    for section in sections {
        page.open(section);
        if !section.number.is_empty() && written.insert(section.number.as_str()) {
            page.elements(&section.number, &numbers);
        }
    }
    page.out
}

struct Page<'p> {
    plan: &'p Plan,
    out: String,
}

impl Page<'_> {
    fn header(&mut self) {
        let header = &self.plan.header;
        if let Some(slug) = &header.slug {
            let slug = if slug.value.is_empty() { String::new() } else { format!(": {}", slug.value) };
            heading(&mut self.out, 1, &format!("Test Plan{slug}"));
        }
        Fields { sets: &[labels::HEADER], bullet: "", level: 0 }.write(&mut self.out, &header.fields);
        self.blank();
    }

    fn open(&mut self, section: &Section) {
        self.blank();
        if section.number.is_empty() {
            heading(&mut self.out, 2, &section.title);
        } else {
            heading(&mut self.out, 2, format!("{}. {}", section.number, section.title).trim_end());
        }
        let verbatim =
            !matches!(section.number.as_str(), "1b" | "1c" | "2" | "3" | "4" | "5" | "6" | "6b" | "7" | "7b" | "7c");
        if verbatim {
            self.out.push_str(&section.text);
        } else {
            text::prose(&mut self.out, &section.text, &section.number);
        }
        self.blank();
    }

    fn elements(&mut self, number: &str, numbers: &HashSet<&str>) {
        match number {
            "1b" => self.claims(),
            "1c" => {
                self.missing_claims();
                if !numbers.contains("2") {
                    self.sut_model();
                }
            }
            "2" => self.sut_model(),
            "3" => table::rows(&mut self.out, &self.plan.inventory, table::INVENTORY, true),
            "4" => self.hypotheses(),
            "5" => table::rows(&mut self.out, &self.plan.coverage, table::COVERAGE, false),
            "6" => self.techniques(),
            "6b" => table::rows(&mut self.out, &self.plan.environment, table::ENVIRONMENT, true),
            "7" => self.scenarios(),
            "7b" => table::rows(&mut self.out, &self.plan.adequacy, table::ADEQUACY, true),
            "7c" => table::rows(&mut self.out, &self.plan.residual, table::RESIDUAL, true),
            "7d" => self.confidence(),
            "8" => self.bullets(&self.plan.not_covered),
            "9" => self.bullets(&self.plan.open_questions),
            _ => {}
        }
        self.blank();
    }

    fn scenarios(&mut self) {
        for scenario in &self.plan.scenarios {
            self.blank();
            scenario::write(&mut self.out, scenario);
        }
    }

    /// Ends a block: exactly one blank line, none at the top.
    fn blank(&mut self) {
        while self.out.ends_with('\n') {
            self.out.pop();
        }
        if !self.out.is_empty() {
            let _ = write!(self.out, "\n\n");
        }
    }
}

#[cfg(test)]
mod tests;
