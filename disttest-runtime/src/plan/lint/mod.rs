//! Requirements of the format that a plan which can be read may still break. One function a rule.

mod adequacy;
mod argument;
mod boundary;
mod budgets;
mod checker;
mod confidence;
mod context;
mod counts;
mod coverage;
mod elements;
mod header;
mod history;
mod hypotheses;
mod landing;
mod naming;
mod oracle;
mod passage;
mod respell;
mod scenario;
mod sections;
mod skeleton;
mod spelling;
mod surfaces;
mod targets;
mod techniques;

use super::Id;
use super::labels::{HARDENING, RELEASE, SMOKE};
use super::model::Plan;
use super::parse;
use super::told::Told;
use crate::base::diagnostic::{Diagnostic, Span};
use context::{Context, owners};
use rustc_hash::FxHashSet;

/// A rule (or a few about one thing).
type Check = fn(&Context<'_>, &mut Told);

const CHECKS: &[Check] = &[
    header::missing_header,
    header::bad_date,
    header::unknown_status,
    header::several_modes,
    sections::missing_section,
    sections::duplicate_section,
    sections::section_empty,
    sections::architecture_too_long,
    sections::scope_incomplete,
    sections::sut_model_bullet,
    sections::placeholder,
    sections::open_question_owner,
    counts::count_disagrees,
    elements::duplicate_id,
    elements::undefined_id,
    elements::unknown_category,
    boundary::boundary_wording,
    elements::claim_not_falsified,
    elements::claim_without_hypothesis,
    elements::claim_without_source,
    elements::inferred_word,
    elements::inferred_not_marked,
    hypotheses::hypothesis_without_claim,
    hypotheses::hypothesis_without_scenario,
    hypotheses::hypothesis_class_missing,
    hypotheses::hypothesis_unreasoned,
    hypotheses::hypothesis_without_subsystem,
    coverage::coverage_word,
    coverage::coverage_without_scenario,
    coverage::coverage_without_gap,
    coverage::coverage_scenario_misfit,
    coverage::coverage_incomplete,
    coverage::coverage_not_split,
    coverage::scenario_closes_no_row,
    techniques::technique_without_reference,
    techniques::unknown_technique_reference,
    techniques::technique_incomplete,
    techniques::technique_count,
    techniques::technique_not_selected,
    techniques::unused_technique,
    techniques::unused_requirement,
    scenario::missing_field,
    scenario::scenario_without_claim,
    scenario::scenario_without_hypothesis,
    scenario::model_block_missing,
    scenario::model_block_contradicts,
    scenario::model_block_field,
    scenario::not_authorable,
    naming::scenario_named_after_setup,
    naming::scenario_name_shape,
    naming::duplicate_scenario_name,
    naming::boundary_name,
    surfaces::surfaces_missing,
    surfaces::surfaces_contradicts,
    surfaces::surfaces_not_stated,
    surfaces::surfaces_field,
    surfaces::surfaces_incomplete,
    surfaces::surfaces_too_few,
    surfaces::split_into_arms,
    surfaces::arms_fewer_than_surfaces,
    surfaces::negative_controls_weak,
    surfaces::few_confusable_identifiers,
    surfaces::arm_incomplete,
    surfaces::arm_misplaced,
    skeleton::skeleton_header,
    checker::checker_misfit,
    checker::checker_scope_conflict,
    checker::idempotency_key_is_op_id,
    checker::idempotency_key_missing,
    history::history_fields,
    history::history_mechanism,
    history::history_clock,
    history::ambiguous_contradicts,
    oracle::missing_oracle,
    oracle::vague_oracle,
    oracle::fairness_formula,
    oracle::oracle_blind_spot,
    spelling::misspelt_checker,
    spelling::misspelt_nemesis,
    spelling::misspelt_label,
    landing::landing_not_evidence,
    landing::landing_sides,
    landing::landing_misfit,
    landing::symmetric_partitions_only,
    budgets::missing_budgets,
    budgets::budget_not_stronger,
    budgets::budget_faults,
    budgets::smoke_without_fault,
    budgets::hardening_seeds,
    budgets::release_not_stronger,
    targets::target_outside,
    targets::target_suffix,
    targets::target_taken,
    targets::target_convention,
    adequacy::claim_not_argued,
    adequacy::adequacy_incomplete,
    adequacy::argued_not_falsified,
    adequacy::scenario_not_argued,
    adequacy::threat_without_scenario,
    adequacy::threat_not_lettered,
    adequacy::residual_incomplete,
    confidence::confidence_length,
    confidence::absolute_wording,
    confidence::confidence_disbelief,
    confidence::confidence_chain,
    confidence::undisclosed_surface,
    confidence::missing_aspects,
    confidence::confidence_word,
    confidence::aspect_without_reason,
];

/// Every rule over a plan and the text it was read from, in the order of the text. Time about linear in the text.
pub fn lint(plan: &Plan, text: &str) -> Vec<Diagnostic> {
    let masked = parse::masked(text);
    rules(&Context::new(plan, text, &masked)).in_order()
}

/// [`lint()`] and what [`super::resolve()`] could not fill in, for a text that is masked already; in no order.
pub(super) fn lint_all(plan: &Plan, text: &str, masked: &str) -> Vec<Diagnostic> {
    let context = Context::new(plan, text, masked);
    let mut out = rules(&context).in_order();
    // Arms inherit `Faults`: what is wrong with it is told once.
    let mut seen = FxHashSet::default();
    let fresh = context.cases.iter().flat_map(|case| &case.told).filter(|told| seen.insert((&told.rule, told.span)));
    out.extend(fresh.cloned());
    out
}

fn rules(context: &Context<'_>) -> Told {
    let mut told = Told::default();
    CHECKS.iter().for_each(|check| check(context, &mut told));
    told
}

/// A scenario that `run` must not start with (format D2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    /// The scenario or arm.
    pub id: Id,
    /// What it lacks: `an oracle`, `budget tiers`.
    pub lacks: &'static str,
    /// What to write.
    pub help: String,
    /// Where.
    pub span: Span,
}

