//! The catalogue of rules: name, severity and what each is about.

use crate::base::diagnostic::{Diagnostic, Severity, Span};

/// A rule of the parser or of the lint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable kebab-case name.
    pub name: &'static str,
    /// How bad a violation is.
    pub severity: Severity,
    /// The part of a plan that it reads: `§7d`, `header`, or `any`.
    pub section: &'static str,
    /// What it demands, in one line.
    pub what: &'static str,
    /// True when a run relies on it: what it finds can neither be suppressed nor lowered.
    pub never_allowed: bool,
}

impl Rule {
    /// The same rule, as one that a run relies on.
    const fn relied_on(mut self) -> Rule {
        self.never_allowed = true;
        self
    }
}

const fn rule_of(severity: Severity, name: &'static str, section: &'static str, what: &'static str) -> Rule {
    Rule { name, severity, section, what, never_allowed: false }
}

const fn error(name: &'static str, section: &'static str, what: &'static str) -> Rule {
    rule_of(Severity::Error, name, section, what)
}

const fn warning(name: &'static str, section: &'static str, what: &'static str) -> Rule {
    rule_of(Severity::Warning, name, section, what)
}

const fn note(name: &'static str, section: &'static str, what: &'static str) -> Rule {
    rule_of(Severity::Note, name, section, what)
}

