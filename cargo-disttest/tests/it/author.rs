//! `author` in a package.

use crate::package::{PLAN_PATH, Package, with_arms};

const S1: &str = "tests/auto/s1.rs";
const S2: &str = "tests/auto/s2.rs";

fn authored() -> Package {
    let package = Package::with_git();
    package.disttest(&["author", PLAN_PATH]).expect(0);
    package
}

/// Fills the regions of S1 the way a person would, with all that could confuse a reader of markers.
fn fill(package: &Package) -> Vec<&'static str> {
    let bodies = vec![
        "    let workload: Workload = { { unimplemented!() } }; // }\r\n",
        "    let landed: Landed = f(\"// disttest:end faults\", r#\"\n// disttest:end faults\n\"#, '\"', \"日本\");\n",
        "    /* // disttest:end oracle */\n\tjudge(landed)   \n",
    ];
    for (from, to) in [
        ("    let workload: Workload = disttest_runtime::todo!(\"workload\");\n", bodies[0]),
        ("    let landed: Landed = disttest_runtime::todo!(\"faults\");\n", bodies[1]),
        ("    disttest_runtime::todo!(\"oracle\")\n", bodies[2]),
    ] {
        package.edit(S1, from, to);
    }
    bodies
}

#[test]
fn a_dry_run_shows_the_diff_and_writes_nothing() {
    let package = Package::with_git();
    let before = package.files();
    let answer = package.disttest(&["author", PLAN_PATH, "--dry-run"]).expect(0);
    assert_eq!(package.files(), before);
    assert_eq!(package.git(&["status", "--porcelain"]), "");
    for part in ["+++ b/tests/auto/s1.rs", "+++ b/tests/auto/s2.rs", "+++ b/Cargo.toml", "+harness = false"] {
        assert!(answer.out.contains(part), "{part}");
    }
    let next = format!("next: cargo disttest author {PLAN_PATH}  # nothing is written yet");
    assert!(answer.err.contains(&next) && !answer.err.contains("fill the regions"), "{}", answer.err);
}

#[test]
fn a_folder_as_dependency_is_told_once_and_one_file_is_one_file() {
    let package = Package::with_git();
    let first = package.disttest(&["author", PLAN_PATH, "--scenario", "S1"]).expect(0);
    let told = "Cargo.toml takes disttest-runtime from the folder";
    assert_eq!(first.err.matches(told).count(), 1, "{}", first.err);
    assert!(first.err.contains("once a version is published"), "{}", first.err);
    package.commit_all();
    package.edit(PLAN_PATH, "half reads, 10 s", "half reads, 20 s");
    let second = package.disttest(&["author", PLAN_PATH, "--scenario", "S1"]).expect(0);
    assert!(!second.err.contains(told) && second.err.contains("1 file\n"), "{}", second.err);
}

#[test]
fn a_checker_that_the_plan_got_after_the_oracle_was_filled_is_told() {
    let package = authored();
    fill(&package);
    package.edit(S1, "\tjudge(landed)   \n", "    run.oracle(h).check(Linearizability::per_key(Register::new()))\n");
    package.commit_all();
    let quiet = package.disttest(&["author", PLAN_PATH]).expect(0);
    assert!(!quiet.err.contains("no-lost-ack"), "{}", quiet.err);
    package.edit(
        PLAN_PATH,
        "**Checker:** `linearizability` per key",
        "**Checker:** `linearizability` per key, `no-lost-ack`",
    );
    let told = "the region oracle of S1 is filled and makes no checker `no-lost-ack`, which the plan names: add \
                `.check(NoLostAck::overwritable())`";
    for args in [&["author", PLAN_PATH][..], &["author", PLAN_PATH, "--check"]] {
        let answer = package.disttest(args);
        assert!(answer.err.contains(told), "{args:?}: {}", answer.err);
    }
    let todo = package.disttest(&["todo", PLAN_PATH]).expect(0);
    assert!(todo.out.contains(told), "{}", todo.out);
    let json = package.disttest(&["todo", PLAN_PATH, "--format", "json"]).expect(0).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["lacking"][0]["code"], "NoLostAck::overwritable()");
}

