//! Rules about target paths: inside the package, of the right kind, one owner each.

use super::{Context, enumerated};
use crate::base::diagnostic::Spanned;
use crate::plan::Id;
use crate::plan::rules::report;
use crate::plan::told::Told;
use std::collections::HashMap;

/// (language, suffix by convention).
const SUFFIXES: &[(&str, &str)] =
    &[("rust", ".rs"), ("go", "_test.go"), ("python", ".py"), ("typescript", ".ts"), ("shell", ".sh")];

/// (owner, language, target) of each scenario and arm that names a target.
fn targets<'p>(context: &Context<'p>) -> impl Iterator<Item = (&'p Spanned<Id>, Option<&'p str>, &'p Spanned<String>)> {
    context.plan.scenarios.iter().flat_map(|scenario| {
        let language = scenario.skeleton_language.as_ref().map(|l| l.value.as_str());
        let own = scenario.target.iter().map(move |t| (&scenario.id, language, t));
        own.chain(scenario.arms.iter().filter_map(move |a| a.target.as_ref().map(|t| (&a.id, language, t))))
    })
}

/// A target is relative and stays inside.
pub(super) fn target_outside(context: &Context<'_>, out: &mut Told) {
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

/// A target ends in the suffix of its language. What a scenario without a language lacks is told elsewhere.
pub(super) fn target_suffix(context: &Context<'_>, out: &mut Told) {
    for (id, language, target) in targets(context) {
        let wanted = SUFFIXES.iter().find(|(known, _)| Some(*known) == language).map(|(_, suffix)| *suffix);
        let Some(suffix) = wanted.filter(|suffix| !target.value.ends_with(suffix)) else { continue };
        let message = format!("{}: the target `{}` does not end in {suffix}", id.value, target.value);
        out.push(report("target-suffix", target.span, message, "rename it, or correct the skeleton language"));
    }
}

/// A target belongs to one scenario.
pub(super) fn target_taken(context: &Context<'_>, out: &mut Told) {
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

/// A target stands where the tools of its language look for tests.
pub(super) fn target_convention(context: &Context<'_>, out: &mut Told) {
    let odd: Vec<(&Spanned<Id>, &Spanned<String>, &str)> = targets(context)
        .filter_map(|(id, language, target)| {
            let path = target.value.as_str();
            let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
            let kind = language.unwrap_or_else(|| {
                SUFFIXES.iter().find(|(_, suffix)| path.ends_with(suffix)).map_or("", |(language, _)| language)
            });
            let wanted = match kind {
                "rust" if !path.split(['/', '\\']).any(|part| part == "tests") => "tests/auto/<S_id>_<slug>.rs",
                "python" if !file.starts_with("test_") && !file.ends_with("_test.py") => "tests/auto/test_<slug>.py",
                "typescript" if !file.ends_with(".test.ts") && !file.ends_with(".spec.ts") => {
                    "tests/auto/<slug>.test.ts"
                }
                _ => return None,
            };
            Some((id, target, wanted))
        })
        .collect();
    if let Some((_, target, wanted)) = odd.first() {
        let ids: Vec<&Id> = odd.iter().map(|(id, ..)| &id.value).collect();
        let message =
            format!("not where tests of its language stand by convention: the target of {}", enumerated(&ids));
        let help = format!("write a path such as `{wanted}`, or see to it that the test runner knows this one");
        out.push(report("target-convention", target.span, message, help));
    }
}
