//! What is left to do for a plan: an item for each region and each field, gathered from the plan and the test files.

use super::fills::{Fill, Known};
use super::lacking::{Lacking, lacking};
use super::offers::{self, Offer};
use super::owner::{Claim, Hypothesis, Owner};
use super::sibling::{Sibling, Tests};
use super::snippets::Helper;
use super::support::{self, Program, Support};
use crate::author::language::Language;
use crate::author::regions::{self, Pieces, Region};
use crate::author::write;
use crate::author::{FileChange, Wanted, file_change, frame};
use crate::new::crates::Crates;
use crate::plan_file::PlanFile;
use crate::workspace::{Member, Placed};
use disttest_runtime::report::escape::shell;
use serde::Serialize;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

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
    /// First and last line to be replaced: what stands between the markers. Of an empty region the last one is that
    /// before the first.
    pub lines: Option<(usize, usize)>,
    /// The line before which helpers go: the end of the region `helpers`.
    pub helpers_before: Option<usize>,
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
    /// The code of every helper that the fill or a snippet of an offer names, each once. To look up the names: only
    /// those of the fill go with the fill.
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

/// Commands that check the work, in the order in which to run them.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Commands {
    /// Nothing is left to fill, and nothing drifted.
    pub check: String,
    /// It runs; none for a test in another language, which has a runner of its own.
    pub test: Option<String>,
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
    /// What filled oracles lack, each with its plan and file.
    pub lacking: Vec<(String, String, Lacking)>,
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
    root: PathBuf,
    /// By language, read when the first region asks.
    tests: [OnceCell<Tests>; 5],
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
        Package { root: member.root.clone(), tests: Default::default(), program }
    }

    /// Its tests in `language`.
    pub(super) fn tests(&self, language: Language) -> &Tests {
        self.tests[language as usize].get_or_init(|| Tests::of(&self.root, language))
    }
}

/// One test file and everything it is compared with.
pub(crate) struct Subject<'a> {
    /// The plan.
    pub plan: &'a PlanFile,
    /// Where it is.
    pub placed: &'a Placed,
    /// What it should say.
    pub wanted: &'a Wanted,
    /// Its package.
    pub package: &'a Package,
    /// The workspace's manifest, when it is not the current folder's.
    pub manifest: Option<String>,
    /// Names a file for people.
    pub shown: &'a dyn Fn(&Path) -> String,
}

