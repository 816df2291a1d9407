//! Rules about surfaces and arms (§7.M.S).

use super::context::owners;
use super::passage::{Passage, has};
use super::{Context, is_unfilled};
use crate::base::diagnostic::Spanned;
use crate::plan::Category;
use crate::plan::model::Scenario;
use crate::plan::parse::ids_in;
use crate::plan::rules::report;
use crate::plan::told::Told;
use std::collections::BTreeSet;

/// A scenario beyond one of these is split.
const MOST: usize = 3;
/// Surfaces that a boundary claim needs.
const LEAST: usize = 3;

/// A filled field of §7.M.S.
fn field<'p>(scenario: &'p Scenario, label: &str) -> Option<&'p Spanned<String>> {
    let fields = scenario.surfaces.as_ref()?;
    fields.iter().find(|f| f.label == label && !is_unfilled(&f.value.value)).map(|f| &f.value)
}

/// The list of surfaces.
pub(super) struct Surfaces<'p> {
    field: &'p Spanned<String>,
    /// How many it names.
    pub(super) count: usize,
    /// It also says why there are no more.
    pub(super) justified: bool,
}

/// The surfaces of a scenario; `None` without the block or the field.
pub(super) fn surfaces<'p>(context: &Context<'p>, scenario: &'p Scenario) -> Option<Surfaces<'p>> {
    let field = field(scenario, "Surfaces")?;
    let (count, justified) = counted(&field.value, &Passage::new(context.masked, field.span).text);
    Some(Surfaces { field, count, justified })
}

/// Number of entries, and whether a reason stands behind them. `flat` is the value on one line in lower case.
fn counted(value: &str, flat: &str) -> (usize, bool) {
    const REASONS: &[&str] = &[" — ", " – ", " -- ", " because ", " since ", ". "];
    let cut = REASONS.iter().filter_map(|mark| flat.find(mark)).min();
    let reason = cut.map_or("", |at| &flat[at..]);
    let words = reason.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count();
    let bullets = value.lines().filter(|line| line.trim_start().starts_with(['-', '*', '+'])).count();
    if bullets > 1 {
        return (bullets, words >= 3);
    }
    let mut depth = 0_usize;
    let outside: String = flat[..cut.unwrap_or(flat.len())]
        .chars()
        .filter(|c| match c {
            '(' => {
                depth += 1;
                false
            }
            ')' => {
                depth = depth.saturating_sub(1);
                false
            }
            _ => depth == 0,
        })
        .collect();
    let entries = outside.replace(" and ", ",").replace(" + ", ",");
    let count = entries.split([',', ';']).filter(|entry| entry.chars().any(char::is_alphanumeric)).count();
    (count, words >= 3)
}

/// How many arms a scenario has: those with a block, and those that the list plans.
fn arms(scenario: &Scenario) -> usize {
    scenario.arm_ids().len()
}

/// True when the list of arms says why there is none, or are fewer than surfaces.
fn collapsed(context: &Context<'_>, scenario: &Scenario) -> bool {
    const WHY: &[&str] = &[
        "collaps*",
        "because",
        "since",
        "justif*",
        "same code",
        "shared",
        "one arm",
        "single arm",
        "none — *",
        "not split",
    ];
    field(scenario, "Scenario arms").is_some_and(|f| Passage::new(context.masked, f.span).has(WHY))
}

/// The gate of §7.M.S.
pub(super) fn surfaces_missing(context: &Context<'_>, out: &mut Told) {
    for scenario in context.plan.scenarios.iter().filter(|s| s.surfaces.is_none()) {
        if context.falsifies(scenario, Category::gates_surfaces) {
            let message = format!("{} falsifies a boundary or fairness claim and has no §7.M.S", scenario.id.value);
            let help = "write `#### §7.M.S — Surface decomposition` with its eight fields";
            out.push(report("surfaces-missing", scenario.id.span, message, help));
        }
    }
}

/// §7.M.S is filled or not applicable, never both.
pub(super) fn surfaces_contradicts(context: &Context<'_>, out: &mut Told) {
    for scenario in context.plan.scenarios.iter().filter(|s| s.surfaces_not_applicable && s.surfaces.is_some()) {
        let message = format!("{}: §7.M.S is filled and said to be not applicable", scenario.id.value);
        out.push(report("surfaces-contradicts", scenario.id.span, message, "delete one of the two"));
    }
}

