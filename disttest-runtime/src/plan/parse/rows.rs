//! The sections made of tables: §1b, §1c, §3, §5, §6b, §7b, §7c.

use super::fields::bullet;
use super::ids::numbers_on;
use super::line::Line;
use super::table::{Cell, Column, Table, columns, is_blank_row, known_columns, tables};
use super::{Reader, categories};
use crate::base::diagnostic::{Span, Spanned};
use crate::plan::Id;
use crate::plan::model::{Claim, MissingClaim, Row};
use crate::plan::rules::report;
use rustc_hash::FxHashSet;

const fn column(name: &'static str, words: &'static [&'static str]) -> Column {
    Column { name, words }
}

const CLAIMS: &[Column] = &[
    column("ID", &["id", "#", "no", "nr", "c"]),
    column("Claim", &["claim", "promise", "guarantee"]),
    column("Category", &["categor", "kind", "type", "class"]),
    column("Source", &["source", "reference", "origin", "evidence"]),
    column("Inferred?", &["inferred", "inferred?"]),
];
const MISSING: &[Column] = &[
    column("ID", &["id", "#", "no", "nr", "m"]),
    column("Behavior the code relies on", &["behavior", "behaviour", "relies", "assumption", "missing"]),
    column("Source / evidence", &["source", "evidence", "found"]),
    column("Suggested action", &["action", "suggest", "recommend"]),
];
const INVENTORY: &[Column] = &[
    column("Test / harness", &["test", "harness", "suite", "spec"]),
    column("Subsystem", &["subsystem", "component", "module", "area"]),
    column("Invariant pinned", &["invariant", "pin", "propert"]),
    column("Failure modes it catches", &["failure", "catch"]),
];
const COVERAGE: &[Column] = &[
    column("Claim", &["claim", "c"]),
    column("Hypothesis", &["hypothes", "h"]),
    column("Existing tests", &["existing"]),
    column("Verdict", &["verdict", "status"]),
    column("Gap kind", &["gap"]),
    column("Recommended scenario", &["recommend", "scenario"]),
];
const ENVIRONMENT: &[Column] = &[
    column("Requirement", &["requirement", "need", "capabilit", "tool"]),
    column("Version floor", &["version", "floor"]),
    column("Used by scenarios", &["used", "scenario"]),
    column("Install hint", &["install", "hint", "how"]),
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
    column("Reason", &["reason", "why"]),
];
/// What a table of §5 that sums up each claim must have; the hypotheses stand in a table of their own.
const SUMMARY: &[&str] = &["Claim"];

/// A row read by columns: (column, cell), and the span of its line.
type Read = (Vec<(String, Cell)>, Span);

impl Reader<'_> {
    /// §1b.
    pub(super) fn claims(&mut self, lines: &[Line<'_>]) {
        for table in tables(lines).into_iter().filter(|t| defines(t, CLAIMS, 'C')) {
            for (mut cells, span) in self.read_rows(table, CLAIMS, &[]) {
                let Some(id) = self.row_id(&cells, span, 'C', "unreadable-claim") else { continue };
                let claim = spanned(&mut cells, "Claim", span);
                let inferred = text(&mut cells, "Inferred?");
                let category_text = spanned(&mut cells, "Category", span);
                let read = categories::read(&category_text.value);
                self.plan.claims.push(Claim {
                    id,
                    // Without the column the mark in the text tells.
                    inferred: match claim.value.to_lowercase().contains("(inferred)") && inferred.is_empty() {
                        true => "yes".to_owned(),
                        false => inferred,
                    },
                    text: claim,
                    categories: read.categories,
                    unknown_categories: read.unknown,
                    category_text,
                    source: text(&mut cells, "Source"),
                });
            }
        }
        self.claims_in_prose(lines);
    }

    /// §1c.
    pub(super) fn missing_claims(&mut self, lines: &[Line<'_>]) {
        for table in tables(lines).into_iter().filter(|t| defines(t, MISSING, 'M')) {
            for (mut cells, span) in self.read_rows(table, MISSING, &[]) {
                let Some(id) = self.row_id(&cells, span, 'M', "unreadable-claim") else { continue };
                self.plan.missing_claims.push(MissingClaim {
                    id,
                    behavior: text(&mut cells, "Behavior the code relies on"),
                    evidence: text(&mut cells, "Source / evidence"),
                    action: text(&mut cells, "Suggested action"),
                });
            }
        }
    }

    /// Remembers the bullets of §1b that start with the id of a claim.
    fn claims_in_prose(&mut self, lines: &[Line<'_>]) {
        for line in lines.iter().filter(|l| !l.text.contains('|') && l.indent() < 4) {
            let (at, body) = line.trimmed();
            let id = bullet(body).and_then(|(_, content)| leading_id(content)).filter(|id| id.letter() == 'C');
            self.loose_claims.extend(id.map(|id| Spanned::new(id, Span::new(at, at + body.len()))));
        }
    }

    /// Tells each of those that no table defines.
    pub(super) fn tell_loose_claims(&mut self) {
        let loose = std::mem::take(&mut self.loose_claims);
        let defined: FxHashSet<&Id> = self.plan.claims.iter().map(|c| &c.id.value).collect();
        for Spanned { value: id, span } in loose.into_iter().filter(|id| !defined.contains(&id.value)) {
            let message = format!("{id} starts this bullet, but claims are read from the table only");
            let help = format!("write the row `| {id} | <claim> | <category> | <source> | no |`");
            self.told.push(report("unreadable-claim", span, message, help));
        }
    }

    /// §3.
    pub(super) fn inventory(&mut self, lines: &[Line<'_>]) {
        let rows = self.rows_of(lines, INVENTORY);
        self.plan.inventory.extend(rows);
    }

    /// §5: one table, or a summary by claim and the detail by hypothesis.
    pub(super) fn coverage(&mut self, lines: &[Line<'_>]) {
        let tables = tables(lines);
        let detailed = |t: &Table| columns(&t.header, COVERAGE).iter().any(|name| name == "Hypothesis");
        let split = tables.iter().any(detailed);
        for table in tables.into_iter().filter(|t| known_columns(t, COVERAGE) > 1) {
            let needed = if split && !detailed(&table) { SUMMARY } else { &[] };
            let rows = self.rows(table, COVERAGE, needed);
            self.plan.coverage.extend(rows);
        }
    }

    /// §6b.
    pub(super) fn environment(&mut self, lines: &[Line<'_>]) {
        let rows = self.rows_of(lines, ENVIRONMENT);
        self.plan.environment.extend(rows);
    }

    /// §7b.
    pub(super) fn adequacy(&mut self, lines: &[Line<'_>]) {
        let rows = self.rows_of(lines, ADEQUACY);
        self.plan.adequacy.extend(rows);
    }

    /// §7c.
    pub(super) fn residual(&mut self, lines: &[Line<'_>]) {
        let rows = self.rows_of(lines, RESIDUAL);
        self.plan.residual.extend(rows);
    }

    /// Rows of all tables that are of this kind: those with two of its columns, or if none has, every table.
    fn rows_of(&mut self, lines: &[Line<'_>], known: &[Column]) -> Vec<Row> {
        let tables = tables(lines);
        let of_this_kind = |t: &&Table| known_columns(t, known) > 1;
        let any = tables.iter().any(|t| of_this_kind(&t));
        tables.into_iter().filter(|t| !any || of_this_kind(&t)).flat_map(|t| self.rows(t, known, &[])).collect()
    }

    /// Rows of a table as the model keeps them. `needed`: the columns it must have; empty for all of `known`.
    pub(super) fn rows(&mut self, table: Table, known: &[Column], needed: &[&str]) -> Vec<Row> {
        let plain =
            |(cells, span): Read| Row { cells: cells.into_iter().map(|(c, cell)| (c, cell.text)).collect(), span };
        self.read_rows(table, known, needed).into_iter().map(plain).collect()
    }

    /// Cells under the canonical names of their columns. Filler rows (`| ... |`) and blank rows are left out; filler
    /// is told.
    fn read_rows(&mut self, table: Table, known: &[Column], needed: &[&str]) -> Vec<Read> {
        let names = columns(&table.header, known);
        let wanted = known.iter().map(|k| k.name).filter(|name| needed.is_empty() || needed.contains(name));
        for expected in wanted.filter(|name| !names.iter().any(|n| n == name)) {
            let span = span_of(&table.header);
            let message = format!("the table has no column `{expected}`");
            let help = "add the column; columns go by their header words";
            self.told.push(report("missing-column", span, message, help));
        }
        let mut out = Vec::new();
        for (cells, span) in table.rows {
            let own = &cells[..cells.len().min(names.len())];
            if is_blank_row(own) || self.is_filler(own, span) {
                continue;
            }
            if cells.len() > names.len() {
                let message = format!("the row has {} cells under {} columns", cells.len(), names.len());
                self.told.push(report("row-shape", span, message, "write a `|` inside a cell as `\\|`"));
            }
            out.push((names.iter().cloned().zip(cells).collect(), span));
        }
        out
    }

    /// True for a row of the template (told). A row that has its id and nothing else counts, and is
    /// told as well.
    pub(super) fn is_filler(&mut self, cells: &[Cell], span: Span) -> bool {
        let dots = |text: &str| matches!(text, "..." | "…");
        let filled: Vec<&str> = cells.iter().map(|c| c.text.as_str()).filter(|t| !t.is_empty()).collect();
        let [first, rest @ ..] = filled.as_slice() else { return true };
        let id_alone = !rest.is_empty() && leading_id(first).is_some();
        if rest.iter().all(|t| dots(t)) && (dots(first) || id_alone) {
            let help = "fill the row or delete it";
            self.told.push(report("filler-row", span, "a row of the template is left over", help));
            return dots(first);
        }
        false
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
        let id = leading_id(&cell.text).filter(|id| id.letter() == letter);
        if id.is_none() {
            let message = format!("`{}` is no id of the form {letter}<number>; the row is not read", cell.text);
            let span = if cell.text.is_empty() { span } else { cell.span };
            self.told.push(report(rule, span, message, format!("start the row with an id such as `{letter}1`")));
        }
        id.map(|id| Spanned::new(id, cell.span))
    }
}

/// True for a table that lists elements with this letter: it has a column for ids, or its first cells are some.
fn defines(table: &Table, known: &[Column], letter: char) -> bool {
    let names = columns(&table.header, known);
    let has = |name: &str| names.iter().any(|n| n == name);
    let ids = || {
        table.rows.iter().any(|(cells, _)| {
            cells.first().and_then(|cell| leading_id(&cell.text)).is_some_and(|id| id.letter() == letter)
        })
    };
    (has("ID") && known_columns(table, known) > 1) || ids()
}

/// The id that a cell or bullet starts with: `C1`, `**C1**`, `[C1](#c1)`, `<a id="c1"></a>C1`, `~~C1~~`.
pub(super) fn leading_id(text: &str) -> Option<Id> {
    let mut bare = text.trim_start_matches(['*', '`', '~', '[', '_', ' ']);
    while let Some((_, rest)) = bare.strip_prefix('<').and_then(|tag| tag.split_once('>')) {
        bare = rest.trim_start_matches(['*', '`', '~', '[', '_', ' ']);
    }
    let word = bare.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("");
    Id::parse(word).filter(|_| !numbers_on(&bare[word.len()..]))
}

/// Takes a cell out of its row, where it is asked for once.
fn spanned(cells: &mut [(String, Cell)], column: &str, row: Span) -> Spanned<String> {
    let cell = cells.iter_mut().find(|(name, _)| name == column);
    cell.map_or_else(
        || Spanned::new(String::new(), row),
        |(_, c)| {
            let span = if c.text.is_empty() { row } else { c.span };
            Spanned::new(std::mem::take(&mut c.text), span)
        },
    )
}

fn text(cells: &mut [(String, Cell)], column: &str) -> String {
    cells.iter_mut().find(|(name, _)| name == column).map(|(_, c)| std::mem::take(&mut c.text)).unwrap_or_default()
}

fn span_of(header: &[Cell]) -> Span {
    Span::new(header.first().map_or(0, |c| c.span.start), header.last().map_or(0, |c| c.span.end))
}
