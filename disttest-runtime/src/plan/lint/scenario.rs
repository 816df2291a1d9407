//! Rules about a scenario: its fields, its §7.M and its §7.M.S.

use super::{Context, is_unfilled, owners};
use crate::base::diagnostic::{Diagnostic, Span, Spanned};
use crate::plan::labels::{CLOSES, FALSIFIES, FAULTS};
use crate::plan::model::{ModelBlock, Plan, Scenario};
use crate::plan::names::{Fit, fit};
use crate::plan::no_fault::{self, NoFault};
use crate::plan::rules::report;
use crate::plan::{Category, Id};

/// Required fields that no other rule speaks of.
const REQUIRED: &[&str] = &["Technique", "Workload", FAULTS, "Observability required"];

/// Each required field is there.
pub(super) fn missing_field(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for scenario in &context.plan.scenarios {
        for label in REQUIRED.iter().filter(|l| scenario.field(l).is_none_or(|v| is_unfilled(&v.value))) {
            let message = format!("{} has no `{label}`", scenario.id.value);
            out.push(report("missing-field", scenario.id.span, message, format!("write `- **{label}:** …`")));
        }
    }
}

/// A scenario falsifies a claim.
pub(super) fn scenario_without_claim(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    // A field without ids is told by the parser, which can quote it.
    for scenario in context.plan.scenarios.iter().filter(|s| s.field(FALSIFIES).is_none()) {
        let message = format!("{} is tied to no claim", scenario.id.value);
        let help = format!("write `- **{FALSIFIES}:** C1`");
        out.push(report("scenario-without-claim", scenario.id.span, message, help));
    }
}

/// A scenario closes a hypothesis.
pub(super) fn scenario_without_hypothesis(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
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
pub(super) fn model_block_missing(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for scenario in context.plan.scenarios.iter().filter(|s| s.arms.is_empty() && s.model_block.is_none()) {
        let id = &scenario.id.value;
        let because = gating(context.plan, scenario).join(", ");
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
            let end = Span::new(scenario.span.end, scenario.span.end);
            let sentence = "\n\n§7.M: not applicable (no gated claim category falsified)";
            out.push(report("model-block-not-stated", scenario.id.span, message, help).with_edit(end, sentence));
        }
    }
}

/// What makes a scenario serious: `C1 (safety)`.
fn gating(plan: &Plan, scenario: &Scenario) -> Vec<String> {
    let gate = |id: &Spanned<Id>| match plan.claim(&id.value) {
        None => Some(format!("{} (undefined)", id.value)),
        Some(claim) => {
            let gated = claim.categories.iter().find(|c| c.gates_model_block());
            gated.map(|category| format!("{} ({category})", id.value))
        }
    };
    scenario.falsifies.iter().filter_map(gate).collect()
}

