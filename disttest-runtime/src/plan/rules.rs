//! The catalogue of rules: name, severity and what each is about.

use crate::base::diagnostic::{Diagnostic, Severity, Span};

/// A rule of the parser or of the lint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable kebab-case name.
    pub name: &'static str,
    /// How bad a violation is.
    pub severity: Severity,
    /// What it demands, in one line.
    pub what: &'static str,
}

const fn error(name: &'static str, what: &'static str) -> Rule {
    Rule { name, severity: Severity::Error, what }
}

const fn warning(name: &'static str, what: &'static str) -> Rule {
    Rule { name, severity: Severity::Warning, what }
}

const fn note(name: &'static str, what: &'static str) -> Rule {
    Rule { name, severity: Severity::Note, what }
}

/// Every rule, in alphabetic order.
pub const RULES: &[Rule] = &[
    warning("ambiguous-id-list", "an id in parentheses or behind `not` is not taken as part of a list"),
    error("arm-incomplete", "an arm has its own oracle and its own §7.M"),
    warning(
        "boundary-wording",
        "a tenancy, authorisation, namespace or routing promise is `boundary`, not `isolation`",
    ),
    error("budget-faults", "the budgets count faults if the scenario plans some, and none if it plans none"),
    error("budget-not-stronger", "the hardening budget is stronger than the smoke budget on every dimension"),
    note("budget-range", "a budget names one number for each dimension: the least that a run must reach"),
    error("checker-misfit", "the checker fits the model and the claim category (format §7)"),
    warning("checker-far", "a checker outside the picker's rows needs a written reason"),
    error("claim-not-argued", "§7b argues for every claim"),
    error("claim-not-falsified", "a scenario falsifies every claim, or §7c or §8 discloses that none does"),
    error("duplicate-field", "a field stands once in a scenario"),
    error("duplicate-id", "an id is defined once"),
    error("filler-row", "rows of the template are filled or deleted"),
    note("hidden-scenario", "a scenario stands outside code, comments and quotations"),
    error("hypothesis-without-claim", "a hypothesis names a claim that it could falsify"),
    error("hypothesis-without-scenario", "a scenario closes every hypothesis"),
    error("idempotency-key-is-op-id", "the idempotency key is a business key, never op_id"),
    error("landing-injector-only", "landing evidence has a signal on a victim's side"),
    error("landing-missing", "a nemesis has landing evidence"),
    error("landing-misfit", "each nemesis has an injector signal that can prove it"),
    error("landing-not-evidence", "`the injector reported success` is no evidence"),
    error("landing-victim-only", "landing evidence has a signal on the injector's side"),
    error("missing-budgets", "a scenario has smoke, hardening and release budgets"),
    error("missing-column", "a table has the columns of the format"),
    error("missing-field", "a scenario has every required field"),
    warning("missing-header", "the plan has its title and bold-key lines"),
    error("missing-oracle", "a scenario has an oracle"),
    error("missing-section", "every required section is there"),
    error("misspelt-checker", "a checker's name is spelt as the format spells it"),
    error("misspelt-nemesis", "the name of a nemesis or of a landing signal is spelt as the format spells it"),
    error("model-block-contradicts", "§7.M is either filled or not applicable"),
    error("model-block-field", "a serious scenario fills every field of §7.M"),
    error("model-block-missing", "a scenario that falsifies a gated claim has §7.M"),
    warning("model-block-not-stated", "a scenario that needs no §7.M says so"),
    error("no-fault-without-reason", "`Faults: none` gives its reason"),
    error("placeholder", "no `{{…}}` of the template is left"),
    error("release-budget", "the release budget is a budget or `not provided — <reason>. Revisit when: <condition>.`"),
    error("release-not-stronger", "the release budget is no weaker than the hardening budget"),
    error("row-shape", "a row has as many cells as its table has columns"),
    warning("scenario-outside-section", "scenarios stand under `## 7. Scenarios`"),
    error("scenario-without-claim", "a scenario falsifies a claim of §1b"),
    error("scenario-without-hypothesis", "a scenario closes a hypothesis of §4"),
    error("section-empty", "7b, 7c and 7d are populated, as are the sections that hold the plan's elements"),
    warning("several-targets", "a scenario has one target"),
    warning("section-heading", "a section is `## <number>. <title>`"),
    warning("skeleton-not-fenced", "a skeleton is a fenced block"),
    error("suppression-refused", "a rule that a run relies on is not suppressed"),
    error("suppression-without-reason", "a suppression says why"),
    error("surfaces-field", "§7.M.S has surfaces and negative controls for a boundary claim"),
    error("surfaces-missing", "a scenario that falsifies a boundary or fairness claim has §7.M.S"),
    warning("sut-model-bullet", "§2 has its seven bullets"),
    error("target-outside", "a target is a relative path that stays inside the package"),
    error("target-suffix", "a target ends in the suffix of its skeleton language"),
    error("target-taken", "a target belongs to one scenario"),
    warning("technique-without-reference", "a technique cites its reference file"),
    error("unclosed-comment", "an HTML comment is closed"),
    error("unclosed-fence", "a code fence is closed"),
    error("undefined-id", "an id that is used is defined"),
    error("unknown-category", "a category is one of the eleven words"),
    warning("unknown-skeleton-language", "a skeleton is rust, go, python, typescript or shell"),
    warning("unknown-suppression", "a suppression can be read and names rules that there are"),
    note("unmeasured-budget", "a factor of a budget is a dimension that is measured"),
    error("unreadable-budget", "a budget is numbers with units"),
    error("unreadable-claim", "a row of §1b or §1c starts with an id"),
    error("unreadable-hypothesis", "a hypothesis is a line, bullet or row that starts with an id"),
    error("unreadable-id-list", "a list of ids names at least one"),
    warning("unreadable-plan-mode", "the plan mode is `change-scoped` or `project-wide`"),
    error("unreadable-scenario", "a scenario heading carries an id"),
    warning("unreadable-target", "a target is a path"),
    warning("unresolved-checker", "§7.M or the oracle names a checker of the catalogue"),
    warning("unresolved-fault", "a scenario names its nemeses and landing signals, or `none — <reason>`"),
    warning("unresolved-model", "`Model under test` starts with a model of the format"),
    warning("unused-suppression", "a suppression suppresses something"),
    error("vague-oracle", "an oracle is machine-checkable"),
];

/// The rule of this name.
pub fn rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|r| r.name == name)
}

/// A diagnostic of a rule, with the rule's severity.
pub(super) fn report(
    rule: &'static str,
    span: Span,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Diagnostic {
    // A rule that is missing from the table is a mistake of ours; a test looks for it, and here it is an error.
    let severity = self::rule(rule).map_or(Severity::Error, |r| r.severity);
    Diagnostic {
        rule: rule.to_owned(),
        severity,
        message: message.into(),
        span,
        help: Some(help.into()),
        edits: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_unique_kebab_case_names() {
        let names: std::collections::BTreeSet<&str> = RULES.iter().map(|r| r.name).collect();
        assert_eq!(names.len(), RULES.len());
        assert!(names.iter().all(|n| n.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')));
    }
}
