//! What a scenario of a plan declares, in the words of the attribute (D16). A field that the plan's prose does not
//! yield, or that breaks a rule of the format, is left open: its scenario stays NOT-RUN. Nothing is guessed.

use crate::author::attribute::{Attribute, Checker, Fault};
use crate::author::{Arm as ArmFunction, Wanted};
use crate::plan_file::PlanFile;
use crate::workspace::{Placed, Workspace};
use disttest_runtime::base::diagnostic::{Diagnostic, Severity, Span};
use disttest_runtime::plan::{self, Arm, Id, Resolved, Scenario, Tier};
use std::collections::HashSet;

/// Rules whose violation leaves a field of the attribute open.
const OPENS: [(&str, &[&str]); 18] = [
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
    ("unresolved-landing", &["landing"]),
    ("landing-misfit", &["landing"]),
    ("landing-not-evidence", &["landing"]),
    ("misspelt-checker", &["checkers"]),
    ("misspelt-nemesis", &["nemesis", "landing"]),
    ("no-fault-without-reason", &["nemesis", "landing"]),
    ("model-block-contradicts", &["model", "checkers"]),
];

/// Rules without which there is no attribute to write.
const REFUSES: [&str; 9] = [
    "duplicate-id",
    "undefined-id",
    "unknown-category",
    "scenario-without-claim",
    "unreadable-id-list",
    "surfaces-missing",
    "surfaces-field",
    "unreadable-scenario",
    "placeholder",
];

/// The file of `scenario`; `None` when the diagnostics say why there can be none.
pub(crate) fn scenario(
    workspace: &Workspace,
    plan: &PlanFile,
    scenario: &Scenario,
    placed: &Placed,
) -> (Option<Wanted>, Vec<Diagnostic>) {
    let (resolved, told) = plan::resolve(&plan.plan, scenario);
    let inside = about(plan, scenario);
    let claims: Vec<Id> = scenario.falsifies.iter().map(|id| id.value.clone()).collect();
    let told = [told, no_claim(&plan.plan, scenario, &claims)].concat();
    let (named, told) = stand(workspace, plan, scenario, placed, &inside, told);
    let Some(named) = named else { return (None, told) };
    let attribute = named.of(attribute(&plan.plan, scenario, None, &resolved, &rules(&inside)));
    (Some(file(scenario, attribute, Vec::new())), told)
}

/// The file of those of the scenario's arms that belong into one file; `None` when the diagnostics say why there can be
/// none. The attribute of the file itself says what its header does; it is no function's.
pub(crate) fn arms(
    workspace: &Workspace,
    plan: &PlanFile,
    scenario: &Scenario,
    placed: &Placed,
    arms: &[&Arm],
) -> (Option<Wanted>, Vec<Diagnostic>) {
    let resolved: Vec<(Resolved, Vec<Diagnostic>)> =
        arms.iter().map(|arm| plan::resolve_arm(&plan.plan, scenario, arm)).collect();
    let inside = about(plan, scenario);
    let unfounded = |resolved: &Resolved| {
        let claims: Vec<Id> = resolved.falsifies.iter().map(|(id, _)| id.clone()).collect();
        no_claim(&plan.plan, scenario, &claims)
    };
    let mut told: Vec<Diagnostic> = Vec::new();
    for (resolved, own) in &resolved {
        told.extend(own.iter().cloned());
        // What the arms inherit is told once.
        let unfounded: Vec<Diagnostic> = unfounded(resolved).into_iter().filter(|d| !told.contains(d)).collect();
        told.extend(unfounded);
    }
    let (named, told) = stand(workspace, plan, scenario, placed, &inside, told);
    let Some(named) = named else { return (None, told) };
    let function = |(arm, (resolved, _)): (&&Arm, &(Resolved, Vec<Diagnostic>))| {
        let inside = without_other_arms(&inside, scenario, arm);
        let prose = |label: &str| arm.field(scenario, label).map(|field| field.value.clone()).unwrap_or_default();
        ArmFunction {
            name: arm.id.value.arm().unwrap_or_default().to_owned(),
            attribute: named.of(attribute(&plan.plan, scenario, Some(arm), resolved, &rules(&inside))),
            workload: prose(WORKLOAD),
            faults: prose(plan::FAULTS),
            oracle: arm.own(plan::ORACLE).map(|field| field.value.clone()).unwrap_or_default(),
            seeds: Default::default(),
        }
    };
    let functions: Vec<ArmFunction> = arms.iter().zip(&resolved).map(function).collect();
    let whole = plan::resolve(&plan.plan, scenario).0;
    let header = named.of(attribute(&plan.plan, scenario, None, &whole, &[]));
    (Some(file(scenario, header, functions)), told)
}

