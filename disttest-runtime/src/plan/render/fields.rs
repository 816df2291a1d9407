//! Labelled fields, and the notes between them.

use super::super::labels::{Labels, NOTES, SKELETON};
use super::super::model::Field;
use super::super::parse::{bullet, label_at, survives};
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
            return self.notes(out, &lines, first);
        }
        let written = format!("**{label}:**");
        let read_back = label_at(&format!("{written} x"), self.sets).is_some_and(|read| read.name == *label);
        if !read_back && self.level > 0 {
            text::heading(out, self.level, label);
            lines.iter().filter(|line| !line.is_empty()).for_each(|line| text::line(out, 2, line));
            return;
        }
        let tight = self.labelled(&written, &lines, false, label_like);
        let intact = !value.value.contains("<!--") || survives(&tight, &lines);
        let loose = || Some(self.labelled(&written, &lines, true, label_like)).filter(|text| survives(text, &lines));
        out.push_str(&if intact { tight } else { loose().unwrap_or(tight) });
    }

    fn labelled(self, label: &str, lines: &[&str], loose: bool, label_like: impl Fn(&str) -> bool) -> String {
        let mut out = format!("{}{label}", self.bullet);
        let mut lines = lines.iter().filter(|line| !line.is_empty());
        let nested = |line: &&&str| bullet(line).is_some() && !label_like(line);
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
        for line in lines {
            if loose {
                out.push('\n');
            }
            text::line(&mut out, self.bullet.len().max(2), line);
        }
        out
    }

    /// Prose under no label. A rule ends what stands above it.
    fn notes(self, out: &mut String, lines: &[&str], first: bool) {
        out.push_str(if first { "" } else { "\n---\n\n" });
        lines.iter().for_each(|line| text::line(out, 2, line));
        out.push('\n');
    }
}
