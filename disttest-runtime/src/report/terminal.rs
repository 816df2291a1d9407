//! One line a scenario for a terminal. No colours: the printer adds them.

use super::escape;
use crate::verdict::{Harness, ScenarioRecord};
use std::path::Path;

/// `S1 linearizable_register  PASS-hardening  tier hardening  <reason>`. Control characters in the reason are shown,
/// not sent to the terminal.
pub fn line(record: &ScenarioRecord) -> String {
    let tier = record.tier_met.map_or("—", |tier| tier.as_str());
    let declared = &record.declared;
    let name = printable(&declared.name);
    format!("{} {name}  {}  tier {tier}  {}", printable(&declared.id), record.verdict, reason(record))
}

/// The reason alone: claim and anomaly of a FAIL, the decisive step of anything else. One line.
pub fn reason(record: &ScenarioRecord) -> String {
    printable(&record.why.headline())
}

/// The command that runs the first violating seed of `record` again; `None` without a violation.
pub fn reproducer(record: &ScenarioRecord) -> Option<String> {
    let facts = super::case::facts(record);
    let seen = facts.violations.first()?;
    Some(command(record, seen.seed))
}

/// The command that runs one seed of a scenario again with what it was given.
pub(super) fn command(record: &ScenarioRecord, seed: u64) -> String {
    if let Some(command) = ephemeral_command(record, seed) {
        return command;
    }
    let mut parts = vec![format!("DISTTEST_SEED={seed}"), format!("DISTTEST_TIER={}", record.tier)];
    let run = record.runs.iter().map(|(_, run)| run).find(|run| run.request.seed == seed);
    let sut_args = run.map_or(&[][..], |run| run.request.sut_args.as_slice());
    if !sut_args.is_empty() {
        parts.push(format!("DISTTEST_SUT_ARGS={}", escape::shell(&sut_args.join(" "))));
    }
    let package = match record.declared.package.as_str() {
        "" => String::new(),
        package => format!(" -p {}", escape::shell(package)),
    };
    parts.push(format!("cargo test{package} {} -- --exact", escape::shell(&record.declared.test)));
    parts.join(" ")
}

/// The same for a test that the repository does not hold: it is run from the package that the session holds.
pub(crate) fn ephemeral_command(record: &ScenarioRecord, seed: u64) -> Option<String> {
    if record.harness == Harness::Repository {
        return None;
    }
    let run = record.runs.iter().map(|(_, run)| run).find(|run| run.request.seed == seed)?;
    // The folder of a run is `<session>/artifacts/<scenario>/<run>`.
    let artifacts = Path::new(&run.request.run_dir).ancestors().nth(2)?;
    let quoted = |text: &str| escape::shell(text);
    let (plan, id, tier) = (quoted(&record.declared.plan), quoted(&record.declared.id), record.tier);
    let args: String = run.request.sut_args.iter().map(|arg| format!(" --sut-arg={}", quoted(arg))).collect();
    let harness = artifacts.join("harness").display().to_string();
    let harness = quoted(&harness);
    Some(format!("cargo disttest run {plan} --scenario {id} --tier {tier} --seed {seed}{args} --harness {harness}"))
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
