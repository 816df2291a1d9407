//! `run` in a package whose tests are stand-ins for the harness: each writes the record that the test wants.

use crate::package::{Answer, PLAN_PATH, Package, with_arms};
use disttest_runtime::plan::{Budget, Budgets, Category, Release, Tier, parse, scenario_digest};
use disttest_runtime::verdict::{Declared, DeclaredFault, Drift, Harness, ScenarioRecord, Scope, Step, Verdict, Why};

/// Lists one test; when run, tells what it was given and leaves the record that lies in `fake/`.
pub(crate) const STAND_IN: &str = r##"
use std::{env, fs, path::Path};
fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    if args.first().is_some_and(|arg| arg == "--list") {
        println!("NAME: test");
        return;
    }
    println!("stand-in ID runs");
    if Path::new("fake/ID.waits").exists() {
        loop {
            std::thread::park();
        }
    }
    let mut told = format!("{}\n{}\n", args.join(" "), env::current_dir().unwrap().display());
    for (name, value) in env::vars().filter(|(name, _)| name.starts_with("DISTTEST_") || name.starts_with("NEXTEST")) {
        told += &format!("{name}={value}\n");
    }
    fs::write("fake/ID.told", told).unwrap();
    let session = env::var("DISTTEST_SESSION").unwrap();
    let folder = Path::new(&session).join("artifacts/ID");
    if Path::new("fake/ID.json").exists() {
        fs::create_dir_all(&folder).unwrap();
        fs::copy("fake/ID.json", folder.join("scenario.json")).unwrap();
    }
    fs::write(Path::new(&session).join("MANIFEST.sha256"), "abc").unwrap();
    let status = fs::read_to_string("fake/ID.status").map_or(0, |text| text.trim().parse().unwrap());
    std::process::exit(status);
}
"##;

const SCENARIOS: [(&str, &str, &str); 2] =
    [("S1", "tests/auto/s1.rs", "reads_never_go_back"), ("S2", "tests/auto/s2.rs", "healthy_nodes_answer")];

/// The package with a stand-in for each scenario.
fn package() -> Package {
    let package = Package::new();
    for (id, file, name) in SCENARIOS {
        package.write(file, &STAND_IN.replace("NAME", name).replace("ID", id));
        let manifest = package.read("Cargo.toml");
        let test = id.to_lowercase();
        package.write(
            "Cargo.toml",
            &format!("{manifest}\n[[test]]\nname = \"{test}\"\npath = \"{file}\"\nharness = false\n"),
        );
    }
    package.write("fake/README", "");
    package
}

fn budget(nodes: u64, seconds: u64, faults: u64, seeds: u64) -> Budget {
    Budget { nodes, seconds, faults, seeds, operations: 0 }
}

/// What an honest test of scenario `id` declares.
fn declared(id: &str) -> Declared {
    let release = Release::NotProvided { reason: "x".into(), revisit: "y".into() };
    let first = id == "S1";
    Declared {
        id: id.into(),
        name: "n".into(),
        test: "n".into(),
        plan: PLAN_PATH.into(),
        scenario_sha256: String::new(),
        falsifies: if first {
            vec![("C1".into(), vec![Category::Safety])]
        } else {
            vec![("C2".into(), vec![Category::Liveness])]
        },
        model: first.then(|| "register".into()),
        checkers: if first { vec![("linearizability".into(), Scope::PerKey)] } else { Vec::new() },
        fault: if first {
            DeclaredFault::Planned {
                nemeses: vec!["hard-kill".into()],
                injector: vec!["process-exit".into()],
                victim: vec!["client-timeouts".into()],
            }
        } else {
            DeclaredFault::None { reason: "healthy".into() }
        },
        budgets: Some(if first {
            Budgets { smoke: budget(3, 10, 1, 1), hardening: budget(5, 30, 5, 3), release }
        } else {
            Budgets { smoke: budget(3, 2, 0, 1), hardening: budget(5, 3, 0, 3), release }
        }),
        shares_nothing: false,
        package: "small".into(),
        target: id.to_lowercase(),
        surface: None,
        negative_controls: Vec::new(),
    }
}

