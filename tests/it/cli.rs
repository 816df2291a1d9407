//! The command line from end to end: the plan of the example authored into a package of its own, and the README.

use crate::tree::{Run, lock_versions, session_root, target};
use disttest_tests::workspace;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const PLAN: &str = "docs/testing-plans/abd-register.md";
const FILES: [&str; 4] = [
    "tests/auto/S1_linearizable_register_under_partitions_and_crashes.rs",
    "tests/auto/S2_acknowledged_writes_survive_the_kill_of_a_quorum.rs",
    "tests/auto/S3_every_healthy_node_serves_reads_and_writes.rs",
    "tests/auto/S4_increments_count_once_whatever_is_tried_again.rs",
];
/// With the profiles of this workspace, so that what is built for it is not built again.
const MANIFEST: &str = r#"[package]
name = "authored"
version = "0.1.0"
edition = "2024"

[workspace]

[profile.dev]
debug = "line-tables-only"
"#;

/// A package in a repository of its own, with the plan of the example and no test yet.
struct Package {
    root: PathBuf,
}

impl Package {
    /// A new one, at a place of its own that does not change: what is built of it replaces what was built before.
    fn new(name: &str) -> Package {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages").join(name);
        if root.exists() {
            fs::remove_dir_all(&root).expect("an earlier one can be removed");
        }
        let package = Package { root };
        package.write("Cargo.toml", MANIFEST);
        package.write("src/lib.rs", "");
        let plan = fs::read_to_string(workspace().join("tests/abd-store").join(PLAN)).expect("the example has a plan");
        package.write(PLAN, &plan);
        lock_versions(package.root());
        package.git("init -q");
        package.git("add -A");
        package.git("-c user.name=t -c user.email=t@t commit -qm start");
        package
    }

    fn root(&self) -> &Path {
        &self.root
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder can be made");
        fs::write(path, text).expect("a file can be written");
    }

    fn edit_plan(&self, edit: impl Fn(&str) -> String) {
        let before = fs::read_to_string(self.root().join(PLAN)).expect("the plan is there");
        let after = edit(&before);
        assert_ne!(before, after, "the edit finds what it is for");
        self.write(PLAN, &after);
    }

    fn git(&self, args: &str) -> String {
        Run::of("git", self.root(), args).expect(0).out
    }

    fn disttest(&self, args: &str) -> Run {
        Run::disttest(self.root(), args)
    }

    /// Text and time of the last change of each file that `author` writes.
    fn authored(&self) -> BTreeMap<String, (String, SystemTime)> {
        let files = FILES.into_iter().chain(["Cargo.toml"]).map(|name| {
            let path = self.root().join(name);
            let time = fs::metadata(&path).and_then(|file| file.modified()).expect("an authored file is there");
            (name.to_owned(), (fs::read_to_string(path).expect("it is text"), time))
        });
        files.collect()
    }
}

#[test]
fn what_author_writes_for_the_example_compiles_is_ignored_and_changes_only_with_its_scenario() {
    let package = Package::new("authored");
    package.disttest(&format!("author {PLAN}")).expect(0);
    let [s1, s2, s3, s4] = FILES;
    assert_eq!(package.git("status --porcelain"), format!("M  Cargo.toml\nA  {s1}\nA  {s2}\nA  {s3}\nA  {s4}\n"));
    let first = package.authored();

    let root = session_root();
    let answer = Run::cargo(package.root(), "test --no-fail-fast").sessions(&root).expect(0);
    let ignored =
        answer.out.lines().filter(|line| line.contains(" ... ignored, NOT-RUN: not filled: region `workload`"));
    assert_eq!(ignored.count(), 4, "{}\n{}", answer.out, answer.err);
    assert!(!answer.err.contains("warning"), "it compiles without a warning:\n{}", answer.err);
    package.disttest(&format!("run {PLAN}")).expect(4).says(&[
        "NOT-RUN",
        "regions workload, faults, oracle are not filled",
        "Session: BLOCKED",
    ]);

    package.disttest(&format!("author {PLAN}")).expect(0);
    assert!(package.authored() == first, "a second time no byte and no time changes");

    package.edit_plan(|plan| {
        let (before, third) = plan.split_once("### Scenario S3").expect("it has a third scenario");
        format!("{before}### Scenario S3{}", third.replacen("- **Workload:** ", "- **Workload:** after a pause, ", 1))
    });
    package.disttest(&format!("author {PLAN}")).expect(0);
    let second = package.authored();
    let changed: Vec<&str> =
        FILES.into_iter().chain(["Cargo.toml"]).filter(|name| first[*name] != second[*name]).collect();
    assert_eq!(changed, [s3]);
}

