//! Rules about the coverage matrix (§5), and what it says against §7.

use super::{Context, enumerated};
use crate::base::diagnostic::Span;
use crate::base::nearest::nearest;
use crate::plan::Id;
use crate::plan::model::Row;
use crate::plan::parse::ids_in;
use crate::plan::rules::report;
use crate::plan::told::Told;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

const VERDICTS: [&str; 3] = ["covered", "partial", "not covered"];
const GAPS: [&str; 5] =
    ["no test", "shallow test", "oracle too weak", "no fault-injection variant", "no scale variant"];
const SCENARIO: &str = "Recommended scenario";

/// A cell without emphasis and what stands in parentheses, behind a dash or a semicolon.
fn plain(cell: &str) -> String {
    let mut depth = 0_usize;
    let mut out = String::new();
    for c in cell.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '*' | '`' | '_' | '~' => {}
            _ if depth == 0 => out.extend(c.to_lowercase()),
            _ => {}
        }
    }
    let head =
        out.split([';', '\n']).next().unwrap_or("").split(" — ").next().unwrap_or("").split(" - ").next().unwrap_or("");
    head.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
}

fn is_none(cell: &str) -> bool {
    ["", "—", "–", "-", "--", "n/a", "none"].contains(&plain(cell).as_str())
}

fn has_column(row: &Row, column: &str) -> bool {
    row.cells.iter().any(|(name, _)| name == column)
}

fn verdict(row: &Row) -> String {
    let text = plain(row.cell("Verdict"));
    if text.starts_with("not covered") { "not covered".to_owned() } else { text }
}

/// Verdicts and gap kinds. A matrix with words of its own is told once, with all of them.
pub(super) fn coverage_word(context: &Context<'_>, out: &mut Told) {
    // Of a matrix in two tables, the one without hypotheses sums up in prose what is worst for each claim.
    let split = context.plan.coverage.iter().any(|row| has_column(row, "Hypothesis"));
    for (column, known) in [("Verdict", &VERDICTS[..]), ("Gap kind", &GAPS[..])] {
        let mut odd: BTreeMap<String, usize> = BTreeMap::new();
        let mut first: Option<Span> = None;
        let summed = split && column == "Gap kind";
        let judged = |row: &&Row| has_column(row, column) && (!summed || has_column(row, "Hypothesis"));
        for row in context.plan.coverage.iter().filter(judged) {
            let text = plain(row.cell(column));
            let right = |word: &str| known.contains(&word) || is_none(word);
            if !right(&text) && !text.split([',', '/']).map(str::trim).all(right) {
                *odd.entry(text).or_default() += 1;
                first.get_or_insert_with(|| context.cell(row, column));
            }
        }
        let Some(span) = first else { continue };
        let all: Vec<String> = odd
            .iter()
            .map(|(word, times)| if *times == 1 { format!("`{word}`") } else { format!("`{word}` ({times} times)") })
            .collect();
        let message = format!("no {} of the format: {}", column.to_lowercase(), enumerated(&all));
        let near = odd.keys().next().filter(|_| odd.len() == 1).and_then(|word| nearest(word, known.iter().copied()));
        let listed = known.join(", ");
        let help = near
            .map_or(format!("write one of {listed}"), |near| format!("did you mean `{near}`? The words are {listed}"));
        out.push(report("coverage-word", span, message, help));
    }
}

/// What is not covered needs a scenario.
pub(super) fn coverage_without_scenario(context: &Context<'_>, out: &mut Told) {
    for row in context.plan.coverage.iter().filter(|row| verdict(row) == "not covered" && has_column(row, SCENARIO)) {
        if ids_in(row.cell(SCENARIO), 'S').is_empty() {
            let message = format!("{} is not covered, and no scenario is recommended", subject(row));
            out.push(report("coverage-without-scenario", row.span, message, "name the scenario that closes the row"));
        }
    }
}

