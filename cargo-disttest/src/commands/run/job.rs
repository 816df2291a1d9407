//! A run at work: each scenario or arm is found, run, and read back from its record.

use super::super::{Context, shorter};
use super::ids_of_parts;
use crate::author::attribute::Attribute;
use crate::author::shadow;
use crate::harness::stage::Stage;
use crate::plan_file::PlanFile;
use crate::runner::build::Authored;
use crate::runner::execute::{self, Order};
use crate::runner::interrupt::Interruptible;
use crate::runner::open;
use crate::runner::record::{self, Reader};
use crate::runner::rows::Row;
use crate::targets::{self, Target};
use crate::workspace::Workspace;
use disttest_runtime::plan::{Id, Release, Scenario, Tier};
use disttest_runtime::verdict::{Harness, test_is_ok};
use std::path::Path;

/// What the scenarios of a run share.
pub(super) struct Job<'a> {
    pub(super) interruptible: Interruptible,
    pub(super) context: &'a Context,
    pub(super) plan: &'a PlanFile,
    /// Ids of scenarios and arms; none: all.
    pub(super) asked: &'a [String],
    pub(super) order: &'a Order,
    pub(super) reader: Reader<'a>,
    pub(super) workspace: &'a Workspace,
    pub(super) authored: &'a Authored,
    pub(super) found: &'a targets::Found,
    pub(super) stage: &'a Stage,
    /// Each scenario has an empty region: nothing was built.
    pub(super) nothing_could_run: bool,
}

impl<'a> Job<'a> {
    /// The arms of a scenario; of one without any, the scenario itself.
    pub(super) fn parts(&mut self, scenario: &Scenario) -> Vec<Row> {
        ids_of_parts(scenario).iter().map(|part| self.part(scenario, part)).collect()
    }

