//! Packages that are kept as data below `trees/`, made real in cargo's folder for temporary files, and commands run
//! in them as a user runs them.

use disttest_runtime::base::digest::sha256_hex;
use disttest_runtime::plan;
use disttest_tests::workspace;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The manifest of a tree is named so that cargo does not take it for a package of this workspace.
const DISARMED: &str = "Cargo_test.toml";
/// What cargo makes in a package.
const CARGOS: [&str; 2] = ["Cargo.lock", "target"];

/// A tree as a package. Its place never changes, so that it is built anew only as far as it changed.
pub(crate) struct Tree {
    root: PathBuf,
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Tree {
    /// The tree `name`, its placeholders filled: `@RUNTIME@`, `@PLAN@` and `@S1@` (digests of the plan and of its
    /// scenarios).
    pub(crate) fn new(name: &str) -> Tree {
        let trees = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trees");
        fs::create_dir_all(&trees).expect("the folder for temporary files can be written");
        // Under nextest every test is a process of its own, and each copies.
        let lock = File::create(trees.join(format!("{name}.lock"))).expect("the lock can be made");
        lock.lock().expect("the lock can be taken");
        let (from, root) = (workspace().join("tests/trees").join(name), trees.join(name));
        let wanted = files(&from);
        let fillings = fillings(&wanted);
        let filled = |text: &String| fillings.iter().fold(text.clone(), |text, (from, to)| text.replace(from, to));
        let wanted: BTreeMap<String, String> =
            wanted.iter().map(|(name, text)| (name.replace(DISARMED, "Cargo.toml"), filled(text))).collect();
        update(&root, &wanted);
        lock_versions(&root);
        Tree { root }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// `cargo ARGS` in the tree.
    pub(crate) fn cargo(&self, args: &str) -> Run {
        Run::cargo(&self.root, args)
    }
}

/// The versions of this workspace: what is built for it need not be built again, and no network is asked.
pub(crate) fn lock_versions(root: &Path) {
    if !root.join("Cargo.lock").exists() {
        fs::copy(workspace().join("Cargo.lock"), root.join("Cargo.lock")).expect("the lock file can be copied");
    }
}

/// Path below `root` and text of each file.
fn files(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("a folder entry is readable").path();
            let name = path.strip_prefix(root).expect("a path below the tree").to_str().expect("UTF-8").to_owned();
            if CARGOS.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(name, fs::read_to_string(&path).expect("a file of a tree is text"));
            }
        }
    }
    found
}

/// Placeholders and what they stand for.
fn fillings(files: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let runtime = workspace().join("disttest-runtime").to_str().expect("UTF-8").to_owned();
    let mut fillings = vec![("@RUNTIME@".to_owned(), runtime)];
    if let Some((_, text)) = files.iter().find(|(name, _)| name.starts_with("docs/testing-plans/")) {
        let (plan, _) = plan::parse(text);
        fillings.push(("@PLAN@".to_owned(), sha256_hex(text.as_bytes())));
        fillings.extend(plan.scenarios.iter().map(|s| (format!("@{}@", s.id.value), plan::scenario_digest(&plan, s))));
    }
    fillings
}

/// Makes the files below `root` those of `wanted`. One that is right already keeps its time.
fn update(root: &Path, wanted: &BTreeMap<String, String>) {
    let there = files(root);
    for name in there.keys().filter(|name| !wanted.contains_key(*name)) {
        fs::remove_file(root.join(name)).expect("an old file can be removed");
    }
    for (name, text) in wanted.iter().filter(|(name, text)| there.get(*name) != Some(text)) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder can be made");
        fs::write(path, text).expect("a file can be written");
    }
}

/// A command about to be run, in an environment that says nothing of the run that these tests belong to.
pub(crate) struct Run {
    command: Command,
}

impl Run {
    pub(crate) fn of(program: &str, folder: &Path, args: &str) -> Run {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let foreign =
                ["DISTTEST_", "NEXTEST", "CARGO_PKG", "CARGO_MANIFEST", "CARGO_BIN", "CARGO_TERM", "RUST_TEST"];
            let text = name.to_string_lossy();
            if foreign.iter().any(|prefix| text.starts_with(prefix)) || ["CI", "NO_COLOR"].contains(&&*text) {
                command.env_remove(&name);
            }
        }
        command.args(args.split_whitespace()).current_dir(folder).stdin(Stdio::null());
        command.env("CARGO_TARGET_DIR", target()).env("CARGO_NET_OFFLINE", "true");
        Run { command }
    }

    pub(crate) fn cargo(folder: &Path, args: &str) -> Run {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        Run::of(&cargo, folder, args)
    }

    /// `cargo disttest ARGS`.
    pub(crate) fn disttest(folder: &Path, args: &str) -> Run {
        Run::of(env!("CARGO_BIN_EXE_disttest"), folder, &format!("disttest {args}"))
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Run {
        self.command.env(name, value);
        self
    }

    /// Sessions go to `root`.
    pub(crate) fn sessions(self, root: &TempDir) -> Run {
        self.env("DISTTEST_SESSION_ROOT", root.path())
    }

    /// Runs it to its end, however that is.
    pub(crate) fn ended(&mut self) -> Answer {
        let output = self.command.output().expect("the command starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
        Answer { status: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }

    /// As user `id`.
    pub(crate) fn user(mut self, id: u32) -> Run {
        self.command.uid(id).gid(id);
        self
    }

    /// Runs it to its end, which must be `status`.
    #[track_caller]
    pub(crate) fn expect(mut self, status: i32) -> Answer {
        let answer = self.ended();
        let Answer { status: got, out, err } = &answer;
        let args: Vec<_> = self.command.get_args().collect();
        assert_eq!(*got, status, "{args:?}\nstdout:\n{out}\nstderr:\n{err}");
        answer
    }
}

impl Answer {
    /// Each of `parts` stands in stdout.
    #[track_caller]
    pub(crate) fn says(&self, parts: &[&str]) -> &Answer {
        for part in parts {
            assert!(self.out.contains(part), "stdout lacks `{part}`:\n{}\nstderr:\n{}", self.out, self.err);
        }
        self
    }

    /// Each of `parts` stands in stderr.
    #[track_caller]
    pub(crate) fn notes(&self, parts: &[&str]) -> &Answer {
        for part in parts {
            assert!(self.err.contains(part), "stderr lacks `{part}`:\n{}\nstdout:\n{}", self.err, self.out);
        }
        self
    }

    /// Lines of stdout that are JSON.
    pub(crate) fn events(&self) -> Vec<serde_json::Value> {
        self.out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// The target directory of this very build: what is built there is shared.
pub(crate) fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it stands in the target directory").to_path_buf()
}

/// A folder for sessions.
pub(crate) fn session_root() -> TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}