pub(crate) fn record(id: &str, verdict: Verdict) -> ScenarioRecord {
    let met = match verdict {
        Verdict::PassHardening => Some(Tier::Hardening),
        Verdict::PassSmoke => Some(Tier::Smoke),
        _ => None,
    };
    ScenarioRecord {
        schema: "disttest.scenario/1".into(),
        declared: declared(id),
        unfilled: Vec::new(),
        lacking: Vec::new(),
        tier: Tier::Smoke,
        tier_met: met,
        runs: Vec::new(),
        drift: Drift::None,
        verdict,
        why: Why { steps: vec![Step { rule: "rule".into(), verdict, reason: "the reason".into() }] },
        harness: Harness::Repository,
    }
}

/// The text of `record`, left by a test that was made for the plan as it stands in `package`.
pub(crate) fn text_of(package: &Package, record: &ScenarioRecord) -> String {
    let plan = parse(&package.read(PLAN_PATH)).0;
    let root = record.declared.id.split('/').next().unwrap();
    let scenario = plan.scenarios.iter().find(|scenario| scenario.id.value.to_string() == root);
    let mut record = record.clone();
    if record.declared.scenario_sha256.is_empty() {
        record.declared.scenario_sha256 = scenario.map(|s| scenario_digest(&plan, s)).unwrap_or_default();
    }
    serde_json::to_string(&record).unwrap()
}

fn leave(package: &Package, record: &ScenarioRecord) {
    package.write(&format!("fake/{}.json", record.declared.id), &text_of(package, record));
}

/// The answer of `run` when the two scenarios leave these records.
fn run_with(first: &ScenarioRecord, second: &ScenarioRecord, args: &[&str]) -> (Package, Answer) {
    let package = package();
    leave(&package, first);
    leave(&package, second);
    let answer = package.disttest(&[&["run", PLAN_PATH], args].concat());
    (package, answer)
}

fn pass(id: &str) -> ScenarioRecord {
    record(id, Verdict::PassSmoke)
}

#[test]
fn scenarios_run_in_plan_order_and_the_last_line_is_the_hash_of_the_manifest() {
    let (package, answer) =
        run_with(&pass("S1"), &pass("S2"), &["--seed", "7", "--sut-arg", "--bug", "--sut-arg=lost"]);
    let answer = answer.expect(0);
    let first = answer.out.find("stand-in S1 runs").unwrap();
    assert!(first < answer.out.find("stand-in S2 runs").unwrap());
    assert!(answer.out.contains("Session: DONE (smoke tier)"), "{}", answer.out);
    // SHA-256 of "abc".
    let last = answer.out.lines().last().unwrap();
    assert!(last.starts_with("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  "), "{last}");
    let told = package.read("fake/S1.told");
    assert!(told.starts_with("--exact reads_never_go_back --nocapture"), "{told}");
    assert!(told.contains(&format!("\n{}\n", package.root().canonicalize().unwrap().display())), "{told}");
    for line in ["DISTTEST_TIER=smoke", "DISTTEST_SEED=7", "DISTTEST_SUT_ARGS=--bug lost"] {
        assert!(told.lines().any(|told| told == line), "{line} in {told}");
    }
}

#[test]
fn what_the_environment_says_does_not_change_a_run() {
    let package = package();
    leave(&package, &pass("S1"));
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
        leave(&package, &record("S1", first));
        leave(&package, &record("S2", second));
        let answer = package.disttest(&["run", PLAN_PATH]).expect(status);
        assert!(answer.out.contains(&format!("Session: {session} ")), "{}", answer.out);
    };
    check(PassSmoke, PassSmoke, "DONE", 0);
    check(FailReproducible, PassSmoke, "FAIL", 1);
    check(FailNondeterministic, InconclusiveEnv, "FAIL", 1);
    check(InconclusiveFaultNotProven, PassSmoke, "DONE_WITH_CONCERNS", 3);
    check(InconclusiveEnv, PartialModel, "INCONCLUSIVE", 3);
    check(NotRun, PassSmoke, "DONE_WITH_CONCERNS", 4);
    check(NotRun, NotRun, "BLOCKED", 4);
}

