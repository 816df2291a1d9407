//! Where things are in a session folder.

use std::path::{Path, PathBuf};

/// Paths of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    dir: PathBuf,
}

/// One try at a scenario in a session, from 1. A second one (a retry of nextest, a second run with the same explicit
/// key) has its own folders, so that it cannot overwrite what the first one found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attempt(pub u32);

impl Layout {
    /// The layout of the session in `dir`.
    pub fn new(dir: PathBuf) -> Layout {
        Layout { dir }
    }

    /// The session's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The four folders of a session.
    pub fn folders(&self) -> [PathBuf; 4] {
        ["logs", "metrics", "artifacts", "findings"].map(|name| self.dir.join(name))
    }

    /// `session.json`.
    pub fn session_record(&self) -> PathBuf {
        self.dir.join("session.json")
    }

    /// `artifacts`.
    pub fn artifacts(&self) -> PathBuf {
        self.dir.join("artifacts")
    }

    /// Folder of one scenario.
    pub fn scenario_dir(&self, id: &str) -> PathBuf {
        self.artifacts().join(path_safe(id))
    }

    /// The scenario's record.
    pub fn scenario_record(&self, id: &str) -> PathBuf {
        self.scenario_dir(id).join("scenario.json")
    }

    /// The record of an earlier attempt, kept when a later one began.
    pub fn earlier_record(&self, id: &str, attempt: Attempt) -> PathBuf {
        self.scenario_dir(id).join(format!("scenario-attempt-{}.json", attempt.0))
    }

    /// What the supervisor saw of a scenario, one event a line.
    pub fn scenario_events(&self, id: &str) -> PathBuf {
        self.scenario_dir(id).join("events.jsonl")
    }

    /// Folder of one execution, relative to the session.
    pub fn run_folder(&self, id: &str, seed: u64, rerun: u32, attempt: Attempt) -> String {
        format!("artifacts/{}/{}", path_safe(id), execution(seed, rerun, attempt))
    }

    /// Folder of one execution.
    pub fn run_dir(&self, id: &str, seed: u64, rerun: u32, attempt: Attempt) -> PathBuf {
        self.scenario_dir(id).join(execution(seed, rerun, attempt))
    }

    /// Folder for the logs of the system under test in one execution.
    pub fn log_dir(&self, id: &str, seed: u64, rerun: u32, attempt: Attempt) -> PathBuf {
        self.dir.join("logs").join(path_safe(id)).join(execution(seed, rerun, attempt))
    }

    /// The findings of one scenario.
    pub fn finding(&self, id: &str) -> PathBuf {
        self.dir.join("findings").join(format!("{}.md", path_safe(id)))
    }

    /// The findings report.
    pub fn report(&self) -> PathBuf {
        self.dir.join("findings").join("report.md")
    }

    /// The findings report for programs.
    pub fn report_json(&self) -> PathBuf {
        self.dir.join("findings").join("report.json")
    }

    /// The verdicts for CI systems.
    pub fn junit(&self) -> PathBuf {
        self.dir.join("findings").join("junit.xml")
    }

    /// The session as a page for a browser, where a run has ended.
    pub fn page(&self) -> PathBuf {
        self.dir.join("findings").join("report.html")
    }

    /// The session log.
    pub fn session_log(&self) -> PathBuf {
        self.dir.join("session-log.md")
    }
}

/// `S5/api` as a file name: `S5__api`. Anything that could leave the folder becomes `_`.
pub fn path_safe(id: &str) -> String {
    id.replace('/', "__").chars().map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' }).collect()
}

fn execution(seed: u64, rerun: u32, attempt: Attempt) -> String {
    let mut name = format!("seed-{seed}");
    if rerun > 0 {
        name.push_str(&format!("-rerun-{rerun}"));
    }
    if attempt.0 > 1 {
        name.push_str(&format!("-attempt-{}", attempt.0));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_of_different_attempts_never_share_a_folder() {
        let layout = Layout::new(PathBuf::from("s"));
        let check = |rerun, attempt, expect: &str| {
            assert_eq!(layout.run_folder("S5/api", 7, rerun, Attempt(attempt)), expect);
        };
        check(0, 1, "artifacts/S5__api/seed-7");
        check(2, 1, "artifacts/S5__api/seed-7-rerun-2");
        check(0, 2, "artifacts/S5__api/seed-7-attempt-2");
        check(1, 3, "artifacts/S5__api/seed-7-rerun-1-attempt-3");
    }

    #[test]
    fn an_id_cannot_leave_its_folder() {
        assert_eq!(path_safe("../../x"), "________x");
        assert_eq!(path_safe("S5/api"), "S5__api");
    }
}
