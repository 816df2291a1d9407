//! What is believed of a scenario's record: what its evidence comes to, and no more.

use super::evidence::read_run;
use super::plan_file::changed;
use super::scenario::{SCENARIO_SCHEMA, judge, not_run};
use super::{ABSENT, Attempt, Layout, disk, path_safe};
use crate::plan::{Id, Plan, Tier};
use crate::verdict::{Declared, DeclaredFault, Drift, RunRecord, ScenarioRecord, Step, Verdict, violates};
use std::fs;
use std::path::Path;

/// The rule of the step in [`crate::verdict::Why`] that says why a record is not believed.
pub const REJECTED: &str = "record-rejected";

/// How much of the evidence is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// What the record holds of its executions. The harness rebuilds its reports so after each of its own scenarios.
    Record,
    /// The files of each execution: its record, history, fault windows, controls and logs. Reads each once.
    Files,
}

/// Reads the records of a session without trust: the verdict of each is derived again, from its executions, from the
/// plan, and from what was found missing in the environment. One function for whoever reads a verdict: the reports of a
/// session and `cargo disttest run`.
#[derive(Clone, Copy, Debug)]
pub struct Belief<'a> {
    /// The session.
    pub layout: &'a Layout,
    /// Where the session was made, which its records name: it may have been moved since.
    pub home: &'a Path,
    /// The plan that the session is about, when it can be read.
    pub plan: Option<&'a Plan>,
    /// What the environment has, as [`crate::verdict::SessionRecord::environment`].
    pub environment: &'a [(String, String, String, String)],
    /// How much is read.
    pub depth: Depth,
}

impl Belief<'_> {
    /// The record in the folder `name` of the session's artifacts; `None` when there is none. A record whose verdict its
    /// evidence does not come to is replaced: by the FAIL that the evidence shows, else by a NOT-RUN that tells both
    /// verdicts. It is never left out and never taken over. Time linear in what [`Depth`] reads.
    pub fn record(&self, name: &str) -> Option<ScenarioRecord> {
        let path = self.layout.artifacts().join(name).join("scenario.json");
        match disk::read_json::<ScenarioRecord>(&path) {
            Ok(None) => None,
            Ok(Some(record)) => Some(match self.foreign(name, &record) {
                Some(why) => rejected(name, record.tier, why),
                None => self.derived(name, record),
            }),
            Err(why) => Some(rejected(name, Tier::Smoke, why)),
        }
    }

    /// Why a record that stands in the folder `name` is not one of this session.
    fn foreign(&self, name: &str, record: &ScenarioRecord) -> Option<String> {
        let id = &record.declared.id;
        if record.schema != SCENARIO_SCHEMA {
            return Some(format!("its record has the schema `{}`, not {SCENARIO_SCHEMA}", record.schema));
        }
        if path_safe(id) != name {
            return Some(format!("its folder holds the record of {id}"));
        }
        let elsewhere = |folder: &str, run: &RunRecord| {
            let first = self.layout.run_folder(id, run.request.seed, run.request.rerun, Attempt(1));
            let named = folder.strip_prefix(&first).is_some_and(|rest| rest.is_empty() || is_attempt(rest));
            let there = self.home.join(folder);
            !named || there != Path::new(&run.request.run_dir) || run.request.scenario != *id
        };
        for (at, (folder, run)) in record.runs.iter().enumerate() {
            if elsewhere(folder, run) {
                return Some(format!("the execution in {folder} is not of this session"));
            }
            if record.runs[..at].iter().any(|(other, _)| other == folder) {
                return Some(format!("the execution in {folder} is counted twice"));
            }
        }
        None
    }

    fn derived(&self, name: &str, record: ScenarioRecord) -> ScenarioRecord {
        let hidden = if self.depth == Depth::Files { self.hidden(&record) } else { Vec::new() };
        // What was not attempted has a reason of its own.
        if record.runs.is_empty() && hidden.is_empty() && record.verdict == Verdict::NotRun {
            return record;
        }
        let first_hidden = hidden.first().map(|(folder, _)| folder.clone());
        let read = |(folder, run): &(String, RunRecord)| match self.depth {
            Depth::Record => (folder.clone(), run.clone()),
            Depth::Files => (folder.clone(), read_run(&self.layout.dir().join(folder), &run.request)),
        };
        let runs: Vec<_> = record.runs.iter().map(read).chain(hidden).collect();
        let again = |drift: Drift, lacking: Vec<String>| {
            let (declared, unfilled) = (&record.declared, record.unfilled.clone());
            let again = judge(declared, record.tier, runs.clone(), drift, unfilled, lacking);
            ScenarioRecord { harness: record.harness, ..again }
        };
        let derived = again(record.drift.clone(), record.lacking.clone());
        let says = format!("its record says {}, its executions come to {}", said(&record), said(&derived));
        let why = match first_hidden {
            Some(folder) => Some(format!("the execution in {folder} is not in its record; {says}")),
            None => (judged(&derived) != judged(&record)).then_some(says),
        };
        match why {
            // A violation that was seen outranks whatever is wrong with the record.
            Some(reason) if derived.verdict.is_fail() => {
                let mut derived = derived;
                derived.why.steps.push(Step { rule: REJECTED.to_owned(), verdict: derived.verdict, reason });
                derived
            }
            Some(why) => rejected(name, record.tier, why),
            None => match (self.drift(&record), self.lacking(&record)) {
                (None, None) => record,
                (drift, lacking) => {
                    again(drift.unwrap_or(record.drift.clone()), lacking.unwrap_or(record.lacking.clone()))
                }
            },
        }
    }

    /// The executions on disk that neither the record nor that of an earlier attempt tells of.
    fn hidden(&self, record: &ScenarioRecord) -> Vec<(String, RunRecord)> {
        let id = &record.declared.id;
        let mut known: Vec<String> = record.runs.iter().map(|(folder, _)| folder.clone()).collect();
        for attempt in (1..).map(Attempt).take_while(|attempt| self.layout.earlier_record(id, *attempt).exists()) {
            let earlier = disk::read_json::<ScenarioRecord>(&self.layout.earlier_record(id, attempt));
            let runs = earlier.ok().flatten().map(|record| record.runs).unwrap_or_default();
            // Violations of earlier attempts stand: only the others may have been left out.
            known.extend(runs.into_iter().filter(|(_, run)| !violates(run)).map(|(folder, _)| folder));
        }
        let entries = fs::read_dir(self.layout.scenario_dir(id)).into_iter().flatten().flatten();
        let mut hidden: Vec<(String, RunRecord)> = entries
            .filter_map(|entry| {
                let folder = format!("artifacts/{}/{}", path_safe(id), entry.file_name().to_string_lossy());
                let run: RunRecord = disk::read_json(&entry.path().join("run.json")).ok().flatten()?;
                (!known.contains(&folder)).then(|| (folder, read_run(&entry.path(), &run.request)))
            })
            .collect();
        hidden.sort_by(|(one, _), (other, _)| one.cmp(other));
        hidden
    }

    /// The drift that the plan shows and the record does not tell of.
    fn drift(&self, record: &ScenarioRecord) -> Option<Drift> {
        let told = matches!(record.drift, Drift::Scenario { .. });
        let fields = self.plan.filter(|_| !told).and_then(|plan| changed(plan, &record.declared))?;
        Some(Drift::Scenario { fields })
    }

    /// What the environment lacks and the record does not tell of, with what it tells of.
    fn lacking(&self, record: &ScenarioRecord) -> Option<Vec<String>> {
        let lacking = lacking(self.plan, self.environment, &record.declared.id);
        let untold: Vec<String> = lacking.into_iter().filter(|what| !record.lacking.contains(what)).collect();
        (!untold.is_empty()).then(|| record.lacking.iter().cloned().chain(untold).collect())
    }
}

