//! Where sessions live, and where the workspace begins.

use std::path::{Path, PathBuf};

/// The workspace of the package in `manifest_dir`: the nearest folder upwards with a `Cargo.lock`, else the package.
pub fn workspace_root(manifest_dir: &Path) -> PathBuf {
    manifest_dir.ancestors().find(|dir| dir.join("Cargo.lock").is_file()).unwrap_or(manifest_dir).to_path_buf()
}

/// Folder of all sessions: `given` (`DISTTEST_SESSION_ROOT`; a relative path is one of the current folder), else
/// `test-sessions` in the workspace.
pub fn session_root(given: Option<&str>, manifest_dir: &Path) -> PathBuf {
    match given.filter(|text| !text.trim().is_empty()) {
        Some(path) => std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path)),
        None => workspace_root(manifest_dir).join("test-sessions"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_live_in_the_workspace_unless_told_otherwise() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let package = dir.path().join("crates/one");
        std::fs::create_dir_all(&package).expect("made");
        std::fs::write(dir.path().join("Cargo.lock"), "").expect("written");
        assert_eq!(session_root(None, &package), dir.path().join("test-sessions"));
        assert_eq!(session_root(Some(" "), &package), dir.path().join("test-sessions"));
        assert_eq!(session_root(Some("/elsewhere"), &package), Path::new("/elsewhere"));
    }
}
