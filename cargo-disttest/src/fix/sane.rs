//! What no change may do to a plan: promise something else.

use disttest_runtime::base::diagnostic::{Diagnostic, Severity, Spanned};
use disttest_runtime::plan::{self, Category, Claim, Fault, Id, Plan, PlanMode, Resolved, Scenario};
use std::collections::BTreeSet;

/// Holds the plan `after` changes against the one `before` them.
///
/// # Errors
/// What would be lost, in words.
pub(super) fn check(before: &str, after: &str) -> Result<(), String> {
    let ((old, found), (new, left)) = (plan::check(before), plan::check(after));
    let errors =
        |found: &[Diagnostic]| found.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
    let same = [
        (ids(&old) == ids(&new), "an id would come or go"),
        (header(&old, &new), "the header would change"),
        (errors(&left) <= errors(&found), "there would be more errors than before"),
        (old.scenarios.len() == new.scenarios.len(), "a scenario would come or go"),
        (old.claims.iter().zip(&new.claims).all(|(old, new)| claim(old, new)), "a claim would change"),
    ];
    if let Some((_, why)) = same.iter().find(|(same, _)| !same) {
        return Err((*why).to_owned());
    }
    for (was, is) in old.scenarios.iter().zip(&new.scenarios) {
        scenario(was, is)?;
        let shorter = words(was).into_iter().zip(words(is)).any(|(was, is)| was.0 != is.0 || was.1 > is.1);
        if shorter || !demands(&old, was).is_subset(&demands(&new, is)) {
            return Err(format!("{} would ask for less", was.id.value));
        }
    }
    Ok(())
}

/// Words of the vocabulary stay; what stood for none (and counted as `safety`) may become one.
fn claim(old: &Claim, new: &Claim) -> bool {
    let read = |category: &&Category| old.unknown_categories.is_empty() || **category != Category::Safety;
    old.text.value == new.text.value && old.categories.iter().filter(read).all(|word| new.categories.contains(word))
}

/// The prose of a scenario: label and number of words of each field that is not compared as data. A change may spell
/// a word anew or say more; it never says less.
fn words(scenario: &Scenario) -> Vec<(String, usize)> {
    const DATA: [&str; 7] =
        [plan::FALSIFIES, plan::CLOSES, plan::SMOKE, plan::HARDENING, plan::RELEASE, plan::TARGET, plan::LANGUAGE];
    let count = |text: &str| text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count();
    let arms =
        scenario.arms.iter().flat_map(|arm| arm.fields.iter().chain(arm.model_block.iter().flat_map(|b| &b.other)));
    let fields = scenario.fields.iter().chain(arms).filter(|field| !DATA.contains(&field.label.as_str()));
    let mut out: Vec<(String, usize)> = fields.map(|f| (f.label.clone(), count(&f.value.value))).collect();
    let blocks = scenario.model_block.iter().chain(scenario.arms.iter().filter_map(|arm| arm.model_block.as_ref()));
    for block in blocks {
        let named = [&block.model, &block.history, &block.checker, &block.nemesis, &block.ambiguous, &block.reduction];
        out.extend(named.iter().map(|field| ("§7.M".to_owned(), field.as_ref().map_or(0, |text| count(&text.value)))));
    }
    out
}

/// What a test of the scenario must do, each as a line: models, checkers, nemeses, signals, or why there is no fault.
fn demands(plan: &Plan, scenario: &Scenario) -> BTreeSet<String> {
    let arms = scenario.arms.iter().map(|arm| plan::resolve_arm(plan, scenario, arm).0);
    let of_all = std::iter::once(plan::resolve(plan, scenario).0).chain(arms);
    of_all.flat_map(|resolved| of_one(&resolved)).collect()
}

fn of_one(resolved: &Resolved) -> Vec<String> {
    let line = |what: &str, name: &str| format!("{} {what} {name}", resolved.id);
    let mut out: Vec<String> = resolved.model.iter().map(|model| line("model", model)).collect();
    out.extend(resolved.checkers.iter().map(|(checker, per_key)| line("checker", &format!("{checker} {per_key}"))));
    match &resolved.fault {
        Fault::Planned { nemeses, injector, victim } => {
            let lists = [("nemesis", nemeses), ("injector", injector), ("victim", victim)];
            out.extend(lists.iter().flat_map(|(what, names)| names.iter().map(|name| line(what, name))));
            out.push(line("fault", "planned"));
        }
        Fault::NoFault { reason } => out.push(line("no fault", reason)),
        Fault::Unresolved => {}
    }
    out
}

/// The slug stays, and the mode does not become the one that asks for less.
fn header(old: &Plan, new: &Plan) -> bool {
    let slug = |plan: &Plan| plan.header.slug.as_ref().map(|slug| slug.value.clone());
    let (was, is) = (old.header.mode, new.header.mode);
    (slug(old).is_none() || slug(old) == slug(new)) && (was == is || is == PlanMode::ProjectWide)
}

fn ids(plan: &Plan) -> Vec<&Id> {
    let arms = plan.scenarios.iter().flat_map(|s| s.arms.iter().map(|arm| &arm.id.value));
    (plan.claims.iter().map(|claim| &claim.id.value))
        .chain(plan.missing_claims.iter().map(|claim| &claim.id.value))
        .chain(plan.hypotheses.iter().map(|hypothesis| &hypothesis.id.value))
        .chain(plan.scenarios.iter().map(|scenario| &scenario.id.value))
        .chain(arms)
        .collect()
}

/// What could be read before is read again, and is the same.
fn scenario(old: &Scenario, new: &Scenario) -> Result<(), String> {
    fn kept<T: PartialEq>(old: Option<&T>, new: Option<&T>) -> bool {
        old.is_none() || old == new
    }
    let values = |ids: &[Spanned<Id>]| ids.iter().map(|id| id.value.clone()).collect::<Vec<_>>();
    let target = |s: &Scenario| s.target.as_ref().map(|target| target.value.clone());
    let skeleton = |s: &Scenario| s.skeleton.as_ref().map(|skeleton| skeleton.value.clone());
    let same = [
        (old.name.value == new.name.value, "name"),
        (values(&old.falsifies) == values(&new.falsifies) || old.falsifies.is_empty(), "claims"),
        (values(&old.closes) == values(&new.closes) || old.closes.is_empty(), "hypotheses"),
        (kept(old.budgets.as_ref(), new.budgets.as_ref()), "budgets"),
        (kept(target(old).as_ref(), target(new).as_ref()), "target"),
        (kept(skeleton(old).as_ref(), skeleton(new).as_ref()), "skeleton"),
        (old.model_block.is_none() || new.model_block.is_some(), "§7.M"),
        (old.surfaces.is_none() || new.surfaces.is_some(), "§7.M.S"),
    ];
    match same.iter().find(|(same, _)| !same) {
        Some((_, what)) => Err(format!("{} of {} would change", what, old.id.value)),
        None => Ok(()),
    }
}
