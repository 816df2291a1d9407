//! Flags are an interface: a change of help text is seen in review.

use crate::package::{Answer, answer, binary};
use crate::snapshot::check;

fn disttest(args: &[&str]) -> Answer {
    let mut command = binary();
    command.arg("disttest").args(args);
    answer(command)
}

#[test]
fn the_help_of_every_verb_is_what_its_snapshot_says() {
    check("help", &disttest(&["--help"]).expect(0).out);
    let verbs = [
        "new",
        "plan",
        "author",
        "todo",
        "run",
        "heal",
        "probe",
        "report",
        "verify",
        "check",
        "catalog",
        "explain",
        "completions",
        "man",
        "help",
    ];
    for verb in verbs {
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
    disttest(&["plan", "--dry-run"]).expect(2);
    disttest(&["plan", "--allow-dirty"]).expect(2);
    disttest(&["plan", "--format", "xml"]).expect(2);
    for format in ["sarif", "github"] {
        let answer = disttest(&["run", "x.md", "--format", format]).expect(2);
        assert!(answer.err.contains(&format!("--format {format} is for `plan`")), "{}", answer.err);
        assert!(answer.out.is_empty());
    }
}

#[test]
fn there_is_a_version() {
    assert!(disttest(&["--version"]).expect(0).out.contains(env!("CARGO_PKG_VERSION")));
}
