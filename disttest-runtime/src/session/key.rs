//! The key of a run: processes that agree on it share a session.

use std::path::PathBuf;

/// What names a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// `DISTTEST_SESSION` gave the session's folder.
    Folder(PathBuf),
    /// `DISTTEST_SESSION` gave a free word: all processes that give it are one run.
    Named(String),
    /// The run id of nextest.
    Nextest(String),
    /// The cargo process that started this one.
    Cargo(ProcessStamp),
    /// This process alone.
    Process(ProcessStamp),
}

/// A process that is not mistaken for a later one with its number: the start time and the boot belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessStamp {
    /// Process id.
    pub pid: u32,
    /// Start time, in clock ticks since boot (or whatever tells two processes of one number apart).
    pub start: u64,
    /// Id of the boot; empty where there is none.
    pub boot: String,
}

/// What the choice looks at.
#[derive(Clone, Debug)]
pub struct KeyInputs {
    /// `DISTTEST_SESSION`.
    pub session: Option<String>,
    /// `NEXTEST_RUN_ID`.
    pub nextest_run_id: Option<String>,
    /// The parent process, if it is cargo.
    pub cargo: Option<ProcessStamp>,
    /// This process.
    pub own: ProcessStamp,
}

impl Key {
    /// `DISTTEST_SESSION` (a folder when it holds a path separator), else nextest's run, else cargo's process, else
    /// this process. An empty variable counts as absent.
    pub fn choose(inputs: KeyInputs) -> Key {
        let given = |text: Option<String>| text.filter(|t| !t.trim().is_empty());
        if let Some(session) = given(inputs.session) {
            let is_path = session.contains('/') || session.contains(std::path::MAIN_SEPARATOR);
            return if is_path { Key::Folder(PathBuf::from(session)) } else { Key::Named(session) };
        }
        if let Some(id) = given(inputs.nextest_run_id) {
            return Key::Nextest(id);
        }
        inputs.cargo.map_or(Key::Process(inputs.own), Key::Cargo)
    }

    /// One text for one run; no two kinds of key share one.
    pub fn text(&self) -> String {
        let stamp = |s: &ProcessStamp| format!("{}:{}:{}", s.boot, s.pid, s.start);
        match self {
            Key::Folder(path) => format!("folder:{}", path.display()),
            Key::Named(word) => format!("named:{word}"),
            Key::Nextest(id) => format!("nextest:{id}"),
            Key::Cargo(process) => format!("cargo:{}", stamp(process)),
            Key::Process(process) => format!("process:{}", stamp(process)),
        }
    }

    /// True when a person chose the key, so that a later run may come with the same one.
    pub fn is_explicit(&self) -> bool {
        matches!(self, Key::Folder(_) | Key::Named(_))
    }
}

impl KeyInputs {
    /// Reads the environment and, where there is a `/proc`, the parent process.
    pub fn from_process() -> KeyInputs {
        let var = |name| std::env::var(name).ok();
        KeyInputs {
            session: var("DISTTEST_SESSION"),
            nextest_run_id: var("NEXTEST_RUN_ID"),
            cargo: parent_cargo(),
            own: ProcessStamp::of(std::process::id()).unwrap_or_else(ProcessStamp::from_clock),
        }
    }
}

impl ProcessStamp {
    /// The stamp of a running process; `None` where there is no `/proc` or no such process.
    pub fn of(pid: u32) -> Option<ProcessStamp> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Some(ProcessStamp { pid, start: start_time(&stat)?, boot: boot.trim().to_owned() })
    }

    fn from_clock() -> ProcessStamp {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        ProcessStamp { pid: std::process::id(), start: now.as_nanos() as u64, boot: String::new() }
    }
}

#[cfg(unix)]
fn parent_cargo() -> Option<ProcessStamp> {
    let parent = std::os::unix::process::parent_id();
    let name = std::fs::read_to_string(format!("/proc/{parent}/comm")).ok()?;
    if name.trim() == "cargo" { ProcessStamp::of(parent) } else { None }
}

#[cfg(not(unix))]
fn parent_cargo() -> Option<ProcessStamp> {
    None
}

/// Field 22 of `/proc/<pid>/stat` (proc_pid_stat(5)). The name in parentheses may hold spaces and parentheses itself.
fn start_time(stat: &str) -> Option<u64> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    behind_name.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_explicit_key_wins() {
        let stamp = |pid| ProcessStamp { pid, start: 7, boot: "b".into() };
        let check = |session: &str, nextest: &str, cargo: Option<u32>, expect: &str| {
            let inputs = KeyInputs {
                session: Some(session.into()),
                nextest_run_id: Some(nextest.into()),
                cargo: cargo.map(stamp),
                own: stamp(9),
            };
            assert_eq!(Key::choose(inputs).text(), expect);
        };
        check("out/one", "n", Some(1), "folder:out/one");
        check("nightly", "n", Some(1), "named:nightly");
        check(" ", "n", Some(1), "nextest:n");
        check("", "", Some(1), "cargo:b:1:7");
        check("", "", None, "process:b:9:7");
    }

    #[test]
    fn the_start_time_is_read_behind_any_process_name() {
        let stat = "42 (a ) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        assert_eq!(start_time(stat), Some(4711));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn two_looks_at_one_process_agree() {
        let own = ProcessStamp::of(std::process::id());
        assert!(own.is_some());
        assert_eq!(own, ProcessStamp::of(std::process::id()));
    }
}
