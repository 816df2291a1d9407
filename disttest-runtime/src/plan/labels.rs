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
    label("Plan mode", &["mode", "plan scope"]),
    label("SUT", &["system under test"]),
    label("Change under test", &[]),
    label("Plan author", &["author"]),
    label("Status", &[]),
];

/// §2 (format §1.4).
pub(super) const SUT_MODEL: Labels = &[
    label("Tenancy / isolation", &["tenancy/isolation", "tenancy", "isolation", "tenancy and isolation"]),
    label("Persistence", &[]),
    label(
        "Replication / consensus",
        &["replication/consensus", "replication", "consensus", "replication and consensus", "replication or consensus"],
    ),
    label("Ordering", &[]),
    label("Network boundaries", &["network", "network boundary", "boundaries"]),
    label(
        "Retry / idempotency contract",
        &["retry/idempotency contract", "retry / idempotency", "retry/idempotency", "retry and idempotency", "retries"],
    ),
    label("Observability", &[]),
];

/// Under a hypothesis (format §1.5).
pub(super) const HYPOTHESIS: Labels = &[
    label("Could falsify", &["falsifies", "could falsify claims", "could falsify claim", "claims"]),
    label("Suspected because", &["suspected", "why suspected", "suspicion"]),
    label("Subsystem", &["subsystems"]),
];

/// §6 (format §1.6).
pub(super) const TECHNIQUE: Labels = &[
    label(
        "Hypotheses it addresses",
        &["hypotheses addressed", "addresses", "hypotheses", "hypothesis addressed", "addresses hypotheses"],
    ),
    label(
        "What it would catch that other techniques miss",
        &[
            "what it catches",
            "what it would catch",
            "what it catches that other techniques miss",
            "what it catches that the others miss",
            "what it catches that others miss",
            "what it would catch that others miss",
            "catches",
        ],
    ),
    label("Reference", &["references", "reference file"]),
    label(
        "Cost / wall-clock estimate",
        &[
            "cost",
            "cost / wall-clock",
            "cost/wall-clock",
            "cost/wall-clock estimate",
            "cost estimate",
            "wall-clock estimate",
            "wall-clock",
        ],
    ),
];

/// A scenario (format §2).
pub(super) const SCENARIO: Labels = &[
    label(FALSIFIES, &["falsifies", "falsifies if fails", "falsifies claims", "falsifies if failed"]),
    label(CLOSES, &["closes hypotheses", "closes hypothesis", "closes rows"]),
    label("Technique", &["techniques"]),
    label("Workload", &[]),
    label(FAULTS, &["fault schedule", "fault", "fault injection"]),
    label(ORACLE, &["oracles"]),
    label("Observability required", &["observability", "required observability"]),
    label(SMOKE, &["smoke", "smoke tier"]),
    label(HARDENING, &["hardening", "hardening tier"]),
    label(RELEASE, &["release", "release tier", "release gate"]),
    label(EXIT_CRITERIA, &["exit criterion"]),
    label(TARGET, &["target", "target test", "test file", "target file", "target test files"]),
    label(LANGUAGE, &["language"]),
    label(SKELETON, &["test skeleton"]),
];

/// §7.M (format §3).
pub(super) const MODEL_BLOCK: Labels = &[
    label("Model under test", &["model"]),
    label("Operation history", &["history", "operations history", "history schema"]),
    label("Checker", &["checkers"]),
    label(
        "Nemesis + landing evidence",
        &[
            "nemesis",
            "nemesis + landing",
            "nemesis and landing",
            "nemesis & landing",
            "nemesis/landing",
            "nemesis / landing",
            "nemesis and landing evidence",
            "nemesis & landing evidence",
            "nemesis / landing evidence",
            "nemesis/landing evidence",
            "nemesis plus landing evidence",
            "fault plus landing evidence",
            "fault + landing evidence",
        ],
    ),
    label("Ambiguous outcomes", &["ambiguous", "ambiguous outcome", "ambiguity"]),
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
    label("Operations", &["operation", "operations per surface"]),
    label("Adversarial inputs", &["adversarial input", "confusable identifiers", "confusables"]),
    label("Positive controls", &["positive control"]),
    label("Negative controls", &["negative control"]),
    label(
        "Delayed / async paths",
        &[
            "delayed/async paths",
            "delayed / asynchronous paths",
            "delayed and asynchronous paths",
            "delayed and async paths",
            "delayed paths",
            "async paths",
            "background paths",
        ],
    ),
    label("Observability paths", &["observability path"]),
    label("Scenario arms", &["arms", "arm"]),
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

/// The label of `set` that `text` spells, whatever its case, emphasis, spacing, final colon or stop, or a remark in
/// parentheses behind it.
pub(super) fn find(set: Labels, text: &str) -> Option<&'static str> {
    find_in(&[set], text)
}

/// The label of the first of `sets` that has one which `text` spells.
pub(super) fn find_in(sets: &[Labels], text: &str) -> Option<&'static str> {
    if let Some(label) = sets.iter().copied().flatten().find(|l| l.name == text) {
        return Some(label.name);
    }
    let plain = normal(text)?;
    let spells = |l: &&Label, plain: &str| l.name.eq_ignore_ascii_case(plain) || l.aliases.contains(&plain);
    let hit = |plain: &str| sets.iter().find_map(|set| set.iter().find(|l| spells(l, plain))).map(|l| l.name);
    hit(&plain).or_else(|| hit(plain.strip_suffix(')')?.rsplit_once('(')?.0.trim_end_matches([' ', ':'])))
}

/// True for a label of `set` in the format's own spelling, which every label that was known when it was read has.
pub(super) fn is_in(set: Labels, label: &str) -> bool {
    set.iter().any(|l| l.name == label)
}

/// True for a label of the format in its own spelling, whoever it belongs to.
pub(super) fn is_any(label: &str) -> bool {
    [HEADER, SUT_MODEL, HYPOTHESIS, TECHNIQUE, SCENARIO, MODEL_BLOCK, SURFACES].iter().any(|set| is_in(set, label))
}

/// `text` in lower case, without emphasis and what ends a label; `None` for what is too long for one.
fn normal(text: &str) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let mut blank = false;
    for c in text.chars().filter(|c| !matches!(c, '*' | '`' | '_')) {
        if c.is_whitespace() {
            blank = !plain.is_empty();
            continue;
        }
        if std::mem::take(&mut blank) {
            plain.push(' ');
        }
        if c.is_ascii() { plain.push(c.to_ascii_lowercase()) } else { plain.extend(c.to_lowercase()) }
    }
    plain.truncate(plain.trim_end_matches([':', '.', ' ', '：']).len());
    Some(plain)
}

/// Longest text, in bytes, that can be a known label.
const LONGEST: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found_whatever_their_case_and_spacing() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(find(SCENARIO, text), expect, "{text}");
        check("Falsifies if it FAILs", Some(FALSIFIES));
        check("falsifies  if it fails :", Some(FALSIFIES));
        check("SMOKE BUDGET", Some(SMOKE));
        check("Oracle (primary):", Some(ORACLE));
        check("__Faults.__", Some(FAULTS));
        check("Background", None);
        check(&"Oracle ".repeat(100), None);
        assert_eq!(find(MODEL_BLOCK, "Nemesis"), Some("Nemesis + landing evidence"));
        assert!(is_in(MODEL_BLOCK, "Checker") && !is_in(MODEL_BLOCK, "Nemesis"));
    }
}