/// Where some scenarios state that they need no §7.M.S, one that is silent was forgotten.
pub(super) fn surfaces_not_stated(context: &Context<'_>, out: &mut Told) {
    if !context.plan.scenarios.iter().any(|s| s.surfaces_not_applicable) {
        return;
    }
    for scenario in context.plan.scenarios.iter().filter(|s| s.surfaces.is_none() && !s.surfaces_not_applicable) {
        if !context.falsifies(scenario, Category::gates_surfaces) {
            let message = format!("{} neither has §7.M.S nor says that it is not applicable", scenario.id.value);
            let help = "write `§7.M.S: not applicable (no boundary or fairness claim falsified)`";
            out.push(report("surfaces-not-stated", scenario.id.span, message, help));
        }
    }
}

/// Surfaces, and negative controls of a boundary claim.
pub(super) fn surfaces_field(context: &Context<'_>, out: &mut Told) {
    for scenario in context.plan.scenarios.iter().filter(|s| s.surfaces.is_some()) {
        let boundary = context.falsifies(scenario, |c| c == Category::Boundary);
        let gated = context.falsifies(scenario, Category::gates_surfaces);
        let needed = gated.then_some("Surfaces").into_iter().chain(boundary.then_some("Negative controls"));
        for label in needed.filter(|label| field(scenario, label).is_none()) {
            let message = format!("{}: §7.M.S has no `{label}`", scenario.id.value);
            out.push(report("surfaces-field", scenario.id.span, message, format!("write `- **{label}:** …`")));
        }
    }
}

/// The other fields of §7.M.S.
pub(super) fn surfaces_incomplete(context: &Context<'_>, out: &mut Told) {
    const OTHERS: [&str; 6] = [
        "Operations",
        "Adversarial inputs",
        "Positive controls",
        "Delayed / async paths",
        "Observability paths",
        "Scenario arms",
    ];
    for scenario in context.plan.scenarios.iter().filter(|s| s.surfaces.is_some()) {
        let named =
            |label: &&str| field(scenario, label).is_some() || (*label == "Scenario arms" && !scenario.arms.is_empty());
        let missing: Vec<&str> = OTHERS.into_iter().filter(|label| !named(label)).collect();
        if !missing.is_empty() && context.falsifies(scenario, Category::gates_surfaces) {
            let message = format!("{}: §7.M.S has no `{}`", scenario.id.value, missing.join("`, no `"));
            let help = format!("write `- **{}:** …`, or that there is none and why", missing[0]);
            out.push(report("surfaces-incomplete", scenario.id.span, message, help));
        }
    }
}

/// A boundary has many surfaces, or a reason why it has not.
pub(super) fn surfaces_too_few(context: &Context<'_>, out: &mut Told) {
    for scenario in context.plan.scenarios.iter().filter(|s| context.falsifies(s, |c| c == Category::Boundary)) {
        let Some(list) = surfaces(context, scenario).filter(|list| list.count < LEAST && !list.justified) else {
            continue;
        };
        let message =
            format!("{}: {} of the {LEAST} surfaces that a boundary claim needs", scenario.id.value, list.count);
        let help = "name those on which the boundary could leak, or say why there are no more: `api — the only way in, because …`";
        out.push(report("surfaces-too-few", list.field.span, message, help));
    }
}

/// Why a scenario without arms needs some.
fn split_because<'p>(context: &Context<'p>, scenario: &'p Scenario) -> Option<String> {
    let name = scenario.name.value.to_lowercase();
    if name.contains("surface") {
        let name = name.replace(['_', '-'], " ");
        if has(&name, &["all surfaces", "every surface", "each surface"]) {
            return Some("its name says that it spans all surfaces".to_owned());
        }
    }
    // Too many kinds of claims for one oracle, whatever the surfaces.
    let categories: BTreeSet<Category> =
        scenario.falsifies.iter().flat_map(|id| context.categories(&id.value)).collect();
    if categories.len() > MOST {
        return Some(format!("its claims are of {} categories", categories.len()));
    }
    let gated = context.falsifies(scenario, Category::gates_surfaces);
    if !gated && scenario.surfaces.is_none() {
        return None;
    }
    const NAMED: &[&str] = &[
        "api", "sdk", "sdks", "cli", "admin", "export", "exports", "audit", "billing", "rest", "grpc", "graphql",
        "webhook", "webhooks", "cdc", "backup", "ui",
    ];
    let named: BTreeSet<&str> = name.split(['_', '-', ' ']).filter(|word| NAMED.contains(word)).collect();
    if gated && named.len() > 1 {
        return Some(format!("its name says {}", named.into_iter().collect::<Vec<_>>().join(" and ")));
    }
    if let Some(list) = surfaces(context, scenario).filter(|list| gated && list.count > MOST) {
        return Some(format!("it spans {} surfaces", list.count));
    }
    const ORACLES: &[&str] =
        &["two oracles", "three oracles", "independent oracles", "second oracle", "oracle 2", "several oracles"];
    let oracle = scenario.field(crate::plan::ORACLE).map(|field| Passage::new(context.masked, field.span));
    let hit = oracle.as_ref().filter(|_| gated).and_then(|passage| passage.first(ORACLES));
    hit.map(|(phrase, _)| format!("its oracle speaks of `{phrase}`"))
}

