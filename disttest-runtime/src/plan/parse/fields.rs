//! Labelled fields: `- **Label:** value` with continuation lines.

use super::line::Line;
use crate::base::diagnostic::{Span, Spanned};
use crate::plan::labels::{self, Label, NOTES};
use crate::plan::model::Field;
use crate::plan::references::{decode, decoded};
use std::borrow::Cow;

/// A list marker (`-`, `*`, `+`, `1.`, `1)`), if `text` starts with one: the content behind it, with its offset.
pub(in crate::plan) fn bullet(text: &str) -> Option<(usize, &str)> {
    let width = match text.as_bytes().first()? {
        b'-' | b'*' | b'+' => 1,
        _ => {
            let digits = text.bytes().take(9).take_while(u8::is_ascii_digit).count();
            (digits > 0 && matches!(text.as_bytes().get(digits), Some(b'.' | b')'))).then_some(digits + 1)?
        }
    };
    let rest = &text[width..];
    if !rest.starts_with([' ', '\t']) {
        return None;
    }
    let content = rest.trim_start();
    Some((text.len() - content.len(), content))
}

/// A label at the start of a line.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::plan) struct LabelAt<'a> {
    /// Canonical when known, else as written.
    pub(in crate::plan) name: Cow<'a, str>,
    /// One of the labels asked for.
    pub(in crate::plan) known: bool,
    /// In bold.
    pub(in crate::plan) bold: bool,
    /// Offset of the value in the text.
    pub(in crate::plan) value: usize,
}

/// Reads `**Label:** value`, `**Label**: value`, `**Label** value` (known labels) or `Label: value` (known labels).
pub(in crate::plan) fn label_at<'a>(text: &'a str, known: &[&'static [Label]]) -> Option<LabelAt<'a>> {
    let first = text.bytes().next().filter(|b| matches!(b, b'*' | b'_'));
    let width = first.map_or(0, |mark| text.bytes().take(3).take_while(|b| *b == mark).count());
    let (inner, at) = if width > 0 {
        let close = closing(&text.as_bytes()[width..], text.as_bytes()[0], width)?;
        (&text[width..width + close], 2 * width + close)
    } else {
        let colon = text.bytes().take(60).position(|b| b == b':')?;
        (&text[..colon], colon)
    };
    let bold = width > 1;
    let written = inner.trim_start_matches(|c: char| c == '*' || c.is_whitespace());
    let written = written.trim_end_matches(|c: char| matches!(c, ':' | '：' | '*') || c.is_whitespace());
    let inside = inner.trim_end_matches(|c: char| c == '*' || c.is_whitespace()).ends_with([':', '：']);
    let after = text[at..].trim_start();
    let outside = after.strip_prefix([':', '：']).filter(|_| !inside);
    let colon = inside || outside.is_some();
    let value = outside.unwrap_or(after).trim_start();
    let at = |value: &str| text.len() - value.len();
    let label = decoded(written);
    match labels::find_in(known, &label) {
        Some(name) if colon || bold => {
            // `**Label** — value`
            let dash = value.trim_start_matches(['—', '–', '-']);
            let value = if !colon && dash.starts_with(' ') { dash.trim_start() } else { value };
            Some(LabelAt { name: Cow::Borrowed(name), known: true, bold, value: at(value) })
        }
        // Whatever it is, one in references is meant.
        None if bold && colon && (label != written || is_plausible(written)) => {
            Some(LabelAt { name: label, known: false, bold, value: at(value) })
        }
        _ => None,
    }
}

/// Where `width` marks stand in a row.
fn closing(text: &[u8], mark: u8, width: usize) -> Option<usize> {
    text.windows(width).position(|run| run.iter().all(|b| *b == mark))
}

/// True for what may be the label of somebody's own field.
fn is_plausible(label: &str) -> bool {
    let markup = label.contains("<!--") || label.contains("**");
    label.chars().take(61).count() <= 60 && label.contains(char::is_alphanumeric) && !markup
}

struct Open {
    label: String,
    known: bool,
    bullet: bool,
    indent: usize,
    /// Where its text starts and ends.
    span: Span,
    text: String,
}

impl Open {
    fn push(&mut self, at: usize, piece: &str) {
        if self.text.is_empty() {
            self.span.start = at;
        } else {
            self.text.push('\n');
        }
        self.text.push_str(piece);
        self.span.end = at + piece.len();
    }
}

/// Collects the fields of a run of lines.
pub(super) struct Collector<'k> {
    known: &'k [&'static [Label]],
    open: Option<Open>,
    blank: bool,
    done: Vec<Field>,
}

