//! The commit under test, asked of the `git` program.

use crate::base::digest::sha256_hex;
use std::path::Path;
use std::process::{Command, Stdio};

/// `HEAD` of the repository that holds `workspace`, with `-dirty` behind it when the tree has changes outside
/// `session_root`; `unknown` where there is no repository, no commit or no git.
pub fn commit_under_test(workspace: &Path, session_root: &Path) -> String {
    let Some(head) = git(workspace, &["rev-parse", "--verify", "HEAD"]) else { return "unknown".to_owned() };
    // A status that cannot be asked is not a clean one.
    // Nor may a configuration hide what is there and no commit knows.
    let status = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=none"];
    let clean = outside(session_root, workspace, &status).is_some_and(|changes| changes.trim().is_empty());
    format!("{}{}", head.trim(), if clean { "" } else { "-dirty" })
}

/// SHA-256 of what the tracked files outside `session_root` have beside `HEAD`; `None` when they have nothing, and
/// where nobody can tell.
pub fn changes_under_test(workspace: &Path, session_root: &Path) -> Option<String> {
    let diff = ["diff", "--binary", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "HEAD"];
    let changes = outside(session_root, workspace, &diff)?;
    (!changes.is_empty()).then(|| sha256_hex(changes.as_bytes()))
}

/// What git says of the whole repository but for `session_root`.
fn outside(session_root: &Path, workspace: &Path, command: &[&str]) -> Option<String> {
    let below = session_root.strip_prefix(workspace).ok();
    let exclude = below.map(|below| format!(":(exclude){}", below.display()));
    let args: Vec<&str> = command.iter().copied().chain(["--", ":/"]).chain(exclude.as_deref()).collect();
    git(workspace, &args)
}

fn git(dir: &Path, args: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    // A hook or an outer git process may have pointed these at another repository.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(variable);
    }
    let output = command
        .arg("-C")
        .arg(dir)
        .args(args)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_a_repository_the_commit_is_unknown() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let sessions = dir.path().join("test-sessions");
        assert_eq!(commit_under_test(dir.path(), &sessions), "unknown");
        assert_eq!(changes_under_test(dir.path(), &sessions), None);
    }

    #[test]
    fn what_no_commit_knows_makes_the_tree_dirty_whatever_the_configuration_says() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let ask = |args: &[&str]| git(dir.path(), args).expect("git");
        ask(&["init", "-q"]);
        ask(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "start"]);
        ask(&["config", "status.showUntrackedFiles", "no"]);
        let commit = || commit_under_test(dir.path(), &dir.path().join("test-sessions"));
        assert!(!commit().ends_with("-dirty"));
        std::fs::create_dir(dir.path().join("test-sessions")).expect("made");
        std::fs::write(dir.path().join("test-sessions/report.md"), "").expect("written");
        assert!(!commit().ends_with("-dirty"));
        std::fs::write(dir.path().join("new.rs"), "").expect("written");
        assert!(commit().ends_with("-dirty"));
    }
}
