//! What a scenario of a plan declares, in the words of the attribute (D16). A field that the plan's prose does not
//! yield, or that breaks a rule of the format, is left open: its scenario stays NOT-RUN. Nothing is guessed.

use crate::author::Wanted;
use crate::author::attribute::{Attribute, Checker, Fault};
use crate::plan_file::PlanFile;
use crate::workspace::{Placed, Workspace};
use disttest_runtime::base::diagnostic::{Diagnostic, Severity};
use disttest_runtime::plan::{self, Category, Resolved, Scenario, Tier};
use std::collections::HashSet;

/// Rules whose violation leaves a field of the attribute open.
const OPENS: [(&str, &[&str]); 17] = [
    ("missing-budgets", &["budget"]),
    ("unreadable-budget", &["budget"]),
    ("budget-not-stronger", &["budget"]),
    ("release-budget", &["budget"]),
    ("release-not-stronger", &["budget"]),
    ("checker-misfit", &["checkers"]),
    ("checker-scope-conflict", &["checkers"]),
    ("idempotency-key-is-op-id", &["checkers"]),
    ("landing-injector-only", &["landing"]),
    ("landing-victim-only", &["landing"]),
    ("landing-missing", &["landing"]),
    ("landing-misfit", &["landing"]),
    ("landing-not-evidence", &["landing"]),
    ("misspelt-checker", &["checkers"]),
    ("misspelt-nemesis", &["nemesis", "landing"]),
    ("no-fault-without-reason", &["nemesis", "landing"]),
    ("model-block-contradicts", &["model", "checkers"]),
];

/// Rules without which there is no attribute to write.
const REFUSES: [&str; 8] = [
    "duplicate-id",
    "undefined-id",
    "unknown-category",
    "scenario-without-claim",
    "unreadable-id-list",
    "surfaces-missing",
    "surfaces-field",
    "unreadable-scenario",
];

/// The file of `scenario`; `None` when the diagnostics say why there can be none.
pub(crate) fn scenario(
    workspace: &Workspace,
    plan: &PlanFile,
    scenario: &Scenario,
    placed: &Placed,
) -> (Option<Wanted>, Vec<Diagnostic>) {
    let (resolved, mut told) = plan::resolve(&plan.plan, scenario);
    let inside = about(plan, scenario);
    let refused = inside.iter().filter(|diagnostic| REFUSES.contains(&diagnostic.rule.as_str()));
    told.extend(refused.map(|diagnostic| (*diagnostic).clone()));
    told.extend(no_claim(&plan.plan, scenario));
    let Some(name) = workspace.plan_name(&plan.path, &placed.member) else {
        told.push(error(scenario, "plan-outside", "a test names its plan, so the plan must stand in the workspace"));
        return (None, told);
    };
    if told.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return (None, told);
    }
    let rules: Vec<&str> = inside.iter().map(|diagnostic| diagnostic.rule.as_str()).collect();
    let attribute = Attribute {
        plan: name,
        plan_sha256: plan.sha256.clone(),
        scenario_sha256: plan::scenario_digest(&plan.plan, scenario),
        ..attribute(&plan.plan, scenario, &resolved, &rules)
    };
    let prose = |label: &str| scenario.field(label).map(|field| field.value.clone()).unwrap_or_default();
    let wanted = Wanted {
        name: resolved.name,
        attribute,
        generator: concat!("cargo-disttest ", env!("CARGO_PKG_VERSION")).to_owned(),
        workload: prose("Workload"),
        faults: prose(plan::FAULTS),
        oracle: prose(plan::ORACLE),
    };
    (Some(wanted), told)
}

/// The plan's diagnostics that stand in the scenario or in a claim it falsifies.
fn about<'a>(plan: &'a PlanFile, scenario: &Scenario) -> Vec<&'a Diagnostic> {
    // All claims of an id: where it is defined twice, what is told stands at the second.
    let named: HashSet<_> = scenario.falsifies.iter().map(|id| &id.value).collect();
    let claims = plan.plan.claims.iter().filter(|claim| named.contains(&claim.id.value));
    let spans: Vec<_> =
        claims.flat_map(|claim| [claim.id.span, claim.category_text.span]).chain([scenario.span]).collect();
    let stands = |diagnostic: &&Diagnostic| {
        let at = diagnostic.span.start;
        spans.iter().any(|span| (span.start..span.end).contains(&at))
    };
    plan.diagnostics.iter().filter(stands).collect()
}

/// What the attribute cannot do without: claims with categories.
fn no_claim(plan: &plan::Plan, scenario: &Scenario) -> Vec<Diagnostic> {
    if scenario.falsifies.is_empty() {
        return vec![error(scenario, "scenario-without-claim", "the scenario falsifies no claim")];
    }
    let unknown = scenario.falsifies.iter().filter(|id| {
        plan.claim(&id.value).is_none_or(|claim| claim.categories.is_empty() || !claim.unknown_categories.is_empty())
    });
    unknown
        .map(|id| {
            let message = format!("{} has no category of the format", id.value);
            Diagnostic { span: id.span, ..error(scenario, "unknown-category", &message) }
        })
        .collect()
}

