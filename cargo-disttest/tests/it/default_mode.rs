//! `run` in a repository whose tests were not authored.

use crate::evidence;
use crate::package::{Answer, PLAN_PATH, Package, answer, binary, with_arms};
use crate::stub;
use disttest_runtime::verdict::Verdict;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const FILES: [&str; 2] = ["tests/auto/s1.rs", "tests/auto/s2.rs"];

/// A repository under test, and a folder beside it for what the tests of it say.
struct Repository {
    package: Package,
    beside: tempfile::TempDir,
}

impl Repository {
    /// One with the plan and no test.
    fn new() -> Repository {
        Repository::with(|_| ())
    }

    /// One that `change` was made to.
    fn with(change: impl FnOnce(&Package)) -> Repository {
        let package = Package::new();
        stub::declare(&package);
        change(&package);
        package.git(&["init", "-q"]);
        let repository = Repository { package, beside: tempfile::tempdir().unwrap() };
        repository.commit();
        repository
    }

    fn commit(&self) {
        self.package.git(&["add", "-A"]);
        self.package.git(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "start"]);
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.beside.path().join(name)
    }

    /// Tests of this scenario or arm, once filled, find `verdict`.
    fn will_find(&self, id: &str, verdict: Verdict) {
        evidence::of(&self.package, id, verdict).ephemeral().lay(self.beside.path());
    }

    fn harness(&self, file: &str) -> String {
        let path = self.beside("harness").join(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn told(&self, id: &str) -> String {
        fs::read_to_string(self.beside(&format!("{id}.told"))).unwrap_or_default()
    }

    /// `cargo disttest ARGS`, with one folder for what all tests build.
    fn disttest(&self, args: &[&str]) -> Answer {
        self.disttest_with(args, &[("CARGO_TARGET_DIR", &target().display().to_string())])
    }

    fn disttest_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Answer {
        let mut command = binary();
        command.current_dir(self.package.root()).arg("disttest").args(args);
        command.env_remove("CARGO_TARGET_DIR").env("STUB", self.beside.path()).envs(variables.iter().copied());
        answer(command)
    }

    /// The answer of `run --harness DIR --format json ARGS`.
    fn run(&self, args: &[&str], status: i32) -> Value {
        let harness = self.beside("harness").display().to_string();
        let args = [&["run", PLAN_PATH, "--harness", &harness, "--format", "json"], args].concat();
        serde_json::from_str(&self.disttest(&args).expect(status).out).unwrap()
    }

    /// Fills the regions of a file of the harness; `helpers` is put beside them.
    fn fill(&self, file: &str, helpers: &str) {
        let path = self.beside("harness").join(file);
        let mut text = self.harness(file);
        for (region, code) in [
            ("workload", "Workload"),
            ("faults", "Landed"),
            ("oracle", "drop((run, workload, landed));\n    Ok(Judged)"),
        ] {
            let of = |arm: &str| format!("disttest_runtime::todo!(\"{arm}{region}\")");
            assert!(["", "api/"].iter().any(|arm| text.contains(&of(arm))), "{text}");
            text = ["", "api/", "sdk/"].iter().fold(text, |text, arm| text.replace(&of(arm), code));
        }
        let text = text.replace("// disttest:end helpers", &format!("{helpers}\n// disttest:end helpers"));
        fs::write(path, text).unwrap();
    }
}

/// What the tests here build, all of them.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("default-mode")
}

fn row<'a>(json: &'a Value, id: &str) -> &'a Value {
    json["scenarios"].as_array().unwrap().iter().find(|row| row["scenario"] == id).unwrap()
}

fn reason(json: &Value, id: &str) -> String {
    row(json, id)["reason"].as_str().unwrap().to_owned()
}

