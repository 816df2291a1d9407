//! Rules about the arguments that a plan makes: the adequacy of its scenarios (§7b), and what stays uncertain (§7c).

use super::{Context, enumerated, is_unfilled};
use crate::base::diagnostic::{Diagnostic, Span, Spanned};
use crate::plan::Id;
use crate::plan::model::{Row, Scenario};
use crate::plan::parse::ids_in;
use crate::plan::rules::report;
use std::collections::{BTreeSet, HashMap, HashSet};

const THREATS: &str = "Threat model (how it could fail)";
const SCENARIOS: &str = "Scenarios that exercise the threats";
const WHY: &str = "Why these are sufficient";

/// §7b has a row for each claim.
pub(super) fn claim_not_argued(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let plan = context.plan;
    if plan.adequacy.is_empty() {
        return;
    }
    let argued: HashSet<Id> = plan.adequacy.iter().flat_map(|r| ids_in(r.cell("Claim"), 'C')).collect();
    let missing = plan.claims.iter().map(|c| &c.id).filter(|id: &&Spanned<Id>| !argued.contains(&id.value));
    for id in missing {
        let message = format!("§7b has no row for {}", id.value);
        out.push(report("claim-not-argued", id.span, message, "argue there how it could fail and what would show it"));
    }
}

/// The scenarios that a plan names in §7b: by id, or by the name of the scenario.
struct Named<'p>(HashMap<&'p str, &'p Id>);

