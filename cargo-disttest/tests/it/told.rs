//! How `plan` tells what it found: in which format, at which level, what it passes over and what it mends.

use crate::package::{Answer, PLAN_PATH, Package};
use crate::snapshot;
use serde_json::{Value, json};

/// A plan without a fault.
const SOUND: &str = include_str!("../../../disttest-runtime/tests-data/plans/register.md");
const CONFIG: &str = ".config/disttest.toml";
const MISSPELT: (&str, &str) = ("`linearizability` per key, and", "`linearizabilty` per key, and");
/// Breaks `hypothesis-without-scenario` in §4 and `scenario-without-hypothesis` in S2.
const NO_CLOSES: (&str, &str) = ("- **Closes:** H3\n", "");
const S2: &str = "### Scenario S2";

/// A package whose one plan is the sound one with `edits` made.
fn package(edits: &[(&str, &str)]) -> Package {
    let package = Package::new();
    package.write(PLAN_PATH, SOUND);
    edits.iter().for_each(|(from, to)| package.edit(PLAN_PATH, from, to));
    package
}

fn documents(answer: &Answer) -> Vec<Value> {
    answer.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Rules told and rules suppressed, of the first document.
fn rules(answer: &Answer) -> (Vec<String>, Vec<String>) {
    let document = &documents(answer)[0];
    let list = |key: &str| -> Vec<String> {
        document[key].as_array().unwrap().iter().map(|d| d["rule"].as_str().unwrap().to_owned()).collect()
    };
    (list("diagnostics"), list("suppressed"))
}

/// A plan with an error that can be mended, one that cannot, one that is suppressed, and a warning.
fn mixed() -> Package {
    let comment = format!("<!-- disttest:allow(scenario-without-hypothesis) — a canary, 😀 -->\n{S2}");
    package(&[MISSPELT, NO_CLOSES, ("**Status:** reviewed\n", ""), (S2, &comment)])
}

#[test]
fn a_sound_plan_is_told_to_be_sound() {
    let answer = package(&[]).disttest(&["plan", PLAN_PATH]).expect(0);
    assert!(answer.out.ends_with(&format!("\n{PLAN_PATH}: no complaints\n")), "{}", answer.out);
    let answer = package(&[]).disttest(&["plan", PLAN_PATH, "-q"]).expect(0);
    assert_eq!((answer.out.as_str(), answer.err.as_str()), ("", ""));
}

#[test]
fn text_is_what_its_snapshot_says() {
    let answer = mixed().disttest(&["plan", PLAN_PATH, "-q"]).expect(1);
    snapshot::check("plan-text", &answer.out);
    let answer = mixed().disttest(&["plan", PLAN_PATH]).expect(1);
    for hint in [
        "cargo disttest explain hypothesis-without-scenario",
        "cargo disttest plan --fix docs/testing-plans/small.md  # mends 1 of these",
    ] {
        assert!(answer.err.contains(hint), "{}", answer.err);
    }
}

#[test]
fn github_annotations_are_what_their_snapshot_says() {
    let package = mixed();
    package.write("not,a:plan%.md", "hello\n");
    let answer = package.disttest(&["plan", PLAN_PATH, "not,a:plan%.md", "--format", "github"]).expect(1);
    let root = package.root().canonicalize().unwrap();
    snapshot::check("plan-github", &answer.out.replace(root.to_str().unwrap(), "<root>"));
    assert!(answer.out.lines().all(|line| line.starts_with("::")), "nothing but commands: {}", answer.out);
}

#[test]
fn sarif_is_what_its_snapshot_says() {
    let package = mixed();
    package.write(CONFIG, "[lint]\nmissing-header = \"allow\"\nmissing-headr = \"allow\"\n");
    let answer = package.disttest(&["plan", PLAN_PATH, "nowhere.md", "--format", "sarif"]).expect(1);
    let mut log: Value = serde_json::from_str(&answer.out).unwrap();
    let run = &mut log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].take();
    for result in run["results"].as_array_mut().unwrap() {
        let index = result["ruleIndex"].take();
        assert_eq!(rules[index.as_u64().unwrap() as usize]["id"], result["ruleId"]);
    }
    snapshot::check("plan-sarif", &format!("{log:#}\n"));
    for rule in rules.as_array().unwrap() {
        for key in ["id", "shortDescription", "helpUri", "help", "defaultConfiguration"] {
            assert!(!rule[key].is_null(), "{rule} has no {key}");
        }
    }
    let rule = rules.as_array().unwrap().iter().find(|rule| rule["id"] == "missing-header").unwrap();
    assert_eq!(rule["defaultConfiguration"]["level"], "warning");
    assert!(rule["helpUri"].as_str().unwrap().ends_with("/templates/rules/missing-header.md"));
}

