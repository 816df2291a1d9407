//! Faults of system calls, made by strace: it attaches to a running node and answers calls in the kernel's place.
//!
//! Every process of the node's group is traced, and what they fork. Each call that was tampered with is a line with
//! `(INJECTED)` or `(DELAYED)` in the tracer's output, which is kept in the folder of the run. While it is traced a node
//! is slower: every system call stops it for a moment.

use crate::nemesis::contract::{at, names};
use crate::nemesis::procfs::Identity;
use crate::nemesis::{Act, BoxFuture, Exit, Lacks, Nemesis, Plane, Process, needs, procfs};
use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How long the tracer may take to attach, and to let go.
const LIMIT: Duration = Duration::from_secs(5);

/// Calls that make data durable.
const SYNCS: &str = "fsync,fdatasync";

/// `fsync-failure`: calls by which nodes make data durable (fsync, fdatasync) fail with EIO; their data may be durable or
/// not, which is what that error means.
///
/// Mechanism: strace, attached to the running node. Evidence: `syscall-injections`, lines of its output that say
/// `(INJECTED)`. The heal detaches it, which the kernel confirms. Needs strace, and the right to trace one's own
/// children. A node that ends on the error (most should) ends by itself: allow that by
/// [`crate::cluster::Program::allow_exit`]; it is started again at the heal.
#[derive(Debug)]
pub struct FsyncFailure(Tampering);

/// `slow-disk`, for calls that make data durable: each fsync and fdatasync of nodes takes longer by a fixed time.
///
/// Mechanism, needs and cleanup as for [`FsyncFailure`]. Evidence: `syscall-injections`, lines that say `(DELAYED)`.
#[derive(Debug)]
pub struct SlowSync(Tampering);

#[derive(Debug)]
struct Tampering {
    nodes: Vec<String>,
    /// What strace is told to do with each call.
    how: String,
    /// What its output says of each call that it tampered with.
    mark: &'static str,
    tracers: Vec<(String, Process)>,
}

impl FsyncFailure {
    /// Has all such calls of `nodes` fail.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>) -> FsyncFailure {
        FsyncFailure(Tampering::new(names(nodes), "error=EIO".to_owned(), "(INJECTED)"))
    }

    /// Has each `n`-th such call of a thread fail.
    #[must_use]
    pub fn every(mut self, n: u32) -> FsyncFailure {
        let n = n.max(1);
        self.0.how = format!("error=EIO:when={n}+{n}");
        self
    }
}

impl SlowSync {
    /// Has each such call of `nodes` start `later`.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>, later: Duration) -> SlowSync {
        SlowSync(Tampering::new(names(nodes), format!("delay_enter={}", later.as_micros()), "(DELAYED)"))
    }
}

impl Tampering {
    fn new(nodes: Vec<String>, how: String, mark: &'static str) -> Tampering {
        Tampering { nodes, how, mark, tracers: Vec::new() }
    }

    async fn attach(&mut self, plane: &Plane) -> Result<()> {
        if self.nodes.is_empty() {
            bail!("no node is named: the fault would do nothing");
        }
        let strace = needs::program("strace", "apt-get install strace")?;
        for node in &self.nodes {
            let who = plane.nodes().process(node)?;
            let pid = who.pid;
            if let Some(by) = procfs::tracers(pid)?.into_iter().find(|by| *by != 0) {
                bail!("{node} is traced already, by process {by}");
            }
            let place = format!("strace-{node}-{pid}");
            let output =
                (1..).map(|n| plane.tools().run_dir.join(format!("{place}-{n}.txt"))).find(|path| !path.exists());
            let output = output.context("no name is free for what strace writes")?;
            File::create(&output)?;
            let errors = output.with_extension("err");
            let mut command = Command::new(&strace);
            command.args(["-f", "-qq", "-e", "signal=none", "-e"]).arg(format!("trace={SYNCS}"));
            command.arg("-e").arg(format!("inject={SYNCS}:{}", self.how)).arg("-o").arg(&output);
            for member in procfs::group_of(who)? {
                command.arg("-p").arg(member.pid.to_string());
            }
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&errors)?);
            let tracer = plane.tools().launcher.spawn(command)?;
            plane.tools().journal.write(&Act::Started {
                node: format!("the tracer of {node}"),
                pid: tracer.pid(),
                start_time: tracer.start_time(),
                log: errors.clone(),
            })?;
            self.tracers.push((node.clone(), tracer.clone()));
            until_traced(who, &tracer).await.map_err(|error| why(&error, &errors))?;
            let mut lines = Lines::of(&output, self.mark)?;
            plane.tools().meters.follow("syscall-injections", node, Box::new(move || lines.count()));
        }
        Ok(())
    }

    async fn detach(&mut self, plane: &Plane) -> Result<()> {
        let mut failed = Ok(());
        for (node, tracer) in self.tracers.drain(..) {
            failed = failed.and(let_go(&node, &tracer, plane).await);
            plane.tools().meters.settle("syscall-injections", &node);
            if !plane.nodes().runs(&node) {
                failed = failed.and(plane.nodes().start(&node).await);
            }
        }
        failed
    }
}

