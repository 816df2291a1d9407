//! The commit under test, asked of the `git` program.

use std::path::Path;
use std::process::{Command, Stdio};

/// `HEAD` of the repository that holds `workspace`, with `-dirty` behind it when the tree has changes outside
/// `session_root`; `unknown` where there is no repository, no commit or no git.
pub fn commit_under_test(workspace: &Path, session_root: &Path) -> String {
    let Some(head) = git(workspace, &["rev-parse", "--verify", "HEAD"]) else { return "unknown".to_owned() };
    let mut status = vec!["status".to_owned(), "--porcelain".into(), "--".into(), ":/".into()];
    if let Ok(below) = session_root.strip_prefix(workspace) {
        status.push(format!(":(exclude){}", below.display()));
    }
    let args: Vec<&str> = status.iter().map(String::as_str).collect();
    // A status that cannot be asked is not a clean one.
    let clean = git(workspace, &args).is_some_and(|changes| changes.trim().is_empty());
    format!("{}{}", head.trim(), if clean { "" } else { "-dirty" })
}

fn git(dir: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git")
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
        assert_eq!(commit_under_test(dir.path(), &dir.path().join("test-sessions")), "unknown");
    }
}
