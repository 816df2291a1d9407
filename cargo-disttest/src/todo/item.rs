//! What is left to do for a plan: an item for each region and each field, gathered from the plan and the test files.

use super::fills::{Fill, Known};
use super::offers::{self, Offer};
use super::sibling::{Sibling, Tests};
use super::snippets::Helper;
use super::support::{self, Program, Support};
use crate::author::regions::{self, Pieces, Region};
use crate::author::write;
use crate::author::{FileChange, file_change, frame};
use crate::new::crates::Crates;
use crate::plan_file::PlanFile;
use crate::targets::Target;
use crate::workspace::Member;
use disttest_runtime::plan::{self, Plan, Resolved, Scenario};
use disttest_runtime::report::escape::shell;
use serde::Serialize;
use std::path::Path;

/// Something to write.
#[derive(Debug, Serialize)]
pub(crate) struct Item {
    /// The plan's file.
    pub plan: String,
    /// The scenario or arm.
    pub scenario: String,
    /// Its name.
    pub name: String,
    /// `region` (in the test file) or `field` (of the attribute; to be written in the plan).
    pub kind: &'static str,
    /// Name of the region, or of the field.
    pub region: String,
    /// The test file.
    pub file: String,
    /// Lines of the begin and of the end marker.
    pub lines: Option<(usize, usize)>,
    /// The package of the file.
    pub package: String,
    /// What the plan says for it.
    pub prose: String,
    /// Claims that the scenario falsifies if it FAILs.
    pub claims: Vec<Claim>,
    /// Hypotheses that it closes.
    pub hypotheses: Vec<Hypothesis>,
    /// A test worth imitating.
    pub sibling: Option<Sibling>,
    /// The whole region, made from the names that the plan uses for this scenario.
    pub fill: Option<Fill>,
    /// Code that the fill and the snippets of the offers name as their helpers, each once.
    pub helpers: Vec<Helper>,
    /// Why there is no fill, or what is left in the region.
    pub note: Option<String>,
    /// What the runtime has for it, what the plan names first.
    pub offers: Vec<Offer>,
    /// What is wrong with the file as a whole.
    pub drift: Option<String>,
    /// What checks the work.
    pub commands: Commands,
}

/// A claim in full.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Claim {
    /// Its id.
    pub id: String,
    /// The promise.
    pub text: String,
    /// What kinds of promise it is.
    pub categories: Vec<String>,
}

/// A hypothesis in full.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Hypothesis {
    /// Its id.
    pub id: String,
    /// What goes wrong.
    pub title: String,
    /// How, in a sentence.
    pub text: String,
}

/// Commands that check the work, in the order in which to run them.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Commands {
    /// Nothing is left to fill, and nothing drifted.
    pub check: String,
    /// It runs.
    pub test: String,
}

/// A scenario whose file is not written.
#[derive(Debug, Serialize)]
pub(crate) struct NotAuthored {
    /// The plan's file.
    pub plan: String,
    /// The scenario.
    pub scenario: String,
    /// Its name.
    pub name: String,
    /// Where its file goes, if the plan says so.
    pub file: Option<String>,
    /// Why it is not written.
    pub why: String,
    /// What to run, or to run after the plan was corrected.
    pub command: String,
}

/// What is left to do for one plan.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// Things to write.
    pub items: Vec<Item>,
    /// Scenarios without a file.
    pub not_authored: Vec<NotAuthored>,
    /// Scenarios with nothing left, and whether their file drifted from the plan.
    pub filled: Vec<Filled>,
}

/// A scenario with nothing left to fill.
#[derive(Debug, Serialize)]
pub(crate) struct Filled {
    /// The plan's file.
    pub plan: String,
    /// The scenario.
    pub scenario: String,
    /// Its file.
    pub file: String,
    /// What is wrong with the file as a whole.
    pub drift: Option<String>,
    /// What puts it right.
    pub command: Option<String>,
}

/// What every item of a package shares.
#[derive(Debug)]
pub(crate) struct Package {
    tests: Tests,
    program: Program,
}

impl Package {
    /// The package of `member`.
    pub(crate) fn of(member: &Member, crates: &Crates) -> Package {
        let found = crates.all.iter().find(|one| one.root == member.root);
        let helper = found.and_then(|one| support::program_of_a_dependency(one, &crates.all));
        let binary = found.and_then(|one| {
            let own = |bin: &&String| **bin == one.name;
            let name = one.bins.iter().find(own).or(one.bins.first())?.clone();
            let others = one.bins.iter().filter(|bin| **bin != name).cloned().collect();
            Some(Program::Binary { name, others })
        });
        let program = helper.map(Program::Helper).or(binary).unwrap_or(Program::Unknown);
        Package { tests: Tests::of(&member.root), program }
    }
}