#[test]
fn a_run_without_tests_leaves_the_repository_as_it_is() {
    let repository = Repository::new();
    let before = repository.package.files();
    let answer = repository.disttest_with(&["run", PLAN_PATH, "--format", "json"], &[]).expect(4);
    let json: Value = serde_json::from_str(&answer.out).unwrap();
    let package = &repository.package;
    assert_eq!(package.git(&["status", "--porcelain", "--ignored"]), "!! test-sessions/\n", "nothing else at all");
    let is_ours = |name: &str| name.starts_with("test-sessions/");
    assert_eq!(package.files().into_iter().filter(|(name, ..)| !is_ours(name)).collect::<Vec<_>>(), before);
    assert!(!package.path("Cargo.lock").exists() && !package.path("target").exists());

    let harness = json["harness"].as_str().unwrap();
    assert_eq!(harness, format!("{}/artifacts/harness", json["session"].as_str().unwrap()));
    let manifest = package.read(&format!("{harness}/Cargo.toml"));
    let root = package.root().canonicalize().unwrap();
    assert!(manifest.contains(&format!("small = {{ path = \"{}\" }}", root.display())), "{manifest}");
    for (id, file) in [("S1", FILES[0]), ("S2", FILES[1])] {
        assert!(package.read(&format!("{harness}/{file}")).contains("disttest_runtime::todo!"));
        assert_eq!((&row(&json, id)["verdict"], &row(&json, id)["harness"]), (&"NOT-RUN".into(), &"ephemeral".into()));
    }
    let report = package.read(json["report"].as_str().unwrap());
    assert!(report.contains("The repository holds no test of S1, S2: run from an ephemeral harness"), "{report}");
    let seal = package.read(&format!("{}/MANIFEST.sha256", json["session"].as_str().unwrap()));
    assert!(seal.contains("artifacts/harness/tests/auto/s1.rs") && !seal.contains("target"), "{seal}");
    assert!(repository.told("S1").is_empty(), "nothing was started, and nothing built");
    assert!(answer.err.contains("no scenario could run: nothing is built"), "{}", answer.err);
    assert!(!answer.err.contains("Compiling"), "{}", answer.err);
    let why = reason(&json, "S1");
    assert!(why.starts_with("regions workload, faults, oracle are not filled (test-sessions/small/"), "{why}");
    let next = json["next"].as_str().unwrap();
    assert!(next.contains("cargo disttest author") && next.contains("--harness test-sessions/small/harness"), "{next}");
}

#[test]
fn what_author_writes_a_second_time_is_nothing_and_a_run_then_uses_it() {
    let repository = Repository::with(|package| package.write(".gitignore", "/target\n"));
    repository.disttest(&["author", PLAN_PATH]).expect(0);
    repository.commit();
    repository.disttest(&["author", PLAN_PATH]).expect(0);
    assert_eq!(repository.package.git(&["status", "--porcelain"]), "");
    repository.package.write(".gitignore", "/target\nCargo.lock\n");
    repository.commit();
    let answer = repository.disttest(&["run", PLAN_PATH, "--format", "json"]).expect(4);
    assert_eq!(repository.package.git(&["status", "--porcelain"]), "");
    let json: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!((&json["harness"], &row(&json, "S1")["harness"]), (&Value::Null, &"repository".into()));
}

#[test]
fn a_filled_package_is_run_again_and_its_tests_move_into_the_repository() {
    let repository = Repository::new();
    let json = repository.run(&[], 4);
    let next = json["next"].as_str().unwrap();
    assert!(next.starts_with("fill region workload (") && next.contains("tests/auto/s1.rs:"), "{next}");
    FILES.iter().for_each(|file| repository.fill(file, "fn mine() {}"));
    repository.will_find("S1", Verdict::PassSmoke);
    repository.will_find("S2", Verdict::PassSmoke);
    let next = repository.run(&[], 0)["next"].as_str().unwrap().to_owned();
    let harness = repository.beside("harness").display().to_string();
    assert_eq!(next, format!("cargo disttest run {PLAN_PATH} --tier hardening --harness {harness}"));
    repository.will_find("S2", Verdict::FailReproducible);
    let json = repository.run(&[], 1);
    assert_eq!(row(&json, "S1")["verdict"], "PASS-smoke");
    assert_eq!(row(&json, "S2")["verdict"], "FAIL-reproducible");
    let session = json["session"].as_str().unwrap();
    let evidence = repository.package.read(&format!("{session}/artifacts/harness/{}", FILES[0]));
    assert!(evidence.contains("fn mine() {}"), "the session holds what was run");
    assert_eq!(repository.package.git(&["status", "--porcelain"]), "");

    repository.disttest(&["author", PLAN_PATH, "--from-harness", &harness]).expect(0);
    for file in FILES {
        let text = repository.package.read(file);
        assert_eq!(text, fs::read_to_string(repository.beside("harness").join(file)).unwrap());
    }
    repository.disttest(&["author", PLAN_PATH, "--check"]).expect(0);
}

