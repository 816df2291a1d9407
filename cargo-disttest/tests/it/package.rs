//! A package in a temporary folder, with a plan.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

pub(crate) const PLAN: &str = include_str!("plan.md");
pub(crate) const PLAN_PATH: &str = "docs/testing-plans/small.md";

/// [`PLAN`] with S1 split into two arms, each with a target of its own.
pub(crate) fn with_arms() -> String {
    let (head, tail) = PLAN.split_once("### Scenario S2").expect("it has a second scenario");
    let (_, block) = head.split_once("#### §7.M").expect("S1 has a block");
    let arm = |name: &str| {
        let target = format!("- **Target test file:** tests/auto/s1_{name}.rs\n");
        format!("#### Arm S1/{name}: the {name}\n- **Oracle:** `linearizability` per key\n{target}\n#### §7.M{block}")
    };
    let head = head.replace(&format!("#### §7.M{block}"), "");
    format!("{head}{}{}### Scenario S2{tail}", arm("api"), arm("sdk"))
}

pub(crate) struct Package {
    dir: TempDir,
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn expect(self, status: i32) -> Answer {
        assert_eq!(self.status, status, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }
}

impl Package {
    pub(crate) fn new() -> Package {
        let package = Package { dir: tempfile::tempdir().unwrap() };
        package.write(
            "Cargo.toml",
            "# ours\n[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
        );
        package.write("src/lib.rs", "");
        package.write(PLAN_PATH, PLAN);
        package
    }

    pub(crate) fn with_git() -> Package {
        let package = Package::new();
        package.commit_all();
        package
    }

    /// Commits all there is, in a repository that is made when there is none.
    pub(crate) fn commit_all(&self) {
        if !self.path(".git").exists() {
            self.git(&["init", "-q"]);
        }
        self.git(&["add", "-A"]);
        self.git(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "all", "--allow-empty"]);
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{name} has no {from:?}");
        self.write(name, &text.replace(from, to));
    }

    /// Every file but cargo's and git's: (path, text, time of the last change).
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>, std::time::SystemTime)> {
        let mut files = Vec::new();
        collect(self.root(), self.root(), &mut files);
        files.sort();
        files
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git").arg("-C").arg(self.root()).args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn disttest(&self, args: &[&str]) -> Answer {
        self.disttest_with(args, &[])
    }

    pub(crate) fn disttest_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Answer {
        let mut command = binary();
        command.current_dir(self.root()).arg("disttest").args(args).envs(variables.iter().copied());
        answer(command)
    }
}

fn collect(root: &Path, dir: &Path, into: &mut Vec<(String, Vec<u8>, std::time::SystemTime)>) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        if matches!(name.as_str(), ".git" | "target" | "Cargo.lock") {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            collect(root, &path, into);
        } else {
            let modified = entry.metadata().unwrap().modified().unwrap();
            into.push((name, fs::read(&path).unwrap_or_default(), modified));
        }
    }
}

/// The binary in an environment that says nothing about colours, runs or terminals.
pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-disttest"));
    for (name, _) in std::env::vars() {
        if ["DISTTEST_", "NEXTEST", "CARGO_TERM", "CI", "COLUMNS"].iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null()).env("CARGO_NET_OFFLINE", "true");
    command
}

pub(crate) fn answer(mut command: Command) -> Answer {
    let output = command.output().unwrap();
    Answer {
        status: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
