//! The supervisor: runs the selected scenarios one after the other, each seed in a process of its own, and turns what
//! they left on disk into a record, a verdict and a line.

use super::argv::CommandLine;
use super::catalog::Entry;
use super::console::{Console, TestOutcome, TestResult, Totals};
use super::execution::Execution;
use super::interrupt::Interrupts;
use super::options::Options;
use super::select::{Selected, select};
use super::{budget, failure, leftovers, seeds, turn};
use crate::plan::Budget;
use crate::session::{
    Attempt, Depth, Key, PlanFile, Session, SessionSpec, disk, drift_of, judge, not_run, read_run, session_root,
    test_is_ok, workspace_root,
};
use crate::verdict::{Drift, End, Event, RunRecord, RunRequest, ScenarioRecord, reproduces, violates};
use anyhow::Result;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Re-runs of a seed that saw a violation, at most (D5).
const RERUNS: u32 = 3;
/// A scenario that should take longer announces itself with its command.
const LONG: Duration = Duration::from_secs(180);

/// Everything that lasts for one test process.
pub(crate) struct Supervisor<'a> {
    entries: &'a [Entry],
    options: &'a Options,
    key: Key,
    console: Console,
    interrupts: Interrupts,
    /// By plan and package: the session of the plan, once a scenario of it was looked at.
    sessions: BTreeMap<(&'static str, &'static str), Joined>,
    stopped: Option<&'static str>,
}

#[derive(Clone, Debug)]
struct Joined {
    plan: PlanFile,
    session: Session,
}

/// A scenario under way.
struct Attempted<'e> {
    entry: &'e Entry,
    joined: Joined,
    attempt: Attempt,
    budget: Budget,
    drift: Drift,
    runs: Vec<(String, RunRecord)>,
}

