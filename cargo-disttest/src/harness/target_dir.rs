//! Where ephemeral packages are built: one folder for all of them, so that what they share is built once, and nothing
//! that `git status` of the system under test would show.

use crate::git;
use std::path::{Path, PathBuf};

/// Beside what the workspace builds where git ignores that, else in the session root, which ignores itself.
pub(crate) fn choose(workspace: &Path, workspace_target: &Path, session_root: &Path) -> PathBuf {
    let beside = workspace_target.join("disttest-harness");
    match git::is_ignored(workspace, &beside) {
        Some(false) => session_root.join(".harness-target"),
        Some(true) | None => beside,
    }
}
