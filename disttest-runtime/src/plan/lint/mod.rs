//! Requirements of the format that a plan which can be read may still break. One function a rule.

mod budgets;
mod elements;
mod landing;
mod oracle;
mod respell;
mod scenario;
mod sections;
mod spelling;
mod targets;

use super::labels::{HARDENING, RELEASE, SMOKE};
use super::model::{Arm, Plan, Scenario};
use super::{Id, parse};
use crate::base::diagnostic::{Diagnostic, Span, Spanned};

/// What a rule looks at.
struct Context<'p> {
    plan: &'p Plan,
    /// The text, masked.
    masked: String,
}

/// A rule (or a few about one thing).
type Check = fn(&Context<'_>, &mut Vec<Diagnostic>);

const CHECKS: &[Check] = &[
    sections::missing_header,
    sections::missing_section,
    sections::section_empty,
    sections::sut_model_bullet,
    sections::placeholder,
    sections::technique_without_reference,
    elements::duplicate_id,
    elements::undefined_id,
    elements::unknown_category,
    elements::boundary_wording,
    elements::hypothesis_without_claim,
    elements::hypothesis_without_scenario,
    elements::claim_not_falsified,
    elements::claim_not_argued,
    scenario::missing_field,
    scenario::scenario_without_claim,
    scenario::scenario_without_hypothesis,
    scenario::model_block_missing,
    scenario::model_block_contradicts,
    scenario::model_block_field,
    scenario::surfaces_missing,
    scenario::surfaces_field,
    scenario::arm_incomplete,
    scenario::checker_misfit,
    scenario::idempotency_key_is_op_id,
    scenario::no_fault_without_reason,
    oracle::missing_oracle,
    oracle::vague_oracle,
    spelling::misspelt_checker,
    spelling::misspelt_nemesis,
    landing::landing_not_evidence,
    landing::landing_missing,
    landing::landing_one_sided,
    landing::landing_misfit,
    budgets::missing_budgets,
    budgets::budget_not_stronger,
    budgets::budget_faults,
    budgets::release_not_stronger,
    targets::target_outside,
    targets::target_suffix,
    targets::target_taken,
];

/// Every rule over a plan and the text it was read from, in the order of the text. Time about linear in the text.
pub fn lint(plan: &Plan, text: &str) -> Vec<Diagnostic> {
    let context = Context { plan, masked: parse::masked(text) };
    let mut out = Vec::new();
    CHECKS.iter().for_each(|check| check(&context, &mut out));
    out.sort_by_key(|d| (d.span.start, d.span.end));
    out
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

/// Every scenario or arm without an oracle, or without its budget tiers.
pub fn blockers(plan: &Plan) -> Vec<Blocker> {
    let mut out = Vec::new();
    for scenario in &plan.scenarios {
        for owner in owners(scenario).filter(|o| oracle::weakness(o.oracle()).is_some()) {
            let help = "write `- **Oracle:** <a machine-checkable property or a threshold>`, such as \
                        `linearizability per key, then no-lost-ack`"
                .to_owned();
            out.push(Blocker { id: owner.id.value.clone(), lacks: "an oracle", help, span: owner.id.span });
        }
        if scenario.budgets.is_none() {
            let tiers = [SMOKE, HARDENING, RELEASE];
            let help = tiers.map(|tier| format!("- **{tier}:** …")).join(" / ");
            let (id, span) = (scenario.id.value.clone(), scenario.id.span);
            out.push(Blocker { id, lacks: "budget tiers", help: format!("write {help}"), span });
        }
    }
    out
}

/// Who owns an oracle and a §7.M: the arms of a scenario, or without arms the scenario itself.
#[derive(Clone, Copy)]
struct Owner<'p> {
    scenario: &'p Scenario,
    arm: Option<&'p Arm>,
    id: &'p Spanned<Id>,
}

impl<'p> Owner<'p> {
    fn own(&self, label: &str) -> Option<&'p Spanned<String>> {
        match self.arm {
            Some(arm) => arm.fields.iter().find(|f| f.label == label).map(|f| &f.value),
            None => self.scenario.field(label),
        }
    }

    fn oracle(&self) -> Option<&'p Spanned<String>> {
        self.own(super::ORACLE)
    }

    /// Its own field or the inherited one.
    fn field(&self, label: &str) -> Option<&'p Spanned<String>> {
        self.own(label).filter(|v| !v.value.is_empty()).or_else(|| self.scenario.field(label))
    }

    fn model_block(&self) -> Option<&'p super::ModelBlock> {
        match self.arm {
            Some(arm) => arm.model_block.as_ref(),
            None => self.scenario.model_block.as_ref(),
        }
    }

    fn resolve(&self, plan: &Plan) -> super::Resolved {
        match self.arm {
            Some(arm) => super::resolve_arm(plan, self.scenario, arm).0,
            None => super::resolve(plan, self.scenario).0,
        }
    }
}

fn owners(scenario: &Scenario) -> impl Iterator<Item = Owner<'_>> {
    let arms = scenario.arms.iter().map(move |arm| Owner { scenario, arm: Some(arm), id: &arm.id });
    let alone = scenario.arms.is_empty().then_some(Owner { scenario, arm: None, id: &scenario.id });
    arms.chain(alone)
}

impl Context<'_> {
    fn owners(&self) -> impl Iterator<Item = Owner<'_>> {
        self.plan.scenarios.iter().flat_map(owners)
    }
}

/// True for a value that stands for nothing: `TBD`, `TODO`, `?`, `…`.
fn is_unfilled(value: &str) -> bool {
    let bare = value.replace(['*', '`', '_'], "").trim().trim_end_matches(['.', ':']).trim().to_lowercase();
    ["", "tbd", "todo", "tba", "?", "-", "—", "–", "…", "tbc", "fixme"].contains(&bare.as_str())
}

#[cfg(test)]
mod tests;
