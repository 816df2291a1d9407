//! `author` for skeletons in other languages than Rust, and for the plan's own Rust skeletons.

use crate::package::{PLAN_PATH, Package};

/// A language as a plan uses it.
struct Language {
    name: &'static str,
    target: &'static str,
    sign: &'static str,
    /// Around the three TODO comments, each of which is a `§`; laid out as its formatter wants it, installed or not.
    skeleton: &'static str,
    /// A command that says whether the file is well-formed, when it is installed.
    check: &'static [&'static str],
}

const LANGUAGES: [Language; 4] = [
    Language {
        name: "go",
        target: "services/store/s1_test.go",
        sign: "//",
        skeleton: "package store\n\nimport \"testing\"\n\nfunc TestS1(t *testing.T) {\n\t§\n\t§\n\t§\n\tt.Skip(\"TODO\")\n}\n",
        check: &["gofmt", "-e"],
    },
    Language {
        name: "python",
        target: "tests/auto/test_s1.py",
        sign: "#",
        skeleton: "#!/usr/bin/env python3\n§§import unittest\n\n\nclass S1(unittest.TestCase):\n    def test_s1(self):\n        §\n        §\n        §\n        self.fail(\"TODO\")\n",
        check: &["python3", "-m", "py_compile"],
    },
    Language {
        name: "typescript",
        target: "tests/auto/s1.test.ts",
        sign: "//",
        skeleton: "import { test } from \"node:test\";\n\ntest(\"s1\", () => {\n  §\n  §\n  §\n  throw new Error(\"TODO\");\n});\n",
        check: &["node", "--check"],
    },
    Language {
        name: "shell",
        target: "tests/auto/s1.sh",
        sign: "#",
        skeleton: "#!/usr/bin/env bash\n§§set -eu\n\ntest_s1() {\n\t§\n\t§\n\t§\n\treturn 1 # TODO\n}\n\ntest_s1\n",
        check: &["bash", "-n"],
    },
];

impl Language {
    fn skeleton(&self) -> String {
        let sign = self.sign;
        let header = [
            "AUTO-GENERATED from test plan: docs/testing-plans/small.md",
            "Scenario: S1 reads_never_go_back",
            "Falsifies: C1 (see §1b of the plan for full text)",
            "REVIEW BEFORE TREATING AS A PERMANENT REGRESSION: read the oracle.",
        ];
        let header: String = header.iter().map(|line| format!("{sign} {line}\n")).collect();
        let mut text = match self.skeleton.split_once("§§") {
            Some((shebang, rest)) => format!("{shebang}{header}\n{rest}"),
            None => format!("{header}\n{}", self.skeleton),
        };
        for todo in [
            "1. Workload — from §7 Workload field",
            "2. Faults — from §7 Faults field",
            "3. Oracle — from §7 Oracle field",
        ] {
            let at = text
                .match_indices('§')
                .map(|(at, _)| at)
                .find(|at| text[*at + 2..].starts_with('\n'))
                .expect("a place");
            text.replace_range(at..at + 2, &format!("{sign} TODO {todo}"));
        }
        text
    }

    /// A package in git whose S1 is in this language.
    fn package(&self) -> Package {
        let package = Package::new();
        with_skeleton(&package, self.name, self.target, &self.skeleton());
        package.commit_all();
        package
    }

    fn check(&self, package: &Package) {
        let (program, args) = self.check.split_first().expect("a program");
        let folder = tempfile::tempdir().unwrap();
        // The skeleton is plain JavaScript, which every node can check under this name.
        let suffix = if self.name == "typescript" { "mjs" } else { self.target.rsplit_once('.').expect("a suffix").1 };
        let copy = folder.path().join(format!("copy.{suffix}"));
        std::fs::copy(package.path(self.target), &copy).unwrap();
        // Where it is not installed there is nothing to ask.
        if let Ok(output) = std::process::Command::new(program).args(args).arg(copy).output() {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}\n{}", package.read(self.target));
        }
    }

    /// Fills the three regions.
    fn fill(&self, package: &Package) {
        let text = package.read(self.target).replace("TODO ", "").replace("TODO", "done");
        let text = text
            .replace("1. Workload — from", "load, from")
            .replace("2. Faults — from", "cut, from")
            .replace("3. Oracle — from", "judge, from");
        package.write(self.target, &text);
    }
}

