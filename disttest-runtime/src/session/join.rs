//! Joining a session: the first process of a run creates it, the others find it, each under the lock of the run.

use super::believed::lacking;
use super::prune::prune;
use super::rebuild::rebuild;
use super::{
    Attempt, Depth, Held, Key, Layout, PlanFile, changes_under_test, commit_under_test, discover_toolbox, disk, lock,
    write_manifest,
};
use crate::base::digest::sha256_hex;
use crate::plan::{Plan, Tier};
use crate::verdict::{Declared, RunRecord, ScenarioRecord, SessionRecord, Verdict, violates};
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The schema of [`SessionRecord`].
pub const SESSION_SCHEMA: &str = "disttest.session/1";
/// The text of the plan that the session is about, in its folder.
pub const PLAN_COPY: &str = "plan.md";
/// What a row of the environment capability matrix says of something that is missing.
pub const ABSENT: [&str; 2] = ["no", "too old"];
/// Locks and the index of runs, below the session root.
pub(super) const RUNS: &str = ".runs";

/// What a session is made from.
#[derive(Clone, Debug)]
pub struct SessionSpec<'a> {
    /// Folder of all sessions.
    pub root: &'a Path,
    /// The workspace: what is under test and where tools are looked for.
    pub workspace: &'a Path,
    /// The run.
    pub key: &'a Key,
    /// The plan.
    pub plan: &'a PlanFile,
    /// Tier asked for.
    pub tier: Tier,
    /// Extra arguments of the system under test.
    pub sut_args: &'a [String],
    /// Budgets may be missing.
    pub missing_budgets_allowed: bool,
    /// Environment capability matrix, as [`SessionRecord::environment`]; empty where nobody looked. The first to join
    /// decides.
    pub environment: &'a [(String, String, String, String)],
}

/// A session of one plan that this process belongs to.
#[derive(Clone, Debug)]
pub struct Session {
    layout: Layout,
    record: SessionRecord,
    plan: Option<Plan>,
    lock: PathBuf,
    turn: PathBuf,
}

/// How a run finds its session again.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct IndexEntry {
    pub(super) schema: String,
    pub(super) key: String,
    pub(super) plan: String,
    pub(super) dir: PathBuf,
}

impl Session {
    /// Finds the session of this run and plan, or creates it. Errors when the folder cannot be written, or when an
    /// explicit key names a session of another commit, tier or set of arguments: results of two runs are never mixed.
    pub fn join(spec: &SessionSpec<'_>) -> Result<Session> {
        let slug = spec.plan.slug();
        let identity = format!("{}\n{}", spec.key.text(), spec.plan.identity.display());
        let runs = spec.root.join(RUNS);
        let base = format!("{slug}-{}", &sha256_hex(identity.as_bytes())[..16]);
        let (index, lock_path) = (runs.join(format!("{base}.json")), runs.join(format!("{base}.lock")));
        super::create_root(spec.root).context("cannot make the session root")?;
        let _held = take(&lock_path, "joining")?;
        disk::write_atomic(&runs.join(".gitignore"), b"*\n").context("cannot write to the session root")?;
        let dir = match existing(spec, &slug, &index)? {
            Some(dir) => dir,
            None => {
                prune(&runs, SystemTime::now());
                create(spec, &slug, &index)?
            }
        };
        let record: SessionRecord = disk::read_json(&dir.join("session.json"))
            .map_err(anyhow::Error::msg)?
            .with_context(|| format!("{} has no session.json", dir.display()))?;
        let turn = runs.join(format!("{slug}.turn"));
        let session =
            Session { layout: Layout::new(dir), record, plan: spec.plan.plan().cloned(), lock: lock_path, turn };
        session.same_plan(spec)?;
        session.same_run(spec)?;
        Ok(session)
    }

    /// Paths of the session.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The session's record.
    pub fn record(&self) -> &SessionRecord {
        &self.record
    }

    /// What the scenario or arm `id` requires by its plan and was not there when the session was opened. It may have run
    /// all the same, since the operator said so: a violation is one, and a PASS is none.
    pub fn lacking(&self, id: &str) -> Vec<String> {
        lacking(self.plan.as_ref(), &self.record.environment, id)
    }

    /// Writes into the session's record that tests of it stand in the ephemeral package `folder`.
    pub fn note_harness(&mut self, folder: &Path) -> Result<()> {
        let _held = self.lock()?;
        self.record.harness = Some(folder.display().to_string());
        disk::write_json(&self.layout.session_record(), &self.record).context("cannot write the session's record")
    }

