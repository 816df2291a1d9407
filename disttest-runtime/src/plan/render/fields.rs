//! Labelled fields, and the notes between them.

use super::super::labels::{Labels, NOTES, SKELETON};
use super::super::model::Field;
use super::super::parse::{bullet, label_at};
use super::super::references::decoded;
use super::text;

/// How the fields of one owner are written.
#[derive(Clone, Copy)]
pub(super) struct Fields<'s> {
    /// The labels that its reader knows.
    pub(super) sets: &'s [Labels],
    /// `- `, or nothing for the lines of the header.
    pub(super) bullet: &'s str,
    /// Level of a heading for a label that is too long for a bullet; 0 where none can be.
    pub(super) level: usize,
}

impl Fields<'_> {
    /// Writes every field.
    pub(super) fn write(self, out: &mut String, fields: &[Field]) {
        self.write_with(out, fields, |_| ());
    }

    /// Writes every field, and what `code` writes behind the first skeleton's label.
    pub(super) fn write_with(self, out: &mut String, fields: &[Field], mut code: impl FnMut(&mut String)) {
        let mut first = true;
        let mut skeleton = false;
        for field in fields {
            self.field(out, field, first);
            first = false;
            if field.label == SKELETON && !std::mem::replace(&mut skeleton, true) {
                code(out);
            }
        }
    }

    fn field(self, out: &mut String, field: &Field, first: bool) {
        let Field { label, value } = field;
        let lines: Vec<&str> = value.value.split('\n').collect();
        let label_like = |line: &str| {
            let content = bullet(line).map_or(line, |(_, content)| content);
            label_at(content, self.sets).is_some()
        };
        if label == NOTES && !lines.iter().any(|line| label_like(line)) {
            out.push_str(if first { "" } else { "\n---\n\n" });
            lines.iter().for_each(|line| text::line(out, 2, line));
            out.push('\n');
            return;
        }
        let written = format!("**{label}:**");
        let read_back = label_at(&format!("{written} x"), self.sets).is_some_and(|read| read.name == decoded(label));
        if !read_back && self.level > 0 {
            text::heading(out, self.level, label);
            lines.iter().filter(|line| !line.is_empty()).for_each(|line| text::line(out, 2, line));
            return;
        }
        self.labelled(out, &written, &lines, label_like);
    }

    fn labelled(self, out: &mut String, label: &str, lines: &[&str], label_like: impl Fn(&str) -> bool) {
        out.push_str(self.bullet);
        out.push_str(label);
        let mut lines = lines.iter().filter(|line| !line.is_empty());
        let rule = |line: &str| {
            let mark = line.chars().next();
            line.chars().all(|c| Some(c) == mark || c.is_whitespace())
        };
        let nested = |line: &&&str| bullet(line).is_some() && !label_like(line) && !rule(line);
        let mut rest = lines.clone();
        match rest.next().filter(|line| !nested(line)) {
            Some(line) => {
                out.push(' ');
                out.push_str(line);
                out.push('\n');
                lines.next();
            }
            None => out.push('\n'),
        }
        lines.for_each(|line| text::line(out, self.bullet.len().max(2), line));
    }
}
