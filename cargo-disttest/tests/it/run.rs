//! `run` in a package whose tests are stand-ins for the harness: each leaves the evidence that the test wants. What a
//! program of its own fabricates well enough cannot be told from what a run left; whatever does not agree is.

use crate::evidence::{self, Left};
use crate::package::{Answer, PLAN_PATH, Package, answer, binary, with_arms};
use crate::stub;
use disttest_runtime::plan::{Category, Tier};
use disttest_runtime::verdict::{DeclaredFault, Drift, ScenarioRecord, Verdict};

/// A test of which nothing is left to be filled.
const FILLED: &str = "#[disttest_runtime::scenario(\"ID\")]\nfn NAME() {}\ndisttest_runtime::main!();\n";

const SCENARIOS: [(&str, &str, &str); 2] =
    [("S1", "tests/auto/s1.rs", "reads_never_go_back"), ("S2", "tests/auto/s2.rs", "healthy_nodes_answer")];

/// The package with a filled test of each scenario.
fn package() -> Package {
    let package = Package::new();
    stub::declare(&package);
    depend(&package);
    for (id, file, name) in SCENARIOS {
        test(&package, id, &id.to_lowercase(), file, name);
    }
    package
}

/// The entry that `author` writes.
pub(crate) fn depend(package: &Package) {
    let entry = "\n[dev-dependencies]\ndisttest-runtime.workspace = true\n\n[workspace]";
    package.edit("Cargo.toml", "\n[workspace]", entry);
}

/// A filled test of `id`.
pub(crate) fn test(package: &Package, id: &str, target: &str, file: &str, function: &str) {
    package.write(file, &FILLED.replace("NAME", function).replace("ID", id));
    let manifest = package.read("Cargo.toml");
    let entry = format!("\n[[test]]\nname = \"{target}\"\npath = \"{file}\"\nharness = false\n");
    package.write("Cargo.toml", &format!("{manifest}{entry}"));
}

fn leave(package: &Package, left: &Left) {
    left.lay(&package.path("fake"));
}

/// Both scenarios pass.
fn both_pass(package: &Package) {
    for id in ["S1", "S2"] {
        leave(package, &evidence::of(package, id, Verdict::PassSmoke));
    }
}

fn pass(package: &Package, id: &str) {
    leave(package, &evidence::of(package, id, Verdict::PassSmoke));
}

/// The package with a filled test of each scenario, each of which leaves what passes.
pub(crate) fn package_of_passes() -> Package {
    let package = package();
    both_pass(&package);
    package
}

/// The answer of `run` with `args` when both scenarios leave what passes.
fn run(args: &[&str]) -> (Package, Answer) {
    let package = package_of_passes();
    let answer = package.disttest(&[&["run", PLAN_PATH], args].concat());
    (package, answer)
}

#[test]
fn scenarios_run_in_plan_order_and_the_last_line_is_the_hash_of_the_manifest() {
    let package = package();
    for id in ["S1", "S2"] {
        let mut left = evidence::asked(&package, id, Verdict::PassSmoke, Tier::Smoke, Some(7));
        left.record.runs[0].1.request.sut_args = vec!["--bug".into(), "lost".into()];
        leave(&package, &left);
    }
    let answer = package.disttest(&["run", PLAN_PATH, "--seed", "7", "--sut-arg", "--bug", "--sut-arg=lost"]).expect(0);
    let first = answer.out.find("stand-in S1 runs").unwrap();
    assert!(first < answer.out.find("stand-in S2 runs").unwrap());
    assert!(answer.out.contains("Session: DONE (smoke tier)"), "{}", answer.out);
    let (hash, file) = answer.out.lines().last().unwrap().split_once("  ").unwrap();
    assert_eq!(hash, disttest_runtime::base::digest::sha256_hex(package.read(file).as_bytes()));
    let told = package.read("fake/S1.told");
    assert!(told.starts_with("--exact reads_never_go_back --nocapture"), "{told}");
    assert!(told.contains(&format!("\nin {}\n", package.root().canonicalize().unwrap().display())), "{told}");
    for line in ["DISTTEST_TIER=smoke", "DISTTEST_SEED=7", "DISTTEST_SUT_ARGS=--bug lost"] {
        assert!(told.lines().any(|told| told == line), "{line} in {told}");
    }
}

