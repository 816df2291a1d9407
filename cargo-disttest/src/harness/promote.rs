//! Tests that were filled in an ephemeral package, on their way into the repository.

use super::folder;
use super::package;
use crate::author::{FileChange, Wanted, file_change, regions, write};
use std::path::Path;

/// The text for the repository's file of `wanted`, with the regions that were filled in the ephemeral package `from`;
/// `None` when it has no test of this scenario that is filled anywhere.
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
        if scenario.split(' ').next() != Some(wanted.attribute.id.as_str()) {
            continue;
        }
        let filled = pieces.regions.iter().any(|region| region.is_filled() && !region.body.trim().is_empty());
        return match file_change(wanted, Some(&text), format) {
            _ if !filled => Ok(None),
            FileChange::UpToDate { .. } | FileChange::Create { .. } => Ok(Some(text)),
            FileChange::Update { text, .. } => Ok(Some(text)),
            FileChange::Conflict { reason, .. } => Err(format!("{}: {reason}", path.display())),
        };
    }
    Ok(None)
}