/// Every task of `who` is traced by `tracer`. An error when that one has ended: whom strace was given may be another.
async fn until_traced(who: Identity, tracer: &Process) -> Result<()> {
    let until = tokio::time::Instant::now() + LIMIT;
    while !procfs::tracers(who.pid)?.iter().all(|by| *by == tracer.pid()) {
        if let Some(exit) = tracer.exit() {
            bail!("strace ended: {exit}");
        }
        if tokio::time::Instant::now() > until {
            bail!("strace did not attach within {} s", LIMIT.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    if !who.holds_its_id() {
        tracer.signal(Signal::KILL)?;
        bail!("process {} ended before strace attached", who.pid);
    }
    Ok(())
}

/// What strace wrote about its failure; a refusal of the kernel is the environment's.
fn why(error: &anyhow::Error, errors: &PathBuf) -> anyhow::Error {
    let said = fs::read_to_string(errors).unwrap_or_default();
    if said.contains("Operation not permitted") {
        return Lacks::new(
            "the right to trace its own processes",
            "CAP_SYS_PTRACE, or sysctl kernel.yama.ptrace_scope=1",
        )
        .into();
    }
    anyhow::anyhow!("{error:#}: {}", said.trim())
}

async fn let_go(node: &str, tracer: &Process, plane: &Plane) -> Result<()> {
    // It has ended with the node that it traced, else it detaches on SIGTERM.
    if tracer.exit().is_none() {
        tracer.signal(Signal::TERM)?;
    }
    let ended = tokio::time::timeout(LIMIT, tracer.ended()).await;
    let exit: Exit = ended.with_context(|| format!("the tracer of {node} did not let go"))?;
    let (node_name, pid) = (format!("the tracer of {node}"), tracer.pid());
    plane.tools().journal.write(&Act::Ended { node: node_name, pid, how: exit.to_string() })?;
    match plane.nodes().process(node) {
        Ok(who) if procfs::tracers(who.pid)?.contains(&tracer.pid()) => bail!("{node} is still traced"),
        _ => Ok(()),
    }
}

/// Counts whole lines with a mark in a file that grows.
struct Lines {
    file: BufReader<File>,
    mark: &'static str,
    pending: String,
    count: u64,
}

impl Lines {
    fn of(path: &PathBuf, mark: &'static str) -> Result<Lines> {
        Ok(Lines { file: BufReader::new(File::open(path)?), mark, pending: String::new(), count: 0 })
    }

    fn count(&mut self) -> Option<f64> {
        while self.file.read_line(&mut self.pending).ok()? > 0 && self.pending.ends_with('\n') {
            self.count += u64::from(self.pending.contains(self.mark));
            self.pending.clear();
        }
        Some(self.count as f64)
    }
}

impl Nemesis for FsyncFailure {
    fn name(&self) -> &str {
        "fsync-failure"
    }

    fn detail(&self) -> String {
        format!("fsync and fdatasync of {} fail ({})", self.0.nodes.join(", "), self.0.how)
    }

    fn victims(&self) -> Vec<String> {
        self.0.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        at("syscall-injections", &self.0.nodes)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.0.attach(plane))
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.0.detach(plane))
    }
}

impl Nemesis for SlowSync {
    fn name(&self) -> &str {
        "slow-disk"
    }

    fn detail(&self) -> String {
        format!("fsync and fdatasync of {} are slow ({} us)", self.0.nodes.join(", "), self.0.how)
    }

    fn victims(&self) -> Vec<String> {
        self.0.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        at("syscall-injections", &self.0.nodes)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.0.attach(plane))
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.0.detach(plane))
    }
}
