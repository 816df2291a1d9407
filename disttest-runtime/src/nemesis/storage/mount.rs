//! Disks of nodes' own: mounted in the folder of the run, journaled, and unmounted on every way out.

use super::faulty::{Faulty, Session};
use crate::nemesis::{Act, Journal, Lacks, Tools};
use anyhow::{Context, Result, bail};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::ffi::CString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

/// What is mounted as a node's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disk {
    /// Nothing: a plain folder in the folder of the run.
    Folder,
    /// A file system in memory (tmpfs) that holds so many bytes, so that it can be full. What it holds is gone with the
    /// run. Needs CAP_SYS_ADMIN in its namespace, and as much memory as is written.
    Sized {
        /// Its size in bytes, rounded up to whole pages.
        bytes: u64,
    },
    /// A file system of this process over a plain folder (FUSE), which can forget what was not synced, fail, be slow and
    /// flip bits. Needs the feature `fuse` of this crate, /dev/fuse with the right to use it, and `fusermount3` unless the
    /// tests run as root. Every call costs a change of process or two.
    Faulty,
}

/// A mounted disk of one node.
#[derive(Debug)]
pub struct Mounted {
    node: String,
    /// Where it is mounted.
    at: PathBuf,
    journal: Arc<Journal>,
    is_mounted: Mutex<bool>,
    faulty: Option<Arc<Faulty>>,
    /// What serves a faulty disk; ends with it.
    session: Mutex<Option<Session>>,
}

impl Disk {
    /// A disk in memory of `bytes`.
    pub fn sized(bytes: u64) -> Disk {
        Disk::Sized { bytes }
    }

    /// Makes the disk of `node` at the empty folder `at`; `None` for a plain folder.
    pub(crate) fn mount(&self, node: &str, at: &Path, tools: &Tools) -> Result<Option<Arc<Mounted>>> {
        match self {
            Disk::Folder => Ok(None),
            Disk::Sized { bytes: 0 } => bail!("a disk of 0 bytes holds nothing (0 would mean without a limit)"),
            Disk::Sized { bytes } => Disk::mount_sized(*bytes, node, at, tools),
            Disk::Faulty => Disk::mount_faulty(node, at, tools),
        }
    }

    fn mount_faulty(node: &str, at: &Path, tools: &Tools) -> Result<Option<Arc<Mounted>>> {
        let root = at.with_extension("disk");
        fs::create_dir_all(&root)?;
        let mut disk = Mounted::announce(node, at, tools)?;
        let (faulty, session) = super::faulty::mount(&disk.at, root, &source_of(&disk.at))?;
        (disk.faulty, disk.session) = (Some(faulty), Mutex::new(Some(session)));
        disk.settled_in(tools)?;
        Ok(Some(Arc::new(disk)))
    }

    fn mount_sized(bytes: u64, node: &str, at: &Path, tools: &Tools) -> Result<Option<Arc<Mounted>>> {
        let options = CString::new(format!("size={bytes},mode=0700"))?;
        let disk = Mounted::announce(node, at, tools)?;
        let at = disk.at.as_path();
        mount(source_of(at), at, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())
            .map_err(|errno| lacks_mounts(errno).into())
            .and_then(|()| disk.settled_in(tools))?;
        Ok(Some(Arc::new(disk)))
    }
}

/// The name that a mount of ours carries in the table of mounts: nobody else's does.
fn source_of(at: &Path) -> String {
    format!("disttest:{}", at.display())
}

fn lacks_mounts(errno: Errno) -> Lacks {
    let hint = "run as root, or in a user namespace: unshare --user --map-root-user --mount";
    Lacks::new(format!("the right to mount a disk: {errno}"), hint)
}

impl Mounted {
    /// Journals a mount that is about to be made.
    fn announce(node: &str, at: &Path, tools: &Tools) -> Result<Mounted> {
        let at = at.canonicalize().with_context(|| format!("{}", at.display()))?;
        tools.journal.write(&Act::Mounting { node: node.to_owned(), at: at.clone() })?;
        let journal = Arc::clone(&tools.journal);
        let (is_mounted, session) = (Mutex::new(true), Mutex::new(None));
        Ok(Mounted { node: node.to_owned(), at, journal, is_mounted, faulty: None, session })
    }

