//! What a file stands in, found by looking upwards: its repository, its workspace.

use std::path::{Component, Path, PathBuf};

/// The nearest folder above `path` that is a git repository's.
pub(crate) fn repository(path: &Path) -> Option<&Path> {
    // A file in a linked work tree or a submodule, a folder elsewhere.
    path.ancestors().skip(1).find(|folder| folder.join(".git").exists())
}

/// The nearest folder above `path` with a Cargo.toml that has a `[workspace]`.
pub(crate) fn workspace(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).find(|folder| {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        toml_edit::Document::parse(manifest).is_ok_and(|manifest| manifest.as_table().contains_key("workspace"))
    })
}

/// The folder that paths in machine-readable answers are relative to: that of the repository, as code scanning and
/// pull requests show them, else that of the workspace.
pub(crate) fn root(path: &Path) -> Option<&Path> {
    repository(path).or_else(|| workspace(path))
}

/// `path` below [`root`], with `/`; the whole path when there is no root.
pub(crate) fn below_root(path: &Path) -> String {
    let below = root(path).and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
    let parts: Vec<String> = below
        .components()
        .filter(|part| !matches!(part, Component::RootDir))
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    let start = if below.has_root() { "/" } else { "" };
    format!("{start}{}", parts.join("/"))
}

/// `path` as an absolute one without `.` and `..`, links left as they are.
pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()).components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::fs;

    #[test]
    fn a_file_knows_its_repository_and_its_workspace() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::create_dir_all(root.join("rust/member/docs")).unwrap();
        fs::write(root.join("rust/Cargo.toml"), "[workspace]\nmembers = [\"member\"]\n").unwrap();
        fs::write(root.join("rust/member/Cargo.toml"), "[package]\nname = \"member\"\n").unwrap();
        let plan = root.join("rust/member/docs/p q.md");
        assert_eq!(repository(&plan), Some(root.as_path()));
        assert_eq!(workspace(&plan), Some(root.join("rust").as_path()));
        assert_eq!(below_root(&plan), "rust/member/docs/p q.md");
        assert_eq!(lexical(&root.join("rust/./member/../x.md")), root.join("rust/x.md"));
    }
}
