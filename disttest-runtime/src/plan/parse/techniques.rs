//! §6: one technique a sub-heading or an item of a list, with labelled fields.

use super::Reader;
use super::fields::{Collector, bullet, label_at};
use super::line::Line;
use crate::base::diagnostic::{Span, Spanned};
use crate::plan::Id;
use crate::plan::labels;
use crate::plan::model::Technique;
use crate::plan::references::decoded;

impl Reader<'_> {
    /// §6.
    pub(super) fn techniques(&mut self, lines: &[Line<'_>]) {
        let named = names(lines);
        let ends: Vec<usize> = named.iter().skip(1).map(|(start, _)| *start).chain([lines.len()]).collect();
        for ((start, name), end) in named.into_iter().zip(ends) {
            let fields = Collector::fields(&[labels::TECHNIQUE], &lines[start + 1..end]);
            let id = id(&name);
            self.plan.techniques.push(Technique { id, name, fields });
        }
    }
}

/// The names of techniques and the lines they stand on.
fn names(lines: &[Line<'_>]) -> Vec<(usize, Spanned<String>)> {
    let plain = |i: usize| name(&lines[i]).map(|name| (i, name));
    let named: Vec<_> = (0..lines.len()).filter_map(plain).collect();
    if !named.is_empty() {
        return named;
    }
    let listed: Vec<_> = (0..lines.len()).filter_map(|i| listed(&lines[i..]).map(|name| (i, name))).collect();
    if !listed.is_empty() {
        return listed;
    }
    (0..lines.len()).filter_map(|i| in_bold(&lines[i]).map(|name| (i, name))).collect()
}

/// The name of a technique in an item of a list that goes on behind a colon: `1. **Load test**: H4. Cost: 1 h.`
fn in_bold(line: &Line<'_>) -> Option<Spanned<String>> {
    let (at, body) = line.trimmed();
    let (offset, content) = bullet(body).filter(|_| line.indent() < 2)?;
    let inner = content.strip_prefix("**")?;
    let text = inner[..inner.find("**")?].trim_end_matches([':', '.', ' ']);
    let start = at + offset + 2;
    let named = !text.is_empty() && labels::find(labels::TECHNIQUE, text).is_none();
    named.then(|| Spanned::new(decoded(text).into_owned(), Span::new(start, start + text.len())))
}

/// The line of the first technique.
pub(super) fn first(lines: &[Line<'_>]) -> usize {
    names(lines).first().map_or(lines.len(), |(start, _)| *start)
}

/// The name of a technique that is a plain item of a list: an indented field of the format stands under it.
fn listed(lines: &[Line<'_>]) -> Option<Spanned<String>> {
    let (line, rest) = lines.split_first()?;
    let (at, body) = line.trimmed();
    let (offset, content) = bullet(body).filter(|_| line.indent() < 2)?;
    let below = rest.iter().find(|line| !line.is_blank()).filter(|below| below.indent() > line.indent())?;
    let (_, below) = below.trimmed();
    let field = label_at(bullet(below).map_or(below, |(_, content)| content), &[labels::TECHNIQUE]);
    let text = content.trim_end_matches([':', '.', ' ']);
    let own = label_at(content, &[labels::TECHNIQUE]);
    (own.is_none() && field.is_some_and(|field| field.known) && !text.is_empty()).then(|| {
        let start = at + offset;
        Spanned::new(text.to_owned(), Span::new(start, start + text.len()))
    })
}

/// True for a line that names a technique.
pub(super) fn names_one(line: &Line<'_>) -> bool {
    name(line).is_some()
}

/// The id in `T1. Jepsen + Elle`, `T1 — Jepsen`, `Technique T1: Jepsen`.
fn id(name: &Spanned<String>) -> Option<Spanned<Id>> {
    let bare = name.value.trim_start_matches(['*', '`', '[', ' ']);
    let rest = bare.get(..10).filter(|w| w.eq_ignore_ascii_case("technique ")).map_or(bare, |w| &bare[w.len()..]);
    let word = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("");
    let start = name.span.start + name.value.len() - rest.len();
    let id = Id::parse(word).filter(|id| id.letter() == 'T')?;
    let as_written = name.span.end - name.span.start == name.value.len();
    Some(Spanned::new(id, if as_written { Span::new(start, start + word.len()) } else { name.span }))
}

/// The name of a technique: a sub-heading, or an unindented bullet or line that is bold and no label.
fn name(line: &Line<'_>) -> Option<Spanned<String>> {
    if let Some((level, at, title)) = line.heading() {
        return (level > 2).then(|| Spanned::new(decoded(title).into_owned(), Span::new(at, at + title.len())));
    }
    let (at, body) = line.trimmed();
    let (offset, content) = bullet(body).unwrap_or((0, body));
    let inner = content.strip_prefix("**")?;
    let close = inner.find("**").filter(|_| line.indent() < 2)?;
    let text = inner[..close].trim();
    let colon = text.ends_with(':') || inner[close + 2..].trim_start().starts_with(':');
    if colon || labels::find(labels::TECHNIQUE, text).is_some() {
        return None;
    }
    let start = at + offset + 2;
    Some(Spanned::new(decoded(text).into_owned(), Span::new(start, start + close)))
}
