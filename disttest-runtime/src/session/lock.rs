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