const WORKLOAD: &str = "Workload";

fn file(scenario: &Scenario, attribute: Attribute, arms: Vec<ArmFunction>) -> Wanted {
    let prose = |label: &str| scenario.field(label).map(|field| field.value.clone()).unwrap_or_default();
    Wanted {
        name: scenario.name.value.clone(),
        attribute,
        generator: concat!("cargo-disttest ", env!("CARGO_PKG_VERSION")).to_owned(),
        workload: prose(WORKLOAD),
        faults: prose(plan::FAULTS),
        oracle: prose(plan::ORACLE),
        seeds: Default::default(),
        arms,
    }
}

/// The plan as a test of one package names it.
struct Named {
    plan: String,
    plan_sha256: String,
    scenario_sha256: String,
}

impl Named {
    fn of(&self, attribute: Attribute) -> Attribute {
        Attribute {
            plan: self.plan.clone(),
            plan_sha256: self.plan_sha256.clone(),
            scenario_sha256: self.scenario_sha256.clone(),
            ..attribute
        }
    }
}

/// The names of the plan in a test of `placed`, if nothing forbids the test; and all there is to say.
fn stand(
    workspace: &Workspace,
    plan: &PlanFile,
    scenario: &Scenario,
    placed: &Placed,
    inside: &[&Diagnostic],
    mut told: Vec<Diagnostic>,
) -> (Option<Named>, Vec<Diagnostic>) {
    let refused = inside.iter().filter(|diagnostic| REFUSES.contains(&diagnostic.rule.as_str()));
    told.extend(refused.map(|diagnostic| (*diagnostic).clone()));
    let Some(name) = workspace.plan_name(&plan.path, &placed.member) else {
        told.push(error(scenario, "plan-outside", "a test names its plan, so the plan must stand in the workspace"));
        return (None, told);
    };
    let refused = told.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let named = (!refused).then(|| Named {
        plan: name,
        plan_sha256: plan.sha256.clone(),
        scenario_sha256: plan::scenario_digest(&plan.plan, scenario),
    });
    (named, told)
}

fn rules<'a>(diagnostics: &[&'a Diagnostic]) -> Vec<&'a str> {
    diagnostics.iter().map(|diagnostic| diagnostic.rule.as_str()).collect()
}

/// `diagnostics` but for those that stand in the block of another arm.
fn without_other_arms<'a>(diagnostics: &[&'a Diagnostic], scenario: &Scenario, arm: &Arm) -> Vec<&'a Diagnostic> {
    let ends = |start: usize| {
        let later = scenario.arms.iter().map(|other| other.id.span.start).filter(|other| *other > start);
        later.min().unwrap_or(scenario.span.end)
    };
    let block = |arm: &Arm| Span::new(arm.id.span.start, ends(arm.id.span.start));
    let others: Vec<Span> = scenario.arms.iter().filter(|other| other.id.span != arm.id.span).map(block).collect();
    let elsewhere = |at: usize| others.iter().any(|span| (span.start..span.end).contains(&at));
    diagnostics.iter().copied().filter(|diagnostic| !elsewhere(diagnostic.span.start)).collect()
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
fn no_claim(plan: &plan::Plan, scenario: &Scenario, claims: &[Id]) -> Vec<Diagnostic> {
    if claims.is_empty() {
        return vec![error(scenario, "scenario-without-claim", "the scenario falsifies no claim")];
    }
    let unknown = claims.iter().filter(|id| {
        plan.claim(id).is_none_or(|claim| claim.categories.is_empty() || !claim.unknown_categories.is_empty())
    });
    unknown
        .map(|id| {
            let span = scenario.falsifies.iter().find(|named| named.value == *id).map(|named| named.span);
            let message = format!("{id} has no category of the format");
            let told = error(scenario, "unknown-category", &message);
            Diagnostic { span: span.unwrap_or(told.span), ..told }
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
fn attribute(
    plan: &plan::Plan,
    scenario: &Scenario,
    arm: Option<&Arm>,
    resolved: &Resolved,
    rules: &[&str],
) -> Attribute {
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
    let criteria = arm.map_or(scenario.field(plan::EXIT_CRITERIA), |arm| arm.field(scenario, plan::EXIT_CRITERIA));
    let criteria = criteria.map(|field| field.value.clone());
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
        surface: arm.map(|arm| arm.surface().to_owned()),
        negative_controls: scenario.negative_controls(plan, arm),
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