#[test]
fn a_sarif_log_of_a_sound_plan_has_all_rules_and_no_result() {
    let answer = package(&[]).disttest(&["plan", "--format", "sarif"]).expect(0);
    let log: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(log["version"], "2.1.0");
    assert_eq!(log["runs"][0]["results"], json!([]));
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], true);
    assert!(log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap().len() > 50);
}

#[test]
fn json_has_every_place_the_edits_and_what_was_suppressed() {
    let answer = mixed().disttest(&["plan", PLAN_PATH, "--format", "json"]).expect(1);
    let document = &documents(&answer)[0];
    let told = document["diagnostics"].as_array().unwrap().iter().find(|d| d["rule"] == "misspelt-checker").unwrap();
    assert_eq!((&told["severity"], &told["file"]), (&json!("error"), &json!(PLAN_PATH)));
    let edit = &told["edits"][0];
    assert_eq!(edit["replacement"], "linearizability");
    assert_eq!(edit["line"], told["line"]);
    assert_eq!(edit["end_column"].as_u64().unwrap() - edit["column"].as_u64().unwrap(), "linearizabilty".len() as u64);
    assert!(told["end_column"].as_u64() > told["column"].as_u64() && told["end_line"] == told["line"]);
    let suppressed = document["suppressed"].as_array().unwrap();
    assert_eq!(suppressed.len(), 1);
    let one = &suppressed[0];
    assert_eq!((&one["rule"], &one["by"]), (&json!("scenario-without-hypothesis"), &json!("plan")));
    assert_eq!(one["reason"], "a canary, 😀");
    assert_eq!(one["comment_line"].as_u64().unwrap() + 1, one["line"].as_u64().unwrap());
}

#[test]
fn a_rule_that_is_broken_over_and_over_is_counted() {
    let rows: String = (10..60).map(|n| format!("| C{n} | More. | safty | README | no |\n")).collect();
    let last = "| C3 | A request answers within 500 ms at p99 (inferred) | performance-SLO | dashboards | yes |\n";
    let package = package(&[(last, &format!("{last}{rows}"))]);
    let answer = package.disttest(&["plan", PLAN_PATH, "-q"]).expect(1);
    assert_eq!(answer.out.matches("error[unknown-category]").count(), 20);
    assert!(answer.out.contains("… and 30 more of rule unknown-category (`--all` shows them)"), "{}", answer.out);
    let answer = package.disttest(&["plan", PLAN_PATH, "-q", "--all"]).expect(1);
    assert_eq!(answer.out.matches("error[unknown-category]").count(), 50);
}

#[test]
fn what_is_no_plan_is_one_sentence_and_the_others_are_linted() {
    let package = package(&[]);
    std::fs::create_dir_all(package.path("folder")).unwrap();
    package.write("empty.md", "\u{feff}\n \n");
    package.write("notes.md", "# Notes\n\nhello\n");
    std::fs::write(package.path("latin.md"), b"# Test Plan: x\n\nna\xefve\n").unwrap();
    std::fs::write(package.path("wide.md"), [0xff, 0xfe, b'#', 0]).unwrap();
    let check = |name: &str, expect: &str| {
        let answer = package.disttest(&["plan", name]).expect(2);
        assert_eq!((answer.out.as_str(), answer.err.as_str()), ("", format!("error: {name}: {expect}\n").as_str()));
        let answer = package.disttest(&["plan", PLAN_PATH, name, "--format", "json"]).expect(2);
        let documents = documents(&answer);
        assert_eq!(documents[0]["diagnostics"], json!([]), "{name}");
        let expect = json!({ "schema": "disttest.plan/1", "file": name, "error": format!("{name}: {expect}") });
        assert_eq!(documents[1], expect);
    };
    check("folder", "it is a folder; name the plans in it");
    check("empty.md", "the file is empty");
    check("notes.md", "it is no test plan: there is no `# Test Plan: <slug>` and no section of one");
    check("latin.md", "it is no UTF-8 text (the first wrong byte is in line 3)");
    check("wide.md", "it is UTF-16 text; save it as UTF-8");
    check("nowhere.md", &format!("there is no such file; plans of this workspace: {PLAN_PATH}"));
}

