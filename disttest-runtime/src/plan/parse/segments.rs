//! The parts of a scenario: its own fields, §7.M, §7.M.S, arms, and sub-headings the format does not know.

use super::fields::bullet;
use super::head::arm;
use super::line::Line;
use crate::base::diagnostic::{Span, Spanned};
use crate::plan::Id;
use crate::plan::labels::NOTES;

/// What a run of lines in a scenario belongs to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Base,
    Model,
    Surfaces,
    Arm(Spanned<Id>, Option<String>),
    /// A sub-heading that the format does not know: its title is a label.
    Titled(String),
}

/// A run of lines of one kind, and what its first line says behind the marker.
pub(super) struct Segment<'a> {
    pub(super) kind: Kind,
    pub(super) tail: String,
    pub(super) at: usize,
    pub(super) lines: &'a [Line<'a>],
}

/// Cuts a scenario's lines at its sub-headings and §7.M markers.
pub(super) fn segments<'a>(lines: &'a [Line<'a>]) -> Vec<Segment<'a>> {
    let marks: Vec<(usize, Kind, String, usize)> = lines
        .iter()
        .enumerate()
        .filter_map(|(i, line)| marker(line).map(|(kind, tail, at)| (i, kind, tail, at)))
        .collect();
    let first = marks.first().map_or(lines.len(), |m| m.0);
    let at = lines.first().map_or(0, |l| l.start);
    let mut out = vec![Segment { kind: Kind::Base, tail: String::new(), at, lines: &lines[..first] }];
    for (n, (i, kind, tail, at)) in marks.iter().enumerate() {
        let end = marks.get(n + 1).map_or(lines.len(), |m| m.0);
        out.push(Segment { kind: kind.clone(), tail: tail.clone(), at: *at, lines: &lines[i + 1..end] });
    }
    out
}

/// The kind of segment that a line opens, the text behind its marker, and the offset after the line.
fn marker(line: &Line<'_>) -> Option<(Kind, String, usize)> {
    let heading = line.heading();
    // The marker of a block has its number.
    if heading.is_none() && !line.text.as_bytes().contains(&b'7') {
        return None;
    }
    let (at, body) = heading.map_or_else(|| line.trimmed(), |(_, at, title)| (at, title));
    if heading.is_none() && line.indent() > 1 {
        return None;
    }
    let content = if heading.is_some() { body } else { bullet(body).map_or(body, |(_, content)| content) };
    if let Some((kind, tail)) = block_marker(content) {
        let separated = tail.is_empty() || tail.starts_with([':', '—', '–', '-', '(']) || says_not_applicable(tail);
        if heading.is_some() || separated {
            let tail = tail.trim_start_matches([':', '—', '–', '-', ' ', '*']);
            return Some((kind, tail.to_owned(), line.end()));
        }
    }
    heading?;
    if let Some((id, name)) = arm(body) {
        return Some((Kind::Arm(Spanned::new(id, Span::new(at, at + body.len())), name), String::new(), line.end()));
    }
    if let Some(kind) = titled_block(body) {
        return Some((kind, String::new(), line.end()));
    }
    let title = body.trim_matches(['*', '`', ' ', ':']).to_owned();
    Some((Kind::Titled(if title.is_empty() { NOTES.to_owned() } else { title }), String::new(), line.end()))
}

/// True for a heading that opens a part of a scenario which the format knows.
pub(super) fn opens_part(line: &Line<'_>) -> bool {
    marker(line).is_some_and(|(kind, ..)| !matches!(kind, Kind::Titled(_)))
}

/// `§7.M`, `7.M`, `Sec.7.M`, and the same with `.S`, whatever follows: the kind and the rest.
fn block_marker(text: &str) -> Option<(Kind, &str)> {
    let bare = text.trim_start_matches(['*', '`', '_', '§', ' ']);
    let skip = ["section ", "sec. ", "sec.", "sec "].iter().find(|w| starts_with(bare, w)).map_or(0, |w| w.len());
    let bare = bare[skip..].trim_start_matches(['§', ' ']);
    let (kind, rest) = if starts_with(bare, "7.M.S") {
        (Kind::Surfaces, &bare[5..])
    } else if starts_with(bare, "7.M") {
        (Kind::Model, &bare[3..])
    } else {
        return None;
    };
    let joined = rest.starts_with(|c: char| c.is_alphanumeric())
        || rest.strip_prefix('.').is_some_and(|r| r.starts_with(|c: char| c.is_alphanumeric()));
    (!joined).then(|| (kind, rest.trim_start_matches(['*', '`', '_', ' ', '.'])))
}

/// A block whose heading says in words what it is: `S1 — model, history and checker`.
fn titled_block(title: &str) -> Option<Kind> {
    if title.len() > 120 {
        return None;
    }
    let lower = title.to_lowercase();
    if lower.contains("surface decomposition") {
        return Some(Kind::Surfaces);
    }
    ["model", "history", "checker"].iter().all(|word| lower.contains(word)).then_some(Kind::Model)
}

fn starts_with(text: &str, head: &str) -> bool {
    text.get(..head.len()).is_some_and(|found| found.eq_ignore_ascii_case(head))
}

/// True for a text that begins by saying that a block is not applicable.
pub(super) fn says_not_applicable(text: &str) -> bool {
    let bare = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let flat: String = bare.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    starts_with(&flat, "not applicable") || starts_with(&flat, "n/a")
}
