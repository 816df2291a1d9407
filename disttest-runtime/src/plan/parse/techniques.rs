//! §6: one technique a sub-heading, with labelled fields.

use super::Reader;
use super::fields::{Collector, bullet};
use super::source::Line;
use crate::base::diagnostic::{Span, Spanned};
use crate::plan::labels;
use crate::plan::model::Technique;

impl Reader<'_> {
    /// §6.
    pub(super) fn techniques(&mut self, lines: &[Line<'_>]) {
        let starts: Vec<usize> = (0..lines.len()).filter(|i| name(&lines[*i]).is_some()).collect();
        for (i, start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(lines.len());
            let Some(name) = name(&lines[*start]) else { continue };
            let fields = Collector::fields(&[labels::TECHNIQUE], &lines[*start + 1..end]);
            self.plan.techniques.push(Technique { name, fields });
        }
    }
}

/// The name of a technique: a sub-heading, or an unindented bullet or line that is bold and no label.
fn name(line: &Line<'_>) -> Option<Spanned<String>> {
    if let Some((level, at, title)) = line.heading() {
        return (level > 2).then(|| Spanned::new(title.to_owned(), Span::new(at, at + title.len())));
    }
    let (at, body) = line.trimmed();
    let (offset, content) = bullet(body).unwrap_or((0, body));
    let inner = content.strip_prefix("**")?;
    let close = inner.find("**").filter(|_| line.indent() < 2)?;
    let text = inner[..close].trim();
    if labels::find(labels::TECHNIQUE, text).is_some() || text.ends_with(':') || inner[close + 2..].starts_with(':') {
        return None;
    }
    let start = at + offset + 2;
    Some(Spanned::new(text.to_owned(), Span::new(start, start + close)))
}