/// The plan's S1 with this skeleton.
pub(crate) fn with_skeleton(package: &Package, language: &str, target: &str, skeleton: &str) {
    let block: String =
        skeleton.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }).collect();
    package.edit(PLAN_PATH, "tests/auto/s1.rs", target);
    let text = package.read(PLAN_PATH);
    let field = "- **Skeleton language:** rust\n";
    let with = format!("- **Skeleton language:** {language}\n- **Skeleton:**\n  ````{language}\n{block}  ````\n");
    package.write(PLAN_PATH, &text.replacen(field, &with, 1));
}

#[test]
fn a_skeleton_is_written_with_its_header_and_a_second_time_nothing_changes() {
    for language in LANGUAGES {
        let package = language.package();
        let answer = package.disttest(&["author", PLAN_PATH]).expect(0);
        let (name, target) = (language.name, language.target);
        assert!(answer.err.contains(&format!("{target} (written in {name}")), "{}", answer.err);
        let text = package.read(target);
        let kept: Vec<&str> = text.lines().collect();
        let mut kept = kept.iter();
        for line in language.skeleton().lines() {
            assert!(kept.any(|kept| *kept == line), "{name}: {line:?} is gone or moved:\n{text}");
        }
        for part in [
            "Plan-SHA256: ",
            "Scenario-SHA256: ",
            "Frame-SHA256: ",
            "disttest:begin workload — 16 clients",
            "disttest:end oracle",
        ] {
            assert!(
                text.contains(&format!("{} {part}", language.sign)) || text.contains(part),
                "{name}: {part}\n{text}"
            );
        }
        language.check(&package);
        let manifest = package.read("Cargo.toml");
        assert!(manifest.contains("s2.rs") && !manifest.contains(target), "{manifest}");
        let staged = package.git(&["status", "--porcelain"]);
        assert!(staged.contains(&format!("A  {target}\n")), "{staged}");
        package.commit_all();
        package.disttest(&["author", PLAN_PATH]).expect(0);
        assert_eq!(package.git(&["status", "--porcelain"]), "", "{name}");
        language.fill(&package);
        language.check(&package);
        package.commit_all();
        package.disttest(&["author", PLAN_PATH, "--scenario", "S1"]).expect(0);
        package.disttest(&["author", PLAN_PATH, "--check", "--scenario", "S1"]).expect(0);
        assert_eq!(package.git(&["status", "--porcelain"]), "", "{name}");
    }
}

#[test]
fn what_people_wrote_stays_when_the_plan_changes() {
    for language in LANGUAGES {
        let package = language.package();
        package.disttest(&["author", PLAN_PATH]).expect(0);
        let checked = package.disttest(&["author", PLAN_PATH, "--check"]).expect(1);
        assert!(checked.err.contains("S1: workload is not filled"), "{}", checked.err);
        language.fill(&package);
        let mine = format!("{}{} mine\n", package.read(language.target), language.sign);
        package.write(language.target, &mine);
        package.edit(PLAN_PATH, "16 clients, half reads", "8 clients, all writes");
        package.disttest(&["author", PLAN_PATH, "--check"]).expect(1);
        let answer = package.disttest(&["author", PLAN_PATH]).expect(0);
        assert!(answer.err.contains("was kept as it was"), "{}", answer.err);
        let text = package.read(language.target);
        let ours = |line: &&str| !line.contains("SHA256:") && !line.contains("disttest:begin workload");
        assert_eq!(text.lines().filter(ours).collect::<Vec<_>>(), mine.lines().filter(ours).collect::<Vec<_>>());
        assert!(text.contains("disttest:begin workload — 8 clients, all writes"));
        package.disttest(&["author", PLAN_PATH, "--check", "--scenario", "S1"]).expect(0);
    }
}

