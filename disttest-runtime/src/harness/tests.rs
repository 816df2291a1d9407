//! What a command line makes of registered scenarios: the catalogue, the selection and the lists.

use super::argv::CommandLine;
use super::catalog::{Binary, Entry, build};
use super::select::{list, select};
use super::{DeclaredBudget, DeclaredBudgets, DeclaredLanding, DeclaredRelease, Registration, UnfilledRegion};
use crate::plan::{Category, Release};
use crate::verdict::{DeclaredFault, Scope};

const SMOKE: DeclaredBudget = DeclaredBudget { nodes: 3, seconds: 6, faults: 1, seeds: 1, operations: 0 };

fn registration(id: &'static str, module: &'static str, function: &'static str) -> Registration {
    Registration {
        id,
        function,
        module,
        file: "tests/store.rs",
        line: 10,
        manifest_dir: "/nowhere",
        package: "store",
        plan: "docs/plan.md",
        scenario_sha256: "",
        plan_sha256: "",
        falsifies: &[("C1", &["safety", "strange"])],
        model: Some("register"),
        checkers: &[("linearizability", true)],
        nemeses: &["hard-kill"],
        no_fault: None,
        landing: DeclaredLanding { injector: &["process-exit"], victim: &["client-timeouts"] },
        budgets: Some(DeclaredBudgets {
            smoke: SMOKE,
            hardening: DeclaredBudget { seeds: 3, ..SMOKE },
            release: DeclaredRelease::NotProvided("not provided — cost. Revisit when: 1.0."),
        }),
        surface: None,
        negative_controls: &[],
        unfilled: &[],
        shares_nothing: false,
        body: |_run| Box::pin(async { anyhow::bail!("no test runs it") }),
    }
}

fn region(name: &'static str, module: &'static str, file: &'static str, line: u32) -> UnfilledRegion {
    UnfilledRegion { name, module, file, line }
}

fn catalogue(registrations: Vec<Registration>, regions: Vec<UnfilledRegion>) -> Result<Vec<Entry>, String> {
    // Registrations are constants of a binary; here they live as long as the test process.
    let registrations: &'static [Registration] = Vec::leak(registrations);
    let regions: &'static [UnfilledRegion] = Vec::leak(regions);
    build(Binary { package: "store", target: "s1" }, registrations.iter(), regions.iter())
}

/// A filled scenario, an unfilled one, and one whose helper is unfilled.
fn three() -> Vec<Entry> {
    let mut unfilled = registration("S2", "store::inner", "second");
    unfilled.unfilled = &[("oracle", 40)];
    let mut helped = registration("S3", "store::helped", "third");
    helped.file = "tests/helped.rs";
    let regions = vec![
        region("oracle", "store::inner", "tests/store.rs", 40),
        region("workload", "store::helped::steps", "tests/steps.rs", 5),
    ];
    catalogue(vec![unfilled, registration("S1", "store", "first"), helped], regions).expect("a catalogue")
}

#[test]
fn names_are_module_paths_without_the_crate_sorted() {
    let names: Vec<String> = three().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["first", "helped::third", "inner::second"]);
}

#[test]
fn an_unfilled_region_blocks_its_scenario_and_one_in_a_helper_blocks_those_it_helps() {
    let unfilled: Vec<Vec<String>> = three().into_iter().map(|entry| entry.unfilled).collect();
    assert_eq!(unfilled[0], [""; 0], "a region of another scenario of the same file does not block this one");
    assert_eq!(unfilled[1], ["region `workload` (tests/steps.rs:5)"]);
    assert_eq!(unfilled[2], ["region `oracle` (tests/store.rs:40)"]);
    let beside = vec![region("faults", "elsewhere", "tests/store.rs", 90)];
    let entries = catalogue(vec![registration("S1", "store", "first")], beside).expect("a catalogue");
    assert_eq!(entries[0].unfilled.len(), 1, "one outside of scenarios blocks its file");
}

