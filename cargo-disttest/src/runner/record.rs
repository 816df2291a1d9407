//! The record that a scenario left, and whether it may be believed.

use super::execute::Order;
use crate::author::attribute::Attribute;
use crate::workspace::Placed;
use disttest_runtime::plan::{Plan, Scenario};
use disttest_runtime::session::{edited_fields, path_safe};
use disttest_runtime::verdict::{Drift, ScenarioRecord, Verdict};
use std::path::Path;

const SCHEMA: &str = "disttest.scenario/1";

/// The record of the scenario or arm `id` in the session of `order`.
///
/// # Errors
/// There is none, it cannot be read, or it answers another question than was asked.
pub(crate) fn read(order: &Order, id: &str) -> Result<ScenarioRecord, String> {
    accept(in_folder(&Path::new(&order.session).join(ARTIFACTS).join(path_safe(id)))?, id, order)
}

const ARTIFACTS: &str = "artifacts";

fn in_folder(folder: &Path) -> Result<ScenarioRecord, String> {
    let text = std::fs::read_to_string(folder.join("scenario.json"))
        .map_err(|_| "it left no record in the session".to_owned())?;
    serde_json::from_str(&text).map_err(|error| format!("its record cannot be read: {error}"))
}

/// Records of the session that belong to the scenario `root` and are of none of its `parts`: of an arm that the plan does
/// not have, or of the whole where the plan has arms. The harness notes every function of a test binary, whether or not
/// it ran.
pub(crate) fn strays(session: &Path, root: &str, parts: &[String]) -> Vec<ScenarioRecord> {
    let known: Vec<String> = parts.iter().map(|id| path_safe(id)).collect();
    let arm = format!("{}__", path_safe(root));
    let is_stray = |name: &str| (name == root || name.starts_with(&arm)) && !known.iter().any(|part| part == name);
    let entries = std::fs::read_dir(session.join(ARTIFACTS)).into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_stray)).collect();
    folders.sort_by_key(|entry| entry.file_name());
    folders.iter().filter_map(|folder| in_folder(&folder.path()).ok()).collect()
}

fn accept(record: ScenarioRecord, id: &str, order: &Order) -> Result<ScenarioRecord, String> {
    let tier = order.tier;
    if record.schema != SCHEMA {
        return Err(format!("its record has schema `{}`, not {SCHEMA}", record.schema));
    }
    if record.declared.id != id {
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

/// True when the test target of `placed` wrote the record: another one may have a function of the same id.
pub(crate) fn is_of(record: &ScenarioRecord, placed: &Placed) -> bool {
    let declared = &record.declared;
    // Cargo knows no targets of the ephemeral package, which has a name of its own.
    let target = placed.test_target().map(|target| target.replace('-', "_"));
    let same = declared.package == placed.member.name && target.is_none_or(|target| target == declared.target);
    // Only what `run` itself notes has no package, and that is never a result.
    same || declared.package.is_empty() && record.verdict == Verdict::NotRun
}

/// Why the record, which tells of no drift, is of a test that was not made for what the plan says of the scenario now:
/// another plan may have a scenario of the same id in the same file, and a test compares itself with its own plan only.
pub(crate) fn made_for_another(record: &ScenarioRecord, wanted: &Attribute) -> Option<String> {
    let declared = &record.declared;
    if declared.plan != wanted.plan {
        return Some(format!("its test was made from another plan, {}", declared.plan));
    }
    let drifted = matches!(record.drift, Drift::Scenario { .. });
    let same = drifted || declared.scenario_sha256 == wanted.scenario_sha256;
    (!same).then(|| "its test was made for another text of the scenario".to_owned())
}

/// Fields of the test's attribute that are not what the plan says although its record tells of no drift: the harness
/// compares them too, but a record is only as good as the program that wrote it.
pub(crate) fn edited(
    record: &ScenarioRecord,
    plan: &Plan,
    scenario: &Scenario,
    wanted: &Attribute,
) -> Vec<&'static str> {
    if matches!(record.drift, Drift::Scenario { .. }) {
        return Vec::new();
    }
    let open = |field: &&'static str| wanted.unresolved.iter().any(|unresolved| unresolved == field);
    edited_fields(plan, scenario, &record.declared).into_iter().filter(|field| !open(field)).collect()
}
