//! The gates of the plan format. Each names the token to blame and what the format wants.

use crate::ast::{Attribute, Budgets, Errors, Falsified, Release, Tier, Word};
use crate::names::{self, CATEGORIES, CHECKERS, MODELS};
use crate::parse::DIMENSIONS;
use proc_macro2::Span;
use syn::LitStr;

pub(crate) fn gates(attribute: &Attribute, function: &syn::ItemFn, errors: &mut Errors) {
    let whole = function.sig.ident.span();
    identity(attribute, whole, errors);
    attribute.falsifies.iter().for_each(|falsified| claim(falsified, errors));
    if attribute.falsifies.is_empty() && !attribute.unreadable {
        errors.add(
            whole,
            "`falsifies(\"C1\": safety)` is missing: a scenario names the claims of §1b that it falsifies if it FAILs",
        );
    }
    unresolved(attribute, errors);
    model_block(attribute, whole, errors);
    surfaces(attribute, errors);
    arm_function(attribute, &function.sig.ident, errors);
    model(attribute, errors);
    checkers(attribute, errors);
    fault(attribute, whole, errors);
    budget(attribute, whole, errors);
}

impl Attribute {
    fn is_written(&self, field: &str) -> bool {
        self.seen.iter().any(|word| word.text == field)
    }

    fn is_serious(&self) -> bool {
        let gated = |word: &Word| CATEGORIES.iter().any(|(name, gates)| *name == word.text && *gates);
        self.is_arm() || self.falsifies.iter().flat_map(|falsified| &falsified.categories).any(gated)
    }

    /// An arm of a scenario, by its id.
    pub(crate) fn is_arm(&self) -> bool {
        self.id.as_ref().is_some_and(|id| id.value().contains('/'))
    }
}

fn identity(attribute: &Attribute, whole: Span, errors: &mut Errors) {
    let required = [
        ("id", "id = \"S1\"", "the scenario's id in §7 of the plan"),
        ("plan", "plan = \"docs/testing-plans/….md\"", "the plan the scenario stands in"),
        (
            "plan_sha256",
            "plan_sha256 = \"…\"",
            "the digest of the plan at generation; `cargo disttest author` writes it",
        ),
        (
            "scenario_sha256",
            "scenario_sha256 = \"…\"",
            "the digest that tells drift; `cargo disttest author` writes it",
        ),
    ];
    for (field, example, what) in required {
        if !attribute.is_written(field) {
            errors.add(whole, format!("`{example}` is missing: {what}"));
        }
    }
    if let Some(id) = attribute.id.as_ref().filter(|id| !is_scenario_id(&id.value())) {
        errors.add(id.span(), format!("`{}` is no scenario id: write `S3`, or `S5/api` for an arm", id.value()));
    }
    if let Some(plan) = attribute.plan.as_ref() {
        let path = plan.value();
        if path.is_empty() || path.starts_with('/') || path.split(['/', '\\']).any(|part| part == "..") {
            errors.add(plan.span(), "the plan's path is relative to the package or the repository, without `..`");
        }
    }
    for digest in [&attribute.plan_sha256, &attribute.scenario_sha256].into_iter().flatten() {
        let text = digest.value();
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
            errors.add(
                digest.span(),
                "a digest is 64 lower-case hexadecimal digits; run `cargo disttest author` to write it",
            );
        }
    }
}

fn is_scenario_id(text: &str) -> bool {
    let (head, arm) = text.split_once('/').map_or((text, None), |(head, arm)| (head, Some(arm)));
    let number = head.strip_prefix('S').unwrap_or_default();
    let arm_ok = |arm: &str| !arm.is_empty() && arm.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    // The canonical spelling: `S01` and `S1` would be two tests of one scenario.
    !number.is_empty()
        && !number.starts_with('0')
        && number.bytes().all(|b| b.is_ascii_digit())
        && arm.is_none_or(arm_ok)
}

