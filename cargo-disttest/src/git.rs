//! Staging with the `git` binary, which honours the user's configuration.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Stages exactly `files`, if `folder` is in a work tree; true when it did.
///
/// # Errors
/// What git said, when it refused (an ignored path, a locked index). The files are written all the same.
pub(crate) fn stage(folder: &Path, files: &[PathBuf]) -> Result<bool, String> {
    if files.is_empty() || !is_work_tree(folder) {
        return Ok(false);
    }
    // Pathspec magic such as `:(exclude)` must not be read into a file name.
    let output = git(folder)
        .args(["--literal-pathspecs", "add", "--"])
        .args(files)
        .output()
        .map_err(|error| format!("git cannot be run: {error}"))?;
    if output.status.success() { Ok(true) } else { Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()) }
}

/// Whether `path` is ignored in the work tree that `folder` stands in; `None` where there is no work tree around it, or
/// no git.
pub(crate) fn is_ignored(folder: &Path, path: &Path) -> Option<bool> {
    let output = git(folder).args(["check-ignore", "--quiet", "--"]).arg(path).output().ok()?;
    match output.status.code() {
        Some(0) => Some(true),
        Some(1) => Some(false),
        _ => None,
    }
}

fn is_work_tree(folder: &Path) -> bool {
    let output = git(folder).args(["rev-parse", "--is-inside-work-tree"]).output();
    output.is_ok_and(|output| output.status.success() && output.stdout.starts_with(b"true"))
}

fn git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    // A hook or an outer git process may have pointed these at another repository.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        git.env_remove(variable);
    }
    git.arg("-C").arg(folder);
    git
}
