//! Rules about what this runtime has: a scenario that names something else cannot run as it is planned.

use super::Context;
use super::context::{Case, Part};
use crate::base::diagnostic::Span;
use crate::plan::Fault;
use crate::plan::labels::{FAULTS, LANGUAGE};
use crate::plan::names::{NEMESES, Nemesis, RUNTIME_CHECKERS, RUNTIME_MODELS};
use crate::plan::no_fault::{self, NoFault};
use crate::plan::resolve::nemeses_named;
use crate::plan::rules::report;
use crate::plan::told::Told;

/// Checkers that judge by the code of a model.
const BY_MODEL: [&str; 2] = ["linearizability", "no-lost-ack"];

/// The nemeses, checkers and models of Rust scenarios are there. Tests in other languages bring their own.
pub(super) fn not_in_runtime(context: &Context<'_>, out: &mut Told) {
    let mut seen: Vec<(String, Span)> = Vec::new();
    for case in context.cases.iter().filter(|case| is_rust(case)) {
        for (kind, name, span, has) in missing(case) {
            // Arms inherit `Faults`: what it names is told once.
            if seen.contains(&(name.clone(), span)) {
                continue;
            }
            let message = format!("{}: the {kind} `{name}` is not in this runtime", case.id.value);
            let then = match kind {
                "nemesis" => "without code for it (`impl Nemesis`) the scenario stays NOT-RUN",
                "checker" => "one of your own (`impl Checker`) carries PASS-smoke at best, and no gated claim",
                _ => "without code for it (`impl Model`) no checker of the runtime can judge the scenario",
            };
            out.push(report("not-in-runtime", span, message, format!("it has {}; {then}", has.join(", "))));
            seen.push((name, span));
        }
    }
}

fn is_rust(case: &Case<'_>) -> bool {
    let language = case.field(LANGUAGE).map(|field| field.value.trim_matches('`').trim().to_lowercase());
    language.is_none_or(|language| language.is_empty() || language.starts_with("rust"))
}

/// What a case names and the runtime does not have: (kind, name, where, what there is).
fn missing(case: &Case<'_>) -> Vec<(&'static str, String, Span, Vec<&'static str>)> {
    let mut missing = Vec::new();
    let has: Vec<&str> = NEMESES.iter().filter(|n| !n.signals.is_empty()).map(|n| n.name.id).collect();
    for (name, span) in nemeses(case) {
        if Nemesis::find(&name).is_some_and(|nemesis| nemesis.signals.is_empty()) {
            missing.push(("nemesis", name, span, has.clone()));
        }
    }
    let checker = case.part(Part::Checker).or(case.oracle()).map_or(case.id.span, |field| field.span);
    for (name, _) in &case.resolved.checkers {
        if !RUNTIME_CHECKERS.contains(&name.as_str()) {
            missing.push(("checker", name.clone(), checker, RUNTIME_CHECKERS.to_vec()));
        }
    }
    let model = case.model_block().and_then(|block| block.model.as_ref()).map_or(case.id.span, |field| field.span);
    // `other(…)` is a model of the plan's own, and says so.
    // Nor does a checker that judges without a model need one.
    let checkers = || case.resolved.checkers.iter().map(|(name, _)| name.as_str());
    let judged =
        checkers().any(|name| RUNTIME_CHECKERS.contains(&name)) && !checkers().any(|name| BY_MODEL.contains(&name));
    let known = case.resolved.model.iter().filter(|name| !judged && !name.starts_with("other("));
    for name in known.filter(|name| !RUNTIME_MODELS.contains(&name.as_str())) {
        missing.push(("model", name.clone(), model, RUNTIME_MODELS.to_vec()));
    }
    missing
}

/// The planned nemeses, each with the field that names it, whether or not their landing evidence could be read.
fn nemeses(case: &Case<'_>) -> Vec<(String, Span)> {
    let faults = case.field(FAULTS).filter(|faults| no_fault::read(&faults.value) == NoFault::Planned);
    let landing = || case.part(Part::Nemesis).filter(|landing| no_fault::read(&landing.value) == NoFault::Planned);
    let named = |field: &_| nemeses_named(field, &mut Vec::new());
    match &case.resolved.fault {
        Fault::NoFault { .. } => Vec::new(),
        Fault::Planned { .. } | Fault::Unresolved => {
            let found = faults.map(|field| (named(field), field.span)).filter(|(names, _)| !names.is_empty());
            let found = found.or_else(|| faults.and(landing()).map(|field| (named(field), field.span)));
            found.into_iter().flat_map(|(names, span)| names.into_iter().map(move |name| (name, span))).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::{check, names};

    const PLAN: &str = include_str!("../../../tests-data/plans/register.md");

    #[test]
    fn what_the_runtime_does_not_have_is_named_with_what_there_is() {
        let check = |edits: &[(&str, &str)], expect: &[&str]| {
            let text = edits.iter().fold(PLAN.to_owned(), |text, (from, to)| text.replace(from, to));
            let told = check(&text).1.into_iter().filter(|told| told.rule == "not-in-runtime");
            let told: Vec<String> = told.map(|told| told.message).collect();
            assert_eq!(told, expect, "{edits:?}");
        };
        check(&[], &[]);
        let split = [("`asymmetric-data-cut` and `hard-kill` in turn", "`split-brain` and `hard-kill` in turn")];
        check(&split, &["S1: the nemesis `split-brain` is not in this runtime"]);
        // Checkers and models of the format are all there.
        let keyed = [("`linearizability` per key, and `no-lost-ack`", "`serializability` of transfers")];
        check(&keyed, &[]);
        check(&[("`register`, one per key", "`queue`, one per key")], &[]);
        check(&[("`register`, one per key", "`other(bank)`")], &[]);
        check(&[split[0], ("- **Skeleton language:** rust", "- **Skeleton language:** go")], &[]);
    }

    #[test]
    fn what_the_runtime_has_is_a_part_of_what_plans_may_name() {
        assert!(names::RUNTIME_MODELS.iter().all(|id| names::MODELS.iter().any(|name| name.id == *id)));
        assert!(names::RUNTIME_CHECKERS.iter().all(|id| names::CHECKERS.iter().any(|name| name.id == *id)));
    }
}