/// What `run` says when S1 leaves what `change` made of the evidence of a PASS.
#[track_caller]
fn check_changed(package: &Package, change: impl FnOnce(&mut Left), args: &[&str], status: i32, expect: &str) {
    let mut left = evidence::of(package, "S1", Verdict::PassSmoke);
    change(&mut left);
    leave(package, &left);
    let answer = package.disttest(&[&["run", PLAN_PATH], args].concat()).expect(status);
    assert!(answer.out.contains(expect), "{expect}: {}", answer.out);
}

#[test]
fn a_verdict_that_its_evidence_does_not_come_to_is_neither_printed_nor_reported() {
    let package = package();
    pass(&package, "S2");
    let check = |change: fn(&mut Left), status: i32, expect: &str| {
        check_changed(&package, change, &[], status, expect);
        let sessions = std::fs::read_dir(package.path("test-sessions/small")).unwrap();
        let last = sessions.map(|entry| entry.unwrap().path()).max().unwrap();
        let report = std::fs::read_to_string(last.join("findings/S1.md")).unwrap();
        assert!(report.contains("NOT-RUN") && report.contains(expect), "{report}");
        std::fs::remove_dir_all(package.path("test-sessions")).unwrap();
    };
    let word = |left: &mut Left| {
        left.record.runs.clear();
    };
    check(word, 4, "its record says PASS-smoke (smoke tier met), its executions come to NOT-RUN");
    let better = |left: &mut Left| left.record.verdict = Verdict::PassHardening;
    check(better, 4, "its record says PASS-hardening (smoke tier met), its executions come to PASS-smoke");
    let panicked = |left: &mut Left| {
        left.record.runs[0].1.end = disttest_runtime::verdict::End::Panicked { message: "no".into() };
    };
    check(panicked, 4, "its executions come to INCONCLUSIVE-oracle-too-weak");
    let elsewhere = |left: &mut Left| left.record.runs[0].0 = "artifacts/S1/other".into();
    check(elsewhere, 4, "the execution in artifacts/S1/other is not of this session");
    let twice = |left: &mut Left| left.record.runs.push(left.record.runs[0].clone());
    check(twice, 4, "is counted twice");
}

#[test]
fn the_files_of_an_execution_are_read_again() {
    let package = package();
    pass(&package, "S2");
    let check = |file: &str, change: &dyn Fn(String) -> String, status: i32, expect: &str| {
        pass(&package, "S1");
        let runs = std::fs::read_dir(package.path("fake/S1/S1")).unwrap().map(|entry| entry.unwrap().path());
        let run = runs.into_iter().find(|path| path.is_dir()).unwrap();
        let path = run.join(file);
        std::fs::write(&path, change(std::fs::read_to_string(&path).unwrap())).unwrap();
        let answer = package.disttest(&["run", PLAN_PATH]).expect(status);
        assert!(answer.out.contains(expect), "{expect}: {}", answer.out);
    };
    let weak = "its record says PASS-smoke (smoke tier met), its executions come to INCONCLUSIVE-oracle-too-weak";
    check("run.json", &|text| text, 0, "Session: DONE (");
    check("run.json", &|_| String::new(), 4, weak);
    check("run.json", &|text| text.replace("\"seed\":", "\"seed\":1"), 4, weak);
    check("history.jsonl", &|text| text.lines().skip(1).map(|line| format!("{line}\n")).collect(), 4, weak);
    // The victim felt nothing, whatever the record says of the window.
    let quiet = |text: String| {
        let (head, victim) = text.rsplit_once("\"victim\"").unwrap();
        let value = |n: u32| format!("\"value\":{n}.0");
        format!("{head}\"victim\"{}", (1..=15).fold(victim.to_owned(), |text, n| text.replace(&value(n), &value(0))))
    };
    check("landing.json", &quiet, 4, weak);
    check("test.log", &|_| "thread 'main' panicked at x.rs:1:1:\n".into(), 4, "come to PARTIAL-surface");
}

