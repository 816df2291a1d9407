//! The labels of the format, with the spellings that count as them.

/// A label as the format spells it, and lower-case aliases.
pub(super) struct Label {
    /// The format's spelling.
    pub(super) name: &'static str,
    aliases: &'static [&'static str],
}

/// A set of labels that belong together.
pub(super) type Labels = &'static [Label];

const fn label(name: &'static str, aliases: &'static [&'static str]) -> Label {
    Label { name, aliases }
}

/// Header lines (format §1.1).
pub(super) const HEADER: Labels = &[
    label("Date", &[]),
    label("Plan mode", &["mode"]),
    label("SUT", &["system under test"]),
    label("Change under test", &[]),
    label("Plan author", &["author"]),
    label("Status", &[]),
];

/// §2 (format §1.4).
pub(super) const SUT_MODEL: Labels = &[
    label("Tenancy / isolation", &["tenancy/isolation", "tenancy"]),
    label("Persistence", &[]),
    label("Replication / consensus", &["replication/consensus", "replication"]),
    label("Ordering", &[]),
    label("Network boundaries", &["network"]),
    label("Retry / idempotency contract", &["retry/idempotency contract", "retry / idempotency"]),
    label("Observability", &[]),
];

/// Under a hypothesis (format §1.5).
pub(super) const HYPOTHESIS: Labels = &[
    label("Could falsify", &["falsifies", "could falsify claims"]),
    label("Suspected because", &["suspected"]),
    label("Subsystem", &["subsystems"]),
];

/// §6 (format §1.6).
pub(super) const TECHNIQUE: Labels = &[
    label("Hypotheses it addresses", &["hypotheses addressed", "addresses"]),
    label("What it would catch that other techniques miss", &["what it catches", "what it would catch"]),
    label("Reference", &["references"]),
    label("Cost / wall-clock estimate", &["cost", "cost / wall-clock", "wall-clock estimate"]),
];

/// A scenario (format §2).
pub(super) const SCENARIO: Labels = &[
    label(FALSIFIES, &["falsifies", "falsifies if fails", "falsifies claims"]),
    label(CLOSES, &["closes hypotheses"]),
    label("Technique", &["techniques"]),
    label("Workload", &[]),
    label(FAULTS, &["fault schedule"]),
    label(ORACLE, &["oracles"]),
    label("Observability required", &["observability"]),
    label(SMOKE, &["smoke"]),
    label(HARDENING, &["hardening"]),
    label(RELEASE, &["release"]),
    label(EXIT_CRITERIA, &["exit criterion"]),
    label(TARGET, &["target", "target test", "test file"]),
    label(LANGUAGE, &["language"]),
    label(SKELETON, &[]),
];

/// §7.M (format §3).
pub(super) const MODEL_BLOCK: Labels = &[
    label("Model under test", &["model"]),
    label("Operation history", &["history"]),
    label("Checker", &["checkers"]),
    label("Nemesis + landing evidence", &["nemesis", "nemesis + landing", "nemesis and landing evidence"]),
    label("Ambiguous outcomes", &["ambiguous", "ambiguous outcome"]),
    label("Reduction plan", &["reduction"]),
];

/// The labels of §7.M in the format's own spelling, by which a block without its heading is recognised.
pub(super) const MODEL_BLOCK_EXACT: Labels = &[
    label("Model under test", &[]),
    label("Operation history", &[]),
    label("Checker", &[]),
    label("Nemesis + landing evidence", &[]),
    label("Ambiguous outcomes", &[]),
    label("Reduction plan", &[]),
];

/// §7.M.S (format §4).
pub(super) const SURFACES: Labels = &[
    label("Surfaces", &["surface"]),
    label("Operations", &[]),
    label("Adversarial inputs", &["confusable identifiers"]),
    label("Positive controls", &["positive control"]),
    label("Negative controls", &["negative control"]),
    label("Delayed / async paths", &["delayed/async paths", "delayed paths", "async paths", "background paths"]),
    label("Observability paths", &["observability path"]),
    label("Scenario arms", &["arms"]),
];

/// Falsified claims.
pub const FALSIFIES: &str = "Falsifies if it FAILs";
/// Closed hypotheses.
pub const CLOSES: &str = "Closes";
/// Fault schedule.
pub const FAULTS: &str = "Faults";
/// Oracle.
pub const ORACLE: &str = "Oracle";
/// Smoke tier.
pub const SMOKE: &str = "Smoke budget";
/// Hardening tier.
pub const HARDENING: &str = "Hardening budget";
/// Release tier.
pub const RELEASE: &str = "Release budget";
/// The legacy field that the three budgets replaced.
pub const EXIT_CRITERIA: &str = "Exit criteria";
/// Path of the generated test.
pub const TARGET: &str = "Target test file";
/// Language of the skeleton.
pub const LANGUAGE: &str = "Skeleton language";
/// The fenced skeleton.
pub const SKELETON: &str = "Skeleton";
/// Our label for prose of a scenario that stands under no label.
pub const NOTES: &str = "Notes";

/// The label of `set` that `text` spells, whatever its case, emphasis, spacing or final colon.
pub(super) fn find(set: &[Label], text: &str) -> Option<&'static str> {
    let plain = normal(text);
    set.iter().find(|l| l.name.eq_ignore_ascii_case(&plain) || l.aliases.contains(&plain.as_str())).map(|l| l.name)
}

/// Like [`find`], for the format's own spelling only (letter case and emphasis aside).
pub(super) fn find_exact(set: &[Label], text: &str) -> Option<&'static str> {
    let plain = normal(text);
    set.iter().find(|l| l.name.eq_ignore_ascii_case(&plain)).map(|l| l.name)
}

fn normal(text: &str) -> String {
    let bare = text.replace(['*', '`'], "").to_lowercase();
    bare.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches([':', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found_whatever_their_case_and_spacing() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(find(SCENARIO, text), expect, "{text}");
        check("Falsifies if it FAILs", Some(FALSIFIES));
        check("falsifies  if it fails :", Some(FALSIFIES));
        check("SMOKE BUDGET", Some(SMOKE));
        check("Background", None);
        assert_eq!(find(MODEL_BLOCK, "Nemesis"), Some("Nemesis + landing evidence"));
        assert_eq!(find_exact(MODEL_BLOCK, "Nemesis"), None);
    }
}
