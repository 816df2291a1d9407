//! Rules about a scenario: its fields and its §7.M.

use super::{Context, enumerated, is_unfilled};
use crate::base::diagnostic::{Span, Spanned};
use crate::plan::Id;
use crate::plan::labels::{CLOSES, FALSIFIES, FAULTS, LANGUAGE};
use crate::plan::model::{Arm, ModelBlock, Scenario};
use crate::plan::rules::report;
use crate::plan::told::Told;

/// Required fields that no other rule speaks of.
const REQUIRED: &[&str] = &["Technique", "Workload", FAULTS, "Observability required"];

/// Each required field is there.
pub(super) fn missing_field(context: &Context<'_>, out: &mut Told) {
    for scenario in &context.plan.scenarios {
        for label in REQUIRED.iter().filter(|l| scenario.field(l).is_none_or(|v| is_unfilled(&v.value))) {
            let message = format!("{} has no `{label}`", scenario.id.value);
            out.push(report("missing-field", scenario.id.span, message, format!("write `- **{label}:** …`")));
        }
    }
}

/// A scenario falsifies a claim.
pub(super) fn scenario_without_claim(context: &Context<'_>, out: &mut Told) {
    // A field without ids is told by the parser, which can quote it.
    for scenario in context.plan.scenarios.iter().filter(|s| s.field(FALSIFIES).is_none()) {
        let message = format!("{} is tied to no claim", scenario.id.value);
        let help = format!("write `- **{FALSIFIES}:** C1`");
        out.push(report("scenario-without-claim", scenario.id.span, message, help));
    }
}

/// A scenario closes a hypothesis.
pub(super) fn scenario_without_hypothesis(context: &Context<'_>, out: &mut Told) {
    for scenario in context.plan.scenarios.iter().filter(|s| s.field(CLOSES).is_none()) {
        let message = format!("{} is tied to no hypothesis", scenario.id.value);
        out.push(report(
            "scenario-without-hypothesis",
            scenario.id.span,
            message,
            format!("write `- **{CLOSES}:** H1`"),
        ));
    }
}

/// The gate of §7.M.
pub(super) fn model_block_missing(context: &Context<'_>, out: &mut Told) {
    for scenario in context.plan.scenarios.iter().filter(|s| s.arms.is_empty() && s.model_block.is_none()) {
        let id = &scenario.id.value;
        let because = gating(context, scenario).join(", ");
        if !because.is_empty() {
            let said = if scenario.model_block_not_applicable {
                "says that §7.M is not applicable, but"
            } else {
                "has no §7.M, and"
            };
            let message = format!("{id} {said} it falsifies {because}");
            let help = "write `#### §7.M — Model / history / checker discipline` with its six fields";
            out.push(report("model-block-missing", scenario.id.span, message, help));
        } else if !scenario.model_block_not_applicable {
            let message = format!("{id} neither has §7.M nor says that it is not applicable");
            let help = "write `§7.M: not applicable (no gated claim category falsified)`";
            let told = report("model-block-not-stated", scenario.id.span, message, help);
            // A scenario without claims, or of an unknown category, may turn out to need the block.
            let sure = !scenario.falsifies.is_empty() && scenario.surfaces.is_none();
            out.push(match end_of(context, scenario).filter(|_| sure) {
                Some(end) => told.with_edit(end, NOT_APPLICABLE),
                None => told,
            });
        }
    }
}

/// What the edit puts in.
const NOT_APPLICABLE: &str = "\n\n§7.M: not applicable (no gated claim category falsified)";

/// The empty place behind the last line of a scenario's own text; `None` where something stands behind it that is no
/// plan content and might swallow what is put in.
fn end_of(context: &Context<'_>, scenario: &Scenario) -> Option<Span> {
    let end = scenario.span.end;
    let rest = context.text.get(end..)?;
    let line = rest.split('\n').next().unwrap_or("");
    (line.trim().is_empty() && scenario.code_blocks.is_empty()).then(|| Span::new(end, end))
}