#[test]
fn files_and_entries_are_written_and_staged_and_nothing_is_committed() {
    let package = authored();
    let head = package.git(&["rev-list", "--count", "HEAD"]);
    assert_eq!(head.trim(), "1");
    assert_eq!(package.git(&["status", "--porcelain"]), "M  Cargo.toml\nA  tests/auto/s1.rs\nA  tests/auto/s2.rs\n");
    let s1 = package.read(S1);
    assert!(s1.starts_with("//! AUTO-GENERATED from test plan: docs/testing-plans/small.md\n"));
    assert!(s1.contains("    checkers(\"linearizability\" per_key),\n    nemesis(\"hard-kill\"),\n"));
    assert!(s1.contains("    landing(injector(\"process-exit\"), victim(\"client-timeouts\")),\n"));
    assert!(package.read(S2).contains("    no_fault = \"the claim is about a healthy cluster\",\n"));
    let manifest = package.read("Cargo.toml");
    assert!(manifest.starts_with("# ours\n[package]\n"));
    assert!(manifest.contains("\n[[test]]\nname = \"s1\"\npath = \"tests/auto/s1.rs\"\nharness = false\n"));
}

#[test]
fn only_what_author_wrote_is_staged() {
    let package = Package::with_git();
    package.write("mine.txt", "work in progress");
    package.edit("src/lib.rs", "", "// mine\n");
    package.disttest(&["author", PLAN_PATH]).expect(0);
    let status = package.git(&["status", "--porcelain"]);
    assert!(status.contains("?? mine.txt") && status.contains(" M src/lib.rs"), "{status}");
}

#[test]
fn a_second_time_nothing_is_written() {
    let package = authored();
    fill(&package);
    let before = package.files();
    let answer = package.disttest(&["author", PLAN_PATH]).expect(0);
    assert_eq!(package.files(), before, "no byte and no time changed");
    assert_eq!(answer.out, "");
    assert!(answer.err.contains("Up to date S1"));
}

#[test]
fn an_edit_of_one_scenario_changes_its_file_alone_and_keeps_filled_regions() {
    let package = authored();
    let bodies = fill(&package);
    let before = package.files();
    package.edit(PLAN_PATH, "16 clients, half reads", "8 clients, all writes");
    let answer = package.disttest(&["author", PLAN_PATH]).expect(0);
    let after = package.files();
    let changed: Vec<&str> = after.iter().zip(&before).filter(|(a, b)| a != b).map(|(a, _)| a.0.as_str()).collect();
    assert_eq!(changed, [PLAN_PATH, S1]);
    let text = package.read(S1);
    for body in bodies {
        assert!(text.contains(body), "{body:?} is gone:\n{text}");
    }
    assert!(text.contains("8 clients, all writes") && !text.contains("16 clients"));
    assert!(answer.err.contains("was kept as it was"), "{}", answer.err);
    package.disttest(&["author", PLAN_PATH, "--check"]).expect(1);
}

#[test]
fn an_edit_elsewhere_in_the_plan_leaves_all_files() {
    let package = authored();
    let before: Vec<_> = package.files().into_iter().filter(|file| file.0.ends_with(".rs")).collect();
    package.edit(PLAN_PATH, "**SUT:** a store", "**SUT:** another store");
    package.disttest(&["author", PLAN_PATH]).expect(0);
    let after: Vec<_> = package.files().into_iter().filter(|file| file.0.ends_with(".rs")).collect();
    assert_eq!(after, before);
}

#[test]
fn a_file_edited_outside_of_its_regions_is_not_overwritten_silently() {
    let package = authored();
    let bodies = fill(&package);
    package.edit(S1, "checkers(\"linearizability\" per_key)", "checkers(\"no-lost-ack\")");
    package.edit(PLAN_PATH, "4 clients, 2 s", "5 clients, 2 s");
    let before = package.files();
    let answer = package.disttest(&["author", PLAN_PATH]).expect(1);
    assert_eq!(package.files(), before, "S2, which has no conflict, is not written either");
    for part in ["tests/auto/s1.rs: it was edited outside", "skip", "overwrite", "sibling"] {
        assert!(answer.err.contains(part), "{}", answer.err);
    }
    package.disttest(&["author", PLAN_PATH, "--check"]).expect(1);
    package.disttest(&["author", PLAN_PATH, "--on-conflict", "skip"]).expect(0);
    assert!(package.read(S1).contains("checkers(\"no-lost-ack\")"));
    assert!(package.read(S2).contains("5 clients"));
    package.disttest(&["author", PLAN_PATH, "--on-conflict", "sibling"]).expect(0);
    assert!(package.read(S1).contains("checkers(\"no-lost-ack\")"));
    assert!(package.read("tests/auto/s1.new.rs").contains("checkers(\"linearizability\" per_key)"));
    package.disttest(&["author", PLAN_PATH, "--on-conflict", "overwrite"]).expect(0);
    let text = package.read(S1);
    assert!(text.contains("checkers(\"linearizability\" per_key)"));
    for body in bodies {
        assert!(text.contains(body), "{body:?} is gone:\n{text}");
    }
}