/// One test file and everything it is compared with.
pub(crate) struct Subject<'a> {
    /// The plan.
    pub plan: &'a PlanFile,
    /// The scenario's file and what it should say.
    pub target: &'a Target,
    /// Its package.
    pub package: &'a Package,
    /// Names a file for people.
    pub shown: &'a dyn Fn(&Path) -> String,
}

impl Subject<'_> {
    /// Adds what is left to do for it.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(crate) fn look(&self, left: &mut Left) -> Result<(), String> {
        let path = self.target.placed.path();
        let id = self.target.wanted.attribute.id.clone();
        let (plan, file) = (self.plan.shown.clone(), (self.shown)(&path));
        let text = write::read(&path)?;
        let author = format!("cargo disttest author {}", shell(&plan));
        let change = file_change(&self.target.wanted, text.as_deref(), &|_| None);
        let (drift, fields) = match &change {
            FileChange::Create { .. } => (None, Vec::new()),
            FileChange::UpToDate { unfilled } => (None, unfilled.clone()),
            FileChange::Update { unfilled, .. } => {
                (Some(format!("it is not what the plan says: run `{author}`")), unfilled.clone())
            }
            FileChange::Conflict { reason, .. } => (Some(format!("{reason}: run `{author}`")), Vec::new()),
        };
        let pieces = text.as_deref().and_then(|text| Some((text, regions::parse(text).ok()?)));
        let ours = pieces.filter(|(_, pieces)| self.is_ours(pieces));
        let Some((text, pieces)) = ours else {
            let why = drift.unwrap_or_else(|| "its test file is not written yet".to_owned());
            let name = self.target.wanted.name.clone();
            let command = format!("{author} --scenario {}", shell(&id));
            left.not_authored.push(NotAuthored { plan, scenario: id, name, file: Some(file), why, command });
            return Ok(());
        };
        let before = left.items.len();
        let fields = fields.iter().filter_map(|one| {
            // `attribute model`, or of an arm `api/attribute model`.
            let (arm, field) = one.name.rsplit_once("attribute ")?;
            (arm.is_empty() || arm.ends_with('/')).then_some((arm, field))
        });
        left.items.extend(fields.map(|(arm, field)| self.field(arm, field, drift.as_ref())));
        let open: Vec<&Region<'_>> = pieces.regions.iter().filter(|region| !region.is_filled()).collect();
        if !open.is_empty() {
            let placed = &self.target.placed;
            let support = support::find(&placed.member.root, &placed.relative);
            left.items.extend(open.iter().map(|region| self.region(region, text, support.as_ref(), drift.as_ref())));
        }
        if left.items.len() == before {
            let command = drift.is_some().then_some(author);
            left.filled.push(Filled { plan, scenario: id, file, drift, command });
        }
        Ok(())
    }

    /// `author` wrote it for this scenario.
    fn is_ours(&self, pieces: &Pieces<'_>) -> bool {
        let id = pieces.header_line("Scenario:").and_then(|line| line.split(' ').next());
        pieces.header_line("AUTO-GENERATED from test plan:").is_some()
            && id == Some(self.target.wanted.attribute.id.as_str())
    }

    fn region(&self, region: &Region<'_>, text: &str, support: Option<&Support>, drift: Option<&String>) -> Item {
        let plan = &self.plan.plan;
        let owner = self.owner(region.name);
        let known = Known {
            resolved: &owner.resolved,
            workload: owner.field("Workload"),
            program: &self.package.program,
            support,
            arm: owner.arm.as_deref(),
        };
        let prose = match region.name.rsplit('/').next() {
            Some("workload") => owner.field("Workload").to_owned(),
            Some("faults") => owner.field(plan::FAULTS).to_owned(),
            Some("oracle") => owner.field(plan::ORACLE).to_owned(),
            _ => "imports, types and functions that the other regions need".to_owned(),
        };
        let (fill, why) = match known.fill(region.name) {
            Some(Ok(fill)) => (Some(fill), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        let left = left_in(region, text);
        let note =
            why.or_else(|| (fill.is_none() || left.len() > 1).then(|| left.join("; "))).filter(|n| !n.is_empty());
        let told = owner.told(plan);
        let path = self.target.placed.path();
        let sibling = self.package.tests.sibling(&path, region.name, &told, self.shown);
        let offers = offers::of(&known, region.name);
        Item {
            kind: "region",
            region: region.name.to_owned(),
            lines: Some((region.line, region.end_line(text))),
            helpers: helpers(fill.as_ref(), &offers),
            offers,
            prose,
            sibling,
            fill,
            note,
            ..self.item(&owner, drift)
        }
    }

    /// A field of the attribute that the plan's prose does not yield: it is written in the plan.
    fn field(&self, arm: &str, field: &str, drift: Option<&String>) -> Item {
        let owner = self.owner(arm);
        let label = match field {
            "model" => "Model under test",
            "checkers" => "Checker",
            "nemesis" | "landing" => "Nemesis + landing evidence",
            _ => "Smoke budget",
        };
        let prose = owner.block(label).or_else(|| Some(owner.field(label))).unwrap_or_default().to_owned();
        let span = owner.scenario.map(|scenario| scenario.span);
        let stands = |at: usize| span.is_some_and(|span| (span.start..span.end).contains(&at));
        let about = |rule: &str| match field {
            "model" => rule.contains("model"),
            "checkers" => rule.contains("checker") || rule.contains("idempotency"),
            "nemesis" | "landing" => {
                ["fault", "landing", "nemesis"].iter().any(|word| rule.contains(word)) && !rule.contains("budget")
            }
            _ => rule.contains("budget") || rule.contains("release"),
        };
        let mut help: Vec<String> = Vec::new();
        for told in self.plan.diagnostics.iter().filter(|told| stands(told.span.start) && about(&told.rule)) {
            let line = match &told.help {
                Some(text) => format!("{}: {text}", told.message),
                None => told.message.clone(),
            };
            if !help.contains(&line) {
                help.push(line);
            }
        }
        let author = format!("then `cargo disttest author {}`", shell(&self.plan.shown));
        let note = format!("to be written in the plan, at `{label}`; {author}. {}", help.join("; "));
        Item {
            kind: "field",
            region: format!("{arm}{field}"),
            note: Some(note.trim_end().to_owned()),
            prose,
            ..self.item(&owner, drift)
        }
    }

    fn item(&self, owner: &Owner<'_>, drift: Option<&String>) -> Item {
        let placed = &self.target.placed;
        let file = (self.shown)(&placed.path());
        let stem = Path::new(&placed.relative).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let target = placed.test_target().map(str::to_owned).or(stem).unwrap_or_default();
        let test = match &owner.arm {
            None => frame::function_name(&self.target.wanted.name),
            Some(arm) => format!("{}__{}", frame::function_name(&self.target.wanted.name), frame::function_name(arm)),
        };
        Item {
            plan: self.plan.shown.clone(),
            scenario: owner.id.clone(),
            name: owner.resolved.name.clone(),
            kind: "region",
            region: String::new(),
            file,
            lines: None,
            package: placed.member.name.clone(),
            prose: String::new(),
            claims: owner.claims(&self.plan.plan),
            hypotheses: owner.hypotheses(&self.plan.plan),
            sibling: None,
            fill: None,
            helpers: Vec::new(),
            note: None,
            offers: Vec::new(),
            drift: drift.cloned(),
            commands: Commands {
                check: format!("cargo disttest author {} --check", shell(&self.plan.shown)),
                test: format!(
                    "cargo test -p {} --test {} {}",
                    shell(&placed.member.name),
                    shell(&target),
                    shell(&test)
                ),
            },
        }
    }

    /// Whose region it is: the scenario's, or an arm's (`api/workload`).
    fn owner(&self, region: &str) -> Owner<'_> {
        let plan = &self.plan.plan;
        let id = self.target.wanted.attribute.id.as_str();
        let bare = id.split('/').next().unwrap_or(id);
        let scenario = plan.scenarios.iter().find(|one| one.id.value.to_string() == bare);
        let arm = region.rsplit_once('/').map(|(arm, _)| arm).or(id.split_once('/').map(|(_, arm)| arm));
        Owner::of(plan, scenario, arm, id)
    }
}

