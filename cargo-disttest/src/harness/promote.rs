//! Tests that were filled in an ephemeral package, on their way into the repository.

use super::folder;
use super::package;
use crate::author::{FileChange, Wanted, file_change, regions, write};
use std::path::Path;

/// `from` is an ephemeral package, of the plan `plan` if there is one to compare with.
///
/// # Errors
/// What was looked for there and what is there.
pub(crate) fn is_package(from: &Path, plan: Option<&str>) -> Result<(), String> {
    let shown = from.display();
    let looked_for = format!(
        "looked for {shown}/Cargo.toml with `[package.metadata.disttest] plan`, as `cargo disttest run PLAN --harness DIR` \
         writes it"
    );
    let Some(text) = write::read(&from.join("Cargo.toml")).map_err(|why| format!("{why}; {looked_for}"))? else {
        let what = if from.is_dir() { "has no Cargo.toml" } else { "is no folder" };
        return Err(format!("{shown} {what}: {looked_for}"));
    };
    match (package::plan_of(&text), plan) {
        (None, _) => Err(format!("{shown} holds another package: {looked_for}")),
        (Some(theirs), Some(plan)) if theirs != plan => {
            Err(format!("{shown} is the ephemeral package of another plan, {theirs}, and not of {plan}"))
        }
        _ => Ok(()),
    }
}

/// The text for the repository's file of `wanted`, with the regions that were filled in the ephemeral package `from`;
/// `None` when it has no test of this scenario that is filled anywhere. What was filled for another text of the plan stays
/// what it says it is: `author` brings it up to date, and asks whether its code still does what the plan says.
///
/// # Errors
/// `from` is no ephemeral package of the plan, or its test of the scenario was edited outside of its regions.
pub(crate) fn promoted(
    from: &Path,
    wanted: &Wanted,
    format: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<String>, String> {
    let manifest = folder::manifest(from, &wanted.attribute.plan)?;
    let manifest = manifest.ok_or_else(|| format!("{} holds no ephemeral package", from.display()))?;
    for (_, relative) in package::tests(&manifest) {
        let path = from.join(&relative);
        let Some(text) = write::read(&path)? else { continue };
        let Ok(pieces) = regions::parse(&text) else { continue };
        let scenario = pieces.header_line("Scenario:").unwrap_or_default();
        // The arms of a scenario may stand in several files.
        let mut regions = wanted.regions().into_iter().filter(|name| name != "helpers");
        let holds_some = regions.any(|name| pieces.region(&name).is_some()) || wanted.arms.is_empty();
        if scenario.split(' ').next() != Some(wanted.attribute.id.as_str()) || !holds_some {
            continue;
        }
        let filled = pieces.regions.iter().any(|region| region.is_filled() && !region.body.trim().is_empty());
        return match file_change(wanted, Some(&text), format) {
            _ if !filled => Ok(None),
            FileChange::UpToDate { .. } | FileChange::Create { .. } => Ok(Some(text)),
            FileChange::Update { text: updated, .. } => {
                let same = folder::was_made_for(&text, &wanted.attribute.scenario_sha256);
                Ok(Some(if same { updated } else { text }))
            }
            FileChange::Conflict { reason, .. } => Err(format!("{}: {reason}", path.display())),
        };
    }
    Ok(None)
}
