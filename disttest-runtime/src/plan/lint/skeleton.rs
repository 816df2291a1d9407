//! Rules about the skeletons that a plan brings.

use super::Context;
use crate::base::diagnostic::Spanned;
use crate::plan::Id;
use crate::plan::rules::report;
use crate::plan::told::Told;

/// The mandatory lines at the head of a skeleton: without them `author` refuses it, and nobody can tell where a test
/// came from.
pub(super) fn skeleton_header(context: &Context<'_>, out: &mut Told) {
    for scenario in &context.plan.scenarios {
        let own = scenario.skeleton.iter().map(|skeleton| (&scenario.id.value, skeleton));
        let of_arms = scenario.arms.iter().filter_map(|arm| Some((&arm.id.value, arm.skeleton.as_ref()?)));
        for (id, skeleton) in own.chain(of_arms) {
            tell(context, id, skeleton, out);
        }
    }
}

fn tell(context: &Context<'_>, id: &Id, skeleton: &Spanned<String>, out: &mut Told) {
    let line = |mark: &str| skeleton.value.lines().find_map(|line| Some(line.split_once(mark)?.1.trim()));
    if line("AUTO-GENERATED from test plan:").is_none() {
        let message = format!("{id}: the skeleton does not say that it is generated, and from which plan");
        let help = "start it with a comment `AUTO-GENERATED from test plan: <path>`, then `Scenario:` and `Falsifies:`";
        out.push(report("skeleton-header", skeleton.span, message, help));
        return;
    }
    let named = line("Scenario:").and_then(|text| {
        let word = text.split(|c: char| !(c.is_ascii_alphanumeric() || "/-_".contains(c))).next()?;
        Some((word.to_owned(), Id::parse(word)?))
    });
    if let Some((word, _)) = named.filter(|(_, named)| named.number() != id.number()) {
        let message = format!("{id}: the skeleton says that it is of scenario {word}");
        let from = crate::base::diagnostic::Span::new(skeleton.span.start, skeleton.span.end);
        let text = context.text.get(from.start..from.end).unwrap_or("");
        let at = text.find("Scenario:").and_then(|at| Some(at + text[at..].find(&word)?));
        let span =
            at.map_or(from, |at| crate::base::diagnostic::Span::new(from.start + at, from.start + at + word.len()));
        out.push(report("skeleton-header", span, message, format!("write `Scenario: {id} <name>`")));
    }
}