#[cfg(unix)]
#[test]
fn a_run_before_author_writes_nothing_and_says_what_is_to_be_filled() {
    let package = Package::new("default-mode");
    // The folder that an ephemeral package is built in is this very build's, so that the runtime is not built again.
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("default-mode");
    fs::create_dir_all(&builds).expect("a folder can be made");
    let _ = std::os::unix::fs::symlink(target(), builds.join("disttest-harness"));
    let answer = package.disttest(&format!("run {PLAN}")).env("CARGO_TARGET_DIR", &builds).expect(4);
    let unfilled = "regions workload, faults, oracle are not filled";
    answer.says(&["S3", "NOT-RUN", unfilled, "run from an ephemeral harness", "Session: BLOCKED"]);
    answer.says(&["Next: cargo disttest author", "Harness: test-sessions/abd-register/"]);
    assert!(answer.err.contains("nothing is built") && !answer.err.contains("Compiling"), "{}", answer.err);
    assert_eq!(package.git("status --porcelain"), "");
    assert!(FILES.iter().all(|file| !package.root().join(file).exists()));
}

#[test]
fn a_run_names_every_scenario_without_budgets_before_it_builds_anything() {
    let package = Package::new("without-budgets");
    package.edit_plan(|plan| {
        plan.lines().filter(|l| !l.contains("Hardening budget:**")).map(|l| format!("{l}\n")).collect()
    });
    let answer = package.disttest(&format!("run {PLAN}")).expect(4);
    answer.notes(&[
        "nothing was run",
        "S1 has no budget tiers",
        "S2 has no budget tiers",
        "S3 has no budget tiers",
        "S4 has no budget tiers",
    ]);
    assert!(!answer.err.contains("Compiling") && !package.root().join("test-sessions").exists());
}

#[test]
fn the_commands_of_the_readme_are_ones_that_we_have() {
    let readme = fs::read_to_string(workspace().join("README.md")).expect("there is a README");
    let mut commands = 0;
    let shell = readme.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).flat_map(str::lines);
    for line in shell {
        let command = line.split('#').next().unwrap_or_default().trim();
        if let Some(args) = command.strip_prefix("cargo disttest ") {
            Run::disttest(&workspace(), &format!("{args} --help")).expect(0).says(&["Usage: cargo disttest"]);
            let plan = args.split_whitespace().find(|arg| arg.starts_with("tests/"));
            assert!(plan.is_none_or(|plan| workspace().join(plan).is_file()), "{command}: no such plan");
        } else {
            assert!(command.is_empty() || command.starts_with("cargo test"), "`{command}` is not checked");
        }
        commands += 1;
    }
    assert!(commands >= 5, "only {commands} commands found");
    for folder in readme.split("--path ").skip(1).filter_map(|rest| rest.split(['`', ' ', '\n']).next()) {
        assert!(workspace().join(folder).join("Cargo.toml").is_file(), "{folder} is no package");
    }
    for defect in readme.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()) {
        let options = fs::read_to_string(workspace().join("tests/abd-store/src/options.rs")).expect("the options");
        assert!(options.contains(&pascal(defect)), "{defect} is no defect of the example");
    }
}

/// `skip-write-back` as clap knows it: `SkipWriteBack`.
fn pascal(kebab: &str) -> String {
    let words = kebab.split('-').map(|word| word[..1].to_uppercase() + &word[1..]);
    words.collect()
}