/// A scenario that is really several is split (format §4).
pub(super) fn split_into_arms(context: &Context<'_>, out: &mut Told) {
    for scenario in context.plan.scenarios.iter().filter(|s| arms(s) == 0) {
        if let Some(why) = split_because(context, scenario).filter(|_| !collapsed(context, scenario)) {
            let id = &scenario.id.value;
            let message = format!("{id} must be split into arms: {why}");
            let help = format!("write `#### Arm {id}/<surface>: <name>` for each, with its own Oracle and §7.M");
            out.push(report("split-into-arms", scenario.id.span, message, help));
        }
    }
}

/// One arm a surface.
pub(super) fn arms_fewer_than_surfaces(context: &Context<'_>, out: &mut Told) {
    for scenario in &context.plan.scenarios {
        let arms = arms(scenario);
        let Some(list) = surfaces(context, scenario).filter(|list| (1..list.count).contains(&arms)) else { continue };
        if !collapsed(context, scenario) {
            let message = format!("{} has {} surfaces and {arms} arms", scenario.id.value, list.count);
            let help = "add the arms, or say in `Scenario arms` which surfaces are collapsed into one and why";
            out.push(report("arms-fewer-than-surfaces", list.field.span, message, help));
        }
    }
}

/// A denial that is only a status code.
pub(super) fn negative_controls_weak(context: &Context<'_>, out: &mut Told) {
    const SEEN: &[&str] = &[
        "metric*",
        "log",
        "logs",
        "audit*",
        "trace*",
        "side channel*",
        "side-channel*",
        "unobserv*",
        "observ*",
        "leak*",
        "invisible",
        "visible",
        "counter*",
        "timing*",
        "cache*",
        "nowhere",
        "telemetry",
        "bill*",
    ];
    for scenario in context.plan.scenarios.iter().filter(|s| context.falsifies(s, |c| c == Category::Boundary)) {
        let Some(controls) = field(scenario, "Negative controls") else { continue };
        if !Passage::new(context.masked, controls.span).has(SEEN) {
            let message =
                format!("{}: a denied request may still leave a trace, and nobody looks for it", scenario.id.value);
            let help = "add that it is unobservable in metrics, logs and side channels";
            out.push(report("negative-controls-weak", controls.span, message, help));
        }
    }
}

/// Classes of confusable identifiers, and words that tell of them.
const CLASSES: &[(&str, &[&str])] = &[
    ("the same name under two scopes", &["same", "identical", "equal name*", "homonym*"]),
    ("prefix collision", &["prefix*", "acme-corp"]),
    ("case folding", &["case", "case-*", "upper*", "lower*", "casing"]),
    ("embedded separators", &["separator*", "slash*", "%2f", "encod*", "delimiter*"]),
    ("trailing whitespace or control characters", &["whitespace*", "trailing", "control char*", "space*", "padding"]),
    ("recycled ids", &["recycl*", "reus*", "re-use*", "delet*", "tombston*"]),
    ("ranges off by one", &["off-by-one", "off by one", "range*", "near-quorum", "edge*"]),
    ("integer overflow", &["overflow*", "2^31", "2^63", "max int*", "i64", "negative"]),
    ("Unicode normalisation", &["unicode", "normali*", "combining", "nfc", "nfd", "homoglyph*"]),
];

/// Classes that examples in backticks are of: `Acme` and `acme`, `acme` and `acme-corp`, `acme `.
fn shown_by_example(inputs: &str) -> Vec<&'static str> {
    const LOOKED_AT: usize = 40;
    let names: Vec<&str> =
        inputs.split('`').skip(1).step_by(2).filter(|name| !name.is_empty()).take(LOOKED_AT).collect();
    let pairs = || names.iter().flat_map(|one| names.iter().map(move |other| (*one, *other))).filter(|(a, b)| a != b);
    let mut shown = Vec::new();
    if pairs().any(|(one, other)| one.eq_ignore_ascii_case(other)) {
        shown.push("case folding");
    }
    if pairs().any(|(one, other)| other.starts_with(one) && other.trim_end() != one) {
        shown.push("prefix collision");
    }
    if names.iter().any(|name| name.trim() != *name) {
        shown.push("trailing whitespace or control characters");
    }
    shown
}

