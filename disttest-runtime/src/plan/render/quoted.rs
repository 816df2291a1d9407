//! A plan whose texts are written in numeric character references.

use super::super::labels::{self, NOTES};
use super::super::model::{Arm, Field, ModelBlock, Plan, Row, Section};
use super::super::references::encoded;
use super::table;

/// The plan with the text of its sections in references.
pub(super) fn sections(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.sections.iter_mut().chain(&mut plan.appendices).for_each(|section| quote(&mut section.text));
    plan
}

/// The plan with every text in references. What is left as it is has no mark that Markdown or the parser knows: ids
/// and numbers, the names of the format, and code, which a fence of its own length holds.
pub(super) fn everything(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.header.slug.iter_mut().for_each(|slug| quote(&mut slug.value));
    fields(&mut plan.header.fields);
    for Section { title, text, .. } in plan.sections.iter_mut().chain(&mut plan.appendices) {
        quote(title);
        quote(text);
    }
    for claim in &mut plan.claims {
        let texts = [&mut claim.text.value, &mut claim.category_text.value, &mut claim.source, &mut claim.inferred];
        texts.into_iter().for_each(quote);
    }
    for missing in &mut plan.missing_claims {
        [&mut missing.behavior, &mut missing.evidence, &mut missing.action].into_iter().for_each(quote);
    }
    fields(&mut plan.sut_model);
    let Plan { inventory, coverage, environment, adequacy, residual, confidence, .. } = &mut plan;
    for rows in [inventory, coverage, environment, adequacy, residual, &mut confidence.aspects] {
        rows.iter_mut().for_each(row);
    }
    quote(&mut confidence.statement.value);
    for hypothesis in &mut plan.hypotheses {
        [&mut hypothesis.title, &mut hypothesis.text].into_iter().for_each(quote);
        hypothesis.suspected.iter_mut().chain(&mut hypothesis.subsystem).for_each(quote);
        fields(&mut hypothesis.other);
    }
    for technique in &mut plan.techniques {
        quote(&mut technique.name.value);
        fields(&mut technique.fields);
    }
    for scenario in &mut plan.scenarios {
        quote(&mut scenario.name.value);
        fields(&mut scenario.fields);
        // The language of the fence, where Markdown reads references as well.
        scenario.skeleton_language.iter_mut().for_each(|language| quote(&mut language.value));
        scenario.model_block.iter_mut().for_each(model_block);
        scenario.surfaces.iter_mut().for_each(|surfaces| fields(surfaces));
        scenario.arms.iter_mut().for_each(arm);
    }
    for entry in plan.not_covered.iter_mut().chain(&mut plan.open_questions) {
        quote(&mut entry.value);
    }
    plan
}

fn quote(text: &mut String) {
    *text = encoded(text);
}

fn arm(arm: &mut Arm) {
    arm.name.iter_mut().for_each(quote);
    fields(&mut arm.fields);
    arm.model_block.iter_mut().for_each(model_block);
}

fn model_block(block: &mut ModelBlock) {
    let ModelBlock { model, history, checker, nemesis, ambiguous, reduction, other, .. } = block;
    let named = [model, history, checker, nemesis, ambiguous, reduction];
    named.into_iter().flatten().for_each(|value| quote(&mut value.value));
    fields(other);
}

fn fields(fields: &mut [Field]) {
    for Field { label, value } in fields {
        quote(&mut value.value);
        if label != NOTES && !labels::is_any(label) {
            quote(label);
        }
    }
}

fn row(row: &mut Row) {
    for (column, text) in &mut row.cells {
        quote(text);
        if !table::is_column(column) {
            quote(column);
        }
    }
}