#[test]
fn a_test_in_the_repository_is_never_run_from_elsewhere() {
    let repository = Repository::with(|package| {
        crate::run::depend(package);
        crate::run::test(package, "S1", "s1", FILES[0], "reads_never_go_back");
    });
    evidence::of(&repository.package, "S1", Verdict::FailReproducible).lay(repository.beside.path());
    repository.will_find("S2", Verdict::PassSmoke);
    repository.run(&[], 1);
    assert!(!repository.beside("harness").join(FILES[0]).exists());
    repository.fill(FILES[1], "");
    let json = repository.run(&[], 1);
    let of = |id: &str| (row(&json, id)["verdict"].clone(), row(&json, id)["harness"].clone());
    assert_eq!(of("S1"), ("FAIL-reproducible".into(), "repository".into()));
    assert_eq!(of("S2"), ("PASS-smoke".into(), "ephemeral".into()));
    // A file that is there and has no entry is not replaced either.
    let manifest = repository.package.read("Cargo.toml");
    repository.package.write("Cargo.toml", manifest.split("\n[[test]]").next().unwrap());
    let json = repository.run(&[], 4);
    assert!(reason(&json, "S1").contains("no [[test]] entry"), "{json}");
}

#[test]
fn a_record_that_tells_of_another_harness_is_no_answer() {
    let repository = Repository::new();
    repository.run(&["--scenario", "S1"], 4);
    repository.fill(FILES[0], "");
    evidence::of(&repository.package, "S1", Verdict::PassSmoke).lay(repository.beside.path());
    assert!(reason(&repository.run(&["--scenario", "S1"], 4), "S1").contains("stands elsewhere"));
}

#[test]
fn a_system_that_no_longer_builds_is_not_tested_as_it_was_before() {
    let repository = Repository::with(|package| package.write("src/bin/my-node.rs", "fn main() {}\n"));
    repository.run(&["--scenario", "S1"], 4);
    repository.fill(FILES[0], "const _: &str = env!(\"CARGO_BIN_EXE_my-node\");");
    repository.will_find("S1", Verdict::PassSmoke);
    let args = ["--scenario", "S1"];
    assert_eq!(row(&repository.run(&args, 0), "S1")["verdict"], "PASS-smoke");
    for (file, good) in [("src/bin/my-node.rs", "fn main() {}\n"), ("src/lib.rs", "")] {
        repository.package.write(file, "fn main() { nonsense() }\n");
        let json = repository.run(&args, 4);
        let why = reason(&json, "S1");
        assert!(why.contains("(small) does not build: cannot find function `nonsense`"), "{why}");
        assert!(why.contains(&format!("({file}:1)")), "{why}");
        assert_eq!(json["session_verdict"], "BLOCKED");
        repository.package.write(file, good);
    }
    let path = repository.beside("harness").join(FILES[0]);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("Ok(Judged)", "Ok(Nonsense)")).unwrap();
    assert!(reason(&repository.run(&args, 4), "S1").contains("s1.rs does not build"));
    fs::write(&path, text).unwrap();
    repository.run(&args, 0);
}

#[test]
fn a_program_of_the_harness_does_not_stand_in_for_the_one_under_test() {
    let repository = Repository::with(|package| package.write("src/bin/my-node.rs", "fn main() {}\n"));
    repository.run(&["--scenario", "S1"], 4);
    repository.fill(FILES[0], "const _: &str = env!(\"CARGO_BIN_EXE_my-node\");");
    repository.will_find("S1", Verdict::PassSmoke);
    let manifest = repository.beside("harness/Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let with = |name: &str| fs::write(&manifest, format!("{text}\n[[bin]]\nname = \"{name}\"\npath = \"own.rs\"\n"));
    fs::write(repository.beside("harness/own.rs"), "fn main() {}\n").unwrap();
    with("my-client").unwrap();
    repository.run(&["--scenario", "S1"], 0);
    with("my-node").unwrap();
    let why = reason(&repository.run(&["--scenario", "S1"], 4), "S1");
    assert!(why.contains("has a program `my-node` of its own"), "{why}");
}