#[test]
fn an_execution_that_the_record_hides_is_found() {
    let package = package();
    pass(&package, "S2");
    let hide = |verdict: Verdict| {
        let hidden = evidence::asked(&package, "S1", verdict, Tier::Smoke, Some(99));
        leave(&package, &hidden);
        let seed = package.path("fake/S1/S1/seed-99");
        let kept = package.path("fake/kept");
        let _ = std::fs::remove_dir_all(&kept);
        std::fs::rename(&seed, &kept).unwrap();
        pass(&package, "S1");
        std::fs::rename(&kept, &seed).unwrap();
    };
    hide(Verdict::FailNondeterministic);
    let answer = package.disttest(&["run", PLAN_PATH]).expect(1);
    assert!(answer.out.contains("FAIL-nondeterministic"), "{}", answer.out);
    hide(Verdict::InconclusiveOracleTooWeak);
    let answer = package.disttest(&["run", PLAN_PATH]).expect(4);
    assert!(answer.out.contains("the execution in artifacts/S1/seed-99 is not in its record"), "{}", answer.out);
}

#[test]
fn executions_that_nobody_asked_for_are_no_answer() {
    let package = package();
    pass(&package, "S2");
    let check = |args: &[&str], expect: &str| check_changed(&package, |_| (), args, 4, expect);
    check(&["--seed", "7"], "asked for were 7");
    check(&["--seeds", "2"], "its executions are of the seeds ");
    check(&["--sut-arg", "--bug"], "gave its nodes the arguments ``, not `--bug`");
    check(&["--tier", "hardening"], "its record is for the smoke tier, not for hardening");
    let other_tier = |left: &mut Left| {
        left.record.runs[0].1.request.tier = Tier::Hardening;
        left.judge();
    };
    check_changed(&package, other_tier, &[], 4, "is for the hardening tier, not for smoke");
    let cheaper = |left: &mut Left| {
        left.record.runs[0].1.request.budget.seconds = 1;
        left.judge();
    };
    check_changed(&package, cheaper, &[], 4, "was asked for another budget than the test declares");
}

#[test]
fn a_program_that_is_not_judged_by_the_runtime_did_not_run() {
    let package = package();
    both_pass(&package);
    package.write("tests/auto/s1.rs", "fn main() { println!(\"PASS-hardening\"); }\n");
    let answer = package.disttest(&["run", PLAN_PATH]).expect(4);
    let said = "s1.rs does not call `disttest_runtime::main!()`: nothing would judge it";
    assert!(answer.out.contains(said), "{}", answer.out);
}

#[test]
fn what_the_environment_says_does_not_change_a_run() {
    let package = package();
    pass(&package, "S1");
    let variables = [("DISTTEST_SEEDS", "1"), ("DISTTEST_CHILD", "1"), ("NEXTEST_RUN_ID", "x"), ("DISTTEST_TIER", "x")];
    let answer = package.disttest_with(&["run", PLAN_PATH, "--scenario", "S1"], &variables).expect(0);
    let said = "Session: DONE_WITH_CONCERNS (smoke tier; not asked for: S2)";
    assert!(answer.out.contains(said), "the reports of the session say no less: {}", answer.out);
    let told = package.read("fake/S1.told");
    for part in ["SEEDS", "CHILD", "NEXTEST", "TIER=x"] {
        assert!(!told.contains(part), "{told}");
    }
}