#[test]
fn a_header_edited_by_hand_is_a_conflict_with_the_usual_ways_out() {
    for language in LANGUAGES {
        let package = language.package();
        package.disttest(&["author", PLAN_PATH]).expect(0);
        language.fill(&package);
        let text = package.read(language.target);
        package.write(language.target, &text.replacen("Falsifies: C1", "Falsifies: C2", 1));
        let before = package.files();
        let answer = package.disttest(&["author", PLAN_PATH]).expect(1);
        assert_eq!(package.files(), before);
        assert!(answer.err.contains("edited by hand (and git has no commit of it as it is)"), "{}", answer.err);
        package.disttest(&["author", PLAN_PATH, "--check"]).expect(1);
        package.disttest(&["author", PLAN_PATH, "--on-conflict", "sibling"]).expect(0);
        let (stem, suffix) = language.target.rsplit_once('.').expect("a suffix");
        assert!(package.read(&format!("{stem}.new.{suffix}")).contains("Falsifies: C1"));
        package.disttest(&["author", PLAN_PATH, "--on-conflict", "overwrite"]).expect(0);
        assert_eq!(package.read(language.target), text);
    }
}

#[test]
fn a_skeleton_without_header_is_refused_and_the_others_are_written() {
    for language in LANGUAGES {
        let package = Package::new();
        with_skeleton(&package, language.name, language.target, &language.skeleton().replace("AUTO-GENERATED", "MADE"));
        let answer = package.disttest(&["author", PLAN_PATH]).expect(1);
        for part in [
            "lacks the AUTO-GENERATED header",
            "AUTO-GENERATED from test plan: docs/testing-plans/small.md",
            "Scenario: S1",
            "Falsifies: C1",
            "REVIEW BEFORE",
        ] {
            assert!(answer.err.contains(part), "{part}\n{}", answer.err);
        }
        assert!(!package.path(language.target).exists() && package.path("tests/auto/s2.rs").exists());
        let json = package.disttest(&["author", PLAN_PATH, "--check", "--format", "json"]).expect(1).out;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert!(json["problems"].as_array().unwrap().iter().any(|problem| problem["kind"] == "refused"));
        assert_eq!(json["not_authored"][0]["scenario"], "S1");
    }
}

#[test]
fn todo_lists_the_regions_of_every_language_until_they_are_filled() {
    for language in LANGUAGES {
        let (name, package) = (language.name, language.package());
        let todo = || -> serde_json::Value {
            let answer = package.disttest(&["todo", PLAN_PATH, "--scenario", "S1", "--format", "json"]).expect(0);
            serde_json::from_str(&answer.out).unwrap()
        };
        let missing = &todo()["not_authored"][0];
        assert_eq!((missing["file"].as_str(), missing["scenario"].as_str()), (Some(language.target), Some("S1")));
        assert_eq!(missing["command"], format!("cargo disttest author {PLAN_PATH} --scenario S1"));
        package.disttest(&["author", PLAN_PATH]).expect(0);
        let json = todo();
        let items = json["items"].as_array().unwrap();
        let regions: Vec<&str> = items.iter().map(|item| item["region"].as_str().unwrap()).collect();
        assert_eq!(regions, ["workload", "faults", "oracle"], "{name}");
        let text = package.read(language.target);
        let lines: Vec<&str> = text.lines().collect();
        for item in items {
            let line = |n: usize| item["lines"][n].as_u64().unwrap() as usize - 1;
            let region = item["region"].as_str().unwrap();
            let (above, below) = (lines[..line(0)].iter().rev(), lines[line(1) + 1]);
            let begin = above.clone().position(|line| line.contains(&format!("disttest:begin {region} ")));
            assert!(begin.is_some_and(|prose| above.take(prose).all(|line| line.contains(" | "))), "{name}: {item}");
            assert!(below.ends_with(&format!("disttest:end {region}")), "{name}: {item}");
            assert_eq!(item["claims"][0]["text"], "Reads never go back.");
            assert_eq!(item["commands"]["check"], format!("cargo disttest author {PLAN_PATH} --check --scenario S1"));
            assert!(item["commands"]["test"].is_null(), "cargo does not run it: {item}");
        }
        assert_eq!(items[0]["prose"], "16 clients, half reads, 10 s");
        let mark = lines.iter().position(|line| line.contains("TODO 1. Workload")).unwrap() + 1;
        assert!(items[0]["note"].as_str().unwrap().contains(&format!("line {mark}: ")), "{}", items[0]["note"]);
        let told = package.disttest(&["todo", PLAN_PATH, "--scenario", "S1"]).expect(0).out;
        for part in [
            &format!("{}:{}-", language.target, items[0]["lines"][0]),
            "S1 reads_never_go_back — region `workload`",
            "plan says  16 clients, half reads, 10 s",
            "falsifies  C1 (safety) Reads never go back.",
            &format!("written in {name}: run it with your own runner"),
            "3 to fill, 0 not written yet",
        ] {
            assert!(told.contains(part), "{name}: {part}:\n{told}");
        }
        package.edit(PLAN_PATH, "16 clients, half reads", "8 clients, all writes");
        assert!(todo()["items"][0]["drift"].as_str().unwrap().contains("cargo disttest author"));
        package.edit(PLAN_PATH, "8 clients, all writes", "16 clients, half reads");
        language.fill(&package);
        let json = todo();
        assert_eq!(json["counts"]["items"], 0, "{json}");
        assert_eq!(
            (&json["filled"][0]["file"], &json["filled"][0]["drift"]),
            (&language.target.into(), &None::<()>.into())
        );
    }
}

