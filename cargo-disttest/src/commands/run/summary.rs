//! What a run proved, for people and for programs: the table, where everything lies, and what to do next.

use super::super::{Context, shorter};
use crate::exit_code::{End, Failure, Outcome};
use crate::harness;
use crate::harness::stage::Stage;
use crate::plan_file::PlanFile;
use crate::runner::execute::Order;
use crate::runner::rows::{self, Row};
use crate::runner::session;
use disttest_runtime::plan::{Id, Tier, as_spelt};
use disttest_runtime::report::escape::shell;
use disttest_runtime::verdict::{Harness, SessionVerdict};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// `disttest.run-summary/1`.
#[derive(Serialize)]
pub(super) struct Summary {
    schema: &'static str,
    plan: String,
    tier: Tier,
    scenarios: Vec<Row>,
    /// Ids of the plan's other scenarios: `--scenario` left them out.
    not_asked_for: Vec<String>,
    /// The ephemeral package of scenarios without a test in the repository, when there are such.
    harness: Option<String>,
    session_verdict: SessionVerdict,
    /// The session's folder; `None` when nothing got as far as writing into it.
    session: Option<String>,
    report: Option<String>,
    session_log: Option<String>,
    /// SHA-256 of the session's MANIFEST.sha256.
    manifest_sha256: Option<String>,
    next: String,
    exit_status: u8,
}

impl Summary {
    /// Of `rows`, with the places of what was written. Reports that `run` did not build itself (`closed` is false) are
    /// not passed on.
    pub(super) fn new(
        plan: &PlanFile,
        order: &Order,
        tier: Tier,
        rows: Vec<Row>,
        stage: &Stage,
        refused: bool,
        closed: bool,
    ) -> Summary {
        let session = PathBuf::from(&order.session);
        // Succeeds on an empty folder only: a session in which nothing was written is none.
        let written = std::fs::remove_dir(&session).is_err();
        let existing = |name: &str| Some(session.join(name)).filter(|path| closed && path.is_file());
        let shown = |path: PathBuf| shorter(&path).display().to_string();
        let end = rows::end(&rows);
        let asked = |id: &Id| rows.iter().any(|row| Id::parse(&row.scenario).is_some_and(|row| row == *id));
        let ids = plan.plan.scenarios.iter().map(|scenario| &scenario.id.value);
        let not_asked_for: Vec<String> = ids.filter(|id| !asked(id)).map(ToString::to_string).collect();
        Summary {
            schema: "disttest.run-summary/1",
            plan: plan.shown.clone(),
            tier,
            session_verdict: rows::session_verdict(&rows, not_asked_for.len()),
            report: existing("findings/report.md").map(shown),
            session_log: existing("session-log.md").map(shown),
            manifest_sha256: closed.then(|| session::manifest_sha256(&session)).flatten(),
            harness: stage.package().map(|package| shown(package.folder.clone())),
            next: Next { plan: &plan.shown, tier, rows: &rows, session: &session, stage, refused }.after(end),
            session: written.then(|| shown(session)),
            exit_status: end.exit_code().number(),
            scenarios: rows,
            not_asked_for,
        }
    }

    /// Prints it, and says how the run ended.
    pub(super) fn print(&self, context: &Context, plan: &PlanFile) -> Outcome {
        let console = &context.console;
        let end = rows::end(&self.scenarios);
        if context.json() {
            let json = serde_json::to_string_pretty(self).map_err(|error| Failure::new(End::Bug, error.to_string()))?;
            console.result(json);
            return Ok(end);
        }
        let spelt = |text: &str| as_spelt(&plan.plan, text).into_owned();
        let table = spelt(&rows::table(&self.scenarios, &|id| plan.written(id)));
        console.result_text(&crate::console::visible(&format!("\n{table}\n")));
        let short = spelt(&self.short_of_it());
        console.result(format_args!("Session: {} ({} tier{short})", self.session_verdict, self.tier));
        let places = [("Harness", &self.harness), ("Report", &self.report), ("Log", &self.session_log)];
        for (label, path) in places.iter().filter_map(|(label, path)| path.as_ref().map(|path| (label, path))) {
            console.result(format_args!("{label}: {path}"));
        }
        console.result(format_args!("Next: {}", spelt(&self.next)));
        match &self.manifest_sha256 {
            Some(hash) => {
                let session = self.session.as_deref().unwrap_or_default();
                console.result(format_args!("{hash}  {session}/MANIFEST.sha256"));
            }
            None => console.error("the session has no MANIFEST.sha256: there is nothing to verify later"),
        }
        Ok(end)
    }