#[test]
fn nothing_registered_and_two_of_a_kind_are_errors() {
    let check = |registrations, expect: &str| {
        let error = catalogue(registrations, Vec::new()).expect_err(expect);
        assert!(error.contains(expect), "{error}");
    };
    check(vec![], "no scenario is registered");
    check(vec![registration("S1", "a", "x"), registration("S2", "b", "x")], "name `x`");
    check(vec![registration("S1", "a", "x"), registration("S1", "a", "y")], "id S1 of docs/plan.md");
    check(
        vec![registration("S5/api", "a", "x__api"), registration("S5/api", "b", "y__api")],
        "id S5/api of docs/plan.md",
    );
    let mut other_plan = registration("S1", "a", "y");
    other_plan.plan = "docs/other.md";
    assert!(catalogue(vec![registration("S1", "a", "x"), other_plan], Vec::new()).is_ok());
}

#[test]
fn what_the_attribute_declared_is_carried_over_and_unknown_words_gate() {
    let mut arm = registration("S5/api", "store", "no_leak__api");
    arm.no_fault = Some("ignored beside a nemesis");
    (arm.surface, arm.negative_controls) = (Some("public API"), &["tenant B reads A"]);
    let entry = catalogue(vec![arm], Vec::new()).expect("a catalogue").remove(0);
    let declared = entry.declared;
    assert_eq!((declared.name.as_str(), declared.test.as_str()), ("no_leak", "no_leak__api"));
    assert_eq!((declared.package.as_str(), declared.target.as_str()), ("store", "s1"));
    assert_eq!(
        (declared.surface.as_deref(), declared.negative_controls.join("")),
        (Some("public API"), "tenant B reads A".to_owned())
    );
    assert_eq!(declared.falsifies, [("C1".to_owned(), vec![Category::Safety, Category::Safety])]);
    assert_eq!(declared.checkers, [("linearizability".to_owned(), Scope::PerKey)]);
    assert!(matches!(declared.fault, DeclaredFault::Planned { .. }));
    let release = declared.budgets.expect("budgets").release;
    assert_eq!(release, Release::NotProvided { reason: "cost".into(), revisit: "1.0".into() });
}

fn line(text: &str) -> CommandLine {
    CommandLine::parse(text.split_whitespace().map(str::to_owned))
}

#[test]
fn the_list_holds_list_lines_only() {
    let check = |args: &str, strict, expect: &str| assert_eq!(list(&three(), &line(args), strict), expect, "{args}");
    let all = "first: test\nhelped::third: test\ninner::second: test\n";
    check("--list", false, all);
    check("--list --format terse", false, all);
    check("--list --include-ignored", false, all);
    check("--list --format terse --ignored", false, "helped::third: test\ninner::second: test\n");
    // Strict: an unfilled scenario is run, to fail with NOT-RUN, so it is not listed as ignored.
    check("--list --format terse --ignored", true, "");
    check("--list --exact first", false, "first: test\n");
    check("--list ir thi", false, "first: test\nhelped::third: test\n");
    check("--list --skip inner", false, "first: test\nhelped::third: test\n");
    check("--list --bench", false, "");
    check("--list nothing", false, "");
}

#[test]
fn the_json_list_is_libtests() {
    let text = list(&three(), &line("--list --format json -Z unstable-options"), false);
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    assert_eq!(lines[0]["event"], "discovery");
    assert_eq!((&lines[1]["name"], &lines[1]["ignore"]), (&"first".into(), &false.into()));
    assert_eq!(lines[2]["ignore_message"], "not filled: region `workload` (tests/steps.rs:5)");
    assert_eq!((&lines[4]["total"], &lines[4]["ignored"]), (&3.into(), &2.into()));
}

#[test]
fn an_unfilled_scenario_is_ignored_only_where_nobody_asked_for_it() {
    let check = |args: &str, strict, run: &[&str], ignored: &[&str]| {
        let entries = three();
        let (selected, left_out) = select(&entries, &line(args), strict);
        let names = |wanted: bool| -> Vec<&str> {
            selected.iter().filter(|s| s.ignored.is_some() == wanted).map(|s| s.entry.name.as_str()).collect()
        };
        assert_eq!((names(false), names(true)), (run.to_vec(), ignored.to_vec()), "{args}");
        assert_eq!(left_out, 3 - run.len() - ignored.len());
    };
    check("", false, &["first"], &["helped::third", "inner::second"]);
    check("", true, &["first", "helped::third", "inner::second"], &[]);
    check("--include-ignored", false, &["first", "helped::third", "inner::second"], &[]);
    check("--ignored", false, &["helped::third", "inner::second"], &[]);
    check("--exact inner::second", false, &[], &["inner::second"]);
    check("--exact inner::second --nocapture --include-ignored", false, &["inner::second"], &[]);
}
