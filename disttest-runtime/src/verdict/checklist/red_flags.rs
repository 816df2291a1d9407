//! Red flags 1 to 10: signs of a test that never really ran (format.md §8).

use super::super::effort::{counted, shortfalls_text};
use super::{AuditItem, Found, Inputs, item};
use crate::plan::{Category, Tier};

type Check = fn(&Inputs<'_>) -> Found;

/// Title and check of each, in order.
const FLAGS: [(&str, Check); 10] = [
    ("Workload generated its load throughout", load),
    ("Oracle ran every intended cycle", oracle_ran),
    ("Faults injected, evidence from the injector and a victim", evidence_of_both_sides),
    ("No fault silently did nothing", no_silent_no_op),
    ("Clock skew masked no timing assertion", clock),
    ("Run duration met the budget tier claimed", duration),
    ("No error silently suppressed", suppressed_errors),
    ("Recovery completed, not degraded", recovery),
    ("Baseline comparison fair", baseline),
    ("One PASS is not PASS: replicated if statistical", replicated),
];

pub(super) fn evaluate(inputs: &Inputs<'_>) -> Vec<AuditItem> {
    let flag = |(i, (title, check)): (usize, &(&str, Check))| {
        let found = if inputs.runs.is_empty() { Found::unchecked("nothing ran") } else { check(inputs) };
        item(i + 1, title, found)
    };
    FLAGS.iter().enumerate().map(flag).collect()
}

fn load(inputs: &Inputs<'_>) -> Found {
    let idle = inputs.runs.iter().filter(|run| run.operations.acknowledged == 0).count();
    let (all, acked) = (inputs.oracle.operations, inputs.oracle.acknowledged);
    let seconds: u64 = inputs.runs.iter().map(|run| run.workload.as_duration().as_secs()).sum();
    let evidence = format!("{all} operations, {acked} acknowledged, in {seconds} s of workload; idle runs: {idle}");
    Found::check(idle == 0, evidence)
}

fn oracle_ran(inputs: &Inputs<'_>) -> Found {
    let answers: usize = inputs.runs.iter().map(|run| run.answers.len()).sum();
    let silent = inputs.runs.iter().filter(|run| run.answers.iter().all(|a| a.evidence.fired == 0)).count();
    let (fired, consumed) = (inputs.oracle.fired, inputs.oracle.consumed);
    let evidence =
        format!("{answers} answers, {fired} checks over {consumed} operations; runs without a check: {silent}");
    Found::check(silent == 0 && inputs.oracle.did_not_run.is_empty(), evidence)
}

fn evidence_of_both_sides(inputs: &Inputs<'_>) -> Found {
    if !inputs.declared.fault.is_planned() && inputs.landing.not_proven.is_empty() {
        return Found::not_applicable("no fault is planned");
    }
    let landing = inputs.landing;
    let counted = format!("{} of {} windows moved a declared signal on both sides", landing.landed, landing.windows);
    match landing.not_proven.first() {
        None => Found::check(true, counted),
        Some(why) => Found::check(false, format!("{counted}; {why}")),
    }
}

/// A window that did nothing is up for all to see and counts for no budget, so it is not silent.
fn no_silent_no_op(inputs: &Inputs<'_>) -> Found {
    if !inputs.declared.fault.is_planned() && inputs.landing.not_proven.is_empty() {
        return Found::not_applicable("no fault is planned");
    }
    let evidence = match inputs.landing.not_counted.as_slice() {
        [] => "every window landed".to_owned(),
        some => format!("disclosed and not counted: {}", some.join("; ")),
    };
    Found::check(inputs.landing.not_proven.is_empty(), evidence)
}

fn clock(_: &Inputs<'_>) -> Found {
    Found::check(true, "operations, samples and windows are stamped by one monotonic clock of the run")
}

fn duration(inputs: &Inputs<'_>) -> Found {
    let effort = inputs.effort;
    let seconds = effort.measured.seconds;
    if !effort.has_budgets {
        return Found::unchecked("the plan has no budget tiers to compare with");
    }
    let tier = effort.met.map_or("—", Tier::as_str);
    let evidence = match effort.below_smoke.as_slice() {
        [] => format!("{seconds} s in the shortest seed; tier met: {tier}"),
        short => format!("below the smoke budget: {}", shortfalls_text(short)),
    };
    Found::check(effort.below_smoke.is_empty(), evidence)
}

fn suppressed_errors(inputs: &Inputs<'_>) -> Found {
    let (mut files, mut bytes, mut lines, mut expected) = (0_u64, 0_u64, Vec::new(), Vec::new());
    for run in inputs.runs {
        let Some(scan) = &run.log_scan else {
            return Found::unchecked("the captured logs were not scanned; read them for panics and errors");
        };
        files = files.saturating_add(scan.files);
        bytes = bytes.saturating_add(scan.bytes);
        lines.extend(scan.suspicious.iter().cloned());
        expected.extend(scan.expected.iter().cloned());
    }
    if files == 0 {
        return Found::unchecked("no log was captured");
    }
    let mut read = format!("{files} logs, {bytes} bytes read");
    if !expected.is_empty() {
        read.push_str(&format!("; attested by the test: {}", expected.join("; ")));
    }
    match lines.first() {
        None => Found::check(true, format!("{read}, no panic")),
        Some(line) => Found::check(false, format!("{read}, {} suspicious lines, first: {line}", lines.len())),
    }
}

fn recovery(inputs: &Inputs<'_>) -> Found {
    let landing = inputs.landing;
    if landing.windows == 0 {
        return Found::not_applicable("no fault was injected");
    }
    match landing.not_recovered.first() {
        None => Found::check(true, format!("the system recovered after each of {} windows", landing.windows)),
        Some(why) => {
            let count = landing.not_recovered.len();
            Found::check(false, format!("{count} of {} windows without recovery: {why}", landing.windows))
        }
    }
}

fn baseline(inputs: &Inputs<'_>) -> Found {
    if inputs.landing.windows == 0 {
        return Found::not_applicable("nothing is compared with a baseline");
    }
    Found::check(true, "each window is compared with its own baseline in the same run, by the same probes")
}

fn replicated(inputs: &Inputs<'_>) -> Found {
    let statistical = [Category::PerformanceSlo, Category::Fairness];
    let is_statistical = |(_, categories): &(String, Vec<Category>)| categories.iter().any(|c| statistical.contains(c));
    let seeds = inputs.effort.measured.seeds;
    let runs = counted(inputs.declared, inputs.runs).len();
    if !inputs.declared.falsifies.iter().any(is_statistical) {
        return Found::not_applicable(format!("no statistical claim is falsified ({seeds} seeds, {runs} judged runs)"));
    }
    Found::check(seeds >= 3, format!("{seeds} seeds"))
}
