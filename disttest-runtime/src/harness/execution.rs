//! One execution of one seed: a child process from its start to its certain end.

use super::child::{CHILD, REQUEST, RUNNER};
use super::console::Console;
use super::interrupt::Interrupts;
use super::process;
use super::progress::Tail;
use crate::nemesis::procfs::Identity;
use crate::nemesis::{Act, Journal, RUN_VARIABLE, undo_journal};
use crate::run::seal;
use crate::session::{disk, read_run, settle_run};
use crate::verdict::{RunRecord, RunRequest};
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tokio::time::Instant;

/// Between asking a child to end and ending it. Below the ten seconds that nextest gives the supervisor.
const GRACE: Duration = Duration::from_secs(8);
/// Between two lines of progress where there is no terminal.
const QUIET: Duration = Duration::from_secs(30);

/// How a child ends that did what it was asked.
const CLEAN: &str = "exit status 0";

/// What to run and how long it may take.
#[derive(Debug)]
pub(crate) struct Execution {
    /// Test name.
    pub(crate) name: String,
    /// The request; its folders are made here.
    pub(crate) request: RunRequest,
    /// How long it should take.
    pub(crate) expected: Duration,
    /// How long it may take.
    pub(crate) deadline: Duration,
}

/// How it ended.
#[derive(Debug)]
pub(crate) struct Executed {
    /// What it left on disk, read without trust.
    pub(crate) record: RunRecord,
    /// What the supervisor saw, for the timeline: how the process ended, what had to be undone.
    pub(crate) notes: Vec<String>,
    /// The supervisor was asked to stop meanwhile.
    pub(crate) interrupted: Option<&'static str>,
}

/// Why a child is being ended.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Deadline(Duration),
    Interrupted(&'static str),
}

impl Execution {
    /// The folder of the execution.
    pub(crate) fn run_dir(&self) -> PathBuf {
        PathBuf::from(&self.request.run_dir)
    }

    /// Makes the folders and the request. An execution folder is never used twice.
    pub(crate) fn prepare(&self) -> Result<()> {
        let run_dir = self.run_dir();
        fs::create_dir_all(run_dir.parent().unwrap_or(Path::new(".")))?;
        fs::create_dir(&run_dir).with_context(|| format!("cannot make a fresh folder {}", run_dir.display()))?;
        fs::create_dir_all(&self.request.log_dir)?;
        disk::write_json(&run_dir.join("request.json"), &self.request)?;
        Ok(())
    }

    /// Runs the child to its end, whatever happens, and reads what it left. After this no fault and no process of the
    /// execution is left.
    pub(crate) async fn run(&self, console: &mut Console, interrupts: &mut Interrupts) -> Result<Executed> {
        let run_dir = self.run_dir();
        let secret = seal::secret();
        let (how, ending) = match Journal::supervise(&run_dir).and_then(|journal| self.spawn(&secret, &journal)) {
            Ok(child) => self.watch(child, console, interrupts).await?,
            Err(error) => (format!("its process could not be started: {error:#}"), None),
        };
        let how = match seal::unsealed(&run_dir, &secret)? {
            Some(why) => format!("{how}; {why}"),
            None => how,
        };
        let mut notes = undo_journal(&run_dir);
        settle_run(&run_dir, &self.request, &how, notes.clone())?;
        if how != CLEAN {
            notes.insert(0, format!("process of seed {}: {how}", self.request.seed));
        }
        let interrupted = match ending {
            Some(Ending::Interrupted(signal)) => Some(signal),
            _ => None,
        };
        Ok(Executed { record: read_run(&run_dir, &self.request), notes, interrupted })
    }

