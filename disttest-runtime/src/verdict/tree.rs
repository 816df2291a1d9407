//! The decision tree: one total function (format.md §10 with D3 to D20).

use super::checklist::{self, AuditItem};
use super::effort::shortfalls_text;
use super::{Drift, Facts, Step, Verdict, Weakness, Why};
use crate::plan::{Release, Tier};

/// The verdict of `facts`, and every step that led to it: the branch of the tree, then budget gate, audits and drift.
///
/// A violation outranks everything, a missing environment in another seed included, and nothing lowers it.
pub fn decide(facts: &Facts) -> (Verdict, Why) {
    let mut path = Path { facts, verdict: Verdict::NotRun, why: Why::default() };
    path.tree();
    if !path.verdict.is_fail() {
        path.budget_gate();
        path.audits();
    }
    path.drift();
    (path.verdict, path.why)
}

struct Path<'a> {
    facts: &'a Facts,
    verdict: Verdict,
    why: Why,
}

impl Path<'_> {
    fn step(&mut self, rule: &str, verdict: Verdict, reason: impl Into<String>) {
        self.verdict = verdict;
        self.why.steps.push(Step { rule: rule.to_owned(), verdict, reason: reason.into() });
    }

    /// "At most `cap`"; the step is recorded whether or not it lowers.
    fn cap(&mut self, rule: &str, cap: Verdict, reason: impl Into<String>) {
        self.step(rule, self.verdict.at_most(cap), reason);
    }

    /// First match.
    fn tree(&mut self) {
        let facts = self.facts;
        if facts.violations.first().is_some() {
            self.violation();
        } else if !facts.unfilled.is_empty() {
            let regions = facts.unfilled.join(", ");
            self.step("unfilled-region", Verdict::NotRun, format!("not attempted: unfilled {regions}"));
        } else if facts.executions == 0 {
            self.step("never-attempted", Verdict::NotRun, "not attempted: no execution on record");
        } else if !facts.env_missing.is_empty() {
            self.step("env-missing", Verdict::InconclusiveEnv, listed(&facts.env_missing));
        } else if !facts.never_judged.is_empty() {
            let reason = format!("the oracle never judged: {}", listed(&facts.never_judged));
            self.step("oracle-never-judged", Verdict::InconclusiveOracleTooWeak, reason);
        } else if !facts.landing.not_proven.is_empty() {
            self.step("fault-not-proven", Verdict::InconclusiveFaultNotProven, listed(&facts.landing.not_proven));
        } else if !facts.oracle.did_not_run.is_empty() {
            self.step("checker-did-not-run", Verdict::PartialSurface, listed(&facts.oracle.did_not_run));
        } else if let Some(first) = facts.oracle.weak.first() {
            self.step(first.rule, Verdict::InconclusiveOracleTooWeak, weaknesses(&facts.oracle.weak));
        } else if !facts.oracle.subset.is_empty() {
            self.step("checker-subset", Verdict::PartialModel, listed(&facts.oracle.subset));
        } else {
            self.pass();
        }
    }

    fn violation(&mut self) {
        let all = &self.facts.violations;
        let Some(told) = all.first() else { return };
        let place = told.place.as_ref().map_or(String::new(), |place| format!(" on {place}"));
        let what = format!("{} violated: {}{place} ({})", self.facts.claims, told.anomaly, told.checker);
        let blame = if told.attributed { "" } else { ", attributed to no fault" };
        let again = format!("{} of {} re-runs of seed {} saw it again", all.repeated, all.reruns, told.seed);
        let (verdict, again) = match (all.reproduced, all.reruns) {
            (Some(_), _) => (Verdict::FailReproducible, again),
            (None, 0) => (Verdict::FailNondeterministic, format!("seed {} was not run again", told.seed)),
            (None, _) => (Verdict::FailNondeterministic, again),
        };
        self.step("violation", verdict, format!("{what}; {again}{blame}"));
        if self.facts.fault_planned && !told.attributed {
            self.step("fault-not-proven", verdict, listed(&self.facts.landing.not_proven));
        }
    }

    fn pass(&mut self) {
        let (landing, oracle) = (&self.facts.landing, &self.facts.oracle);
        let checked = format!(
            "no anomaly in {} operations ({} checks, {} damaged histories rejected)",
            oracle.operations, oracle.fired, oracle.rejected
        );
        if self.facts.fault_planned {
            let landed = format!("fault landed in {} of {} windows", landing.landed, landing.windows);
            self.step("pass", Verdict::PassHardening, format!("{checked}; {landed}"));
        } else {
            self.step("pass", Verdict::PassSmoke, format!("{checked}; no fault planned"));
        }
        if !landing.not_counted.is_empty() {
            let reason = format!("not counted: {}", listed(&landing.not_counted));
            self.step("fault-window-not-counted", self.verdict, reason);
        }
    }

    fn budget_gate(&mut self) {
        let effort = &self.facts.effort;
        if self.facts.executions == 0 {
            return;
        }
        if !effort.has_budgets {
            return self.cap("budget-gate", Verdict::PassSmoke, "the plan has no budget tiers");
        }
        if !effort.below_smoke.is_empty() {
            let short = shortfalls_text(&effort.below_smoke);
            return self.cap("budget-gate", Verdict::PartialSurface, format!("below the smoke budget: {short}"));
        }
        if effort.met == Some(Tier::Smoke) {
            let proven = self.facts.fault_planned && self.facts.landing.not_proven.is_empty();
            let landed = if proven { "fault landed, smoke budget" } else { "smoke budget" };
            let short = match effort.hardening_not_stronger.as_slice() {
                [] => shortfalls_text(&effort.below_hardening),
                weak => format!("its hardening tier is not stronger than smoke on {}", weak.join(", ")),
            };
            return self.cap("budget-gate", Verdict::PassSmoke, format!("{landed}: {short}"));
        }
        self.step("budget-gate", self.verdict, hardening_text(effort.release.as_ref(), effort.met));
    }

    fn audits(&mut self) {
        let facts = self.facts;
        if self.verdict == Verdict::PassHardening && !facts.landing.no_room.is_empty() {
            self.cap("nemesis-not-used", Verdict::PassSmoke, listed(&facts.landing.no_room));
        }
        if self.verdict == Verdict::PassHardening && !facts.oracle.incomplete_block.is_empty() {
            let missing = facts.oracle.incomplete_block.join(", ");
            self.cap("model-block-incomplete", Verdict::PassSmoke, format!("§7.M names no {missing}"));
        }
        // Every item looks at the verdict that the gates left, so that the order of the items does not matter.
        let reached = self.verdict;
        for item in &facts.checklist.red_flags {
            if reached.is_pass() && checklist::red_flag_stops(item) {
                self.cap(&format!("red-flag-{}", item.number), checklist::red_flag_cap(item.number), audit_text(item));
            }
        }
        for item in &facts.checklist.weak_oracles {
            if checklist::weak_oracle_stops(item, reached, facts.serious) {
                let cap = checklist::weak_oracle_cap(item.number);
                self.cap(&format!("weak-oracle-{}", item.number), cap, audit_text(item));
            }
        }
    }

    fn drift(&mut self) {
        match &self.facts.drift {
            Drift::None => {}
            Drift::PlanOnly => self.step("plan-changed", self.verdict, "plan changed, scenario unchanged"),
            Drift::Unknown { why } => self.step("drift-unknown", self.verdict, format!("drift unknown: {why}")),
            Drift::Scenario { fields } => {
                let fields = if fields.is_empty() { "its text".to_owned() } else { fields.join(", ") };
                let reason = format!(
                    "the test is not what the plan's scenario says: {fields} (cargo disttest author writes it anew and \
                     keeps what is filled)"
                );
                self.cap("drift", Verdict::PartialSurface, reason);
            }
        }
    }
}

fn hardening_text(release: Option<&Release>, met: Option<Tier>) -> String {
    match (met, release) {
        (Some(Tier::Release), _) => "release budget met".to_owned(),
        (_, Some(Release::NotProvided { .. })) => "hardening budget met; release budget not provided".to_owned(),
        _ => "hardening budget met".to_owned(),
    }
}

fn audit_text(item: &AuditItem) -> String {
    format!("{}: {}", item.title, item.evidence)
}

/// The first three, and how many more there are.
fn listed(reasons: &[String]) -> String {
    let shown = reasons.iter().take(3).map(String::as_str).collect::<Vec<_>>().join("; ");
    match reasons.len().saturating_sub(3) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

fn weaknesses(weak: &[Weakness]) -> String {
    listed(&weak.iter().map(|w| w.reason.clone()).collect::<Vec<_>>())
}
