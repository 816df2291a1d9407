//! `probe`, and `run` going by the same answers.

use crate::package::{PLAN_PATH, Package};
use serde_json::Value;

/// A plan that requires something that is there, something that is not, and something that nobody knows.
pub(crate) fn package() -> Package {
    let package = Package::new();
    let plan = crate::package::PLAN;
    let (before, after) = plan.split_once("## 7. Scenarios").unwrap();
    let before = before.split_once("## 6b.").map_or(before, |(before, _)| before);
    let rows = "## 6b. Environment requirements\n\n| Requirement | Version floor | Used by scenarios | Install hint |\n\
                |---|---|---|---|\n| Rust toolchain | 1.60 | S1 | rustup.rs |\n| A flurble | — | S1 | ask around |\n\
                | etcd | 3.4 | S1 | apt-get install etcd-server |\n\n## 7. Scenarios";
    package.write(PLAN_PATH, &format!("{before}{rows}{after}"));
    package
}

fn json(package: &Package, args: &[&str], status: i32) -> Value {
    let mut all = vec!["probe", PLAN_PATH, "--format", "json"];
    all.extend(args);
    serde_json::from_str(&package.disttest(&all).expect(status).out).unwrap()
}

#[test]
fn what_is_there_missing_and_unknown_is_told_apart() {
    let package = package();
    package.write("a.toml", "[etcd]\npresent = false\nsubstitute = \"an in-process map\"\n");
    let report = json(&package, &["--answers", "a.toml"], 1);
    assert_eq!((&report["schema"], &report["asked"]), (&"disttest.probe/1".into(), &true.into()));
    let presence: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|f| f["presence"].as_str().unwrap()).collect();
    assert_eq!(presence, ["present", "unknown", "missing"]);
    assert!(report["findings"][2]["choice"].as_str().unwrap().contains("an in-process map"));
    let told = package.disttest(&["probe", PLAN_PATH, "--answers", "a.toml"]).expect(1).out;
    for word in ["Rust toolchain", "unknown", "apt-get install etcd-server", "needed by: S1", "Toolbox"] {
        assert!(told.contains(word), "{word}: {told}");
    }
}

/// Programs that answer as `script` says, in front of all others.
fn with_program(package: &Package, name: &str, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    package.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
    let program = package.path(&format!("bin/{name}"));
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", package.path("bin").display(), std::env::var("PATH").unwrap())
}

#[test]
fn a_plugin_is_asked_for_by_its_program_and_what_is_open_comes_before_the_run() {
    let check = |script: &str, presence: &str, version: Option<&str>, status: i32, next: &str| {
        let package = package();
        package.edit(
            PLAN_PATH,
            "| Rust toolchain | 1.60 | S1 | rustup.rs |\n| A flurble | — | S1 | ask around |\n",
            "",
        );
        package.edit(
            PLAN_PATH,
            "| etcd | 3.4 | S1 | apt-get install etcd-server |",
            "| docker compose | 2.0 | S1 | — |",
        );
        let path = with_program(&package, "docker", script);
        let variables = [("PATH", path.as_str())];
        let json = package.disttest_with(&["probe", PLAN_PATH, "--format", "json"], &variables).expect(status).out;
        let json: Value = serde_json::from_str(&json).unwrap();
        let found = &json["findings"][0];
        assert_eq!((found["presence"].as_str(), found["version"].as_str()), (Some(presence), version), "{found}");
        let told = package.disttest_with(&["probe", PLAN_PATH], &variables).expect(status).err;
        assert!(told.contains(&format!("next: {next}")), "{told}");
    };
    let run = format!("cargo disttest run {PLAN_PATH}\n");
    let again = format!("install docker compose, then cargo disttest probe {PLAN_PATH}");
    let asked = |compose: &str| {
        format!("if [ \"$1 $2\" = \"compose version\" ]; then {compose}; else echo Docker version 27.1; fi")
    };
    check(&asked("echo Docker Compose version v2.24.5"), "present", Some("2.24.5"), 0, &run);
    check(&asked("echo Docker Compose version v1.29.2"), "too-old", Some("1.29.2"), 1, &again);
    check(&asked("exit 1"), "missing", None, 1, &again);
    let unknown = package();
    let told = unknown.disttest(&["probe", PLAN_PATH]).err;
    assert!(told.contains("say in an answers file whether A flurble") && !told.contains("next: cargo"), "{told}");
}

#[test]
fn without_a_terminal_and_answers_it_says_that_nobody_was_asked() {
    let package = package();
    let answer = package.disttest(&["probe", PLAN_PATH]);
    assert!(answer.err.contains("nobody was asked"), "{}", answer.err);
    assert_eq!(json(&package, &[], answer.status)["asked"], false);
}

#[test]
fn answers_about_other_things_and_unreadable_ones_are_told() {
    let package = package();
    package.write("a.toml", "[etcd]\npresent = true\nversion = \"3.5\"\n\n[redis]\nskip = true\n");
    // Nobody knows of the flurble, which is no yes.
    let answer = package.disttest(&["probe", PLAN_PATH, "--answers", "a.toml"]).expect(3);
    assert!(answer.err.contains("the plan requires no `redis`"), "{}", answer.err);
    package.write("a.toml", "[etcd]\nhope = true\n");
    assert!(
        package.disttest(&["probe", PLAN_PATH, "--answers", "a.toml"]).expect(2).err.contains("unknown key `hope`")
    );
    package.disttest(&["probe", PLAN_PATH, "--answers", "nowhere.toml"]).expect(2);
}

#[test]
fn a_run_waits_for_what_the_operator_waits_for() {
    let package = package();
    package.write("a.toml", "[etcd]\npresent = false\nmissing = \"wait\"\n");
    let args = ["run", PLAN_PATH, "--answers", "a.toml", "--allow-missing-budgets"];
    let answer = package.disttest(&args).expect(4);
    assert!(answer.err.contains("wait for what is missing") && answer.err.contains("etcd"), "{}", answer.err);
}

#[test]
fn a_plan_whose_requirements_cannot_be_read_does_not_require_nothing() {
    let package = Package::new();
    let none = package.disttest(&["probe", PLAN_PATH]).expect(3);
    assert!(none.err.contains("no §6b") && !none.out.contains("requires nothing"), "{}{}", none.out, none.err);
    let list = crate::package::PLAN.replacen("## 7. Scenarios", "## 6b. E\n\n- etcd 3.5\n\n## 7. Scenarios", 1);
    package.write(PLAN_PATH, &list);
    assert!(package.disttest(&["probe", PLAN_PATH]).expect(3).err.contains("no table of requirements"));
}

#[test]
fn a_program_that_crashes_is_not_present_in_the_version_of_its_last_words() {
    use std::os::unix::fs::PermissionsExt;
    let package = package();
    package.write("bin/etcd", "#!/bin/sh\necho segfault at 4.2\nkill -SEGV $$\n");
    std::fs::set_permissions(package.path("bin/etcd"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::join_paths(
        [package.path("bin")].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let mut command = crate::package::binary();
    command.current_dir(package.root()).env("PATH", path.unwrap());
    command.args(["disttest", "probe", PLAN_PATH, "--format", "json"]);
    let report: Value = serde_json::from_str(&crate::package::answer(command).expect(3).out).unwrap();
    let etcd = &report["findings"][2];
    assert_eq!((&etcd["presence"], &etcd["version"]), (&"unknown".into(), &Value::Null));
}
