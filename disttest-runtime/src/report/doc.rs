//! A Markdown document under construction. Its callers escape; it only lays out.

/// Blocks separated by one blank line.
#[derive(Debug, Default)]
pub(super) struct Doc {
    blocks: Vec<String>,
}

impl Doc {
    /// `## text` for level 2.
    pub(super) fn heading(&mut self, level: usize, text: &str) {
        self.blocks.push(format!("{} {text}", "#".repeat(level)));
    }

    /// A paragraph, or any block made elsewhere.
    pub(super) fn block(&mut self, text: impl Into<String>) {
        self.blocks.push(text.into());
    }

    /// `**Label:** value`, one a line.
    pub(super) fn fields(&mut self, fields: &[(&str, String)]) {
        let lines: Vec<String> = fields.iter().map(|(label, value)| format!("**{label}:** {value}")).collect();
        self.blocks.push(lines.join("\n"));
    }

    /// `- item`, or `empty` as a paragraph when there is none.
    pub(super) fn bullets(&mut self, items: &[String], empty: &str) {
        if items.is_empty() {
            return self.block(empty);
        }
        self.blocks.push(items.iter().map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n"));
    }

    /// A table, or `empty` as a paragraph when it has no row.
    pub(super) fn table(&mut self, columns: &[&str], rows: &[Vec<String>], empty: &str) {
        if rows.is_empty() {
            return self.block(empty);
        }
        let line = |cells: Vec<&str>| format!("| {} |", cells.join(" | "));
        let mut lines = vec![line(columns.to_vec()), format!("|{}", "---|".repeat(columns.len()))];
        lines.extend(rows.iter().map(|row| line(row.iter().map(String::as_str).collect())));
        self.blocks.push(lines.join("\n"));
    }

    /// The document, with a line break at its end.
    pub(super) fn finish(self) -> String {
        let mut text = self.blocks.join("\n\n");
        text.push('\n');
        text
    }
}