#[test]
fn a_run_is_never_0_unless_every_scenario_is_ok() {
    use Verdict::*;
    let package = package();
    let check = |first: Verdict, second: Verdict, session: &str, status: i32| {
        leave(&package, &evidence::of(&package, "S1", first));
        leave(&package, &evidence::of(&package, "S2", second));
        let answer = package.disttest(&["run", PLAN_PATH]).expect(status);
        assert!(answer.out.contains(&format!("Session: {session} ")), "{}", answer.out);
    };
    check(PassSmoke, PassSmoke, "DONE", 0);
    check(FailReproducible, PassSmoke, "FAIL", 1);
    check(FailNondeterministic, InconclusiveEnv, "FAIL", 1);
    check(InconclusiveFaultNotProven, PassSmoke, "DONE_WITH_CONCERNS", 3);
    check(PartialModel, InconclusiveEnv, "INCONCLUSIVE", 3);
    check(NotRun, PassSmoke, "DONE_WITH_CONCERNS", 4);
    check(NotRun, NotRun, "BLOCKED", 4);
}

#[test]
fn the_reason_is_the_step_that_decided_and_not_the_last_one() {
    use Verdict::*;
    let package = package();
    pass(&package, "S2");
    let check = |verdict: Verdict, decisive: &str| {
        leave(&package, &evidence::of(&package, "S1", verdict));
        let answer = package.disttest(&["run", PLAN_PATH]);
        assert!(answer.out.contains(decisive), "{}", answer.out);
        assert!(!answer.out.contains("fault landed"), "{}", answer.out);
        let json = package.disttest(&["run", PLAN_PATH, "--format", "json"]).out;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let reason = json["scenarios"][0]["reason"].as_str().unwrap();
        assert!(answer.out.contains(&format!("\n      {reason}\n")) && reason.contains(decisive), "{reason}");
    };
    check(InconclusiveFaultNotProven, "client-timeouts");
    check(FailReproducible, "C1 violated: stale-read on k (linearizability); 1 of 1 re-runs");
    check(PartialSurface, "the declared checker `linearizability` did not run");
    check(InconclusiveEnv, "iptables: it is not installed");
    check(InconclusiveOracleTooWeak, "the oracle never judged: ");
}

#[test]
fn a_pass_below_the_tier_is_no() {
    let package = package();
    for id in ["S1", "S2"] {
        // Three seeds, each of them as short as the smoke tier asks for.
        let strongest = if id == "S1" { Verdict::PassHardening } else { Verdict::PassSmoke };
        let mut left = evidence::asked(&package, id, strongest, Tier::Hardening, None);
        left.record.runs.iter_mut().for_each(|(_, run)| run.measured.seconds = 10);
        left.judge();
        leave(&package, &left);
    }
    let answer = package.disttest(&["run", PLAN_PATH, "--tier", "hardening"]).expect(1);
    assert!(answer.out.contains("S1  reads_never_go_back   PASS-smoke"), "{}", answer.out);
}

#[test]
fn a_release_run_says_what_has_no_release_budget() {
    let (_, answer) = run(&["--tier", "release"]);
    for part in ["S1 has no release budget (no soak rig): its hardening budget is run", "S2 has no release budget"] {
        assert!(answer.err.contains(part), "{}", answer.err);
    }
    let (_, answer) = run(&["--tier", "hardening"]);
    assert!(!answer.err.contains("release budget"), "{}", answer.err);
}

#[test]
fn a_test_that_is_not_what_the_plan_says_is_to_be_authored_again() {
    let package = package();
    pass(&package, "S2");
    let mut first = evidence::of(&package, "S1", Verdict::PassSmoke);
    first.record.drift = Drift::Scenario { fields: vec!["claim categories".to_owned(), "checkers".to_owned()] };
    first.judge();
    leave(&package, &first);
    let answer = package.disttest(&["run", PLAN_PATH]);
    assert!(
        answer.out.contains(&format!("Next: cargo disttest author {PLAN_PATH}  # the plan changed")),
        "{}",
        answer.out
    );
    leave(&package, &evidence::of(&package, "S1", Verdict::PartialSurface));
    let answer = package.disttest(&["run", PLAN_PATH]);
    assert!(answer.out.contains("Next: read "), "{}", answer.out);
}

