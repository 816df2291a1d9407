//! Mistakes that would leave scenarios out of a run that looks green.

use crate::tree::{Tree, session_root};

fn check(args: &str, status: i32, out: &[&str], err: &[&str]) {
    let root = session_root();
    let answer = Tree::new("guards").cargo(&format!("test {args}")).sessions(&root).expect(status);
    answer.says(out).notes(err);
}

#[test]
fn a_target_without_harness_false_does_not_compile_and_the_message_says_what_to_write() {
    check("--test standard", 101, &[], &["could not compile `guards` (test \"standard\")", "needs `harness = false`"]);
}

#[test]
fn a_scenario_under_the_standard_harness_fails_as_a_test_of_its_own() {
    let expect =
        ["test never_run_needs_the_disttest_harness ... FAILED", "set `harness = false`", "disttest_runtime::main!();"];
    check("--test standard_without_main", 101, &expect, &[]);
}

#[test]
fn a_binary_without_any_scenario_fails_instead_of_passing_with_0_tests() {
    for args in ["", "--list", "--list --format terse", "no_such_scenario"] {
        check(&format!("--test empty -- {args}"), 101, &[], &["no scenario is registered", "`use x as _;`"]);
    }
}

#[test]
fn a_crate_of_scenarios_takes_part_once_it_is_named() {
    check("--test linked -- --list", 0, &["in_a_crate: test\n"], &[]);
}

#[test]
fn two_tests_for_one_scenario_are_refused_before_either_runs() {
    check("--test two_of_one", 101, &[], &["two scenarios have the id S1", "tests/two_of_one.rs:"]);
}

#[test]
fn one_scenario_in_two_binaries_is_no_retry() {
    let told = "two tests of this session stand for S1: in_a_crate (package guards, target linked) and in_a_crate (package \
                guards, target linked_again)";
    check("--no-fail-fast --test linked --test linked_again", 101, &["in_a_crate ... ignored", "FAILED"], &[told]);
}