fn claim(falsified: &Falsified, errors: &mut Errors) {
    let id = falsified.claim.value();
    let number = id.strip_prefix('C').unwrap_or_default();
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
        errors.add(falsified.claim.span(), format!("`{id}` is no claim id: §1b numbers claims `C1`, `C2`, …"));
    }
    if falsified.categories.is_empty() {
        errors.add(falsified.claim.span(), format!("`{id}` needs a category, such as `\"{id}\": safety`"));
    }
    for word in &falsified.categories {
        let known: Vec<&str> = CATEGORIES.iter().map(|(name, _)| *name).collect();
        if !known.contains(&word.text.as_str()) {
            let near =
                names::nearest(&word.text, &known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            errors
                .add(word.span, format!("`{}` is no claim category{near} Categories: {}", word.text, known.join(", ")));
        }
    }
}

fn unresolved(attribute: &Attribute, errors: &mut Errors) {
    for name in &attribute.unresolved {
        let field = name.value();
        let may_be_open = ["model", "checkers", "nemesis", "landing", "budget"];
        if !may_be_open.contains(&field.as_str()) {
            errors.add(
                name.span(),
                format!("`{field}` cannot be left unresolved; these can: {}", may_be_open.join(", ")),
            );
        } else if attribute.is_written(&field) {
            errors.add(name.span(), format!("`{field}` is written, so it is not unresolved: remove it here"));
        }
    }
}

/// §7.M: mandatory when a falsified claim has a gated category, and for every arm.
fn model_block(attribute: &Attribute, whole: Span, errors: &mut Errors) {
    if !attribute.is_serious() {
        return;
    }
    let because = serious_because(attribute);
    if !attribute.has("model") {
        errors.add(
            whole,
            format!("`model = register` is missing: {because}, so §7.M is mandatory and names the model under test"),
        );
    }
    if !attribute.has("checkers") {
        let message = format!(
            "`checkers(\"linearizability\" per_key)` is missing: {because}, so §7.M is mandatory and names a checker"
        );
        errors.add(whole, message);
    }
}

fn serious_because(attribute: &Attribute) -> String {
    if attribute.is_arm() {
        return "an arm is always serious".to_owned();
    }
    let gated = |falsified: &&Falsified| {
        falsified.categories.iter().any(|w| CATEGORIES.iter().any(|(name, gates)| *name == w.text && *gates))
    };
    let first = attribute.falsifies.iter().find(gated);
    first.map_or_else(String::new, |falsified| {
        let category =
            falsified.categories.iter().find(|w| CATEGORIES.iter().any(|(name, gates)| *name == w.text && *gates));
        format!("{} has the category {}", falsified.claim.value(), category.map_or("", |word| &word.text))
    })
}

/// §7.M.S: a boundary or fairness claim is tested by arms, or at least with negative controls. An arm of a boundary claim
/// names its surface and what must be denied there.
fn surfaces(attribute: &Attribute, errors: &mut Errors) {
    let word =
        attribute.falsifies.iter().flat_map(|f| &f.categories).find(|w| w.text == "boundary" || w.text == "fairness");
    if let Some(word) = word.filter(|_| !attribute.is_arm() && attribute.negative_controls.is_empty()) {
        let message = format!(
            "a {} claim needs §7.M.S: split the scenario into arms (`id = \"S5/api\"`), or name what must be denied: \
             `negative_controls(\"tenant B lists tenant A's keys\")`",
            word.text
        );
        errors.add(word.span, message);
    }
    let boundary = attribute.falsifies.iter().flat_map(|f| &f.categories).find(|word| word.text == "boundary");
    if let Some(word) = boundary.filter(|_| attribute.is_arm()) {
        arm_of_boundary(attribute, word, errors);
    }
    match &attribute.surface {
        Some(surface) if !attribute.is_arm() => errors
            .add(surface.span(), "`surface` belongs to an arm: write `id = \"S5/api\"`, with the plan's id of the arm"),
        Some(surface) if surface.value().trim().is_empty() => errors
            .add(surface.span(), "an empty `surface` is none: name what the arm goes through, such as `public API`"),
        _ => {}
    }
    for control in attribute.negative_controls.iter().filter(|control| control.value().trim().is_empty()) {
        errors.add(
            control.span(),
            "an empty negative control controls nothing: say what must be denied and unobservable",
        );
    }
}