/// Every scenario or arm without an oracle, or without its budget tiers, its own or those of its scenario. What all arms
/// would inherit and none of them can is told of their scenario.
pub fn blockers(plan: &Plan) -> Vec<Blocker> {
    let mut out = Vec::new();
    for scenario in &plan.scenarios {
        for owner in owners(scenario).filter(|o| oracle::weakness(o.oracle()).is_some()) {
            let help = "write `- **Oracle:** <a machine-checkable property or a threshold>`, such as \
                        `linearizability per key, then no-lost-ack`"
                .to_owned();
            out.push(Blocker { id: owner.id.value.clone(), lacks: "an oracle", help, span: owner.id.span });
        }
        let unbudgeted: Vec<_> = owners(scenario).filter(|owner| !owner.has_budgets()).map(|owner| owner.id).collect();
        let inherited = scenario.budgets.is_none() && unbudgeted.len() == owners(scenario).count();
        for id in if inherited { vec![&scenario.id] } else { unbudgeted } {
            let help = [SMOKE, HARDENING, RELEASE].map(|tier| format!("- **{tier}:** …")).join(" / ");
            let (id, span) = (id.value.clone(), id.span);
            out.push(Blocker { id, lacks: "budget tiers", help: format!("write {help}"), span });
        }
    }
    out
}

/// True for a value that stands for nothing: `TBD`, `TODO`, `?`, `…`.
fn is_unfilled(value: &str) -> bool {
    // Nothing of the list is longer, whatever emphasis stands around it.
    if value.len() > 24 {
        return false;
    }
    let bare = value.replace(['*', '`', '_'], "").trim().trim_end_matches(['.', ':']).trim().to_lowercase();
    ["", "tbd", "todo", "tba", "?", "-", "—", "–", "…", "..", "tbc", "fixme"].contains(&bare.as_str())
}

/// So many names are listed one by one.
const SHOWN: usize = 8;

/// `C1, C2, C3 and 4 more`.
fn enumerated<T: ToString>(all: &[T]) -> String {
    enumerated_of(all, all.len())
}

/// As [`enumerated`] of so many, of which these are the first.
fn enumerated_of<T: ToString>(first: &[T], count: usize) -> String {
    let names: Vec<String> = first.iter().take(SHOWN).map(T::to_string).collect();
    match count.saturating_sub(SHOWN) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests;
