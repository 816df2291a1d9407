//! The life of one node: its process, why it may end, and the account of how it did.

use super::binaries::{Identity, Known};
use super::{NodeSpec, Program, Site};
use crate::base::time::Nanos;
use crate::nemesis::{Act, Exit, Launcher, Process, failpoints, procfs};
use crate::verdict::{ExpectedLog, NodeBinary, NodeDeath};
use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One node and the process that plays it now.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) spec: NodeSpec,
    pub(super) log: PathBuf,
    program: Program,
    site: Arc<Site>,
    launcher: Launcher,
    life: Mutex<Life>,
}

#[derive(Debug, Default)]
struct Life {
    process: Option<Process>,
    /// The signal a nemesis sent to end `process`, if it did.
    ending: Option<Signal>,
    /// How `process` ended, once accounted for.
    ended: Option<Exit>,
    /// Everything is being taken down: an exit is no news.
    closing: bool,
    /// Exits of this node that a nemesis caused, as their wait status shows.
    exits: u64,
    /// Starts after an exit that were seen ready, as a new process shows.
    restarts: u64,
    deaths: Vec<NodeDeath>,
    /// The variant of the program that `process` is; `None`: the program itself.
    variant: Option<String>,
    /// What was started, in order.
    ran: Vec<Ran>,
    /// Starts after an exit with another binary than before.
    upgrades: u64,
    /// The processes that listen on the node's address, by id and start time, since it was ready.
    listeners: Vec<(i32, u64)>,
}

/// One start of a node.
#[derive(Clone, Debug)]
struct Ran {
    at: Nanos,
    variant: Option<String>,
    command: PathBuf,
    identity: Arc<Identity>,
}

/// How often it is looked whether those who listened live on.
const LISTENERS: Duration = Duration::from_millis(100);
/// How long the digest of a binary is waited for.
const DIGEST: Duration = Duration::from_secs(30);

impl Node {
    pub(super) fn new(
        spec: NodeSpec,
        program: Program,
        variant: Option<String>,
        site: Arc<Site>,
        launcher: Launcher,
    ) -> Node {
        let log = site.log_dir.join(format!("{}.log", spec.name()));
        let life = Life { variant, ..Life::default() };
        Node { spec, log, program, site, launcher, life: Mutex::new(life) }
    }

    /// What the program wants done before its first start.
    pub(super) async fn prepare(&self) -> Result<()> {
        self.plays().prepared(&self.spec).await
    }

    /// Lines of its log that its program's authors expect.
    pub(super) fn expected_log(&self) -> Vec<ExpectedLog> {
        self.program.expected_log_of_all()
    }

    /// The program that the node runs, or ran last.
    fn plays(&self) -> &Program {
        let variant = self.life().variant.clone();
        self.played(variant.as_deref())
    }

    fn played(&self, variant: Option<&str>) -> &Program {
        // Only variants that are there are ever noted.
        self.program.of(variant).unwrap_or(&self.program)
    }

    /// Starts the process; it is not ready yet.
    pub(super) fn launch(self: &Arc<Node>) -> Result<Process> {
        let (variant, program) = (self.variant(), self.plays());
        program.configure(&self.spec)?;
        let (file, identity) = program.binary();
        let ran = Ran { at: self.site.clock.now(), variant, command: file.to_owned(), identity };
        let mut command = program.command(&self.spec, &self.site.sut_args)?;
        if program.has_failpoints() {
            let socket = failpoints::control_socket(&self.site.run_dir, self.spec.name());
            // What an earlier process of the node left: nobody answers there.
            drop(std::fs::remove_file(&socket));
            command.env(failpoints::FAILPOINTS_VARIABLE, socket);
        }
        command.stdin(std::process::Stdio::null()).stdout(self.open_log()?).stderr(self.open_log()?);
        let mut life = self.life();
        if life.closing {
            bail!("the run is over: {} is not started", self.spec.name());
        }
        let process = self.launcher.spawn(command).with_context(|| format!("node {}", self.spec.name()))?;
        *life = Life {
            process: Some(process.clone()),
            ending: None,
            ended: None,
            listeners: Vec::new(),
            ..std::mem::take(&mut *life)
        };
        life.ran.push(ran);
        drop(life);
        self.site.journal.write(&Act::Started {
            node: self.spec.name().to_owned(),
            pid: process.pid(),
            start_time: process.start_time(),
            log: self.log.clone(),
        })?;
        let (node, watched) = (Arc::clone(self), process.clone());
        tokio::spawn(async move {
            watched.ended().await;
            node.account();
        });
        Ok(process)
    }

