//! Rules about the arguments that a plan makes: the adequacy of its scenarios (§7b), and what stays uncertain (§7c).

use super::argument::{Argument, Idle, SCENARIOS, THREATS};
use super::{Context, SHOWN, enumerated_of, is_unfilled};
use crate::base::diagnostic::Span;
use crate::plan::model::{Row, Scenario};
use crate::plan::rules::report;
use crate::plan::told::Told;

const WHY: &str = "Why these are sufficient";

/// §7b has a row for each claim.
pub(super) fn claim_not_argued(context: &Context<'_>, out: &mut Told) {
    let plan = context.plan;
    if plan.adequacy.is_empty() {
        return;
    }
    let missing = plan.claims.iter().map(|c| &c.id).filter(|id| !context.arguments().has(&id.value));
    for id in missing {
        let message = format!("§7b has no row for {}", id.value);
        out.push(report("claim-not-argued", id.span, message, "argue there how it could fail and what would show it"));
    }
}

fn has_column(row: &Row, column: &str) -> bool {
    row.cells.iter().any(|(name, _)| name == column)
}

/// Each cell of an argument is filled.
pub(super) fn adequacy_incomplete(context: &Context<'_>, out: &mut Told) {
    for argument in &context.arguments().rows {
        let row = argument.row;
        let empty = |column: &&str| has_column(row, column) && is_unfilled(row.cell(column));
        let mut lacks: Vec<&str> = [THREATS, SCENARIOS, WHY].into_iter().filter(empty).collect();
        // `none — <reason>` is an argument; a cell that names neither a scenario nor a reason is none.
        let cell = row.cell(SCENARIOS).trim();
        let said = cell.to_lowercase().starts_with("none") && cell.len() > 8;
        if said && !argument.names_scenario && !argument.admitted {
            let message = format!("§7b, {}: no scenario, and neither §7c nor §8 says so", argument.subject());
            let help = "name a scenario, or give the claim a row in §7c: why it stays uncovered, and until when";
            out.push(report("adequacy-incomplete", context.cell(row, SCENARIOS), message, help));
            continue;
        }
        if lacks.is_empty() && has_column(row, SCENARIOS) && !argument.names_scenario && !said {
            lacks.push(SCENARIOS);
        }
        if !lacks.is_empty() && !out.only_counts("adequacy-incomplete") {
            let message = format!("§7b, {}: nothing stands under `{}`", argument.subject(), lacks.join("`, `"));
            let help = "write threats as `(a) … (b) …`, scenarios as `S1 (a)(b)`, and why these suffice";
            out.push(report("adequacy-incomplete", row.span, message, help));
        }
    }
}

/// A claim is argued by scenarios that falsify it.
pub(super) fn argued_not_falsified(context: &Context<'_>, out: &mut Told) {
    for argument in &context.arguments().rows {
        let Some(Idle { first, count, names }) = &argument.idle else { continue };
        if out.only_counts("argued-not-falsified") {
            continue;
        }
        let verb = if *count == 1 { "falsifies" } else { "falsify" };
        let message = format!("§7b argues for {} with {names}, which {verb} none of it", argument.subject());
        let cell = context.cell(argument.row, SCENARIOS);
        let span = context.id(cell, first).unwrap_or(cell);
        let help = format!("add the claim to `Falsifies if it FAILs` of {first}, or argue with another scenario");
        out.push(report("argued-not-falsified", span, message, help));
    }
}

/// Each scenario is part of an argument.
pub(super) fn scenario_not_argued(context: &Context<'_>, out: &mut Told) {
    let plan = context.plan;
    let arguments = context.arguments();
    let argued = &arguments.scenarios;
    if argued.is_empty() {
        return;
    }
    // Where the claims of a scenario have no row at all, that is what is told.
    let has_row = |s: &&Scenario| s.falsifies.is_empty() || s.falsifies.iter().any(|id| arguments.has(&id.value));
    for scenario in plan.scenarios.iter().filter(|s| !argued.contains(&s.id.value.number())).filter(has_row) {
        let message = format!("no row of §7b argues with {}", scenario.id.value);
        let help = "name it in the row of a claim that it falsifies, or delete it";
        out.push(report("scenario-not-argued", scenario.id.span, message, help));
    }
}

/// Each lettered threat has a scenario that carries its letter.
pub(super) fn threat_without_scenario(context: &Context<'_>, out: &mut Told) {
    for argument in context.arguments().rows.iter().filter(|argument| argument.names_scenario) {
        let (bare, foreign) = (argument.threats.without(argument.tagged), argument.tagged.without(argument.threats));
        if bare.is_empty() && (foreign.is_empty() || argument.threats.is_empty())
            || out.only_counts("threat-without-scenario")
        {
            continue;
        }
        let span = context.cell(argument.row, SCENARIOS);
        let (message, help) = if bare.is_empty() {
            let message = format!("§7b, {}: no threat is lettered {}", argument.subject(), foreign.spelt());
            (message, "letter the threats as the scenarios name them")
        } else {
            let message = format!("§7b, {}: no scenario carries {}", argument.subject(), bare.spelt());
            (message, "write the letters of its threats behind each scenario: `S1 (a)(b), S2 (c)`")
        };
        out.push(report("threat-without-scenario", span, message, help));
    }
}

/// Threats carry letters.
pub(super) fn threat_not_lettered(context: &Context<'_>, out: &mut Told) {
    let rows = &context.arguments().rows;
    let unlettered = |argument: &&Argument<'_>| argument.threats.is_empty() && !is_unfilled(argument.row.cell(THREATS));
    let bare: Vec<&Argument<'_>> = rows.iter().filter(unlettered).collect();
    if let Some(first) = bare.first() {
        let rows: Vec<String> = bare.iter().take(SHOWN).map(|argument| argument.subject()).collect();
        let message = format!("threats of §7b without letters: {}", enumerated_of(&rows, bare.len()));
        let span = context.cell(first.row, THREATS);
        let help = "write `(a) <threat> (b) <threat>`, and the letters behind the scenarios: `S1 (a)`";
        out.push(report("threat-not-lettered", span, message, help));
    }
}

/// Each cell of §7c is filled.
pub(super) fn residual_incomplete(context: &Context<'_>, out: &mut Told) {
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
