//! `author` with the formatters that are installed, each by itself.
#![cfg(unix)]

use crate::languages::with_skeleton;
use crate::package::{Answer, PLAN_PATH, Package, answer, binary};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A formatter with code that it lays out otherwise: quotes, blank lines, semicolons, imports.
struct Formatter {
    name: &'static str,
    language: &'static str,
    target: &'static str,
    sign: &'static str,
    /// `§1`, `§2` and `§3` are the TODO comments.
    code: &'static str,
    /// In the file once it is formatted.
    formatted: &'static str,
    /// Says by its output or its status that a file is formatted.
    check: &'static [&'static str],
}

const PYTHON: &str = "import unittest\ndef helper(): return {'a':1}\nclass S1(unittest.TestCase):\n  def test_s1(self):\n    §1\n    clients = [ 'a', 'b' ]\n    §2\n    §3\n    self.fail('TODO')\n";

const ALL: [Formatter; 5] = [
    Formatter {
        name: "gofmt",
        language: "go",
        target: "services/store/s1_test.go",
        sign: "//",
        code: "package store\nimport (\n  \"time\"\n  \"testing\"\n)\nfunc TestS1(t *testing.T) {\n    §1\n    clients := []int {1,2}\n    §2\n    time.Sleep( time.Second)\n    §3\n    if (len(clients)==0) { t.Fatal(\"TODO\") }\n}\n",
        formatted: "\t// TODO 1. Workload — from §7 Workload field\n\tclients := []int{1, 2}\n",
        check: &["-l"],
    },
    Formatter {
        name: "ruff",
        language: "python",
        target: "tests/auto/test_s1.py",
        sign: "#",
        code: PYTHON,
        formatted: "        clients = [\"a\", \"b\"]\n",
        check: &["format", "--no-cache", "--check", "--quiet"],
    },
    Formatter {
        name: "black",
        language: "python",
        target: "tests/auto/test_s1.py",
        sign: "#",
        code: PYTHON,
        formatted: "        clients = [\"a\", \"b\"]\n",
        check: &["--check", "--quiet"],
    },
    Formatter {
        name: "prettier",
        language: "typescript",
        target: "tests/auto/s1.test.ts",
        sign: "//",
        code: "import { test } from 'node:test'\ntest('s1', async () => {\n    §1\n    const clients = ['a','b']\n    §2\n    §3\n    throw new Error('TODO')\n})\n",
        formatted: "  const clients = [\"a\", \"b\"];\n",
        check: &["--check", "--log-level", "silent"],
    },
    Formatter {
        name: "shfmt",
        language: "shell",
        target: "tests/auto/s1.sh",
        sign: "#",
        code: "set -eu\ntest_s1() {\n  §1\n  now=`date`;echo $now>x\n  §2\n  §3\n  return 1 # TODO\n}\ntest_s1\n",
        formatted: "\tnow=$(date)\n\techo $now >x\n",
        check: &["-l"],
    },
];

/// The folders of PATH.
fn folders() -> Vec<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect()
}

impl Formatter {
    fn installed(&self) -> Option<PathBuf> {
        folders().into_iter().map(|folder| folder.join(self.name)).find(|path| {
            // A name alone may be the shim of a version manager that has no such program.
            let runs = |path: &Path| Command::new(path).arg("--help").output().is_ok_and(|told| runs(&told));
            path.is_file() && runs(path)
        })
    }

    /// A PATH on which it is the only formatter of its language.
    fn path(&self, program: &Path, own: &Path) -> OsString {
        std::os::unix::fs::symlink(program, own.join(self.name)).unwrap();
        let others = ALL.iter().filter(|other| other.language == self.language && other.name != self.name);
        let others: Vec<&str> = others.map(|other| other.name).collect();
        let rest = folders().into_iter().filter(|folder| others.iter().all(|other| !folder.join(other).is_file()));
        std::env::join_paths([own.to_path_buf()].into_iter().chain(rest)).unwrap()
    }

