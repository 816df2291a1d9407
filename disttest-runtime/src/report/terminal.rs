//! One line a scenario for a terminal. No colours: the printer adds them.

use super::escape;
use crate::verdict::ScenarioRecord;

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

fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
