//! `new` in repositories of several kinds.

use crate::package::{Answer, Package, answer, binary};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const SLUG: &str = "no-lost-acks";
const WRITTEN: &str = "docs/testing-plans/no-lost-acks.md";

/// A folder with `files` and nothing else.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(dir.path(), path, text);
    }
    dir
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn git(root: &Path, args: &[&str]) {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"];
    let output = Command::new("git").arg("-C").arg(root).args(identity).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn commit(root: &Path) {
    git(root, &["add", "-A"]);
    git(root, &["commit", "-qm", "x"]);
}

fn disttest(root: &Path, args: &[&str]) -> Answer {
    let mut command = binary();
    command.current_dir(root).arg("disttest").args(args);
    answer(command)
}

/// The rules that the plan at `path` breaks, as `plan` tells them.
fn rules(root: &Path, path: &str) -> Vec<String> {
    let answer = disttest(root, &["plan", path, "--format", "json"]);
    let json: Value = serde_json::from_str(&answer.out).unwrap();
    let rules = json["diagnostics"].as_array().unwrap().iter();
    let mut rules: Vec<String> = rules.map(|one| one["rule"].as_str().unwrap().to_owned()).collect();
    rules.dedup();
    rules
}

const MANIFEST: &str =
    "[package]\nname = \"store\"\ndescription = \"A store\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";

fn workspace() -> tempfile::TempDir {
    folder(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"3\"\n"),
        (
            "crates/node/Cargo.toml",
            "[package]\nname = \"node\"\ndescription = \"Serves | stores\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nwire = { path = \"../wire\" }\n",
        ),
        ("crates/node/src/main.rs", "fn main() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn starts() {}\n}\n"),
        (
            "crates/node/tests/quorum.rs",
            "//! A majority serves.\n#[test]\nfn two_of_three() {}\n#[test]\nfn three_of_five() {}\n",
        ),
        ("crates/node/benches/load.rs", "fn main() {}\n"),
        ("crates/wire/Cargo.toml", "[package]\nname = \"wire\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        ("crates/wire/src/lib.rs", ""),
        ("crates/wire/fuzz/fuzz_targets/frames.rs", "//! Any bytes.\nfn main() {}\n"),
        (".github/workflows/ci.yml", "jobs:\n  - run: cargo test --workspace\n"),
        ("chaos.sh", "iptables -A INPUT -j DROP\n"),
    ])
}

#[test]
fn what_is_written_lacks_nothing_but_what_a_person_must_write() {
    type Make = fn() -> tempfile::TempDir;
    let kinds: [(&str, Make); 6] = [
        ("an empty crate", || folder(&[("Cargo.toml", MANIFEST), ("src/lib.rs", "")])),
        ("a workspace", workspace),
        ("a workspace in git", || {
            let dir = workspace();
            git(dir.path(), &["init", "-q"]);
            commit(dir.path());
            write(dir.path(), "crates/wire/src/lib.rs", "pub fn new() {}\n");
            dir
        }),
        ("git without cargo", || {
            let dir = folder(&[("go.mod", "module x\n"), ("main.go", "package main\n")]);
            git(dir.path(), &["init", "-q"]);
            dir
        }),
        ("nothing", || folder(&[])),
        ("a manifest that cargo cannot read", || folder(&[("Cargo.toml", "[package\n"), ("src/lib.rs", "")])),
    ];
    for (kind, make) in kinds {
        for mode in ["change", "project"] {
            let dir = make();
            let answer = disttest(dir.path(), &["new", SLUG, "--mode", mode, "--format", "json"]).expect(0);
            let json: Value = serde_json::from_str(&answer.out).unwrap();
            assert_eq!((json["schema"].as_str(), json["written"].as_bool()), (Some("disttest.new/1"), Some(true)));
            let path = json["path"].as_str().unwrap();
            let expect =
                if kind == "nothing" || kind.contains("cannot") { "testing-plans/no-lost-acks.md" } else { WRITTEN };
            assert_eq!(path, expect, "{kind}");
            assert_eq!(rules(dir.path(), path), ["placeholder"], "{kind}, {mode}");
            assert!(json["placeholders"].as_array().unwrap().len() > 30);
        }
    }
}

