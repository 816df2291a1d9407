//! A file system between a node and a plain folder (FUSE, in this process), which forgets what was not synced, fails,
//! is slow, or flips bits when it is told to.
//!
//! Files live in the folder behind it. Names are kept at once: a file that was made, renamed or removed stays so. What
//! is in a file is kept once fsync or fdatasync of it has returned, or when it was opened with O_SYNC or O_DSYNC.

use super::ledger::Ledger;
use super::wrong::{Calls, Count, Loss, Wrong};
use crate::base::rng::Rng;
use crate::nemesis::Lacks;
use fuser::{
    AccessFlags, BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, MountOption, Notifier, OpenAccMode, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, SessionACL, TimeOrNow,
    WriteFlags,
};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

/// The kernel asks each time: what it remembered would be wrong after a loss.
const NOW: Duration = Duration::ZERO;
const O_SYNC: i32 = 0o4_010_000;
const O_DSYNC: i32 = 0o10_000;

impl Calls {
    fn include(self, call: Calls) -> bool {
        self == Calls::All || self == call
    }
}

/// The disk of one node, as the harness holds it.
#[derive(Debug)]
pub(super) struct Faulty {
    root: PathBuf,
    state: Mutex<State>,
    wrong: Mutex<Wrong>,
    failed: AtomicU64,
    delayed: AtomicU64,
    flipped: AtomicU64,
    notifier: OnceLock<Notifier>,
}

/// The kernel's side of a mounted disk; ends when it is dropped.
pub(super) type Session = fuser::BackgroundSession;

/// Mounts a disk at `at`, whose files live in the folder `root`; `source` is what the table of mounts calls it.
pub(super) fn mount(at: &Path, root: PathBuf, source: &str) -> anyhow::Result<(Arc<Faulty>, Session)> {
    let mut config = fuser::Config::default();
    config.mount_options = vec![MountOption::FSName(source.to_owned()), MountOption::DefaultPermissions];
    // Nodes may run as somebody else, where we may allow that.
    config.acl = if rustix::process::geteuid().is_root() { SessionACL::All } else { SessionACL::Owner };
    // A slow call of one thread of the node must not hold up the others.
    config.n_threads = Some(4);
    let disk = Arc::new(Faulty::new(root));
    let session = fuser::Session::new(Mountable(Arc::clone(&disk)), at, &config).and_then(fuser::Session::spawn);
    let session = session.map_err(|error| {
        let hint = "apt-get install fuse3, and read and write access to /dev/fuse";
        Lacks::new(format!("a file system in user space: {error}"), hint)
    })?;
    // Set once: the disk is new.
    drop(disk.notifier.set(session.notifier()));
    Ok((disk, session))
}

#[derive(Debug, Default)]
struct State {
    /// Where each file is that the kernel knows of, relative to the root.
    paths: HashMap<u64, PathBuf>,
    open: HashMap<u64, Open>,
    handles: u64,
    ledger: Ledger,
}

#[derive(Clone, Debug)]
struct Open {
    ino: u64,
    file: Arc<File>,
    /// Opened with O_SYNC or O_DSYNC.
    keeps: bool,
}

type Answer<T> = Result<T, Errno>;

impl Faulty {
    /// A disk whose files live in the folder `root`.
    fn new(root: PathBuf) -> Faulty {
        let (failed, delayed, flipped) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let state = State { paths: HashMap::from([(INodeNo::ROOT.0, PathBuf::new())]), ..State::default() };
        let (state, wrong, notifier) = (Mutex::new(state), Mutex::default(), OnceLock::new());
        Faulty { root, state, wrong, failed, delayed, flipped, notifier }
    }

    /// Changes what is wrong with it from now on. What the kernel remembers of files is forgotten.
    pub(super) fn set(&self, change: impl FnOnce(&mut Wrong)) {
        change(&mut self.wrong());
        self.forget_what_was_read();
    }

    /// What it has counted.
    pub(super) fn count(&self, what: Count) -> u64 {
        let count = match what {
            Count::Failed => &self.failed,
            Count::Delayed => &self.delayed,
            Count::Flipped => &self.flipped,
        };
        count.load(Ordering::Relaxed)
    }