    fn skeleton(&self) -> String {
        let header = [
            "AUTO-GENERATED from test plan: docs/testing-plans/small.md",
            "Scenario: S1 reads_never_go_back",
            "Falsifies: C1 (see §1b of the plan for full text)",
            "REVIEW BEFORE TREATING AS A PERMANENT REGRESSION: read the oracle.",
        ];
        let header: String = header.iter().map(|line| format!("{} {line}\n", self.sign)).collect();
        let todos = [("§1", "1. Workload"), ("§2", "2. Faults"), ("§3", "3. Oracle")];
        let comment = |text: &str| {
            let part = text.split(' ').nth(1).unwrap();
            format!("{} TODO {text} — from §7 {part} field", self.sign)
        };
        // The comments speak of §7, so that the marks are replaced in one pass.
        let mut code = String::new();
        let mut rest = self.code;
        for (mark, text) in todos {
            let (before, after) = rest.split_once(mark).unwrap();
            code.push_str(before);
            code.push_str(&comment(text));
            rest = after;
        }
        format!("{header}\n{code}{rest}")
    }

    /// `author` (and so on) with this PATH.
    fn disttest(&self, package: &Package, path: &OsString, args: &[&str]) -> Answer {
        let mut command = binary();
        command.current_dir(package.root()).env("PATH", path).arg("disttest").args(args);
        answer(command)
    }

    #[track_caller]
    fn is_content(&self, package: &Package, program: &Path) {
        let told =
            Command::new(program).args(self.check).arg(self.target).current_dir(package.root()).output().unwrap();
        let said = String::from_utf8_lossy(&told.stdout);
        let text = package.read(self.target);
        assert!(told.status.success() && said.trim().is_empty(), "{}: {said}\n{text}", self.name);
    }

    fn works(&self, program: &Path) {
        let package = Package::new();
        with_skeleton(&package, self.language, self.target, &self.skeleton());
        package.commit_all();
        let own = tempfile::tempdir().unwrap();
        let path = self.path(program, own.path());
        let author = ["author", PLAN_PATH, "-v"];
        let first = self.disttest(&package, &path, &author).expect(0);
        assert!(!first.err.contains("not formatted") && !first.err.contains("stays as"), "{}", first.err);
        let text = package.read(self.target);
        assert!(text.contains(self.formatted), "{}:\n{text}", self.name);
        self.is_content(&package, program);
        let unfilled = self.disttest(&package, &path, &["author", PLAN_PATH, "--check", "--scenario", "S1"]).expect(1);
        for part in ["workload", "faults", "oracle"] {
            assert!(unfilled.err.contains(&format!("S1: {part} is not filled")), "{}: {}", self.name, unfilled.err);
        }
        self.disttest(&package, &path, &author).expect(0);
        assert_eq!(package.read(self.target), text, "a second time nothing changes");
        // Somebody fills a region; the plan's prose changes; the file stays as its formatter wants it.
        package.edit(self.target, "TODO 1. Workload — from", "load, from");
        package.edit(PLAN_PATH, "16 clients, half reads", "8 clients, all writes");
        self.disttest(&package, &path, &[&author[..], &["--allow-dirty"]].concat()).expect(0);
        let updated = package.read(self.target);
        assert!(updated.contains("load, from") && updated.contains("workload — 8 clients, all writes"), "{updated}");
        self.is_content(&package, program);
    }

    fn cannot_read(&self, program: &Path) {
        let package = Package::new();
        with_skeleton(&package, self.language, self.target, &format!("{}) ( {{\n", self.skeleton()));
        let own = tempfile::tempdir().unwrap();
        let path = self.path(program, own.path());
        let told = self.disttest(&package, &path, &["author", PLAN_PATH, "-v"]).expect(0);
        assert!(told.err.contains(&format!("{} cannot read ", self.name)), "{}", told.err);
        assert!(package.read(self.target).contains(") ( {"), "it stays as the plan has it");
    }
}

fn runs(told: &std::process::Output) -> bool {
    // `gofmt --help` ends with 2.
    matches!(told.status.code(), Some(0 | 2))
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn what_author_writes_is_as_the_formatter_of_its_language_wants_it() {
    for formatter in ALL {
        match formatter.installed() {
            Some(program) => {
                formatter.works(&program);
                formatter.cannot_read(&program);
            }
            None => eprintln!("skipped: {} is not installed", formatter.name),
        }
    }
}
