//! The `#[disttest_runtime::scenario(…)]` attribute of a scenario, as values and as text.

use super::prose::{literal, one_line};
use disttest_runtime::plan::{Budget, Budgets, Category, Release};

/// What the plan declares, in the words of the attribute. What could not be read from the plan is absent here and
/// named in `unresolved`, which keeps the scenario NOT-RUN: nothing is guessed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Attribute {
    /// `S1`, `S5/api`.
    pub id: String,
    /// Plan path relative to the package or one of its ancestors, with `/`.
    pub plan: String,
    /// Digest of the plan's bytes.
    pub plan_sha256: String,
    /// Digest of the scenario.
    pub scenario_sha256: String,
    /// Claims with their categories.
    pub falsifies: Vec<(String, Vec<Category>)>,
    /// Model under test; `other(name)` for one of the author's own.
    pub model: Option<String>,
    /// Checkers.
    pub checkers: Vec<Checker>,
    /// The planned fault.
    pub fault: Fault,
    /// Budgets.
    pub budgets: Option<Budgets>,
    /// Text of a legacy plan in place of budgets.
    pub exit_criteria: Option<String>,
    /// Surface that an arm covers.
    pub surface: Option<String>,
    /// What must be denied and unobservable.
    pub negative_controls: Vec<String>,
    /// Fields that the plan's prose did not yield.
    pub unresolved: Vec<String>,
}

/// A declared checker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checker {
    /// Its name.
    pub name: String,
    /// Each key is checked for itself.
    pub per_key: bool,
    /// Not one of the runtime's.
    pub custom: bool,
}

/// The planned fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nemeses and the signals that must move; an empty list is unresolved.
    Planned {
        /// Nemeses.
        nemeses: Vec<String>,
        /// Injector's side.
        injector: Vec<String>,
        /// Victim's side.
        victim: Vec<String>,
    },
    /// None, for this reason.
    None(String),
}

impl Attribute {
    /// The attribute as rustfmt leaves it.
    pub(crate) fn text(&self) -> String {
        let mut fields = vec![
            format!("id = {}", literal(&self.id)),
            format!("plan = {}", literal(&self.plan)),
            format!("plan_sha256 = {}", literal(&self.plan_sha256)),
            format!("scenario_sha256 = {}", literal(&self.scenario_sha256)),
        ];
        fields.extend(call("falsifies", self.falsifies.iter().map(falsified)));
        fields.extend(self.model.as_deref().map(model));
        fields.extend(call("checkers", self.checkers.iter().map(checker)));
        fields.extend(fault(&self.fault));
        fields.extend(self.surface.as_deref().map(|surface| format!("surface = {}", literal(surface))));
        fields.extend(call("negative_controls", literals(&self.negative_controls)));
        fields.extend(self.budgets.as_ref().map(budget));
        let criteria = self.exit_criteria.as_deref().filter(|_| self.budgets.is_none());
        fields.extend(criteria.map(|text| format!("exit_criteria = {}", literal(text))));
        fields.extend(call("unresolved", literals(&self.unresolved)));
        let fields: String = fields.iter().map(|field| format!("    {field},\n")).collect();
        format!("#[disttest_runtime::scenario(\n{fields})]")
    }
}

/// `name(a, b)`; nothing when there is nothing to list.
fn call(name: &str, items: impl Iterator<Item = String>) -> Option<String> {
    let items: Vec<String> = items.collect();
    (!items.is_empty()).then(|| format!("{name}({})", items.join(", ")))
}

fn literals(texts: &[String]) -> impl Iterator<Item = String> {
    texts.iter().map(|text| literal(text))
}

fn falsified((claim, categories): &(String, Vec<Category>)) -> String {
    let words: Vec<&str> = categories.iter().map(|category| category.as_str()).collect();
    match words.as_slice() {
        [word] => format!("{}: {word}", literal(claim)),
        words => format!("{}: ({})", literal(claim), words.join(", ")),
    }
}

fn model(name: &str) -> String {
    match name.strip_prefix("other(").and_then(|rest| rest.strip_suffix(')')) {
        Some(own) => format!("model = other({})", literal(own)),
        // A known model is a word of the format; anything else could carry code and is quoted.
        None if name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') => format!("model = {name}"),
        None => format!("model = {}", literal(name)),
    }
}

fn checker(checker: &Checker) -> String {
    let name = literal(&checker.name);
    let name = if checker.custom { format!("custom({name})") } else { name };
    if checker.per_key { format!("{name} per_key") } else { name }
}

fn fault(fault: &Fault) -> Vec<String> {
    match fault {
        Fault::None(reason) => vec![format!("no_fault = {}", literal(reason))],
        Fault::Planned { nemeses, injector, victim } => {
            let sides = [call("injector", literals(injector)), call("victim", literals(victim))];
            let landing = call("landing", sides.into_iter().flatten());
            call("nemesis", literals(nemeses)).into_iter().chain(landing).collect()
        }
    }
}

fn budget(budgets: &Budgets) -> String {
    let release = match &budgets.release {
        Release::Budget(numbers) => tier("release", numbers),
        Release::NotProvided { reason, revisit } => {
            let (reason, revisit) = (one_line(reason), one_line(revisit));
            let text = format!("not provided — {}. Revisit when: {}.", bare(&reason), bare(&revisit));
            format!("release = {}", literal(&text))
        }
    };
    format!(
        "budget(\n        {},\n        {},\n        {release},\n    )",
        tier("smoke", &budgets.smoke),
        tier("hardening", &budgets.hardening),
    )
}

fn bare(text: &str) -> &str {
    text.trim_end_matches(['.', ' '])
}

fn tier(name: &str, numbers: &Budget) -> String {
    let Budget { nodes, seconds, faults, seeds, operations } = numbers;
    let operations = if *operations == 0 { String::new() } else { format!(", operations = {operations}") };
    format!("{name}(nodes = {nodes}, seconds = {seconds}, faults = {faults}, seeds = {seeds}{operations})")
}