fn error(scenario: &Scenario, rule: &str, message: &str) -> Diagnostic {
    let message = format!("{}: {message}", scenario.id.value);
    Diagnostic {
        rule: rule.to_owned(),
        severity: Severity::Error,
        message,
        span: scenario.id.span,
        help: None,
        edits: Vec::new(),
    }
}

/// The attribute, but for what names the plan.
fn attribute(plan: &plan::Plan, scenario: &Scenario, resolved: &Resolved, rules: &[&str]) -> Attribute {
    let mut open: Vec<&str> =
        OPENS.iter().filter(|(rule, _)| rules.contains(rule)).flat_map(|(_, f)| f.iter().copied()).collect();
    let serious = scenario.is_serious(plan);
    if serious && resolved.model.is_none() {
        open.push("model");
    }
    if serious && resolved.checkers.is_empty() {
        open.push("checkers");
    }
    if resolved.fault == plan::Fault::Unresolved {
        open.extend(["nemesis", "landing"]);
    }
    let criteria = scenario.field(plan::EXIT_CRITERIA).map(|field| field.value.clone());
    let legacy = resolved.budgets.is_none() && criteria.is_some();
    if legacy {
        open.retain(|field| *field != "budget");
    } else if resolved.budgets.as_ref().is_none_or(|budgets| asks_for_nothing(budgets, &resolved.fault)) {
        open.push("budget");
    }
    open.sort_unstable();
    open.dedup();
    let is_open = |field: &str| open.contains(&field);
    let checker = |(name, per_key): &(String, bool)| Checker { name: name.clone(), per_key: *per_key, custom: false };
    Attribute {
        id: resolved.id.to_string(),
        plan: String::new(),
        plan_sha256: String::new(),
        scenario_sha256: String::new(),
        falsifies: resolved.falsifies.iter().map(|(id, categories)| (id.to_string(), categories.clone())).collect(),
        model: resolved.model.clone().filter(|_| !is_open("model")),
        checkers: resolved.checkers.iter().filter(|_| !is_open("checkers")).map(checker).collect(),
        fault: fault(&resolved.fault, is_open("nemesis"), is_open("landing")),
        budgets: resolved.budgets.clone().filter(|_| !is_open("budget")),
        exit_criteria: criteria.filter(|_| legacy),
        negative_controls: negative_controls(scenario, resolved),
        unresolved: open.iter().map(|&field| field.to_owned()).collect(),
    }
}

fn fault(resolved: &plan::Fault, open_nemesis: bool, open_landing: bool) -> Fault {
    let keep = |names: &[String], open: bool| if open { Vec::new() } else { names.to_vec() };
    match resolved {
        plan::Fault::NoFault { reason } => Fault::None(reason.clone()),
        plan::Fault::Unresolved => Fault::Planned { nemeses: Vec::new(), injector: Vec::new(), victim: Vec::new() },
        plan::Fault::Planned { nemeses, injector, victim } => Fault::Planned {
            nemeses: keep(nemeses, open_nemesis),
            injector: keep(injector, open_landing),
            victim: keep(victim, open_landing),
        },
    }
}

/// A budget with an empty dimension, or one whose faults contradict the plan's.
fn asks_for_nothing(budgets: &plan::Budgets, fault: &plan::Fault) -> bool {
    let no_fault = matches!(fault, plan::Fault::NoFault { .. });
    let tiers = [(Tier::Smoke, &budgets.smoke), (Tier::Hardening, &budgets.hardening)];
    let empty = |budget: &plan::Budget| budget.nodes == 0 || budget.seconds == 0 || budget.seeds == 0;
    let faults = |(tier, budget): &(Tier, &plan::Budget)| match no_fault {
        true => budget.faults > 0,
        false => *tier == Tier::Hardening && budget.faults == 0,
    };
    tiers.iter().any(|tier| empty(tier.1) || faults(tier))
        || !budgets.hardening.not_stronger_than(&budgets.smoke).is_empty()
        || matches!(&budgets.release, plan::Release::Budget(release) if empty(release))
}

/// §7.M.S of a scenario without arms: what must be denied.
fn negative_controls(scenario: &Scenario, resolved: &Resolved) -> Vec<String> {
    let gated =
        resolved.falsifies.iter().any(|(_, categories)| categories.iter().any(|c: &Category| c.gates_surfaces()));
    let fields = scenario.surfaces.iter().flatten().filter(|field| field.label == "Negative controls");
    let texts = fields.map(|field| field.value.value.clone()).filter(|text| gated && !text.trim().is_empty());
    texts.collect()
}
