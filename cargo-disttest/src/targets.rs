//! The test files of a plan: which scenario goes where, and what its file declares.

use crate::author::frame::{arm_function, slug};
use crate::author::{Wanted, target};
use crate::declare;
use crate::exit_code::Failure;
use crate::plan_file::PlanFile;
use crate::workspace::{Placed, Workspace};
use disttest_runtime::base::diagnostic::{Diagnostic, Severity, Span};
use disttest_runtime::plan::{Arm, LANGUAGE, Scenario};

/// A Rust scenario with a place of its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Target {
    /// Where its file is.
    pub placed: Placed,
    /// What its file says.
    pub wanted: Wanted,
}

/// What a plan has for `author` and `run`.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// In plan order.
    pub targets: Vec<Target>,
    /// Scenarios and arms without a file of ours: (id, why).
    pub left_out: Vec<(String, String)>,
    /// What stands in the way.
    pub diagnostics: Vec<Diagnostic>,
}

impl Found {
    /// Something must be changed in the plan first.
    pub(crate) fn refused(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// The targets of the scenarios `ids` (none: of all).
///
/// # Errors
/// An id that the plan does not have.
pub(crate) fn find(workspace: &Workspace, plan: &PlanFile, ids: &[String]) -> Result<Found, Failure> {
    let mut found = Found::default();
    let mut taken: Vec<(Placed, String)> = Vec::new();
    let selected = plan.select(ids)?;
    // Every scenario is looked at: one that was not asked for may hold the target of one that was.
    for scenario in &plan.plan.scenarios {
        let asked = selected.iter().any(|selected| std::ptr::eq(*selected, scenario));
        let is_wanted = |arm: &&Arm| plan.asks_for(ids, &arm.id.value);
        if asked && let Some(collision) = collision(scenario) {
            found.diagnostics.push(collision);
            continue;
        }
        for (placed, arms) in places(workspace, plan, scenario, asked, &mut found) {
            let id = scenario.id.value.to_string();
            if let Some((_, other)) = taken.iter().find(|(other, _)| *other == placed) {
                let message = format!("target `{}` of {id} is taken by {other}", placed.relative);
                let named = arms.iter().find_map(|arm| arm.target.as_ref()).or(scenario.target.as_ref());
                let span = named.map_or(scenario.span, |target| target.span);
                found.diagnostics.push(error("target-taken", message, span, "give each scenario a file of its own"));
                continue;
            }
            taken.push((placed.clone(), id));
            if !asked || !(arms.is_empty() || arms.iter().any(is_wanted)) {
                continue;
            }
            let (wanted, diagnostics) = match arms.is_empty() {
                true => declare::scenario(workspace, plan, scenario, &placed),
                false => declare::arms(workspace, plan, scenario, &placed, &arms),
            };
            found.diagnostics.extend(diagnostics);
            found.targets.extend(wanted.map(|wanted| Target { placed, wanted }));
        }
    }
    Ok(found)
}

/// Where the scenario's files are, each with the arms in it (none for a scenario without arms). Parts without a place are
/// told in `found` when the scenario was asked for.
fn places<'p>(
    workspace: &Workspace,
    plan: &PlanFile,
    scenario: &'p Scenario,
    asked: bool,
    found: &mut Found,
) -> Vec<(Placed, Vec<&'p Arm>)> {
    let parts: Vec<Option<&Arm>> = match scenario.arms.is_empty() {
        true => vec![None],
        false => scenario.arms.iter().map(Some).collect(),
    };
    let mut files: Vec<(Placed, Vec<&Arm>)> = Vec::new();
    for arm in parts {
        match place(workspace, plan, scenario, arm) {
            Place::At(placed) => match files.iter_mut().find(|(known, _)| *known == placed) {
                Some((_, arms)) => arms.extend(arm),
                None => files.push((placed, arm.into_iter().collect())),
            },
            Place::Nowhere(why) if asked => {
                found.left_out.push((arm.map_or(&scenario.id, |arm| &arm.id).value.to_string(), why));
            }
            // Arms that inherit one bad target need not say so one by one.
            Place::Refused(diagnostic) if asked && !found.diagnostics.contains(&diagnostic) => {
                found.diagnostics.push(diagnostic);
            }
            Place::Nowhere(_) | Place::Refused(_) => {}
        }
    }
    files
}

/// Two arms of one function name, or an arm without any.
fn collision(scenario: &Scenario) -> Option<Diagnostic> {
    let slugs: Vec<String> = scenario.arms.iter().map(|arm| slug(arm.id.value.arm().unwrap_or_default())).collect();
    for (index, (arm, own)) in scenario.arms.iter().zip(&slugs).enumerate() {
        let id = &arm.id.value;
        if own.is_empty() {
            let message =
                format!("{id} has no letter or digit behind its slash, so that no function can be named after it");
            return Some(error(
                "duplicate-id",
                message,
                arm.id.span,
                "name the arm after its surface, such as `S5/api`",
            ));
        }
        if let Some(first) = slugs[..index].iter().position(|earlier| earlier == own) {
            let function = arm_function(&scenario.name.value, id.arm().unwrap_or_default());
            let message = format!("{id} and {} would both be the function `{function}`", scenario.arms[first].id.value);
            return Some(error("duplicate-id", message, arm.id.span, "rename one: letters and digits tell arms apart"));
        }
    }
    None
}

enum Place {
    At(Placed),
    Nowhere(String),
    Refused(Diagnostic),
}

/// Where the scenario or its arm belongs: an arm's own target, else the scenario's.
fn place(workspace: &Workspace, plan: &PlanFile, scenario: &Scenario, arm: Option<&Arm>) -> Place {
    let own = arm.and_then(|arm| arm.own(LANGUAGE)).or(scenario.skeleton_language.as_ref());
    let language = own.map(|language| language.value.trim().to_lowercase());
    if let Some(language) = language.filter(|language| language != "rust") {
        return Place::Nowhere(format!("its skeleton language is {language}"));
    }
    if arm.is_none() && !scenario.arm_ids().is_empty() {
        // One file for the whole would have no oracle of its own (D4): better none than one that judges too little.
        let arms: Vec<String> = scenario.arm_ids().iter().map(ToString::to_string).collect();
        let (list, first) = (arms.join(", "), &arms[0]);
        return Place::Nowhere(format!("its arms ({list}) are listed and have no block: write `#### Arm {first}: …`"));
    }
    let Some(named) = arm.and_then(|arm| arm.target.as_ref()).or(scenario.target.as_ref()) else {
        let nor = if arm.is_some() { ", nor has its scenario" } else { "" };
        return Place::Nowhere(format!("it has no `Target test file`{nor}"));
    };
    let refuse = |why: String| {
        let message = format!("target `{}` is refused: {why}", named.value);
        let help = "write a path below the package, such as `tests/auto/S1_<slug>.rs`";
        Place::Refused(error("target-outside", message, named.span, help))
    };
    let relative = match target::lexical(&named.value) {
        Ok(relative) => relative,
        Err(why) => return refuse(why),
    };
    let Some(placed) = workspace.place(&plan.path, &relative) else {
        return refuse("no package of the workspace holds it (`-p` names one)".to_owned());
    };
    match target::place(&placed.relative).and_then(|()| target::no_symlink(&placed.member.root, &placed.relative)) {
        Ok(()) => Place::At(placed),
        Err(why) => refuse(why),
    }
}

fn error(rule: &str, message: String, span: Span, help: &str) -> Diagnostic {
    Diagnostic {
        rule: rule.to_owned(),
        severity: Severity::Error,
        message,
        span,
        help: Some(help.to_owned()),
        edits: Vec::new(),
    }
}
