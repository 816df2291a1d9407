//! The journal of a run: each act that must be undone, on disk before it is done.

use super::procfs::{self, Identity};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Name of the journal in the folder of a run.
pub const JOURNAL_FILE: &str = "journal.jsonl";

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum Act {
    /// The first line of a run that is supervised: whose it is. While this process lives, undoing is its own affair.
    Supervised {
        /// The supervisor.
        by: Identity,
        /// The boot that start times are relative to.
        boot_id: String,
        /// The namespace that process ids are of.
        pid_namespace: String,
    },
    /// The process of the run was started by its supervisor.
    Executing {
        /// The process.
        by: Identity,
    },
    /// The first line of the process of the run.
    Opened {
        /// The run.
        run_id: String,
        /// The boot that start times are relative to.
        boot_id: String,
    },
    /// A node's process was started. Written right after the fork; before this line the kernel alone ties the process
    /// to the run.
    Started {
        /// The node.
        node: String,
        /// Process id and group id.
        pid: i32,
        /// Start time in clock ticks since boot.
        start_time: u64,
        /// Where its output goes; tells its orphans from strangers.
        log: PathBuf,
    },
    /// A node's process is about to be stopped by SIGSTOP.
    Pausing {
        /// The node.
        node: String,
        /// Process id.
        pid: i32,
        /// Start time in clock ticks since boot.
        start_time: u64,
    },
    /// A node's process goes on.
    Resumed {
        /// Process id.
        pid: i32,
    },
    /// A node's process is about to be sent SIGKILL or SIGTERM by a nemesis.
    Ending {
        /// The node.
        node: String,
        /// Process id.
        pid: i32,
        /// The signal.
        signal: i32,
    },
    /// A node's process has ended and was reaped.
    Ended {
        /// The node.
        node: String,
        /// Process id.
        pid: i32,
        /// Wait status.
        how: String,
    },
    /// A disk is about to be mounted for a node. The mount carries a name that is made of its place.
    Mounting {
        /// The node.
        node: String,
        /// Where.
        at: PathBuf,
    },
    /// A disk was unmounted.
    Unmounted {
        /// Where it was.
        at: PathBuf,
    },
    /// A control group is about to be made for a node.
    Grouping {
        /// The node.
        node: String,
        /// Its folder.
        at: PathBuf,
    },
    /// A control group is gone.
    Ungrouped {
        /// What was its folder.
        at: PathBuf,
    },
    /// A client of containers is about to do what its command line `undo` takes back.
    ByClient {
        /// The node.
        node: String,
        /// The client and its arguments.
        undo: Vec<String>,
    },
    /// It was taken back.
    ClientUndone {
        /// By this command line.
        undo: Vec<String>,
    },
    /// A nemesis is about to be let loose. Network faults live in the proxy of the run's process and end with it.
    Injecting {
        /// Window.
        epoch: u64,
        /// Name of the nemesis.
        nemesis: String,
        /// What it does to whom.
        detail: String,
        /// Nodes that should suffer.
        victims: Vec<String>,
    },
    /// A nemesis was healed.
    Healed {
        /// Window.
        epoch: u64,
    },
}

/// The open journal of a run.
#[derive(Debug)]
pub struct Journal {
    file: Mutex<File>,
}

impl Journal {
    /// Opens `run_dir/journal.jsonl` for appending and writes its first line.
    pub fn open(run_dir: &Path, run_id: &str) -> Result<Journal> {
        let journal = Journal::append(run_dir)?;
        journal.write(&Act::Opened { run_id: run_id.to_owned(), boot_id: procfs::boot_id() })?;
        Ok(journal)
    }

    /// Opens `run_dir/journal.jsonl` for its supervisor, this process, and writes the very first line.
    pub fn supervise(run_dir: &Path) -> Result<Journal> {
        let journal = Journal::append(run_dir)?;
        let by = Identity::of_this_process().context("the start time of this process cannot be read")?;
        let (boot_id, pid_namespace) = (procfs::boot_id(), procfs::pid_namespace());
        journal.write(&Act::Supervised { by, boot_id, pid_namespace })?;
        Ok(journal)
    }

    /// Opens `run_dir/journal.jsonl` for appending.
    pub(super) fn append(run_dir: &Path) -> Result<Journal> {
        let path = run_dir.join(JOURNAL_FILE);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.with_context(|| format!("the journal {} cannot be written", path.display()))?;
        Ok(Journal { file: Mutex::new(file) })
    }

    /// Appends `act` as one line, in one write. The kernel has it when this returns, so it survives the end of this
    /// process (not that of the machine, which ends the processes too).
    pub fn write(&self, act: &Act) -> Result<()> {
        let mut line = serde_json::to_vec(act)?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&line).context("the journal cannot be written")
    }
}

/// The acts in `run_dir/journal.jsonl`, in order. A line that was cut off by a kill, and a missing file, hold nothing.
pub fn read_journal(run_dir: &Path) -> Result<Vec<Act>> {
    let path = run_dir.join(JOURNAL_FILE);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

/// How many injections the journal in `run_dir` holds, whether or not they landed.
pub fn journaled_injections(run_dir: &Path) -> Result<u64> {
    Ok(read_journal(run_dir)?.iter().filter(|act| matches!(act, Act::Injecting { .. })).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_off_last_line_hides_no_line_before_it() {
        let injecting = Act::Injecting { epoch: 1, nemesis: "pause".into(), detail: String::new(), victims: vec![] };
        let dir = tempfile::tempdir().expect("a folder");
        Journal::open(dir.path(), "r1").and_then(|journal| journal.write(&injecting)).expect("written");
        let mut file = OpenOptions::new().append(true).open(dir.path().join(JOURNAL_FILE)).expect("there");
        file.write_all(b"{\"act\":\"inj").expect("written");
        assert_eq!(journaled_injections(dir.path()).expect("read"), 1);
    }
}