#[test]
fn the_reason_is_the_step_that_decided_and_not_the_last_one() {
    use Verdict::*;
    let package = package();
    let step = |rule: &str, verdict, reason: &str| Step { rule: rule.into(), verdict, reason: reason.into() };
    let check = |verdict: Verdict, decisive: &str| {
        let steps = vec![
            step("decisive", verdict, decisive),
            step("budget-gate", verdict, "fault landed, smoke budget: seeds 1 of 3"),
            step("plan-changed", verdict, "plan changed, scenario unchanged"),
        ];
        leave(&package, &ScenarioRecord { why: Why { steps }, ..record("S1", verdict) });
        leave(&package, &pass("S2"));
        let answer = package.disttest(&["run", PLAN_PATH]);
        assert!(answer.out.contains(&format!("\n      {decisive}\n")), "{}", answer.out);
        assert!(!answer.out.contains("fault landed"), "{}", answer.out);
        let json = package.disttest(&["run", PLAN_PATH, "--format", "json"]).out;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["scenarios"][0]["reason"], decisive);
    };
    check(InconclusiveFaultNotProven, "seed 1: no fault was injected");
    check(FailReproducible, "C1 violated: stale-read on `k` (linearizability); 1 of 1 re-runs of seed 1 saw it again");
    check(PartialSurface, "seed 1: the declared checker `no-lost-ack` did not run");
    check(InconclusiveEnv, "Rust 1.90 is required: too old");
    check(InconclusiveOracleTooWeak, "the oracle never judged: stopped by SIGTERM");
}

#[test]
fn a_pass_below_the_tier_is_no() {
    let at = |mut record: ScenarioRecord| {
        record.tier = Tier::Hardening;
        record
    };
    let (_, answer) = run_with(&at(pass("S1")), &at(pass("S2")), &["--tier", "hardening"]);
    answer.expect(1);
}

#[test]
fn a_release_run_says_what_has_no_release_budget() {
    let (_, answer) = run_with(&pass("S1"), &pass("S2"), &["--tier", "release"]);
    for part in ["S1 has no release budget (no soak rig): its hardening budget is run", "S2 has no release budget"] {
        assert!(answer.err.contains(part), "{}", answer.err);
    }
    let (_, answer) = run_with(&pass("S1"), &pass("S2"), &["--tier", "hardening"]);
    assert!(!answer.err.contains("release budget"), "{}", answer.err);
}

#[test]
fn a_test_that_is_not_what_the_plan_says_is_to_be_authored_again() {
    let fields = vec!["claim categories".to_owned(), "checkers".to_owned()];
    let first = ScenarioRecord { drift: Drift::Scenario { fields }, ..record("S1", Verdict::PartialSurface) };
    let (_, answer) = run_with(&first, &pass("S2"), &[]);
    assert!(
        answer.out.contains(&format!("Next: cargo disttest author {PLAN_PATH}  # the plan changed")),
        "{}",
        answer.out
    );
    let (_, answer) = run_with(&record("S1", Verdict::PartialSurface), &pass("S2"), &[]);
    assert!(answer.out.contains("Next: read "), "{}", answer.out);
}

#[test]
fn placeholders_that_keep_a_scenario_from_running_are_named() {
    let package = package();
    package.edit(PLAN_PATH, "16 clients, half reads, 10 s", "{{how many}} clients for {{how long}}");
    leave(&package, &pass("S2"));
    let answer = package.disttest(&["run", PLAN_PATH]);
    let reason = "placeholders of the template are not filled: {{how many}}, {{how long}}";
    assert!(answer.out.contains(reason) && !answer.out.contains("its target is refused"), "{}", answer.out);
    assert!(answer.out.contains(&format!("Next: cargo disttest plan {PLAN_PATH}")), "{}", answer.out);
}