/// Every rule, in alphabetic order.
pub const RULES: &[Rule] = &[
    warning("absolute-wording", "§7d", "§7d says what was not observed, never what cannot happen"),
    warning("adequacy-incomplete", "§7b", "a row of §7b names threats, scenarios and why they suffice"),
    error("ambiguous-contradicts", "§7.M", "a timeout may have succeeded, and retries are operations of their own")
        .relied_on(),
    warning("ambiguous-id-list", "§4, §7", "an id in parentheses or behind `not` is not taken as part of a list"),
    note("architecture-too-long", "§0", "§0 is a summary of at most 30 lines"),
    warning("argued-not-falsified", "§7b", "a scenario that §7b argues with falsifies the claim"),
    error("arm-incomplete", "§7.M.S", "an arm has its own oracle and its own §7.M").relied_on(),
    error("arm-misplaced", "§7.M.S", "an arm carries the number of its scenario"),
    warning("arms-fewer-than-surfaces", "§7.M.S", "a scenario with arms has one for each surface, or says why not"),
    warning("aspect-without-reason", "§7d", "a row of the per-aspect table has a reason"),
    warning("bad-date", "header", "`Date` is a date in the form YYYY-MM-DD"),
    warning("boundary-name", "§7", "a scenario named after a boundary has more than one surface in §7.M.S"),
    warning(
        "boundary-wording",
        "§1b",
        "a tenancy, authorisation, namespace or routing promise is `boundary`, not `isolation`",
    ),
    error("budget-faults", "§7", "the budgets count faults if the scenario plans some, and none if it plans none"),
    error("budget-not-stronger", "§7", "the hardening budget is stronger than the smoke budget on every dimension")
        .relied_on(),
    note("budget-range", "§7", "a budget names one number for each dimension: the least that a run must reach"),
    warning("checker-far", "§7.M", "a checker outside the picker's rows needs a written reason"),
    error("checker-misfit", "§7.M", "the checker fits the model and the claim category (format §7)"),
    error(
        "checker-scope-conflict",
        "§7.M",
        "checker and oracle agree on whether a check is per key or over the whole history",
    )
    .relied_on(),
    error("claim-not-argued", "§7b", "§7b argues for every claim"),
    error("claim-not-falsified", "§7", "a scenario falsifies every claim, or §7c or §8 discloses that none does"),
    note("claim-without-hypothesis", "§1b", "some hypothesis could falsify each claim"),
    warning("claim-without-source", "§1b", "a claim names its source"),
    note("confidence-chain", "§7d", "§7d leans on checker, history, nemesis and landing evidence"),
    error("confidence-disbelief", "§7d", "§7d says what a reviewer should not believe"),
    warning("confidence-length", "§7d", "§7d starts with a paragraph of 4 to 8 sentences"),
    warning("confidence-word", "§7d", "a confidence is high, moderate or low"),
    warning("count-disagrees", "any", "a number in prose agrees with what it counts"),
    warning("coverage-incomplete", "§5", "§5 has a row for each claim and each hypothesis"),
    note("coverage-not-split", "§5", "§5 of a large plan is split in two tables"),
    warning(
        "coverage-scenario-misfit",
        "§5",
        "the scenario that §5 recommends falsifies the claim or closes the hypothesis",
    ),
    note("coverage-without-gap", "§5", "a row of §5 that is not or partly covered names the kind of its gap"),
    error("coverage-without-scenario", "§5", "a row of §5 that is not covered recommends a scenario"),
    warning("coverage-word", "§5", "verdicts and gap kinds of §5 are words of the format"),
    error("duplicate-field", "§7", "a field stands once in a scenario"),
    error("duplicate-id", "§1b, §1c, §4, §6, §7", "an id is defined once").relied_on(),
    warning("duplicate-scenario-name", "§7", "scenarios have different names"),
    warning("duplicate-section", "any", "a numbered section stands once"),
    error("fairness-formula", "§7", "the oracle of a fairness claim is a formula over groups"),
    note("few-confusable-identifiers", "§7.M.S", "adversarial inputs cover every class of confusable identifiers"),
    error("filler-row", "any", "rows of the template are filled or deleted"),
    warning("hardening-seeds", "§7", "the hardening budget has at least three seeds"),
    note("hidden-scenario", "§7", "a scenario stands outside code, comments and quotations"),
    warning("history-clock", "§7.M", "a history is stamped by a monotonic clock"),
    warning("history-fields", "§7.M", "a history has the fields that its model needs"),
    note("history-mechanism", "§7.M", "a history says how it is recorded"),
    warning("hypothesis-class-missing", "§4", "§4 covers the eight obligatory classes or rules them out"),
    note("hypothesis-unreasoned", "§4", "a hypothesis says why it is suspected"),
    error("hypothesis-without-claim", "§4", "a hypothesis names a claim that it could falsify"),
    error("hypothesis-without-scenario", "§4", "a scenario closes every hypothesis"),
    note("hypothesis-without-subsystem", "§4", "a hypothesis of a project-wide plan names its subsystem"),
    error("idempotency-key-is-op-id", "§7.M", "the idempotency key is a business key, never op_id").relied_on(),
    warning("idempotency-key-missing", "§7.M", "a check of idempotency names its business key"),
    note("inferred-not-marked", "§1b", "an inferred claim is marked `(inferred)`"),
    warning("inferred-word", "§1b", "`Inferred?` is no, yes or `partial — <why>`"),
    error("landing-injector-only", "§7.M", "landing evidence has a signal on a victim's side").relied_on(),
    error("landing-misfit", "§7.M", "each nemesis has an injector signal that can prove it").relied_on(),
    error("landing-missing", "§7.M", "a nemesis has landing evidence").relied_on(),
    error("landing-not-evidence", "§7.M", "`the injector reported success` is no evidence").relied_on(),
    error("landing-victim-only", "§7.M", "landing evidence has a signal on the injector's side").relied_on(),
    error("missing-aspects", "§7d", "§7d has a per-aspect table where a boundary or fairness claim has several arms"),
    error("missing-budgets", "§7", "a scenario has smoke, hardening and release budgets").relied_on(),
    error("missing-column", "any", "a table has the columns of the format"),
    error("missing-field", "§7", "a scenario has every required field"),
    warning("missing-header", "header", "the plan has its title and bold-key lines"),
    error("missing-oracle", "§7", "a scenario has an oracle").relied_on(),
    error("missing-section", "any", "every required section is there"),
    error("misspelt-checker", "§7.M", "a checker's name is spelt as the format spells it").relied_on(),
    warning("misspelt-label", "§7", "a label is spelt as the format spells it"),
    error("misspelt-nemesis", "§7.M", "the name of a nemesis or of a landing signal is spelt as the format spells it")
        .relied_on(),
    error("model-block-contradicts", "§7.M", "§7.M is either filled or not applicable"),
    error("model-block-field", "§7.M", "a serious scenario fills every field of §7.M").relied_on(),
    error("model-block-missing", "§7.M", "a scenario that falsifies a gated claim has §7.M").relied_on(),
    warning("model-block-not-stated", "§7.M", "a scenario that needs no §7.M says so"),
    warning("negative-controls-weak", "§7.M.S", "a denial is also looked for in metrics, logs and side channels"),
    warning("no-fault-without-reason", "§7", "`Faults: none` gives its reason"),
    note("not-authorable", "§7", "a scenario has what `author` needs"),
    note("open-question-owner", "§9", "an open question has an owner and a date"),
    note("oracle-blind-spot", "§7", "the oracle of a serious scenario says what it cannot detect"),
    error("placeholder", "any", "no `{{…}}` of the template is left"),
    error(
        "release-budget",
        "§7",
        "the release budget is a budget or `not provided — <reason>. Revisit when: <condition>.`",
    )
    .relied_on(),
    error("release-not-stronger", "§7", "the release budget is no weaker than the hardening budget"),
    warning("residual-incomplete", "§7c", "a row of §7c says why, why that is acceptable, and when to look again"),
    error("row-shape", "any", "a row has as many cells as its table has columns").relied_on(),
    error("scenario-closes-no-row", "§7", "a scenario of a project-wide plan closes a row of §5"),
    note("scenario-name-shape", "§7", "the name of a scenario is snake_case"),
    warning("scenario-named-after-setup", "§7", "a scenario is named after the claim, not after its set-up"),
    warning("scenario-not-argued", "§7b", "§7b argues with every scenario"),
    warning("scenario-outside-section", "§7", "scenarios stand under `## 7. Scenarios`"),
    error("scenario-without-claim", "§7", "a scenario falsifies a claim of §1b").relied_on(),
    error("scenario-without-hypothesis", "§7", "a scenario closes a hypothesis of §4"),
    warning("scope-incomplete", "§1", "§1 names the files touched, or what is out of scope"),
    error("section-empty", "any", "7b, 7c and 7d are populated, as are the sections that hold the plan's elements"),
    warning("section-heading", "any", "a section is `## <number>. <title>`"),
    warning("several-targets", "§7", "a scenario has one target"),
    warning("skeleton-header", "§7", "a skeleton starts with the lines of its provenance"),
    warning("skeleton-not-fenced", "§7", "a skeleton is a fenced block"),
    warning("smoke-without-fault", "§7", "the smoke budget of a scenario that plans a fault asks for one"),
    error("split-into-arms", "§7.M.S", "a scenario of many surfaces, categories or oracles is split into arms"),
    error("suppression-refused", "any", "a rule that a run relies on is not suppressed").relied_on(),
    error("suppression-without-reason", "any", "a suppression says why").relied_on(),
    error("surfaces-contradicts", "§7.M.S", "§7.M.S is either filled or not applicable"),
    error("surfaces-field", "§7.M.S", "§7.M.S has surfaces and negative controls for a boundary claim"),
    warning("surfaces-incomplete", "§7.M.S", "§7.M.S has its eight fields"),
    error("surfaces-missing", "§7.M.S", "a scenario that falsifies a boundary or fairness claim has §7.M.S")
        .relied_on(),
    note("surfaces-not-stated", "§7.M.S", "a scenario that needs no §7.M.S says so, as the others do"),
    error("surfaces-too-few", "§7.M.S", "a boundary claim has three surfaces or a reason for fewer"),
    warning("sut-model-bullet", "§2", "§2 has its seven bullets"),
    note("symmetric-partitions-only", "§7", "a plan with partitions has an asymmetric one"),
    note("target-convention", "§7", "a target stands where its language keeps tests"),
    error("target-outside", "§7", "a target is a relative path that stays inside the package").relied_on(),
    error("target-suffix", "§7", "a target ends in the suffix of its skeleton language"),
    error("target-taken", "§7", "a target belongs to one scenario").relied_on(),
    note("technique-count", "§6", "one technique alone is suspicious"),
    note("technique-incomplete", "§6", "a technique says what it addresses, what it catches and what it costs"),
    warning("technique-not-selected", "§7", "the technique of a scenario is one of §6"),
    warning("technique-without-reference", "§6", "a technique cites its reference file"),
    note("threat-not-lettered", "§7b", "threats are lettered (a), (b), (c)"),
    error("threat-without-scenario", "§7b", "each lettered threat has a scenario with its letter"),
    error("unclosed-comment", "any", "an HTML comment is closed").relied_on(),
    error("unclosed-fence", "any", "a code fence is closed").relied_on(),
    error("undefined-id", "any", "an id that is used is defined").relied_on(),
    error("undisclosed-surface", "§7d", "§7d names the surfaces that a boundary or fairness claim leaves untested"),
    error("unknown-category", "§1b", "a category is one of the eleven words").relied_on(),
    warning("unknown-skeleton-language", "§7", "a skeleton is rust, go, python, typescript or shell"),
    warning("unknown-status", "header", "`Status` is draft, reviewed or executed"),
    warning("unknown-suppression", "any", "a suppression can be read and names rules that there are"),
    warning("unknown-technique-reference", "§6", "a reference is a file of the technique catalogue"),
    note("unmeasured-budget", "§7", "a factor of a budget is a dimension that is measured"),
    error("unreadable-budget", "§7", "a budget is numbers with units").relied_on(),
    error("unreadable-claim", "§1b, §1c", "a row of §1b or §1c starts with an id").relied_on(),
    error("unreadable-hypothesis", "§4", "a hypothesis is a line, bullet or row that starts with an id").relied_on(),
    error("unreadable-id-list", "§4, §7", "a list of ids names at least one").relied_on(),
    warning("unreadable-plan-mode", "header", "the plan mode is `change-scoped` or `project-wide`"),
    error("unreadable-scenario", "§7", "a scenario heading carries an id").relied_on(),
    warning("unreadable-target", "§7", "a target is a path"),
    warning("unresolved-checker", "§7.M", "§7.M or the oracle names a checker of the catalogue"),
    warning("unresolved-fault", "§7.M", "a scenario names its nemeses and landing signals, or `none — <reason>`"),
    warning(
        "unresolved-landing",
        "§7.M",
        "landing evidence names its signals, or says in known words which side gives it",
    ),
    warning("unresolved-model", "§7.M", "`Model under test` starts with a model of the format"),
    warning("unused-requirement", "§6b", "a scenario uses each requirement"),
    warning("unused-suppression", "any", "a suppression suppresses something"),
    note("unused-technique", "§6", "a scenario uses each technique"),
    error("vague-oracle", "§7", "an oracle is machine-checkable").relied_on(),
];

/// The rule of this name.
pub fn rule(name: &str) -> Option<&'static Rule> {
    RULES.binary_search_by(|rule| rule.name.cmp(name)).ok().map(|at| &RULES[at])
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
        assert!(RULES.is_sorted_by_key(|rule| rule.name), "they are found by bisection");
        assert!(names.iter().all(|n| n.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')));
    }
}
