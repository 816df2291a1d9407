//! Whether a plan may be written: it stands where it seems to stand, and what would be lost is in the repository.

use crate::exit_code::{End, Failure};
use crate::surroundings;
use std::path::Path;
use std::process::Command;

/// Refuses a plan that is reached through a link out of its workspace, is read-only or, unless `allow_dirty`, has
/// changes that git does not hold. `named` is the path as given, `path` the file itself.
///
/// # Errors
/// Why it may not be written, and what to do.
pub(crate) fn check(named: &Path, path: &Path, allow_dirty: bool) -> Result<(), Failure> {
    let shown = named.display();
    if leaves(named, path) {
        let message =
            format!("{shown} is a link that leaves its workspace, to {}; name the file itself", path.display());
        return Err(Failure::new(End::UnsafeTarget, message));
    }
    if std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().readonly()) {
        return Err(Failure::new(End::Unwritable, format!("{shown} is read-only")));
    }
    let lost = if allow_dirty { None } else { uncommitted(path) };
    match lost {
        None => Ok(()),
        Some(why) => {
            let message = format!("{shown} {why}; commit it first, or run it again with --allow-dirty");
            Err(Failure::new(End::Conflict, message))
        }
    }
}

/// True if the file behind `named` is outside the repository or workspace that its name is in.
fn leaves(named: &Path, path: &Path) -> bool {
    let named = surroundings::lexical(named);
    let root = surroundings::root(&named).or(named.parent()).and_then(|root| root.canonicalize().ok());
    root.is_none_or(|root| !path.starts_with(root))
}

/// What git does not hold of `path`, in words; `None` outside a repository, where there is nothing to ask.
fn uncommitted(path: &Path) -> Option<String> {
    surroundings::repository(path)?;
    let (folder, name) = (path.parent()?, path.file_name()?);
    let mut git = Command::new("git");
    // A hook or an outer git process may have pointed these at another repository.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        git.env_remove(variable);
    }
    git.arg("-C").arg(folder).args(["--literal-pathspecs", "status", "--porcelain", "--ignored", "--"]).arg(name);
    match git.output() {
        Ok(output) if output.status.success() && output.stdout.is_empty() => None,
        Ok(output) if output.status.success() => Some("has changes that are not committed".to_owned()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.lines().next().unwrap_or("no reason given").trim().to_owned();
            Some(format!("may have changes that are not committed (git cannot tell: {said})"))
        }
        Err(error) => Some(format!("may have changes that are not committed (git cannot be run: {error})")),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::fs;

    #[cfg(unix)]
    #[test]
    fn a_link_may_lead_elsewhere_in_the_workspace_and_not_out_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("w/docs")).unwrap();
        fs::create_dir_all(root.join("out")).unwrap();
        fs::write(root.join("w/Cargo.toml"), "[workspace]\n").unwrap();
        fs::write(root.join("w/plan.md"), "").unwrap();
        fs::write(root.join("out/plan.md"), "").unwrap();
        let link = |from: &str, to: &str| std::os::unix::fs::symlink(root.join(to), root.join(from)).unwrap();
        link("w/docs/inside.md", "w/plan.md");
        link("w/docs/outside.md", "out/plan.md");
        link("w/folder", "out");
        let check = |named: &str, expect: bool| {
            let named = root.join(named);
            assert_eq!(leaves(&named, &named.canonicalize().unwrap()), expect, "{named:?}");
        };
        check("w/plan.md", false);
        check("w/docs/../plan.md", false);
        check("w/docs/inside.md", false);
        check("w/docs/outside.md", true);
        check("w/folder/plan.md", true);
        check("out/plan.md", false);
        check("w/docs/../../out/plan.md", false);
    }
}