#[test]
fn a_test_that_leaves_no_record_did_not_run() {
    let package = package();
    leave(&package, &pass("S1"));
    let answer = package.disttest(&["run", PLAN_PATH]).expect(4);
    assert!(answer.out.contains("S2  healthy_nodes_answer  NOT-RUN"), "{}", answer.out);
    assert!(answer.out.contains("it left no record"), "{}", answer.out);
}

#[test]
fn a_test_that_puts_something_else_in_place_of_the_runtime_did_not_run() {
    let package = package();
    leave(&package, &pass("S1"));
    leave(&package, &pass("S2"));
    let text = package.read("tests/auto/s1.rs");
    package.write("tests/auto/s1.rs", &format!("mod disttest_runtime {{}}\n{text}"));
    let answer = package.disttest(&["run", PLAN_PATH]).expect(4);
    assert!(answer.out.contains("s1.rs:1 makes `disttest_runtime` the name of another item"), "{}", answer.out);
}

#[test]
fn a_record_of_something_else_is_no_answer() {
    let package = package();
    let check = |change: fn(&mut ScenarioRecord), status: i32, expect: &str| {
        let mut first = pass("S1");
        change(&mut first);
        package.write("fake/S1.json", &text_of(&package, &first));
        leave(&package, &pass("S2"));
        let answer = package.disttest(&["run", PLAN_PATH]).expect(status);
        assert!(answer.out.contains(expect), "{expect}: {}", answer.out);
    };
    check(
        |record| record.declared.plan = "docs/other.md".into(),
        3,
        "its test was made from another plan, docs/other.md",
    );
    check(
        |record| record.declared.scenario_sha256 = "0".repeat(64),
        3,
        "its test was made for another text of the scenario",
    );
    check(|record| record.declared.id = "S9".into(), 4, "its record is of S9");
    check(|record| record.tier = Tier::Hardening, 4, "for the hardening tier");
    check(
        |record| record.declared.target = "s2".into(),
        4,
        "its record is of another test, n (package small, target s2)",
    );
    check(
        |record| record.declared.package = "big".into(),
        4,
        "its record is of another test, n (package big, target s1)",
    );
    check(|record| record.schema = "disttest.scenario/9".into(), 4, "schema `disttest.scenario/9`");
    check(|record| record.declared.checkers.clear(), 3, "not what the plan says: checkers");
    check(|record| record.declared.model = None, 3, "not what the plan says: model");
    check(|record| record.declared.fault = DeclaredFault::None { reason: "x".into() }, 3, "the plan says: nemesis");
    check(|record| record.declared.budgets.as_mut().unwrap().hardening.seeds = 2, 3, "the plan says: budget");
    check(|record| record.declared.falsifies[0].1 = vec![Category::Liveness], 3, "the plan says: falsifies");
}

#[test]
fn a_torn_record_is_no_answer() {
    let package = package();
    package.write("fake/S1.json", "{\"schema\":");
    leave(&package, &pass("S2"));
    package.disttest(&["run", PLAN_PATH]).expect(4);
}

#[test]
fn a_process_that_fails_behind_a_pass_concludes_nothing() {
    let package = package();
    leave(&package, &pass("S1"));
    leave(&package, &pass("S2"));
    package.write("fake/S2.status", "101");
    let answer = package.disttest(&["run", PLAN_PATH]).expect(3);
    assert!(answer.out.contains("but the test process ended with"), "{}", answer.out);
}

#[test]
fn a_file_that_does_not_compile_does_not_keep_the_others_from_running() {
    let package = package();
    leave(&package, &pass("S2"));
    package.write("tests/auto/s1.rs", "fn main() { no }\n");
    let answer = package.disttest(&["run", PLAN_PATH]).expect(4);
    assert!(answer.out.contains("tests/auto/s1.rs does not build"), "{}", answer.out);
    assert!(answer.out.contains("stand-in S2 runs"), "{}", answer.out);
}