/// What the scenario or arm `id` requires by its plan and `environment` says is not there.
pub(super) fn lacking(plan: Option<&Plan>, environment: &[(String, String, String, String)], id: &str) -> Vec<String> {
    let (Some(plan), Some(id)) = (plan, Id::parse(id)) else { return Vec::new() };
    let required = plan.requirements_of(&id);
    let missing = environment.iter().filter(|(_, present, ..)| ABSENT.contains(&present.as_str()));
    let missing = missing.filter(|(requirement, ..)| required.contains(&requirement.as_str()));
    missing.map(|(requirement, present, _, source)| format!("{requirement}: {present} ({source})")).collect()
}

/// The folder of a later attempt has its number behind the name.
fn is_attempt(rest: &str) -> bool {
    rest.strip_prefix("-attempt-").is_some_and(|number| number.parse::<u32>().is_ok())
}

fn judged(record: &ScenarioRecord) -> (Verdict, Option<Tier>) {
    (record.verdict, record.tier_met)
}

fn said(record: &ScenarioRecord) -> String {
    match record.tier_met {
        Some(tier) => format!("{} ({tier} tier met)", record.verdict),
        None => record.verdict.to_string(),
    }
}

/// What stands in place of a record that cannot be trusted; `name` is its folder.
pub fn rejected(name: &str, tier: Tier, why: String) -> ScenarioRecord {
    not_run(&nameless(name.replacen("__", "/", 1)), tier, Drift::None, Vec::new(), REJECTED, why)
}

/// All that is known of a scenario whose record cannot be trusted.
fn nameless(id: String) -> Declared {
    Declared {
        id,
        name: String::new(),
        test: String::new(),
        plan: String::new(),
        scenario_sha256: String::new(),
        falsifies: Vec::new(),
        model: None,
        checkers: Vec::new(),
        fault: DeclaredFault::None { reason: "unknown: its record was rejected".to_owned() },
        budgets: None,
        shares_nothing: false,
        package: String::new(),
        target: String::new(),
        surface: None,
        negative_controls: Vec::new(),
    }
}
