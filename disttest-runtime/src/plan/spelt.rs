//! Ids in sentences, spelt as the author of a plan spells them.

use super::{Id, Plan};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// `text` with each id of `plan` that stands in it by itself written as the plan first writes it: `S01` for `S1`. For
/// people; ids in paths (`artifacts/S1`) stay as they are, and so does a text for a plan whose ids have one spelling.
/// Linear in the plan's elements and in the text.
pub fn as_spelt<'t>(plan: &Plan, text: &'t str) -> Cow<'t, str> {
    Spelling::of(plan).apply(text)
}

/// The spellings of a plan that are not the canonical ones.
pub(super) struct Spelling(BTreeMap<String, String>);

impl Spelling {
    pub(super) fn of(plan: &Plan) -> Spelling {
        let claims = plan.claims.iter().map(|claim| &claim.id.value);
        let missing = plan.missing_claims.iter().map(|claim| &claim.id.value);
        let hypotheses = plan.hypotheses.iter().map(|hypothesis| &hypothesis.id.value);
        let scenarios = plan.scenarios.iter().map(|scenario| &scenario.id.value);
        let mut spellings = BTreeMap::new();
        for id in claims.chain(missing).chain(hypotheses).chain(scenarios) {
            spellings.entry(id.to_string()).or_insert_with(|| id.written());
        }
        spellings.retain(|canonical, written| canonical != written);
        Spelling(spellings)
    }

    pub(super) fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.0.is_empty() {
            return Cow::Borrowed(text);
        }
        let part = |c: char| c.is_alphanumeric() || "_/-.".contains(c);
        let mut out = String::with_capacity(text.len());
        let mut before = None;
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = if first.is_alphanumeric() {
                rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            let word = &rest[..length];
            let own = before.is_none_or(|c| !part(c)) && Id::parse(word).is_some();
            out.push_str(self.0.get(word).filter(|_| own).map_or(word, String::as_str));
            before = word.chars().next_back();
            rest = &rest[length..];
        }
        Cow::Owned(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_in_sentences_are_spelt_as_the_plan_spells_them_and_paths_stay() {
        let text = "# Test Plan: x\n\n## 7. Scenarios\n\n### S01: a\n\n### S10: b\n\n### Scenario S3: c\n";
        let (plan, _) = super::super::parse(text);
        let check = |text: &str, expect: &str| assert_eq!(as_spelt(&plan, text), expect);
        check("S1 and S10, S3; S1/api (S1)", "S01 and S10, S3; S01/api (S01)");
        check(
            "read artifacts/S1/seed-7 and findings/S1.md of `S1`",
            "read artifacts/S1/seed-7 and findings/S1.md of `S01`",
        );
        check("XS1 S1x S11 é S1", "XS1 S1x S11 é S01");
    }
}
