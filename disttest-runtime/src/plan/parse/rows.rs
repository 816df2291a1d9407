//! The sections made of tables: §1b, §1c, §3, §5, §6b, §7b, §7c.

use super::source::Line;
use super::table::{Cell, Column, Table, columns, tables};
use super::{Reader, categories};
use crate::base::diagnostic::{Span, Spanned};
use crate::plan::Id;
use crate::plan::model::{Claim, MissingClaim, Row};
use crate::plan::rules::report;

const fn column(name: &'static str, words: &'static [&'static str]) -> Column {
    Column { name, words }
}

const CLAIMS: &[Column] = &[
    column("ID", &["id", "#"]),
    column("Claim", &["claim", "promise", "guarantee"]),
    column("Category", &["categor", "kind", "type"]),
    column("Source", &["source", "reference"]),
    column("Inferred?", &["inferred"]),
];
const MISSING: &[Column] = &[
    column("ID", &["id", "#"]),
    column("Behavior the code relies on", &["behavior", "behaviour"]),
    column("Source / evidence", &["source", "evidence"]),
    column("Suggested action", &["action", "suggest"]),
];
const INVENTORY: &[Column] = &[
    column("Test / harness", &["test", "harness"]),
    column("Subsystem", &["subsystem"]),
    column("Invariant pinned", &["invariant"]),
    column("Failure modes it catches", &["failure", "catch"]),
];
const COVERAGE: &[Column] = &[
    column("Claim", &["claim"]),
    column("Hypothesis", &["hypothes"]),
    column("Existing tests", &["existing"]),
    column("Verdict", &["verdict"]),
    column("Gap kind", &["gap"]),
    column("Recommended scenario", &["recommend", "scenario"]),
];
const ENVIRONMENT: &[Column] = &[
    column("Requirement", &["requirement", "need"]),
    column("Version floor", &["version"]),
    column("Used by scenarios", &["used", "scenario"]),
    column("Install hint", &["install", "hint"]),
];
const ADEQUACY: &[Column] = &[
    column("Claim", &["claim"]),
    column("Threat model (how it could fail)", &["threat"]),
    column("Scenarios that exercise the threats", &["scenario"]),
    column("Why these are sufficient", &["why", "sufficien"]),
];
const RESIDUAL: &[Column] = &[
    column("Uncertainty", &["uncertain"]),
    column("Why uncovered", &["uncovered"]),
    column("Why acceptable today", &["acceptable"]),
    column("When to revisit", &["revisit", "when"]),
];
pub(super) const CONFIDENCE: &[Column] = &[
    column("Claim", &["claim"]),
    column("Aspect", &["aspect"]),
    column("Confidence", &["confidence"]),
    column("Reason", &["reason"]),
];

/// A row read by columns: (column, cell), and the span of its line.
type Read = (Vec<(String, Cell)>, Span);

impl Reader<'_> {
    /// §1b.
    pub(super) fn claims(&mut self, lines: &[Line<'_>]) {
        for table in tables(lines) {
            for (cells, span) in self.read_rows(&table, CLAIMS) {
                let Some(id) = self.row_id(&cells, span, 'C', "unreadable-claim") else { continue };
                let category_text = spanned(&cells, "Category", span);
                let read = categories::read(&category_text.value);
                self.plan.claims.push(Claim {
                    id,
                    text: spanned(&cells, "Claim", span),
                    categories: read.categories,
                    unknown_categories: read.unknown,
                    category_text,
                    source: text(&cells, "Source"),
                    inferred: text(&cells, "Inferred?"),
                });
            }
        }
    }

    /// §1c.
    pub(super) fn missing_claims(&mut self, lines: &[Line<'_>]) {
        for table in tables(lines) {
            for (cells, span) in self.read_rows(&table, MISSING) {
                let Some(id) = self.row_id(&cells, span, 'M', "unreadable-claim") else { continue };
                self.plan.missing_claims.push(MissingClaim {
                    id,
                    behavior: text(&cells, "Behavior the code relies on"),
                    evidence: text(&cells, "Source / evidence"),
                    action: text(&cells, "Suggested action"),
                });
            }
        }
    }

    /// §3.
    pub(super) fn inventory(&mut self, lines: &[Line<'_>]) {
        let rows: Vec<Row> = tables(lines).iter().flat_map(|t| self.rows(t, INVENTORY)).collect();
        self.plan.inventory.extend(rows);
    }

    /// §5.
    pub(super) fn coverage(&mut self, lines: &[Line<'_>]) {
        let rows: Vec<Row> = tables(lines).iter().flat_map(|t| self.rows(t, COVERAGE)).collect();
        self.plan.coverage.extend(rows);
    }

    /// §6b.
    pub(super) fn environment(&mut self, lines: &[Line<'_>]) {
        let rows: Vec<Row> = tables(lines).iter().flat_map(|t| self.rows(t, ENVIRONMENT)).collect();
        self.plan.environment.extend(rows);
    }

    /// §7b.
    pub(super) fn adequacy(&mut self, lines: &[Line<'_>]) {
        let rows: Vec<Row> = tables(lines).iter().flat_map(|t| self.rows(t, ADEQUACY)).collect();
        self.plan.adequacy.extend(rows);
    }

    /// §7c.
    pub(super) fn residual(&mut self, lines: &[Line<'_>]) {
        let rows: Vec<Row> = tables(lines).iter().flat_map(|t| self.rows(t, RESIDUAL)).collect();
        self.plan.residual.extend(rows);
    }

    /// Rows of a table as the model keeps them.
    pub(super) fn rows(&mut self, table: &Table, known: &[Column]) -> Vec<Row> {
        let plain =
            |(cells, span): Read| Row { cells: cells.into_iter().map(|(c, cell)| (c, cell.text)).collect(), span };
        self.read_rows(table, known).into_iter().map(plain).collect()
    }

    /// Cells under the canonical names of their columns. Filler rows (`| ... |`) and blank rows are left out; filler
    /// is told.
    fn read_rows(&mut self, table: &Table, known: &[Column]) -> Vec<Read> {
        let names = columns(&table.header, known);
        for expected in known.iter().filter(|k| !names.iter().any(|n| n == k.name)) {
            let span = span_of(&table.header);
            let message = format!("the table has no column `{}`", expected.name);
            self.diagnostics.push(report(
                "missing-column",
                span,
                message,
                "add the column; columns go by their header words",
            ));
        }
        let mut out = Vec::new();
        for (cells, span) in &table.rows {
            let filled: Vec<&str> = cells.iter().map(|c| c.text.as_str()).filter(|t| !t.is_empty()).collect();
            if filled.iter().all(|t| matches!(*t, "..." | "…")) {
                if !filled.is_empty() {
                    let help = "fill the row or delete it";
                    self.diagnostics.push(report("filler-row", *span, "a row of the template is left over", help));
                }
                continue;
            }
            if cells.len() > names.len() {
                let message = format!("the row has {} cells under {} columns", cells.len(), names.len());
                self.diagnostics.push(report("row-shape", *span, message, "write a `|` inside a cell as `\\|`"));
            }
            out.push((names.iter().cloned().zip(cells.iter().cloned()).collect(), *span));
        }
        out
    }

    /// The id of a row, from its ID column or, where there is none, from the head of the first cell.
    fn row_id(
        &mut self,
        cells: &[(String, Cell)],
        span: Span,
        letter: char,
        rule: &'static str,
    ) -> Option<Spanned<Id>> {
        let cell = cells.iter().find(|(name, _)| name == "ID").or(cells.first()).map(|(_, cell)| cell)?;
        let bare = cell.text.trim_start_matches(['*', '`', '~', '[']);
        let word = bare.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("");
        let id = Id::parse(word).filter(|id| id.letter() == letter);
        if id.is_none() {
            let message = format!("`{}` is no id of the form {letter}<number>; the row is not read", cell.text);
            let span = if cell.text.is_empty() { span } else { cell.span };
            self.diagnostics.push(report(rule, span, message, format!("start the row with an id such as `{letter}1`")));
        }
        id.map(|id| Spanned::new(id, cell.span))
    }
}

fn spanned(cells: &[(String, Cell)], column: &str, row: Span) -> Spanned<String> {
    let cell = cells.iter().find(|(name, _)| name == column);
    cell.map_or_else(
        || Spanned::new(String::new(), row),
        |(_, c)| Spanned::new(c.text.clone(), if c.text.is_empty() { row } else { c.span }),
    )
}

fn text(cells: &[(String, Cell)], column: &str) -> String {
    cells.iter().find(|(name, _)| name == column).map(|(_, c)| c.text.clone()).unwrap_or_default()
}

fn span_of(header: &[Cell]) -> Span {
    Span::new(header.first().map_or(0, |c| c.span.start), header.last().map_or(0, |c| c.span.end))
}
