//! The review of `author` on a real pseudo-terminal.
#![cfg(unix)]

use crate::package::{PLAN_PATH, Package};
use crate::terminal::Terminal;
use std::time::Duration;

const S1: &str = "tests/auto/s1.rs";
const S2: &str = "tests/auto/s2.rs";
const QUESTION: &str = "[q]uit ?";

/// Both files are written and then edited outside of their regions.
fn edited() -> Package {
    let package = Package::with_git();
    package.disttest(&["author", PLAN_PATH]).expect(0);
    for file in [S1, S2] {
        package.edit(file, "use disttest_runtime::prelude::*;", "use disttest_runtime::prelude::*; // mine");
    }
    package
}

fn is_mine(package: &Package, file: &str) -> bool {
    package.read(file).contains("// mine")
}

#[test]
fn each_file_in_the_way_is_shown_with_its_diff_and_gets_its_own_answer() {
    let package = edited();
    let mut terminal = Terminal::start(&package, &["author", PLAN_PATH]);
    let shown = terminal.see(QUESTION);
    for part in [
        "-use disttest_runtime::prelude::*; // mine",
        "[1/2] tests/auto/s1.rs (S1): it was edited outside of its regions",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    assert!(!shown.contains("s2.rs"), "one file at a time: {shown}");
    terminal.press(b"a");
    let shown = terminal.see(QUESTION);
    assert!(shown.contains("[2/2] tests/auto/s2.rs (S2)"), "{shown}");
    assert!(is_mine(&package, S1), "nothing is written before the last answer");
    terminal.press(b"s");
    let shown = terminal.end(0);
    assert!(shown.contains("Overwrote S1") && shown.contains("Skipped S2"), "{shown}");
    assert!(!is_mine(&package, S1) && is_mine(&package, S2));
}

#[test]
fn a_whole_diff_a_sibling_and_all_at_once() {
    let package = edited();
    let mut terminal = Terminal::start(&package, &["author", PLAN_PATH]);
    terminal.see(QUESTION);
    terminal.press(b"d");
    let diff = terminal.see(QUESTION);
    assert!(diff.contains("--- a/tests/auto/s1.rs"), "{diff}");
    terminal.press(b"n");
    terminal.see(QUESTION);
    terminal.press(b"A");
    terminal.end(0);
    assert!(is_mine(&package, S1) && !is_mine(&package, S2));
    assert!(!package.read("tests/auto/s1.new.rs").contains("// mine"));
    let package = edited();
    let mut terminal = Terminal::start(&package, &["author", PLAN_PATH]);
    terminal.see(QUESTION);
    terminal.press(b"A");
    terminal.end(0);
    assert!(!is_mine(&package, S1) && !is_mine(&package, S2));
}

#[test]
fn who_ends_the_review_has_nothing_written_that_was_not_accepted() {
    for quit in [&b"q"[..], b"\x03", b"\x04"] {
        let package = edited();
        let mut terminal = Terminal::start(&package, &["author", PLAN_PATH]);
        terminal.see(QUESTION);
        terminal.press(b"a");
        terminal.see(QUESTION);
        terminal.press(quit);
        terminal.end(1);
        assert!(!is_mine(&package, S1) && is_mine(&package, S2), "{quit:?}");
        let package = edited();
        package.write("Cargo.toml", &package.read("Cargo.toml").replace("harness = false\n", ""));
        let before = package.files();
        let mut terminal = Terminal::start(&package, &["author", PLAN_PATH]);
        terminal.see(QUESTION);
        terminal.press(quit);
        terminal.end(1);
        assert_eq!(package.files(), before, "{quit:?}");
    }
}

#[test]
fn other_keys_are_no_answer() {
    let package = edited();
    let before = package.files();
    let mut terminal = Terminal::start(&package, &["author", PLAN_PATH]);
    terminal.see(QUESTION);
    // Enter, an arrow up (which ends in A), a letter, an accent.
    terminal.press(b"\n\x1b[A");
    std::thread::sleep(Duration::from_millis(200));
    terminal.press("xé s".as_bytes());
    let shown = terminal.see(QUESTION);
    assert!(shown.contains("[2/2]"), "{shown}");
    terminal.press(b"s\n");
    terminal.end(0);
    assert_eq!(package.files(), before);
}

#[test]
fn with_review_every_change_is_looked_at() {
    let package = Package::with_git();
    let mut terminal = Terminal::start(&package, &["author", PLAN_PATH, "--review"]);
    let shown = terminal.see(QUESTION);
    assert!(
        shown.contains("[1/2] tests/auto/s1.rs (S1): a new file") && shown.contains("more lines: d shows them"),
        "{shown}"
    );
    terminal.press(b"d");
    let shown = terminal.see(QUESTION);
    assert!(shown.contains("+disttest_runtime::main!();"), "{shown}");
    terminal.press(b"s");
    terminal.see(QUESTION);
    terminal.press(b"a");
    terminal.end(0);
    assert!(!package.path(S1).exists() && package.path(S2).exists());
    let manifest = package.read("Cargo.toml");
    assert!(manifest.contains("s2.rs") && !manifest.contains("s1.rs"), "{manifest}");
    let answer = package.disttest(&["author", PLAN_PATH, "--review"]).expect(2);
    assert!(answer.err.contains("--review needs a terminal"), "{}", answer.err);
}

#[test]
fn a_dry_run_and_json_ask_nothing() {
    let package = edited();
    let before = package.files();
    for extra in [&["--dry-run"][..], &["--format", "json"]] {
        let args = [&["author", PLAN_PATH], extra].concat();
        let terminal = Terminal::start(&package, &args);
        let shown = terminal.end(1);
        assert!(!shown.contains(QUESTION), "{shown}");
        assert_eq!(package.files(), before);
    }
}
