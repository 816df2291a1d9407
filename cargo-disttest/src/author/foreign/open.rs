//! What is left to fill in a test file in another language.

use super::super::language::Language;
use super::Foreign;
use super::layout::words;
use super::sheet::{Region, Sheet};

/// A region that nobody has filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    /// Its name; `skeleton` for a file without regions.
    pub name: String,
    /// Line of the begin marker; without regions, the first behind the header.
    pub line: usize,
    /// First and last line between the markers; without regions, of all that stands behind the header. Of an empty
    /// region the last one is that before the first.
    pub lines: (usize, usize),
    /// Lines that say that something is to be done, each with its number.
    pub marks: Vec<(usize, String)>,
}

/// The open regions of the file `existing` of `foreign`, edited by hand or not; `None` when the file is not of this
/// scenario.
pub(crate) fn open_regions(foreign: &Foreign, existing: &str) -> Option<Vec<Open>> {
    let sheet = Sheet::parse(foreign.language, existing).ok()?;
    let id = sheet.line("Scenario:")?.split(' ').next()?;
    if id != foreign.value(&foreign.wanted.attribute.id) {
        return None;
    }
    let text = foreign.text(&|_| None);
    let fresh = Sheet::parse(foreign.language, &text).ok()?;
    let same_skeleton = sheet.word("Skeleton-SHA256:") == fresh.word("Skeleton-SHA256:");
    Some(open(&sheet, Some(&fresh).filter(|_| same_skeleton)))
}

/// Regions that are what the plan's skeleton says, whatever a formatter made of it, or that still have a TODO in them.
pub(super) fn open(sheet: &Sheet<'_>, fresh: Option<&Sheet<'_>>) -> Vec<Open> {
    if sheet.regions.is_empty() {
        let first = sheet.first_line;
        let last = (first + sheet.rest.lines().count()).saturating_sub(1).max(first);
        let all =
            Open { name: "skeleton".to_owned(), line: first, lines: (first, last), marks: marks(sheet.rest, first) };
        return has_todo(sheet.rest).then_some(all).into_iter().collect();
    }
    let is_open = |region: &&Region| {
        let body = &sheet.rest[region.body.clone()];
        let fresh = fresh.and_then(|fresh| Some((fresh, fresh.regions.iter().find(|new| new.name == region.name)?)));
        has_todo(body) || fresh.is_some_and(|(fresh, new)| words(&fresh.rest[new.body.clone()]) == words(body))
    };
    let told = |region: &Region| Open {
        name: region.name.clone(),
        line: sheet.line_at(region.begin.start),
        lines: (sheet.line_at(region.body.start), sheet.line_at(region.end.start) - 1),
        marks: marks(&sheet.rest[region.body.clone()], sheet.line_at(region.body.start)),
    };
    sheet.regions.iter().filter(is_open).map(told).collect()
}

/// A file of ours, as far as somebody filled it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// The scenario or arm that it says it is for.
    pub scenario: String,
    /// Its regions, or the whole file as `skeleton`.
    pub parts: Vec<Part>,
}

/// A region of a file of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its name.
    pub name: String,
    /// Lines of the begin and of the end marker; without regions, all behind the header.
    pub lines: (usize, usize),
    /// Nothing in it says that it is still to be filled.
    pub filled: bool,
    /// There is nothing in it.
    pub empty: bool,
}

/// What stands in `text`, without the plan at hand; `None` when `author` did not write it. A file that is as it was
/// written has nothing filled, whatever its skeleton says.
pub(crate) fn written(language: Language, text: &str) -> Option<Written> {
    let sheet = Sheet::parse(language, text).ok()?;
    let scenario = sheet.line("Scenario:")?.split(' ').next()?.to_owned();
    let touched = sheet.word("Body-SHA256:") != Some(sheet.body_digest().as_str());
    let part = |name: &str, body: &str, lines: (usize, usize)| {
        let code = body.lines().map(str::trim).filter(|line| !line.starts_with(language.comment()));
        let empty = code.collect::<String>().is_empty();
        Part { name: name.to_owned(), lines, filled: touched && !empty && !has_todo(body), empty }
    };
    let whole = || {
        let last = (sheet.first_line + sheet.rest.lines().count()).saturating_sub(1).max(sheet.first_line);
        vec![part("skeleton", sheet.rest, (sheet.first_line, last))]
    };
    let region = |region: &Region| {
        let lines = (sheet.line_at(region.begin.start), sheet.line_at(region.end.start));
        part(&region.name, &sheet.rest[region.body.clone()], lines)
    };
    let parts = if sheet.regions.is_empty() { whole() } else { sheet.regions.iter().map(region).collect() };
    Some(Written { scenario, parts })
}

fn marks(text: &str, first: usize) -> Vec<(usize, String)> {
    let marked = text.lines().enumerate().filter(|(_, line)| has_todo(line));
    marked.map(|(at, line)| (first + at, line.trim().to_owned())).collect()
}

fn has_todo(text: &str) -> bool {
    let words = |word: &&str| matches!(*word, "TODO" | "NotImplementedError" | "FIXME");
    let lower = text.to_lowercase();
    text.split(|c: char| !c.is_alphanumeric()).any(|word| words(&word))
        || lower.contains("not implemented")
        || lower.contains("unimplemented")
}