#[test]
fn a_program_of_another_member_is_built_anew_and_never_tested_as_it_was_before() {
    let package = package();
    leave(&package, &pass("S1"));
    package.edit(
        "Cargo.toml",
        "[workspace]\n",
        "[workspace]\nmembers = [\"node\"]\n\n[dev-dependencies]\nnode = { path = \"node\" }\n",
    );
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
fn a_test_that_git_ignores_is_said_to_be_no_part_of_the_commit() {
    let package = package();
    leave(&package, &pass("S1"));
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
        leave(&package, &pass("S1"));
        leave(&package, &pass("S2"));
        change(&package);
        let answer = package.disttest(&["run", PLAN_PATH]).expect(4);
        assert!(answer.out.contains(expect), "{expect}: {}", answer.out);
    };
    check(|package| package.write("tests/auto/s1.rs", "fn main() {}\n"), "has no test `reads_never_go_back`");
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
    leave(&package, &pass("S1"));
    leave(&package, &pass("S2"));
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
    let (_, answer) = run_with(&pass("S1"), &pass("S2"), &["--format", "json"]);
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
    package.write("tests/auto/s1.rs", "fn main() { no }\n");
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
    let mut command = crate::package::binary();
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

/// The package whose S1 has two arms in files of their own, with a stand-in for each and for S2.
fn package_of_arms() -> Package {
    let package = package();
    package.write(PLAN_PATH, &with_arms());
    for arm in ["api", "sdk"] {
        let (file, function) = (format!("tests/auto/s1_{arm}.rs"), format!("reads_never_go_back__{arm}"));
        package.write(&file, &STAND_IN.replace("NAME", &function).replace("ID", &format!("S1__{arm}")));
        let manifest = package.read("Cargo.toml");
        let entry = format!("\n[[test]]\nname = \"s1_{arm}\"\npath = \"{file}\"\nharness = false\n");
        package.write("Cargo.toml", &format!("{manifest}{entry}"));
    }
    leave(&package, &pass("S2"));
    package
}

fn leave_arm(package: &Package, arm: &str, verdict: Verdict) {
    let mut left = record("S1", verdict);
    (left.declared.id, left.declared.target) = (format!("S1/{arm}"), format!("s1_{arm}"));
    package.write(&format!("fake/S1__{arm}.json"), &text_of(package, &left));
}

#[test]
fn a_scenario_with_arms_is_no_better_than_its_arms() {
    use Verdict::*;
    let package = package_of_arms();
    let check = |api: Verdict, sdk: Option<Verdict>, whole: Verdict, session: &str, status: i32| {
        leave_arm(&package, "api", api);
        let _ = std::fs::remove_file(package.path("fake/S1__sdk.json"));
        if let Some(sdk) = sdk {
            leave_arm(&package, "sdk", sdk);
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
    leave_arm(&package, "api", Verdict::PassSmoke);
    leave_arm(&package, "sdk", Verdict::PassSmoke);
    package.disttest(&["run", PLAN_PATH]).expect(0);
    // A binary of another scenario notes it.
    let noted = "fs::write(Path::new(&session).join(\"MANIFEST.sha256\"), \"abc\").unwrap();";
    for (stray, name) in [("S1__old", "S1/old"), ("S1", "S1"), ("S2__api", "S2/api")] {
        let mut left = record("S1", Verdict::PassSmoke);
        left.declared.id = name.into();
        package.write("fake/stray.json", &serde_json::to_string(&left).unwrap());
        let source = STAND_IN.replace("NAME", "healthy_nodes_answer").replace("ID", "S2");
        let folder = format!("let stray = Path::new(&session).join(\"artifacts/{stray}\");");
        let copy = "fs::create_dir_all(&stray).unwrap(); fs::copy(\"fake/stray.json\", stray.join(\"scenario.json\")).unwrap();";
        package.write("tests/auto/s2.rs", &source.replace(noted, &format!("{noted}\n{folder}\n{copy}")));
        let answer = package.disttest(&["run", PLAN_PATH]).expect(3);
        assert!(answer.out.contains(&format!("the plan has no {name} to be tested, and yet")), "{}", answer.out);
        assert!(answer.out.contains(&format!("capped by {name} PARTIAL-surface")), "{}", answer.out);
    }
}