/// What makes a scenario serious: `C1 (safety)`.
fn gating(context: &Context<'_>, scenario: &Scenario) -> Vec<String> {
    let gate = |id: &Spanned<Id>| {
        if context.claim(&id.value).is_none() {
            return Some(format!("{} (undefined)", id.value));
        }
        let gated = context.categories(&id.value).into_iter().find(|c| c.gates_model_block());
        gated.map(|category| format!("{} ({category})", id.value))
    };
    scenario.falsifies.iter().filter_map(gate).collect()
}

/// §7.M is filled or not applicable, never both.
pub(super) fn model_block_contradicts(context: &Context<'_>, out: &mut Told) {
    for scenario in &context.plan.scenarios {
        if scenario.model_block_not_applicable && scenario.model_block.is_some() {
            let message = format!("{}: §7.M is filled and said to be not applicable", scenario.id.value);
            out.push(report("model-block-contradicts", scenario.id.span, message, "delete one of the two"));
        }
    }
}

/// The six fields of §7.M in order.
fn block_fields(block: &ModelBlock) -> [(&'static str, Option<&Spanned<String>>); 6] {
    [
        ("Model under test", block.model.as_ref()),
        ("Operation history", block.history.as_ref()),
        ("Checker", block.checker.as_ref()),
        ("Nemesis + landing evidence", block.nemesis.as_ref()),
        ("Ambiguous outcomes", block.ambiguous.as_ref()),
        ("Reduction plan", block.reduction.as_ref()),
    ]
}

/// A serious scenario fills each field of §7.M.
pub(super) fn model_block_field(context: &Context<'_>, out: &mut Told) {
    for owner in context.cases.iter().filter(|case| case.serious) {
        let Some(block) = owner.model_block() else { continue };
        for (label, value) in block_fields(block).iter().filter(|(_, v)| v.is_none_or(|v| is_unfilled(&v.value))) {
            let written = value.filter(|value| !value.value.is_empty());
            let message = match written {
                Some(value) => {
                    format!("{}: `{}` is no `{label}`", owner.id.value, value.value.trim_matches(['`', '*']))
                }
                None => format!("{}: §7.M has no `{label}`", owner.id.value),
            };
            let span = written.map_or(block.span, |value| value.span);
            out.push(report("model-block-field", span, message, format!("write `- **{label}:** …`")));
        }
    }
}

/// What `author` needs: a target, and a skeleton where it cannot make one.
pub(super) fn not_authorable(context: &Context<'_>, out: &mut Told) {
    let mut bare: Vec<&Spanned<Id>> = Vec::new();
    for scenario in &context.plan.scenarios {
        let id = &scenario.id;
        let of_arms = |has: &dyn Fn(&Arm) -> bool| !scenario.arms.is_empty() && scenario.arms.iter().all(has);
        if scenario.target.is_none() && !of_arms(&|arm| arm.target.is_some()) {
            let message = format!("{} has no target, so that it cannot be authored", id.value);
            let help = "write `- **Target test file:** tests/auto/<name>.rs`";
            out.push(report("not-authorable", id.span, message, help));
        } else if scenario.skeleton.is_none() && !of_arms(&|arm| arm.skeleton.is_some()) && !is_rust(scenario) {
            bare.push(id);
        }
    }
    if let Some(first) = bare.first() {
        let ids: Vec<&Id> = bare.iter().map(|id| &id.value).collect();
        let message = format!("no skeleton, and `author` makes one for Rust only: {}", enumerated(&ids));
        out.push(report("not-authorable", first.span, message, "add `- **Skeleton:**` with a fenced block"));
    }
}

/// True for a scenario whose test is written in Rust: it says so, or its target does.
fn is_rust(scenario: &Scenario) -> bool {
    match (&scenario.skeleton_language, scenario.field(LANGUAGE)) {
        (Some(language), _) => language.value == "rust",
        // A language that is none of the format's is told as such.
        (None, Some(_)) => false,
        (None, None) => scenario.target.as_ref().is_none_or(|target| target.value.ends_with(".rs")),
    }
}