#[test]
fn a_file_that_is_not_ours_is_a_conflict() {
    let package = Package::new();
    package.write(S1, "fn main() {}\n");
    let answer = package.disttest(&["author", PLAN_PATH]).expect(1);
    assert!(answer.err.contains("no AUTO-GENERATED header"), "{}", answer.err);
    assert_eq!(package.read(S1), "fn main() {}\n");
    assert!(!package.path(S2).exists());
    assert!(!package.read("Cargo.toml").contains("[[test]]"));
}

#[test]
fn targets_that_leave_the_package_are_refused() {
    for target in
        ["../evil.rs", "/tmp/evil.rs", "tests/../../evil.rs", "src/lib.rs", "build.rs", "tests/s1.txt", ".git/x.rs"]
    {
        let package = Package::new();
        package.edit(PLAN_PATH, "tests/auto/s1.rs", target);
        let before = package.files();
        let answer = package.disttest(&["author", PLAN_PATH]).expect(1);
        assert_eq!(package.files(), before, "{target}");
        assert!(answer.err.contains("S1") || answer.err.contains(target), "{target}: {}", answer.err);
    }
}

#[test]
fn two_scenarios_with_one_target_are_refused() {
    let package = Package::new();
    package.edit(PLAN_PATH, "tests/auto/s2.rs", "./tests//auto/s1.rs");
    for scenario in [&[][..], &["--scenario", "S2"]] {
        let args = [&["author", PLAN_PATH], scenario].concat();
        let answer = package.disttest(&args).expect(1);
        assert!(answer.err.contains("taken by S1"), "{}", answer.err);
        assert!(!package.path("tests").exists());
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_symbolic_link() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    for link in ["tests", "tests/auto", S1, "Cargo.toml"] {
        let package = Package::new();
        std::fs::create_dir_all(package.path(link).parent().unwrap()).unwrap();
        let file = outside.path().join("file.rs");
        std::fs::write(&file, "theirs").unwrap();
        match link {
            "Cargo.toml" => {
                std::fs::rename(package.path(link), outside.path().join("Cargo.toml")).unwrap();
                symlink(outside.path().join("Cargo.toml"), package.path(link)).unwrap();
            }
            S1 => symlink(&file, package.path(link)).unwrap(),
            _ => symlink(outside.path(), package.path(link)).unwrap(),
        }
        let answer = package.disttest(&["author", PLAN_PATH]);
        assert_ne!(answer.status, 0, "{link}");
        assert!(answer.err.contains("symbolic link"), "{link}: {}", answer.err);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "theirs");
        assert!(!outside.path().join("auto").exists() && !outside.path().join("s1.rs").exists());
    }
}

#[test]
fn a_manifest_is_left_alone_when_asked() {
    let package = Package::new();
    let before = package.read("Cargo.toml");
    let answer = package.disttest(&["author", PLAN_PATH, "--no-manifest"]).expect(0);
    assert_eq!(package.read("Cargo.toml"), before);
    assert!(answer.out.contains("Add to Cargo.toml:\n\n") && answer.out.contains("\n[[test]]\nname = \"s1\"\n"));
    assert!(package.path(S1).exists());
}

#[test]
fn a_check_writes_nothing_and_names_what_is_missing() {
    let package = Package::new();
    let before = package.files();
    let answer = package.disttest(&["author", PLAN_PATH, "--check"]).expect(1);
    assert_eq!(package.files(), before);
    assert!(answer.err.contains("tests/auto/s1.rs: S1: it was never written"), "{}", answer.err);
    let json = package.disttest(&["author", PLAN_PATH, "--check", "--format", "json"]).expect(1).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "disttest.author/1");
    assert_eq!(json["problems"][0]["kind"], "missing");
}

#[test]
fn json_carries_the_diff_and_the_regions_to_fill() {
    let package = authored();
    let json = package.disttest(&["author", PLAN_PATH, "--format", "json"]).expect(0).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "disttest.author/1");
    assert_eq!(json["files"][0]["action"], "up-to-date");
    assert_eq!(json["files"][0]["unfilled"][0]["name"], "workload");
}

