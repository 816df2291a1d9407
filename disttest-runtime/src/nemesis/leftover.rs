//! What a run left behind: found by its journal and by the machine, and undone. Nothing that the run did not make is
//! touched: a process is told by its id and start time, a disk by the name of its mount, a control group by its own.

use super::containers;
use super::journal::{Act, Journal, readable_acts};
use super::procfs::{self, Identity};
use super::{resources, storage};
use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Set for the process of a run, and so for everything that is started below it, to the folder of the run.
pub(crate) const RUN_VARIABLE: &str = "DISTTEST_RUN_DIR";

/// How long a process may take to end after SIGKILL.
const LIMIT: Duration = Duration::from_secs(5);

/// Something of a run that is still there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Left {
    /// A process.
    Process {
        /// What it was for the run.
        whose: String,
        /// Process id.
        pid: i32,
        /// Start time in clock ticks since boot.
        start_time: u64,
        /// Every task of it is stopped.
        paused: bool,
    },
    /// A mounted disk.
    Disk {
        /// The node whose disk it was.
        node: String,
        /// Where.
        at: PathBuf,
    },
    /// A control group.
    Group {
        /// The node it was made for.
        node: String,
        /// Its folder.
        at: PathBuf,
    },
    /// What a client of containers did.
    Container {
        /// The node it was done to.
        node: String,
        /// The command line that takes it back.
        undo: Vec<String>,
        /// The folder of the run, in whose journal it is told that it was.
        run_dir: PathBuf,
    },
}

/// Something that was left, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// What it was.
    pub left: Left,
    /// Why it is still there, if it is.
    pub error: Option<String>,
}

/// Who looks after what a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// Its supervisor, which lives: nobody else is to undo anything.
    Supervisor(Identity),
    /// Its supervisor is gone; its own process lives still, was told so by the kernel, and undoes what it did.
    Itself(Identity),
    /// It was made in another boot of the machine, which is over, and everything of it with it.
    AnotherBoot,
    /// It was made where process ids are others, such as in a container: what it means cannot be told from here.
    Elsewhere,
    /// Nobody.
    Nobody,
}

/// Who looks after the run in `run_dir`, as its journal tells. A supervisor lives when a process with its id has its
/// start time.
pub fn keeper(run_dir: &Path) -> Result<Keeper> {
    Ok(Story::read(run_dir)?.keeper())
}

/// What the run in `run_dir` left behind, in the order in which it is to be undone: processes, the latest first, then
/// disks, then control groups. This process is none of them.
pub fn left_behind(run_dir: &Path) -> Result<Vec<Left>> {
    Ok(Story::read(run_dir)?.left())
}

/// Undoes what the run in `run_dir` left behind: see [`left_behind`]. May be called again. The caller makes sure that the
/// run has ended.
pub fn undo(run_dir: &Path) -> Result<Vec<Undone>> {
    let story = Story::read(run_dir)?;
    let mut undone: Vec<Undone> = Vec::new();
    if story.keeper() == Keeper::AnotherBoot || story.keeper() == Keeper::Elsewhere {
        return Ok(undone);
    }
    // What is frozen cannot end.
    story.groups.iter().for_each(|(_, at)| resources::thaw_leftover(at));
    // Again for what was forked meanwhile.
    loop {
        let known = |left: &Left| undone.iter().any(|undone| undone.left.is_same(left));
        let left: Vec<Left> = story.processes().into_iter().filter(|left| !known(left)).collect();
        if left.is_empty() {
            break;
        }
        undone.extend(left.into_iter().map(Left::undo));
    }
    undone.extend(story.places().into_iter().map(Left::undo));
    Ok(undone)
}

/// As [`undo`], told as sentences.
pub fn undo_journal(run_dir: &Path) -> Vec<String> {
    match undo(run_dir) {
        Ok(undone) => undone.iter().map(Undone::to_string).collect(),
        Err(error) => vec![format!("nothing undone: {error:#}")],
    }
}

/// What a journal tells, as far as undoing goes.
#[derive(Debug, Default)]
struct Story {
    run_dir: PathBuf,
    foreign: Option<Keeper>,
    supervisor: Option<Identity>,
    executing: Option<Identity>,
    started: Vec<Started>,
    disks: Vec<(String, PathBuf)>,
    groups: Vec<(String, PathBuf)>,
    by_clients: Vec<(String, Vec<String>)>,
}

#[derive(Debug)]
struct Started {
    node: String,
    who: Identity,
    log: PathBuf,
    ended: bool,
}

