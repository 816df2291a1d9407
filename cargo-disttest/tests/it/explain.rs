//! `catalog`, `explain`, `completions` and `man`.

use crate::package::{Answer, answer, binary};
use crate::snapshot::check;
use serde_json::Value;

fn disttest(args: &[&str]) -> Answer {
    let mut command = binary();
    command.arg("disttest").args(args);
    answer(command)
}

#[test]
fn a_page_is_found_by_name_or_alias_and_a_wrong_name_gets_the_nearest() {
    assert!(disttest(&["explain", "PASS-smoke"]).expect(0).out.starts_with("# PASS-smoke (verdict)\n"));
    assert!(disttest(&["explain", "kill -9"]).expect(0).out.starts_with("# hard-kill (nemesis)\n"));
    let wrong = disttest(&["explain", "missing-oracel"]).expect(2);
    assert!(wrong.err.contains("did you mean missing-oracle"), "{}", wrong.err);
}

#[test]
fn a_page_has_no_remarks_for_its_tests() {
    let page = disttest(&["explain", "budget-not-stronger"]).expect(0).out;
    assert!(
        !page.contains("<!--") && page.contains("Smoke budget") && page.contains("two independent instances"),
        "{page}"
    );
}

#[test]
fn the_catalog_lists_every_kind_for_people_and_programs() {
    let all = disttest(&["catalog"]).expect(0).out;
    for kind in ["models", "checkers", "nemeses", "probes", "rules", "verdicts", "anomalies"] {
        assert!(all.lines().any(|line| line == kind), "{kind}");
        let json: Value =
            serde_json::from_str(&disttest(&["catalog", kind, "--format", "json"]).expect(0).out).unwrap();
        assert_eq!(json["schema"], "disttest.catalog/1");
        assert!(!json["entries"].as_array().unwrap().is_empty(), "{kind}");
    }
}

#[test]
fn completions_and_manuals_know_every_verb() {
    let verbs = ["plan", "author", "run", "explain"];
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = disttest(&["completions", shell]).expect(0).out;
        assert!(verbs.iter().all(|verb| script.contains(verb)), "{shell}");
    }
    let page = disttest(&["man"]).expect(0).out;
    assert!(page.contains(".TH") && verbs.iter().all(|verb| page.contains(verb)));
    assert!(disttest(&["man", "author"]).expect(0).out.contains("on\\-conflict"));
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("man1");
    disttest(&["man", "--output", folder.to_str().unwrap()]).expect(0);
    assert!(folder.join("cargo-disttest.1").is_file() && folder.join("cargo-disttest-author.1").is_file());
}

/// Control characters by names, so that a snapshot can be read.
fn named(text: &str) -> String {
    text.replace('\u{1b}', "␛")
}

#[test]
fn a_page_with_colours_is_what_its_snapshot_says() {
    for (name, page) in [("rule", "missing-oracle"), ("nemesis", "hard-kill"), ("verdict", "PASS-hardening")] {
        let out = disttest(&["explain", page, "--color", "always"]).expect(0).out;
        check(&format!("explain-{name}"), &named(&out));
    }
}

#[test]
fn a_pipe_gets_the_page_as_it_is_written() {
    let plain = disttest(&["explain", "missing-oracle"]).expect(0).out;
    assert!(plain.contains("## What\n") && plain.contains("```markdown\n") && !plain.contains('\u{1b}'), "{plain}");
}

#[cfg(unix)]
#[test]
fn a_terminal_gets_the_looks_unless_it_wants_no_colours() {
    use crate::terminal::Terminal;
    let page = |variables: &[(&str, &str)]| {
        let mut command = binary();
        command.env_remove("NO_COLOR").env("TERM", "xterm-256color").envs(variables.iter().copied());
        command.args(["disttest", "explain", "missing-oracle"]);
        Terminal::of(command).end(0)
    };
    let looks = page(&[]);
    assert!(named(&looks).contains("␛[1mWhat␛[0m\n") && !looks.contains("## What"), "{looks:?}");
    assert!(!looks.contains("```") && !looks.contains("<!--"), "{looks:?}");
    for variables in [("NO_COLOR", "1"), ("TERM", "dumb"), ("CARGO_TERM_COLOR", "never")] {
        let plain = page(&[variables]);
        assert!(!plain.contains('\u{1b}') && plain.contains("## What\n"), "{variables:?}: {plain:?}");
    }
}