/// §7.M is filled or not applicable, never both.
pub(super) fn model_block_contradicts(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
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
pub(super) fn model_block_field(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for owner in context.owners().filter(|o| o.scenario.is_serious(context.plan)) {
        let Some(block) = owner.model_block() else { continue };
        for (label, _) in block_fields(block).iter().filter(|(_, v)| v.is_none_or(|v| is_unfilled(&v.value))) {
            let message = format!("{}: §7.M has no `{label}`", owner.id.value);
            out.push(report("model-block-field", block.span, message, format!("write `- **{label}:** …`")));
        }
    }
}

fn falsifies(plan: &Plan, scenario: &Scenario, test: impl Fn(Category) -> bool) -> bool {
    let claims = scenario.falsifies.iter().filter_map(|id| plan.claim(&id.value));
    claims.flat_map(|c| &c.categories).any(|category| test(*category))
}

/// The gate of §7.M.S.
pub(super) fn surfaces_missing(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for scenario in context.plan.scenarios.iter().filter(|s| s.surfaces.is_none()) {
        if falsifies(context.plan, scenario, Category::gates_surfaces) {
            let message = format!("{} falsifies a boundary or fairness claim and has no §7.M.S", scenario.id.value);
            let help = "write `#### §7.M.S — Surface decomposition` with its eight fields";
            out.push(report("surfaces-missing", scenario.id.span, message, help));
        }
    }
}

/// Surfaces, and negative controls of a boundary claim.
pub(super) fn surfaces_field(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for scenario in &context.plan.scenarios {
        let Some(fields) = scenario.surfaces.as_ref() else { continue };
        let boundary = falsifies(context.plan, scenario, |c| c == Category::Boundary);
        let gated = falsifies(context.plan, scenario, Category::gates_surfaces);
        let needed = gated.then_some("Surfaces").into_iter().chain(boundary.then_some("Negative controls"));
        for label in needed {
            let filled = fields.iter().any(|f| f.label == label && !is_unfilled(&f.value.value));
            if !filled {
                let message = format!("{}: §7.M.S has no `{label}`", scenario.id.value);
                out.push(report("surfaces-field", scenario.id.span, message, format!("write `- **{label}:** …`")));
            }
        }
    }
}

/// Each arm has its own §7.M; each arm that the list names has its block.
pub(super) fn arm_incomplete(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for scenario in &context.plan.scenarios {
        for owner in owners(scenario).filter(|o| o.arm.is_some() && o.model_block().is_none()) {
            let message = format!("{} has no §7.M of its own", owner.id.value);
            out.push(report("arm-incomplete", owner.id.span, message, "an arm is always serious: give it `#### §7.M`"));
        }
        let list = scenario.surfaces.iter().flatten().find(|f| f.label == "Scenario arms");
        for id in list.map(|f| crate::plan::parse::ids_in(&f.value.value, 'S')).unwrap_or_default() {
            if id.arm().is_some() && !scenario.arms.iter().any(|a| a.id.value == id) {
                let message = format!("{id} is listed as an arm and has no block");
                let help = format!("write `#### Arm {id}: <name>` with its Oracle and §7.M");
                out.push(report("arm-incomplete", list.map_or(scenario.id.span, |f| f.value.span), message, help));
            }
        }
    }
}

/// The picker of format §7.
pub(super) fn checker_misfit(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let plan = context.plan;
    for owner in context.owners() {
        let Some(field) = owner.model_block().and_then(|b| b.checker.as_ref()) else { continue };
        let resolved = owner.resolve(plan);
        let checkers: Vec<&str> = resolved.checkers.iter().map(|(id, _)| id.as_str()).collect();
        let Some(model) = resolved.model.as_deref().filter(|_| !checkers.is_empty()) else { continue };
        let certain = |id: &Spanned<Id>| plan.claim(&id.value).filter(|c| c.unknown_categories.is_empty());
        let mut categories: Vec<Category> =
            owner.scenario.falsifies.iter().filter_map(certain).flat_map(|c| c.categories.clone()).collect();
        categories.sort();
        categories.dedup();
        for category in categories {
            let named = checkers.join(", ");
            match fit(model, category, &checkers) {
                Fit::Fits => {}
                Fit::Misfit(wanted) => {
                    let message = format!("{}: {named} does not fit a {category} claim on a {model}", owner.id.value);
                    let help = format!("the picker recommends {}", wanted.join(" or "));
                    out.push(report("checker-misfit", field.span, message, help));
                }
                Fit::Far => {
                    let message =
                        format!("{}: the picker has no row near {named} for {model} and {category}", owner.id.value);
                    out.push(report(
                        "checker-far",
                        field.span,
                        message,
                        "say in one sentence why this checker is right",
                    ));
                }
            }
        }
    }
}

/// `Faults: none` says why.
pub(super) fn no_fault_without_reason(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for scenario in &context.plan.scenarios {
        let Some(field) = scenario.field(FAULTS).filter(|f| no_fault::read(&f.value) == NoFault::NoReason) else {
            continue;
        };
        let message = format!("{} plans no fault and does not say why", scenario.id.value);
        out.push(report("no-fault-without-reason", field.span, message, "write `none — <reason>`"));
    }
}

/// Words that may stand between `key` and `op_id` when the one is said to be the other.
const LINKS: &[&str] =
    &["is", "=", "==", ":", "on", "by", "the", "equals", "being", "as", "its", "per", "of", "their", "via"];

/// The idempotency key is not op_id (format D8).
pub(super) fn idempotency_key_is_op_id(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for owner in context.owners().filter(|o| falsifies(context.plan, o.scenario, |c| c == Category::Idempotency)) {
        let block = owner.model_block();
        let fields =
            block.into_iter().flat_map(|b| [&b.history, &b.checker].into_iter().flatten()).chain(owner.oracle());
        for field in fields.filter(|f| keys_on_op_id(&f.value)) {
            let message = format!("{}: an idempotency check keyed on op_id is trivially true", owner.id.value);
            let help = "key it on the client's business key in `input`, such as an order number";
            out.push(report("idempotency-key-is-op-id", field.span, message, help));
        }
    }
}

/// True if the text says that a key is op_id: `keyed by op_id`, `key = op_id`, `dedup on op id`, `op_id as the key`.
fn keys_on_op_id(text: &str) -> bool {
    let flat = text.to_lowercase().replace(['`', '*'], "").replace("op id", "op_id").replace("op-id", "op_id");
    let spaced = ["=", ":", ",", ";", "."].iter().fold(flat, |t, mark| t.replace(mark, &format!(" {mark} ")));
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let keyed = |word: &str| word.starts_with("key") || word.starts_with("dedup");
    words.iter().enumerate().filter(|(_, w)| **w == "op_id").any(|(i, _)| {
        let before = words[..i].iter().rev().find(|w| !LINKS.contains(w));
        let linked = i > 0 && LINKS.contains(&words[i - 1]);
        let checker = before.is_some_and(|w| keyed(w) || *w == "checker" || *w == "exactly-once");
        let after: Vec<&&str> = words[i + 1..].iter().take(5).collect();
        let as_key = after.first().is_some_and(|w| **w == "as") && after.iter().any(|w| keyed(w));
        (linked && checker) || as_key
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_op_id_is_seen_and_a_denial_is_not() {
        let check = |text: &str, expect: bool| assert_eq!(keys_on_op_id(text), expect, "{text}");
        check("exactly-once, keyed by `op_id`", true);
        check("idempotency key = op_id", true);
        check("business key: op_id", true);
        check("exactly-once dedup checker on op id", true);
        check("op_id as the idempotency key", true);
        check("exactly-once keyed by the order number, never op_id", false);
        check("key is not op_id", false);
        check("default schema: op_id, process_id, key", false);
        check("key, op_id and the rest", false);
    }
}
