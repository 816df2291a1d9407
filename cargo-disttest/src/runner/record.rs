//! The record that a scenario left, and whether it may be believed.

use crate::author::Wanted;
use crate::author::attribute::{Attribute, Fault};
use disttest_runtime::plan::{Release, Tier};
use disttest_runtime::verdict::{Declared, DeclaredFault, Drift, ScenarioRecord, Scope};
use std::path::Path;

const SCHEMA: &str = "disttest.scenario/1";

/// The record of `wanted` in the session at `session`.
///
/// # Errors
/// There is none, it cannot be read, or it answers another question than was asked.
pub(crate) fn read(session: &Path, wanted: &Wanted, tier: Tier) -> Result<ScenarioRecord, String> {
    let id = &wanted.attribute.id;
    let path = session.join("artifacts").join(id.replace('/', "__")).join("scenario.json");
    let text = std::fs::read_to_string(&path).map_err(|_| "it left no record in the session".to_owned())?;
    let record: ScenarioRecord =
        serde_json::from_str(&text).map_err(|error| format!("its record cannot be read: {error}"))?;
    accept(record, wanted, tier)
}

fn accept(record: ScenarioRecord, wanted: &Wanted, tier: Tier) -> Result<ScenarioRecord, String> {
    let id = &wanted.attribute.id;
    if record.schema != SCHEMA {
        return Err(format!("its record has schema `{}`, not {SCHEMA}", record.schema));
    }
    if record.declared.id != *id {
        return Err(format!("its record is of {}, not of {id}", record.declared.id));
    }
    if record.tier != tier {
        return Err(format!("its record is for the {} tier, not for {tier}", record.tier));
    }
    Ok(record)
}

/// Fields of the test's attribute that are not what the plan says although the scenario did not change since the test
/// was generated: somebody edited the attribute. (A scenario that changed is drift, which the harness judges.)
pub(crate) fn edited(record: &ScenarioRecord, attribute: &Attribute) -> Vec<&'static str> {
    if matches!(record.drift, Drift::Scenario { .. }) {
        return Vec::new();
    }
    let declared = &record.declared;
    let same = [
        ("falsifies", same_claims(declared, attribute)),
        ("model", declared.model == attribute.model),
        ("checkers", same_checkers(declared, attribute)),
        ("nemesis", same_fault(declared, attribute)),
        ("budget", same_budgets(declared, attribute)),
    ];
    let open = |field: &str| {
        let also = if field == "nemesis" { "landing" } else { field };
        attribute.unresolved.iter().any(|unresolved| unresolved == field || unresolved == also)
    };
    same.into_iter().filter(|(field, same)| !same && !open(field)).map(|(field, _)| field).collect()
}

fn same_claims(declared: &Declared, attribute: &Attribute) -> bool {
    let sorted = |claims: &[(String, Vec<disttest_runtime::plan::Category>)]| {
        let mut claims = claims.to_vec();
        claims.iter_mut().for_each(|(_, categories)| categories.sort());
        claims.sort();
        claims
    };
    sorted(&declared.falsifies) == sorted(&attribute.falsifies)
}

fn same_checkers(declared: &Declared, attribute: &Attribute) -> bool {
    let ours =
        attribute.checkers.iter().map(|c| (c.name.clone(), if c.per_key { Scope::PerKey } else { Scope::Whole }));
    let ours: Vec<(String, Scope)> = ours.collect();
    // One more checker than planned is no weaker test.
    ours.iter().all(|checker| declared.checkers.contains(checker))
}

fn same_fault(declared: &Declared, attribute: &Attribute) -> bool {
    match (&declared.fault, &attribute.fault) {
        (DeclaredFault::None { .. }, Fault::None(_)) => true,
        (
            DeclaredFault::Planned { nemeses, injector, victim },
            Fault::Planned { nemeses: planned, injector: planned_injector, victim: planned_victim },
        ) => {
            planned.iter().all(|nemesis| nemeses.contains(nemesis))
                && injector == planned_injector
                && victim == planned_victim
        }
        _ => false,
    }
}

fn same_budgets(declared: &Declared, attribute: &Attribute) -> bool {
    match (&declared.budgets, &attribute.budgets) {
        (None, None) => true,
        (Some(declared), Some(planned)) => {
            let release = match (&declared.release, &planned.release) {
                (Release::Budget(declared), Release::Budget(planned)) => declared.meets(planned),
                (Release::NotProvided { .. }, Release::NotProvided { .. }) => true,
                _ => false,
            };
            release && declared.smoke.meets(&planned.smoke) && declared.hardening.meets(&planned.hardening)
        }
        _ => false,
    }
}
