//! The journal of a run: each act that must be undone, on disk before it is done, and the undoing of what a killed run
//! left behind.

use super::{procfs, resources, storage};
use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Name of the journal in the folder of a run.
pub const JOURNAL_FILE: &str = "journal.jsonl";

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum Act {
    /// The first line.
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
        let path = run_dir.join(JOURNAL_FILE);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.with_context(|| format!("the journal {} cannot be written", path.display()))?;
        let journal = Journal { file: Mutex::new(file) };
        journal.write(&Act::Opened { run_id: run_id.to_owned(), boot_id: procfs::boot_id() })?;
        Ok(journal)
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

/// Undoes what the journal in `run_dir` says was left: continues and kills the processes it started, each verified by
/// process id and start time, then unmounts their disks and
/// removes their control groups, each verified by the name it carries. Touches nothing the run did not make, may be called again, and says what it did.
pub fn undo_journal(run_dir: &Path) -> Vec<String> {
    let acts = match read_journal(run_dir) {
        Ok(acts) => acts,
        Err(error) => return vec![format!("nothing undone: {error:#}")],
    };
    let boot_id = procfs::boot_id();
    let (mut left, mut disks) = (BTreeMap::new(), Vec::new());
    let mut groups = Vec::new();
    for act in acts {
        match act {
            // Another boot: its processes are gone and their ids mean nothing now.
            Act::Opened { boot_id: of_run, .. } if of_run != boot_id || boot_id.is_empty() => return Vec::new(),
            Act::Started { node, pid, start_time, log } => drop(left.insert(pid, Leftover { node, start_time, log })),
            Act::Ended { pid, .. } => drop(left.remove(&pid)),
            Act::Grouping { node, at } => groups.push((node, at)),
            Act::Ungrouped { at } => groups.retain(|(_, made)| *made != at),
            Act::Mounting { node, at } => disks.push((node, at)),
            Act::Unmounted { at } => disks.retain(|(_, mounted)| *mounted != at),
            _ => {}
        }
    }
    // What is frozen cannot end.
    groups.iter().for_each(|(_, at)| resources::thaw_leftover(at));
    let mut done: Vec<String> = left.iter().flat_map(|(pid, leftover)| leftover.undo(*pid)).collect();
    done.extend(disks.iter().rev().filter_map(|(node, at)| unmount(node, at)));
    done.extend(groups.iter().rev().filter_map(|(node, at)| ungroup(node, at)));
    done
}

fn unmount(node: &str, at: &Path) -> Option<String> {
    let place = at.display();
    Some(match storage::unmount_leftover(at)? {
        Ok(()) => format!("unmounted the disk of {node} at {place}"),
        Err(error) => format!("the disk of {node} at {place} is still mounted: {error:#}"),
    })
}

fn ungroup(node: &str, at: &Path) -> Option<String> {
    let place = at.display();
    Some(match resources::remove_leftover(at)? {
        Ok(()) => format!("removed the control group of {node} at {place}"),
        Err(error) => format!("the control group of {node} at {place} is still there: {error}"),
    })
}

struct Leftover {
    node: String,
    start_time: u64,
    log: PathBuf,
}

impl Leftover {
    fn undo(&self, pid: i32) -> Vec<String> {
        let mut done = Vec::new();
        match procfs::stat(pid) {
            Ok(stat) if stat.start_time == self.start_time && stat.group == pid => {
                if stat.state != 'Z' {
                    done.push(self.end(pid));
                }
            }
            // The id belongs to another process now, so the group of ours is empty: the kernel keeps the id of a
            // group from reuse.
            Ok(_) => {}
            Err(_) => done.extend(self.end_orphans(pid)),
        }
        done
    }

    fn end(&self, pid: i32) -> String {
        let stopped = procfs::is_stopped(pid).unwrap_or(false);
        let sent = Pid::from_raw(pid).map(|group| {
            // SIGKILL first: continued first, a paused node would run on for a moment.
            let killed = kill_process_group(group, Signal::KILL);
            let _ = kill_process_group(group, Signal::CONT);
            killed
        });
        let gone = wait_until_gone(pid, self.start_time);
        let was = if stopped { "paused" } else { "running" };
        match (sent, gone) {
            (Some(Ok(())), true) => format!("killed {} (process {pid}, was {was})", self.node),
            (sent, _) => format!("{} (process {pid}, was {was}) is still there: kill returned {sent:?}", self.node),
        }
    }

    /// The leader is gone; what it left in its group is ours if it still writes to the node's log.
    fn end_orphans(&self, group: i32) -> Vec<String> {
        let ours = |pid: &i32| {
            let writes = |fd: u8| fs::read_link(format!("/proc/{pid}/fd/{fd}")).is_ok_and(|to| to == self.log);
            procfs::stat(*pid).is_ok_and(|stat| stat.start_time >= self.start_time) && (writes(1) || writes(2))
        };
        let orphans = procfs::group_members(group).into_iter().filter(ours);
        orphans
            .filter_map(|pid| {
                kill_process(Pid::from_raw(pid)?, Signal::KILL).ok()?;
                Some(format!("killed a process that {} had left behind (process {pid})", self.node))
            })
            .collect()
    }
}

fn wait_until_gone(pid: i32, start_time: u64) -> bool {
    let until = Instant::now() + Duration::from_secs(5);
    while procfs::is_same_and_alive(pid, start_time) {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn started(pid: i32, start_time: u64) -> Act {
        Act::Started { node: "n1".into(), pid, start_time, log: "/nowhere".into() }
    }

    /// A journal with `acts` of a run whose process is gone.
    fn journal(acts: &[Act]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a folder");
        let journal = Journal::open(dir.path(), "r1").expect("a journal");
        acts.iter().for_each(|act| journal.write(act).expect("written"));
        dir
    }

    fn sleeper() -> (std::process::Child, i32, u64) {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new("/bin/sleep");
        let child = command.arg("600").process_group(0).stdout(Stdio::null()).spawn().expect("sleep starts");
        let pid = i32::try_from(child.id()).expect("ids fit");
        (child, pid, procfs::stat(pid).expect("it runs").start_time)
    }

    #[test]
    fn a_leftover_is_killed_even_when_it_is_paused() {
        let (mut child, pid, start_time) = sleeper();
        kill_process_group(Pid::from_raw(pid).expect("an id"), Signal::STOP).expect("stopped");
        let dir = journal(&[started(pid, start_time), Act::Pausing { node: "n1".into(), pid, start_time }]);
        // The parent (this test) reaps: `undo_journal` runs beside it.
        let undo = std::thread::spawn({
            let path = dir.path().to_owned();
            move || undo_journal(&path)
        });
        let status = child.wait().expect("it ends");
        assert!(!status.success());
        assert!(undo.join().expect("no panic")[0].starts_with("killed n1"));
        assert_eq!(undo_journal(dir.path()), Vec::<String>::new(), "a second time there is nothing to do");
    }

    #[test]
    fn a_process_that_took_over_the_id_is_not_touched() {
        let (mut child, pid, start_time) = sleeper();
        let dir = journal(&[started(pid, start_time - 1)]);
        assert_eq!(undo_journal(dir.path()), Vec::<String>::new());
        assert!(procfs::is_same_and_alive(pid, start_time));
        child.kill().expect("still ours");
        child.wait().expect("reaped");
    }

    #[test]
    fn what_the_run_ended_itself_is_not_touched() {
        let (mut child, pid, start_time) = sleeper();
        let ended = Act::Ended { node: "n1".into(), pid, how: "signal 9".into() };
        let dir = journal(&[started(pid, start_time), ended]);
        assert_eq!(undo_journal(dir.path()), Vec::<String>::new());
        assert!(procfs::is_same_and_alive(pid, start_time));
        child.kill().expect("still ours");
        child.wait().expect("reaped");
    }

    #[test]
    fn a_journal_of_another_boot_or_none_undoes_nothing() {
        let (mut child, pid, start_time) = sleeper();
        let dir = tempfile::tempdir().expect("a folder");
        let opened = Act::Opened { run_id: "r1".into(), boot_id: "another".into() };
        let lines = [opened, started(pid, start_time)].map(|act| serde_json::to_string(&act).expect("json"));
        fs::write(dir.path().join(JOURNAL_FILE), lines.join("\n")).expect("written");
        assert_eq!(undo_journal(dir.path()), Vec::<String>::new());
        assert_eq!(undo_journal(Path::new("/nowhere")), Vec::<String>::new());
        assert!(procfs::is_same_and_alive(pid, start_time));
        child.kill().expect("still ours");
        child.wait().expect("reaped");
    }

    #[test]
    fn a_cut_off_last_line_hides_no_line_before_it() {
        let injecting = Act::Injecting { epoch: 1, nemesis: "pause".into(), detail: String::new(), victims: vec![] };
        let dir = journal(&[injecting]);
        let mut file = OpenOptions::new().append(true).open(dir.path().join(JOURNAL_FILE)).expect("there");
        file.write_all(b"{\"act\":\"inj").expect("written");
        assert_eq!(journaled_injections(dir.path()).expect("read"), 1);
    }
}
