//! What killed runs left behind, undone by the next start and by `cargo disttest heal`: when a supervisor and its child
//! are killed together (a container that is stopped, an out-of-memory kill), nobody of theirs is left to do it.

use super::child::ALIVE;
use crate::nemesis::{self, JOURNAL_FILE, Keeper, Undone, keeper};
use crate::session::is_free;
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the process of a run whose supervisor was killed may take to undo what it did, before it is killed too. It
/// was sent SIGTERM at that moment.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Undoes the journal of every execution, in the sessions beside `session` (those of the same plan), that has no
/// record and no living process. Says what was done. Changes no file of those sessions; doing it again
/// does nothing.
pub(crate) fn undo(session: &Path) -> Vec<String> {
    let sessions = session.parent().map(folders).unwrap_or_default();
    let executions = sessions.iter().flat_map(|dir| executions(dir));
    executions.filter(|dir| is_abandoned(dir)).flat_map(|dir| nemesis::undo_journal(&dir)).collect()
}

/// The folders of all executions of the session in the folder `session` that began, sorted.
pub fn executions(session: &Path) -> Vec<PathBuf> {
    let scenarios = folders(&session.join("artifacts"));
    let mut executions: Vec<PathBuf> = scenarios.iter().flat_map(|scenario| folders(scenario)).collect();
    executions.retain(|dir| dir.join(JOURNAL_FILE).exists());
    executions.sort();
    executions
}

/// Undoes what the execution in `run_dir` left behind, unless somebody looks after it: then nothing is touched, and who
/// it is is the answer. Where its supervisor was killed and its own process lives, that one is waited for so long as
/// [`PATIENCE`] and then killed. An error when the journal cannot be read.
pub fn heal(run_dir: &Path) -> Result<(Keeper, Vec<Undone>)> {
    let until = Instant::now() + PATIENCE;
    loop {
        let waits = Instant::now() < until;
        match keeper(run_dir)? {
            Keeper::Nobody if is_free_or_new(run_dir) => return Ok((Keeper::Nobody, nemesis::undo(run_dir)?)),
            Keeper::Itself(_) if !waits => return Ok((Keeper::Nobody, nemesis::undo(run_dir)?)),
            // Somebody whom the journal does not name holds the folder.
            Keeper::Nobody if !waits => return Ok((Keeper::Elsewhere, Vec::new())),
            Keeper::Nobody | Keeper::Itself(_) => std::thread::sleep(Duration::from_millis(20)),
            keeper => return Ok((keeper, Vec::new())),
        }
    }
}

fn is_abandoned(run_dir: &Path) -> bool {
    let began = run_dir.join(JOURNAL_FILE).exists();
    let kept = || keeper(run_dir).is_ok_and(|keeper| keeper != Keeper::Nobody);
    began && !run_dir.join("run.json").exists() && is_free(&run_dir.join(ALIVE)) && !kept()
}

/// No process of the run holds its folder: the last one has ended, or none came so far.
fn is_free_or_new(run_dir: &Path) -> bool {
    let lock = run_dir.join(ALIVE);
    !lock.exists() || is_free(&lock)
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nemesis::Journal;
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

    #[test]
    fn an_execution_whose_supervisor_lives_is_left_alone_by_the_next_start_and_by_heal() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        drop(lock(&dir.path().join(ALIVE), "process 7").expect("locked"));
        Journal::supervise(dir.path()).expect("this process supervises it");
        assert!(!is_abandoned(dir.path()));
        assert!(matches!(heal(dir.path()).expect("a journal"), (Keeper::Supervisor(_), undone) if undone.is_empty()));
    }
}