#[test]
fn json_tells_of_a_conflict_that_nothing_was_written() {
    let package = authored();
    package.edit(S1, "checkers(\"linearizability\" per_key)", "checkers(\"no-lost-ack\")");
    let before = package.files();
    for extra in [&[][..], &["--dry-run"], &["--check"]] {
        let json = package.disttest(&[&["author", PLAN_PATH, "--format", "json"], extra].concat()).expect(1).out;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&json["schema"], &json["written"]), (&"disttest.author/1".into(), &false.into()));
        assert_eq!(
            (&json["files"][0]["action"], &json["files"][1]["action"]),
            (&"conflict".into(), &"up-to-date".into())
        );
        assert!(json["files"][0]["reason"].as_str().unwrap().contains("edited outside"));
        assert_eq!(package.files(), before);
    }
}

#[test]
fn it_works_from_any_folder_and_by_slug() {
    let package = Package::new();
    let mut command = crate::package::binary();
    command.current_dir(package.path("src")).args(["disttest", "author", "small", "--scenario", "S01"]);
    crate::package::answer(command).expect(0);
    assert!(package.path(S1).exists() && !package.path(S2).exists());
    let answer = package.disttest(&["author", PLAN_PATH, "--scenario", "S9"]).expect(2);
    assert!(answer.err.contains("it has S1, S2"), "{}", answer.err);
}

#[test]
fn a_hostile_plan_writes_nothing_but_comments_and_strings() {
    let package = Package::new();
    package.edit(PLAN_PATH, "16 clients, half reads, 10 s", "*/ // disttest:end workload\n  fn evil() {} \"#]\u{202e}");
    package.edit(PLAN_PATH, "the claim is about a healthy cluster", "x\")] fn evil() {} #[y(\"");
    package.disttest(&["author", PLAN_PATH]).expect(0);
    for file in [S1, S2] {
        let text = package.read(file);
        let items = syn::parse_file(&text).unwrap().items;
        assert_eq!(items.len(), 3, "use, function, main!:\n{text}");
        assert!(!text.contains('\u{202e}'));
    }
    let before = package.files();
    package.disttest(&["author", PLAN_PATH]).expect(0);
    assert_eq!(package.files(), before);
}

#[test]
fn what_a_plan_does_not_yield_stays_open() {
    let package = Package::new();
    package.edit(
        PLAN_PATH,
        "`hard-kill`: `process-exit` on the injector's side, `client-timeouts` at a victim",
        "we will see",
    );
    package.disttest(&["author", PLAN_PATH]).expect(0);
    let text = package.read(S1);
    assert!(text.contains("unresolved(") && text.contains("\"landing\""), "{text}");
    assert!(!text.contains("    landing("), "{text}");
    let answer = package.disttest(&["author", PLAN_PATH, "--check"]).expect(1);
    assert!(answer.err.contains("attribute landing is not filled"), "{}", answer.err);
}

/// The package with arms, each of which inherits or names its target as `edit` leaves it.
fn of_arms(edit: impl Fn(&str) -> String) -> Package {
    let package = Package::new();
    package.write(PLAN_PATH, &edit(&with_arms()));
    package
}