#[test]
fn a_package_of_another_plan_or_of_an_earlier_text_does_not_speak_for_this_one() {
    let repository = Repository::new();
    repository.run(&[], 4);
    FILES.iter().for_each(|file| repository.fill(file, ""));
    repository.will_find("S1", Verdict::PassSmoke);
    repository.will_find("S2", Verdict::PassSmoke);
    let harness = repository.beside("harness").display().to_string();
    let plan = repository.package.read(PLAN_PATH);
    repository.package.write("docs/testing-plans/other.md", &plan);
    let other = ["run", "docs/testing-plans/other.md", "--harness", &harness];
    let answer = repository.disttest(&other).expect(4);
    assert!(answer.out.contains("is the ephemeral package of another plan"), "{}", answer.out);

    repository.package.edit(PLAN_PATH, "16 clients", "160 clients");
    let before = fs::read_to_string(repository.beside("harness").join(FILES[0])).unwrap();
    let args = ["run", PLAN_PATH, "--harness", &harness];
    let told = "was filled for what the plan said of S1 before";
    assert!(repository.disttest(&args).err.contains(told));
    let now = || fs::read_to_string(repository.beside("harness").join(FILES[0])).unwrap();
    assert_eq!(now(), before, "the digest in it is that of what it was filled for");
    let answer = repository.disttest(&[&args[..], &["--refresh-harness"]].concat());
    assert!(answer.err.contains("Does it still do what the plan says?"), "{}", answer.err);
    assert!(now() != before && now().contains("160 clients") && now().contains("Ok(Judged)"));
}

#[test]
fn what_was_filled_for_an_earlier_text_of_the_plan_moves_into_the_repository_as_that() {
    let repository = Repository::new();
    repository.run(&["--scenario", "S1"], 4);
    repository.fill(FILES[0], "");
    let filled = fs::read_to_string(repository.beside("harness").join(FILES[0])).unwrap();
    repository.package.edit(PLAN_PATH, "16 clients", "160 clients");
    let harness = repository.beside("harness").display().to_string();
    let target = target().display().to_string();
    let variables = [("DIST_TEST_AUTHOR_MODE", "1"), ("CARGO_TARGET_DIR", &target)];
    for (args, status) in [
        (["author", PLAN_PATH, "--scenario", "S1", "--from-harness", &harness], 0),
        (["run", PLAN_PATH, "--scenario", "S1", "--harness", &harness], 4),
    ] {
        repository.disttest_with(&args, &variables).expect(status);
        assert_eq!(repository.package.read(FILES[0]), filled, "{args:?}: its digest is that of what it was filled for");
        let answer = repository.disttest(&["author", PLAN_PATH, "--scenario", "S1", "--check"]).expect(1);
        assert!(answer.out.contains("160 clients"), "{}", answer.out);
        fs::remove_file(repository.package.path(FILES[0])).unwrap();
    }
}

#[test]
fn every_kind_of_package_can_be_under_test() {
    let node = "const _: &str = env!(\"CARGO_BIN_EXE_my-node\");";
    let check = |change: &dyn Fn(&Package), file: &str, helpers: &str, args: &[&str]| {
        let repository = Repository::with(change);
        let args = [args, &["--scenario", "S1"]].concat();
        repository.run(&args, 4);
        repository.fill(file, helpers);
        repository.will_find("S1", Verdict::PassSmoke);
        let json = repository.run(&args, 0);
        assert_eq!(row(&json, "S1")["harness"], "ephemeral");
        assert_eq!(repository.package.git(&["status", "--porcelain"]), "");
    };
    let binary_only = |package: &Package| {
        fs::remove_file(package.path("src/lib.rs")).unwrap();
        package.write("src/bin/my-node.rs", "fn main() {}\n");
        package.edit("Cargo.toml", "edition = \"2024\"", "edition = \"2018\"");
    };
    check(&binary_only, FILES[0], node, &[]);
    let with_dashes_and_features = |package: &Package| {
        package.edit("Cargo.toml", "name = \"small\"", "name = \"small-store\"");
        package.edit("Cargo.toml", "edition = \"2024\"", "edition = \"2021\"");
        let manifest = package.read("Cargo.toml");
        package.write("Cargo.toml", &format!("{manifest}\n[features]\ndefault = [\"on\"]\non = []\n"));
        package.write("src/lib.rs", "#[cfg(feature = \"on\")]\npub fn on() {}\n");
    };
    check(&with_dashes_and_features, FILES[0], "use small_store::on as _;", &[]);
    let without_target = |package: &Package| package.edit(PLAN_PATH, "- **Target test file:** tests/auto/s1.rs\n", "");
    check(&without_target, "tests/untargeted/S1_reads_never_go_back.rs", "use small as _;", &[]);
    check(&members, "b/tests/auto/s1.rs", "use helper as _;\nuse b_store as _;", &["-p", "b-store"]);
}