fn arm_of_boundary(attribute: &Attribute, word: &Word, errors: &mut Errors) {
    if !attribute.has("surface") {
        let message = "`surface = \"…\"` is missing: an arm of a boundary claim names the surface that it goes through, such \
                       as `surface = \"public API\"`";
        errors.add(word.span, message);
    }
    if !attribute.has("negative_controls") || (attribute.negative_controls.is_empty() && !attribute.unreadable) {
        let message = "`negative_controls(\"…\")` is missing: an arm of a boundary claim names what must be denied and \
                       unobservable through its surface";
        errors.add(word.span, message);
    }
}

/// `<scenario>__<arm>`, so that a list of tests shows which scenario an arm belongs to.
fn arm_function(attribute: &Attribute, function: &syn::Ident, errors: &mut Errors) {
    let Some(id) = attribute.id.as_ref().filter(|id| is_scenario_id(&id.value())) else { return };
    let id = id.value();
    let Some((_, arm)) = id.split_once('/') else { return };
    let slug = slug(arm);
    let name = function.to_string();
    let scenario = name.strip_suffix(&slug).and_then(|rest| rest.strip_suffix("__"));
    if scenario.is_none_or(str::is_empty) {
        errors.add(function.span(), format!("the function of arm `{id}` is named `<scenario>__{slug}`"));
    }
}

/// Letters and digits in lower case, anything else as one `_`: as `cargo disttest author` names it.
fn slug(arm: &str) -> String {
    let words = arm.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("_")
}

fn model(attribute: &Attribute, errors: &mut Errors) {
    let Some(model) = &attribute.model else { return };
    if model.other {
        if model.name.text.trim().is_empty() {
            errors.add(model.name.span, "`other(\"…\")` names your own model");
        }
    } else if !MODELS.contains(&model.name.text.as_str()) {
        let name = &model.name.text;
        let near = names::nearest(name, &MODELS).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let known = MODELS.join(", ");
        errors.add(
            model.name.span,
            format!("`{name}` is no model of §7.M{near} Models: {known}; one of your own is `other(\"{name}\")`"),
        );
    }
}