impl Subject<'_> {
    /// Adds what is left to do for it.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(crate) fn look(&self, left: &mut Left) -> Result<(), String> {
        let path = self.placed.path();
        let id = self.wanted.attribute.id.clone();
        let (plan, file) = (self.plan.shown.clone(), (self.shown)(&path));
        let text = write::read(&path)?;
        let author = format!("cargo disttest author {}", shell(&plan));
        let change = file_change(self.wanted, text.as_deref(), &|_| None);
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
            left.not_authored.push(self.not_written(drift));
            return Ok(());
        };
        let lacks = lacking(self.wanted, text).into_iter();
        left.lacking.extend(lacks.map(|one| (plan.clone(), file.clone(), one)));
        let before = left.items.len();
        let fields = fields.iter().filter_map(|one| {
            // `attribute model`, or of an arm `api/attribute model`.
            let (arm, field) = one.name.rsplit_once("attribute ")?;
            (arm.is_empty() || arm.ends_with('/')).then_some((arm, field))
        });
        left.items.extend(fields.map(|(arm, field)| self.field(arm, field, drift.as_ref())));
        let open: Vec<&Region<'_>> = pieces.regions.iter().filter(|region| !region.is_filled()).collect();
        if !open.is_empty() {
            let placed = self.placed;
            let support = support::find(&placed.member.root, &placed.relative);
            let helpers_before = pieces.region("helpers").map(|helpers| helpers.end_line(text));
            let item = |region: &&Region<'_>| self.region(region, text, support.as_ref(), drift.as_ref());
            left.items.extend(open.iter().map(|region| Item { helpers_before, ..item(region) }));
        }
        if left.items.len() == before {
            let command = drift.is_some().then_some(author);
            left.filled.push(Filled { plan, scenario: id, file, drift, command });
        }
        Ok(())
    }

    /// There is no file of ours; `why`, if another is in its place.
    pub(super) fn not_written(&self, why: Option<String>) -> NotAuthored {
        let id = self.wanted.attribute.id.clone();
        NotAuthored {
            plan: self.plan.shown.clone(),
            name: self.wanted.name.clone(),
            file: Some((self.shown)(&self.placed.path())),
            why: why.unwrap_or_else(|| "its test file is not written yet".to_owned()),
            command: format!("cargo disttest author {} --scenario {}", shell(&self.plan.shown), shell(&id)),
            scenario: id,
        }
    }

    /// `author` wrote it for this scenario.
    fn is_ours(&self, pieces: &Pieces<'_>) -> bool {
        let id = pieces.header_line("Scenario:").and_then(|line| line.split(' ').next());
        pieces.header_line("AUTO-GENERATED from test plan:").is_some() && id == Some(self.wanted.attribute.id.as_str())
    }

    fn region(&self, region: &Region<'_>, text: &str, support: Option<&Support>, drift: Option<&String>) -> Item {
        let plan = &self.plan.plan;
        let owner = self.owner(region.name);
        let known = Known {
            resolved: &owner.resolved,
            judged: ["Model under test", "Checker"].map(|label| owner.block(label).unwrap_or_default()).join(" "),
            workload: owner.field("Workload"),
            program: &self.package.program,
            support,
            arm: owner.arm.as_deref(),
            controls: owner.controls(plan),
        };
        let prose = owner.prose(region.name).unwrap_or("imports, types and functions that the other regions need");
        let (fill, why) = match known.fill(region.name) {
            Some(Ok(fill)) => (Some(fill), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        let left = left_in(region, text);
        let note =
            why.or_else(|| (fill.is_none() || left.len() > 1).then(|| left.join("; "))).filter(|n| !n.is_empty());
        let told = owner.told(plan);
        let path = self.placed.path();
        let sibling = self.package.tests(Language::Rust).sibling(&path, region.name, &told, self.shown);
        let offers = offers::of(&known, region.name);
        Item {
            kind: "region",
            region: region.name.to_owned(),
            lines: Some(region.lines(text)),
            helpers: helpers(fill.as_ref(), &offers),
            offers,
            prose: prose.to_owned(),
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

    pub(super) fn item(&self, owner: &Owner<'_>, drift: Option<&String>) -> Item {
        let placed = self.placed;
        let file = (self.shown)(&placed.path());
        let stem = Path::new(&placed.relative).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let target = placed.test_target().map(str::to_owned).or(stem).unwrap_or_default();
        let test = match &owner.arm {
            None => frame::function_name(&self.wanted.name),
            Some(arm) => format!("{}__{}", frame::function_name(&self.wanted.name), frame::function_name(arm)),
        };
        Item {
            plan: self.plan.shown.clone(),
            scenario: owner.id.clone(),
            name: owner.resolved.name.clone(),
            kind: "region",
            region: String::new(),
            file,
            lines: None,
            helpers_before: None,
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
                test: Some(format!(
                    "cargo test{} -p {} --test {} {}",
                    self.manifest.as_ref().map(|path| format!(" --manifest-path {}", shell(path))).unwrap_or_default(),
                    shell(&placed.member.name),
                    shell(&target),
                    shell(&test)
                )),
            },
        }
    }

    /// Whose region it is: the scenario's, or an arm's (`api/workload`).
    pub(super) fn owner(&self, region: &str) -> Owner<'_> {
        let plan = &self.plan.plan;
        let id = self.wanted.attribute.id.as_str();
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
