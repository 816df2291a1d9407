//! The scenarios of a session as the reports see them: records with their facts, and what the plan has beside them.

use crate::plan::{Id, Plan, Scenario, Tier};
use crate::verdict::{Facts, RunRecord, ScenarioRecord, SessionVerdict, Verdict, aggregate, parent_of, root_of};
use std::collections::{BTreeSet, HashMap};

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

    pub(super) fn tier_met(&self) -> Option<Tier> {
        self.ran.as_ref().and_then(|(record, _)| record.tier_met)
    }

    /// `smoke`, `hardening`, `release` or `—`.
    pub(super) fn tier(&self) -> &'static str {
        tier_name(self.tier_met())
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

fn tier_name(met: Option<Tier>) -> &'static str {
    met.map_or("—", Tier::as_str)
}

/// A scenario as a plan counts it: with the verdict of its one record, or joined from its arms.
#[derive(Debug)]
pub(super) struct Whole<'c, 'a> {
    /// `S5`.
    pub(super) id: String,
    /// Its name in the plan.
    pub(super) name: &'c str,
    /// The scenario of the plan.
    pub(super) planned: Option<&'a Scenario>,
    /// Its verdict.
    pub(super) verdict: Verdict,
    /// Why, in a sentence.
    pub(super) headline: String,
    /// What it is made of: itself, or its arms.
    pub(super) parts: Vec<&'c Case<'a>>,
    /// It has arms, so that its verdict stands in no record.
    pub(super) joined: bool,
}

impl Whole<'_, '_> {
    /// `smoke`, `hardening`, `release` or `—`: the least of its arms.
    pub(super) fn tier(&self) -> &'static str {
        tier_name(self.parts.iter().map(|part| part.tier_met()).min().flatten())
    }

    /// Claims that any of its parts falsifies.
    pub(super) fn claims(&self) -> BTreeSet<String> {
        self.parts.iter().flat_map(|part| part.claims()).map(|id| canonical(&id)).collect()
    }

    /// `S5 PARTIAL-surface (S5/api PASS-smoke, S5/sdk NOT-RUN)`.
    pub(super) fn told(&self) -> String {
        let arms: Vec<String> = self.parts.iter().map(|arm| format!("{} {}", arm.id, arm.verdict())).collect();
        let arms = if self.joined { format!(" ({})", arms.join(", ")) } else { String::new() };
        format!("{} {}{arms}", self.id, self.verdict)
    }
}

/// The scenarios that `cases` belong to, in their order.
pub(super) fn wholes<'c, 'a>(plan: Option<&'a Plan>, cases: &'c [Case<'a>]) -> Vec<Whole<'c, 'a>> {
    let mut at: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<(String, Vec<&'c Case<'a>>)> = Vec::new();
    for case in cases {
        let root = canonical(root_of(&case.id));
        let index = *at.entry(root.clone()).or_insert(groups.len());
        match groups.get_mut(index) {
            Some((_, parts)) => parts.push(case),
            None => groups.push((root, vec![case])),
        }
    }
    groups.into_iter().map(|(root, parts)| whole(plan, root, parts)).collect()
}

fn whole<'c, 'a>(plan: Option<&'a Plan>, root: String, parts: Vec<&'c Case<'a>>) -> Whole<'c, 'a> {
    let joined = parts.len() > 1 || parts.iter().any(|part| parent_of(&part.id).is_some());
    let first = parts.first().expect("a root is the root of some case");
    let (verdict, headline) = match joined {
        false => (first.verdict(), first.headline()),
        true => joined_verdict(plan, &parts),
    };
    let (name, planned) = (first.name.as_str(), planned(plan, &root));
    Whole { id: root, name, planned, verdict, headline, parts, joined }
}

/// Without the plan nobody knows which arms are missing, so that those at hand cannot make the whole pass.
fn joined_verdict(plan: Option<&Plan>, parts: &[&Case<'_>]) -> (Verdict, String) {
    let arms: Vec<(&str, Option<Verdict>)> =
        parts.iter().map(|part| (part.id.as_str(), Some(part.verdict()))).collect();
    let (verdict, why) = aggregate(&arms);
    if plan.is_none() && verdict.is_pass() {
        let unknown = "the plan is not at hand, so that arms may be missing";
        return (Verdict::PartialSurface, format!("{unknown}; {}", why.headline()));
    }
    (verdict, why.headline())
}

/// Facts of one record.
pub(super) fn facts(record: &ScenarioRecord) -> Facts {
    let runs: Vec<RunRecord> = record.runs.iter().map(|(_, run)| run.clone()).collect();
    Facts::gather(&record.declared, &runs, &record.drift, &record.unfilled).lacking(&record.lacking)
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

/// Ids of the parts of `scenario` that get a verdict of their own: its arms, those that are only listed included.
fn leaves(scenario: &Scenario) -> Vec<String> {
    let arms = scenario.arm_ids();
    if arms.is_empty() { vec![scenario.id.value.to_string()] } else { arms.iter().map(Id::to_string).collect() }
}

/// `S01` and `S1` are one id.
pub(super) fn canonical(id: &str) -> String {
    Id::parse(id).map_or_else(|| id.to_owned(), |id| id.to_string())
}

fn order(id: &str) -> (u32, String) {
    (Id::parse(id).map_or(u32::MAX, |id| id.number()), id.to_owned())
}

/// The session's verdict and its headline, over whole scenarios. Scenarios and arms of the plan that this session has no
/// record of count as NOT-RUN: a session that ran a part of its plan is not DONE.
pub fn session_verdict(plan: Option<&Plan>, records: &[ScenarioRecord]) -> (SessionVerdict, String) {
    verdict_of(&wholes(plan, &cases(plan, records)))
}

pub(super) fn verdict_of(wholes: &[Whole<'_, '_>]) -> (SessionVerdict, String) {
    let verdicts: Vec<Verdict> = wholes.iter().map(|whole| whole.verdict).collect();
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