impl Story {
    fn read(run_dir: &Path) -> Result<Story> {
        let boot = procfs::boot_id();
        let is_now = |boot_id: &str| boot_id == boot && !boot.is_empty();
        // Absolute, as the variable has it.
        let run_dir = run_dir.canonicalize().unwrap_or_else(|_| run_dir.to_path_buf());
        let mut story = Story { run_dir, ..Story::default() };
        // What can be read is undone; that there is more is told by whoever asks for the journal.
        for act in readable_acts(&story.run_dir)?.0 {
            match act {
                Act::Opened { boot_id, .. } | Act::Supervised { boot_id, .. } if !is_now(&boot_id) => {
                    story.foreign = Some(Keeper::AnotherBoot);
                }
                Act::Supervised { pid_namespace, .. } if pid_namespace != procfs::pid_namespace() => {
                    story.foreign = story.foreign.or(Some(Keeper::Elsewhere));
                }
                Act::Supervised { by, .. } => story.supervisor = Some(by),
                Act::Executing { by } => story.executing = Some(by),
                Act::Started { node, pid, start_time, log } => {
                    let who = Identity { pid, start_time };
                    story.started.push(Started { node, who, log, ended: false });
                }
                Act::Ended { pid, .. } => story.ended(pid),
                Act::Grouping { node, at } => story.groups.push((node, at)),
                Act::Ungrouped { at } => story.groups.retain(|(_, made)| *made != at),
                Act::ByClient { node, undo } => story.by_clients.push((node, undo)),
                Act::ClientUndone { undo } => {
                    let last = story.by_clients.iter().rposition(|(_, line)| *line == undo);
                    last.into_iter().for_each(|last| drop(story.by_clients.remove(last)));
                }
                Act::Mounting { node, at } => story.disks.push((node, at)),
                Act::Unmounted { at } => story.disks.retain(|(_, mounted)| *mounted != at),
                _ => {}
            }
        }
        Ok(story)
    }

    fn ended(&mut self, pid: i32) {
        let last = self.started.iter_mut().rfind(|started| started.who.pid == pid);
        last.into_iter().for_each(|started| started.ended = true);
    }

    fn keeper(&self) -> Keeper {
        match (self.foreign, self.supervisor, self.executing) {
            (Some(foreign), ..) => foreign,
            (_, Some(supervisor), _) if supervisor.is_alive() => Keeper::Supervisor(supervisor),
            (.., Some(executing)) if executing.is_alive() => Keeper::Itself(executing),
            _ => Keeper::Nobody,
        }
    }

    fn left(&self) -> Vec<Left> {
        if self.foreign.is_some() {
            return Vec::new();
        }
        let mut left = self.processes();
        left.extend(self.places());
        left
    }

    /// Processes of the run that live: the one that executed it, those of nodes as the journal names them, and what
    /// descends from them. A descendant is told by the variable that all of them inherit, or by the log of its node, to
    /// which it writes.
    fn processes(&self) -> Vec<Left> {
        let me = Identity::of_this_process().ok();
        let mut seen: BTreeSet<i32> = me.iter().map(|me| me.pid).collect();
        let mut left = Vec::new();
        let mut found = |whose: String, who: Identity| {
            if who.is_alive() && seen.insert(who.pid) {
                let paused = procfs::is_stopped(who.pid).unwrap_or(false);
                left.push(Left::Process { whose, pid: who.pid, start_time: who.start_time, paused });
            }
        };
        // First, so that it starts nothing more.
        self.executing.into_iter().for_each(|by| found("the process of the run".to_owned(), by));
        for started in self.started.iter().rev().filter(|started| !started.ended) {
            found(started.node.clone(), started.who);
        }
        for pid in procfs::processes() {
            // Who it is is read first: what is found out then is true of no process that began later.
            if let Ok(who) = Identity::of(pid)
                && let Some(whose) = self.descent(who)
            {
                found(whose, who);
            }
        }
        left
    }

    /// How a process descends from the run, if it does.
    fn descent(&self, who: Identity) -> Option<String> {
        let group = procfs::stat(who.pid).ok()?.group;
        let writes = |fd: u8| fs::read_link(format!("/proc/{}/fd/{fd}", who.pid)).ok();
        let outputs = [writes(1), writes(2)];
        let of_node = self.started.iter().rev().find(|started| {
            // The kernel keeps the id of a group from reuse while its leader is there.
            let in_its_group = group == started.who.pid && !started.ended && started.who.holds_its_id();
            in_its_group || who.start_time >= started.who.start_time && outputs.contains(&Some(started.log.clone()))
        });
        if let Some(started) = of_node {
            return Some(format!("a process that {} had left behind", started.node));
        }
        let inherits = procfs::has_variable(who.pid, RUN_VARIABLE, self.run_dir.to_str()?);
        inherits.then(|| "a process that the run had started".to_owned())
    }