    /// The lock that the scenarios of a plan take in turn, in whatever session.
    pub fn turn_lock(&self) -> &Path {
        &self.turn
    }

    /// Notes scenarios that this process knows and that have no record yet.
    pub fn register(&self, records: &[ScenarioRecord]) -> Result<()> {
        let _held = self.lock()?;
        for record in records {
            let path = self.layout.scenario_record(&record.declared.id);
            if !path.exists() {
                self.put(record)?;
            }
        }
        Ok(())
    }

    /// Errors when the session's record of this scenario is of another test, in this binary or in another one: one of
    /// two results would be lost, or taken for a retry of the other.
    pub fn claim(&self, declared: &Declared) -> Result<()> {
        let _held = self.lock()?;
        match disk::read_json::<ScenarioRecord>(&self.layout.scenario_record(&declared.id)) {
            Ok(Some(record)) => belongs_to(&record, declared),
            // What cannot be read is moved aside by whoever begins.
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// Begins an attempt: the record of an earlier one is moved aside, so that it can never be taken for this one's.
    /// Gives the number of the attempt and the violating executions of earlier ones, which stand (a retry hides
    /// nothing). Errors when another test stands for the same scenario: one of two results would be lost.
    pub fn begin(&self, declared: &Declared) -> Result<(Attempt, Vec<(String, RunRecord)>)> {
        let _held = self.lock()?;
        let id = &declared.id;
        let current = self.layout.scenario_record(id);
        let mut attempt = Attempt(1);
        while self.layout.earlier_record(id, attempt).exists() {
            attempt.0 += 1;
        }
        let attempted = match disk::read_json::<ScenarioRecord>(&current) {
            Ok(None) => false,
            Ok(Some(record)) => {
                belongs_to(&record, declared)?;
                was_attempted(&record)
            }
            Err(_) => true,
        };
        if attempted {
            fs::rename(&current, self.layout.earlier_record(id, attempt))
                .context("cannot keep the record of an earlier attempt")?;
            attempt.0 += 1;
        }
        let mut stands = Vec::new();
        for earlier in 1..attempt.0 {
            stands.extend(self.violations_of(id, Attempt(earlier))?);
        }
        Ok((attempt, stands))
    }

    /// Writes the record of a scenario that is under way, so that a kill at any moment leaves the truth behind.
    pub fn checkpoint(&self, record: &ScenarioRecord) -> Result<()> {
        let _held = self.lock()?;
        self.put(record)
    }

    /// Writes the record of a scenario and rebuilds the reports; gives the SHA-256 of the manifest.
    pub fn finish(&self, record: &ScenarioRecord) -> Result<String> {
        let _held = self.lock()?;
        self.put(record)?;
        self.rebuild_held(Depth::Record)
    }

    /// Puts `records` in the place of what is there, which is kept aside: whoever started their tests does not believe
    /// it.
    pub fn reject(&self, records: &[ScenarioRecord]) -> Result<()> {
        let _held = self.lock()?;
        for record in records {
            let path = self.layout.scenario_record(&record.declared.id);
            if path.exists() {
                fs::rename(&path, path.with_extension("json.rejected")).context("cannot keep a rejected record")?;
            }
            self.put(record)?;
        }
        Ok(())
    }

    /// Rebuilds the reports from what is on disk; gives the SHA-256 of the manifest. Changes nothing when nothing
    /// changed. Time linear in what `depth` reads of the whole session.
    pub fn rebuild(&self, depth: Depth) -> Result<String> {
        let _held = self.lock()?;
        self.rebuild_held(depth)
    }

    /// Adds `page`, drawn of what [`Session::rebuild`] left, as `findings/report.html`; gives the SHA-256 of the manifest.
    /// The next rebuild takes it away again: it would tell of what was.
    pub fn publish(&self, page: &str) -> Result<String> {
        let _held = self.lock()?;
        disk::write_atomic(&self.layout.page(), page.as_bytes()).context("cannot write the session's page")?;
        write_manifest(self.layout.dir()).context("cannot write the session's manifest")
    }

    fn rebuild_held(&self, depth: Depth) -> Result<String> {
        rebuild(&self.layout, &self.record, self.plan.as_ref(), depth).context("cannot rebuild the session's reports")
    }

    fn lock(&self) -> Result<Held> {
        take(&self.lock, "writing a record")
    }

    fn put(&self, record: &ScenarioRecord) -> Result<()> {
        let path = self.layout.scenario_record(&record.declared.id);
        fs::create_dir_all(self.layout.scenario_dir(&record.declared.id))?;
        disk::write_json(&path, record).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Executions of an earlier attempt that saw a violation, their re-runs with them. A record that cannot be read may
    /// hide one, so it is an error.
    fn violations_of(&self, id: &str, attempt: Attempt) -> Result<Vec<(String, RunRecord)>> {
        let path = self.layout.earlier_record(id, attempt);
        let record: Option<ScenarioRecord> = disk::read_json(&path).map_err(anyhow::Error::msg)?;
        let runs = record.with_context(|| format!("{} is gone", path.display()))?.runs;
        let violating: Vec<u64> =
            runs.iter().filter(|(_, run)| violates(run)).map(|(_, run)| run.request.seed).collect();
        Ok(runs.into_iter().filter(|(_, run)| violating.contains(&run.request.seed)).collect())
    }

    /// The reports of a session say what its scenarios showed of one text of the plan. A result for another text, of a
    /// later run with the same key or after an edit while the tests ran, would be shown as one for this text.
    fn same_plan(&self, spec: &SessionSpec<'_>) -> Result<()> {
        let held = fs::read(self.layout.dir().join(PLAN_COPY)).ok();
        let now = spec.plan.found.as_ref().ok().map(|found| found.text.as_bytes());
        ensure!(
            held.as_deref() == now,
            "session {} was begun with another text of the plan {} than it has now: begin a new session",
            self.layout.dir().display(),
            spec.plan.declared
        );
        Ok(())
    }

    /// An explicit key may come again with another commit or other options: refuse, rather than mix two runs.
    fn same_run(&self, spec: &SessionSpec<'_>) -> Result<()> {
        if !spec.key.is_explicit() {
            return Ok(());
        }
        let head = |commit: &str| commit.trim_end_matches("-dirty").to_owned();
        let (ours, now) = (&self.record, commit_under_test(spec.workspace, spec.root));
        let changes = |sha256: &Option<String>| sha256.clone().unwrap_or_else(|| "none".to_owned());
        let differs = [
            ("commit", head(&ours.commit), head(&now)),
            (
                "digest of uncommitted changes",
                changes(&ours.changes),
                changes(&changes_under_test(spec.workspace, spec.root)),
            ),
            ("tier", ours.tier.to_string(), spec.tier.to_string()),
            ("arguments of the system under test", ours.sut_args.join(" "), spec.sut_args.join(" ")),
            (
                "missing budgets allowed",
                ours.missing_budgets_allowed.to_string(),
                spec.missing_budgets_allowed.to_string(),
            ),
        ]
        .into_iter()
        .find(|(_, theirs, now)| theirs != now);
        match differs {
            None => Ok(()),
            Some((what, theirs, now)) => bail!(
                "session {} belongs to another run: its {what} is `{theirs}`, now it is `{now}`. Give another DISTTEST_SESSION",
                self.layout.dir().display()
            ),
        }
    }
}

fn was_attempted(record: &ScenarioRecord) -> bool {
    !record.runs.is_empty() || record.verdict != Verdict::NotRun
}

fn belongs_to(record: &ScenarioRecord, declared: &Declared) -> Result<()> {
    // `run` notes what it could not start on behalf of no test.
    let nobodys = record.declared.package.is_empty() && !was_attempted(record);
    let (theirs, ours) = (record.declared.place(), declared.place());
    ensure!(
        nobodys || record.declared.is_same_test(declared),
        "two tests of this session stand for {}: {theirs} and {ours}. Remove one, or give it another id",
        declared.id
    );
    Ok(())
}

fn take(path: &Path, purpose: &str) -> Result<Held> {
    let holder = format!("process {} ({purpose})", std::process::id());
    lock(path, &holder).with_context(|| format!("cannot lock {}", path.display()))
}

/// The session of this run, if there is one already.
fn existing(spec: &SessionSpec<'_>, slug: &str, index: &Path) -> Result<Option<PathBuf>> {
    if let Key::Folder(folder) = spec.key {
        let dir = std::path::absolute(folder)?;
        let record = disk::read_json::<SessionRecord>(&dir.join("session.json")).map_err(anyhow::Error::msg)?;
        match record {
            Some(record) if record.slug == slug && record.plan == spec.plan.declared => return Ok(Some(dir)),
            // The folder belongs to another plan of the same run: this plan has its session in the root.
            Some(_) => {}
            None => return Ok(None),
        }
    }
    let Some(entry) = disk::read_json::<IndexEntry>(index).map_err(anyhow::Error::msg)? else { return Ok(None) };
    ensure!(entry.key == spec.key.text(), "{} belongs to another run", index.display());
    Ok(entry.dir.join("session.json").is_file().then_some(entry.dir))
}

/// Makes the folder, the record and the copy of the plan; the index comes last, so that a process killed here leaves no
/// half-made session to join.
fn create(spec: &SessionSpec<'_>, slug: &str, index: &Path) -> Result<PathBuf> {
    let dir = new_folder(spec, slug, &utc_now())?;
    let name = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // A folder given by hand need not be named after its time.
    let is_time = name.len() >= 16 && name.as_bytes()[8] == b'T' && name.as_bytes()[15] == b'Z';
    let started = if is_time { name } else { utc_now() };
    let layout = Layout::new(dir.clone());
    for folder in layout.folders() {
        fs::create_dir_all(folder)?;
    }
    if let Ok(found) = &spec.plan.found {
        disk::write_atomic(&dir.join(PLAN_COPY), found.text.as_bytes())?;
    }
    disk::write_json(&layout.session_record(), &new_record(spec, slug, started, &dir))?;
    let entry = IndexEntry {
        schema: "disttest.index/1".to_owned(),
        key: spec.key.text(),
        plan: spec.plan.identity.display().to_string(),
        dir: dir.clone(),
    };
    disk::write_json(index, &entry)?;
    Ok(dir)
}

fn new_folder(spec: &SessionSpec<'_>, slug: &str, started: &str) -> Result<PathBuf> {
    if let Key::Folder(folder) = spec.key {
        let dir = std::path::absolute(folder)?;
        if !dir.join("session.json").exists() {
            fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
            let empty = fs::read_dir(&dir)?.next().is_none();
            ensure!(empty, "DISTTEST_SESSION={} is a folder with other things in it", dir.display());
            return Ok(dir);
        }
    }
    let parent = spec.root.join(slug);
    fs::create_dir_all(&parent).with_context(|| format!("cannot create {}", parent.display()))?;
    // Two runs may begin in one second.
    for number in 1..1000 {
        let dir = parent.join(if number == 1 { started.to_owned() } else { format!("{started}-{number}") });
        match fs::create_dir(&dir) {
            Ok(()) => return Ok(dir),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("cannot create {}", dir.display())),
        }
    }
    bail!("no free session folder in {}", parent.display())
}

fn new_record(spec: &SessionSpec<'_>, slug: &str, started: String, dir: &Path) -> SessionRecord {
    let plan = spec.plan.plan();
    let sut = plan.and_then(|plan| plan.header.fields.iter().find(|field| field.label == "SUT"));
    let environment = plan.map(|plan| plan.environment.as_slice()).unwrap_or_default();
    let environment = environment.iter().map(|row| {
        let cell = |column| row.cell(column).to_owned();
        (cell("Requirement"), "not probed".to_owned(), cell("Version floor"), "plan §6b".to_owned())
    });
    SessionRecord {
        schema: SESSION_SCHEMA.to_owned(),
        slug: slug.to_owned(),
        started,
        sut: sut.map_or_else(|| "unknown".to_owned(), |field| field.value.value.clone()),
        plan: spec.plan.declared.clone(),
        commit: commit_under_test(spec.workspace, spec.root),
        changes: changes_under_test(spec.workspace, spec.root),
        dir: dir.display().to_string(),
        operator: operator(),
        toolbox: discover_toolbox(spec.workspace),
        environment: match spec.environment {
            [] => environment.collect(),
            seen => seen.to_vec(),
        },
        missing_budgets_allowed: spec.missing_budgets_allowed,
        tier: spec.tier,
        sut_args: spec.sut_args.to_vec(),
        harness: None,
    }
}

/// The name of the person as the environment has it, else the number of their account.
fn operator() -> String {
    let named = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    named("USER").or_else(|| named("LOGNAME")).or_else(|| named("USERNAME")).unwrap_or_else(account)
}

#[cfg(unix)]
fn account() -> String {
    format!("uid {}", rustix::process::getuid().as_raw())
}

#[cfg(not(unix))]
fn account() -> String {
    "unknown".to_owned()
}

/// `20261130T192154Z`.
fn utc_now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string().replace(['-', ':'], "")
}
