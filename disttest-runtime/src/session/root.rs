//! Where sessions live, and where the workspace begins.

use super::disk;
use std::io;
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

/// Makes the folder of all sessions. A new one is ignored by git, itself included: a run leaves the status of the
/// repository it stands in as it was. A folder that is there already, and not empty, belongs to somebody: what git is
/// to see of it is theirs to say.
pub fn create_root(root: &Path) -> io::Result<()> {
    std::fs::create_dir_all(root)?;
    if std::fs::read_dir(root)?.next().is_none() {
        disk::write_atomic(&root.join(".gitignore"), b"*\n")?;
    }
    Ok(())
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

    #[test]
    fn a_new_session_root_ignores_itself_and_a_folder_of_somebody_is_left_as_it_is() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = dir.path().join("a/sessions");
        create_root(&root).expect("made");
        create_root(&root).expect("made again");
        assert_eq!(std::fs::read_to_string(root.join(".gitignore")).expect("written"), "*\n");
        create_root(dir.path()).expect("it is there");
        assert!(!dir.path().join(".gitignore").exists());
    }
}
