//! The record that a scenario left, and whether it may be believed.

use super::execute::Order;
use crate::author::Wanted;
use disttest_runtime::plan::{Plan, Scenario};
use disttest_runtime::session::edited_fields;
use disttest_runtime::verdict::{Drift, ScenarioRecord};
use std::path::Path;

const SCHEMA: &str = "disttest.scenario/1";

/// The record of `wanted` in the session of `order`.
///
/// # Errors
/// There is none, it cannot be read, or it answers another question than was asked.
pub(crate) fn read(order: &Order, wanted: &Wanted) -> Result<ScenarioRecord, String> {
    let id = &wanted.attribute.id;
    let path = Path::new(&order.session).join("artifacts").join(id.replace('/', "__")).join("scenario.json");
    let text = std::fs::read_to_string(&path).map_err(|_| "it left no record in the session".to_owned())?;
    let record: ScenarioRecord =
        serde_json::from_str(&text).map_err(|error| format!("its record cannot be read: {error}"))?;
    accept(record, wanted, order)
}

fn accept(record: ScenarioRecord, wanted: &Wanted, order: &Order) -> Result<ScenarioRecord, String> {
    let (id, tier) = (&wanted.attribute.id, order.tier);
    if record.schema != SCHEMA {
        return Err(format!("its record has schema `{}`, not {SCHEMA}", record.schema));
    }
    if record.declared.id != *id {
        return Err(format!("its record is of {}, not of {id}", record.declared.id));
    }
    if record.tier != tier {
        return Err(format!("its record is for the {} tier, not for {tier}", record.tier));
    }
    if record.harness != order.harness() {
        return Err("its record is of a test that stands elsewhere".to_owned());
    }
    Ok(record)
}

/// Fields of the test's attribute that are not what the plan says although its record tells of no drift: the harness
/// compares them too, but a record is only as good as the program that wrote it.
pub(crate) fn edited(record: &ScenarioRecord, plan: &Plan, scenario: &Scenario, wanted: &Wanted) -> Vec<&'static str> {
    if matches!(record.drift, Drift::Scenario { .. }) {
        return Vec::new();
    }
    let open = |field: &&'static str| wanted.attribute.unresolved.iter().any(|unresolved| unresolved == field);
    edited_fields(plan, scenario, &record.declared).into_iter().filter(|field| !open(field)).collect()
}
