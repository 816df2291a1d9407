//! What killed runs left behind, undone by the next start: when a supervisor and its child are killed together (a
//! container that is stopped, an out-of-memory kill), nobody of theirs is left to do it.

use super::child::ALIVE;
use crate::nemesis::{JOURNAL_FILE, undo_journal};
use crate::session::is_free;
use std::fs;
use std::path::{Path, PathBuf};

/// Undoes the journal of every execution, in the sessions beside `session` (those of the same plan), that has no
/// record and no living process. Says what was done. Changes no file of those sessions; doing it again
/// does nothing.
pub(crate) fn undo(session: &Path) -> Vec<String> {
    let sessions = session.parent().map(folders).unwrap_or_default();
    let executions = sessions.iter().flat_map(|dir| folders(&dir.join("artifacts"))).flat_map(|dir| folders(&dir));
    executions.filter(|dir| is_abandoned(dir)).flat_map(|dir| undo_journal(&dir)).collect()
}

fn is_abandoned(run_dir: &Path) -> bool {
    let began = run_dir.join(JOURNAL_FILE).exists();
    began && !run_dir.join("run.json").exists() && is_free(&run_dir.join(ALIVE))
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::lock;

    #[test]
    fn only_an_execution_without_a_record_and_without_a_process_is_abandoned() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let run_dir = dir.path();
        assert!(!is_abandoned(run_dir), "it never began");
        fs::write(run_dir.join(JOURNAL_FILE), "").expect("written");
        let alive = lock(&run_dir.join(ALIVE), "process 7").expect("locked");
        assert!(!is_abandoned(run_dir), "its process lives");
        drop(alive);
        assert!(is_abandoned(run_dir));
        fs::write(run_dir.join("run.json"), "{}").expect("written");
        assert!(!is_abandoned(run_dir), "it ended by itself");
    }
}