    /// The kernel shows the mount; from now on its free space is metered.
    fn settled_in(&self, tools: &Tools) -> Result<()> {
        if !is_leftover(&self.at) {
            bail!("{} was mounted and is not in the table of mounts", self.at.display());
        }
        fs::create_dir(self.folder())?;
        let at = self.at.clone();
        let exhausted = move || {
            let free = rustix::fs::statvfs(&at).ok()?.f_bavail;
            Some(f64::from(u8::from(free == 0)))
        };
        tools.meters.follow("disk-exhausted", &self.node, Box::new(exhausted));
        Ok(())
    }

    /// The folder on it that is the node's own.
    pub fn folder(&self) -> PathBuf {
        self.at.join("data")
    }

    /// What can be told to be wrong with it.
    pub(super) fn faulty(&self) -> Option<&Arc<Faulty>> {
        self.faulty.as_ref()
    }

    /// A place on it that the node does not see.
    pub(super) fn ballast(&self) -> PathBuf {
        self.at.join("ballast")
    }

    /// Bytes that can still be written.
    pub(super) fn free(&self) -> Result<u64> {
        let stat = rustix::fs::statvfs(&self.at).with_context(|| format!("{}", self.at.display()))?;
        Ok(stat.f_bavail * stat.f_frsize)
    }

    /// Unmounts it, whatever still has files open on it. May be called again.
    pub(crate) fn unmount(&self) {
        let mut is_mounted = self.is_mounted.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_mounted && unmount_leftover(&self.at).is_none_or(|done| done.is_ok()) {
            *is_mounted = false;
            // Without the line `undo` looks for the mount in vain.
            drop(self.journal.write(&Act::Unmounted { at: self.at.clone() }));
            // After the mount is gone, so that ending it finds nothing more to unmount.
            let _ended = self.session.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.unmount();
    }
}

/// Unmounts what a run mounted at `at`; `None` when nothing of a run is mounted there.
pub(crate) fn unmount_leftover(at: &Path) -> Option<Result<()>> {
    let kind = ours(at)?;
    Some(match unmount(at, UnmountFlags::DETACH) {
        // Who may not unmount may have been helped to mount, and is helped again.
        Err(Errno::PERM) if kind.starts_with("fuse") => unmount_with_help(at),
        done => done.with_context(|| format!("{}", at.display())),
    })
}

fn unmount_with_help(at: &Path) -> Result<()> {
    let output = Command::new("fusermount3").args(["-u", "-z", "--"]).arg(at).output().context("fusermount3")?;
    if !output.status.success() {
        bail!("fusermount3: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

/// Something that a run mounted is mounted at `at`.
pub(crate) fn is_leftover(at: &Path) -> bool {
    ours(at).is_some()
}

/// The kind of file system at `at`, if what is mounted there now was mounted by a run: it carries the name that only a
/// run gives to a mount of this place.
fn ours(at: &Path) -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let (place, source) = (escaped(&at.display().to_string()), escaped(&source_of(at)));
    // The last one at a place covers those below it.
    let top = mounts.lines().rfind(|line| line.split(' ').nth(4) == Some(place.as_str()))?;
    let (kind, rest) = top.split_once(" - ")?.1.split_once(' ')?;
    (rest.split(' ').next() == Some(source.as_str())).then(|| kind.to_owned())
}

/// As the table of mounts writes names (proc_pid_mountinfo(5)).
fn escaped(name: &str) -> String {
    name.replace('\\', "\\134")
        .replace(' ', "\\040")
        .replace('\t', "\\011")
        .replace('\n', "\\012")
        .replace('#', "\\043")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_that_no_run_made_is_not_touched() {
        assert!(unmount_leftover(Path::new("/proc")).is_none());
        assert!(unmount_leftover(Path::new("/no/such/place")).is_none());
    }

    #[test]
    fn names_are_written_as_the_table_of_mounts_writes_them() {
        let check = |name: &str, expect: &str| assert_eq!(escaped(name), expect);
        check("/a b/c", "/a\\040b/c");
        check("a\\b", "a\\134b");
        check("a\tb#", "a\\011b\\043");
    }
}