/// Writes something plain in place of each placeholder.
fn fill(root: &Path, path: &str) {
    let text = std::fs::read_to_string(root.join(path)).unwrap();
    let mut filled = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("{{") {
        filled += before;
        filled += "as the owner says";
        rest = after.split_once("}}").unwrap().1;
    }
    std::fs::write(root.join(path), filled + rest).unwrap();
}

#[test]
fn once_the_placeholders_are_filled_the_plan_is_sound_and_can_be_authored() {
    for (mode, scenarios) in [("change", 1), ("project", 2)] {
        let dir = workspace();
        let root = dir.path();
        disttest(root, &["new", SLUG, "--mode", mode]).expect(0);
        fill(root, WRITTEN);
        let answer = disttest(root, &["plan", WRITTEN, "--format", "json"]).expect(0);
        let json: Value = serde_json::from_str(&answer.out).unwrap();
        assert_eq!(json["diagnostics"].as_array().unwrap().len(), 0, "{mode}: {}", json["diagnostics"]);
        disttest(root, &["author", WRITTEN]).expect(0);
        let answer = disttest(root, &["todo", SLUG, "--format", "json"]).expect(0);
        let json: Value = serde_json::from_str(&answer.out).unwrap();
        assert_eq!(json["counts"]["items"], 3 * scenarios, "{mode}: {json}");
        assert!(json["items"].as_array().unwrap().iter().all(|item| !item["fill"].is_null()), "{mode}");
        assert_eq!(json["items"][0]["package"], "node");
    }
}