#[test]
fn todo_tells_of_a_skeleton_that_is_refused_and_of_a_file_in_its_place() {
    let python = &LANGUAGES[1];
    let package = Package::new();
    with_skeleton(&package, python.name, python.target, &python.skeleton().replace("AUTO-GENERATED", "MADE"));
    let told = package.disttest(&["todo", PLAN_PATH, "--scenario", "S1"]).expect(0).out;
    assert!(told.contains("its skeleton lacks the AUTO-GENERATED header"), "{told}");
    let package = python.package();
    package.write(python.target, "print()\n");
    let told = package.disttest(&["todo", PLAN_PATH, "--scenario", "S1"]).expect(0).out;
    assert!(told.contains("it has no AUTO-GENERATED header"), "{told}");
}

#[test]
fn targets_of_other_languages_stay_inside_and_end_as_their_language_asks() {
    for (language, target) in [
        ("go", "s1.go"),
        ("python", "../s1.py"),
        ("shell", "/tmp/s1.sh"),
        ("shell", ".git/hooks/x.sh"),
        ("python", "target/s1.py"),
        ("typescript", "tests/s1.rs"),
    ] {
        let found = LANGUAGES.iter().find(|known| known.name == language).expect("known");
        let package = Package::new();
        with_skeleton(&package, language, target, &found.skeleton());
        let before = package.files();
        let answer = package.disttest(&["author", PLAN_PATH]).expect(1);
        assert_eq!(package.files(), before, "{target}: {}", answer.err);
    }
}

#[test]
fn what_cannot_be_authored_is_told_with_what_to_write() {
    let package = Package::new();
    package.edit(PLAN_PATH, "- **Target test file:** tests/auto/s1.rs\n", "");
    let answer = package.disttest(&["author", PLAN_PATH]).expect(0);
    assert!(
        answer
            .err
            .contains("S1 cannot be authored: it has no `Target test file` (write one, such as `tests/auto/S1.rs`)"),
        "{}",
        answer.err
    );
    let package = Package::new();
    package.edit(
        PLAN_PATH,
        "tests/auto/s1.rs\n- **Skeleton language:** rust",
        "tests/auto/s1.py\n- **Skeleton language:** python",
    );
    let answer = package.disttest(&["author", PLAN_PATH]).expect(0);
    assert!(
        answer.err.contains("S1 cannot be authored: its skeleton language is python and it has no skeleton"),
        "{}",
        answer.err
    );
    let json = package.disttest(&["author", PLAN_PATH, "--format", "json"]).expect(0).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["not_authored"][0]["scenario"], "S1");
    assert_eq!(json["files"][0]["scenario"], "S2");
}

