//! All sessions that a folder of sessions knows of.

use super::disk;
use super::join::{IndexEntry, RUNS};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of all sessions below `root` (`SLUG/TIME`), and of those that stand elsewhere and that its index of runs
/// names, sorted. Empty when there is no such folder.
pub fn sessions(root: &Path) -> Vec<PathBuf> {
    let below = entries(root).into_iter().filter(|slug| !slug.ends_with(RUNS)).flat_map(|slug| entries(&slug));
    let index =
        entries(&root.join(RUNS)).into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "json"));
    let named = index.filter_map(|path| disk::read_json::<IndexEntry>(&path).ok().flatten().map(|entry| entry.dir));
    let found: BTreeSet<PathBuf> = below.chain(named).filter_map(|dir| dir.canonicalize().ok()).collect();
    found.into_iter().filter(|dir| dir.join("session.json").is_file()).collect()
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_those_in_the_folder_and_those_that_its_index_names() {
        let (root, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let session = |dir: PathBuf| {
            fs::create_dir_all(&dir).expect("made");
            disk::write_atomic(&dir.join("session.json"), b"{}").expect("written");
            dir.canonicalize().expect("it is there")
        };
        let (inner, elsewhere) = (session(root.path().join("plan/one")), session(other.path().join("two")));
        fs::create_dir_all(root.path().join("plan/no-session")).expect("made");
        fs::create_dir_all(root.path().join(RUNS)).expect("made");
        for (name, dir) in [("a", &elsewhere), ("b", &inner), ("c", &root.path().join("gone"))] {
            let (schema, key) = ("disttest.index/1".to_owned(), format!("folder:{name}"));
            let entry = IndexEntry { schema, key, plan: "p".to_owned(), dir: dir.clone() };
            disk::write_json(&root.path().join(RUNS).join(format!("{name}.json")), &entry).expect("written");
        }
        let mut expect = vec![inner, elsewhere];
        expect.sort();
        assert_eq!(sessions(root.path()), expect);
        assert_eq!(sessions(Path::new("/nowhere")), Vec::<PathBuf>::new());
    }
}