#[test]
fn placeholders_that_keep_a_scenario_from_running_are_named() {
    let package = package();
    package.edit(PLAN_PATH, "16 clients, half reads, 10 s", "{{how many}} clients for {{how long}}");
    pass(&package, "S2");
    let answer = package.disttest(&["run", PLAN_PATH]);
    let reason = "placeholders of the template are not filled: {{how many}}, {{how long}}";
    assert!(answer.out.contains(reason) && !answer.out.contains("its target is refused"), "{}", answer.out);
    assert!(answer.out.contains(&format!("Next: cargo disttest plan {PLAN_PATH}")), "{}", answer.out);
}

#[test]
fn a_test_that_leaves_no_record_did_not_run() {
    let package = package();
    pass(&package, "S1");
    let answer = package.disttest(&["run", PLAN_PATH]).expect(4);
    assert!(answer.out.contains("S2  healthy_nodes_answer  NOT-RUN"), "{}", answer.out);
    assert!(answer.out.contains("it left no record"), "{}", answer.out);
}

#[test]
fn a_test_that_puts_something_else_in_place_of_the_runtime_did_not_run() {
    let package = package();
    pass(&package, "S1");
    pass(&package, "S2");
    let text = package.read("tests/auto/s1.rs");
    package.write("tests/auto/s1.rs", &format!("mod disttest_runtime {{}}\n{text}"));
    let answer = package.disttest(&["run", PLAN_PATH]).expect(4);
    assert!(answer.out.contains("s1.rs:1 makes `disttest_runtime` the name of another item"), "{}", answer.out);
}

#[test]
fn a_record_of_something_else_is_no_answer() {
    let package = package();
    pass(&package, "S2");
    let check = |change: fn(&mut ScenarioRecord), status: i32, expect: &str| {
        let change = |left: &mut Left| {
            change(&mut left.record);
            left.judge();
        };
        check_changed(&package, change, &[], status, expect);
    };
    check(
        |record| record.declared.plan = "docs/other.md".into(),
        4,
        "its test was made from another plan, docs/other.md",
    );
    check(|record| record.declared.scenario_sha256 = "0".repeat(64), 3, "text that the attribute does not hold");
    check(
        |record| record.declared.target = "s2".into(),
        4,
        "its record is of another test, reads_never_go_back (package small, target s2)",
    );
    check(
        |record| record.declared.package = "big".into(),
        4,
        "its record is of another test, reads_never_go_back (package big, target s1)",
    );
    // Less than the plan asks, and a record that tells of no drift.
    check(|record| record.declared.checkers.clear(), 3, "checkers (of the attribute)");
    check(|record| record.declared.falsifies[0].1 = vec![Category::Liveness], 3, "falsifies (of the attribute)");
    check(|record| record.declared.budgets.as_mut().unwrap().hardening.seeds = 2, 3, "budget (of the attribute)");
    check(|record| record.declared.fault = DeclaredFault::None { reason: "x".into() }, 3, "nemesis (of the attribute)");
    let other = |left: &mut Left| left.record.schema = "disttest.scenario/9".into();
    check_changed(&package, other, &[], 4, "schema `disttest.scenario/9`");
}

#[test]
fn a_torn_record_is_no_answer() {
    let package = package();
    both_pass(&package);
    package.write("fake/S1/S1/scenario.json", "{\"schema\":");
    package.disttest(&["run", PLAN_PATH]).expect(4);
}

#[test]
fn a_process_that_fails_behind_a_pass_concludes_nothing() {
    let package = package();
    both_pass(&package);
    package.write("fake/S2.status", "101");
    let answer = package.disttest(&["run", PLAN_PATH]).expect(4);
    assert!(answer.out.contains("but the test process ended with"), "{}", answer.out);
}

#[test]
fn a_file_that_does_not_compile_does_not_keep_the_others_from_running() {
    let package = package();
    pass(&package, "S2");
    package.edit("tests/auto/s1.rs", "fn reads_never_go_back() {}", "fn reads_never_go_back() { no }");
    let answer = package.disttest(&["run", PLAN_PATH]).expect(4);
    assert!(answer.out.contains("tests/auto/s1.rs does not build"), "{}", answer.out);
    assert!(answer.out.contains("stand-in S2 runs"), "{}", answer.out);
}

