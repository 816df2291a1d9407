//! The test files of a plan: which scenario goes where, and what its file declares.

use crate::author::foreign::Foreign;
use crate::author::frame::{arm_function, slug};
use crate::author::language::Language;
use crate::author::{Wanted, skeleton, target};
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
    /// Scenarios and arms without a file that `run` could run: (id, why).
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

    /// What stands in the way of a scenario that has no place: the errors that stand in it, else the first of all. Of
    /// placeholders, each is named.
    pub(crate) fn refusal(&self, scenario: &Scenario) -> Option<String> {
        const MOST: usize = 3;
        let inside = |at: usize| (scenario.span.start..scenario.span.end).contains(&at);
        let errors = || self.diagnostics.iter().filter(|told| told.severity == Severity::Error);
        let first = errors().find(|told| inside(told.span.start)).or_else(|| errors().next())?;
        let like = |told: &&Diagnostic| told.rule == first.rule && inside(told.span.start);
        let more = errors().filter(like).count().saturating_sub(MOST);
        if first.rule != "placeholder" || !inside(first.span.start) {
            return Some(first.message.clone());
        }
        let all: Vec<&str> = errors().filter(like).map(|told| told.message.as_str()).take(MOST).collect();
        let names: Vec<&str> = all.iter().filter_map(|message| message.split('`').nth(1)).collect();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Some(format!("placeholders of the template are not filled: {}{more}", names.join(", ")))
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
        found.order.extend(asked.then(|| scenario.id.value.to_string()));
        let is_wanted = |arm: &&Arm| plan.asks_for(ids, &arm.id.value);
        if asked && let Some(collision) = collision(scenario) {
            found.diagnostics.push(collision);
            continue;
        }
        for File { placed, language, arms } in places(workspace, plan, scenario, asked, &mut found) {
            let id = scenario.id.value.to_string();
            if let Some((_, other)) = taken.iter().find(|(other, _)| other.path() == placed.path()) {
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
            match (wanted, language) {
                (None, _) => {}
                (Some(wanted), Language::Rust) => found.rust(plan, scenario, placed, wanted, &arms),
                (Some(wanted), language) => found.foreign(scenario, placed, wanted, language),
            }
        }
    }
    Ok(found)
}

impl Found {
    fn rust(&mut self, plan: &PlanFile, scenario: &Scenario, placed: Placed, wanted: Wanted, arms: &[&Arm]) {
        let (wanted, notes, skeleton) = planted(plan, scenario, wanted, arms);
        for note in notes {
            let note = warning("skeleton", note.message, note.span, &note.help);
            // Two files of one scenario say the same of its skeleton.
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.targets.push(Target { placed, wanted, skeleton });
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

/// `wanted` with what the plan's skeletons say, what there is to tell about them, and whether there is one.
pub(crate) fn planted(
    plan: &PlanFile,
    scenario: &Scenario,
    wanted: Wanted,
    arms: &[&Arm],
) -> (Wanted, Vec<skeleton::Note>, bool) {
    if arms.is_empty() {
        let (wanted, notes) = skeleton::plant(wanted, &plan.text, scenario.skeleton.as_ref());
        return (wanted, notes, scenario.skeleton.is_some());
    }
    let skeletons = skeleton::ArmSkeletons::of(scenario, arms);
    let (wanted, notes) = skeleton::plant_arms(wanted, &plan.text, &skeletons);
    (wanted, notes, skeletons.any())
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

/// A file of a scenario.
struct File<'p> {
    placed: Placed,
    language: Language,
    /// The arms in it; none for a scenario without arms.
    arms: Vec<&'p Arm>,
}

/// Where the scenario's files are, each with the arms in it (none for a scenario without arms). Parts without a place are
/// told in `found` when the scenario was asked for.
fn places<'p>(
    workspace: &Workspace,
    plan: &PlanFile,
    scenario: &'p Scenario,
    asked: bool,
    found: &mut Found,
) -> Vec<File<'p>> {
    let parts: Vec<Option<&Arm>> = match scenario.arms.is_empty() {
        true => vec![None],
        false => scenario.arms.iter().map(Some).collect(),
    };
    let mut files: Vec<File<'_>> = Vec::new();
    for arm in parts {
        match place(workspace, plan, scenario, arm) {
            Place::At(placed, language) => match files.iter_mut().find(|file| file.placed == placed) {
                Some(file) => file.arms.extend(arm),
                None => files.push(File { placed, language, arms: arm.into_iter().collect() }),
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
    At(Placed, Language),
    Nowhere(String),
    Refused(Diagnostic),
}

/// Where the scenario or its arm belongs: an arm's own target, else the scenario's.
fn place(workspace: &Workspace, plan: &PlanFile, scenario: &Scenario, arm: Option<&Arm>) -> Place {
    if arm.is_none() && !scenario.arm_ids().is_empty() {
        // One file for the whole would have no oracle of its own (D4): better none than one that judges too little.
        let arms: Vec<String> = scenario.arm_ids().iter().map(ToString::to_string).collect();
        let (list, first) = (arms.join(", "), &arms[0]);
        return Place::Nowhere(format!("its arms ({list}) are listed and have no block: write `#### Arm {first}: …`"));
    }
    let language = language(scenario, arm);
    if arm.is_some() && language != Language::Rust {
        let why = format!("its skeleton language is {}, and arms are written in Rust only", language.as_str());
        return Place::Nowhere(why);
    }
    let Some(named) = arm.and_then(|arm| arm.target.as_ref()).or(scenario.target.as_ref()) else {
        let nor = if arm.is_some() { ", nor has its scenario" } else { "" };
        let example = format!("write one, such as `tests/auto/{}{}`", scenario.id.value, language.suffixes()[0]);
        return Place::Nowhere(format!("it has no `Target test file`{nor} ({example})"));
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

/// The language of a test: as the plan says of the arm or the scenario, or as the target's name does; Rust when nothing
/// tells.
fn language(scenario: &Scenario, arm: Option<&Arm>) -> Language {
    let own = arm.and_then(|arm| arm.own(LANGUAGE)).or(scenario.skeleton_language.as_ref());
    let said = own.and_then(|language| Language::parse(&language.value));
    let shown = || {
        let target = arm.and_then(|arm| arm.target.as_ref()).or(scenario.target.as_ref())?.value.as_str();
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
