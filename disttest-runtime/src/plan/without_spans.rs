//! A plan without its places in the text, to compare what two texts say.

use super::model::*;
use crate::base::diagnostic::{Span, Spanned};

const NOWHERE: Span = Span { start: 0, end: 0 };

impl Plan {
    /// The plan with every span set to nothing: two texts that say the same give equal plans.
    pub fn without_spans(mut self) -> Plan {
        self.header.slug.iter_mut().for_each(clear);
        fields(&mut self.header.fields);
        self.sections.iter_mut().chain(&mut self.appendices).for_each(|section| section.span = NOWHERE);
        for claim in &mut self.claims {
            clear(&mut claim.id);
            clear(&mut claim.text);
            clear(&mut claim.category_text);
        }
        self.missing_claims.iter_mut().for_each(|missing| clear(&mut missing.id));
        fields(&mut self.sut_model);
        for hypothesis in &mut self.hypotheses {
            clear(&mut hypothesis.id);
            hypothesis.claims.iter_mut().for_each(clear);
            fields(&mut hypothesis.other);
        }
        for technique in &mut self.techniques {
            technique.id.iter_mut().for_each(clear);
            clear(&mut technique.name);
            fields(&mut technique.fields);
        }
        let Plan { inventory, coverage, environment, adequacy, residual, confidence, .. } = &mut self;
        for rows in [inventory, coverage, environment, adequacy, residual, &mut confidence.aspects] {
            rows.iter_mut().for_each(|row| row.span = NOWHERE);
        }
        clear(&mut confidence.statement);
        self.scenarios.iter_mut().for_each(scenario);
        self.not_covered.iter_mut().chain(&mut self.open_questions).for_each(clear);
        self
    }
}

fn scenario(scenario: &mut Scenario) {
    scenario.span = NOWHERE;
    clear(&mut scenario.id);
    clear(&mut scenario.name);
    scenario.falsifies.iter_mut().chain(&mut scenario.closes).for_each(clear);
    fields(&mut scenario.fields);
    scenario.target.iter_mut().chain(&mut scenario.skeleton_language).chain(&mut scenario.skeleton).for_each(clear);
    scenario.code_blocks.iter_mut().for_each(clear);
    scenario.model_block.iter_mut().for_each(model_block);
    scenario.surfaces.iter_mut().for_each(|surfaces| fields(surfaces));
    for arm in &mut scenario.arms {
        clear(&mut arm.id);
        fields(&mut arm.fields);
        arm.model_block.iter_mut().for_each(model_block);
        arm.target.iter_mut().chain(&mut arm.skeleton).for_each(clear);
    }
}

fn model_block(block: &mut ModelBlock) {
    block.span = NOWHERE;
    let ModelBlock { model, history, checker, nemesis, ambiguous, reduction, other, .. } = block;
    [model, history, checker, nemesis, ambiguous, reduction].into_iter().flatten().for_each(clear);
    fields(other);
}

fn fields(fields: &mut [Field]) {
    fields.iter_mut().for_each(|field| clear(&mut field.value));
}

fn clear<T>(value: &mut Spanned<T>) {
    value.span = NOWHERE;
}

#[cfg(test)]
mod tests {
    use crate::plan::parse;

    #[test]
    fn the_same_words_at_other_places_are_the_same_plan() {
        let text = include_str!("../../tests-data/plans/register.md");
        let moved = text.replacen("# Test Plan", "\n\n# Test Plan", 1).replace("\n- **", "\n-   **");
        assert_ne!(parse(text).0, parse(&moved).0);
        let json = serde_json::to_string(&parse(text).0.without_spans()).expect("a plan is JSON");
        assert_eq!(json.matches("\"span\"").count(), json.matches("\"span\":{\"start\":0,\"end\":0}").count());
        assert_eq!(parse(text).0.without_spans(), parse(&moved).0.without_spans());
    }
}
