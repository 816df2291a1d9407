//! L4: verification: whether what a session says follows from its own files, on any machine and without the system
//! under test.
//!
//! Verified is that the files are those of the manifest, that each record follows from the raw files beside it, that each
//! checker says the same of the recorded history once more, damaged copies included, and that the reports follow from the
//! records. Who controls the machine, the test binary and the log can still lie: a session that was altered and made
//! consistent again is told only by the hash of its manifest (plan format, D21).

mod again;
mod execution;
mod folder;
#[cfg(test)]
mod tests;

use crate::plan::{self, Plan};
use crate::report::session_verdict;
use crate::run::CheckLimits;
use crate::session::{
    Belief, Depth, Layout, PLAN_COPY, REJECTED, SESSION_SCHEMA, contents, disk, path_safe, recorded, rejected, render,
};
use crate::verdict::{ScenarioRecord, SessionRecord, SessionVerdict, Verdict};
use again::Rejudged;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// What a verification may spend, and whom it tells what it does.
pub struct Means<'a> {
    /// Of each check of a history or of a damaged copy.
    pub limits: CheckLimits,
    /// Called before each longer step.
    pub say: &'a dyn Fn(String),
}

/// Whether a statement of a session follows from its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It does: all of it was derived again.
    Stands,
    /// The run was cut off before it had ended: nothing is claimed of it but a violation that was seen. Of a session as a
    /// whole: its report and log are of before the last scenario, and cannot be derived again.
    Unfinished,
    /// Part of it could not be derived again: an oracle that is code of its author, or a check that a limit ended.
    NotRederivable,
    /// It does not.
    Contradicted,
}

/// One scenario or arm.
#[derive(Clone, Debug, Serialize)]
pub struct Verified {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The verdict that its record states.
    pub verdict: Verdict,
    /// The verdict that its files come to.
    pub derived: Verdict,
    /// Whether the first follows from the files.
    pub standing: Standing,
    /// Executions whose files were read.
    pub executions: usize,
    /// Checks of histories that were made again, those of damaged copies included.
    pub checks: usize,
    /// Why it does not stand, or what could not be derived again.
    pub reasons: Vec<String>,
}

/// What was found of a session.
#[derive(Clone, Debug, Serialize)]
pub struct Verification {
    /// Where the session is.
    pub dir: PathBuf,
    /// Slug of its plan.
    pub slug: String,
    /// SHA-256 of its manifest; `None` without one.
    pub manifest_sha256: Option<String>,
    /// Where files or reports are not what the rest of the session says.
    pub contradictions: Vec<String>,
    /// Scenarios that were under way when the run was cut off; empty of a session that is whole.
    pub unfinished: Vec<String>,
    /// Scenarios and arms with a record, in the order of their ids.
    pub scenarios: Vec<Verified>,
    /// The verdict of the session that its files come to.
    pub verdict: SessionVerdict,
}

impl Verification {
    /// The worst of all.
    pub fn standing(&self) -> Standing {
        let scenarios = self.scenarios.iter().map(|scenario| scenario.standing).max();
        let whole = match (self.contradictions.is_empty(), self.unfinished.is_empty()) {
            (false, _) => Standing::Contradicted,
            (true, false) => Standing::Unfinished,
            (true, true) => Standing::Stands,
        };
        scenarios.unwrap_or(Standing::Stands).max(whole)
    }
}

/// Verifies the session in `dir`. With `expect`, its manifest must have that SHA-256.
///
/// Time: every file is read twice, each history judged as often as it was when it was recorded. Errors: `dir` is no session,
/// or cannot be read.
pub fn verify(dir: &Path, expect: Option<&str>, means: &Means<'_>) -> Result<Verification, String> {
    let session = session_of(dir)?;
    let layout = Layout::new(dir.to_path_buf());
    (means.say)("reading the files of the manifest".to_owned());
    let contents = contents(dir).map_err(|error| format!("{}: cannot be read: {error}", dir.display()))?;
    let ended = |folder: &str| {
        let record = disk::read_json::<ScenarioRecord>(&layout.artifacts().join(folder).join("scenario.json"));
        record.ok().flatten().is_some_and(|record| !record.runs.is_empty())
    };
    let folder = folder::judge(&contents, expect, &ended);
    let (plan, plan_problem) = plan_of(dir);
    let home = PathBuf::from(&session.dir);
    let (environment, depth) = (session.environment.as_slice(), Depth::Files);
    let belief = Belief { layout: &layout, home: &home, plan: plan.as_ref(), environment, depth };
    let mut derived = recorded(&belief).map_err(|error| format!("{}: cannot be read: {error}", dir.display()))?;
    let mut contradictions = folder.contradictions;
    contradictions.extend(plan_problem);
    // A session that was cut off has a report and a log of before what came last, which nothing here can tell again;
    // the pages of scenarios that had ended must follow from their records as ever.
    let whole = folder.unfinished.is_empty();
    let ended = |path: &Path| {
        let of = |record: &&ScenarioRecord| layout.finding(&record.declared.id) == path;
        derived.iter().find(of).is_some_and(|record| !folder.unfinished.contains(&path_safe(&record.declared.id)))
    };
    contradictions.extend(reports(&belief, &session, &derived, &|path| whole || ended(path)));
    let mut scenarios = Vec::new();
    for record in &mut derived {
        if folder.unfinished.contains(&path_safe(&record.declared.id)) && !record.verdict.is_fail() {
            let why = "it was under way when the run was cut off".to_owned();
            *record = rejected(&path_safe(&record.declared.id), record.tier, why);
        }
        let unfinished = folder.unfinished.contains(&path_safe(&record.declared.id));
        scenarios.push(scenario(&layout, record, unfinished, means));
    }
    let (verdict, _) = session_verdict(plan.as_ref(), &derived);
    Ok(Verification {
        dir: dir.to_path_buf(),
        slug: session.slug,
        manifest_sha256: contents.sha256,
        contradictions,
        unfinished: folder.unfinished.into_iter().map(|name| name.replacen("__", "/", 1)).collect(),
        scenarios,
        verdict,
    })
}

