//! Looks at the machine. Starts known programs with the arguments that print their version, and nothing else.

use super::known::{Known, Look};
use super::version::version_in;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program that does not tell its version by then is killed.
const PATIENCE: Duration = Duration::from_secs(5);
/// So much of what it prints is read.
const MOST: u64 = 64 * 1024;

/// What was seen of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// It is there; `None` when this cannot be told.
    pub present: Option<bool>,
    /// Its version.
    pub version: Option<String>,
    /// Where that comes from.
    pub source: String,
}

impl Seen {
    fn told(present: bool, source: impl Into<String>) -> Seen {
        Seen { present: Some(present), version: None, source: source.into() }
    }

    fn unknown(source: impl Into<String>) -> Seen {
        Seen { present: None, version: None, source: source.into() }
    }
}

/// Looks for one thing.
pub(crate) fn look(known: &Known) -> Seen {
    match known.look {
        Look::Program(name, arguments) => program(name, arguments),
        Look::Part(program, arguments) => part(program, arguments),
        Look::Present(name) => on_path(name)
            .map_or_else(|| Seen::told(false, "not on PATH"), |path| Seen::told(true, path.display().to_string())),
        Look::Linux => kernel(),
        Look::Capability(bit) => capability(bit),
        Look::UserNamespaces => user_namespaces(),
        Look::CgroupV2 => file("/sys/fs/cgroup/cgroup.controllers"),
        Look::Module(name) => module(name),
        Look::Cores => cores(),
        Look::Memory => memory(),
        Look::Loopback => file("/sys/class/net/lo"),
        Look::File(path) => file(path),
    }
}

/// Whether a program of this name, of which nothing else is known, is on PATH. It is not started.
pub(crate) fn quoted(name: &str) -> Option<Seen> {
    on_path(name).map(|path| Seen::told(true, path.display().to_string()))
}

/// The program of this name on PATH; it is not started.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    // An empty entry means the current folder, whose files are nobody's tools.
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|file| is_executable(file))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn program(name: &str, arguments: &[&str]) -> Seen {
    let Some(path) = on_path(name) else { return Seen::told(false, "not on PATH") };
    let shown = path.display();
    match printed(&path, arguments) {
        Some(text) => Seen { version: version_in(&text), ..Seen::told(true, shown.to_string()) },
        // A file of that name that does not even tell its version may not work at all.
        None => Seen::unknown(format!("{shown} does not tell its version")),
    }
}

/// A part of a program that the program does not know is absent, whatever else the program has.
fn part(name: &str, arguments: &[&str]) -> Seen {
    let asked = format!("{name} {}", arguments.join(" "));
    let Some(path) = on_path(name) else { return Seen::told(false, format!("{name} is not on PATH")) };
    match printed(&path, arguments) {
        Some(text) => Seen { version: version_in(&text), ..Seen::told(true, format!("`{asked}`")) },
        None => Seen::told(false, format!("`{asked}` fails")),
    }
}

/// What a program prints on both streams, standard output first; `None` when it cannot be started, fails, or takes more
/// than [`PATIENCE`].
pub(crate) fn printed(program: &Path, arguments: &[&str]) -> Option<String> {
    // A folder of its own: some programs write where they are started.
    let folder = tempfile::tempdir().ok()?;
    let (mut out, mut err) = (tempfile::tempfile().ok()?, tempfile::tempfile().ok()?);
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(out.try_clone().ok()?)
        .stderr(err.try_clone().ok()?)
        .spawn()
        .ok()?;
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().ok()? {
            break status;
        }
        if started.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        // The standard library can wait for a child without end or not at all.
        std::thread::sleep(Duration::from_millis(5));
    };
    let mut text = String::new();
    for file in [&mut out, &mut err] {
        std::io::Seek::rewind(file).ok()?;
        let mut bytes = Vec::new();
        file.take(MOST).read_to_end(&mut bytes).ok()?;
        text.push_str(&String::from_utf8_lossy(&bytes));
    }
    status.success().then_some(text)
}

fn kernel() -> Seen {
    const RELEASE: &str = "/proc/sys/kernel/osrelease";
    match std::fs::read_to_string(RELEASE) {
        Ok(text) => Seen { version: version_in(&text), ..Seen::told(true, RELEASE) },
        Err(_) => Seen::told(cfg!(target_os = "linux"), "the system this was built for"),
    }
}

