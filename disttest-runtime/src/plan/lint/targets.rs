//! Rules about target paths: inside the package, of the right kind, one owner each.

use super::Context;
use crate::base::diagnostic::{Diagnostic, Spanned};
use crate::plan::Id;
use crate::plan::rules::report;
use std::collections::HashMap;

/// (language, suffix by convention).
const SUFFIXES: &[(&str, &str)] =
    &[("rust", ".rs"), ("go", "_test.go"), ("python", ".py"), ("typescript", ".ts"), ("shell", ".sh")];

/// (owner, language, target) of each scenario and arm that names a target.
fn targets<'p>(
    context: &'p Context<'_>,
) -> impl Iterator<Item = (&'p Spanned<Id>, Option<&'p str>, &'p Spanned<String>)> {
    context.plan.scenarios.iter().flat_map(|scenario| {
        let language = scenario.skeleton_language.as_ref().map(|l| l.value.as_str());
        let own = scenario.target.iter().map(move |t| (&scenario.id, language, t));
        own.chain(scenario.arms.iter().filter_map(move |a| a.target.as_ref().map(|t| (&a.id, language, t))))
    })
}

/// A target is relative and stays inside.
pub(super) fn target_outside(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for (id, _, target) in targets(context) {
        let path = target.value.as_str();
        let drive = path.as_bytes().get(1) == Some(&b':');
        let absolute = path.starts_with(['/', '\\', '~']) || drive;
        let climbs = path.split(['/', '\\']).any(|part| part == "..");
        if absolute || climbs {
            let what = if absolute { "is absolute" } else { "leaves the package by `..`" };
            let message = format!("{}: the target `{path}` {what}", id.value);
            out.push(report(
                "target-outside",
                target.span,
                message,
                "write a path relative to the package, such as `tests/auto/s1_name.rs`",
            ));
        }
    }
}

/// A target ends in the suffix of its language.
pub(super) fn target_suffix(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for (id, language, target) in targets(context) {
        let wanted: Vec<&str> = SUFFIXES
            .iter()
            .filter(|(l, _)| language.is_none_or(|have| have == *l))
            .map(|(_, suffix)| *suffix)
            .collect();
        if !wanted.iter().any(|suffix| target.value.ends_with(suffix)) {
            let message =
                format!("{}: the target `{}` does not end in {}", id.value, target.value, wanted.join(" or "));
            out.push(report("target-suffix", target.span, message, "rename it, or correct the skeleton language"));
        }
    }
}

/// A target belongs to one scenario.
pub(super) fn target_taken(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let mut taken: HashMap<String, &Id> = HashMap::new();
    for (id, _, target) in targets(context) {
        let parts = target.value.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".");
        let path = parts.collect::<Vec<_>>().join("/");
        match taken.get(&path) {
            // An arm may share the file of its own scenario.
            Some(other) if other.number() != id.value.number() || id.value.arm().is_none() => {
                let message = format!("the target `{}` already belongs to {other}", target.value);
                out.push(report("target-taken", target.span, message, format!("give {} a file of its own", id.value)));
            }
            Some(_) => {}
            None => {
                taken.insert(path, &id.value);
            }
        }
    }
}
