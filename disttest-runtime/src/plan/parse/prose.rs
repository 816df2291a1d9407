//! What stands in a section beside its elements.

use super::fields::{Collector, bullet, label_at};
use super::line::Line;
use super::table::ranges;
use super::{Reader, hypotheses, techniques};
use crate::plan::labels::{self, NOTES};
use crate::plan::references::{decode, decoded};

impl Reader<'_> {
    /// The text of a section that is found nowhere else in the model. `holds`: the number of the section whose
    /// elements it has; empty for one that is prose.
    pub(super) fn text_of(&self, holds: &str, lines: &[Line<'_>]) -> String {
        match holds {
            "" => self.verbatim(lines),
            "2" => notes(lines),
            "1c" => joined(without_sut_model(outside_tables(lines)).into_iter()),
            "4" => {
                let tables = ranges(lines).first().map_or(lines.len(), |table| table.start);
                joined(until(&lines[..tables], hypotheses::starts_one))
            }
            "6" => joined(until(&lines[..techniques::first(lines)], techniques::names_one)),
            "7d" | "8" | "9" => String::new(),
            _ => joined(outside_tables(lines).into_iter()),
        }
    }

    /// The lines as they are in the source, without blank lines around them.
    fn verbatim(&self, lines: &[Line<'_>]) -> String {
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return String::new() };
        let text = self.source.text.get(first.start..last.end()).unwrap_or("").trim_end();
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let mut text = text.as_str();
        while let Some((_, rest)) = text.split_once('\n').filter(|(first, _)| first.trim().is_empty()) {
            text = rest;
        }
        decoded(text).into_owned()
    }
}

/// The lines that are in no table.
pub(super) fn outside_tables<'a>(lines: &'a [Line<'a>]) -> Vec<&'a Line<'a>> {
    let mut out = Vec::new();
    let mut from = 0;
    for table in ranges(lines) {
        out.extend(&lines[from..table.start]);
        from = table.end;
    }
    out.extend(&lines[from..]);
    out
}

/// The lines above the first that opens an element or a sub-heading.
fn until<'a>(lines: &'a [Line<'a>], opens: fn(&Line<'_>) -> bool) -> impl Iterator<Item = &'a Line<'a>> {
    lines.iter().take_while(move |line| !opens(line) && line.heading().is_none() && !line.is_row())
}

/// What stands under no label.
fn notes(lines: &[Line<'_>]) -> String {
    let fields = Collector::fields(&[labels::SUT_MODEL], lines);
    let notes = fields.iter().filter(|f| f.label == NOTES).flat_map(|f| f.value.value.split('\n'));
    // A line that would be a label above the bullets is none below them; it is not worth keeping.
    notes.filter(|line| label_at(line, &[labels::SUT_MODEL]).is_none()).collect::<Vec<_>>().join("\n")
}

/// The lines that are no bullet of the SUT model and no continuation of one.
fn without_sut_model<'a>(lines: Vec<&'a Line<'a>>) -> Vec<&'a Line<'a>> {
    let (mut inside, mut blank) = (false, true);
    let mut own = |line: &&Line<'_>| {
        let (_, body) = line.trimmed();
        let item = bullet(body);
        let label = label_at(item.map_or(body, |(_, content)| content), &[labels::SUT_MODEL]);
        let goes_on = line.is_blank() || line.indent() > 1 || (item.is_none() && !blank);
        inside = label.is_some_and(|l| l.known) || (inside && goes_on);
        blank = line.is_blank();
        !inside
    };
    lines.into_iter().filter(|line| own(line)).collect()
}

/// Lines without headings, rules and outer white space; one blank line between paragraphs.
fn joined<'a>(lines: impl Iterator<Item = &'a Line<'a>>) -> String {
    let mut text = String::new();
    let mut blank = false;
    for line in lines {
        if line.is_blank() || line.is_rule() || line.heading().is_some() {
            blank = true;
            continue;
        }
        if !text.is_empty() {
            text.push_str(if blank { "\n\n" } else { "\n" });
        }
        text.push_str(line.trimmed().1);
        blank = false;
    }
    decode(&mut text);
    text
}