    /// Bytes that were written and not synced.
    pub(super) fn unsynced(&self) -> u64 {
        self.state().ledger.unsynced()
    }

    /// Files that somebody has open.
    pub(super) fn open_files(&self) -> usize {
        self.state().open.len()
    }

    /// Loses what was not synced.
    pub(super) fn lose(&self, tear: Option<&mut Rng>) -> io::Result<Loss> {
        let mut state = self.state();
        let State { paths, ledger, .. } = &mut *state;
        let open = |ino: u64| OpenOptions::new().read(true).write(true).open(self.root.join(paths.get(&ino)?)).ok();
        let loss = ledger.lose(open, tear);
        drop(state);
        self.forget_what_was_read();
        loss
    }

    fn forget_what_was_read(&self) {
        let files: Vec<u64> = self.state().paths.keys().copied().collect();
        if let Some(notifier) = self.notifier.get() {
            // A file that the kernel does not hold any more has nothing to forget.
            files.iter().for_each(|ino| drop(notifier.inval_inode(INodeNo(*ino), 0, 0)));
        }
    }

    /// Whether `call` fails, after the time that it takes.
    fn gate(&self, call: Calls) -> Answer<()> {
        let (fail, delay) = {
            let wrong = self.wrong();
            (wrong.fail, wrong.delay)
        };
        if let Some((_, time)) = delay.filter(|(calls, _)| calls.include(call)) {
            std::thread::sleep(time);
            self.delayed.fetch_add(1, Ordering::Relaxed);
        }
        match fail.filter(|calls| calls.include(call)) {
            None => Ok(()),
            Some(_) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                Err(Errno::EIO)
            }
        }
    }

    fn flip(&self, data: &mut [u8]) {
        if let (Some(rng), false) = (&mut self.wrong().flip, data.is_empty()) {
            let bit = rng.below(data.len() as u64 * 8);
            data[(bit / 8) as usize] ^= 1 << (bit % 8);
            self.flipped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wrong(&self) -> MutexGuard<'_, Wrong> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, ino: INodeNo) -> Answer<PathBuf> {
        Ok(self.root.join(self.state().paths.get(&ino.0).ok_or(Errno::ENOENT)?))
    }

    fn child(&self, parent: INodeNo, name: &OsStr) -> Answer<PathBuf> {
        Ok(self.path(parent)?.join(name))
    }

    fn opened(&self, fh: FileHandle) -> Answer<Open> {
        self.state().open.get(&fh.0).cloned().ok_or(Errno::EBADF)
    }

    /// The file `ino`, open for writing: by `fh`, by any handle, or by its name.
    fn writable(&self, ino: INodeNo, fh: Option<FileHandle>) -> Answer<Arc<File>> {
        if let Some(fh) = fh {
            return Ok(self.opened(fh)?.file);
        }
        Ok(Arc::new(OpenOptions::new().read(true).write(true).open(self.path(ino)?)?))
    }

    /// What is at `path`, which the kernel will know by its number from now on.
    fn meet(&self, path: &Path) -> Answer<FileAttr> {
        let attr = attr(&path.symlink_metadata()?);
        let relative = path.strip_prefix(&self.root).map_err(|_| Errno::EIO)?.to_owned();
        if !relative.as_os_str().is_empty() {
            self.state().paths.insert(attr.ino.0, relative);
        }
        Ok(attr)
    }

    fn attr_of(&self, ino: INodeNo, fh: Option<FileHandle>) -> Answer<FileAttr> {
        let by_handle = fh.and_then(|fh| self.opened(fh).ok());
        let by_any = || self.state().open.values().find(|open| open.ino == ino.0).map(|open| Arc::clone(&open.file));
        let meta = match by_handle {
            Some(open) => open.file.metadata()?,
            None => match self.path(ino).and_then(|path| Ok(path.symlink_metadata()?)) {
                Ok(meta) => meta,
                // Its name is gone, and somebody has it open.
                Err(error) => by_any().ok_or(error)?.metadata()?,
            },
        };
        Ok(FileAttr { ino, ..attr(&meta) })
    }

    fn handle(&self, ino: u64, file: File, flags: i32) -> FileHandle {
        let mut state = self.state();
        state.handles += 1;
        let handle = state.handles;
        let keeps = flags & (O_SYNC | O_DSYNC) != 0;
        state.open.insert(handle, Open { ino, file: Arc::new(file), keeps });
        FileHandle(handle)
    }

    fn open_file(&self, ino: INodeNo, flags: OpenFlags) -> Answer<FileHandle> {
        // Read as well: the kernel fills its pages, and we note what is written over.
        let write = flags.acc_mode() != OpenAccMode::O_RDONLY;
        let file = OpenOptions::new().read(true).write(write).open(self.path(ino)?)?;
        Ok(self.handle(ino.0, file, flags.0))
    }

    fn create_file(&self, path: &Path, mode: u32, flags: i32, by: &Request) -> Answer<(FileAttr, FileHandle)> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(mode).open(path)?;
        own(path, by);
        let attr = self.meet(path)?;
        // The number may be that of a file that is gone.
        self.state().ledger.keeps(attr.ino.0);
        Ok((attr, self.handle(attr.ino.0, file, flags)))
    }

    fn read_file(&self, fh: FileHandle, offset: u64, size: u32) -> Answer<Vec<u8>> {
        self.gate(Calls::All)?;
        let file = self.opened(fh)?.file;
        let mut data = vec![0; size as usize];
        let mut filled = 0;
        while filled < data.len() {
            match file.read_at(&mut data[filled..], offset + filled as u64)? {
                0 => break,
                n => filled += n,
            }
        }
        data.truncate(filled);
        self.flip(&mut data);
        Ok(data)
    }

    fn write_file(&self, fh: FileHandle, offset: u64, data: &[u8], flags: OpenFlags) -> Answer<u32> {
        self.gate(Calls::Writes)?;
        let Open { ino, file, keeps } = self.opened(fh)?;
        let mut state = self.state();
        if !keeps && flags.0 & (O_SYNC | O_DSYNC) == 0 {
            state.ledger.writes(ino, &file, offset, data.len() as u64)?;
        }
        file.write_all_at(data, offset)?;
        u32::try_from(data.len()).map_err(|_| Errno::EIO)
    }

    fn sync_file(&self, ino: INodeNo) -> Answer<()> {
        self.gate(Calls::Syncs)?;
        self.state().ledger.keeps(ino.0);
        Ok(())
    }

    fn resize(&self, ino: INodeNo, fh: Option<FileHandle>, length: u64) -> Answer<()> {
        let file = self.writable(ino, fh)?;
        let mut state = self.state();
        state.ledger.resizes(ino.0, &file, length)?;
        Ok(file.set_len(length)?)
    }

    fn move_file(&self, from: &Path, to: &Path) -> Answer<()> {
        let replaced = to.symlink_metadata().ok().map(|meta| meta.ino());
        fs::rename(from, to)?;
        let relative = |path: &Path| path.strip_prefix(&self.root).map(Path::to_owned).map_err(|_| Errno::EIO);
        let (from, to) = (relative(from)?, relative(to)?);
        let mut state = self.state();
        if let Some(replaced) = replaced {
            state.ledger.keeps(replaced);
        }
        for path in state.paths.values_mut() {
            if let Ok(rest) = path.strip_prefix(&from) {
                *path = if rest.as_os_str().is_empty() { to.clone() } else { to.join(rest) };
            }
        }
        Ok(())
    }

    fn list(&self, ino: INodeNo) -> Answer<Vec<(INodeNo, FileType, std::ffi::OsString)>> {
        let path = self.path(ino)?;
        let mut entries = vec![(ino, FileType::Directory, ".".into()), (ino, FileType::Directory, "..".into())];
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let kind = FileType::from_std(entry.file_type()?).unwrap_or(FileType::RegularFile);
            entries.push((INodeNo(std::os::unix::fs::DirEntryExt::ino(&entry)), kind, entry.file_name()));
        }
        entries[2..].sort_by(|a, b| a.2.cmp(&b.2));
        Ok(entries)
    }
}