fn without_targets(plan: &str) -> String {
    plan.lines().filter(|line| !line.contains("tests/auto/s1_")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn arms_share_the_file_of_their_scenario_or_have_one_of_their_own() {
    let package = of_arms(without_targets);
    package.disttest(&["author", PLAN_PATH]).expect(0);
    let text = package.read(S1);
    for part in [
        "//! Scenario: S1 reads_never_go_back",
        "//! Arms: S1/api, S1/sdk",
        "id = \"S1/sdk\"",
        "fn reads_never_go_back__api(",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert!(!text.contains("id = \"S1\""), "the scenario itself has no function:\n{text}");
    let answer = package.disttest(&["author", PLAN_PATH, "--check"]).expect(1);
    assert!(answer.err.contains("api/workload is not filled") && answer.err.contains("sdk/oracle is not filled"));

    let own = of_arms(str::to_owned);
    own.disttest(&["author", PLAN_PATH]).expect(0);
    assert!(!own.path(S1).exists(), "no arm is left for it");
    let (api, sdk) = (own.read("tests/auto/s1_api.rs"), own.read("tests/auto/s1_sdk.rs"));
    assert!(api.contains("//! Arms: S1/api\n") && !api.contains("S1/sdk") && sdk.contains("//! Arms: S1/sdk\n"));
    let mixed = of_arms(|plan| plan.replacen("- **Target test file:** tests/auto/s1_api.rs\n", "", 1));
    mixed.disttest(&["author", PLAN_PATH, "--scenario", "S1/sdk"]).expect(0);
    assert!(mixed.path("tests/auto/s1_sdk.rs").exists() && !mixed.path(S1).exists());
    mixed.disttest(&["author", PLAN_PATH]).expect(0);
    assert!(mixed.read(S1).contains("//! Arms: S1/api\n"));
    mixed.disttest(&["author", PLAN_PATH, "--scenario", "S1/old"]).expect(2);
}

#[test]
fn arms_that_cannot_be_told_apart_or_have_no_place_are_told() {
    let check = |edit: &dyn Fn(&str) -> String, status: i32, expect: &str| {
        let package = of_arms(edit);
        let answer = package.disttest(&["author", PLAN_PATH]).expect(status);
        assert!(answer.err.contains(expect), "{expect}: {}", answer.err);
        assert_eq!(package.path("tests").exists(), status == 0, "{expect}");
    };
    check(&|plan| plan.replace("S1/sdk", "S1/API"), 1, "S1/API and S1/api would both be the function");
    check(&|plan| plan.replace("S1/sdk", "S1/--"), 1, "no letter or digit");
    check(&|plan| plan.replace("S1/sdk", "S1/api"), 1, "S1/api");
    check(&|plan| plan.replace("s1_sdk.rs", "s2.rs"), 1, "is taken by S1");
    let of_sdk = |claims: &str| {
        let field = format!("#### Arm S1/sdk: the sdk\n- **Falsifies if it FAILs:** {claims}\n");
        move |plan: &str| plan.replace("#### Arm S1/sdk: the sdk\n", &field)
    };
    check(&of_sdk("none of them"), 1, "the scenario falsifies no claim");
    check(&of_sdk("C9"), 1, "C9 has no category of the format");
    check(&|plan| plan.replace("tests/auto/s1", "../s1"), 1, "refused");
    let nowhere = |plan: &str| without_targets(plan).replace("- **Target test file:** tests/auto/s1.rs\n", "");
    check(&nowhere, 0, "S1/sdk cannot be authored: it has no `Target test file`, nor has its scenario");
    let listed = "#### §7.M.S — Surface decomposition\n- **Scenario arms:** S2/api, S2/sdk\n\n§7.M: not applicable";
    check(
        &|plan| plan.replace("§7.M: not applicable", listed),
        0,
        "S2 cannot be authored: its arms (S2/api, S2/sdk) are listed",
    );
}

#[test]
fn a_check_that_looked_at_nothing_is_not_green() {
    let package = Package::new();
    let plan = package.read(PLAN_PATH);
    let lines = plan.lines().filter(|line| !line.contains("Target test file"));
    package.write(PLAN_PATH, &lines.map(|line| format!("{line}\n")).collect::<String>());
    let answer = package.disttest(&["author", PLAN_PATH, "--check"]).expect(1);
    assert!(answer.err.contains("no test file to check") && !answer.err.contains("Up to date"), "{}", answer.err);
}

#[test]
fn a_folder_that_is_no_harness_is_wrong_usage_and_told_what_was_looked_for() {
    let package = Package::new();
    std::fs::create_dir(package.path("empty")).unwrap();
    package.write("other/Cargo.toml", "[package]\nname = \"x\"\n");
    package.write("theirs/Cargo.toml", "[package]\nname = \"x\"\n[package.metadata.disttest]\nplan = \"docs/b.md\"\n");
    package.write("broken/Cargo.toml", "[package\n");
    let before = package.files();
    let check = |folder: &str, expect: &str| {
        let answer = package.disttest(&["author", PLAN_PATH, "--from-harness", folder]).expect(2);
        assert!(answer.err.contains(expect), "{folder}: {}", answer.err);
        assert_eq!(package.files(), before, "{folder}");
    };
    check("nowhere", "nowhere is no folder: looked for nowhere/Cargo.toml with `[package.metadata.disttest] plan`");
    check("empty", "empty has no Cargo.toml: looked for");
    check("other", "other holds another package: looked for");
    check("broken", "broken holds another package: looked for");
    check("theirs", &format!("another plan, docs/b.md, and not of {PLAN_PATH}"));
    package.disttest(&["author", PLAN_PATH]).expect(0);
    // Nothing is left to take from it, and it is wrong nevertheless.
    package.disttest(&["author", PLAN_PATH, "--from-harness", "empty"]).expect(2);
}
