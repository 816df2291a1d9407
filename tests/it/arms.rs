//! A scenario with three arms from end to end: authored, filled, run on real processes, broken in each way that an arm
//! can be.

use crate::tree::{Answer, Run, Tree, session_root};
use disttest_tests::workspace;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

const PLAN: &str = "docs/testing-plans/arms.md";
const FILE: &str = "tests/auto/S5_tenants_stay_apart.rs";
const ARMS: [&str; 3] = ["api", "sdk", "admin"];

/// The package of `trees/arms`, and what is done to it.
struct Package {
    tree: Tree,
}

impl Package {
    fn path(&self, name: &str) -> PathBuf {
        self.tree.root().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file of the package is readable")
    }

    fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{name} has no {from:?}:\n{text}");
        fs::write(self.path(name), text.replacen(from, to, 1)).expect("a file of the package can be written");
    }

    fn disttest(&self, args: &str) -> Run {
        Run::disttest(self.tree.root(), args)
    }

    /// What a person writes into the three regions of an arm.
    fn fill(&self, arm: &str) {
        for (region, code) in [
            ("workload", format!("let workload: Workload = started(&run, \"{arm}\").await?;")),
            ("faults", "let landed: Landed = workload.faults().none(\"it is about access\").await;".to_owned()),
            ("oracle", oracle(arm)),
        ] {
            let bound = match region {
                "workload" => "let workload: Workload = ",
                "faults" => "let landed: Landed = ",
                _ => "",
            };
            let end = if region == "oracle" { "" } else { ";" };
            self.edit(
                FILE,
                &format!("    {bound}disttest_runtime::todo!(\"{arm}/{region}\"){end}\n"),
                &format!("    {code}\n"),
            );
        }
    }

    /// `run` of the plan: its table, and the same as JSON.
    fn run(&self, args: &str, env: &[(&str, &str)], status: i32) -> (Value, Answer, String) {
        let root = session_root();
        let sessions = root.path().display().to_string();
        let run = self.disttest(&format!("run {PLAN} --session-root {sessions} --format json {args}"));
        let answer = env.iter().fold(run, |run, (name, value)| run.env(name, value)).expect(status);
        let json: Value = serde_json::from_str(&answer.out).expect("the answer is JSON");
        let report = json["report"].as_str().map(|path| self.read(path)).expect("there is a report");
        (json, answer, report)
    }
}

fn oracle(arm: &str) -> String {
    format!(
        "let history = workload.stop(|client: Client| read_once(client, \"{arm}\")).await?;\n    \
         run.oracle(history).check(Linearizability::per_key(Register::new())).judge(landed)"
    )
}

/// The verdicts of the arms and of the scenario, in the answer and in the report.
#[track_caller]
fn check(
    package: &Package,
    args: &str,
    env: &[(&str, &str)],
    status: i32,
    arms: [&str; 3],
    whole: &str,
    session: &str,
) {
    let (json, answer, report) = package.run(args, env, status);
    let scenario = &json["scenarios"][0];
    let told: Vec<&str> =
        scenario["arms"].as_array().expect("arms").iter().map(|a| a["verdict"].as_str().expect("a verdict")).collect();
    assert_eq!(told, arms, "{json:#}\n{}", answer.err);
    assert_eq!((&scenario["scenario"], &scenario["verdict"]), (&"S5".into(), &whole.into()), "{json:#}");
    assert_eq!(json["session_verdict"], session, "{json:#}");
    for (arm, verdict) in ARMS.iter().zip(arms) {
        assert!(
            report.contains(&format!("| S5/{arm} | tenants_stay_apart | {verdict} |")),
            "{arm} {verdict}:\n{report}"
        );
    }
    assert!(report.contains(&format!("| S5 | tenants_stay_apart | {whole} | joined from its arms |")), "{report}");
    assert!(report.contains(&format!("**{session}** — ")), "{report}");
    let missing = arms.iter().any(|verdict| !verdict.starts_with("PASS") && !verdict.starts_with("FAIL"));
    assert_eq!(report.contains("All planned surfaces were executed."), !missing, "{report}");
    assert_eq!(report.contains("**Missing surfaces this run did not cover:**"), missing, "{report}");
}

/// Each arm tries its negative control on processes; one that does not is named.
#[track_caller]
fn negative_controls(package: &Package) {
    let (_, _, report) = package.run("", &[("TENANTS_UNCONTROLLED", "sdk")], 0);
    let item = |text: &str| report.matches(text).count();
    assert_eq!(item("[x] 13. Positive control only — 1 trials of 1 negative controls held in 1 runs"), 2, "{report}");
    let missing = "[ ] 13. Positive control only — not checked: the negative control \"a tenant reads the other one's value of \
                   the same key\" never ran in ";
    assert_eq!(item(missing), 1, "{report}");
    let (_, _, report) = package.run("--scenario S5/sdk --sut-arg --leak=sdk", &[], 1);
    assert!(report.contains("denied-access-granted on secret violates C1, C2"), "{report}");
}