/// What is made belongs to who made it, as far as we may give it away.
fn own(path: &Path, by: &Request) {
    drop(std::os::unix::fs::lchown(path, Some(by.uid()), Some(by.gid())));
}

fn attr(meta: &Metadata) -> FileAttr {
    let time = |seconds: i64, nanos: i64| {
        let since = Duration::new(seconds.unsigned_abs(), u32::try_from(nanos).unwrap_or(0));
        if seconds < 0 { SystemTime::UNIX_EPOCH - since } else { SystemTime::UNIX_EPOCH + since }
    };
    FileAttr {
        ino: INodeNo(meta.ino()),
        size: meta.size(),
        blocks: meta.blocks(),
        atime: time(meta.atime(), meta.atime_nsec()),
        mtime: time(meta.mtime(), meta.mtime_nsec()),
        ctime: time(meta.ctime(), meta.ctime_nsec()),
        crtime: SystemTime::UNIX_EPOCH,
        kind: FileType::from_std(meta.file_type()).unwrap_or(FileType::RegularFile),
        perm: (meta.mode() & 0o7777) as u16,
        nlink: u32::try_from(meta.nlink()).unwrap_or(u32::MAX),
        uid: meta.uid(),
        gid: meta.gid(),
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

/// The disk, as the kernel holds it.
struct Mountable(Arc<Faulty>);

impl std::ops::Deref for Mountable {
    type Target = Faulty;

    fn deref(&self) -> &Faulty {
        &self.0
    }
}

/// Answers with `$ok` of what came out, or with the error.
macro_rules! answer {
    ($reply:ident, $done:expr, $ok:expr) => {
        match $done {
            Ok(value) => $ok($reply, value),
            Err(error) => $reply.error(Errno::from(error)),
        }
    };
}

impl Filesystem for Mountable {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = self.child(parent, name).and_then(|path| self.meet(&path));
        answer!(reply, found, |reply: ReplyEntry, attr| reply.entry(&NOW, &attr, Generation(0)));
    }

    fn getattr(&self, _: &Request, ino: INodeNo, fh: Option<FileHandle>, reply: ReplyAttr) {
        answer!(reply, self.attr_of(ino, fh), |reply: ReplyAttr, attr| reply.attr(&NOW, &attr));
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        fh: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let change = || -> Answer<FileAttr> {
            if let Some(mode) = mode {
                fs::set_permissions(self.path(ino)?, Permissions::from_mode(mode))?;
            }
            if uid.is_some() || gid.is_some() {
                std::os::unix::fs::lchown(self.path(ino)?, uid, gid)?;
            }
            if let Some(size) = size {
                self.resize(ino, fh, size)?;
            }
            if atime.is_some() || mtime.is_some() {
                let time = |time: TimeOrNow| match time {
                    TimeOrNow::SpecificTime(time) => time,
                    TimeOrNow::Now => SystemTime::now(),
                };
                let mut times = fs::FileTimes::new();
                times = atime.map_or(times, |at| times.set_accessed(time(at)));
                times = mtime.map_or(times, |at| times.set_modified(time(at)));
                File::open(self.path(ino)?)?.set_times(times)?;
            }
            self.attr_of(ino, fh)
        };
        answer!(reply, change(), |reply: ReplyAttr, attr| reply.attr(&NOW, &attr));
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        let target = self.path(ino).and_then(|path| Ok(fs::read_link(path)?));
        answer!(reply, target, |reply: ReplyData, target: PathBuf| reply.data(target.as_os_str().as_encoded_bytes()));
    }

    fn mkdir(&self, by: &Request, parent: INodeNo, name: &OsStr, mode: u32, umask: u32, reply: ReplyEntry) {
        let made = self.child(parent, name).and_then(|path| {
            fs::create_dir(&path)?;
            fs::set_permissions(&path, Permissions::from_mode(mode & !umask))?;
            own(&path, by);
            self.meet(&path)
        });
        answer!(reply, made, |reply: ReplyEntry, attr| reply.entry(&NOW, &attr, Generation(0)));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let done = self.child(parent, name).and_then(|path| Ok(fs::remove_file(path)?));
        answer!(reply, done, |reply: ReplyEmpty, ()| reply.ok());
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let done = self.child(parent, name).and_then(|path| Ok(fs::remove_dir(path)?));
        answer!(reply, done, |reply: ReplyEmpty, ()| reply.ok());
    }

    fn symlink(&self, by: &Request, parent: INodeNo, name: &OsStr, target: &Path, reply: ReplyEntry) {
        let made = self.child(parent, name).and_then(|path| {
            std::os::unix::fs::symlink(target, &path)?;
            own(&path, by);
            self.meet(&path)
        });
        answer!(reply, made, |reply: ReplyEntry, attr| reply.entry(&NOW, &attr, Generation(0)));
    }

    fn link(&self, _: &Request, ino: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let made = self.path(ino).and_then(|from| {
            let to = self.child(parent, name)?;
            fs::hard_link(from, &to)?;
            self.meet(&to)
        });
        answer!(reply, made, |reply: ReplyEntry, attr| reply.entry(&NOW, &attr, Generation(0)));
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let done = self.child(parent, name).and_then(|from| {
            let to = self.child(new_parent, new_name)?;
            match flags {
                flags if flags.is_empty() => self.move_file(&from, &to),
                RenameFlags::RENAME_NOREPLACE if to.symlink_metadata().is_ok() => Err(Errno::EEXIST),
                RenameFlags::RENAME_NOREPLACE => self.move_file(&from, &to),
                _ => Err(Errno::EINVAL),
            }
        });
        answer!(reply, done, |reply: ReplyEmpty, ()| reply.ok());
    }

    fn open(&self, _: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        answer!(reply, self.open_file(ino, flags), |reply: ReplyOpen, handle| reply
            .opened(handle, FopenFlags::empty()));
    }

    fn create(
        &self,
        by: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let made = self.child(parent, name).and_then(|path| self.create_file(&path, mode & !umask, flags, by));
        answer!(reply, made, |reply: ReplyCreate, (attr, handle)| {
            reply.created(&NOW, &attr, Generation(0), handle, FopenFlags::empty());
        });
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        answer!(reply, self.read_file(fh, offset, size), |reply: ReplyData, data: Vec<u8>| reply.data(&data));
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        answer!(reply, self.write_file(fh, offset, data, flags), ReplyWrite::written);
    }

    /// Closing keeps nothing.
    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.state().open.remove(&fh.0);
        reply.ok();
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        answer!(reply, self.sync_file(ino), |reply: ReplyEmpty, ()| reply.ok());
    }

    /// Names are kept anyway.
    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        answer!(reply, self.gate(Calls::Syncs), |reply: ReplyEmpty, ()| reply.ok());
    }

    fn readdir(&self, _: &Request, ino: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        match self.list(ino) {
            Ok(entries) => {
                let rest = entries.iter().enumerate().skip(usize::try_from(offset).unwrap_or(usize::MAX));
                for (at, (ino, kind, name)) in rest {
                    if reply.add(*ino, at as u64 + 1, *kind, name) {
                        break;
                    }
                }
                reply.ok();
            }
            Err(error) => reply.error(error),
        }
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let stat = rustix::fs::statvfs(&self.root).map_err(io::Error::from);
        answer!(reply, stat, |reply: ReplyStatfs, s: rustix::fs::StatVfs| {
            let (block, unit) = (u32::try_from(s.f_bsize).unwrap_or(4096), u32::try_from(s.f_frsize).unwrap_or(4096));
            reply.statfs(s.f_blocks, s.f_bfree, s.f_bavail, s.f_files, s.f_ffree, block, 255, unit);
        });
    }

    fn access(&self, _: &Request, _: INodeNo, _: AccessFlags, reply: ReplyEmpty) {
        // The kernel has looked at the permissions itself.
        reply.ok();
    }

    fn fallocate(
        &self,
        _: &Request,
        ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let done = || -> Answer<()> {
            let file = self.opened(fh)?.file;
            let end = offset + length;
            // Punching holes and the like is left to file systems that can.
            if mode != 0 {
                return Err(Errno::EOPNOTSUPP);
            }
            if file.metadata()?.len() < end {
                self.resize(ino, Some(fh), end)?;
            }
            Ok(())
        };
        answer!(reply, done(), |reply: ReplyEmpty, ()| reply.ok());
    }
}
