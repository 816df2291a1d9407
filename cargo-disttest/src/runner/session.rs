//! The folder of a session, as far as the one who starts it is concerned.

use disttest_runtime::base::digest::sha256_hex;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A new, empty folder `<root>/<slug>/<UTC>`: what is in it later was written by this run.
///
/// # Errors
/// It cannot be made.
pub(crate) fn create(root: &Path, slug: &str, now: SystemTime) -> io::Result<PathBuf> {
    let parent = root.join(slug);
    std::fs::create_dir_all(&parent)?;
    let started = humantime::format_rfc3339_seconds(now).to_string().replace(['-', ':'], "");
    for number in 1.. {
        let dir = parent.join(if number == 1 { started.clone() } else { format!("{started}-{number}") });
        match std::fs::create_dir(&dir) {
            Ok(()) => return dir.canonicalize(),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("there are more numbers than folders")
}

/// A plan's slug as a folder name: nothing of it can lead elsewhere.
pub(crate) fn folder_name(slug: &str) -> String {
    let safe: String =
        slug.chars().map(|c| if c.is_alphanumeric() || "-_".contains(c) { c } else { '-' }).take(100).collect();
    let safe = safe.trim_matches('-');
    if safe.is_empty() { "plan".to_owned() } else { safe.to_owned() }
}

/// SHA-256 of the session's manifest; `None` when it has none.
pub(crate) fn manifest_sha256(session: &Path) -> Option<String> {
    std::fs::read(session.join("MANIFEST.sha256")).ok().map(|bytes| sha256_hex(&bytes))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn two_sessions_of_one_second_have_two_folders() {
        let root = tempfile::tempdir().unwrap();
        let now = SystemTime::UNIX_EPOCH;
        let first = create(root.path(), "p", now).unwrap();
        let second = create(root.path(), "p", now).unwrap();
        assert!(first.ends_with("p/19700101T000000Z"));
        assert!(second.ends_with("p/19700101T000000Z-2"));
    }

    #[test]
    fn a_slug_cannot_lead_elsewhere() {
        assert_eq!(folder_name("abd-register"), "abd-register");
        assert_eq!(folder_name("../../etc"), "etc");
        assert_eq!(folder_name("/"), "plan");
    }
}