#[test]
fn a_scenario_passes_when_all_of_its_arms_do_and_not_otherwise() {
    const PASS: &str = "PASS-smoke";
    let package = Package { tree: Tree::new("arms") };
    package.disttest(&format!("author {PLAN}")).expect(0);
    check(&package, "", &[], 4, ["NOT-RUN"; 3], "NOT-RUN", "BLOCKED");

    let helpers = fs::read_to_string(workspace().join("tests/trees/arms/helpers.rs.txt")).expect("the helpers");
    package.edit(FILE, "// disttest:end helpers\n", &format!("{helpers}// disttest:end helpers\n"));
    ARMS.iter().for_each(|arm| package.fill(arm));
    package.disttest(&format!("author {PLAN} --check")).expect(0);
    check(&package, "", &[], 0, [PASS; 3], PASS, "DONE");
    negative_controls(&package);
    // One arm is broken, one lacks its environment, two were not asked for.
    let failed = ["PASS-smoke", "FAIL-reproducible", "PASS-smoke"];
    check(&package, "--sut-arg --leak=sdk", &[], 1, failed, "FAIL-reproducible", "FAIL");
    let without = [PASS, PASS, "INCONCLUSIVE-env"];
    check(&package, "", &[("TENANTS_WITHOUT", "admin")], 3, without, "PARTIAL-surface", "INCONCLUSIVE");
    let alone = [PASS, "NOT-RUN", "NOT-RUN"];
    check(&package, "--scenario S5/api", &[], 3, alone, "PARTIAL-surface", "INCONCLUSIVE");
    let root = session_root();
    let text = package.disttest(&format!("run {PLAN} --session-root {} --scenario S5/api", root.path().display()));
    text.expect(3).says(&[
        "  S5/api    tenants_stay_apart  PASS-smoke",
        "not asked for (--scenario S5/api)",
        "  S5        tenants_stay_apart  PARTIAL-surface",
        "capped by S5/sdk NOT-RUN, S5/admin NOT-RUN",
    ]);

    // Each arm is a test of its own for whoever runs tests.
    let answer = package.tree.cargo("test -- --list").expect(0);
    let names = ARMS.map(|arm| format!("tenants_stay_apart__{arm}: test"));
    names.iter().for_each(|name| assert!(answer.out.lines().any(|line| line == name), "{name}: {}", answer.out));
    assert!(!answer.err.contains("warning"), "{}", answer.err);
    let answer = package.tree.cargo("test -- --exact tenants_stay_apart__sdk").sessions(&root);
    answer
        .env("DISTTEST_SUT_ARGS", "--leak=sdk")
        .expect(101)
        .notes(&["cargo test -p arms -- --exact tenants_stay_apart__sdk"]);

    // One arm is not filled.
    package.edit(FILE, &oracle("sdk"), "disttest_runtime::todo!(\"sdk/oracle\")");
    check(&package, "", &[], 3, [PASS, "NOT-RUN", PASS], "PARTIAL-surface", "INCONCLUSIVE");
    package.edit(FILE, "disttest_runtime::todo!(\"sdk/oracle\")", &oracle("sdk"));

    // An arm leaves the plan: what it says is in the way, and while its function is there nothing passes.
    let before = package.read(FILE);
    let plan = package.read(PLAN);
    let (rest, _) = plan.split_once("#### Arm S5/admin").expect("it is the last one");
    fs::write(package.path(PLAN), rest.replace(", S5/admin", "")).expect("the plan can be written");
    package
        .disttest(&format!("author {PLAN}"))
        .expect(1)
        .notes(&["what was written into admin/workload, admin/faults"]);
    assert_eq!(package.read(FILE), before);
    let (json, _, report) = package.run("", &[], 3);
    let stray = &json["scenarios"][0]["arms"][2];
    assert_eq!((&stray["scenario"], &stray["verdict"]), (&"S5/admin".into(), &"NOT-RUN".into()), "{json:#}");
    assert!(
        stray["reason"].as_str().expect("a reason").starts_with("the plan has no S5/admin to be tested"),
        "{json:#}"
    );
    assert_eq!(json["scenarios"][0]["verdict"], "PARTIAL-surface");
    assert!(report.contains("| S5/admin | admin console | no | no | NOT-RUN |"), "{report}");

    // An arm comes: the others keep what they have, to the byte.
    fs::write(
        package.path(PLAN),
        plan.replace("S5/admin", "S5/admin, S5/export").replacen(
            "#### Arm S5/admin, S5/export",
            "#### Arm S5/admin",
            1,
        ) + "\n#### Arm S5/export: exports\n- **Oracle:** `linearizability` per key\n",
    )
    .expect("the plan can be written");
    package.disttest(&format!("author {PLAN}")).expect(0).notes(&["export/workload", "attribute"]);
    let after = package.read(FILE);
    let bodies = before.split("// disttest:begin ").skip(1).map(|region| region.split_once('\n').expect("lines").1);
    for body in bodies.map(|region| region.split("// disttest:end ").next().unwrap_or_default()) {
        assert!(after.contains(body), "{body} is gone:\n{after}");
    }
    let (json, ..) = package.run("", &[], 3);
    assert_eq!(json["scenarios"][0]["arms"].as_array().map(Vec::len), Some(4), "{json:#}");
    assert_eq!(json["scenarios"][0]["verdict"], "PARTIAL-surface");
}
