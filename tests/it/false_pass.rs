//! Forty ways in which test harnesses were seen to say PASS when they should not have, and the tests that show that this
//! one does not. A name that no test has any more fails here.

use Shown::{ByType, Later, Tests};
use disttest_tests::{rust_files, workspace};
use std::collections::BTreeSet;
use std::fs;

/// What keeps a kind of false PASS away.
enum Shown {
    /// Tests, by name, and rows of tables, as `table/row`.
    Tests(&'static [&'static str]),
    /// No program can express it, for this reason.
    ByType(&'static str),
    /// What it is about is not built yet; the reason says what it waits for.
    Later(&'static str),
}

/// Tables that rows are named of.
const TABLES: [(&str, &str); 3] = [
    ("sabotage", "tests/sabotage/table.rs"),
    ("landing", "disttest-runtime/src/fault/tests.rs"),
    ("verdict", "disttest-runtime/src/verdict/mutations.rs"),
];

#[rustfmt::skip]
const KINDS: [(u8, &str, Shown); 40] = [
    // The fault never acted.
    (1, "what delivers the fault was never installed", Tests(&["sabotage/partition-not-applied", "twins_that_do_nothing_do_not_land", "a_rule_with_nothing_to_act_on_counts_nothing", "twins_that_do_nothing_do_not_land_in_namespaces"])),
    (2, "an injection failed, and the test went on", Tests(&["sabotage/injection-fails", "sabotage/injection-error-swallowed", "an_injection_error_is_a_fact_and_the_oracle_still_judges", "declared_signals_without_namespaces_are_a_missing_environment_and_no_weaker_fault"])),
    (3, "the nemesis was declared and did nothing", Tests(&["a_hook_whose_acts_do_nothing_is_caught", "sabotage/fault-never-injected", "sabotage/faults-none", "sabotage/another-fault-than-planned", "verdict/one nemesis never acted in one seed"])),
    (4, "a network fault where no traffic passes", Tests(&["a_trace_on_the_victims_side_lands_only_when_it_moves_with_the_fault", "verdict/the victim did not move", "landing/one side only: no victim sampled"])),
    (5, "a rule that matches nothing", Tests(&["landing/nothing was dropped (rule matched nothing)", "a_rule_about_a_link_that_does_not_exist_is_an_error", "a_rule_too_weak_to_act_counts_nothing", "a_rule_on_a_wrong_address_does_not_land"])),
    (6, "a script that fails in an unchecked step", Tests(&["a_node_that_is_traced_already_is_an_injection_that_failed", "what_the_machine_lacks_is_a_precondition_that_failed_with_what_to_install", "an_injection_error_is_a_fact_and_the_oracle_still_judges", "a_program_that_fails_is_an_error_with_its_words", "rules_that_a_script_did_not_make_are_missed", "what_a_packet_filter_cannot_do_is_an_error_and_changes_nothing"])),
    (7, "a clock library that changes no clock", Tests(&["a_clock_that_nobody_bent_does_not_land", "the_clock_of_a_dynamic_program_is_bent_and_straightened", "the_clock_of_a_static_program_is_bent_and_straightened"])),
    (8, "a fault whose dose was zero", Tests(&["nemeses_that_would_do_nothing_are_errors", "a_fault_on_nobody_or_on_itself_is_an_error", "a_power_loss_takes_nothing_from_who_syncs_and_does_not_land", "a_failpoint_that_no_code_passes_does_not_land", "landing/a counter that never grows", "sabotage/healed-at-once"])),
    (9, "the system talks past the proxy", Tests(&["sabotage/proxy-bypassed", "sabotage/clients-ask-nobody", "landing/the proxy's traffic was not read", "landing/traffic on another link"])),
    (10, "the victim was back at once", Tests(&["landing/healed too soon: a blip at the start", "a_nemesis_that_acts_once_may_be_followed_by_a_recovery_inside_the_window"])),
    (11, "another fault than planned: a blackhole that ends by closing", Tests(&["a_cut_withholds_the_end_of_a_stream_until_it_heals", "a_cut_withholds_resets_and_refusals_too", "a_cut_drops_and_counts_and_its_heal_takes_and_nobody_else_suffers", "healing_resets_connections_that_lost_bytes_and_keeps_the_others", "verdict/another fault than planned", "sabotage/partition-in-part", "landing/one link of the cut was left open"])),
    (12, "a one-way fault that acts both ways", Tests(&["a_data_cut_swallows_one_direction_and_delivers_the_other", "one_direction_of_packets_stops_both_and_one_direction_of_data_does_not", "a_cut_is_read_one_way_and_a_partition_both_ways", "verdict/only two-way cuts"])),
    (13, "one failover in the whole run", Tests(&["verdict/a single failover"])),
    (14, "a process state that was not looked at", Tests(&["a_stopped_process_shows_t_in_every_task_and_a_sleeping_one_does_not", "a_killed_process_ends_by_signal_9_and_is_no_longer_signalled", "a_process_that_took_over_the_id_is_not_touched"])),
    // The oracle could not fail.
    (15, "agreement among those that answered", Tests(&["sabotage/not-healed", "what_was_not_read_at_quiescence_is_unknown", "landing/no probe succeeded"])),
    (16, "recovery declared on one good sample", Tests(&["a_counter_quiet_only_after_more_than_ten_seconds_has_not_recovered", "landing/it goes on after the heal", "landing/a gap right after the heal"])),
    (17, "interrupted operations left out of the history", Tests(&["sabotage/call-dropped", "sabotage/call-forgotten", "every_ending_is_recorded_as_what_is_known_of_the_effect", "a_task_that_panics_leaves_an_operation_of_unknown_outcome"])),
    (18, "a log scan that skipped files", Tests(&["every_captured_log_is_scanned_whole_and_one_that_cannot_be_read_is_no_clean_log", "lines_beyond_the_limit_are_counted_not_dropped", "sabotage/panic-in-a-task"])),
    (19, "a negative control that fails for the wrong reason", Tests(&["verdict/a boundary arm without negative controls", "verdict/a negative control without its twin", "a_control_that_lacks_anything_does_not_hold", "a_control_that_is_only_said_to_be_denied_shows_nothing"])),
    (20, "an undecided checker read as valid", Tests(&["sabotage/checker-undecided", "sabotage/checker-panics", "no_exception_misuse_or_exhausted_limit_is_valid", "a_search_that_is_stopped_is_unknown", "nothing_to_judge_is_unknown_never_valid"])),
    (21, "a checker that checks another property", Tests(&["sabotage/checker-accepts-everything", "sabotage/checker-of-another-model", "the_fast_checker_agrees_with_the_slow_one_on_registers", "our_checkers_reject_damage_to_ordinary_histories"])),
    (22, "landing evidence made up", Tests(&["sabotage/probe-reads-a-constant", "sabotage/victim-noisy-before-the-fault", "verdict/the signal is not a declared one"])),
    (23, "an error turned into a value", Tests(&["sabotage/probe-always-errs", "sabotage/probe-errs-under-the-fault", "a_gap_is_kept_as_a_gap", "a_log_that_cannot_be_read_is_a_gap"])),
    (24, "only the final state was looked at", Tests(&["a_stale_read_is_explained_by_three_operations", "every_recorded_operation_is_consumed", "sabotage/checker-consumes-fewer"])),
    (25, "nobody read from the victim", Tests(&["sabotage/no-client-at-the-victim", "landing/read at a bystander"])),
    (26, "consistency read while the fault still acts", ByType("`Landed` comes from `Faults`, which borrows the workload; `Workload::stop` consumes it and heals before the final reads")),
    (27, "a property that holds because nothing happened", Tests(&["sabotage/checker-makes-no-check", "sabotage/reads-only", "sabotage/every-write-writes-the-same", "verdict/nothing was acknowledged"])),
    (28, "a model checker that stopped early and printed success", Later("model checking; history checkers: kind 20")),
    (29, "a pipeline that ran no tool", Later("engines outside of this process; here every answer carries its own evidence: kind 27")),
    // The run was not what it claimed.
    (30, "a small run labelled as a large one", Tests(&["sabotage/one-window-of-the-budget", "sabotage/clients-return-early", "the_weakest_seed_decides_the_effort", "verdict/one seed thrice", "verdict/two seeds"])),
    (31, "not tried, and labelled as missing environment", Tests(&["sabotage/fault-never-injected", "a_scenario_that_was_not_attempted_says_why", "verdict/the test panicked before its baseline"])),
    (32, "a second, unseeded generator", Later("running twice and comparing, with the simulator; streams of a seed: `named_streams_of_one_seed_differ`")),
    (33, "the standard harness ran in place of ours", Tests(&["an_entry_with_the_standard_harness_is_corrected", "a_test_that_leaves_no_record_did_not_run"])),
    (34, "nothing was linked, or nothing selected", Tests(&["nothing_that_ran_nothing_leaves_a_pass", "nothing_registered_and_two_of_a_kind_are_errors", "a_scenario_passes_when_all_of_its_arms_do_and_not_otherwise", "every_set_of_up_to_three_arms_comes_to_the_verdict_of_the_format", "a_run_is_never_0_unless_every_scenario_is_ok"])),
    (35, "skipped at run time, shown as passed", Tests(&["a_scenario_that_is_not_filled_is_never_reported_as_run", "an_unfilled_scenario_is_ignored_only_where_nobody_asked_for_it", "a_test_is_ok_only_with_the_strongest_verdict_and_the_tier_asked_for"])),
    (36, "a retry that hides a violation", Tests(&["a_session_that_is_used_again_keeps_what_was_found_and_gives_no_pass_to_a_later_death", "a_violation_of_an_earlier_attempt_stands_and_nothing_else_is_taken_over", "verdict/a violation in an earlier attempt", "one_scenario_in_two_binaries_is_no_retry"])),
    (37, "a failure of the harness taken for a result", Tests(&["sabotage/panic", "sabotage/panic-in-a-client", "sabotage/error-after-the-judgement", "sabotage/process-exits-with-0", "sabotage/exits-with-0-after-the-judgement", "sabotage/hangs"])),
    (38, "the plan changed and the test did not, or the reverse", Tests(&["every_sabotaged_run_comes_to_its_verdict", "a_weaker_attribute_is_told_field_by_field", "an_edit_moves_the_digest_of_exactly_the_scenarios_it_concerns", "verdict/the plan's scenario changed", "an_arm_that_the_plan_does_not_have_is_told_and_keeps_its_scenario_from_passing"])),
    (39, "results that nobody can find on disk", Tests(&["every_alteration_is_named_and_made_consistent_again_told_by_the_expected_hash", "sabotage/history-edited", "sabotage/history-removed", "sabotage/folder-moved-away", "no_record_a_torn_one_and_one_of_another_run_are_deaths", "a_pass_with_something_against_it_concludes_nothing"])),
    (40, "an approval that nobody gave", Later("approvals, which belong to the workflow of specifications")),
];

#[test]
fn each_kind_of_false_pass_names_its_tests_and_they_exist() {
    let (tests, mut missing) = (names_of_tests(), Vec::new());
    for (index, (number, kind, shown)) in KINDS.iter().enumerate() {
        assert_eq!(usize::from(*number), index + 1, "{kind}");
        let names = match shown {
            Tests(names) => *names,
            ByType(reason) | Later(reason) => {
                assert!(!reason.is_empty(), "{kind}");
                continue;
            }
        };
        assert!(!names.is_empty(), "{kind}");
        let unknown = names.iter().filter(|name| !exists(name, &tests));
        missing.extend(unknown.map(|name| format!("{number} ({kind}): {name}")));
    }
    assert!(missing.is_empty(), "no such test or row:\n{}", missing.join("\n"));
}

#[test]
fn a_test_that_does_not_exist_is_noticed() {
    let tests = names_of_tests();
    for name in ["a_test_that_nobody_wrote", "sabotage/nothing-like-it", "names_of_tests", "sabotage/every row"] {
        assert!(!exists(name, &tests), "{name}");
    }
}

fn exists(name: &str, tests: &BTreeSet<String>) -> bool {
    let Some((table, row)) = name.split_once('/') else { return tests.contains(name) };
    let path = TABLES.iter().find(|(known, _)| *known == table).expect("a known table").1;
    let text = fs::read_to_string(workspace().join(path)).expect("a table is readable");
    text.contains(&format!("\"{row}\","))
}

/// Names of the functions under `#[test]` or `#[tokio::test]` in the whole workspace.
fn names_of_tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for root in ["disttest-runtime", "disttest-macros", "cargo-disttest", "tests"] {
        for file in rust_files(&workspace().join(root)) {
            let text = fs::read_to_string(file).expect("a source file is readable");
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            for (at, _) in lines
                .iter()
                .enumerate()
                .filter(|(_, line)| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
            {
                // Other attributes may stand between.
                let function = lines[at + 1..].iter().find(|line| !line.starts_with("#["));
                let name = function.and_then(|line| line.split_once("fn ")).and_then(|(_, rest)| rest.split_once('('));
                names.extend(name.map(|(name, _)| name.to_owned()));
            }
        }
    }
    names
}