impl<'k> Collector<'k> {
    /// A collector that knows these labels.
    pub(super) fn new(known: &'k [&'static [Label]]) -> Collector<'k> {
        Collector { known, open: None, blank: true, done: Vec::new() }
    }

    /// The fields of `lines`. Text under no label becomes fields named [`NOTES`]; nothing is dropped.
    pub(super) fn fields(known: &'k [&'static [Label]], lines: &[Line<'_>]) -> Vec<Field> {
        let mut collector = Collector::new(known);
        lines.iter().for_each(|line| collector.line(line));
        collector.finish()
    }

    /// Closes the last field.
    pub(super) fn finish(mut self) -> Vec<Field> {
        self.close();
        self.done
    }

    /// Opens a field whose label stands on a line of its own, such as a heading.
    pub(super) fn open(&mut self, label: &str, known: bool, at: usize) {
        self.close();
        self.blank = false;
        let (span, text) = (Span::new(at, at), String::new());
        self.open = Some(Open { label: label.to_owned(), known, bullet: false, indent: 0, span, text });
    }

    /// Reads one line that starts no field, whatever it looks like.
    pub(super) fn text(&mut self, line: &Line<'_>) {
        if !line.is_blank() {
            let (at, body) = line.trimmed();
            self.prose(at, body, line.indent(), false);
            self.blank = false;
        }
    }

    /// Reads one line.
    pub(super) fn line(&mut self, line: &Line<'_>) {
        if line.is_blank() {
            self.blank = true;
            return;
        }
        if line.is_rule() {
            self.close();
            self.blank = true;
            return;
        }
        let indent = line.indent();
        let (at, body) = line.trimmed();
        let marker = bullet(body);
        let (offset, content) = marker.unwrap_or((0, body));
        match label_at(content, self.known).filter(|l| self.starts_field(l, marker.is_some(), indent)) {
            Some(label) => {
                self.close();
                let value = &content[label.value..];
                let start = at + offset + label.value;
                let (known, bullet) = (label.known, marker.is_some());
                let span = Span::new(start, start + value.len());
                let (label, text) = (label.name.into_owned(), value.to_owned());
                self.open = Some(Open { label, known, bullet, indent, span, text });
            }
            None => self.prose(at, body, indent, marker.is_some()),
        }
        self.blank = false;
    }

    fn starts_field(&self, label: &LabelAt<'_>, bullet: bool, indent: usize) -> bool {
        let Some(open) = self.open.as_ref().filter(|o| o.label != NOTES) else {
            return label.bold || label.known;
        };
        if indent > open.indent + 1 {
            // A nested label belongs to the field above it, unless that one is a mere group title (`Budgets`).
            return bullet && label.known && (!open.known && open.text.is_empty());
        }
        match (bullet, open.bullet) {
            (true, _) => label.bold || label.known,
            // An unindented `Oracle: …` in the middle of a wrapped bullet is prose unless it is in bold.
            (false, true) => label.bold,
            (false, false) => label.bold || label.known,
        }
    }

    fn prose(&mut self, at: usize, body: &str, indent: usize, bullet: bool) {
        let outside = self
            .open
            .as_ref()
            .is_none_or(|open| open.label != NOTES && open.bullet && indent <= open.indent && (self.blank || bullet));
        if outside {
            self.close();
            let (label, span, text) = (NOTES.to_owned(), Span::new(at, at), String::new());
            self.open = Some(Open { label, known: true, bullet: false, indent: 0, span, text });
        }
        if let Some(open) = &mut self.open {
            open.push(at, body);
        }
    }

    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        decode(&mut open.text);
        self.done.push(Field { label: open.label, value: Spanned::new(open.text, open.span) });
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::*;
    use crate::plan::labels::SCENARIO;

    fn fields(text: &str) -> Vec<(String, String)> {
        let source = Source::new(text);
        let found = Collector::fields(&[SCENARIO], &source.lines());
        for field in &found {
            let span = field.value.span;
            let lines =
                |t: &str| t.split('\n').map(|l| l.trim().to_owned()).filter(|l| !l.is_empty()).collect::<Vec<_>>();
            assert_eq!(lines(&source.masked[span.start..span.end]), lines(&field.value.value), "span of {field:?}");
        }
        found.into_iter().map(|f| (f.label, f.value.value)).collect()
    }

    #[test]
    fn fields_keep_their_continuation_lines_and_nothing_is_dropped() {
        let check = |text: &str, expect: &[(&str, &str)]| {
            let found = fields(text);
            let found: Vec<(&str, &str)> = found.iter().map(|(l, v)| (l.as_str(), v.as_str())).collect();
            assert_eq!(found, expect, "{text:?}");
        };
        check("- **Oracle:** a\n  b\n- **Closes:** H1", &[("Oracle", "a\nb"), ("Closes", "H1")]);
        check("- **Oracle:** a\nlazy", &[("Oracle", "a\nlazy")]);
        check("- **Oracle:** a\n\n  second", &[("Oracle", "a\nsecond")]);
        check("- **Oracle:** a\n\nprose", &[("Oracle", "a"), ("Notes", "prose")]);
        check("- **Oracle:**\n  - one\n  - **two:** x", &[("Oracle", "- one\n- **two:** x")]);
        check("- **Oracle**: a", &[("Oracle", "a")]);
        check("- **Oracle** a", &[("Oracle", "a")]);
        check("- oracle : a", &[("Oracle", "a")]);
        check("- **Oracle** — a", &[("Oracle", "a")]);
        check("- **Oracle.** a", &[("Oracle", "a")]);
        check("- __Oracle:__ a", &[("Oracle", "a")]);
        check("- *Oracle:* a", &[("Oracle", "a")]);
        check("- **Oracle**   :   a", &[("Oracle", "a")]);
        check("- **Oracle (primary):** a", &[("Oracle", "a")]);
        check("- **Oracle：** a", &[("Oracle", "a")]);
        check("- ORACLE: a", &[("Oracle", "a")]);
        check("- *emphasis* and: more", &[("Notes", "- *emphasis* and: more")]);
        check("**Oracle:** a\n**Closes:** H1", &[("Oracle", "a"), ("Closes", "H1")]);
        check("- **Background:** a", &[("Background", "a")]);
        check("- **Budgets:**\n  - **Smoke:** a", &[("Budgets", ""), ("Smoke budget", "a")]);
        check("- **Workload:** x\n  Oracle: not one", &[("Workload", "x\nOracle: not one")]);
        check("- **Workload:** x\nOracle: not one", &[("Workload", "x\nOracle: not one")]);
        check("- **Workload:** x\n- loose", &[("Workload", "x"), ("Notes", "- loose")]);
        check("- **Oracle:**", &[("Oracle", "")]);
        check("- **Workload:** x\n---\n- **Oracle:** a", &[("Workload", "x"), ("Oracle", "a")]);
        check("prose\n- **Oracle:** a", &[("Notes", "prose"), ("Oracle", "a")]);
        check("- \t**Oracle:**\ta\r\n\tb\r\n", &[("Oracle", "a\nb")]);
    }
}
