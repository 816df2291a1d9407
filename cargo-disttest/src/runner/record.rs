//! The record that a scenario left, as far as its evidence bears it, and whether it answers what was asked.

use super::execute::Order;
use crate::author::attribute::Attribute;
use crate::workspace::Placed;
use disttest_runtime::harness::executions;
use disttest_runtime::plan::Plan;
use disttest_runtime::session::{Belief, Depth, Layout, REJECTED, path_safe};
use disttest_runtime::verdict::{Drift, ScenarioRecord, Verdict};
use std::path::PathBuf;

/// Reads the records of a session of `plan` whose environment was found to be `environment`: every verdict is derived
/// again from the files of the session, by the function that its reports use.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) environment: &'a [(String, String, String, String)],
}

impl Reader<'_> {
    /// What is believed of the scenario or arm `id`, which ran by `order`.
    ///
    /// # Errors
    /// There is no record, it cannot be read, its evidence comes to another verdict than it says (a FAIL that the
    /// evidence shows is given all the same), or it answers another question than was asked.
    pub(crate) fn read(&self, order: &Order, id: &str) -> Result<ScenarioRecord, String> {
        let record = self.believed(order, &path_safe(id)).ok_or("it left no record in the session")?;
        if record.verdict == Verdict::NotRun && record.why.steps.iter().any(|step| step.rule == REJECTED) {
            return Err(record.why.headline());
        }
        accept(record, id, order)
    }

    /// Records of the session that belong to the scenario `root` and are of none of its `parts`: of an arm that the plan
    /// does not have, or of the whole where the plan has arms. The harness notes every function of a test binary, whether
    /// or not it ran.
    pub(crate) fn strays(&self, order: &Order, root: &str, parts: &[String]) -> Vec<ScenarioRecord> {
        let known: Vec<String> = parts.iter().map(|id| path_safe(id)).collect();
        let arm = format!("{}__", path_safe(root));
        let is_stray = |name: &String| (name == root || name.starts_with(&arm)) && !known.contains(name);
        let entries = std::fs::read_dir(layout(order).artifacts()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut folders: Vec<String> = names.filter(is_stray).collect();
        folders.sort();
        folders.iter().filter_map(|folder| self.believed(order, folder)).collect()
    }

    /// True when the reports of the session would tell of a result of `id` that is no FAIL.
    pub(crate) fn has_result(&self, order: &Order, id: &str) -> bool {
        let believed = self.believed(order, &path_safe(id));
        believed.is_some_and(|record| record.verdict != Verdict::NotRun && !record.verdict.is_fail())
    }

    fn believed(&self, order: &Order, folder: &str) -> Option<ScenarioRecord> {
        let (plan, environment) = (Some(self.plan), self.environment);
        let layout = layout(order);
        Belief { layout: &layout, home: layout.dir(), plan, environment, depth: Depth::Files }.record(folder)
    }
}

fn layout(order: &Order) -> Layout {
    Layout::new(PathBuf::from(&order.session))
}

fn accept(record: ScenarioRecord, id: &str, order: &Order) -> Result<ScenarioRecord, String> {
    if record.declared.id != id {
        return Err(format!("its record is of {}, not of {id}", record.declared.id));
    }
    if record.harness != order.harness() {
        return Err("its record is of a test that stands elsewhere".to_owned());
    }
    // Whatever was asked for, a violation was seen.
    if record.verdict.is_fail() {
        return Ok(record);
    }
    if record.tier != order.tier {
        return Err(format!("its record is for the {} tier, not for {}", record.tier, order.tier));
    }
    match disobeyed(&record, order) {
        Some(why) => Err(why),
        None => Ok(record),
    }
}

/// Where the executions of `record` are not those that `order` asks for.
fn disobeyed(record: &ScenarioRecord, order: &Order) -> Option<String> {
    let (budget, seeds) = executions(&record.declared, order.tier, order.seed, order.seeds);
    let list = |seeds: &[u64]| seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
    let ran: Vec<u64> =
        record.runs.iter().map(|(_, run)| &run.request).filter(|r| r.rerun == 0).map(|r| r.seed).collect();
    // One that was stopped ran the first of its seeds; a PASS ran all of them.
    if !seeds.starts_with(&ran) || record.verdict.is_pass() && ran != seeds {
        return Some(format!("its executions are of the seeds {}, asked for were {}", list(&ran), list(&seeds)));
    }
    let requests = || record.runs.iter().map(|(folder, run)| (folder, &run.request));
    if let Some((folder, request)) = requests().find(|(_, request)| request.tier != order.tier) {
        return Some(format!("the execution in {folder} is for the {} tier, not for {}", request.tier, order.tier));
    }
    if let Some((folder, _)) = requests().find(|(_, request)| request.budget != budget) {
        return Some(format!("the execution in {folder} was asked for another budget than the test declares"));
    }
    let words = |args: &[String]| format!("`{}`", args.join(" "));
    requests().find(|(_, request)| request.sut_args != order.sut_args).map(|(folder, request)| {
        let (theirs, ours) = (words(&request.sut_args), words(&order.sut_args));
        format!("the execution in {folder} gave its nodes the arguments {theirs}, not {ours}")
    })
}

/// True when the test target of `placed` wrote the record: another one may have a function of the same id.
pub(crate) fn is_of(record: &ScenarioRecord, placed: &Placed) -> bool {
    let declared = &record.declared;
    // Cargo knows no targets of the ephemeral package, which has a name of its own.
    let target = placed.test_target().map(|target| target.replace('-', "_"));
    let same = declared.package == placed.member.name && target.is_none_or(|target| target == declared.target);
    // Only what `run` itself notes has no package, and that is never a result.
    same || declared.package.is_empty() && record.verdict == Verdict::NotRun
}

/// Why the record is of a test that was made from another plan: one may have a scenario of the same id in the same file,
/// and a test compares itself with its own plan only.
pub(crate) fn made_for_another(record: &ScenarioRecord, wanted: &Attribute) -> Option<String> {
    let declared = &record.declared;
    (declared.plan != wanted.plan).then(|| format!("its test was made from another plan, {}", declared.plan))
}

/// Why the verdict of `record` is no better. Later steps may have left the verdict alone: what decided it is the
/// headline, and drift is told beside it, since it is to be mended first.
pub(crate) fn reason(record: &ScenarioRecord) -> String {
    let headline = record.why.headline();
    let drift = record.why.notes().find(|step| step.rule == "drift");
    drift.map_or(headline.clone(), |step| format!("{headline}; {}", step.reason))
}

/// True when the test is not what the plan says of the scenario now.
pub(crate) fn drifted(record: &ScenarioRecord) -> bool {
    matches!(record.drift, Drift::Scenario { .. })
}