    /// A scenario without arms, or one arm.
    fn part(&mut self, scenario: &Scenario, id: &Id) -> Row {
        let name = scenario.name.value.as_str();
        let found = self.found;
        let of_target = |target: &'_ Target| {
            let functions = target.wanted.functions().into_iter();
            functions.map(|(attribute, function)| (attribute.clone(), function)).find(|(a, _)| a.id == id.to_string())
        };
        let here = found.targets.iter().find_map(|target| Some((target, of_target(target)?)));
        let ephemeral = here.as_ref().is_some_and(|(target, _)| self.stage.holds(target));
        let harness = if ephemeral { Harness::Ephemeral } else { Harness::Repository };
        let not_run = |why: String| Row { harness, ..Row::not_run(&id.to_string(), name, why) };
        if !self.plan.asks_for(self.asked, id) {
            return not_run(format!("not asked for (--scenario {})", self.asked.join(" --scenario ")));
        }
        if let Some(signal) = self.interruptible.stopped() {
            return not_run(format!("the run was stopped before it ({signal})"));
        }
        let Some((target, (attribute, function))) = here else {
            return not_run(self.why_no_target(scenario, id));
        };
        if self.nothing_could_run && !self.stage.refuses(target) {
            let why = open::why_not_run(&target.placed.path(), &attribute.id);
            return not_run(why.unwrap_or_else(|| "its file was changed while this ran".to_owned()));
        }
        let part = Part { target, attribute: &attribute, function: &function };
        self.judged(&part).unwrap_or_else(not_run)
    }

    fn why_no_target(&self, scenario: &Scenario, id: &Id) -> String {
        let whole = &scenario.id.value;
        let left_out = |wanted: &Id| self.found.left_out.iter().find(|(left_out, _)| *left_out == wanted.to_string());
        let listed_only = id.arm().is_some() && scenario.arm(id).is_none();
        match left_out(id) {
            Some((_, why)) => why.clone(),
            None if listed_only => format!("§7.M.S of {whole} lists it and it has no block: write `#### Arm {id}: …`"),
            None => self.found.refusal(scenario).unwrap_or_else(|| "its target is refused".to_owned()),
        }
    }

    /// The executable of a test, and the order that it is given.
    fn launch(&self, target: &Target) -> Result<(&'a Path, Order), String> {
        match self.stage.launch(target) {
            Some(launch) => {
                let (executable, sut) = launch?;
                Ok((executable, Order { ephemeral_of: Some(sut.to_path_buf()), ..self.order.clone() }))
            }
            None => Ok((self.authored(target)?, self.order.clone())),
        }
    }

    /// The executable of a test in the repository.
    fn authored(&self, target: &Target) -> Result<&'a Path, String> {
        let path = target.placed.path();
        let shown = shorter(&path).display().to_string();
        if !path.is_file() {
            return Err(format!("{shown} does not exist: cargo disttest author writes it"));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{shown} cannot be read: {error}"))?;
        if let Some(line) = shadow::shadowed(&text) {
            return Err(format!(
                "{shown}:{line} makes `disttest_runtime` the name of another item: nothing would judge it"
            ));
        }
        if !shadow::calls_main(&text) {
            return Err(format!("{shown} does not call `disttest_runtime::main!()`: nothing would judge it"));
        }
        if target.placed.test_target().is_none() {
            return Err(format!("Cargo.toml has no [[test]] entry for {shown}: cargo disttest author writes it"));
        }
        let beside = self.workspace.programs_beside(&target.placed.member);
        self.authored.executable(&path, beside)?.ok_or(format!("{shown} does not build"))
    }

    /// The row of a scenario or arm that ran; `Err` says why it did not.
    fn judged(&mut self, part: &Part<'_>) -> Result<Row, String> {
        let Part { target, attribute, function } = *part;
        let (executable, order) = self.launch(target)?;
        let order = &order;
        let root = &target.placed.member.root;
        let test = execute::find(order, executable, root, function)?;
        self.announce(part, executable, &test);
        let status = execute::run(&mut self.interruptible, order, executable, root, &test, self.context.json())?;
        let ended = |why: String| format!("{why} (the test process ended with {status})");
        let record = self.reader.read(order, &attribute.id).map_err(ended)?;
        if !record::is_of(&record, &target.placed) {
            return Err(ended(format!("its record is of another test, {}", record.declared.place())));
        }
        let verdict = record.verdict;
        let ok = test_is_ok(&record.declared, verdict, record.tier_met, self.order.tier);
        // A violation was seen, whatever else is wrong.
        if !verdict.is_fail() {
            if let Some(why) = record::made_for_another(&record, attribute) {
                return Err(format!("{why} (cargo disttest author --check)"));
            }
            if ok && !status.success() {
                return Err(format!("its record says {verdict}, but the test process ended with {status}"));
            }
        }
        Ok(Row {
            scenario: record.declared.id.clone(),
            name: target.wanted.name.clone(),
            verdict,
            tier_met: record.tier_met,
            ok,
            reason: if verdict.is_pass() { String::new() } else { record::reason(&record) },
            arms: Vec::new(),
            harness: record.harness,
            drifted: record::drifted(&record),
        })
    }

    /// What is about to run, and how long that takes.
    fn announce(&self, part: &Part<'_>, executable: &Path, test: &str) {
        let id = self.plan.written(&part.attribute.id);
        let budget = part.attribute.budgets.as_ref().map(|budgets| match (self.order.tier, &budgets.release) {
            (Tier::Smoke, _) => budgets.smoke,
            (Tier::Release, Release::Budget(release)) => *release,
            (Tier::Hardening | Tier::Release, _) => budgets.hardening,
        });
        let expected = budget.map(|budget| {
            let seeds = self.order.seed.map_or(self.order.seeds.unwrap_or(budget.seeds), |_| 1);
            let total = budget.seconds.saturating_mul(seeds);
            let plural = if seeds == 1 { "" } else { "s" };
            format!(", {seeds} seed{plural} × {} s of workload: at least {total} s", budget.seconds)
        });
        let console = &self.context.console;
        console.status("Running", format_args!("{id} {}{}", part.target.wanted.name, expected.unwrap_or_default()));
        console.detail(format_args!("{} --exact {test} --nocapture --include-ignored", executable.display()));
    }
}

/// One function of a test file.
#[derive(Clone, Copy)]
struct Part<'a> {
    target: &'a Target,
    attribute: &'a Attribute,
    function: &'a str,
}
