//! Locks between processes: advisory locks of whole files, released by the system when their process ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

/// A lock that is held until this value is dropped.
#[derive(Debug)]
pub struct Held {
    _file: File,
}

/// Waits for the lock at `path` (created with its folder when missing) and notes `holder` in it for those who wait.
pub fn lock(path: &Path, holder: &str) -> io::Result<Held> {
    let file = open(path)?;
    file.lock()?;
    hold(file, holder)
}

/// The lock at `path` if it is free now.
pub fn try_lock(path: &Path, holder: &str) -> io::Result<Option<Held>> {
    let file = open(path)?;
    match file.try_lock() {
        Ok(()) => hold(file, holder).map(Some),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// True when there is a lock file at `path` and nobody holds it now. Leaves its content alone.
pub fn is_free(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// Who holds (or last held) the lock at `path`, as they described themselves.
pub fn lock_holder(path: &Path) -> String {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(512).read_to_string(&mut text));
    if read.is_ok() && !text.is_empty() { text } else { "another process".to_owned() }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)
}

fn hold(mut file: File, holder: &str) -> io::Result<Held> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(holder.as_bytes())?;
    Ok(Held { _file: file })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, ChildStdout, Command, Stdio};

    const HELPER: &str = "DISTTEST_LOCK_TEST_PATH";

    /// This test binary again, holding the lock at `path` until it is killed.
    fn another_process(path: &Path) -> (Child, BufReader<ChildStdout>) {
        let name = "session::lock::tests::a_lock_excludes_other_processes_until_its_process_ends_however_it_ends";
        let mut child = Command::new(std::env::current_exe().expect("a test binary"))
            .args(["--exact", name, "--nocapture", "--test-threads=1"])
            .env(HELPER, path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        (child, stdout)
    }

    /// What the other process does: locks, says so, waits for the end of its input.
    fn hold_until_told(path: &Path) {
        let _held = lock(path, "the other one").expect("locked");
        io::stdout().write_all(b"\nlocked\n").expect("said");
        io::stdin().read_to_end(&mut Vec::new()).expect("told");
    }

    #[test]
    fn a_lock_excludes_other_processes_until_its_process_ends_however_it_ends() {
        if let Some(path) = std::env::var_os(HELPER) {
            return hold_until_told(Path::new(&path));
        }
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("turn.lock");
        let (mut child, stdout) = another_process(&path);
        assert!(stdout.lines().map_while(Result::ok).any(|line| line == "locked"), "the other process locks");
        assert!(try_lock(&path, "this one").expect("asked").is_none());
        assert!(!is_free(&path));
        assert_eq!(lock_holder(&path), "the other one");
        child.kill().expect("killed");
        child.wait().expect("ended");
        assert!(is_free(&path));
        assert_eq!(lock_holder(&path), "the other one", "asking changes nothing");
        assert!(try_lock(&path, "this one").expect("asked").is_some());
    }

    #[test]
    fn a_lock_excludes_until_it_is_dropped_and_names_its_holder() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("deep/turn.lock");
        let held = lock(&path, "S1 (process 7)").expect("locked");
        assert!(try_lock(&path, "S2").expect("asked").is_none());
        assert_eq!(lock_holder(&path), "S1 (process 7)");
        drop(held);
        assert!(try_lock(&path, "S2").expect("asked").is_some());
        assert_eq!(lock_holder(&path), "S2");
    }
}
