//! The journal of a run: each act that must be undone, on disk before it is done.

use super::procfs::{self, Identity};
use anyhow::{Context, Result, bail};
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

/// The acts in `run_dir/journal.jsonl`, in order. A last line that was cut off by a kill, and a missing file, hold nothing.
/// Any other line that is no act is an error, which names it: it may tell of something that is to be undone.
pub fn read_journal(run_dir: &Path) -> Result<Vec<Act>> {
    let (acts, unreadable) = readable_acts(run_dir)?;
    match unreadable {
        Some(line) => bail!("{}:{line}: no act that this version knows", run_dir.join(JOURNAL_FILE).display()),
        None => Ok(acts),
    }
}

/// The acts that can be read, and the number of the first line that should and cannot.
pub(super) fn readable_acts(run_dir: &Path) -> Result<(Vec<Act>, Option<usize>)> {
    let path = run_dir.join(JOURNAL_FILE);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((Vec::new(), None)),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
    };
    let (mut acts, mut unreadable) = (Vec::new(), None);
    for (line, number) in text.split_inclusive(|byte| *byte == b'\n').zip(1..) {
        match serde_json::from_slice(line) {
            Ok(act) => acts.push(act),
            Err(_) if line.ends_with(b"\n") => unreadable = unreadable.or(Some(number)),
            Err(_) => {}
        }
    }
    Ok((acts, unreadable))
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

    #[test]
    fn a_line_that_is_no_act_is_named_and_hides_no_other_line() {
        let dir = tempfile::tempdir().expect("a folder");
        let check = |text: &[u8], readable: usize, expect: &str| {
            fs::write(dir.path().join(JOURNAL_FILE), text).expect("written");
            let said = read_journal(dir.path()).expect_err("an error").to_string();
            assert!(said.contains(expect), "{said}");
            assert_eq!(readable_acts(dir.path()).expect("read").0.len(), readable);
        };
        check(b"garbage\n", 0, "journal.jsonl:1: no act");
        check(
            b"{\"act\":\"resumed\",\"pid\":1}\n\xff\xfe\n{\"act\":\"resumed\",\"pid\":2}\n",
            2,
            "journal.jsonl:2: no act",
        );
        check(b"{\"act\":\"of a later version\"}\n{\"act\":\"res", 0, "journal.jsonl:1: no act");
    }
}