/// Adversarial inputs of every class, or a word on why not.
pub(super) fn few_confusable_identifiers(context: &Context<'_>, out: &mut Told) {
    for scenario in context.plan.scenarios.iter().filter(|s| context.falsifies(s, |c| c == Category::Boundary)) {
        let Some(inputs) = field(scenario, "Adversarial inputs") else { continue };
        let passage = Passage::new(context.masked, inputs.span);
        if passage.has(&["all classes", "every class", "all nine", "nine classes", "whole catalog*"]) {
            continue;
        }
        let mut missing: Vec<&str> =
            CLASSES.iter().filter(|(_, words)| !passage.has(words)).map(|(name, _)| *name).collect();
        let shown = shown_by_example(&inputs.value);
        missing.retain(|class| !shown.contains(class));
        if !missing.is_empty() {
            let message = format!("{}: no adversarial input tries {}", scenario.id.value, missing.join(", "));
            let help = "add one of each class, or say why it does not apply: `integer overflow: n/a, ids are strings`";
            out.push(report("few-confusable-identifiers", inputs.span, message, help));
        }
    }
}

/// Each arm has its own §7.M; each arm that the list names has its block.
pub(super) fn arm_incomplete(context: &Context<'_>, out: &mut Told) {
    for scenario in &context.plan.scenarios {
        for owner in owners(scenario).filter(|o| o.arm.is_some() && o.model_block().is_none()) {
            let message = format!("{} has no §7.M of its own", owner.id.value);
            out.push(report("arm-incomplete", owner.id.span, message, "an arm is always serious: give it `#### §7.M`"));
        }
        let Some(list) = scenario.surfaces.iter().flatten().find(|f| f.label == "Scenario arms") else { continue };
        let planned = scenario.arm_ids();
        let elsewhere =
            ids_in(&list.value.value, 'S').into_iter().filter(|id| id.number() != scenario.id.value.number());
        let mut missing: BTreeSet<_> = planned
            .into_iter()
            .chain(elsewhere)
            .filter(|id| id.arm().is_some() && scenario.arm(id).is_none())
            .collect();
        for (id, span) in context.ids(list.value.span) {
            if missing.remove(&id) {
                let message = format!("{id} is listed as an arm and has no block");
                let help = format!(
                    "write `#### Arm {id}: <name>` with its Oracle and §7.M, or which arm covers it and why: `{id} \
                     collapsed into S…/<arm> — <reason>`"
                );
                out.push(report("arm-incomplete", span, message, help));
            }
        }
    }
}

/// An arm stands in its scenario.
pub(super) fn arm_misplaced(context: &Context<'_>, out: &mut Told) {
    for scenario in &context.plan.scenarios {
        for arm in scenario.arms.iter().filter(|arm| arm.id.value.number() != scenario.id.value.number()) {
            let (own, id) = (&scenario.id.value, &arm.id.value);
            let message = format!("the arm {id} stands in {own}");
            let help = format!("call it {own}/{}, or move it", id.arm().unwrap_or("…"));
            out.push(report("arm-misplaced", arm.id.span, message, help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_show_their_class() {
        let check = |text: &str, expect: &[&str]| assert_eq!(shown_by_example(text), expect, "{text}");
        check("`Acme` and `acme`", &["case folding"]);
        check("`acme`, `acme-corp`", &["prefix collision"]);
        check("`acme` and `acme `", &["trailing whitespace or control characters"]);
        check("Acme and acme", &[]);
        check("`acme`, `globex`, `acme`", &[]);
    }

    #[test]
    fn surfaces_are_counted_and_a_reason_is_no_surface() {
        let check = |value: &str, expect: (usize, bool)| {
            let flat = value.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
            assert_eq!(counted(value, &flat), expect, "{value}");
        };
        check("public API, Go SDK, export job", (3, false));
        check("public API (v1, v2) and SDK", (2, false));
        check("- api\n- sdk\n- jobs\n- metrics", (4, false));
        check("api — the only way in, because nothing else listens", (1, true));
        check("api", (1, false));
        check("api; sdk; cli. The exports are out of scope (§8).", (3, true));
    }
}