#[test]
fn levels_come_from_flags_and_from_the_workspace() {
    let package = package(&[("**Status:** reviewed\n", "")]);
    let check = |config: &str, flags: &[&str], status: i32, told: &[&str], suppressed: &[&str]| {
        package.write(CONFIG, config);
        let args = [&["plan", PLAN_PATH, "--format", "json"], flags].concat();
        let answer = package.disttest(&args).expect(status);
        let (found, passed) = rules(&answer);
        assert_eq!((found.as_slice(), passed.as_slice()), (strings(told).as_slice(), strings(suppressed).as_slice()));
    };
    let rule: &[&str] = &["missing-header"];
    check("", &[], 0, rule, &[]);
    check("", &["--deny", "warnings"], 1, rule, &[]);
    check("", &["--deny", "missing-header"], 1, rule, &[]);
    check("", &["--allow", "missing-header", "--deny", "warnings"], 0, &[], rule);
    check("[lint]\nmissing-header = \"deny\"\n", &[], 1, rule, &[]);
    check("[lint]\nmissing-header = \"deny\"\n", &["--warn", "missing-header"], 0, rule, &[]);
    check("[lint]\nmissing-header = \"allow\"\n", &[], 0, &[], rule);
    check("[lint]\nmissing-oracle = \"allow\"\n", &[], 0, &["missing-header", "config"], &[]);
    check("[lint]\nnothing = \"allow\"\n", &["--deny", "warnings"], 1, &["missing-header", "config"], &[]);
    for (flag, rule) in [("--allow", "missing-oracle"), ("--warn", "undefined-id"), ("--deny", "nothing")] {
        package.disttest(&["plan", PLAN_PATH, flag, rule]).expect(2);
    }
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn what_is_wrong_with_the_configuration_is_told_with_its_place() {
    let package = package(&[]);
    package.write(CONFIG, "[lint]\nmissing-headr = \"allow\"\n");
    let answer = package.disttest(&["plan", PLAN_PATH, "-q"]).expect(0);
    assert!(answer.err.contains(".config/disttest.toml:2:1"), "{}", answer.err);
    assert!(answer.err.contains("did you mean `missing-header`?"), "{}", answer.err);
    package.write(CONFIG, "[lint]\nmissing-header = allow\n");
    package.write("docs/testing-plans/other.md", SOUND);
    let answer = package.disttest(&["plan"]).expect(2);
    assert_eq!(answer.err.matches("error: .config/disttest.toml:2:18: ").count(), 1, "told once: {}", answer.err);
}

#[test]
fn the_configuration_is_the_workspaces_and_never_one_from_outside_the_repository() {
    let package = package(&[("**Status:** reviewed\n", "")]);
    package.write("inner/.git/HEAD", "ref: refs/heads/main\n");
    package.write("inner/plans/x.md", &package.read(PLAN_PATH));
    package.write("docs/.config/disttest.toml", "[lint]\nmissing-header = \"deny\"\n");
    package.write(CONFIG, "[lint]\nmissing-header = \"allow\"\n");
    let told = |plan: &str| rules(&package.disttest(&["plan", plan, "--format", "json"])).0;
    assert_eq!(told(PLAN_PATH), [""; 0], "the workspace's comes before one that is nearer");
    std::fs::remove_file(package.path(CONFIG)).unwrap();
    package.disttest(&["plan", PLAN_PATH]).expect(1);
    package.write("inner/.config/disttest.toml", "[lint]\nmissing-header = \"allow\"\n");
    package.write("Cargo.toml", "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    assert_eq!(told("inner/plans/x.md"), [""; 0]);
    std::fs::remove_file(package.path("inner/.config/disttest.toml")).unwrap();
    package.write(CONFIG, "[lint]\nmissing-header = \"allow\"\n");
    assert_eq!(told("inner/plans/x.md"), ["missing-header"]);
}

#[test]
fn what_a_run_relies_on_cannot_be_suppressed() {
    let comment = "<!-- disttest:allow(missing-oracle) — we know better -->\n\n**Date:**";
    let package = package(&[("- **Oracle:** client p99 <= 500 ms over the whole run\n", ""), ("**Date:**", comment)]);
    let answer = package.disttest(&["plan", PLAN_PATH, "--format", "json"]).expect(1);
    assert_eq!(rules(&answer), (strings(&["suppression-refused", "missing-oracle"]), vec![]));
}

#[test]
fn a_suppression_changes_nothing_for_the_other_verbs() {
    let comment = format!("<!-- disttest:allow(target-suffix, scenario-without-hypothesis) — why not -->\n\n{S2}");
    let edits = [NO_CLOSES, ("tests/auto/s1_linearizable_register.rs", "tests/auto/s1.txt")];
    let refusal = |edits: &[(&str, &str)]| package(edits).disttest(&["author", PLAN_PATH, "--dry-run"]);
    let (without, with) = (refusal(&edits), refusal(&[edits[0], edits[1], (S2, &comment)]));
    assert_eq!(without.status, with.status);
    assert_eq!(without.err.matches("error[").count(), with.err.matches("error[").count());
}

#[test]
fn fix_shows_a_diff_and_mends_what_is_safe() {
    let package = package(&[MISSPELT, NO_CLOSES]);
    let before = package.read(PLAN_PATH);
    let dry = package.disttest(&["plan", PLAN_PATH, "--fix", "--dry-run", "-q"]).expect(1);
    let diff = "-- **Checker:** `linearizabilty` per key, and `no-lost-ack`\n\
                +- **Checker:** `linearizability` per key, and `no-lost-ack`\n";
    assert!(dry.out.starts_with(&format!("--- a/{PLAN_PATH}\n+++ b/{PLAN_PATH}\n")), "{}", dry.out);
    assert!(dry.out.contains(diff), "{}", dry.out);
    assert_eq!(package.read(PLAN_PATH), before);
    let answer = package.disttest(&["plan", PLAN_PATH, "--fix"]).expect(1);
    assert!(answer.out.contains(diff) && answer.err.contains("Fixed"), "{}", answer.err);
    assert!(
        !answer.out.contains("error[misspelt-checker]") && answer.out.contains("error[scenario-without-hypothesis]")
    );
    assert_eq!(package.read(PLAN_PATH), before.replace("linearizabilty", "linearizability"));
    let files = package.files();
    let again = package.disttest(&["plan", PLAN_PATH, "--fix", "--format", "json"]).expect(1);
    assert_eq!(documents(&again)[0]["fix"], json!({ "written": false, "mended": {} }));
    assert!(again.err.contains("Unchanged docs/testing-plans/small.md"), "{}", again.err);
    assert_eq!(package.files(), files, "nothing is written where nothing is mended");
}

#[test]
fn fix_leaves_stdout_to_programs() {
    for format in ["json", "sarif", "github"] {
        let package = package(&[MISSPELT]);
        let answer = package.disttest(&["plan", PLAN_PATH, "--fix", "--format", format]).expect(0);
        assert!(answer.err.contains("+- **Checker:** `linearizability`"), "{}", answer.err);
        assert!(!answer.out.contains("+++"), "{}", answer.out);
    }
    let package = package(&[MISSPELT]);
    let answer = package.disttest(&["plan", PLAN_PATH, "--fix", "--format", "json"]).expect(0);
    assert_eq!(documents(&answer)[0]["fix"], json!({ "written": true, "mended": { "misspelt-checker": 1 } }));
}

#[test]
fn fix_mends_nothing_that_is_suppressed_or_allowed() {
    let sentence = "§7.M: not applicable (no gated claim category falsified)\n";
    let comment = "<!-- disttest:allow(model-block-not-stated) — everybody knows -->\n";
    let package = package(&[(sentence, ""), (S2, &format!("{comment}{S2}"))]);
    let before = package.read(PLAN_PATH);
    package.disttest(&["plan", PLAN_PATH, "--fix"]).expect(0);
    assert_eq!(package.read(PLAN_PATH), before);
    package.edit(PLAN_PATH, comment, "");
    let before = package.read(PLAN_PATH);
    package.disttest(&["plan", PLAN_PATH, "--fix", "--allow", "model-block-not-stated"]).expect(0);
    assert_eq!(package.read(PLAN_PATH), before);
    package.disttest(&["plan", PLAN_PATH, "--fix"]).expect(0);
    assert!(package.read(PLAN_PATH).contains(sentence), "the control");
}

#[test]
fn fix_keeps_line_breaks_and_a_byte_order_mark() {
    let package = package(&[]);
    let broken = format!("\u{feff}{}", SOUND.replace(MISSPELT.0, MISSPELT.1)).replace('\n', "\r\n");
    package.write(PLAN_PATH, &broken);
    package.disttest(&["plan", PLAN_PATH, "--fix"]).expect(0);
    assert_eq!(package.read(PLAN_PATH), broken.replace("linearizabilty", "linearizability"));
}

#[test]
fn fix_respects_what_git_does_not_hold() {
    let package = Package::with_git();
    package.write(PLAN_PATH, &SOUND.replace(MISSPELT.0, MISSPELT.1));
    let before = package.read(PLAN_PATH);
    let answer = package.disttest(&["plan", PLAN_PATH, "--fix"]).expect(1);
    assert!(answer.err.contains("not committed") && answer.err.contains("--allow-dirty"), "{}", answer.err);
    assert_eq!(package.read(PLAN_PATH), before);
    package.git(&["add", "-A"]);
    package.disttest(&["plan", PLAN_PATH, "--fix"]).expect(1);
    package.git(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "misspelt"]);
    package.disttest(&["plan", PLAN_PATH, "--fix"]).expect(0);
    assert_ne!(package.read(PLAN_PATH), before);
    package.write(PLAN_PATH, &before);
    package.write("docs/testing-plans/other.md", &before);
    package.disttest(&["plan", "--fix"]).expect(1);
    package.disttest(&["plan", "--fix", "--allow-dirty"]).expect(0);
    assert!(!package.read("docs/testing-plans/other.md").contains("linearizabilty"));
}

#[cfg(unix)]
#[test]
fn fix_keeps_permissions_and_writes_through_no_link_out_of_the_workspace() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let broken = SOUND.replace(MISSPELT.0, MISSPELT.1);
    let package = package(&[MISSPELT]);
    let mode = |mode| std::fs::set_permissions(package.path(PLAN_PATH), PermissionsExt::from_mode(mode)).unwrap();
    mode(0o640);
    package.disttest(&["plan", PLAN_PATH, "--fix"]).expect(0);
    assert_eq!(std::fs::metadata(package.path(PLAN_PATH)).unwrap().permissions().mode() & 0o777, 0o640);
    package.write(PLAN_PATH, &broken);
    mode(0o440);
    assert!(package.disttest(&["plan", PLAN_PATH, "--fix"]).expect(1).err.contains("read-only"));
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("plan.md"), &broken).unwrap();
    symlink(outside.path().join("plan.md"), package.path("docs/link.md")).unwrap();
    let answer = package.disttest(&["plan", "docs/link.md", "--fix"]).expect(1);
    assert!(answer.err.contains("leaves its workspace"), "{}", answer.err);
    assert_eq!(std::fs::read_to_string(outside.path().join("plan.md")).unwrap(), broken);
    package.write("docs/real.md", &broken);
    symlink("real.md", package.path("docs/inside.md")).unwrap();
    package.disttest(&["plan", "docs/inside.md", "--fix"]).expect(0);
    assert!(std::fs::symlink_metadata(package.path("docs/inside.md")).unwrap().is_symlink(), "the link stays");
    assert!(!package.read("docs/real.md").contains("linearizabilty"));
}

#[test]
fn a_plan_cannot_steer_the_terminal_or_a_workflow() {
    let evil = "| C1 | Reads. | safe\u{1b}[31mty\u{202e}::error::x | README | no |";
    let row = "| C1 | Reads and writes of one key are linearizable. | safety | README §2 | no |";
    let package = package(&[(row, evil)]);
    for format in ["text", "json", "sarif", "github"] {
        let answer = package.disttest(&["plan", PLAN_PATH, "--format", format]).expect(1);
        let all = format!("{}{}", answer.out, answer.err);
        assert!(!all.contains('\u{1b}'), "{format}: {all}");
        assert!(!all.lines().any(|line| line.trim_start().starts_with("::error::x")), "{format}: {all}");
    }
}
