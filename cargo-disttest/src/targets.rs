//! The test files of a plan: which scenario goes where, and what its file declares.

use crate::author::{Wanted, target};
use crate::declare;
use crate::exit_code::Failure;
use crate::plan_file::PlanFile;
use crate::workspace::{Placed, Workspace};
use disttest_runtime::base::diagnostic::{Diagnostic, Severity, Span};
use disttest_runtime::plan::Scenario;

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
    /// Scenarios without a file of ours: (id, why).
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
        let id = scenario.id.value.to_string();
        let placed = match place(workspace, plan, scenario) {
            Place::At(placed) => placed,
            Place::Nowhere(why) if asked => {
                found.left_out.push((id, why));
                continue;
            }
            Place::Refused(diagnostic) if asked => {
                found.diagnostics.push(diagnostic);
                continue;
            }
            Place::Nowhere(_) | Place::Refused(_) => continue,
        };
        if let Some((_, other)) = taken.iter().find(|(other, _)| *other == placed) {
            let message = format!("target `{}` of {id} is taken by {other}", placed.relative);
            let span = scenario.target.as_ref().map_or(scenario.span, |target| target.span);
            found.diagnostics.push(error("target-taken", message, span, "give each scenario a file of its own"));
            continue;
        }
        taken.push((placed.clone(), id.clone()));
        if asked {
            let (wanted, diagnostics) = declare::scenario(workspace, plan, scenario, &placed);
            found.diagnostics.extend(diagnostics);
            found.targets.extend(wanted.map(|wanted| Target { placed, wanted }));
        }
    }
    Ok(found)
}

enum Place {
    At(Placed),
    Nowhere(String),
    Refused(Diagnostic),
}

fn place(workspace: &Workspace, plan: &PlanFile, scenario: &Scenario) -> Place {
    let language = scenario.skeleton_language.as_ref().map(|language| language.value.trim().to_lowercase());
    if let Some(language) = language.filter(|language| language != "rust") {
        return Place::Nowhere(format!("its skeleton language is {language}"));
    }
    if !scenario.arms.is_empty() {
        // One file for the whole would have no oracle of its own (D4): better none than one that judges too little.
        return Place::Nowhere("it has arms, and `author` and `run` know scenarios without arms only".to_owned());
    }
    let Some(named) = &scenario.target else {
        return Place::Nowhere("it has no `Target test file`".to_owned());
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