#[test]
fn a_rust_skeleton_of_the_plan_is_planted_and_a_missing_one_is_noted() {
    let package = Package::new();
    let answer = package.disttest(&["author", PLAN_PATH]).expect(0);
    assert!(answer.err.contains("S1 tests/auto/s1.rs (no skeleton in the plan: synthesized)"), "{}", answer.err);
    let package = Package::new();
    let skeleton = "// AUTO-GENERATED from test plan: x\nuse std::fs;\nuse std::time::Duration;\nmod evil;\n\n#[tokio::test]\nasync fn reads() {\n    // 1. Workload — from §7 Workload field\n    let wait = Duration::from_secs(1); // as planned\n    // 2. Faults — from §7 Faults field\n    todo!()\n    // 3. Oracle — from §7 Oracle field\n}\n";
    with_skeleton(&package, "rust", "tests/auto/s1.rs", skeleton);
    let answer = package.disttest(&["author", PLAN_PATH]).expect(0);
    assert!(answer.err.contains("left out of its skeleton: a module in another file"), "{}", answer.err);
    assert!(answer.err.contains("small.md:") && answer.err.contains("mod evil;"), "{}", answer.err);
    let text = package.read("tests/auto/s1.rs");
    assert!(
        text.contains(
            "    let wait = Duration::from_secs(1); // as planned\n    let workload: Workload = disttest_runtime::todo!"
        ),
        "{text}"
    );
    assert!(text.contains("use std::fs;\nuse std::time::Duration;\n// disttest:end helpers"), "{text}");
    let before = package.files();
    package.disttest(&["author", PLAN_PATH]).expect(0);
    assert_eq!(package.files(), before);
    let broken = Package::new();
    with_skeleton(&broken, "rust", "tests/auto/s1.rs", "#[test]\nfn t() {\n    let a = ;\n}\n");
    let answer = broken.disttest(&["author", PLAN_PATH]).expect(0);
    assert!(answer.err.contains("its skeleton cannot be used") && answer.err.contains("let a = ;"), "{}", answer.err);
    let unplanted = broken.read("tests/auto/s1.rs");
    assert!(unplanted.contains("let workload: Workload = disttest_runtime::todo!"));
}

#[test]
fn author_mode_of_a_run_writes_what_is_missing_and_nothing_else() {
    let go = &LANGUAGES[0];
    let package = go.package();
    package.write("tests/auto/s2.rs", "fn main() {}\n");
    let answer = package.disttest_with(&["run", PLAN_PATH, "--scenario", "S1"], &[("DIST_TEST_AUTHOR_MODE", "1")]);
    assert!(answer.err.contains(&format!("Created {} (author mode)", go.target)), "{}", answer.err);
    assert!(answer.out.contains("its skeleton language is go: run it with your own runner"), "{}", answer.out);
    assert_eq!(package.read("tests/auto/s2.rs"), "fn main() {}\n");
    let package = go.package();
    for value in ["", "0", "true"] {
        package.disttest_with(&["run", PLAN_PATH, "--scenario", "S1"], &[("DIST_TEST_AUTHOR_MODE", value)]);
        assert!(!package.path(go.target).exists(), "{value:?}");
    }
}

#[test]
fn git_is_respected() {
    let package = Package::with_git();
    package.write(".gitignore", "tests/auto/s1.rs\ntarget\nCargo.lock\n");
    package.edit("Cargo.toml", "# ours", "# ours, changed and not staged");
    let answer = package.disttest(&["author", PLAN_PATH]).expect(0);
    assert!(
        answer.err.contains("tests/auto/s1.rs is written and not staged: git ignores it (.gitignore:1:"),
        "{}",
        answer.err
    );
    assert!(answer.err.contains("Cargo.toml is written and not staged"), "{}", answer.err);
    let status = package.git(&["status", "--porcelain"]);
    assert!(status.contains(" M Cargo.toml\n") && status.contains("A  tests/auto/s2.rs\n"), "{status}");
}

#[test]
fn our_lines_changed_since_they_were_staged_are_a_conflict_even_under_a_right_digest() {
    let package = Package::with_git();
    package.disttest(&["author", PLAN_PATH]).expect(0);
    let s2 = "tests/auto/s2.rs";
    // What another version of the plan makes of the file has a right digest, and git has no copy of it.
    package.edit(PLAN_PATH, "4 clients, 2 s", "5 clients, 2 s");
    let other = Package::new();
    other.write(PLAN_PATH, &package.read(PLAN_PATH));
    other.disttest(&["author", PLAN_PATH]).expect(0);
    package.write(s2, &other.read(s2));
    package.edit(PLAN_PATH, "5 clients, 2 s", "6 clients, 2 s");
    let answer = package.disttest(&["author", PLAN_PATH]).expect(1);
    assert!(
        answer.err.contains("changes outside of its regions that are not staged (--allow-dirty)"),
        "{}",
        answer.err
    );
    assert!(package.read(s2).contains("5 clients"));
    package.disttest(&["author", PLAN_PATH, "--allow-dirty"]).expect(0);
    assert!(package.read(s2).contains("6 clients"));
}