fn session_of(dir: &Path) -> Result<SessionRecord, String> {
    let record: Option<SessionRecord> = disk::read_json(&dir.join("session.json"))?;
    let no_session = || format!("{} is no session: it has no session.json", dir.display());
    let record = record.ok_or_else(no_session)?;
    match record.schema == SESSION_SCHEMA {
        true => Ok(record),
        false => Err(format!("{} has the schema `{}`, not {SESSION_SCHEMA}", dir.display(), record.schema)),
    }
}

/// The plan that the session keeps, or what is wrong with the copy. A session whose plan could not be read has none.
fn plan_of(dir: &Path) -> (Option<Plan>, Option<String>) {
    match fs::read_to_string(dir.join(PLAN_COPY)) {
        Ok(text) => (Some(plan::parse(&text).0), None),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => (None, None),
        Err(error) => (None, Some(format!("{PLAN_COPY} cannot be read: {error}"))),
    }
}

/// Reports, of those that are `wanted`, that are not what follows from the records.
fn reports(
    belief: &Belief<'_>,
    session: &SessionRecord,
    derived: &[ScenarioRecord],
    wanted: &dyn Fn(&Path) -> bool,
) -> Vec<String> {
    let files = render(belief, session, derived).into_iter().filter(|(path, _)| wanted(path));
    let differs = files.filter_map(|(path, text)| {
        let shown = path.strip_prefix(belief.layout.dir()).unwrap_or(&path).display().to_string();
        match fs::read_to_string(&path) {
            Ok(there) if there == text => None,
            Ok(there) => Some(format!("{shown} is not what the records come to: {}", first_difference(&there, &text))),
            Err(error) => Some(format!("{shown} cannot be read: {error}")),
        }
    });
    differs.collect()
}

fn first_difference(there: &str, follows: &str) -> String {
    let (mut there, mut follows) = (there.lines(), follows.lines());
    let mut number = 1;
    loop {
        match (there.next(), follows.next()) {
            (Some(one), Some(other)) if one == other => number += 1,
            (one, other) => {
                let said = |line: Option<&str>| line.map_or("nothing".to_owned(), |line| format!("{line:?}"));
                return format!("line {number} says {}, and what follows is {}", said(one), said(other));
            }
        }
    }
}

fn scenario(layout: &Layout, derived: &ScenarioRecord, unfinished: bool, means: &Means<'_>) -> Verified {
    let id = &derived.declared.id;
    let stated: Option<ScenarioRecord> = disk::read_json(&layout.scenario_record(id)).ok().flatten();
    let verdict = stated.as_ref().map_or(derived.verdict, |stated| stated.verdict);
    let mut again = Rejudged::default();
    for (folder, run) in &derived.runs {
        again.add(execution::judge_again(layout, folder, &derived.declared, run, means));
    }
    let rejected = derived.why.steps.iter().filter(|step| step.rule == REJECTED).map(|step| step.reason.clone());
    let rejected: Vec<String> = rejected.collect();
    let standing = match (again.contradictions.is_empty(), again.open.is_empty()) {
        (false, _) => Standing::Contradicted,
        (true, _) if unfinished => Standing::Unfinished,
        (true, _) if !rejected.is_empty() => Standing::Contradicted,
        (true, false) => Standing::NotRederivable,
        (true, true) => Standing::Stands,
    };
    again.contradictions.extend(rejected);
    Verified {
        id: id.clone(),
        name: derived.declared.name.clone(),
        verdict,
        derived: derived.verdict,
        standing,
        executions: derived.runs.len(),
        checks: again.checks,
        reasons: again.contradictions.into_iter().chain(again.open).collect(),
    }
}
