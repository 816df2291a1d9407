//! Which binary a node ran: its digest and what it says of its version, found out beside the run.

use crate::base::digest::sha256_hex_of;
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a program may take to say its version.
const SAYS_WITHIN: Duration = Duration::from_secs(5);
/// Bytes kept of what it says.
const SAID: usize = 400;

/// What is known of a binary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// SHA-256; `None` when the file cannot be read.
    pub(super) sha256: Option<String>,
    /// What it printed when it was asked for its version, if it was.
    pub(super) version: Option<String>,
}

/// A binary that is being looked at, as it was when this was made: what replaces the file later is another one.
#[derive(Debug, Default)]
pub(super) struct Identity {
    known: Mutex<Option<Known>>,
    found: Condvar,
}

/// The file by device, inode, length and time of change, and how it is asked for its version.
type Key = (u64, u64, u64, i64, i64, Vec<String>);

impl Identity {
    /// Begins to look at `command`, as it would be started; a file that was looked at before is not read again.
    pub(super) fn of(command: &Path, version_args: &[String]) -> Arc<Identity> {
        static SEEN: LazyLock<Mutex<HashMap<Key, Arc<Identity>>>> = LazyLock::new(Mutex::default);
        let path = on_path(command);
        let opened = File::open(&path).and_then(|file| Ok((file.metadata()?, file)));
        let Ok((meta, file)) = opened else {
            let nothing = Identity::default();
            nothing.settle(Known::default());
            return Arc::new(nothing);
        };
        let key = (meta.dev(), meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec(), version_args.to_vec());
        let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(identity) = seen.get(&key) {
            return Arc::clone(identity);
        }
        let identity = Arc::new(Identity::default());
        seen.insert(key, Arc::clone(&identity));
        let (found, args) = (Arc::clone(&identity), version_args.to_vec());
        let look = move || {
            let version = (!args.is_empty()).then(|| says(&path, &args)).flatten();
            found.settle(Known { sha256: sha256_hex_of(file).ok(), version });
        };
        if std::thread::Builder::new().name("binary".to_owned()).spawn(look).is_err() {
            identity.settle(Known::default());
        }
        identity
    }

    /// What was found, waited for at most for `limit`.
    pub(super) fn known_within(&self, limit: Duration) -> Known {
        let until = Instant::now() + limit;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        while known.is_none() && Instant::now() < until {
            let left = until.saturating_duration_since(Instant::now());
            known = self.found.wait_timeout(known, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        known.clone().unwrap_or_default()
    }

    fn settle(&self, known: Known) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        self.found.notify_all();
    }
}

/// The file that a command without a slash means.
fn on_path(command: &Path) -> PathBuf {
    let bare = command.components().count() == 1 && !command.to_string_lossy().contains('/');
    let path = std::env::var_os("PATH").filter(|_| bare).unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join(command)).find(|path| path.is_file());
    found.unwrap_or_else(|| command.to_owned())
}

/// The first words that `path` prints when it is started with `args`; `None` when it prints nothing or does not end in time.
fn says(path: &Path, args: &[String]) -> Option<String> {
    let mut command = Command::new(path);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let until = Instant::now() + SAYS_WITHIN;
    while child.try_wait().ok()?.is_none() {
        if Instant::now() > until {
            drop(child.kill());
            drop(child.wait());
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().ok()?;
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    let text: String = String::from_utf8_lossy(&text).trim().chars().take(SAID).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::digest::sha256_hex;
    use std::os::unix::fs::PermissionsExt;

    const LIMIT: Duration = Duration::from_secs(20);

    #[test]
    fn a_binary_is_known_by_its_digest_and_by_what_it_says() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("server");
        let text = "#!/bin/sh\necho server 1.2 \"$@\"\n";
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
        let known = Identity::of(&path, &["--version".to_owned()]).known_within(LIMIT);
        assert_eq!(known.sha256, Some(sha256_hex(text.as_bytes())));
        assert_eq!(known.version.as_deref(), Some("server 1.2 --version"));
        assert_eq!(Identity::of(&path, &[]).known_within(LIMIT).version, None, "nobody asked");
        std::fs::remove_file(&path).expect("removed");
        std::fs::write(&path, "another").expect("written");
        let another = Identity::of(&path, &[]).known_within(LIMIT);
        assert_eq!(another.sha256, Some(sha256_hex(b"another")));
        assert_eq!(Identity::of(Path::new("/no/such/binary"), &[]).known_within(LIMIT), Known::default());
        assert!(Identity::of(Path::new("sh"), &[]).known_within(LIMIT).sha256.is_some(), "found on PATH");
    }
}