#[test]
fn a_workspace_is_described_by_what_it_holds() {
    let dir = workspace();
    disttest(dir.path(), &["new", SLUG, "--mode", "project", "--sut", "the store"]).expect(0);
    let text = std::fs::read_to_string(dir.path().join(WRITTEN)).unwrap();
    for part in [
        "\n**Plan mode:** project-wide\n**SUT:** the store\n**Change under test:** N/A — project-wide\n",
        "- `node` (binary node): Serves \\| stores\n- `wire` (library): {{what it does}}\n",
        "| `crates/node/tests/quorum.rs` (2 tests) | node | A majority serves. | {{failure modes}} |\n",
        "| `crates/node/benches/load.rs` (benchmark) | node | {{invariant}} | {{failure modes}} |\n",
        "| `crates/node/src` (1 unit test in 1 file) | node | `starts`: {{invariant}} | {{failure modes}} |\n",
        "| `crates/wire/fuzz/fuzz_targets/frames.rs` (fuzz target) | wire | Any bytes. | {{failure modes}} |\n",
        "| `.github/workflows/ci.yml` (CI) | whole repository | runs cargo test --workspace | {{failure modes}} |\n",
        "| iptables (seen in chaos.sh) | ",
        "| `node` | – | S1 | brought up by SUT |\n",
        "- **Target test file:** crates/node/tests/auto/S1_no_lost_acks.rs\n",
        "  //! AUTO-GENERATED from test plan: docs/testing-plans/no-lost-acks.md\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_change_is_described_by_what_it_touches() {
    let dir = workspace();
    let root = dir.path();
    git(root, &["init", "-q"]);
    commit(root);
    git(root, &["checkout", "-qb", "faster"]);
    write(root, "crates/node/src/main.rs", "fn main() { run() }\nfn run() {}\n");
    commit(root);
    write(root, "crates/node/src/new|file.rs", "");
    let answer = disttest(root, &["new", SLUG, "--format", "json"]).expect(0);
    let json: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(json["facts"]["branch"], "faster");
    assert_eq!(json["facts"]["files_touched"], 2);
    let text = std::fs::read_to_string(root.join(WRITTEN)).unwrap();
    let head = json["facts"]["commit"].as_str().unwrap();
    for part in [
        &format!("**Change under test:** {head} on faster, compared with main at "),
        "- `crates/node/src/main.rs` — modified: {{what changed}}\n- `crates/node/src/new\\|file.rs` — added: {{what changed}}\n",
        "\n## 3. Existing test inventory\n",
        "(2 tests) | node |",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("| wire |"), "only what the change touches:\n{text}");
    assert_eq!(rules(root, WRITTEN), ["placeholder"]);
}

#[test]
fn a_change_of_pages_and_comments_needs_no_plan() {
    let dir = folder(&[("Cargo.toml", MANIFEST), ("src/lib.rs", "pub fn f() {}\n"), ("README.md", "x\n")]);
    let root = dir.path();
    git(root, &["init", "-q"]);
    commit(root);
    git(root, &["checkout", "-qb", "words"]);
    write(root, "README.md", "y\n");
    write(root, "src/lib.rs", "/// Says what.\npub fn f() {} // here\n");
    let answer = disttest(root, &["new", SLUG, "--format", "json"]).expect(1);
    let json: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(json["written"], false);
    let why = "it touches documentation and comments only";
    assert!(json["reason"].as_str().unwrap().starts_with(why) && answer.err.contains(why), "{}", answer.err);
    assert!(!root.join("docs").exists());
    disttest(root, &["new", SLUG, "--mode", "project"]).expect(0);
    let second = disttest(root, &["new", SLUG]).expect(1).err;
    assert!(second.contains("exists: choose another slug") && !second.contains("documentation"), "{second}");
    disttest(root, &["new", "no-lost-acks-twice", "--force"]).expect(0);
    write(root, "src/lib.rs", "pub fn f() { g() }\npub fn g() {}\n");
    disttest(root, &["new", "no-lost-acks-again"]).expect(0);
}

#[test]
fn a_plan_that_is_there_is_never_lost() {
    let package = Package::new();
    package.disttest(&["new", SLUG]).expect(0);
    package.write(WRITTEN, "# Test Plan: mine\n");
    let before = package.files();
    let answer = package.disttest(&["new", SLUG]).expect(1);
    assert_eq!(package.files(), before);
    assert!(answer.err.contains("exists") && answer.err.contains("--force"), "{}", answer.err);
    let answer = package.disttest(&["new", SLUG, "--force"]).expect(0);
    assert!(answer.out.contains("-# Test Plan: mine\n+# Test Plan: no-lost-acks\n"), "{}", answer.out);
    assert_eq!(package.read(&format!("{WRITTEN}.bak")), "# Test Plan: mine\n");
    package.write(WRITTEN, "again\n");
    package.disttest(&["new", SLUG, "--force"]).expect(0);
    assert_eq!(package.read(&format!("{WRITTEN}.bak2")), "again\n");
    assert_eq!(package.read(&format!("{WRITTEN}.bak")), "# Test Plan: mine\n");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let package = Package::new();
    package.write("elsewhere.md", "theirs");
    std::os::unix::fs::symlink(package.path("elsewhere.md"), package.path(WRITTEN)).unwrap();
    for force in [&[][..], &["--force"]] {
        let answer = package.disttest(&[&["new", SLUG], force].concat()).expect(1);
        assert!(answer.err.contains("no plain file"), "{}", answer.err);
    }
    assert_eq!(package.read("elsewhere.md"), "theirs");
}

#[test]
fn a_slug_says_what_the_plan_is_about() {
    let package = Package::new();
    let before = package.files();
    for (slug, why) in [("plan-1", "does not say what"), ("../evil", "not a path"), ("No Acks", "write `no-acks`")] {
        let answer = package.disttest(&["new", slug]).expect(2);
        assert!(answer.err.contains(why), "{slug}: {}", answer.err);
    }
    package.disttest(&["new", SLUG, "-p", "nobody"]).expect(2);
    package.disttest(&["new", SLUG, "--output", "plan.txt"]).expect(2);
    assert_eq!(package.files(), before);
}

#[test]
fn the_place_can_be_named() {
    let package = Package::new();
    package.disttest(&["new", SLUG, "--output", "plans/mine.md"]).expect(0);
    package.disttest(&["new", SLUG, "-o", "plans"]).expect(0);
    assert_eq!(
        package.read("plans/mine.md").replace("plans/mine.md", "plans/no-lost-acks.md"),
        package.read("plans/no-lost-acks.md")
    );
    let mut command = binary();
    command.current_dir(package.path("src")).args(["disttest", "new", SLUG]);
    let answer = answer(command).expect(0);
    assert!(package.path(WRITTEN).exists() && !package.path("src/docs").exists());
    assert!(answer.err.contains("next: fill ") && answer.err.contains("cargo disttest plan "), "{}", answer.err);
}