impl<'a> Supervisor<'a> {
    /// A supervisor for this process. Needs the tokio runtime.
    pub(crate) fn new(
        entries: &'a [Entry],
        options: &'a Options,
        key: Key,
        console: Console,
    ) -> std::io::Result<Supervisor<'a>> {
        let interrupts = Interrupts::listen()?;
        Ok(Supervisor { entries, options, key, console, interrupts, sessions: BTreeMap::new(), stopped: None })
    }

    /// Runs what `line` selects; true when nothing failed.
    pub(crate) async fn run(mut self, line: &CommandLine) -> bool {
        let began = Instant::now();
        let (selected, filtered_out) = select(self.entries, line, self.options.strict);
        self.say_what_is_odd(line, &selected);
        self.console.suite_started(selected.len());
        let mut totals = Totals { filtered_out, ..Totals::default() };
        let mut failed = Vec::new();
        for selected in &selected {
            let result = self.scenario(selected).await;
            match result.outcome {
                TestOutcome::Ok => totals.passed += 1,
                TestOutcome::Ignored => totals.ignored += 1,
                TestOutcome::Failed => {
                    totals.failed += 1;
                    failed.push(result.name.clone());
                }
            }
            self.console.test_ended(&result);
            if line.fail_fast && !failed.is_empty() {
                self.stopped = self.stopped.or(Some("--fail-fast"));
            }
        }
        self.console.suite_ended(&totals, &failed, began.elapsed());
        for joined in self.sessions.values() {
            self.console.note(&format!("report: {}", joined.session.layout().report().display()));
        }
        totals.failed == 0
    }

    fn say_what_is_odd(&mut self, line: &CommandLine, selected: &[Selected<'_>]) {
        if !line.without_effect.is_empty() {
            self.console.note(&format!("no effect on scenarios: {}", line.without_effect.join(", ")));
        }
        if selected.is_empty() {
            let known = self.entries.len();
            self.console.note(&format!("no scenario selected (of {known}): nothing ran, which is no PASS of anything"));
        }
    }

    async fn scenario(&mut self, selected: &Selected<'_>) -> TestResult {
        let began = Instant::now();
        self.console.test_started(&selected.entry.name);
        let result = self.try_scenario(selected).await;
        let mut result = result.unwrap_or_else(|error| harness_failed(selected.entry, &error));
        result.took = began.elapsed();
        result
    }

    async fn try_scenario(&mut self, selected: &Selected<'_>) -> Result<TestResult> {
        let entry = selected.entry;
        let joined = self.join(entry)?;
        joined.session.claim(&entry.declared)?;
        if let Some(reason) = &selected.ignored {
            // Registered as NOT-RUN by joining; the report must say so even when nothing else runs.
            joined.session.rebuild(Depth::Record)?;
            return Ok(TestResult {
                name: entry.name.clone(),
                outcome: TestOutcome::Ignored,
                line: format!("NOT-RUN: {reason}"),
                failure: None,
                extra: json!({ "id": entry.declared.id, "verdict": "NOT-RUN", "unfilled": entry.unfilled }),
                took: Duration::ZERO,
            });
        }
        let record = match self.why_not(entry, &joined) {
            Some(record) => record,
            None => self.attempt(entry, &joined).await?,
        };
        self.conclude(entry, &joined.session, record)
    }

    /// Joins the session of the scenario's plan; the first time, every scenario of that plan in this binary is noted as
    /// NOT-RUN.
    fn join(&mut self, entry: &Entry) -> Result<Joined> {
        let key = (entry.registration.plan, entry.registration.manifest_dir);
        if let Some(joined) = self.sessions.get(&key) {
            return Ok(joined.clone());
        }
        let package = self.options.ephemeral_of.as_deref().unwrap_or(Path::new(entry.registration.manifest_dir));
        let (workspace, root) = (workspace_root(package), session_root(self.options.session_root.as_deref(), package));
        let plan = PlanFile::find(entry.registration.plan, package);
        let session = Session::join(&SessionSpec {
            root: &root,
            workspace: &workspace,
            key: &self.key,
            plan: &plan,
            tier: self.options.tier,
            sut_args: &self.options.sut_args,
            missing_budgets_allowed: self.options.allow_missing_budgets,
            environment: &[],
        })?;
        let joined = Joined { plan, session };
        let of_plan = self.entries.iter().filter(|e| (e.registration.plan, e.registration.manifest_dir) == key);
        let records: Vec<ScenarioRecord> = of_plan
            .map(|entry| {
                let reason = entry.ignore_reason().unwrap_or_else(|| "registered, not run in this session".to_owned());
                self.not_run(entry, &joined.plan, "not-attempted", reason)
            })
            .collect();
        joined.session.register(&records)?;
        self.sessions.insert(key, joined.clone());
        Ok(joined)
    }

    /// The record of a scenario that must not be started, if it must not.
    fn why_not(&self, entry: &Entry, joined: &Joined) -> Option<ScenarioRecord> {
        let not_run = |rule, reason| Some(self.not_run(entry, &joined.plan, rule, reason));
        if let Some(reason) = entry.ignore_reason() {
            return not_run("unfilled-region", reason);
        }
        if let Some(signal) = self.stopped {
            return not_run("stopped", format!("the run was stopped before it ({signal})"));
        }
        if entry.declared.budgets.is_none() && !self.options.allow_missing_budgets {
            let reason = format!(
                "{} has no budget tiers: write Smoke budget, Hardening budget and Release budget for {} (or set \
                 DISTTEST_ALLOW_MISSING_BUDGETS=1 for at most PASS-smoke)",
                entry.declared.plan, entry.declared.id
            );
            return not_run("missing-budgets", reason);
        }
        None
    }

    fn not_run(&self, entry: &Entry, plan: &PlanFile, rule: &str, reason: String) -> ScenarioRecord {
        let drift = drift_of(plan, &entry.declared, entry.registration.plan_sha256);
        let record = not_run(&entry.declared, self.options.tier, drift, entry.unfilled.clone(), rule, reason);
        ScenarioRecord { harness: self.options.harness(), ..record }
    }

    async fn attempt(&mut self, entry: &Entry, joined: &Joined) -> Result<ScenarioRecord> {
        let id = &entry.declared.id;
        let _turn = if entry.declared.shares_nothing {
            None
        } else {
            match turn::take_turn(joined.session.turn_lock(), id, &mut self.console, &mut self.interrupts).await? {
                Ok(held) => Some(held),
                Err(signal) => {
                    self.stopped = Some(signal);
                    let reason = format!("the run was stopped while it waited for its turn ({signal})");
                    return Ok(self.not_run(entry, &joined.plan, "stopped", reason));
                }
            }
        };
        for undone in leftovers::undo(joined.session.layout().dir()) {
            self.console.note(&format!("left behind by a run that was killed: {undone}"));
        }
        let (attempt, stands) = joined.session.begin(&entry.declared)?;
        let mut attempted = Attempted {
            entry,
            joined: joined.clone(),
            attempt,
            budget: budget::wanted(entry.declared.budgets.as_ref(), self.options.tier),
            drift: drift_of(&joined.plan, &entry.declared, entry.registration.plan_sha256),
            runs: stands,
        };
        // What stands from earlier attempts is on record again before anything else can go wrong.
        joined.session.checkpoint(&self.judged(&attempted, Vec::new()))?;
        self.seeds_of(&mut attempted).await?;
        let record = self.judged(&attempted, Vec::new());
        attempted.event(None, "end", &failure::verdict_line(&record));
        Ok(record)
    }

    async fn seeds_of(&mut self, attempted: &mut Attempted<'_>) -> Result<()> {
        let declared = &attempted.entry.declared;
        let seeds = seeds::of_declared(self.options.seeds, &attempted.budget, declared);
        self.announce(attempted, &seeds);
        for seed in &seeds {
            let first = self.execute(attempted, *seed, 0).await?;
            if violates(&first) {
                self.run_again(attempted, &first).await?;
                // A violation stands whatever other seeds say; what is left of the budget is not spent on it.
                let left = seeds.iter().skip_while(|s| *s != seed).skip(1).count();
                if left > 0 {
                    attempted.event(None, "note", &format!("{left} more seeds not run: a violation was found"));
                }
                return Ok(());
            }
            if self.stopped.is_some() || matches!(first.end, End::EnvMissing { .. }) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The same seed again, until the violation is seen again or the re-runs are used up.
    async fn run_again(&mut self, attempted: &mut Attempted<'_>, first: &RunRecord) -> Result<()> {
        for rerun in 1..=RERUNS {
            if self.stopped.is_some() {
                return Ok(());
            }
            self.console.note(&format!(
                "{}: violation with seed {}; re-run {rerun} of at most {RERUNS} with the same seed",
                attempted.entry.declared.id, first.request.seed
            ));
            if reproduces(first, &self.execute(attempted, first.request.seed, rerun).await?) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn announce(&mut self, attempted: &Attempted<'_>, seeds: &[u64]) {
        let declared = &attempted.entry.declared;
        let expected = budget::expected(&attempted.budget) * u32::try_from(seeds.len()).unwrap_or(u32::MAX);
        let listed: Vec<String> = seeds.iter().map(u64::to_string).collect();
        let mut text = format!(
            "starting {} {}: tier {}, seed{} {}, about {} s",
            declared.id,
            declared.test,
            self.options.tier,
            if seeds.len() == 1 { "" } else { "s" },
            listed.join(" "),
            expected.as_secs()
        );
        if expected > LONG {
            let command: Vec<String> = std::env::args().collect();
            text.push_str(&format!("\n  command: {}\n  log: {}", command.join(" "), attempted.dir().display()));
        }
        self.console.note(&text);
        attempted.event(None, "start", &text);
        if let Some(id) = &self.options.nextest_attempt {
            attempted.event(None, "note", &format!("nextest attempt {id}"));
        }
    }

    async fn execute(&mut self, attempted: &mut Attempted<'_>, seed: u64, rerun: u32) -> Result<RunRecord> {
        let (folder, request) = attempted.request(self.options, seed, rerun);
        let execution = Execution {
            name: attempted.entry.name.clone(),
            expected: budget::expected(&attempted.budget),
            deadline: budget::deadline(
                &attempted.budget,
                attempted.entry.declared.checkers.len(),
                self.options.deadline,
            ),
            request,
        };
        execution.prepare()?;
        // Should this process be killed meanwhile, the record on disk says that this execution died.
        let pending = (folder.clone(), read_run(&execution.run_dir(), &execution.request));
        attempted.joined.session.checkpoint(&self.judged(attempted, vec![pending]))?;
        let executed = execution.run(&mut self.console, &mut self.interrupts).await?;
        for note in &executed.notes {
            attempted.event(Some(seed), "note", note);
        }
        self.stopped = self.stopped.or(executed.interrupted);
        attempted.runs.push((folder, executed.record.clone()));
        attempted.joined.session.checkpoint(&self.judged(attempted, Vec::new()))?;
        Ok(executed.record)
    }

    fn judged(&self, attempted: &Attempted<'_>, pending: Vec<(String, RunRecord)>) -> ScenarioRecord {
        let runs = attempted.runs.iter().cloned().chain(pending).collect();
        let entry = attempted.entry;
        let drift = attempted.drift.clone();
        let lacking = attempted.joined.session.lacking(&entry.declared.id);
        let record = judge(&entry.declared, self.options.tier, runs, drift, entry.unfilled.clone(), lacking);
        ScenarioRecord { harness: self.options.harness(), ..record }
    }

    /// Writes the record, rebuilds the reports and says what the runner is told.
    fn conclude(&self, entry: &Entry, session: &Session, record: ScenarioRecord) -> Result<TestResult> {
        let manifest = session.finish(&record)?;
        let ok = test_is_ok(&record, self.options.tier);
        let layout = session.layout();
        let failure = (!ok).then(|| failure::failure_text(&record, layout));
        Ok(TestResult {
            name: entry.name.clone(),
            outcome: if ok { TestOutcome::Ok } else { TestOutcome::Failed },
            line: failure::verdict_line(&record),
            failure,
            extra: json!({
                "id": record.declared.id, "verdict": record.verdict, "tier": record.tier, "tier_met": record.tier_met,
                "reason": record.why.headline(), "seeds": seeds_run(&record),
                "session": layout.dir(), "record": layout.scenario_record(&record.declared.id),
                "findings": layout.finding(&record.declared.id), "manifest_sha256": manifest,
            }),
            took: Duration::ZERO,
        })
    }
}

impl Attempted<'_> {
    fn dir(&self) -> PathBuf {
        self.joined.session.layout().scenario_dir(&self.entry.declared.id)
    }

    fn request(&self, options: &Options, seed: u64, rerun: u32) -> (String, RunRequest) {
        let (layout, id) = (self.joined.session.layout(), &self.entry.declared.id);
        let folder = layout.run_folder(id, seed, rerun, self.attempt);
        let request = RunRequest {
            schema: "disttest.request/1".to_owned(),
            run_id: format!("{folder}@{}.{}", std::process::id(), unix_nanos()),
            scenario: id.clone(),
            seed,
            rerun,
            tier: options.tier,
            budget: self.budget,
            run_dir: layout.run_dir(id, seed, rerun, self.attempt).display().to_string(),
            log_dir: layout.log_dir(id, seed, rerun, self.attempt).display().to_string(),
            sut_args: options.sut_args.clone(),
        };
        (folder, request)
    }

    /// A line of the timeline. Losing one loses no fact, so it stops nothing.
    fn event(&self, seed: Option<u64>, event: &str, notes: &str) {
        let line = Event {
            unix_ms: (unix_nanos() / 1_000_000) as u64,
            scenario: self.entry.declared.id.clone(),
            seed,
            event: event.to_owned(),
            notes: failure::one_line(notes),
        };
        let path = self.joined.session.layout().scenario_events(&self.entry.declared.id);
        let _ = disk::append_json_line(&path, &line);
    }
}

/// The harness itself failed: never ok, and said to be the harness.
fn harness_failed(entry: &Entry, error: &anyhow::Error) -> TestResult {
    let line =
        format!("{} NOT-RUN (tier met: —): harness: {}", entry.declared.id, failure::one_line(&format!("{error:#}")));
    TestResult {
        name: entry.name.clone(),
        outcome: TestOutcome::Failed,
        failure: Some(format!("\n---- {} ----\nError: {line}\n", entry.name)),
        extra: json!({ "id": entry.declared.id, "harness_error": format!("{error:#}") }),
        line,
        took: Duration::ZERO,
    }
}

fn seeds_run(record: &ScenarioRecord) -> Vec<u64> {
    record.runs.iter().filter(|(_, run)| run.request.rerun == 0).map(|(_, run)| run.request.seed).collect()
}

fn unix_nanos() -> u128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos()
}