impl<'p> Named<'p> {
    fn of(context: &Context<'p>) -> Named<'p> {
        // A short name may be any word.
        let told = context.plan.scenarios.iter().filter(|s| s.name.value.len() > 7 && s.name.value.contains('_'));
        Named(told.map(|s| (s.name.value.as_str(), &s.id.value)).collect())
    }

    /// Those of a cell.
    fn ids(&self, cell: &str) -> Vec<Id> {
        let mut found = ids_in(cell, 'S');
        let word = |c: char| !(c.is_alphanumeric() || c == '_');
        let name = |word: &str| self.0.get(word).or_else(|| self.0.get(word.strip_prefix("S_")?)).copied();
        found.extend(cell.split(word).filter(|word| word.contains('_')).filter_map(name).cloned());
        found
    }
}

/// The claims of a row as it writes them.
fn subject(row: &Row) -> String {
    let ids: Vec<String> = ids_in(row.cell("Claim"), 'C').iter().map(Id::to_string).collect();
    if ids.is_empty() { "a row".to_owned() } else { enumerated(&ids) }
}

fn has_column(row: &Row, column: &str) -> bool {
    row.cells.iter().any(|(name, _)| name == column)
}

/// Each cell of an argument is filled.
pub(super) fn adequacy_incomplete(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let named = Named::of(context);
    for row in &context.plan.adequacy {
        let empty = |column: &&str| has_column(row, column) && is_unfilled(row.cell(column));
        let mut lacks: Vec<&str> = [THREATS, SCENARIOS, WHY].into_iter().filter(empty).collect();
        // `none — <reason>` is an argument; a cell that names neither a scenario nor a reason is none.
        let cell = row.cell(SCENARIOS).trim();
        let said = cell.to_lowercase().starts_with("none") && cell.len() > 8;
        if said && named.ids(cell).is_empty() && !admitted(context, row) {
            let message = format!("§7b, {}: no scenario, and neither §7c nor §8 says so", subject(row));
            let help = "name a scenario, or give the claim a row in §7c: why it stays uncovered, and until when";
            out.push(report("adequacy-incomplete", context.cell(row, SCENARIOS), message, help));
            continue;
        }
        if lacks.is_empty() && has_column(row, SCENARIOS) && named.ids(cell).is_empty() && !said {
            lacks.push(SCENARIOS);
        }
        if !lacks.is_empty() {
            let message = format!("§7b, {}: nothing stands under `{}`", subject(row), lacks.join("`, `"));
            let help = "write threats as `(a) … (b) …`, scenarios as `S1 (a)(b)`, and why these suffice";
            out.push(report("adequacy-incomplete", row.span, message, help));
        }
    }
}

/// True when §7c or §8 names each claim of a row.
fn admitted(context: &Context<'_>, row: &Row) -> bool {
    let plan = context.plan;
    let residual = plan.residual.iter().flat_map(|row| &row.cells).map(|(_, cell)| cell.as_str());
    let texts = residual.chain(plan.not_covered.iter().map(|text| text.value.as_str()));
    let named: HashSet<Id> = texts.flat_map(|text| ids_in(text, 'C')).collect();
    ids_in(row.cell("Claim"), 'C').iter().all(|claim| named.contains(claim))
}

/// A claim is argued by scenarios that falsify it.
pub(super) fn argued_not_falsified(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let mut falsified: HashMap<&Id, HashSet<&Id>> = HashMap::new();
    for scenario in &context.plan.scenarios {
        falsified.entry(&scenario.id.value).or_default().extend(scenario.falsifies.iter().map(|id| &id.value));
    }
    let named = Named::of(context);
    let anywhere: HashSet<&Id> = falsified.values().flatten().copied().collect();
    for row in &context.plan.adequacy {
        let claims = ids_in(row.cell("Claim"), 'C');
        // What no scenario falsifies is told as such.
        let known: Vec<Id> = claims.into_iter().filter(|id| anywhere.contains(id)).collect();
        let mut idle: BTreeSet<Id> = BTreeSet::new();
        for id in named.ids(row.cell(SCENARIOS)) {
            let Some(deeds) = context.scenario(&id).and_then(|s| falsified.get(&s.id.value)) else { continue };
            if !known.is_empty() && !known.iter().any(|claim| deeds.contains(claim)) {
                idle.insert(id);
            }
        }
        if let Some(first) = idle.iter().next() {
            let ids: Vec<&Id> = idle.iter().collect();
            let verb = if ids.len() == 1 { "falsifies" } else { "falsify" };
            let message = format!("§7b argues for {} with {}, which {verb} none of it", subject(row), enumerated(&ids));
            let cell = context.cell(row, SCENARIOS);
            let span = context.id(cell, first).unwrap_or(cell);
            let help = format!("add the claim to `Falsifies if it FAILs` of {first}, or argue with another scenario");
            out.push(report("argued-not-falsified", span, message, help));
        }
    }
}

/// Each scenario is part of an argument.
pub(super) fn scenario_not_argued(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let (plan, named) = (context.plan, Named::of(context));
    let argued: HashSet<u32> =
        plan.adequacy.iter().flat_map(|row| named.ids(row.cell(SCENARIOS))).map(|id| id.number()).collect();
    if argued.is_empty() {
        return;
    }
    // Where the claims of a scenario have no row at all, that is what is told.
    let rows: HashSet<Id> = plan.adequacy.iter().flat_map(|row| ids_in(row.cell("Claim"), 'C')).collect();
    let has_row = |s: &&Scenario| s.falsifies.is_empty() || s.falsifies.iter().any(|id| rows.contains(&id.value));
    for scenario in plan.scenarios.iter().filter(|s| !argued.contains(&s.id.value.number())).filter(has_row) {
        let message = format!("no row of §7b argues with {}", scenario.id.value);
        let help = "name it in the row of a claim that it falsifies, or delete it";
        out.push(report("scenario-not-argued", scenario.id.span, message, help));
    }
}

/// The letters in parentheses of a text: `(a)(b)`, `(a, c)`, `(a–c)`, `a)` at the start of a clause.
fn letters(text: &str, bare: bool) -> BTreeSet<char> {
    let mut found = BTreeSet::new();
    let flat = text.to_lowercase().replace(['*', '`', '_'], "");
    for (open, _) in flat.match_indices(['(', '[']) {
        let inner: String = flat[open + 1..].chars().take(24).take_while(|c| !")]".contains(*c)).collect();
        let words: Vec<&str> = inner
            .split(|c: char| c.is_whitespace() || ",/;+&".contains(c))
            .filter(|w| !w.is_empty() && *w != "and")
            .collect();
        let of = |word: &str| -> Option<Vec<char>> {
            let chars: Vec<char> = word.chars().filter(|c| !"().".contains(*c)).collect();
            match chars[..] {
                [one] if one.is_ascii_lowercase() => Some(vec![one]),
                [from, '-' | '–', to] if from.is_ascii_lowercase() && from < to && to.is_ascii_lowercase() => {
                    Some((from..=to).collect())
                }
                _ => None,
            }
        };
        let all: Option<Vec<Vec<char>>> = words.iter().map(|word| of(word)).collect();
        found.extend(all.into_iter().flatten().flatten());
    }
    if bare {
        let mut start = true;
        let chars: Vec<char> = flat.chars().collect();
        for (i, c) in chars.iter().enumerate() {
            if start && c.is_ascii_lowercase() && chars.get(i + 1) == Some(&')') {
                found.insert(*c);
            }
            start = ",;.\n".contains(*c) || (start && c.is_whitespace());
        }
    }
    found
}

fn spelt(letters: &BTreeSet<char>) -> String {
    letters.iter().map(|c| format!("({c})")).collect::<Vec<_>>().join(", ")
}

/// Each lettered threat has a scenario that carries its letter.
pub(super) fn threat_without_scenario(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let named = Named::of(context);
    for row in context.plan.adequacy.iter().filter(|row| !named.ids(row.cell(SCENARIOS)).is_empty()) {
        let threats = letters(row.cell(THREATS), true);
        let tagged = letters(row.cell(SCENARIOS), false);
        let bare: BTreeSet<char> = threats.difference(&tagged).copied().collect();
        let foreign: BTreeSet<char> = tagged.difference(&threats).copied().collect();
        if !bare.is_empty() {
            let message = format!("§7b, {}: no scenario carries {}", subject(row), spelt(&bare));
            let span = context.cell(row, SCENARIOS);
            let help = "write the letters of its threats behind each scenario: `S1 (a)(b), S2 (c)`";
            out.push(report("threat-without-scenario", span, message, help));
        } else if !foreign.is_empty() && !threats.is_empty() {
            let message = format!("§7b, {}: no threat is lettered {}", subject(row), spelt(&foreign));
            let span = context.cell(row, SCENARIOS);
            out.push(report("threat-without-scenario", span, message, "letter the threats as the scenarios name them"));
        }
    }
}

/// Threats carry letters.
pub(super) fn threat_not_lettered(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let bare: Vec<&Row> = context
        .plan
        .adequacy
        .iter()
        .filter(|row| !is_unfilled(row.cell(THREATS)) && letters(row.cell(THREATS), true).is_empty())
        .collect();
    if let Some(first) = bare.first() {
        let rows: Vec<String> = bare.iter().map(|row| subject(row)).collect();
        let message = format!("threats of §7b without letters: {}", enumerated(&rows));
        let span = context.cell(first, THREATS);
        let help = "write `(a) <threat> (b) <threat>`, and the letters behind the scenarios: `S1 (a)`";
        out.push(report("threat-not-lettered", span, message, help));
    }
}

/// Each cell of §7c is filled.
pub(super) fn residual_incomplete(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    const WANTED: [&str; 4] = ["Uncertainty", "Why uncovered", "Why acceptable today", "When to revisit"];
    for row in &context.plan.residual {
        let lacks: Vec<&str> =
            WANTED.into_iter().filter(|column| has_column(row, column) && is_unfilled(row.cell(column))).collect();
        if !lacks.is_empty() {
            let message = format!("an uncertainty of §7c has nothing under `{}`", lacks.join("`, `"));
            let at = Span::new(row.span.start, row.span.end);
            out.push(report("residual-incomplete", at, message, "fill the cell: a residual without it is only hope"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_threats_are_read_in_every_form() {
        let check = |text: &str, expect: &str| {
            let found: String = letters(text, true).into_iter().collect();
            assert_eq!(found, expect, "{text}");
        };
        check("(a) stale read (b) lost write", "ab");
        check("S1 (a)(b), S2 (c)", "abc");
        check("S1 (a, c)", "ac");
        check("S1 (a–c); S2 (d/e)", "abcde");
        check("S1 (a) full partition of n1", "a");
        check("a) one, b) two", "ab");
        check("S1 (variants A + B)", "");
        check("S1 (real fault), S2 (1)", "");
        check("a claim (see b)", "");
    }
}