    fn spawn(&self, secret: &str, journal: &Journal) -> Result<tokio::process::Child> {
        // As whoever undoes the run finds it.
        let run_dir = self.run_dir().canonicalize()?;
        let log = File::create(run_dir.join("test.log"))?;
        // It can be read once; neither a file nor the environment keeps it.
        let (given, mut give) = std::io::pipe()?;
        give.write_all(secret.as_bytes())?;
        drop(give);
        let mut command = Command::new(std::env::current_exe().context("where is this test binary?")?);
        command
            .args(["--exact", &self.name, "--nocapture", "--include-ignored"])
            .env(CHILD, std::process::id().to_string())
            .env(REQUEST, run_dir.join("request.json"))
            .env(RUN_VARIABLE, &run_dir)
            .env_remove(RUNNER)
            .stdin(given)
            .stdout(log.try_clone()?)
            .stderr(log);
        process::detach(&mut command);
        let child = tokio::process::Command::from(command).kill_on_drop(true).spawn()?;
        // Nobody has waited for it yet, so that the id is its own.
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).context("a new process has an id")?;
        journal.write(&Act::Executing { by: Identity::of(pid)? })?;
        Ok(child)
    }

    /// Waits for the end of the child; asks for it at the deadline or on a signal, insists after the grace.
    async fn watch(
        &self,
        mut child: tokio::process::Child,
        console: &mut Console,
        interrupts: &mut Interrupts,
    ) -> Result<(String, Option<Ending>)> {
        let pid = child.id().context("a child that was not waited for has an id")?;
        let started = Instant::now();
        let mut limit = started + self.deadline;
        let (mut ending, mut killed) = (None, false);
        let mut report = Report::new(self, console.live, started);
        let status = loop {
            tokio::select! {
                status = child.wait() => break status?,
                () = tokio::time::sleep_until(limit) => match ending {
                    None => {
                        console.note(&format!("{}: its deadline of {:?} passed; ending it", self.name, self.deadline));
                        process::ask_to_end(pid);
                        (ending, limit) = (Some(Ending::Deadline(self.deadline)), Instant::now() + GRACE);
                    }
                    Some(_) => {
                        process::kill_group(pid);
                        child.start_kill()?;
                        (killed, limit) = (true, Instant::now() + GRACE);
                    }
                },
                signal = interrupts.next() => {
                    // The second one is impatient: no more grace.
                    if let Some(Ending::Interrupted(_)) = ending {
                        limit = Instant::now();
                    } else {
                        console.note(&format!("{signal}: ending {}, faults are being healed", self.name));
                        process::ask_to_end(pid);
                        (ending, limit) = (Some(Ending::Interrupted(signal)), Instant::now() + GRACE);
                    }
                },
                () = report.tick() => report.show(self, console),
            }
        };
        Ok((describe(status, ending, killed), ending))
    }
}

fn describe(status: std::process::ExitStatus, ending: Option<Ending>, killed: bool) -> String {
    let why = match ending {
        None => return process::describe(status),
        Some(Ending::Deadline(deadline)) => format!("its deadline of {deadline:?} passed"),
        Some(Ending::Interrupted(signal)) => format!("{signal} came"),
    };
    let insisted = if killed { format!(", SIGKILL after {GRACE:?}") } else { String::new() };
    format!("{why}: SIGTERM{insisted}, then {}", process::describe(status))
}

/// Lines of progress at a bearable rate.
struct Report {
    tail: Tail,
    interval: tokio::time::Interval,
    started: Instant,
}

impl Report {
    fn new(execution: &Execution, live: bool, started: Instant) -> Report {
        let period = if live { Duration::from_millis(500) } else { QUIET };
        let mut interval = tokio::time::interval_at(started + period, period);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        Report { tail: Tail::new(execution.run_dir().join("events.jsonl")), interval, started }
    }

    async fn tick(&mut self) {
        self.interval.tick().await;
    }

    fn show(&mut self, execution: &Execution, console: &mut Console) {
        let RunRequest { scenario, seed, rerun, .. } = &execution.request;
        let again = if *rerun > 0 { format!(" re-run {rerun}") } else { String::new() };
        let (passed, of) = (self.started.elapsed().as_secs(), execution.expected.as_secs());
        let latest = self.tail.latest().unwrap_or_else(|| "starting".to_owned());
        console.progress(&format!("{scenario} seed {seed}{again}: {passed} s of about {of} s: {latest}"));
    }
}