/// What a row is about: `C1 × H2`.
fn subject(row: &Row) -> String {
    let ids = [("Claim", 'C'), ("Hypothesis", 'H')].map(|(column, letter)| {
        ids_in(row.cell(column), letter).iter().map(Id::to_string).collect::<Vec<_>>().join(", ")
    });
    let named: Vec<&str> = ids.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    if named.is_empty() { "a row of §5".to_owned() } else { named.join(" × ") }
}

/// A gap has a kind.
pub(super) fn coverage_without_gap(context: &Context<'_>, out: &mut Told) {
    let lacking: Vec<&Row> = context
        .plan
        .coverage
        .iter()
        .filter(|row| ["partial", "not covered"].contains(&verdict(row).as_str()))
        .filter(|row| has_column(row, "Gap kind") && is_none(row.cell("Gap kind")))
        .collect();
    if let Some(first) = lacking.first() {
        let rows: Vec<String> = lacking.iter().map(|row| subject(row)).collect();
        let message = format!("not or partly covered, and no gap kind: {}", enumerated(&rows));
        out.push(report("coverage-without-gap", first.span, message, format!("write one of {}", GAPS.join(", "))));
    }
}

/// What the scenarios do, by id; and which hypotheses threaten a claim.
struct Deeds<'p> {
    falsifies: FxHashMap<&'p Id, FxHashSet<&'p Id>>,
    closes: FxHashMap<&'p Id, FxHashSet<&'p Id>>,
    threats: FxHashMap<&'p Id, Vec<&'p Id>>,
}

/// So many threats of the claims of one row are looked at; a row with more is taken to be right.
const LOOKED_AT: usize = 1_000;