/// The helpers of a fill and of all snippets, each once.
fn helpers(fill: Option<&Fill>, offers: &[Offer]) -> Vec<Helper> {
    let mut all: Vec<Helper> = Vec::new();
    for helper in
        fill.into_iter().chain(offers.iter().filter_map(|offer| offer.snippet.as_ref())).flat_map(|f| &f.helpers)
    {
        if !all.iter().any(|known| known.name == helper.name) {
            all.push(helper.clone());
        }
    }
    all
}

/// What is left to write in a region: the names in its `todo!`s, with their lines.
fn left_in(region: &Region<'_>, text: &str) -> Vec<String> {
    let first = region.end_line(text) - region.body.lines().count();
    let marks = region.body.lines().enumerate().filter_map(|(at, line)| {
        let rest = line.split_once("todo!(")?.1;
        Some((first + at, rest.split('"').nth(1).unwrap_or("something").to_owned()))
    });
    marks.map(|(line, name)| format!("line {line}: {name}")).collect()
}

/// A scenario or an arm of it.
struct Owner<'a> {
    id: String,
    arm: Option<String>,
    scenario: Option<&'a Scenario>,
    arm_of: Option<&'a plan::Arm>,
    resolved: Resolved,
}

impl<'a> Owner<'a> {
    fn of(plan: &'a Plan, scenario: Option<&'a Scenario>, arm: Option<&str>, id: &str) -> Owner<'a> {
        let named =
            |one: &&plan::Arm| one.id.value.to_string().split_once('/').is_some_and(|(_, name)| Some(name) == arm);
        let arm_of = scenario.and_then(|scenario| scenario.arms.iter().find(named));
        let resolved = match (scenario, arm_of) {
            (Some(scenario), Some(arm)) => plan::resolve_arm(plan, scenario, arm).0,
            (Some(scenario), None) => plan::resolve(plan, scenario).0,
            (None, _) => nothing(id),
        };
        let id = if scenario.is_some() { resolved.id.to_string() } else { id.to_owned() };
        Owner { id, arm: arm_of.and(arm).map(str::to_owned), scenario, arm_of, resolved }
    }

    /// The text of a field, an arm's own or the scenario's; empty when there is none.
    fn field(&self, label: &str) -> &'a str {
        let own = self.arm_of.and_then(|arm| arm.fields.iter().find(|field| field.label == label)).map(|f| &f.value);
        let own = own.filter(|value| !value.value.is_empty());
        own.or_else(|| self.scenario.and_then(|scenario| scenario.field(label)))
            .map_or("", |value| value.value.as_str())
    }

    /// The text of a field of §7.M.
    fn block(&self, label: &str) -> Option<&'a str> {
        let block = match self.arm_of {
            Some(arm) => arm.model_block.as_ref(),
            None => self.scenario.and_then(|scenario| scenario.model_block.as_ref()),
        }?;
        let field = match label {
            "Model under test" => &block.model,
            "Checker" => &block.checker,
            "Nemesis + landing evidence" => &block.nemesis,
            _ => return None,
        };
        field.as_ref().map(|field| field.value.as_str())
    }

    fn claims(&self, plan: &Plan) -> Vec<Claim> {
        let full = |(id, categories): &(plan::Id, Vec<plan::Category>)| Claim {
            id: id.to_string(),
            text: plan.claim(id).map(|claim| claim.text.value.clone()).unwrap_or_default(),
            categories: categories.iter().map(ToString::to_string).collect(),
        };
        self.resolved.falsifies.iter().map(full).collect()
    }

    fn hypotheses(&self, plan: &Plan) -> Vec<Hypothesis> {
        let closes = self.scenario.map(|scenario| scenario.closes.as_slice()).unwrap_or_default();
        let full = |id: &plan::Id| {
            let known = plan.hypothesis(id);
            Hypothesis {
                id: id.to_string(),
                title: known.map(|known| known.title.clone()).unwrap_or_default(),
                text: known.map(|known| known.text.clone()).unwrap_or_default(),
            }
        };
        closes.iter().map(|id| full(&id.value)).collect()
    }

    /// Everything the plan tells of it, for likeness with tests.
    fn told(&self, plan: &Plan) -> String {
        let fields = ["Workload", plan::FAULTS, plan::ORACLE].map(|label| self.field(label).to_owned());
        let claims = self.claims(plan).into_iter().map(|claim| claim.text);
        let name = self.resolved.name.replace('_', " ");
        fields.into_iter().chain(claims).chain([name]).collect::<Vec<_>>().join(" ")
    }
}

/// What is resolved of a scenario that the plan does not have: nothing.
fn nothing(id: &str) -> Resolved {
    Resolved {
        id: plan::Id::parse(id).or_else(|| plan::Id::parse("S0")).expect("S0 is an id"),
        name: String::new(),
        falsifies: Vec::new(),
        model: None,
        checkers: Vec::new(),
        fault: plan::Fault::Unresolved,
        budgets: None,
    }
}
