//! `catalog`, `explain`, `completions` and `man`.

use crate::package::{Answer, answer, binary};
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