#[test]
fn arms_without_a_target_are_run_from_one_file_of_the_ephemeral_package() {
    const FILE: &str = "tests/untargeted/S1_reads_never_go_back.rs";
    let skeleton = "- **Skeleton:**\n  ```rust\n  const PLANNED: u8 = 16;\n\n  #[test]\n  fn reads() {\n      // 1. Workload\n      \
                    let planned = PLANNED;\n      // 2. Faults\n      // 3. Oracle\n  }\n  ```\n";
    let repository = Repository::with(|package| {
        let plan = with_arms();
        let target = |name: &str| format!("- **Target test file:** tests/auto/{name}.rs\n");
        let plan = plan.replace(&target("s1"), "").replace(&target("s1_sdk"), "").replace(&target("s1_api"), skeleton);
        package.write(PLAN_PATH, &plan);
    });
    let json = repository.run(&["--scenario", "S1"], 4);
    for arm in row(&json, "S1")["arms"].as_array().unwrap() {
        assert_eq!((&arm["verdict"], &arm["harness"]), (&"NOT-RUN".into(), &"ephemeral".into()), "{json:#}");
    }
    let text = repository.harness(FILE);
    assert!(text.contains(
        "    let planned = PLANNED;\n    let workload: Workload = disttest_runtime::todo!(\"api/workload\");"
    ));
    assert_eq!(text.matches("const PLANNED: u8 = 16;").count(), 1);
    repository.fill(FILE, "");
    for arm in ["S1/api", "S1/sdk"] {
        repository.will_find(arm, Verdict::PassSmoke);
    }
    let json = repository.run(&["--scenario", "S1"], 0);
    assert_eq!(
        (&row(&json, "S1")["verdict"], &row(&json, "S1")["harness"]),
        (&"PASS-smoke".into(), &"ephemeral".into())
    );
    assert!(repository.told("S1__sdk").contains("of /"), "it was started");
    let git = repository.package.git(&["status", "--porcelain"]);
    assert!(git.lines().all(|line| line.ends_with("test-sessions/")), "{git}");

    // A target for them all, and what was filled moves there; a scenario whose arms are only listed has no test at all.
    repository.package.edit(
        PLAN_PATH,
        "- **Technique:** jepsen-and-elle\n",
        "- **Technique:** jepsen-and-elle\n- **Target test file:** tests/auto/s1.rs\n",
    );
    let harness = repository.beside("harness").display().to_string();
    repository.disttest(&["author", PLAN_PATH, "--scenario", "S1", "--from-harness", &harness]).expect(0);
    let moved = repository.package.read(FILES[0]);
    assert!(moved.contains("let planned = PLANNED;\n    let workload: Workload = Workload;"), "{moved}");
}

#[test]
fn arms_that_are_only_listed_are_not_run_as_one_scenario() {
    let repository = Repository::with(|package| {
        package.edit(PLAN_PATH, "- **Target test file:** tests/auto/s1.rs\n", "");
        let listed =
            "#### §7.M.S — Surface decomposition\n- **Surfaces:** api, sdk\n- **Scenario arms:** S1/api, S1/sdk\n\n";
        package.edit(PLAN_PATH, "### Scenario S2", &format!("{listed}### Scenario S2"));
    });
    let json = repository.run(&["--scenario", "S1"], 4);
    let arms = row(&json, "S1")["arms"].as_array().unwrap();
    assert!(arms.iter().all(|arm| arm["reason"].as_str().unwrap().contains("has no block")), "{json:#}");
    assert!(repository.told("S1").is_empty());
}

/// Makes a virtual workspace of `package`, with the plan at its root.
fn members(package: &Package) {
    fs::remove_dir_all(package.path("src")).unwrap();
    let manifest = package.read("Cargo.toml");
    let (_, workspace) = manifest.split_once("[workspace]\n").unwrap();
    package.write("Cargo.toml", &format!("[workspace]\nmembers = [\"a\", \"b\", \"helper\"]\nresolver = \"2\"\n{workspace}helper = {{ path = \"helper\" }}\n"));
    for (folder, name, more) in
        [("a", "a", ""), ("b", "b-store", "[dev-dependencies]\nhelper.workspace = true\n"), ("helper", "helper", "")]
    {
        let text = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}");
        package.write(&format!("{folder}/Cargo.toml"), &text);
        package.write(&format!("{folder}/src/lib.rs"), "");
    }
}

