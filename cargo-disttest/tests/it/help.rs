//! Flags are an interface: a change of help text is seen in review.

use crate::package::{Answer, answer, binary};
use std::path::Path;

fn disttest(args: &[&str]) -> Answer {
    let mut command = binary();
    command.arg("disttest").args(args);
    answer(command)
}

/// Compares with `snapshots/<name>.txt`; `DISTTEST_BLESS=1` writes it anew.
fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/snapshots").join(format!("{name}.txt"));
    if std::env::var_os("DISTTEST_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expect = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expect, "{name}: DISTTEST_BLESS=1 writes the snapshot anew");
}

#[test]
fn the_help_of_every_verb_is_what_its_snapshot_says() {
    check("help", &disttest(&["--help"]).expect(0).out);
    for verb in ["new", "plan", "author", "todo", "run", "help"] {
        check(&format!("help-{verb}"), &disttest(&[verb, "--help"]).expect(0).out);
    }
    check("help-exit-codes", &disttest(&["help", "exit-codes"]).expect(0).out);
}

#[test]
fn help_of_a_verb_is_the_verbs_own() {
    assert_eq!(disttest(&["help", "author"]).expect(0).out, disttest(&["author", "--help"]).expect(0).out);
    assert!(disttest(&["help", "nothing"]).expect(2).err.contains("exit-codes"));
}

#[test]
fn wrong_usage_ends_with_2() {
    disttest(&[]).expect(2);
    disttest(&["nothing"]).expect(2);
    disttest(&["run"]).expect(2);
    disttest(&["run", "x.md", "--tier", "great"]).expect(2);
    disttest(&["run", "x.md", "--seeds", "0"]).expect(2);
    disttest(&["run", "x.md", "--seeds", "2", "--seed", "2"]).expect(2);
    disttest(&["author", "x.md", "--check", "--dry-run"]).expect(2);
    disttest(&["plan", "-q", "-v"]).expect(2);
}

#[test]
fn there_is_a_version() {
    assert!(disttest(&["--version"]).expect(0).out.contains(env!("CARGO_PKG_VERSION")));
}
