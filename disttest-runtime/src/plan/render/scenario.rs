//! A scenario with its blocks and arms.

use super::super::labels::{self, Labels, NOTES, SKELETON};
use super::super::model::{Arm, Field, ModelBlock, Scenario};
use super::fields::Fields;
use super::text::{self, fence, heading, may_be_indented};
use crate::base::diagnostic::Spanned;

const BASE: &[Labels] = &[labels::SCENARIO, labels::MODEL_BLOCK_EXACT];

/// Writes the scenario.
pub(super) fn write(out: &mut String, scenario: &Scenario) {
    heading(out, 3, &format!("Scenario {}{}", scenario.id.value, text::name(&scenario.name.value)));
    let language = scenario.skeleton_language.as_ref().map_or("", |language| language.value.as_str());
    let labelled = scenario.fields.iter().any(|field| field.label == SKELETON);
    for body in scenario.skeleton.iter().filter(|_| !labelled).chain(&scenario.code_blocks) {
        fence(out, 0, if labelled { "" } else { language }, &body.value);
        out.push('\n');
    }
    own(out, &scenario.fields, scenario.skeleton.as_ref(), language);
    if scenario.model_block_not_applicable {
        out.push_str("\n§7.M: not applicable (no gated claim category falsified)\n");
    }
    if let Some(block) = &scenario.model_block {
        model_block(out, 4, block);
    }
    if scenario.surfaces_not_applicable {
        out.push_str("\n§7.M.S: not applicable (no boundary or fairness claim falsified)\n");
    }
    if let Some(surfaces) = &scenario.surfaces {
        out.push('\n');
        heading(out, 4, "§7.M.S — Surface decomposition");
        let sets = &[labels::SURFACES, labels::SCENARIO];
        Fields { sets, bullet: "- ", level: 0 }.write(out, surfaces);
    }
    scenario.arms.iter().for_each(|one| arm(out, one, language));
}

/// Fields with the skeleton under its label.
fn own(out: &mut String, fields: &[Field], skeleton: Option<&Spanned<String>>, language: &str) {
    Fields { sets: BASE, bullet: "- ", level: 4 }.write_with(out, fields, |out| {
        if let Some(skeleton) = skeleton {
            out.push('\n');
            let indent = if may_be_indented(&skeleton.value) { 2 } else { 0 };
            fence(out, indent, language, &skeleton.value);
            out.push('\n');
        }
    });
}

fn model_block(out: &mut String, level: usize, block: &ModelBlock) {
    out.push('\n');
    heading(out, level, "§7.M — Model / history / checker discipline");
    let named = [
        ("Model under test", &block.model),
        ("Operation history", &block.history),
        ("Checker", &block.checker),
        ("Nemesis + landing evidence", &block.nemesis),
        ("Ambiguous outcomes", &block.ambiguous),
        ("Reduction plan", &block.reduction),
    ];
    let field = |label: &str, value: &Spanned<String>| Field { label: label.to_owned(), value: value.clone() };
    let mut fields: Vec<Field> =
        named.into_iter().filter_map(|(label, value)| Some(field(label, value.as_ref()?))).collect();
    fields.extend(block.other.iter().cloned());
    if fields.iter().all(|field| field.label == NOTES) {
        // A block that is there and says nothing, or whose labels had no text: a note alone may say that it is not
        // applicable.
        fields.push(field("Model under test", &Spanned::default()));
    }
    let sets = &[labels::MODEL_BLOCK, labels::SCENARIO];
    Fields { sets, bullet: "- ", level: 0 }.write(out, &fields);
}

fn arm(out: &mut String, arm: &Arm, language: &str) {
    out.push('\n');
    heading(out, 4, &format!("Arm {}{}", arm.id.value, text::name(arm.name.as_deref().unwrap_or(""))));
    own(out, &arm.fields, arm.skeleton.as_ref(), language);
    if let Some(block) = &arm.model_block {
        model_block(out, 5, block);
    }
}
