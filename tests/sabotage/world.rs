//! Runs of the sabotaged scenarios, started in a folder of their own.

use disttest_runtime::verdict::{ScenarioRecord, Verdict};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder of sessions, and the runs in it.
pub(crate) struct World {
    pub(crate) root: TempDir,
}

impl World {
    pub(crate) fn new() -> World {
        World { root: tempfile::tempdir().expect("a temporary folder") }
    }

    pub(crate) fn command(&self, program: &str, sabotage: &str) -> Command {
        let mut command = Command::new(program);
        let ours = |name: &str| ["NEXTEST", "DISTTEST", "SABOTAGE"].iter().any(|prefix| name.starts_with(prefix));
        for (name, _) in std::env::vars().filter(|(name, _)| ours(name) || name == "CI") {
            command.env_remove(name);
        }
        command
            .env("SABOTAGE", sabotage)
            .env("SABOTAGE_NODE", env!("CARGO_BIN_EXE_node-under-sabotage"))
            .env("DISTTEST_SESSION_ROOT", self.root.path())
            .env("DISTTEST_SESSION", "table");
        command
    }

    pub(crate) fn run(&self, args: &[&str], sabotage: &str, env: &[(&str, &str)]) -> Output {
        let mut command = self.command(env!("CARGO_BIN_EXE_sabotaged"), sabotage);
        command.args(args).envs(env.iter().copied()).output().expect("it runs")
    }

    pub(crate) fn start(&self, args: &[&str], sabotage: &str, env: &[(&str, &str)]) -> Child {
        let mut command = self.command(env!("CARGO_BIN_EXE_sabotaged"), sabotage);
        command.args(args).envs(env.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    }

    /// Every scenario record below the folder, those of earlier attempts left out.
    pub(crate) fn records(&self) -> Vec<ScenarioRecord> {
        let paths = files_below(self.root.path());
        let records = paths.iter().filter(|path| path.ends_with("scenario.json"));
        records.map(|path| serde_json::from_slice(&fs::read(path).expect("readable")).expect("a record")).collect()
    }

    pub(crate) fn verdicts(&self) -> Vec<Verdict> {
        self.records().iter().map(|record| record.verdict).collect()
    }

    pub(crate) fn verdict_of(&self, scenario: &str) -> Verdict {
        let records = self.records();
        records.iter().find(|record| record.declared.test == scenario).expect("a record").verdict
    }

    /// Waits until a run has left a file of this name.
    pub(crate) fn wait_for(&self, name: &str) {
        let until = Instant::now() + Duration::from_secs(60);
        while !files_below(self.root.path()).iter().any(|path| path.ends_with(name)) {
            assert!(Instant::now() < until, "no run left `{name}`");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Processes of this folder: (id, command line). Nodes have it on their command line, runs in their environment.
    pub(crate) fn processes(&self) -> Vec<(u32, String)> {
        let root = self.root.path().display().to_string();
        let read = |process: &Path, file: &str| {
            String::from_utf8_lossy(&fs::read(process.join(file)).unwrap_or_default()).replace('\0', " ")
        };
        let entries = fs::read_dir("/proc").expect("there is /proc").flatten();
        let numbered = entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())));
        let lines = numbered.map(|(pid, path): (u32, PathBuf)| (pid, read(&path, "cmdline"), read(&path, "environ")));
        lines
            .filter(|(_, line, environment)| line.contains(&root) || environment.contains(&root))
            .map(|(pid, line, _)| (pid, line))
            .collect()
    }

    pub(crate) fn nothing_is_left(&self) -> Result<(), String> {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let left = self.processes();
            if left.is_empty() {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(format!("still there: {left:?}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => files.extend(files_below(&entry.path())),
            false => files.push(entry.path()),
        }
    }
    files
}

/// Sends a signal to a process that is there.
pub(crate) fn send(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().expect("kill runs").success());
}
