//! PostgreSQL's programs on this machine: where they are, and how they are run as root, which they refuse.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian and others put what is not in PATH.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The newest `name` of PostgreSQL: in PATH, or in a folder of `/usr/lib/postgresql`.
pub fn program(name: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file());
    in_path.or_else(|| newest(name)).with_context(|| {
        format!("`{name}` is neither in PATH nor under {VERSIONS}: install PostgreSQL (apt install postgresql)")
    })
}

fn newest(name: &str) -> Option<PathBuf> {
    let versions = std::fs::read_dir(VERSIONS).ok()?.flatten();
    let number = |folder: &Path| folder.file_name()?.to_str()?.parse::<u32>().ok();
    let found = versions.filter_map(|entry| Some((number(&entry.path())?, entry.path().join("bin").join(name))));
    found.filter(|(_, program)| program.is_file()).max().map(|(_, program)| program)
}

/// What to start, and the arguments that come before the program's own. Root runs it in a user namespace in which
/// it is another user: the files stay root's, and PostgreSQL sees no root.
pub fn unprivileged(program: &Path) -> (PathBuf, Vec<String>) {
    if !is_root() {
        return (program.to_owned(), Vec::new());
    }
    let args = ["--user", "--map-user=1000", "--map-group=1000", "--"].map(str::to_owned);
    ("unshare".into(), args.into_iter().chain([program.display().to_string()]).collect())
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0)
}

/// Makes an empty instance in `folder`, unless there is one. Its superuser is `postgres`, without a password.
pub fn init(folder: &Path) -> Result<()> {
    if folder.join("PG_VERSION").exists() {
        return Ok(());
    }
    let (command, args) = unprivileged(&program("initdb")?);
    let mut initdb = Command::new(command);
    initdb.args(args).args(["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "-D"]).arg(folder);
    let output = initdb.output().context("initdb did not start")?;
    if !output.status.success() {
        bail!("initdb failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}
