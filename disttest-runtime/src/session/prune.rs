//! Locks and index entries of runs that ended long ago are removed; without this they would pile up below the session
//! root for ever. Sessions themselves are never touched.

use super::disk;
use super::join::IndexEntry;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Last used longer ago than this: every run has ended, the longest soak included, which notes each seed's end.
const OLD: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Removes what old runs left in `runs`. Keeps what is in use, what cannot be read, and every key that a person chose,
/// since a person may come back to it. Losing this race or that does no harm, so errors are passed over.
pub(super) fn prune(runs: &Path, now: SystemTime) {
    for entry in fs::read_dir(runs).into_iter().flatten().flatten() {
        let lock = entry.path();
        let age = entry.metadata().and_then(|file| file.modified()).map(|used| now.duration_since(used));
        if lock.extension().is_some_and(|extension| extension == "lock")
            && matches!(age, Ok(Ok(age)) if age > OLD)
            && may_go(&lock.with_extension("json"))
            && File::open(&lock).is_ok_and(|file| file.try_lock().is_ok())
        {
            let _ = fs::remove_file(lock.with_extension("json"));
            let _ = fs::remove_file(&lock);
        }
    }
}

/// True when the run of this index entry can have no further process: its key cannot come again.
fn may_go(index: &Path) -> bool {
    match disk::read_json::<IndexEntry>(index) {
        Ok(Some(entry)) => !["folder:", "named:"].iter().any(|kind| entry.key.starts_with(kind)),
        Ok(None) => true,
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::lock;
    use super::*;

    #[test]
    fn only_old_runs_whose_key_cannot_come_again_are_forgotten() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| dir.path().join(name);
        let now = SystemTime::now();
        let run = |name: &str, key: &str, days: u64| {
            let entry = IndexEntry {
                schema: "disttest.index/1".into(),
                key: key.into(),
                plan: "p".into(),
                dir: dir.path().to_path_buf(),
            };
            disk::write_json(&path(&format!("{name}.json")), &entry).expect("written");
            let file = File::create(path(&format!("{name}.lock"))).expect("made");
            file.set_modified(now - Duration::from_secs(days * 24 * 60 * 60)).expect("aged");
        };
        run("old", "nextest:1", 31);
        run("young", "nextest:2", 29);
        run("named", "named:nightly", 400);
        run("folder", "folder:out/one", 400);
        run("held", "cargo:b:1:7", 400);
        let held = lock(&path("held.lock"), "a test").expect("locked");
        File::options()
            .write(true)
            .open(path("held.lock"))
            .expect("open")
            .set_modified(SystemTime::UNIX_EPOCH)
            .expect("aged");
        fs::write(path("plan.turn"), "").expect("written");
        prune(dir.path(), now);
        let mut left: Vec<String> = fs::read_dir(dir.path())
            .expect("read")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| !name.ends_with(".json"))
            .collect();
        left.sort();
        assert_eq!(left, ["folder.lock", "held.lock", "named.lock", "plan.turn", "young.lock"]);
        assert!(!path("old.json").exists() && path("young.json").exists() && path("named.json").exists());
        drop(held);
    }
}
