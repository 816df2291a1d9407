//! Answers for people: what was found, of how much, why, and what it does not exclude.

use super::Settings;
use super::answer::{Checked, Judged, One};
use crate::console::visible;
use anstyle::{AnsiColor, Style};
use disttest_runtime::checker::{Outcome, Violation};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Violations that are shown, at most.
const SHOWN: usize = 5;

/// Fields that are told as missing, at most.
const LACKS: usize = 3;
/// Longest reason, in characters.
const LONGEST: usize = 600;

const BOLD: Style = Style::new().bold();
const VALID: Style = AnsiColor::Green.on_default().bold();
const INVALID: Style = AnsiColor::Red.on_default().bold();
const UNKNOWN: Style = AnsiColor::Yellow.on_default().bold();

/// The page of a file; what cannot be read is an error, and told elsewhere.
pub(crate) fn page(file: &str, judged: &Judged, settings: &Settings) -> String {
    match judged {
        Judged::Unreadable(_) => String::new(),
        Judged::Undecided(undecided) => {
            format!("{UNKNOWN}unknown{UNKNOWN:#} {}\n  {}\n", visible(file), visible(&undecided.why))
        }
        Judged::Read(checked) => checked.answers.iter().map(|one| answer(file, checked, one, settings)).collect(),
    }
}

fn answer(file: &str, checked: &Checked, one: &One, settings: &Settings) -> String {
    let (mut out, evidence) = (String::new(), &one.answer.evidence);
    let style = match one.answer.outcome {
        Outcome::Valid => VALID,
        Outcome::Invalid { .. } => INVALID,
        Outcome::Unknown { .. } => UNKNOWN,
    };
    let mut line = |text: std::fmt::Arguments<'_>| {
        // Writing to a text cannot fail.
        let _ = writeln!(out, "{text}");
    };
    line(format_args!(
        "{style}{}{style:#} {BOLD}{}{BOLD:#}: {} of {}, {}",
        one.word(),
        visible(file),
        one.answer.checker,
        settings.model.name,
        one.scope.words(),
    ));
    let counts = checked.counts;
    line(format_args!(
        "  {} operations ({} acknowledged, {} failed, {} of unknown outcome), {} consumed on {}, {:.1?} after {:.1?} of reading",
        checked.imported.len(),
        counts.acknowledged,
        counts.failed,
        counts.unknown,
        evidence.consumed,
        plural(evidence.partitions, "object"),
        one.elapsed,
        checked.read_in,
    ));
    if checked.imported.skipped > 0 {
        let skipped = checked.imported.skipped as u64;
        line(format_args!("  {} of no client skipped", plural(skipped, "event")));
    }
    for warning in &one.warnings {
        line(format_args!("  {UNKNOWN}warning{UNKNOWN:#}: {warning}"));
    }
    for note in &checked.imported.assumed {
        line(format_args!("  note: {}", visible(note)));
    }
    match &one.answer.outcome {
        Outcome::Valid => {}
        Outcome::Unknown { why } => line(format_args!("  why: {}", short(why))),
        Outcome::Invalid { violations } => {
            if violations.len() > 1 {
                line(format_args!("  {}", visible(&summary(violations))));
            }
            let shown = of_each_kind(violations, SHOWN);
            for violation in &shown {
                line(format_args!("\n  {BOLD}{}{BOLD:#}", visible(&violation.anomaly)));
                line(format_args!("{}", told(violation, checked)));
            }
            if violations.len() > shown.len() {
                line(format_args!("\n  … and {} more (--format json has all)", violations.len() - shown.len()));
            }
            if !one.not.is_empty() {
                line(format_args!("\n  not {}{}", one.not.join(", "), neither(&one.also_not)));
            }
        }
    }
    // What does not fit is the reason itself, when it is unknown for that.
    let told = |missing: &&String| !matches!(&one.answer.outcome, Outcome::Unknown { why } if why.contains(*missing));
    let missing: Vec<&String> = one.missing.iter().filter(told).collect();
    for what in missing.iter().take(LACKS) {
        line(format_args!("  lacks: {}", short(what)));
    }
    if missing.len() > LACKS {
        line(format_args!("  lacks: … and {} more (--format json has all)", missing.len() - LACKS));
    }
    if one.answer.outcome == Outcome::Valid {
        line(format_args!("  a valid answer does not exclude:"));
        for what in &one.answer.cannot_detect {
            line(format_args!("  - {}", visible(what)));
        }
    }
    out
}

/// As much of `text` as people read.
fn short(text: &str) -> String {
    let text = visible(text);
    if text.chars().count() <= LONGEST {
        return text;
    }
    format!("{} … (--format json has all)", text.chars().take(LONGEST).collect::<String>())
}

/// The argument, and where its operations stand.
fn told(violation: &Violation, checked: &Checked) -> String {
    let mut out: Vec<String> = visible(&violation.explanation).lines().map(|line| format!("    {line}")).collect();
    let place = |id: &u64| checked.imported.line(*id).map(|line| format!("#{id} line {line}"));
    let places: Vec<String> = violation.ops.iter().take(20).filter_map(place).collect();
    if !places.is_empty() {
        let more = if violation.ops.len() > 20 { ", …" } else { "" };
        out.push(format!("    in the file: {}{more}", places.join(", ")));
    }
    out.join("\n")
}

/// What follows from what was ruled out.
pub(super) fn neither(also_not: &[&str]) -> String {
    if also_not.is_empty() { String::new() } else { format!("; so neither {}", also_not.join(", ")) }
}

/// Up to `most` violations: the first of each kind, and then what comes next; in the order in which they were found.
pub(super) fn of_each_kind(violations: &[Violation], most: usize) -> Vec<&Violation> {
    let mut kinds = BTreeSet::new();
    let (firsts, others): (Vec<_>, Vec<_>) =
        violations.iter().enumerate().partition(|(_, violation)| kinds.insert(&violation.anomaly));
    let mut chosen: Vec<_> = firsts.into_iter().chain(others).take(most).collect();
    chosen.sort_by_key(|(at, _)| *at);
    chosen.into_iter().map(|(_, violation)| violation).collect()
}

/// How many there are of each kind, in the order in which they were found.
pub(super) fn summary(violations: &[Violation]) -> String {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for violation in violations {
        match kinds.iter_mut().find(|(kind, _)| *kind == violation.anomaly) {
            Some((_, count)) => *count += 1,
            None => kinds.push((&violation.anomaly, 1)),
        }
    }
    let one =
        |(kind, count): &(&str, usize)| if *count == 1 { (*kind).to_owned() } else { format!("{kind} ({count})") };
    format!("{} violations: {}", violations.len(), kinds.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn plural(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_violation_is_told_before_more_of_one() {
        let of = |kind: &&str| Violation {
            anomaly: (*kind).to_owned(),
            key: None,
            ops: Vec::new(),
            explanation: String::new(),
        };
        let violations: Vec<Violation> = ["a", "a", "a", "b", "a", "c"].iter().map(of).collect();
        let told = |most| of_each_kind(&violations, most).iter().map(|v| v.anomaly.as_str()).collect::<String>();
        assert_eq!((told(2), told(3), told(4), told(9)), ("ab".into(), "abc".into(), "aabc".into(), "aaabac".into()));
        assert_eq!(summary(&violations), "6 violations: a (4), b, c");
    }
}
