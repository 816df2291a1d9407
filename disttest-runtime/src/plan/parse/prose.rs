//! What stands in a section beside its elements.

use super::fields::Collector;
use super::line::Line;
use super::table::tables;
use super::{Reader, hypotheses, techniques};
use crate::plan::labels::{self, NOTES};
use crate::plan::model::Field;

impl Reader<'_> {
    /// The text of a section that is found nowhere else in the model. `holds`: the number of the section whose
    /// elements it has; empty for one that is prose.
    pub(super) fn text_of(&self, holds: &str, lines: &[Line<'_>]) -> String {
        match holds {
            "" => self.verbatim(lines),
            "2" => sut_prose(&lines.iter().collect::<Vec<_>>(), |f| f.label != NOTES),
            "1c" => sut_prose(&outside_tables(lines), is_sut_bullet),
            "4" => joined(until(lines, hypotheses::starts_one)),
            "6" => joined(until(lines, techniques::names_one)),
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
        text.to_owned()
    }
}

fn outside_tables<'a>(lines: &'a [Line<'a>]) -> Vec<&'a Line<'a>> {
    let mut out = Vec::new();
    let mut from = 0;
    for table in tables(lines) {
        out.extend(&lines[from..table.lines.start]);
        from = table.lines.end;
    }
    out.extend(&lines[from..]);
    out
}

/// The lines above the first that opens an element or a sub-heading.
fn until<'a>(lines: &'a [Line<'a>], opens: fn(&Line<'_>) -> bool) -> impl Iterator<Item = &'a Line<'a>> {
    lines.iter().take_while(move |line| !opens(line) && line.heading().is_none() && !line.is_row())
}

/// A field of the SUT model wherever it stands.
fn is_sut_bullet(field: &Field) -> bool {
    labels::find_exact(labels::SUT_MODEL, &field.label).is_some()
}

/// The fields that are kept nowhere else.
fn sut_prose(lines: &[&Line<'_>], kept: fn(&Field) -> bool) -> String {
    let mut collector = Collector::new(&[labels::SUT_MODEL]);
    lines.iter().filter(|line| line.heading().is_none()).for_each(|line| collector.line(line));
    let text = |f: Field| match f.label == NOTES {
        true => f.value.value,
        false => format!("**{}:** {}", f.label, f.value.value).trim_end().to_owned(),
    };
    collector.finish().into_iter().filter(|f| !kept(f)).map(text).collect::<Vec<_>>().join("\n")
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
    text
}