    /// Disks, control groups and what clients did, the latest first.
    fn places(&self) -> Vec<Left> {
        let named =
            |make: fn(String, PathBuf) -> Left| move |(node, at): &(String, PathBuf)| make(node.clone(), at.clone());
        let disks = self.disks.iter().rev().map(named(|node, at| Left::Disk { node, at }));
        let groups = self.groups.iter().rev().map(named(|node, at| Left::Group { node, at }));
        let by_clients = self.by_clients.iter().rev().map(|(node, undo)| {
            let run_dir = self.run_dir.clone();
            Left::Container { node: node.clone(), undo: undo.clone(), run_dir }
        });
        disks.chain(groups).chain(by_clients).filter(Left::is_there).collect()
    }
}

impl Left {
    fn is_there(&self) -> bool {
        match self {
            Left::Process { pid, start_time, .. } => procfs::is_same_and_alive(*pid, *start_time),
            Left::Disk { at, .. } => storage::is_leftover(at),
            Left::Group { at, .. } => resources::is_leftover(at),
            // Only the journal knows: what the client shows may be somebody else's doing by now.
            Left::Container { .. } => true,
        }
    }

    /// The same process, whatever its state.
    fn is_same(&self, other: &Left) -> bool {
        match (self, other) {
            (Left::Process { pid, start_time, .. }, Left::Process { pid: id, start_time: since, .. }) => {
                (pid, start_time) == (id, since)
            }
            _ => self == other,
        }
    }

    /// What undoes it by hand.
    pub fn by_hand(&self) -> String {
        match self {
            Left::Process { pid, .. } => format!("kill -KILL {pid}"),
            Left::Disk { at, .. } => format!("umount --lazy {}", quoted(at)),
            Left::Group { at, .. } => format!("rmdir {}", quoted(at)),
            Left::Container { undo, .. } => {
                undo.iter().map(|word| quoted(Path::new(word))).collect::<Vec<_>>().join(" ")
            }
        }
    }

    fn undo(self) -> Undone {
        let done = match &self {
            Left::Process { pid, start_time, .. } => end(Identity { pid: *pid, start_time: *start_time }),
            Left::Disk { at, .. } => storage::unmount_leftover(at).unwrap_or(Ok(())),
            Left::Group { at, .. } => resources::remove_leftover(at).unwrap_or(Ok(())).map_err(anyhow::Error::from),
            // Journaled, so that it is not undone again when somebody has done something else since.
            Left::Container { undo, run_dir, .. } => containers::undo_by_client(undo)
                .and_then(|()| Journal::append(run_dir)?.write(&Act::ClientUndone { undo: undo.clone() })),
        };
        Undone { left: self, error: done.err().map(|error| format!("{error:#}")) }
    }
}

/// What it is, for a sentence.
impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Left::Process { whose, pid, paused, .. } => {
                write!(f, "{whose} (process {pid}, {})", if *paused { "paused" } else { "running" })
            }
            Left::Disk { node, at } => write!(f, "the disk of {node} at {}", at.display()),
            Left::Group { node, at } => write!(f, "the control group of {node} at {}", at.display()),
            Left::Container { node, undo, .. } => write!(f, "the container of {node} (`{}`)", undo.join(" ")),
        }
    }
}

/// What was done.
impl fmt::Display for Undone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = &self.left;
        match (&self.error, left) {
            (Some(error), _) => write!(f, "{left} is still there: {error}; by hand: {}", left.by_hand()),
            (None, Left::Process { .. }) => write!(f, "killed {left}"),
            (None, Left::Disk { .. }) => write!(f, "unmounted {left}"),
            (None, Left::Group { .. }) => write!(f, "removed {left}"),
            (None, Left::Container { .. }) => write!(f, "put back {left}"),
        }
    }
}

/// For a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

/// Kills a process, and no other one that has its id by now: the kernel is given a descriptor of the process, and the
/// start time is compared after the descriptor was had.
fn end(who: Identity) -> Result<()> {
    let Some(pid) = Pid::from_raw(who.pid) else { bail!("{} is no id of a process", who.pid) };
    let process = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => process,
        Err(Errno::SRCH) => return Ok(()),
        Err(error) => return Err(error).context("it cannot be opened (Linux 5.3 or later is needed)"),
    };
    if !who.holds_its_id() {
        return Ok(());
    }
    match pidfd_send_signal(&process, Signal::KILL) {
        Ok(()) | Err(Errno::SRCH) => {}
        Err(error) => return Err(error).context("it cannot be killed"),
    }
    let until = Instant::now() + LIMIT;
    let moment = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    // The descriptor is readable once the process has ended.
    while who.is_alive() && !matches!(poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&moment)), Ok(1)) {
        if Instant::now() > until {
            bail!("it did not end within {} s of SIGKILL", LIMIT.as_secs());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