fn capability(bit: u32) -> Seen {
    const STATUS: &str = "/proc/self/status";
    let text = std::fs::read_to_string(STATUS).unwrap_or_default();
    let mask = text.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.map_or_else(|| Seen::unknown(STATUS), |mask| Seen::told(mask >> bit & 1 == 1, format!("{STATUS}, CapEff")))
}

fn user_namespaces() -> Seen {
    const MOST: &str = "/proc/sys/user/max_user_namespaces";
    const DEBIAN: &str = "/proc/sys/kernel/unprivileged_userns_clone";
    let number = |path| std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<u64>().ok());
    match (number(MOST), number(DEBIAN)) {
        (Some(0), _) => Seen::told(false, MOST),
        (_, Some(0)) => Seen::told(false, DEBIAN),
        (Some(_), _) => Seen::told(true, MOST),
        (None, _) => Seen::unknown(MOST),
    }
}

fn cores() -> Seen {
    match std::thread::available_parallelism() {
        Ok(cores) => {
            Seen { version: Some(cores.to_string()), ..Seen::told(true, "the scheduler's affinity and quota") }
        }
        Err(error) => Seen::unknown(error.to_string()),
    }
}

/// A machine of 16 GiB shows a little less: the kernel keeps some.
fn memory() -> Seen {
    const MEMINFO: &str = "/proc/meminfo";
    let text = std::fs::read_to_string(MEMINFO).unwrap_or_default();
    let kib = text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse().ok());
    kib.map_or_else(
        || Seen::unknown(MEMINFO),
        |kib: u64| Seen { version: Some(kib.div_ceil(1 << 20).to_string()), ..Seen::told(true, MEMINFO) },
    )
}

fn file(path: &str) -> Seen {
    Seen::told(Path::new(path).exists(), path)
}

/// Modules carry `-` and `_` alike. Where the lists of modules cannot be read, nothing is known.
fn module(name: &str) -> Seen {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let folder = Path::new("/lib/modules").join(release.trim());
    let plain = |text: &str| text.replace('-', "_");
    let loaded = std::fs::read_to_string("/proc/modules").unwrap_or_default();
    if loaded.lines().any(|line| plain(line.split(' ').next().unwrap_or_default()) == plain(name)) {
        return Seen::told(true, "/proc/modules");
    }
    for list in ["modules.builtin", "modules.dep"] {
        let path = folder.join(list);
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let names = text.lines().filter_map(|line| line.split(':').next()?.rsplit('/').next());
        let stems = names.map(|file| file.split(".ko").next().unwrap_or(file));
        if stems.map(plain).any(|stem| stem == plain(name)) {
            return Seen::told(true, path.display().to_string());
        }
    }
    match folder.join("modules.dep").exists() {
        true => Seen::told(false, folder.display().to_string()),
        false => Seen::unknown("the kernel's modules are not listed here"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_there_tells_its_version_and_one_that_is_not_is_absent() {
        let rust = program("rustc", &["--version"]);
        assert_eq!(rust.present, Some(true));
        assert!(rust.version.is_some_and(|version| version.starts_with("1.")));
        assert_eq!(program("no-such-program-anywhere", &["--version"]), Seen::told(false, "not on PATH"));
        assert_eq!(quoted("no-such-program-anywhere"), None);
    }

    #[test]
    fn a_part_of_a_program_is_what_the_program_says_of_it() {
        let seen = part("sh", &["-c", "echo Docker Compose version v2.24.5"]);
        assert_eq!((seen.present, seen.version.as_deref()), (Some(true), Some("2.24.5")));
        let refused = part("sh", &["-c", "echo Docker version 27.0; exit 1"]);
        assert_eq!((refused.present, refused.version), (Some(false), None));
        assert_eq!(part("no-such-program-anywhere", &["compose", "version"]).present, Some(false));
    }

    #[test]
    fn what_a_program_prints_counts_only_when_it_ends_well() {
        let sh = |script: &str| printed(Path::new("/bin/sh"), &["-c", script]);
        assert_eq!(sh("echo err >&2; echo tool 1.2"), Some("tool 1.2\nerr\n".to_owned()));
        assert_eq!(sh("echo segfault at 4.2; kill -SEGV $$"), None);
        assert_eq!(sh("echo 4.2; exit 1"), None);
    }

    #[test]
    fn the_kernel_is_asked_without_privileges() {
        for seen in [kernel(), capability(12), user_namespaces(), file("/proc"), module("no_such_module")] {
            assert!(!seen.source.is_empty());
        }
        assert_ne!(module("no_such_module").present, Some(true));
    }
}
