//! Files of a repository, found within bounds: a repository may be huge, and what is read of it is read on the way.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Folders deeper than this are not looked into.
const MAX_DEPTH: usize = 8;
/// After so many directory entries the search stops.
const MAX_ENTRIES: usize = 200_000;
/// So much of a file is read.
const MAX_BYTES: u64 = 512 * 1024;
/// Build output, version control, dependencies, sessions.
const SKIPPED: [&str; 8] = ["target", ".git", ".jj", "node_modules", "vendor", "test-sessions", ".venv", "__pycache__"];

/// Every file below `root` that `wanted` takes (by its path from `root`, with `/`), sorted. Links are not followed.
pub(crate) fn files(root: &Path, wanted: impl Fn(&str) -> bool) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut left = MAX_ENTRIES;
    let mut folders = vec![(root.to_path_buf(), String::new(), 0)];
    while let Some((folder, below, depth)) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let mut entries: Vec<_> = entries.flatten().take(left).collect();
        left -= entries.len();
        // Sorted, so that a search that hits its bound finds the same files again.
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < MAX_DEPTH && !SKIPPED.contains(&name.as_str()) => {
                    folders.push((entry.path(), path, depth + 1));
                }
                Ok(kind) if kind.is_file() && wanted(&path) => found.push((path, entry.path())),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// The beginning of a text file; `None` when it cannot be read. Bytes that are no UTF-8 are replaced.
pub(crate) fn read(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_sorted_and_build_output_is_not_looked_into() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for path in ["b/x.rs", "a.rs", "target/y.rs", "b/target/z.rs", "b/c/d.txt"] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "text").expect("written");
        }
        let found: Vec<String> = files(dir.path(), |path| path.ends_with(".rs")).into_iter().map(|f| f.0).collect();
        assert_eq!(found, ["a.rs", "b/x.rs"]);
        assert_eq!(read(&dir.path().join("a.rs")).as_deref(), Some("text"));
        assert_eq!(read(dir.path()), None);
    }
}
