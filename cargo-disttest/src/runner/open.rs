//! Regions that nobody has filled yet: what keeps a scenario from running is said before anything is compiled.

use crate::author::regions;
use crate::commands::shorter;
use crate::targets::Target;
use std::path::Path;

/// True when each scenario and arm of `targets` still has an empty region, and there is one of them: whatever is
/// built, nothing would run.
pub(crate) fn nothing_could_run(targets: &[&Target]) -> bool {
    let ids = targets.iter().flat_map(|target| {
        let functions = target.wanted.functions();
        functions.into_iter().map(|(attribute, _)| (target.placed.path(), attribute.id.clone())).collect::<Vec<_>>()
    });
    !targets.is_empty() && ids.into_iter().all(|(path, id)| why_not_run(&path, &id).is_some())
}

/// What is still to be filled of the scenario or arm `id` in the test file `path`, as the reason why it did not run.
/// `None` where nothing is, and where the file cannot be read as ours: whoever builds it says what is wrong.
pub(crate) fn why_not_run(path: &Path, id: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let open = open(&text, id)?;
    let (_, line) = open[0];
    let names: Vec<&str> = open.iter().map(|(name, _)| *name).collect();
    let plural = if names.len() == 1 { ("region", "is") } else { ("regions", "are") };
    let place = format!("{}:{line}", shorter(path).display());
    Some(format!("{} {} {} not filled ({place})", plural.0, names.join(", "), plural.1))
}

/// The empty regions of `id` in `text`, with their lines; `None` when there is none.
fn open<'a>(text: &'a str, id: &str) -> Option<Vec<(&'a str, usize)>> {
    let prefix = id.split_once('/').map(|(_, arm)| format!("{arm}/")).unwrap_or_default();
    let own = |name: &str| ["workload", "faults", "oracle"].iter().any(|region| name == format!("{prefix}{region}"));
    let regions = regions::parse(text).ok()?.regions;
    let open: Vec<(&str, usize)> = regions
        .into_iter()
        .filter(|region| own(region.name) && !region.is_filled())
        .map(|region| (region.name, region.line))
        .collect();
    (!open.is_empty()).then_some(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arm_is_kept_from_running_by_its_own_regions_only() {
        let region = |name: &str, body: &str| format!("// disttest:begin {name}\n{body}\n// disttest:end {name}\n");
        let check = |text: &str, id: &str, expect: &[(&str, usize)]| {
            assert_eq!(open(text, id).unwrap_or_default(), expect, "{id} in {text}");
        };
        let todo = "disttest_runtime::todo!(\"x\")";
        let one = region("workload", "w") + &region("faults", todo) + &region("oracle", "todo!()");
        check(&one, "S1", &[("faults", 4), ("oracle", 7)]);
        let arms = region("api/workload", todo) + &region("sdk/workload", "w") + &region("helpers", todo);
        check(&arms, "S5/api", &[("api/workload", 1)]);
        check(&arms, "S5/sdk", &[]);
        check("fn main() {}", "S1", &[]);
    }
}