    /// Waits until the readiness probe succeeds; an error when the process ends first or the limit passes.
    pub(super) async fn until_ready(self: &Arc<Node>, process: &Process) -> Result<()> {
        let program = self.plays();
        let limit = program.ready_limit();
        let probing = async {
            loop {
                // One attempt must not hang for ever on a node that accepts and stays silent.
                let attempt = tokio::time::timeout(Duration::from_secs(2), program.probe(&self.spec)).await;
                match attempt {
                    Ok(Ok(())) if self.listens(process) => return,
                    _ => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        };
        tokio::select! {
            () = probing => {
                self.watch_listeners(process);
                Ok(())
            }
            exit = process.ended() => bail!("{} ended before it was ready: {exit}{}", self.spec.name(), self.log_tail()),
            () = tokio::time::sleep(limit) => {
                let last = program.probe(&self.spec);
                let why = match tokio::time::timeout(Duration::from_secs(2), last).await {
                    Ok(Ok(())) if self.listens(process) => return Ok(()),
                    Ok(Ok(())) => format!("no process of it listens on {}, and yet someone answers", self.spec.listen()),
                    Ok(Err(error)) => format!("{error:#}"),
                    Err(_) => "the readiness probe got no answer within 2 s".to_owned(),
                };
                bail!("{} was not ready within {} s: {why}{}", self.spec.name(), limit.as_secs_f32(), self.log_tail())
            }
        }
    }

    /// The node itself listens on its address, and no stranger that took the port.
    fn listens(&self, process: &Process) -> bool {
        procfs::group_listens(process.pid(), self.spec.listen())
    }

    /// The readiness probe succeeds within 1 s.
    pub(super) async fn answers(&self) -> bool {
        tokio::time::timeout(Duration::from_secs(1), self.plays().probe(&self.spec))
            .await
            .is_ok_and(|probe| probe.is_ok())
    }

    /// SIGKILL or SIGTERM on behalf of a nemesis; returns the wait status, which must fit the signal.
    pub(super) async fn end(&self, signal: Signal) -> Result<Exit> {
        let name = self.spec.name();
        let process = {
            let mut life = self.life();
            let process = self.alive(&mut life)?;
            self.site.journal.write(&Act::Ending {
                node: name.to_owned(),
                pid: process.pid(),
                signal: signal.as_raw(),
            })?;
            life.ending = Some(signal);
            process.signal(signal)?;
            if signal == Signal::TERM {
                // A paused process would not see it; one that has ended by now needs none.
                drop(process.signal(Signal::CONT));
            }
            process
        };
        let exit = match tokio::time::timeout(self.plays().stop_limit(), process.ended()).await {
            Ok(exit) => exit,
            // It stays marked: when it ends later, the nemesis did it.
            Err(_) => {
                bail!(
                    "{name} did not end within {} s of signal {}",
                    self.plays().stop_limit().as_secs(),
                    signal.as_raw()
                )
            }
        };
        self.account();
        if !fits(exit, signal) {
            bail!("{name} was sent signal {} and ended by itself: {exit}", signal.as_raw());
        }
        Ok(exit)
    }

    /// SIGSTOP, seen in every task.
    pub(super) async fn pause(&self) -> Result<()> {
        let process = {
            let mut life = self.life();
            let process = self.alive(&mut life)?;
            let (node, pid, start_time) = (self.spec.name().to_owned(), process.pid(), process.start_time());
            self.site.journal.write(&Act::Pausing { node, pid, start_time })?;
            process.signal(Signal::STOP)?;
            process
        };
        self.until_stopped(&process, true).await
    }

    /// SIGCONT, seen in a task. An error when the process has ended.
    pub(super) async fn resume(&self) -> Result<()> {
        let process = self.alive(&mut self.life())?;
        process.signal(Signal::CONT)?;
        self.until_stopped(&process, false).await?;
        self.site.journal.write(&Act::Resumed { pid: process.pid() })
    }

    async fn until_stopped(&self, process: &Process, expect: bool) -> Result<()> {
        let until = tokio::time::Instant::now() + Duration::from_secs(5);
        while process.is_stopped()? != expect {
            if tokio::time::Instant::now() > until {
                bail!(
                    "{}: not every task is {} after 5 s",
                    self.spec.name(),
                    if expect { "stopped" } else { "running" }
                );
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }

    /// Starts the node again after an exit and waits until it is ready.
    pub(super) async fn restart(self: &Arc<Node>) -> Result<()> {
        let before = {
            let life = self.life();
            match (&life.process, life.ended) {
                (Some(process), Some(_)) => (process.pid(), process.start_time()),
                _ => bail!("{} still runs: it cannot be started again", self.spec.name()),
            }
        };
        let process = self.launch()?;
        self.until_ready(&process).await?;
        if before == (process.pid(), process.start_time()) {
            bail!("{} is still the process it was", self.spec.name());
        }
        self.compare_binaries().await;
        self.life().restarts += 1;
        Ok(())
    }

    /// Looks whether the process has ended and accounts for it, once.
    pub(super) fn account(&self) {
        self.account_in(&mut self.life());
    }

    fn account_in(&self, life: &mut Life) {
        let Some(process) = life.process.as_ref().filter(|_| life.ended.is_none()) else { return };
        let Some(exit) = process.exit() else { return };
        life.ended = Some(exit);
        let (node, pid, how) = (self.spec.name().to_owned(), process.pid(), exit.to_string());
        // The account stands in the record too; a journal that cannot be written only makes `undo` look in vain.
        drop(self.site.journal.write(&Act::Ended { node: node.clone(), pid, how: how.clone() }));
        match life.ending {
            Some(signal) if fits(exit, signal) && !life.closing => life.exits += 1,
            Some(signal) if fits(exit, signal) => {}
            // Taking down is done by SIGKILL: a crash that was under way then shows another status.
            _ if life.closing && exit.is_sigkill() => {}
            _ => {
                self.died(life, how);
            }
        }
    }

    /// The node ended, or a part of it, and no nemesis did it: told at once, and kept.
    fn died(&self, life: &mut Life, how: String) {
        let allowed = self.played(life.variant.as_deref()).exit_is_allowed();
        let death = NodeDeath { node: self.spec.name().to_owned(), at: self.site.clock.now(), how, allowed };
        self.site.mourners.tell(&death);
        life.deaths.push(death);
    }

    /// From now on until `process` ends: whoever listens on the node's address is expected to live as long as it does. A
    /// supervisor that starts a crashed server again within its group would hide the crash otherwise.
    fn watch_listeners(self: &Arc<Node>, process: &Process) {
        let (node, process) = (Arc::clone(self), process.clone());
        tokio::spawn(async move {
            while node.listeners_live(&process) {
                tokio::time::sleep(LISTENERS).await;
            }
        });
    }

    /// Looks once; false when there is nothing more to look at.
    fn listeners_live(&self, process: &Process) -> bool {
        let mut life = self.life();
        let same = life.process.as_ref().is_some_and(|current| current.pid() == process.pid());
        if !same || life.closing || life.ended.is_some() || process.exit().is_some() {
            return false;
        }
        let lives = |(pid, start_time): &(i32, u64)| procfs::is_same_and_alive(*pid, *start_time);
        if life.listeners.iter().any(lives) || life.ending.is_some() {
            return true;
        }
        let now = procfs::group_listeners(process.pid(), self.spec.listen());
        let before = std::mem::replace(&mut life.listeners, now);
        if let Some((pid, _)) = before.first() {
            let others = life.listeners.first().map(|(pid, _)| format!("; process {pid} listens in its place"));
            let how = format!("process {pid}, which listened for it, ended by itself{}", others.unwrap_or_default());
            self.died(&mut life, how);
        }
        true
    }

    /// The variant of the program that the node runs, or ran last.
    pub(super) fn variant(&self) -> Option<String> {
        self.life().variant.clone()
    }

    /// Starts the node again after an exit as another variant of its program (`None`: the program itself).
    pub(super) async fn restart_as(self: &Arc<Node>, variant: Option<&str>) -> Result<()> {
        self.program.of(variant)?;
        if self.runs() {
            bail!("{} still runs: it cannot be started as another program", self.spec.name());
        }
        self.life().variant = variant.map(str::to_owned);
        self.restart().await
    }

    /// Counts an upgrade when the last start ran another binary than the one before, by their digests.
    async fn compare_binaries(self: &Arc<Node>) {
        let ran = self.life().ran.clone();
        let [.., before, now] = &ran[..] else { return };
        if Arc::ptr_eq(&before.identity, &now.identity) {
            return;
        }
        let (before, now) = (Arc::clone(&before.identity), Arc::clone(&now.identity));
        let digests = move || [before, now].map(|identity| identity.known_within(DIGEST).sha256);
        if let Ok([Some(before), Some(now)]) = tokio::task::spawn_blocking(digests).await
            && before != now
        {
            self.life().upgrades += 1;
        }
    }

    /// What the node ran, in order; a start with what ran before is not told again.
    pub(super) fn binaries(&self) -> Vec<NodeBinary> {
        let ran = self.life().ran.clone();
        let of = |ran: &Ran| {
            let Known { sha256, version } = ran.identity.known_within(DIGEST);
            let command = ran.command.display().to_string();
            NodeBinary {
                node: self.spec.name().to_owned(),
                at: ran.at,
                variant: ran.variant.clone(),
                command,
                sha256,
                version,
            }
        };
        let mut told: Vec<NodeBinary> = ran.iter().map(of).collect();
        told.dedup_by(|now, before| NodeBinary { at: before.at, ..now.clone() } == *before);
        told
    }

    /// The running process; an exit found here is accounted for and is an error.
    fn alive(&self, life: &mut Life) -> Result<Process> {
        self.account_in(life);
        match (&life.process, life.ended) {
            (Some(process), None) => Ok(process.clone()),
            (_, Some(exit)) => bail!("{} does not run: {exit}", self.spec.name()),
            (None, None) => bail!("{} was never started", self.spec.name()),
        }
    }

    /// Waits until the node answers, or has ended, for at most `limit`: one that is about to die neither answers nor
    /// has ended yet.
    pub(super) async fn answers_or_ends(&self, limit: Duration) {
        let Ok(process) = self.alive(&mut self.life()) else { return };
        let probing = async {
            while self.plays().probe(&self.spec).await.is_err() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! {
            () = probing => {}
            _ = process.ended() => {}
            () = tokio::time::sleep(limit) => {}
        }
    }

    /// Kills the process without waiting; from now on an exit by SIGKILL is no news and no start succeeds.
    pub(super) fn close(&self) -> Option<Process> {
        let mut life = self.life();
        self.account_in(&mut life);
        life.closing = true;
        let process = life.process.clone().filter(|_| life.ended.is_none())?;
        drop(process.signal(Signal::KILL));
        Some(process)
    }

    pub(super) fn deaths(&self) -> Vec<NodeDeath> {
        self.account();
        self.life().deaths.clone()
    }

    /// Whether an exit by SIGKILL is the doing of a nemesis though it sends no signal itself.
    pub(super) fn expect_kill(&self, expected: bool) -> Result<()> {
        let mut life = self.life();
        if expected {
            self.alive(&mut life)?;
            life.ending = Some(Signal::KILL);
        } else {
            self.account_in(&mut life);
            // One that has ended was accounted for.
            life.ending = life.ending.filter(|_| life.ended.is_some());
        }
        Ok(())
    }

    /// Process id and start time of the running process.
    pub(super) fn process(&self) -> Result<procfs::Identity> {
        Ok(self.alive(&mut self.life())?.identity())
    }

    pub(super) fn pid(&self) -> Option<i32> {
        self.alive(&mut self.life()).ok().map(|process| process.pid())
    }

    pub(super) fn runs(&self) -> bool {
        self.alive(&mut self.life()).is_ok()
    }

    /// Reading of a process signal; `None` for a name that is none or a state that cannot be read.
    pub(super) fn reading(&self, signal: &str) -> Option<f64> {
        let mut life = self.life();
        self.account_in(&mut life);
        let count = |n: u64| Some(n as f64);
        match signal {
            "process-exit" => count(life.exits),
            "process-restarted" => count(life.restarts),
            "process-upgraded" => count(life.upgrades),
            "process-stopped" => match (&life.process, life.ended) {
                (Some(process), None) => process.is_stopped().ok().map(|stopped| if stopped { 1.0 } else { 0.0 }),
                _ => Some(0.0),
            },
            _ => None,
        }
    }

    fn open_log(&self) -> Result<File> {
        let log = OpenOptions::new().create(true).append(true).open(&self.log);
        log.with_context(|| format!("{} cannot be written", self.log.display()))
    }

    /// The end of the node's log, for an error message.
    pub(super) fn log_tail(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text[text.len().saturating_sub(2000)..]).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines[lines.len().saturating_sub(8)..].join("\n  ");
        if tail.is_empty() { "; its log is empty".to_owned() } else { format!("; its log ends\n  {tail}") }
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fits(exit: Exit, signal: Signal) -> bool {
    if signal == Signal::KILL { exit.is_sigkill() } else { exit.is_graceful() }
}