fn checkers(attribute: &Attribute, errors: &mut Errors) {
    let known: Vec<&str> = CHECKERS.iter().map(|(name, _)| *name).collect();
    for (index, checker) in attribute.checkers.iter().enumerate() {
        let name = checker.name.value();
        if attribute.checkers[..index].iter().any(|earlier| earlier.name.value() == name) {
            errors.add(checker.name.span(), format!("checker `{name}` is declared twice"));
        }
        match CHECKERS.iter().find(|(candidate, _)| *candidate == name) {
            Some(_) if checker.custom => {
                errors.add(
                    checker.name.span(),
                    format!("`{name}` is a checker of the catalogue: write `\"{name}\"` without `custom`"),
                );
            }
            Some((_, models)) => fit(attribute, &checker.name, models, errors),
            None if checker.custom && !name.trim().is_empty() => {}
            None => {
                let near =
                    names::nearest(&name, &known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                let message = format!(
                    "`{name}` is no checker{near} Checkers: {}; one of your own is `custom(\"{name}\")`",
                    known.join(", ")
                );
                errors.add(checker.name.span(), message);
            }
        }
    }
    if attribute.checkers.is_empty()
        && !attribute.unreadable
        && attribute.is_written("checkers")
        && attribute.is_serious()
    {
        let span =
            attribute.seen.iter().find(|word| word.text == "checkers").map_or_else(Span::call_site, |word| word.span);
        errors.add(span, "`checkers()` names no checker: nothing would judge the history");
    }
}

fn fit(attribute: &Attribute, checker: &LitStr, models: &[&str], errors: &mut Errors) {
    let Some(model) =
        attribute.model.as_ref().filter(|model| !model.other && MODELS.contains(&model.name.text.as_str()))
    else {
        return;
    };
    if !models.is_empty() && !models.contains(&model.name.text.as_str()) {
        let (name, model) = (checker.value(), &model.name.text);
        errors.add(
            checker.span(),
            format!("checker `{name}` does not fit model `{model}`; it fits {}", models.join(", ")),
        );
    }
}

fn fault(attribute: &Attribute, whole: Span, errors: &mut Errors) {
    match (&attribute.no_fault, attribute.has("nemesis")) {
        (None, false) => {
            let message = "`nemesis(\"…\")` is missing: name the planned fault, or say why there is none: `no_fault = \"<reason>\"`";
            return errors.add(whole, message);
        }
        (Some(reason), true) => {
            errors.add(reason.span(), "`no_fault` beside `nemesis`: a scenario plans a fault or it does not")
        }
        (Some(reason), false) if reason.value().trim().is_empty() => {
            errors.add(reason.span(), "`no_fault` needs a reason: why does this scenario plan no fault?");
        }
        _ => {}
    }
    if attribute.no_fault.is_some() {
        if let Some(landing) = &attribute.landing {
            errors.add(landing.span, "`landing` beside `no_fault`: without a fault nothing lands");
        }
        return;
    }
    nemeses(attribute, errors);
    landing(attribute, whole, errors);
}

fn nemeses(attribute: &Attribute, errors: &mut Errors) {
    if attribute.nemeses.is_empty() && !attribute.unreadable && attribute.is_written("nemesis") {
        let span =
            attribute.seen.iter().find(|word| word.text == "nemesis").map_or_else(Span::call_site, |word| word.span);
        errors.add(span, "`nemesis()` names no fault; write its name, or `no_fault = \"<reason>\"`");
    }
    for (index, nemesis) in attribute.nemeses.iter().enumerate() {
        let name = nemesis.value();
        let kebab = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        if !name.split(" + ").all(kebab) {
            errors.add(
                nemesis.span(),
                format!(
                    "`{name}` is no nemesis name: names are lower-case words joined by `-`, such as `hard-kill`; those that act \
                     together are joined by ` + `"
                ),
            );
        }
        if attribute.nemeses[..index].iter().any(|earlier| earlier.value() == name) {
            errors.add(nemesis.span(), format!("nemesis `{name}` is declared twice"));
        }
    }
}

/// A planned fault counts only when a signal moved on both sides.
fn landing(attribute: &Attribute, whole: Span, errors: &mut Errors) {
    if attribute.is_unresolved("landing") {
        return;
    }
    let Some(landing) = &attribute.landing else {
        if !attribute.is_written("landing") {
            let message = "`landing(injector(\"…\"), victim(\"…\"))` is missing: a planned fault counts only when a declared signal \
                           moved on the injector's side and one on a victim's side";
            errors.add(whole, message);
        }
        return;
    };
    for (side, signals, example) in
        [("injector", &landing.injector, "proxy-dropped-bytes"), ("victim", &landing.victim, "client-timeouts")]
    {
        if signals.is_empty() {
            let message = format!("landing evidence on the {side}'s side is missing: `{side}(\"{example}\")`");
            errors.add(landing.span, message);
        }
    }
    landing.injector.iter().for_each(|signal| evidence(signal, "injector", names::is_victim_signal, errors));
    landing.victim.iter().for_each(|signal| evidence(signal, "victim", names::is_injector_signal, errors));
    for signal in landing.victim.iter().filter(|v| landing.injector.iter().any(|i| i.value() == v.value())) {
        errors
            .add(signal.span(), format!("`{}` stands on both sides: one signal cannot confirm itself", signal.value()));
    }
}

fn evidence(signal: &LitStr, side: &str, is_other_side: fn(&str) -> bool, errors: &mut Errors) {
    let name = signal.value();
    if names::is_no_evidence(&name) {
        errors.add(
            signal.span(),
            format!("`{name}` is no landing evidence: that the injector reported success proves nothing"),
        );
    } else if names::is_blank(&name) {
        let least = names::SHORTEST_MARKER;
        let message = format!(
            "`{name}` says nothing: `metric:` needs a name, and `log-marker:` a text of at least {least} characters that \
             no other line of the log holds"
        );
        errors.add(signal.span(), message);
    } else if is_other_side(&name) {
        errors.add(
            signal.span(),
            format!("`{name}` is read on the other side of the fault: it is no evidence for the {side}"),
        );
    }
}

fn budget(attribute: &Attribute, whole: Span, errors: &mut Errors) {
    match (&attribute.budgets, &attribute.exit_criteria) {
        (Some(budgets), Some(_)) => {
            errors.add(budgets.span, "`budget` replaces `exit_criteria`: remove the legacy field")
        }
        (Some(budgets), None) => tiers(attribute, budgets, errors),
        (None, Some(text)) if text.value().trim().is_empty() => errors.add(text.span(), "`exit_criteria` is empty"),
        (None, None) if !attribute.has("budget") => {
            let message = "`budget(smoke(…), hardening(…), release = \"…\")` is missing: without budgets a run proves no tier \
                           (a legacy plan writes `exit_criteria = \"…\"` and is capped at PASS-smoke)";
            errors.add(whole, message);
        }
        _ => {}
    }
}

fn tiers(attribute: &Attribute, budgets: &Budgets, errors: &mut Errors) {
    let required = [("smoke", budgets.smoke.as_ref()), ("hardening", budgets.hardening.as_ref())];
    for (name, tier) in required {
        match tier {
            None => errors.add(
                budgets.span,
                format!("the `{name}(nodes = …, seconds = …, faults = …, seeds = …)` budget is missing"),
            ),
            Some(tier) => dimensions(name, tier, errors),
        }
    }
    match &budgets.release {
        None => errors.add(
            budgets.span,
            "the release budget is missing: `release(…)`, or the disclosure `release = \"not provided — <reason>. Revisit when: <condition>.\"`",
        ),
        Some(Release::Budget(tier)) => dimensions("release", tier, errors),
        Some(Release::NotProvided(text)) => disclosure(text, errors),
    }
    if let (Some(smoke), Some(hardening)) = (&budgets.smoke, &budgets.hardening) {
        stronger(attribute, smoke, hardening, errors);
    }
}

fn dimensions(name: &str, tier: &Tier, errors: &mut Errors) {
    for dimension in DIMENSIONS.iter().filter(|dimension| **dimension != "operations") {
        match tier.get(dimension) {
            None => errors.add(tier.span, format!("`{dimension}` is missing in the {name} budget")),
            Some(0) if *dimension != "faults" => {
                errors.add(tier.span, format!("`{dimension} = 0` in the {name} budget asks for nothing"))
            }
            Some(_) => {}
        }
    }
}

/// "Strictly stronger than smoke on every dimension".
fn stronger(attribute: &Attribute, smoke: &Tier, hardening: &Tier, errors: &mut Errors) {
    for (word, hard) in &hardening.numbers {
        let soft = smoke.get(&word.text).unwrap_or(0);
        let no_fault_planned = word.text == "faults" && attribute.no_fault.is_some() && (soft, *hard) == (0, 0);
        if *hard <= soft && !no_fault_planned {
            let name = &word.text;
            let message = format!(
                "hardening `{name} = {hard}` is not stronger than smoke `{name} = {soft}`: every dimension must grow"
            );
            errors.add(word.span, message);
        }
    }
    if let Some((word, _)) =
        smoke.numbers.iter().find(|(word, _)| word.text == "operations" && hardening.get("operations").is_none())
    {
        errors.add(word.span, "smoke asks for operations but hardening does not: every dimension must grow");
    }
    if attribute.no_fault.is_some() {
        for (word, number) in smoke.numbers.iter().chain(&hardening.numbers).filter(|(word, _)| word.text == "faults") {
            if *number > 0 {
                errors.add(word.span, "`faults` of a scenario with `no_fault` is 0");
            }
        }
    } else if hardening.get("faults") == Some(0) && smoke.get("faults") == Some(0) {
        errors.add(hardening.span, "a planned fault and `faults = 0` in both tiers: no run could prove the fault");
    }
}

fn disclosure(text: &LitStr, errors: &mut Errors) {
    let value = text.value();
    let body = ["not provided — ", "not provided -- ", "not provided - "]
        .iter()
        .find_map(|head| value.trim().strip_prefix(head));
    let parts = body.and_then(|body| body.split_once("Revisit when:"));
    if !parts
        .is_some_and(|(reason, condition)| !reason.trim().is_empty() && condition.trim_matches(['.', ' ']).len() > 2)
    {
        errors.add(
            text.span(),
            "a release budget is numbers, or exactly `not provided — <reason>. Revisit when: <condition>.`",
        );
    }
}
