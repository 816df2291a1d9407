//! What git knows of the change under test. Read-only: nothing is fetched, refreshed or written.

use crate::git::git;
use std::path::{Path, PathBuf};

/// More touched files than this are counted, not listed.
pub(crate) const MOST_FILES: usize = 200;

/// The state of a work tree.
#[derive(Debug)]
pub(crate) struct History {
    /// Its top folder, canonical.
    pub root: PathBuf,
    /// `user.name`.
    pub author: Option<String>,
    /// `HEAD`, shortened; `None` before the first commit.
    pub commit: Option<String>,
    /// The branch; `None` when none is checked out.
    pub branch: Option<String>,
    /// What the change is compared with, in words.
    pub base: String,
    /// The commit (or tree) it is compared with.
    pub base_id: String,
    /// Files that differ from `base_id`, with those that git does not know yet, by path.
    pub touched: Vec<Touched>,
}

/// A touched file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Its path from the top folder.
    pub path: String,
    /// What happened to it.
    pub how: How,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// It is new.
    Added,
    /// Its text changed.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name than before.
    Renamed,
}

impl How {
    /// In one word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            How::Added => "added",
            How::Modified => "modified",
            How::Deleted => "deleted",
            How::Renamed => "renamed",
        }
    }
}

/// What a repository without a commit is compared with.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

impl History {
    /// The work tree that holds `folder`; `None` outside of one, and without git.
    pub(crate) fn read(folder: &Path) -> Option<History> {
        let root = PathBuf::from(line(folder, &["rev-parse", "--show-toplevel"])?);
        let root = root.canonicalize().unwrap_or(root);
        let commit = line(&root, &["rev-parse", "--verify", "--short=12", "HEAD"]);
        let (base, base_id) = base(&root, commit.is_some());
        Some(History {
            author: line(&root, &["config", "user.name"]),
            branch: line(&root, &["symbolic-ref", "--short", "-q", "HEAD"]),
            touched: touched(&root, &base_id),
            commit,
            base,
            base_id,
            root,
        })
    }

    /// The text of `path` before the change.
    pub(crate) fn before(&self, path: &str) -> Option<String> {
        output(&self.root, &["show", &format!("{}:{path}", self.base_id)])
    }
}

/// What the work tree is compared with: the commit where it left the main branch; on the main branch itself, `HEAD`
/// while something is not committed, else the commit before.
fn base(root: &Path, commits: bool) -> (String, String) {
    if !commits {
        return ("an empty tree".to_owned(), EMPTY_TREE.to_owned());
    }
    let head = line(root, &["rev-parse", "HEAD"]).unwrap_or_default();
    let main = line(root, &["symbolic-ref", "--short", "-q", "refs/remotes/origin/HEAD"]);
    let candidates = main.into_iter().chain(["origin/main", "origin/master", "main", "master"].map(str::to_owned));
    let bases = candidates.filter_map(|main| Some((line(root, &["merge-base", "HEAD", &main])?, main)));
    if let Some((id, main)) = bases.into_iter().find(|(id, _)| *id != head) {
        return (format!("{main} at {}", &id[..id.len().min(12)]), id);
    }
    let clean = output(root, &["status", "--porcelain"]).is_some_and(|changes| changes.trim().is_empty());
    match line(root, &["rev-parse", "--verify", "-q", "HEAD~1"]).filter(|_| clean) {
        Some(id) => (format!("the commit before, {}", &id[..id.len().min(12)]), id),
        None if clean => ("an empty tree".to_owned(), EMPTY_TREE.to_owned()),
        None => ("HEAD".to_owned(), head),
    }
}

fn touched(root: &Path, base: &str) -> Vec<Touched> {
    let diff = ["diff", "--no-ext-diff", "--no-textconv", "--name-status", "-z", "-M", base, "--"];
    let mut found = name_status(&output(root, &diff).unwrap_or_default());
    let untracked = output(root, &["ls-files", "--others", "--exclude-standard", "-z"]).unwrap_or_default();
    let untracked = untracked.split('\0').filter(|path| !path.is_empty());
    found.extend(untracked.map(|path| Touched { path: path.to_owned(), how: How::Added }));
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    found
}

/// Reads `git diff --name-status -z`: a status and a path, or for renames and copies a status and two paths.
fn name_status(text: &str) -> Vec<Touched> {
    let mut fields = text.split('\0').filter(|field| !field.is_empty());
    let mut found = Vec::new();
    while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
        let (how, path) = match status.as_bytes().first() {
            Some(b'A') => (How::Added, path),
            Some(b'D') => (How::Deleted, path),
            Some(b'R') => (How::Renamed, fields.next().unwrap_or(path)),
            Some(b'C') => (How::Added, fields.next().unwrap_or(path)),
            _ => (How::Modified, path),
        };
        found.push(Touched { path: path.to_owned(), how });
    }
    found
}

fn line(folder: &Path, args: &[&str]) -> Option<String> {
    let text = output(folder, args)?;
    let text = text.lines().next()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn output(folder: &Path, args: &[&str]) -> Option<String> {
    let output =
        git(folder).args(args).env("GIT_OPTIONAL_LOCKS", "0").stdin(std::process::Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_each_file_is_read() {
        let found = name_status("M\0a.rs\0A\0b c.rs\0D\0d\0R087\0old\0new\0C100\0from\0to\0T\0link\0");
        let found: Vec<(&str, How)> = found.iter().map(|one| (one.path.as_str(), one.how)).collect();
        let expect = [
            ("a.rs", How::Modified),
            ("b c.rs", How::Added),
            ("d", How::Deleted),
            ("new", How::Renamed),
            ("to", How::Added),
            ("link", How::Modified),
        ];
        assert_eq!(found, expect);
        assert_eq!(name_status(""), []);
        assert_eq!(name_status("M\0"), []);
    }
}
