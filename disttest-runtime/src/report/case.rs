//! The scenarios of a session as the reports see them: records with their facts, and what the plan has beside them.

use crate::plan::{Id, Plan, Scenario};
use crate::verdict::{Facts, RunRecord, ScenarioRecord, SessionVerdict, Verdict, aggregate, parent_of};
use std::collections::BTreeSet;

/// A scenario or arm: its record with the facts read from it, or only the plan's word that it exists.
#[derive(Debug)]
pub(super) struct Case<'a> {
    /// `S1`, `S5/api`.
    pub(super) id: String,
    /// Its name in the plan.
    pub(super) name: String,
    /// The scenario of the plan it belongs to (for an arm its parent).
    pub(super) planned: Option<&'a Scenario>,
    /// Its record and facts; `None` when nothing of this session is about it.
    pub(super) ran: Option<(&'a ScenarioRecord, Facts)>,
}

impl Case<'_> {
    pub(super) fn verdict(&self) -> Verdict {
        self.ran.as_ref().map_or(Verdict::NotRun, |(record, _)| record.verdict)
    }

    pub(super) fn headline(&self) -> String {
        let Some((record, _)) = &self.ran else { return "not attempted in this session".to_owned() };
        let headline = record.why.headline();
        record.harness.note().map_or_else(|| headline.clone(), |note| format!("{headline} [{note}]"))
    }

    /// `smoke`, `hardening`, `release` or `—`.
    pub(super) fn tier(&self) -> &'static str {
        self.ran.as_ref().and_then(|(record, _)| record.tier_met).map_or("—", |tier| tier.as_str())
    }

    pub(super) fn slug(&self) -> String {
        self.id.replace('/', "__")
    }

    /// Claims it falsifies: those of the attribute, else those of the plan.
    pub(super) fn claims(&self) -> Vec<String> {
        match (&self.ran, self.planned) {
            (Some((record, _)), _) => record.declared.falsifies.iter().map(|(claim, _)| claim.clone()).collect(),
            (None, Some(planned)) => planned.falsifies.iter().map(|id| id.value.to_string()).collect(),
            (None, None) => Vec::new(),
        }
    }
}

/// Facts of one record.
pub(super) fn facts(record: &ScenarioRecord) -> Facts {
    let runs: Vec<RunRecord> = record.runs.iter().map(|(_, run)| run.clone()).collect();
    Facts::gather(&record.declared, &runs, &record.drift, &record.unfilled)
}

/// Every record, and every scenario and arm of the plan without one, in the order of ids.
pub(super) fn cases<'a>(plan: Option<&'a Plan>, records: &'a [ScenarioRecord]) -> Vec<Case<'a>> {
    let mut all: Vec<Case<'a>> = records
        .iter()
        .map(|record| Case {
            id: record.declared.id.clone(),
            name: record.declared.name.clone(),
            planned: planned(plan, &record.declared.id),
            ran: Some((record, facts(record))),
        })
        .collect();
    let known: BTreeSet<String> = all.iter().map(|case| canonical(&case.id)).collect();
    for scenario in plan.iter().flat_map(|plan| &plan.scenarios) {
        for id in leaves(scenario).into_iter().filter(|id| !known.contains(id)) {
            all.push(Case { id, name: scenario.name.value.clone(), planned: Some(scenario), ran: None });
        }
    }
    all.sort_by_key(|case| order(&case.id));
    all
}

/// The scenario of the plan that `id` names; for an arm its parent.
pub(super) fn planned<'a>(plan: Option<&'a Plan>, id: &str) -> Option<&'a Scenario> {
    plan?.scenario(&Id::parse(parent_of(id).unwrap_or(id))?)
}

/// Ids of the parts of `scenario` that get a verdict of their own.
pub(super) fn leaves(scenario: &Scenario) -> Vec<String> {
    match scenario.arms.as_slice() {
        [] => vec![scenario.id.value.to_string()],
        arms => arms.iter().map(|arm| arm.id.value.to_string()).collect(),
    }
}

/// `S01` and `S1` are one id.
pub(super) fn canonical(id: &str) -> String {
    Id::parse(id).map_or_else(|| id.to_owned(), |id| id.to_string())
}

fn order(id: &str) -> (u32, String) {
    (Id::parse(id).map_or(u32::MAX, |id| id.number()), id.to_owned())
}

/// Scenarios that have arms here: (parent id, name, verdict joined from its arms).
pub(super) fn parents(cases: &[Case<'_>]) -> Vec<(String, String, Verdict)> {
    let mut ids: Vec<&str> = cases.iter().filter_map(|case| parent_of(&case.id)).collect();
    ids.dedup();
    ids.into_iter()
        .map(|id| {
            let arms: Vec<&Case<'_>> = cases.iter().filter(|case| parent_of(&case.id) == Some(id)).collect();
            let verdicts: Vec<Verdict> = arms.iter().map(|arm| arm.verdict()).collect();
            (id.to_owned(), arms.first().map_or(String::new(), |arm| arm.name.clone()), aggregate(&verdicts))
        })
        .collect()
}

/// The session's verdict and its headline. Scenarios and arms of the plan that this session has no record of count as
/// NOT-RUN: a session that ran a part of its plan is not DONE.
pub fn session_verdict(plan: Option<&Plan>, records: &[ScenarioRecord]) -> (SessionVerdict, String) {
    verdict_of(&cases(plan, records))
}

pub(super) fn verdict_of(cases: &[Case<'_>]) -> (SessionVerdict, String) {
    let verdicts: Vec<Verdict> = cases.iter().map(Case::verdict).collect();
    let verdict = SessionVerdict::of(&verdicts);
    let count = |wanted: fn(Verdict) -> bool| verdicts.iter().filter(|v| wanted(**v)).count();
    let (all, passes, fails) = (verdicts.len(), count(Verdict::is_pass), count(Verdict::is_fail));
    let reproducible = verdicts.contains(&Verdict::FailReproducible);
    let told = match verdict {
        SessionVerdict::Fail if !reproducible => format!("violation seen, not reproduced ({fails} of {all} scenarios)"),
        SessionVerdict::Fail => format!("violation seen and reproduced ({fails} of {all} scenarios)"),
        SessionVerdict::Done => {
            format!("{passes} of {all} scenarios passed; no violation observed under the tested threats")
        }
        SessionVerdict::DoneWithConcerns => {
            format!("{passes} of {all} scenarios passed; {} did not conclude", all - passes - fails)
        }
        SessionVerdict::Inconclusive => "no scenario passed and no violation was seen".to_owned(),
        SessionVerdict::Blocked => "nothing ran".to_owned(),
    };
    (verdict, told)
}
