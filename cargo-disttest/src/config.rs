//! `.config/disttest.toml`: what a workspace wants done differently.
//!
//! A table of the file is a row of [`TABLES`]; what a reader does not know is a warning with the nearest name, so that
//! a misspelt setting is not one that silently has no effect.

mod lint;
#[cfg(test)]
mod schema;

use crate::diagnostics::levels::Setting;
use crate::exit_code::{End, Failure};
use crate::surroundings;
use disttest_runtime::base::diagnostic::{Diagnostic, LineIndex, Severity, Span};
use disttest_runtime::base::nearest::nearest;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml_edit::{Document, Item, TableLike};

/// Where the file is, from the workspace's folder.
pub(crate) const PLACE: &str = ".config/disttest.toml";

/// The name that diagnostics about the file go under.
pub(crate) const RULE: &str = "config";

/// Reads one table of the file into the configuration.
type Reader = fn(&mut Config, &dyn TableLike);

/// The tables of the file, each with what reads it.
const TABLES: &[(&str, Reader)] = &[("lint", lint::read)];

/// A file that was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    /// As it is shown.
    pub shown: String,
    /// Its text.
    pub text: String,
    /// `[lint]`: the level of rules, by name.
    pub lint: BTreeMap<String, Setting>,
    /// What is wrong with it; never an error.
    pub diagnostics: Vec<Diagnostic>,
}

/// The file that holds for a plan: that of the workspace the plan stands in, else the nearest one in a folder above
/// the plan, up to the root of its repository. `plan` is absolute.
pub(crate) fn find(plan: &Path) -> Option<PathBuf> {
    let of = |folder: &Path| Some(folder.join(PLACE)).filter(|path| path.exists());
    let above = || {
        let repository = surroundings::repository(plan);
        let inside = |folder: &&Path| repository.is_none_or(|root| folder.starts_with(root));
        plan.ancestors().skip(1).take_while(inside).find_map(of)
    };
    surroundings::workspace(plan).and_then(of).or_else(above)
}

impl Config {
    /// Reads the file at `path`, which is shown as `shown`.
    ///
    /// # Errors
    /// A file that cannot be read or is no TOML.
    pub(crate) fn load(path: &Path, shown: &str) -> Result<Config, Failure> {
        let unreadable = |place: &str, why: &str| Failure::new(End::Unreadable, format!("{shown}{place}: {why}"));
        let text = std::fs::read_to_string(path).map_err(|error| unreadable("", &error.to_string()))?;
        let config = Config { shown: shown.to_owned(), text, ..Config::default() };
        config.read().map_err(|(at, why)| unreadable(&format!(":{at}"), &why))
    }

    /// Reads the tables; an error is `line:column` and what is wrong there.
    fn read(mut self) -> Result<Config, (String, String)> {
        let text = self.text.clone();
        let document = Document::parse(text.as_str()).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let at = LineIndex::new(&text).position(&text, at);
            let why = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            (format!("{}:{}", at.line, at.column), why)
        })?;
        for (name, item) in document.as_table().iter() {
            let span = key_span(document.as_table(), name);
            match (TABLES.iter().find(|(known, _)| *known == name), item.as_table_like()) {
                (Some((_, read)), Some(table)) => read(&mut self, table),
                (Some(_), None) => self.tell(span, format!("`{name}` is a table"), format!("write `[{name}]`")),
                (None, _) => {
                    let known: Vec<&str> = TABLES.iter().map(|(known, _)| *known).collect();
                    let help = match nearest(name, known.iter().copied()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("the tables are: {}", known.join(", ")),
                    };
                    self.tell(span, format!("there is no setting `{name}`"), help);
                }
            }
        }
        self.diagnostics.sort_by_key(|d| d.span);
        Ok(self)
    }

    /// `.config/disttest.toml:3`.
    fn place(&self, span: Span) -> String {
        format!("{}:{}", self.shown, LineIndex::new(&self.text).position(&self.text, span.start).line)
    }

    fn tell(&mut self, span: Span, message: String, help: String) {
        let (rule, severity, help) = (RULE.to_owned(), Severity::Warning, Some(help));
        self.diagnostics.push(Diagnostic { rule, severity, message, span, help, edits: Vec::new() });
    }
}

/// Where the key `name` of `table` stands.
fn key_span(table: &dyn TableLike, name: &str) -> Span {
    let span = table.key(name).and_then(|key| key.span());
    let span = span.or_else(|| table.get(name).and_then(Item::span)).unwrap_or_default();
    Span::new(span.start, span.end)
}

#[cfg(test)]
mod tests;
