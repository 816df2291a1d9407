//! The test files of a plan: which scenario goes where, and what its file declares.

use crate::author::foreign::Foreign;
use crate::author::language::Language;
use crate::author::{Wanted, skeleton, target};
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
    /// The plan has a skeleton for it.
    pub skeleton: bool,
}

/// A scenario whose test is written in another language, with a place of its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ForeignTarget {
    /// Where its file is.
    pub placed: Placed,
    /// What its file says.
    pub foreign: Foreign,
}

/// What a plan has for `author` and `run`.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Ids of the scenarios that were asked for, in plan order.
    pub order: Vec<String>,
    /// In plan order.
    pub targets: Vec<Target>,
    /// Tests that `author` writes and `run` does not run, in plan order; each is in `left_out`, too.
    pub foreign: Vec<ForeignTarget>,
    /// Scenarios without a file that `run` could run: (id, why).
    pub left_out: Vec<(String, String)>,
    /// What stands in the way.
    pub diagnostics: Vec<Diagnostic>,
    /// What stands in the way of one scenario's file only: `author` refuses that one and writes the others.
    pub refusals: Vec<(String, Diagnostic)>,
    /// What `author` made of the plan's skeletons.
    pub notes: Vec<Diagnostic>,
}

impl Found {
    /// Something must be changed in the plan first.
    pub(crate) fn refused(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Scenarios that `author` has no file for: (id, why).
    pub(crate) fn not_authored(&self) -> impl Iterator<Item = &(String, String)> {
        let written = |id: &String| self.foreign.iter().any(|target| target.foreign.wanted.attribute.id == *id);
        let refused = |id: &String| self.refusals.iter().any(|(refused, _)| refused == id);
        self.left_out.iter().filter(move |(id, _)| !written(id) && !refused(id))
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
        found.order.extend(asked.then(|| id.clone()));
        let (placed, language) = match place(workspace, plan, scenario) {
            Place::At(placed, language) => (placed, language),
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
        if let Some((_, other)) = taken.iter().find(|(other, _)| other.path() == placed.path()) {
            let message = format!("target `{}` of {id} is taken by {other}", placed.relative);
            let span = scenario.target.as_ref().map_or(scenario.span, |target| target.span);
            found.diagnostics.push(error("target-taken", message, span, "give each scenario a file of its own"));
            continue;
        }
        taken.push((placed.clone(), id.clone()));
        if asked {
            let (wanted, diagnostics) = declare::scenario(workspace, plan, scenario, &placed);
            found.diagnostics.extend(diagnostics);
            match (wanted, language) {
                (None, _) => {}
                (Some(wanted), Language::Rust) => found.rust(plan, scenario, placed, wanted),
                (Some(wanted), language) => found.foreign(scenario, placed, wanted, language),
            }
        }
    }
    Ok(found)
}

impl Found {
    fn rust(&mut self, plan: &PlanFile, scenario: &Scenario, placed: Placed, wanted: Wanted) {
        let (wanted, notes) = skeleton::plant(wanted, &plan.text, scenario.skeleton.as_ref());
        self.notes.extend(notes.into_iter().map(|note| warning("skeleton", note.message, note.span, &note.help)));
        self.targets.push(Target { placed, wanted, skeleton: scenario.skeleton.is_some() });
    }

    fn foreign(&mut self, scenario: &Scenario, placed: Placed, wanted: Wanted, language: Language) {
        let id = scenario.id.value.to_string();
        let own_runner = format!("its skeleton language is {}: run it with your own runner", language.as_str());
        self.left_out.push((id.clone(), own_runner));
        let Some(skeleton) = &scenario.skeleton else {
            return;
        };
        match Foreign::new(wanted, language, &skeleton.value) {
            Err((message, help)) => {
                let diagnostic = error("skeleton-header", format!("{id}: {message}"), skeleton.span, &help);
                self.refusals.push((id, diagnostic));
            }
            Ok(foreign) => {
                self.notes.extend(notes_on(&id, &foreign, skeleton.span));
                self.foreign.push(ForeignTarget { placed, foreign });
            }
        }
    }
}

/// What a skeleton in another language lacks.
fn notes_on(id: &str, foreign: &Foreign, span: Span) -> Vec<Diagnostic> {
    let note = |message: String, help: &str| warning("skeleton", format!("{id}: {message}"), span, help);
    let missing = foreign.missing_lines();
    let lines = format!("its skeleton's header lacks {}", quoted(&missing));
    let header = note(lines, "the header that `author` writes has all four lines; write them into the skeleton, too");
    let regions = note(
        "its skeleton has no three TODO comments: there are no regions to tell what is filled".to_owned(),
        "write `1. Workload — …`, `2. Faults — …` and `3. Oracle — …` as comments on lines of their own, in this order",
    );
    let found = [(!missing.is_empty(), header), (!foreign.has_regions(), regions)];
    found.into_iter().filter(|(holds, _)| *holds).map(|(_, note)| note).collect()
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

enum Place {
    At(Placed, Language),
    Nowhere(String),
    Refused(Diagnostic),
}

fn place(workspace: &Workspace, plan: &PlanFile, scenario: &Scenario) -> Place {
    if !scenario.arms.is_empty() {
        // One file for the whole would have no oracle of its own (D4): better none than one that judges too little.
        return Place::Nowhere("it has arms, and `author` and `run` know scenarios without arms only".to_owned());
    }
    let language = language(scenario);
    let Some(named) = &scenario.target else {
        let example = format!("write one, such as `tests/auto/{}{}`", scenario.id.value, language.suffixes()[0]);
        return Place::Nowhere(format!("it has no `Target test file` ({example})"));
    };
    if language != Language::Rust && scenario.skeleton.is_none() {
        return Place::Nowhere(format!(
            "its skeleton language is {} and it has no skeleton (write one as a fenced block under `Skeleton`; only \
             Rust tests are synthesized)",
            language.as_str()
        ));
    }
    let refuse = |why: String| {
        let message = format!("target `{}` is refused: {why}", named.value);
        let help = format!("write a path below the package, such as `tests/auto/S1_<slug>{}`", language.suffixes()[0]);
        Place::Refused(error("target-outside", message, named.span, &help))
    };
    let relative = match target::lexical(&named.value, language) {
        Ok(relative) => relative,
        Err(why) => return refuse(why),
    };
    let rust = language == Language::Rust;
    let placed = match rust {
        true => workspace.place(&plan.path, &relative),
        false => workspace.place_any(&plan.path, &relative),
    };
    let Some(placed) = placed else {
        return refuse("no package of the workspace holds it (`-p` names one)".to_owned());
    };
    let stands = if rust { target::place(&placed.relative) } else { target::foreign_place(&placed.relative) };
    match stands.and_then(|()| target::no_symlink(&placed.member.root, &placed.relative)) {
        Ok(()) => Place::At(placed, language),
        Err(why) => refuse(why),
    }
}

/// The language of a scenario's test: as the plan says, or as its target's name does; Rust when nothing tells.
fn language(scenario: &Scenario) -> Language {
    let said = scenario.skeleton_language.as_ref().and_then(|language| Language::parse(&language.value));
    let shown = || {
        let target = scenario.target.as_ref()?.value.as_str();
        let all = [Language::Rust, Language::Go, Language::Python, Language::TypeScript, Language::Shell];
        all.into_iter().find(|language| language.suffixes().iter().any(|suffix| target.ends_with(suffix)))
    };
    said.or_else(shown).unwrap_or(Language::Rust)
}

fn warning(rule: &str, message: String, span: Span, help: &str) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, ..error(rule, message, span, help) }
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
