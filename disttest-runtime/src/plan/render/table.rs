//! Tables.

use super::super::model::Row;

/// Columns of §1b.
pub(super) const CLAIMS: &[&str] = &["ID", "Claim", "Category", "Source", "Inferred?"];
/// Columns of §1c.
pub(super) const MISSING: &[&str] = &["ID", "Behavior the code relies on", "Source / evidence", "Suggested action"];
/// Columns of §3.
pub(super) const INVENTORY: &[&str] = &["Test / harness", "Subsystem", "Invariant pinned", "Failure modes it catches"];
/// Columns of §5.
pub(super) const COVERAGE: &[&str] =
    &["Claim", "Hypothesis", "Existing tests", "Verdict", "Gap kind", "Recommended scenario"];
/// Columns of §6b.
pub(super) const ENVIRONMENT: &[&str] = &["Requirement", "Version floor", "Used by scenarios", "Install hint"];
/// Columns of §7b.
pub(super) const ADEQUACY: &[&str] =
    &["Claim", "Threat model (how it could fail)", "Scenarios that exercise the threats", "Why these are sufficient"];
/// Columns of §7c.
pub(super) const RESIDUAL: &[&str] = &["Uncertainty", "Why uncovered", "Why acceptable today", "When to revisit"];
/// Columns of the table in §7d.
pub(super) const CONFIDENCE: &[&str] = &["Claim", "Aspect", "Confidence", "Reason"];

/// True for a column of the format in its own spelling, whichever table it belongs to.
pub(super) fn is_column(name: &str) -> bool {
    let tables = [CLAIMS, MISSING, INVENTORY, COVERAGE, ENVIRONMENT, ADEQUACY, RESIDUAL, CONFIDENCE];
    tables.iter().any(|columns| columns.contains(&name))
}

/// A header and its delimiter row.
pub(super) fn head<'c>(out: &mut String, columns: impl IntoIterator<Item = &'c str> + Clone) {
    row(out, columns.clone());
    out.push('|');
    columns.into_iter().for_each(|_| out.push_str("---|"));
    out.push('\n');
}

/// One row.
pub(super) fn row<'c>(out: &mut String, cells: impl IntoIterator<Item = &'c str>) {
    out.push('|');
    for cell in cells {
        out.push(' ');
        out.push_str(&cell.replace('|', "\\|").replace('\n', "<br>"));
        out.push_str(if cell.is_empty() { "|" } else { " |" });
    }
    out.push('\n');
}

/// Rows, in as many tables as they have shapes. `whole`: every table gets the columns of the format that it lacks.
pub(super) fn rows(out: &mut String, rows: &[Row], columns: &[&str], whole: bool) {
    let names = |row: &Row| -> Vec<String> { row.cells.iter().map(|(name, _)| name.clone()).collect() };
    let mut i = 0;
    while i < rows.len() {
        let mut header = names(&rows[i]);
        let mut end = i + 1;
        // A row that is a cell short belongs to the table of the row that is not.
        while let Some(next) = rows.get(end).map(names) {
            if next.starts_with(&header) {
                header = next;
            } else if !header.starts_with(&next) {
                break;
            }
            end += 1;
        }
        let known = header.iter().filter(|name| columns.contains(&name.as_str())).count();
        // Where a backtick is alone, the number of cells tells that it has no partner in another one.
        let alone = |r: &Row| r.cells.iter().any(|(_, text)| text.matches('`').count() % 2 == 1);
        let whole = whole && !rows[i..end].iter().any(alone);
        // A table is known by two of its columns, and a column of somebody's own by all of the format's beside it.
        let whole = whole || known < 2 || known < header.len();
        let lacking = columns.iter().filter(|c| whole && !header.iter().any(|name| name == *c));
        let lacking: Vec<String> = lacking.map(|c| (*c).to_owned()).collect();
        header.extend(lacking);
        if i > 0 {
            out.push('\n');
        }
        head(out, header.iter().map(String::as_str));
        rows[i..end].iter().for_each(|r| row(out, r.cells.iter().map(|(_, text)| text.as_str())));
        i = end;
    }
}
