//! Diagnostics as a compiler shows them: source line, underline, help, and the change that mends it.

use annotate_snippets::{AnnotationKind, Group, Level, Message, Origin, Patch, Renderer, Snippet};
use disttest_runtime::base::diagnostic::{Diagnostic, Edit, LineIndex, Severity, Span};
use std::collections::BTreeMap;
use std::ops::Range;

/// Longest message that is shown whole, in characters.
const LONGEST: usize = 400;

/// Longest stretch of the source that is shown with an underline, in bytes: a thousand diagnostics on one endless line
/// must not cost a thousand times that line.
const WIDEST: usize = 4096;

/// How many diagnostics of one rule are shown, unless all are asked for.
pub(crate) const MOST: usize = 20;

/// All of `diags` about `text`, a blank line between them, ending in a line break unless there are none.
/// Time linear in the text and in what is shown.
pub fn render(file_name: &str, text: &str, diags: &[Diagnostic], color: bool) -> String {
    render_most(file_name, text, diags, color, usize::MAX)
}

/// As [`render`], but at most `most` of each rule, and how many more there are.
pub(crate) fn render_most(file_name: &str, text: &str, diags: &[Diagnostic], color: bool, most: usize) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let page = Page { file: &plain(file_name), text, index: LineIndex::new(text) };
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut out = String::new();
    for diagnostic in diags {
        let count = seen.entry(&diagnostic.rule).or_default();
        *count += 1;
        if *count <= most {
            page.show(&renderer, diagnostic, &mut out);
        }
    }
    for (rule, count) in seen.into_iter().filter(|(_, count)| *count > most) {
        out.push_str(&format!("\n… and {} more of rule {rule} (`--all` shows them)\n", count - most));
    }
    out
}

/// `3 errors, 1 warning` and the like; empty for none at all.
pub fn count(diags: &[Diagnostic]) -> String {
    let words = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")];
    let counts = words.map(|(severity, word)| (diags.iter().filter(|d| d.severity == severity).count(), word));
    let some = counts.iter().filter(|(n, _)| *n > 0);
    some.map(|(n, word)| format!("{n} {word}{}", if *n == 1 { "" } else { "s" })).collect::<Vec<_>>().join(", ")
}

/// A source that diagnostics point into.
struct Page<'t> {
    file: &'t str,
    text: &'t str,
    index: LineIndex,
}

impl Page<'_> {
    fn show(&self, renderer: &Renderer, diagnostic: &Diagnostic, out: &mut String) {
        if !out.is_empty() {
            out.push('\n');
        }
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let title = level.primary_title(plain(&diagnostic.message)).id(diagnostic.rule.as_str());
        let told = self.source(Group::with_title(title), diagnostic.span);
        let help = diagnostic.help.as_deref().map(plain);
        let groups = match (self.changes(&diagnostic.edits), help) {
            (Some(changes), help) => {
                let title = help.unwrap_or_else(|| "make this change".to_owned());
                vec![told, Level::HELP.secondary_title(title).elements(changes)]
            }
            (None, Some(help)) => vec![told.element(message(help))],
            (None, None) => vec![told],
        };
        out.push_str(&renderer.render(&groups));
        out.push('\n');
    }

    /// Adds the line where `span` starts, and what of the span stands on it.
    fn source<'g>(&'g self, group: Group<'g>, span: Span) -> Group<'g> {
        let at = self.index.position(self.text, span.start);
        let line = self.index.line(self.text, span.start);
        if line.end - line.start > WIDEST {
            let place = Origin::path(self.file).line(at.line).char_column(at.column);
            let near = format!("this line is too long to be shown; here it reads `{}`", self.excerpt(span.start));
            return group.element(place).element(Level::NOTE.message(near));
        }
        let within = |at: usize| self.text.floor_char_boundary(at.clamp(line.start, line.end)) - line.start;
        let (start, end) = (within(span.start), within(span.end));
        let underline = AnnotationKind::Primary.span(start..end.max(start));
        let snippet = Snippet::source(&self.text[line.start..line.end]).line_start(at.line).path(self.file);
        group.element(snippet.annotation(underline))
    }

    /// A few words from byte `at` on.
    fn excerpt(&self, at: usize) -> String {
        let rest = &self.text[self.text.floor_char_boundary(at)..];
        let line = rest.split('\n').next().unwrap_or_default();
        plain(&line.chars().take(80).collect::<String>())
    }

    /// The lines that `edits` change, as they will be; `None` when that cannot be shown.
    fn changes<'g>(&'g self, edits: &'g [Edit]) -> Option<Vec<Snippet<'g, Patch<'g>>>> {
        let mut sorted: Vec<&Edit> = edits.iter().collect();
        sorted.sort();
        if sorted.windows(2).any(|two| two[1].span.start < two[0].span.end) {
            return None;
        }
        let mut stretches: Vec<(Range<usize>, Vec<&Edit>)> = Vec::new();
        for edit in sorted {
            let lines = self.lines(edit.span)?;
            match stretches.last_mut().filter(|(last, _)| lines.start < last.end.max(last.start + 1)) {
                Some((last, edits)) => {
                    last.end = last.end.max(lines.end);
                    edits.push(edit);
                }
                None => stretches.push((lines, vec![edit])),
            }
        }
        let small = stretches.iter().all(|(lines, _)| lines.len() <= WIDEST);
        (small && !stretches.is_empty()).then(|| stretches.into_iter().map(|(l, e)| self.change(l, &e)).collect())
    }

    fn change<'g>(&'g self, lines: Range<usize>, edits: &[&'g Edit]) -> Snippet<'g, Patch<'g>> {
        let line = self.index.position(self.text, lines.start).line;
        let patch = |edit: &&Edit| {
            let span = edit.span.start - lines.start..edit.span.end - lines.start;
            Patch::new(span, edit.replacement.replace('\r', ""))
        };
        Snippet::source(&self.text[lines.clone()]).line_start(line).patches(edits.iter().map(patch).collect::<Vec<_>>())
    }

    /// Whole lines round `span`; `None` for a span that is none of this text.
    fn lines(&self, span: Span) -> Option<Range<usize>> {
        self.text.get(span.start..span.end)?;
        let first = self.index.line(self.text, span.start);
        let last = self.index.line(self.text, span.end);
        // A byte-order mark belongs to no line.
        Some(first.start.min(span.start)..last.end.max(span.end))
    }
}

fn message(help: String) -> Message<'static> {
    Level::HELP.message(help)
}

/// One line without control characters: a plan is untrusted and must not steer the terminal.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::new();
    for (n, c) in text.chars().enumerate() {
        match c {
            _ if n >= LONGEST => {
                out.push('…');
                break;
            }
            '\n' | '\t' => out.push(' '),
            _ if c.is_control() || is_steering(c) => out.extend(c.escape_unicode()),
            _ => out.push(c),
        }
    }
    out
}

/// Characters that reorder or hide text.
fn is_steering(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests;
