//! What `author` asks of the `git` program, which honours the user's configuration: what is not committed yet, what is
//! ignored, and staging. Nothing is ever committed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What staging came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Staged {
    /// How many files are staged now.
    pub files: usize,
    /// Files that git is told to ignore: (path, the rule that says so).
    pub ignored: Vec<(PathBuf, String)>,
}

/// Stages exactly `files`, each in the work tree that it stands in; files outside of any are passed over.
///
/// # Errors
/// What git said, when it refused (a locked index). The files are written all the same.
pub(crate) fn stage(files: &[PathBuf]) -> Result<Staged, String> {
    let mut staged = Staged::default();
    let mut known: Vec<(PathBuf, Option<PathBuf>)> = Vec::new();
    let mut per_tree: Vec<(PathBuf, Vec<PathBuf>)> = Vec::new();
    for file in files {
        let folder = folder(file).to_path_buf();
        if !known.iter().any(|(other, _)| *other == folder) {
            known.push((folder.clone(), work_tree(&folder)));
        }
        let tree = known.iter().find(|(other, _)| *other == folder).and_then(|(_, tree)| tree.clone());
        let Some(tree) = tree else {
            continue;
        };
        if let Some(rule) = ignored_by(&tree, file) {
            staged.ignored.push((file.clone(), rule));
            continue;
        }
        match per_tree.iter_mut().find(|(other, _)| *other == tree) {
            Some((_, files)) => files.push(file.clone()),
            None => per_tree.push((tree, vec![file.clone()])),
        }
    }
    for (tree, files) in per_tree {
        run(&tree, &["add", "--"], &files).map_err(|error| error.to_string()).and_then(|output| {
            match output.status.success() {
                true => Ok(()),
                false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            }
        })?;
        staged.files += files.len();
    }
    Ok(staged)
}

/// The text of `file` in the index: what it was when it was last staged. `None` outside of a repository, or when git
/// does not know the file.
pub(crate) fn index_text(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_str()?;
    let output = git(folder(file)).args(["show", &format!(":./{name}")]).output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).ok()).flatten()
}

/// True when `file` is in a work tree and is not what the last commit says.
pub(crate) fn is_uncommitted(file: &Path) -> bool {
    let args = ["status", "--porcelain", "--untracked-files=all", "--ignored", "--"];
    run(folder(file), &args, &[file.to_path_buf()])
        .is_ok_and(|output| output.status.success() && !output.stdout.is_empty())
}

/// True when `file` has changes that are not staged: staging it would stage them, too.
pub(crate) fn has_unstaged_changes(file: &Path) -> bool {
    let output = run(folder(file), &["diff", "--quiet", "--no-ext-diff", "--"], &[file.to_path_buf()]);
    output.is_ok_and(|output| output.status.code() == Some(1))
}

fn folder(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new("."))
}

fn work_tree(folder: &Path) -> Option<PathBuf> {
    let output = git(folder).args(["rev-parse", "--show-toplevel"]).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !path.trim().is_empty()).then(|| PathBuf::from(path.trim_end_matches(['\n', '\r'])))
}

/// `.gitignore:3:tests/auto`; `None` when git does not ignore `file`, or knows it already.
fn ignored_by(tree: &Path, file: &Path) -> Option<String> {
    // This one knows no `--literal-pathspecs`; magic begins with a colon, and an absolute path does not.
    let output = git(tree).args(["check-ignore", "--verbose", "--"]).arg(file).output().ok()?;
    let line = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let rule = line.split('\t').next().unwrap_or_default();
    output.status.success().then(|| rule.to_owned())
}

fn run(folder: &Path, args: &[&str], files: &[PathBuf]) -> std::io::Result<Output> {
    // Pathspec magic such as `:(exclude)` must not be read into a file name.
    git(folder).arg("--literal-pathspecs").args(args).args(files).output()
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

pub(crate) fn git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    // A hook or an outer git process may have pointed these at another repository.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        git.env_remove(variable);
    }
    git.arg("-C").arg(folder);
    git
}