#[test]
fn a_plan_of_no_package_asks_which_one_is_meant() {
    let repository = Repository::with(|package| {
        members(package);
        package.edit(PLAN_PATH, "- **Target test file:** tests/auto/s1.rs\n", "");
    });
    let why = reason(&repository.run(&["--scenario", "S1"], 4), "S1");
    assert!(why.contains("-p names the one under test"), "{why}");
}

#[test]
fn no_plan_writes_outside_of_the_session() {
    for target in ["../evil.rs", "/tmp/evil.rs", "src/lib.rs", "tests/../../evil.rs", ".cargo/evil.rs"] {
        let repository = Repository::with(|package| {
            package.edit(PLAN_PATH, "tests/auto/s1.rs", target);
            package.edit(PLAN_PATH, "# Test Plan: small", "# Test Plan: ../../small");
        });
        let before = repository.package.files();
        let json = repository.run(&["--scenario", "S1"], 4);
        assert!(reason(&json, "S1").contains("refused"), "{json}");
        let after = repository.package.files();
        assert!(after.iter().all(|file| before.contains(file) || file.0.starts_with("test-sessions/")), "{after:?}");
    }
}

#[test]
fn in_author_mode_the_tests_are_written_to_their_places() {
    let repository = Repository::new();
    let target = target().display().to_string();
    let variables = [("DIST_TEST_AUTHOR_MODE", "1"), ("CARGO_TARGET_DIR", &target)];
    let answer = repository.disttest_with(&["run", PLAN_PATH, "--format", "json"], &variables).expect(4);
    let json: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!((&json["harness"], &row(&json, "S2")["harness"]), (&Value::Null, &"repository".into()));
    assert!(FILES.iter().all(|file| repository.package.path(file).is_file()));
}

#[test]
fn without_cargo_a_run_says_what_it_cannot_do() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("plan.md"), crate::package::PLAN).unwrap();
    fs::write(folder.path().join("go.mod"), "module x\n").unwrap();
    let run = |plan: &str| {
        let mut command = binary();
        command.current_dir(folder.path()).args(["disttest", "run", plan]);
        answer(command)
    };
    let said = run("plan.md").expect(4);
    assert!(said.err.contains("not in a cargo workspace") && said.err.contains("--manifest-path"), "{}", said.err);
    run("none.md").expect(2);
}

#[test]
fn a_package_that_changes_while_it_is_built_is_not_run() {
    let repository = Repository::with(|package| package.write("build.rs", "fn main() {}\n"));
    repository.run(&["--scenario", "S1"], 4);
    repository.fill(FILES[0], "");
    repository.will_find("S1", Verdict::PassSmoke);
    // Runs after the sources went into the session, and before the tests are compiled.
    let path = repository.beside("harness").join(FILES[0]);
    let build = format!(
        "fn main() {{ let path = {path:?}; let text = std::fs::read_to_string(path).unwrap(); std::fs::write(path, text + \"// x\").unwrap(); }}"
    );
    repository.package.write("build.rs", &build);
    let json = repository.run(&["--scenario", "S1"], 4);
    assert!(reason(&json, "S1").contains("was changed while it was built"), "{json}");
}

#[test]
fn evidence_of_a_session_is_run_from_a_copy_and_stays_as_it_is() {
    let repository = Repository::new();
    repository.run(&["--scenario", "S1"], 4);
    repository.fill(FILES[0], "");
    repository.will_find("S1", Verdict::PassSmoke);
    let first = repository.run(&["--scenario", "S1"], 0);
    let evidence = format!("{}/artifacts/harness", first["session"].as_str().unwrap());
    let before = repository.package.files();
    let args = ["run", PLAN_PATH, "--scenario", "S1", "--harness", &evidence, "--format", "json"];
    let again: Value = serde_json::from_str(&repository.disttest(&args).expect(0).out).unwrap();
    assert_ne!(again["session"], first["session"]);
    assert_eq!(again["harness"], format!("{}/artifacts/harness", again["session"].as_str().unwrap()));
    let after = repository.package.files();
    assert!(before.iter().all(|file| after.contains(file)));
}