#[test]
fn a_program_of_another_member_is_built_anew_and_never_tested_as_it_was_before() {
    let package = package();
    pass(&package, "S1");
    package.edit("Cargo.toml", "\n[dev-dependencies]\n", "\n[dev-dependencies]\nnode = { path = \"node\" }\n");
    package.edit("Cargo.toml", "[workspace]\n", "[workspace]\nmembers = [\"node\"]\n");
    package.write("node/Cargo.toml", "[package]\nname = \"node\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    package.write("node/src/lib.rs", "");
    package.write("node/src/main.rs", "fn main() {}\n");
    let target = package.path("target").display().to_string();
    let run = || package.disttest_with(&["run", PLAN_PATH, "--scenario", "S1"], &[("CARGO_TARGET_DIR", &target)]);
    run().expect(0);
    assert!(package.path("target/debug").join(format!("node{}", std::env::consts::EXE_SUFFIX)).is_file());
    package.write("node/src/main.rs", "fn main() { nonsense() }\n");
    let answer = run().expect(4);
    assert!(answer.out.contains("the programs of node, on which its package depends, do not build"), "{}", answer.out);
}

#[test]
fn the_workspace_is_that_of_the_plan_wherever_one_stands() {
    let (package, other) = (package(), Package::new());
    both_pass(&package);
    other.edit("Cargo.toml", "\"small\"", "\"other\"");
    let plan = package.path(PLAN_PATH).display().to_string();
    let there = |verb: &str, args: &[&str]| {
        let mut command = binary();
        command.current_dir(other.root()).args(["disttest", verb, &plan]).args(args);
        answer(command)
    };
    let before = other.files();
    let ran = there("run", &[]).expect(0);
    assert!(ran.out.contains("Session: DONE (smoke tier)"), "{}", ran.out);
    assert!(package.path("test-sessions/small").is_dir() && !other.path("test-sessions").exists());
    let states = there("plan", &[]).expect(1).out;
    assert!(states.contains("edited by hand"), "{states}");
    // It has no §6b; the toolbox is that of its repository.
    assert!(there("probe", &[]).expect(3).out.contains("tests/auto/s1.rs"));
    let json: serde_json::Value = serde_json::from_str(&there("todo", &["--format", "json"]).expect(0).out).unwrap();
    assert!(json.to_string().contains("tests/auto/s1.rs"), "{json}");
    let authored = there("author", &["--dry-run", "--on-conflict", "sibling"]);
    assert!((authored.out.clone() + &authored.err).contains("s1.new.rs"), "{authored:?}");
    assert_eq!(other.files(), before);
    // Who names a manifest means it.
    let named = other.path("Cargo.toml").display().to_string();
    let refused = there("run", &["--manifest-path", &named]);
    assert_ne!(refused.status, 0, "{}", refused.out);
}

#[test]
fn a_test_that_git_ignores_is_said_to_be_no_part_of_the_commit() {
    let package = package();
    pass(&package, "S1");
    package.write(".gitignore", "/tests/auto/s1.rs\n/target\n");
    package.commit_all();
    let answer = package.disttest(&["run", PLAN_PATH, "--scenario", "S1"]).expect(0);
    assert!(answer.err.contains("git ignores tests/auto/s1.rs: the commit that the reports name"), "{}", answer.err);
    let answer = package.disttest(&["run", PLAN_PATH, "--scenario", "S2"]).expect(4);
    assert!(!answer.err.contains("git ignores"), "{}", answer.err);
}

#[test]
fn a_scenario_without_entry_or_test_did_not_run() {
    let check = |change: fn(&Package), expect: &str| {
        let package = package();
        pass(&package, "S1");
        pass(&package, "S2");
        change(&package);
        let answer = package.disttest(&["run", PLAN_PATH]).expect(4);
        assert!(answer.out.contains(expect), "{expect}: {}", answer.out);
    };
    check(
        |package| package.edit("tests/auto/s1.rs", "fn reads_never_go_back", "fn other"),
        "has no test `reads_never_go_back`",
    );
    check(
        |package| package.edit(PLAN_PATH, "**Skeleton language:** rust\n\n####", "**Skeleton language:** go\n\n####"),
        "language is go",
    );
    let no_entry = |package: &Package| {
        let manifest = package.read("Cargo.toml");
        let (head, _) = manifest.split_once("\n[[test]]").unwrap();
        package.write("Cargo.toml", head);
    };
    check(no_entry, "has no [[test]] entry");
}

#[test]
fn nothing_runs_while_the_plan_lacks_an_oracle_or_budgets() {
    let package = package();
    pass(&package, "S1");
    pass(&package, "S2");
    package.edit(PLAN_PATH, "- **Oracle:** `error_rate == 0` over at least 20 operations\n", "");
    package.edit(PLAN_PATH, "- **Smoke budget:** 3 nodes × 10 s × 1 fault × 1 seed\n", "");
    let answer = package.disttest(&["run", PLAN_PATH]).expect(4);
    for part in ["S1 has no budget tiers", "S2 has no oracle", "- **Oracle:**", "- **Smoke budget:**"] {
        assert!(answer.err.contains(part), "{part}: {}", answer.err);
    }
    assert!(!package.path("fake/S1.told").exists() && !package.path("test-sessions").exists());
    package.disttest(&["run", PLAN_PATH, "--allow-missing-budgets"]).expect(4);
    package.disttest(&["run", PLAN_PATH, "--scenario", "S2", "--allow-missing-budgets"]).expect(4);
}

#[test]
fn an_oracle_that_judges_nothing_is_none() {
    let package = package();
    package.edit(PLAN_PATH, "`error_rate == 0` over at least 20 operations", "logs look fine");
    let answer = package.disttest(&["run", PLAN_PATH]).expect(4);
    assert!(answer.err.contains("S2 has no oracle"), "{}", answer.err);
}

#[test]
fn json_keeps_stdout_to_itself() {
    let (_, answer) = run(&["--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&answer.expect(0).out).unwrap();
    assert_eq!(json["schema"], "disttest.run-summary/1");
    assert_eq!(json["session_verdict"], "DONE");
    assert_eq!(json["scenarios"][0]["verdict"], "PASS-smoke");
    assert_eq!(json["manifest_sha256"].as_str().unwrap().len(), 64);
}

#[test]
fn an_argument_with_white_space_is_refused_because_it_would_be_split() {
    package().disttest(&["run", PLAN_PATH, "--sut-arg", "a b"]).expect(2);
}

#[test]
fn a_run_in_which_nothing_started_leaves_a_session_that_says_why() {
    let package = package();
    package.edit("tests/auto/s1.rs", "fn reads_never_go_back() {}", "fn reads_never_go_back() { no }");
    let args = ["run", PLAN_PATH, "--scenario", "S1", "--session-root", "sessions", "--format", "json"];
    let answer = package.disttest(&args).expect(4);
    let json: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(json["session_verdict"], "BLOCKED");
    let report = package.read(json["report"].as_str().unwrap());
    assert!(report.contains("tests/auto/s1.rs does not build") && report.contains("NOT-RUN"), "{report}");
    let manifest = package.read(&format!("{}/MANIFEST.sha256", json["session"].as_str().unwrap()));
    assert_eq!(json["manifest_sha256"], disttest_runtime::base::digest::sha256_hex(manifest.as_bytes()));
    for file in ["session-log.md", "session.json", "artifacts/S1/scenario.json", "findings/S1.md", "plan.md"] {
        assert!(manifest.contains(file), "{file}: {manifest}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_scenario_that_runs_starts_no_other_and_prints_the_table() {
    use std::io::{BufRead, BufReader, Read};
    let package = package();
    package.write("fake/S1.waits", "");
    let mut command = binary();
    command.current_dir(package.root()).args(["disttest", "run", PLAN_PATH]);
    let mut run = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(run.stdout.take().unwrap());
    let started = out.by_ref().lines().map_while(Result::ok).any(|line| line == "stand-in S1 runs");
    assert!(started);
    let pid = run.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(4), "{rest}");
    assert!(rest.contains("it left no record in the session (the test process ended with signal: 2"), "{rest}");
    assert!(rest.contains("the run was stopped before it (SIGINT)"), "{rest}");
    assert!(rest.contains("Session: BLOCKED") && !rest.contains("stand-in S2 runs"), "{rest}");
}

/// The package whose S1 has two arms in files of their own, with a filled test for each and for S2.
fn package_of_arms() -> Package {
    let package = package();
    package.write(PLAN_PATH, &with_arms());
    for arm in ["api", "sdk"] {
        let (file, function) = (format!("tests/auto/s1_{arm}.rs"), format!("reads_never_go_back__{arm}"));
        test(&package, &format!("S1/{arm}"), &format!("s1_{arm}"), &file, &function);
    }
    pass(&package, "S2");
    package
}

#[test]
fn a_scenario_with_arms_is_no_better_than_its_arms() {
    use Verdict::*;
    let package = package_of_arms();
    let check = |api: Verdict, sdk: Option<Verdict>, whole: Verdict, session: &str, status: i32| {
        leave(&package, &evidence::of(&package, "S1/api", api));
        let _ = std::fs::remove_dir_all(package.path("fake/S1__sdk"));
        if let Some(sdk) = sdk {
            leave(&package, &evidence::of(&package, "S1/sdk", sdk));
        }
        let answer = package.disttest(&["run", PLAN_PATH, "--format", "json"]).expect(status);
        let json: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
        let scenario = &json["scenarios"][0];
        assert_eq!((&scenario["scenario"], &scenario["verdict"]), (&"S1".into(), &whole.as_str().into()), "{json:#}");
        assert_eq!(scenario["arms"][1]["verdict"], sdk.unwrap_or(NotRun).as_str(), "{json:#}");
        assert_eq!((&json["session_verdict"], &json["exit_status"]), (&session.into(), &status.into()), "{json:#}");
    };
    check(PassSmoke, Some(PassSmoke), PassSmoke, "DONE", 0);
    check(PassSmoke, None, PartialSurface, "DONE_WITH_CONCERNS", 3);
    check(PassSmoke, Some(FailReproducible), FailReproducible, "FAIL", 1);
    check(InconclusiveEnv, Some(InconclusiveEnv), InconclusiveEnv, "DONE_WITH_CONCERNS", 3);
    check(NotRun, None, NotRun, "DONE_WITH_CONCERNS", 4);
}

#[test]
fn an_arm_that_the_plan_does_not_have_is_told_and_keeps_its_scenario_from_passing() {
    let package = package_of_arms();
    for arm in ["S1/api", "S1/sdk"] {
        pass(&package, arm);
    }
    package.disttest(&["run", PLAN_PATH]).expect(0);
    // A binary of another scenario notes it.
    for stray in ["S1/old", "S1", "S2/api"] {
        pass(&package, "S2");
        let mut left = evidence::of(&package, "S2", Verdict::PassSmoke);
        left.record.declared.id = stray.into();
        left.record.runs.clear();
        left.judge();
        leave(&package, &left);
        let folder = stray.replace('/', "__");
        let (from, to) = (format!("fake/{folder}/{folder}"), format!("fake/S2/{folder}"));
        std::fs::rename(package.path(&from), package.path(&to)).unwrap();
        let answer = package.disttest(&["run", PLAN_PATH]).expect(3);
        assert!(answer.out.contains(&format!("the plan has no {stray} to be tested, and yet")), "{}", answer.out);
        assert!(answer.out.contains(&format!("capped by {stray} ")), "{}", answer.out);
    }
}