impl<'p> Deeds<'p> {
    fn of(context: &Context<'p>) -> Deeds<'p> {
        let plan = context.plan;
        let mut threats: FxHashMap<&Id, Vec<&Id>> = FxHashMap::default();
        for hypothesis in &plan.hypotheses {
            hypothesis
                .claims
                .iter()
                .for_each(|claim| threats.entry(&claim.value).or_default().push(&hypothesis.id.value));
        }
        let scenarios = || plan.scenarios.iter();
        Deeds {
            falsifies: scenarios().map(|s| (&s.id.value, s.falsifies.iter().map(|id| &id.value).collect())).collect(),
            closes: scenarios().map(|s| (&s.id.value, s.closes.iter().map(|id| &id.value).collect())).collect(),
            threats,
        }
    }

    /// True when the scenario falsifies one of the claims, closes one of the hypotheses, or, in a row without
    /// hypotheses, closes one that could falsify one of the claims.
    fn fit(&self, scenario: &Id, claims: &[Id], hypotheses: &[Id]) -> bool {
        let (Some(falsifies), Some(closes)) = (self.falsifies.get(scenario), self.closes.get(scenario)) else {
            return true;
        };
        let threats = claims.iter().filter_map(|claim| self.threats.get(claim)).flatten().take(LOOKED_AT + 1);
        let close = |(i, id): (usize, &&Id)| i == LOOKED_AT || closes.contains(*id);
        claims.iter().any(|claim| falsifies.contains(claim))
            || hypotheses.iter().any(|hypothesis| closes.contains(hypothesis))
            || (hypotheses.is_empty() && threats.enumerate().any(close))
    }
}

/// The recommended scenario has to do with the row.
pub(super) fn coverage_scenario_misfit(context: &Context<'_>, out: &mut Told) {
    let deeds = Deeds::of(context);
    for row in &context.plan.coverage {
        let (claims, hypotheses) = (ids_in(row.cell("Claim"), 'C'), ids_in(row.cell("Hypothesis"), 'H'));
        if claims.is_empty() && hypotheses.is_empty() {
            continue;
        }
        for id in ids_in(row.cell(SCENARIO), 'S') {
            let Some(scenario) = context.scenario(&id) else { continue };
            if deeds.fit(&scenario.id.value, &claims, &hypotheses) {
                continue;
            }
            let message = format!("{id} is recommended for {}, and neither falsifies nor closes it", subject(row));
            let cell = context.cell(row, SCENARIO);
            let span = context.id(cell, &id).unwrap_or(cell);
            let help = format!("recommend another, or add the ids to `Falsifies if it FAILs` or `Closes` of {id}");
            out.push(report("coverage-scenario-misfit", span, message, help));
        }
    }
}

/// Every claim and every hypothesis has a row.
pub(super) fn coverage_incomplete(context: &Context<'_>, out: &mut Told) {
    let plan = context.plan;
    let Some((heading, _)) = context.section("5").filter(|_| !plan.coverage.is_empty()) else { return };
    let rows = |column: &str, letter: char| -> FxHashSet<Id> {
        plan.coverage.iter().flat_map(|row| ids_in(row.cell(column), letter)).collect()
    };
    let (claims, hypotheses) = (rows("Claim", 'C'), rows("Hypothesis", 'H'));
    let mut missing: Vec<&Id> = Vec::new();
    if !claims.is_empty() {
        missing.extend(plan.claims.iter().map(|c| &c.id.value).filter(|id| !claims.contains(id)));
    }
    if !hypotheses.is_empty() {
        missing.extend(plan.hypotheses.iter().map(|h| &h.id.value).filter(|id| !hypotheses.contains(id)));
    }
    if !missing.is_empty() {
        let message = format!("§5 has no row for {}", enumerated(&missing));
        out.push(report("coverage-incomplete", heading, message, "add a row with its verdict, covered ones too"));
    }
}

/// From this many claims or hypotheses on the matrix is split.
const MANY: (usize, usize) = (50, 100);

/// A summary by claim in front of the detail by hypothesis.
pub(super) fn coverage_not_split(context: &Context<'_>, out: &mut Told) {
    let plan = context.plan;
    let Some((heading, body)) = context.section("5") else { return };
    let many = plan.claims.len() >= MANY.0 || plan.hypotheses.len() >= MANY.1;
    let rule = |line: &str| {
        let line = line.trim();
        line.contains('|') && line.contains('-') && line.bytes().all(|b| b"|-: \t".contains(&b))
    };
    let tables = context.slice(body).lines().filter(|line| rule(line)).count();
    if many && tables == 1 {
        let message = format!("{} claims and {} hypotheses in one table", plan.claims.len(), plan.hypotheses.len());
        let help = "put a summary with one row a claim in front, and the detail with one row a hypothesis behind it";
        out.push(report("coverage-not-split", heading, message, help));
    }
}

/// A scenario of a project-wide plan closes a row of §5.
pub(super) fn scenario_closes_no_row(context: &Context<'_>, out: &mut Told) {
    let plan = context.plan;
    if !context.wide() || plan.coverage.is_empty() {
        return;
    }
    let named = |column: &str, letter: char| -> FxHashSet<Id> {
        plan.coverage.iter().flat_map(|row| ids_in(row.cell(column), letter)).collect()
    };
    let (recommended, hypotheses) = (named(SCENARIO, 'S'), named("Hypothesis", 'H'));
    let numbers: FxHashSet<u32> = recommended.iter().map(Id::number).collect();
    for scenario in &plan.scenarios {
        let id = &scenario.id;
        let closes = scenario.closes.iter().any(|h| hypotheses.contains(&h.value));
        if !numbers.contains(&id.value.number()) && !closes {
            let message = format!("{} closes no row of §5", id.value);
            let help = format!("recommend {} in the row of its hypothesis", id.value);
            out.push(report("scenario-closes-no-row", id.span, message, help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_without_their_remarks() {
        let check = |cell: &str, expect: &str| assert_eq!(plain(cell), expect, "{cell}");
        check("**not covered**", "not covered");
        check("Partial (synthetic only)", "partial");
        check("covered — unit tests", "covered");
        check("no test; shallow", "no test");
        check("no fault-injection variant.", "no fault-injection variant");
        assert!(is_none("—") && is_none("") && !is_none("no test"));
    }
}