    /// Which scenarios passed below the tier that was asked for, and which were left out: a reader must not take the
    /// session's verdict for theirs.
    fn short_of_it(&self) -> String {
        let short = self.scenarios.iter().filter(|row| row.verdict.is_pass() && !row.ok);
        let short: Vec<&str> = short.map(|row| row.scenario.as_str()).collect();
        let short =
            if short.is_empty() { String::new() } else { format!(" asked for, not met by {}", short.join(", ")) };
        match self.not_asked_for.len() {
            0 => short,
            n if n <= 5 => format!("{short}; not asked for: {}", self.not_asked_for.join(", ")),
            n => format!("{short}; {n} scenarios of the plan not asked for"),
        }
    }
}

/// What the next step depends on.
struct Next<'a> {
    plan: &'a str,
    tier: Tier,
    rows: &'a [Row],
    session: &'a Path,
    stage: &'a Stage,
    /// The plan must be corrected before some scenario has a place.
    refused: bool,
}

impl Next<'_> {
    fn after(&self, end: End) -> String {
        let Next { plan, tier, rows, .. } = *self;
        let first_bad = rows::parts(rows).find(|row| !row.ok);
        let id = first_bad.map_or("", |row| row.scenario.as_str());
        match end {
            End::Clean if tier == Tier::Smoke => self.run("--tier hardening"),
            End::Clean => "keep the line below where nobody can edit it".to_owned(),
            End::NothingConcluded if first_bad.is_some_and(|row| row.drifted) => self.refresh(first_bad),
            End::Violation | End::NothingConcluded => {
                let findings = self.session.join("findings").join(format!("{}.md", id.replace('/', "__")));
                format!("read {}", shorter(&findings).display())
            }
            End::TierNotMet => self.run(&format!("--tier {tier} --scenario {id}")),
            _ if self.refused => format!("cargo disttest plan {plan}"),
            _ if rows.iter().any(|row| row.harness == Harness::Ephemeral) => self.fill(),
            _ => format!("cargo disttest author {plan} --check"),
        }
    }

    /// The folder of the person's own ephemeral package, which `--harness` named.
    fn folder(&self) -> Option<String> {
        let package = self.stage.package().filter(|package| package.folder != harness::folder_of(self.session))?;
        Some(shell(&shorter(&package.folder).display().to_string()))
    }

    /// Another run of the same tests.
    fn run(&self, options: &str) -> String {
        let harness = self.folder().map(|folder| format!(" --harness {folder}")).unwrap_or_default();
        format!("cargo disttest run {} {options}{harness}", self.plan)
    }

    /// What makes a test that drifted say again what the plan says.
    fn refresh(&self, row: Option<&Row>) -> String {
        let ephemeral = row.is_some_and(|row| row.harness == Harness::Ephemeral);
        match self.folder().filter(|_| ephemeral) {
            Some(_) => self.run("--refresh-harness"),
            None => format!("cargo disttest author {}  # the plan changed; filled regions are kept", self.plan),
        }
    }

    /// How the tests of an ephemeral package come to be filled. The package of a session is evidence, so that a person
    /// works on one of their own.
    fn fill(&self) -> String {
        let plan = self.plan;
        let unfilled = self.stage.package().map_or(&[][..], |package| &package.unfilled);
        match (unfilled, self.folder()) {
            ([(file, line, name), ..], Some(folder)) => {
                let file = shorter(file);
                let file = file.display();
                format!("fill region {name} ({file}:{line}), then cargo disttest run {plan} --harness {folder}")
            }
            _ => {
                let folder = self.session.parent().unwrap_or(self.session).join("harness");
                let folder = shorter(&folder);
                let folder = folder.display();
                format!(
                    "cargo disttest author {plan} (writes the tests into the repository), or cargo disttest run {plan} \
                     --harness {folder} (writes them there; the repository stays as it is)"
                )
            }
        }
    }
}
