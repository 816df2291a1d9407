//! The plan a test names: found, read and compared with what the test was made from.

use super::{edited_fields, path_safe, workspace_root};
use crate::base::digest::sha256_hex;
use crate::plan::{self, Id, Plan, Scenario};
use crate::verdict::{Declared, DeclaredFault, Drift};
use std::path::{Path, PathBuf};

/// A plan as a test names it, and what was found there.
#[derive(Clone, Debug)]
pub struct PlanFile {
    /// The path as the attribute spells it.
    pub declared: String,
    /// Where it is looked for first (found or not): what tells two plans apart.
    pub identity: PathBuf,
    /// The plan, or why there is none.
    pub found: Result<FoundPlan, String>,
}

/// A plan that was read.
#[derive(Clone, Debug)]
pub struct FoundPlan {
    /// Its bytes as text.
    pub text: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// What the text says.
    pub plan: Plan,
}

impl PlanFile {
    /// Looks for `declared` below the package in `manifest_dir`, then below each folder above it up to the workspace.
    pub fn find(declared: &str, manifest_dir: &Path) -> PlanFile {
        let workspace = workspace_root(manifest_dir);
        let not_found = || {
            let why = format!(
                "no plan `{declared}` below {} or its ancestors up to {}",
                manifest_dir.display(),
                workspace.display()
            );
            (manifest_dir.join(declared), Err(why))
        };
        let (identity, found) = candidates(declared, manifest_dir, &workspace)
            .find(|path| path.is_file())
            .map_or_else(not_found, |path| (path.clone(), read(&path)));
        PlanFile { declared: declared.to_owned(), identity, found }
    }

    /// Slug of the plan as a folder name: of its title, else of its file name.
    pub fn slug(&self) -> String {
        let title = self.plan().and_then(|plan| plan.header.slug.as_ref()).map(|slug| slug.value.clone());
        let stem = || Path::new(&self.declared).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let slug = path_safe(title.or_else(stem).unwrap_or_default().trim());
        if slug.chars().all(|c| c == '_') { "plan".to_owned() } else { slug }
    }

    /// The plan, if it was found.
    pub fn plan(&self) -> Option<&Plan> {
        self.found.as_ref().ok().map(|found| &found.plan)
    }
}

/// What became of the scenario since its test was made (D9, D10). `plan_sha256` is the one in the test.
///
/// A digest tells that the plan did not change, not that the test still says what the plan says: an attribute that was
/// edited by hand (a smaller budget, a checker less) is compared field by field and is as good as a changed scenario.
pub fn drift_of(file: &PlanFile, declared: &Declared, plan_sha256: &str) -> Drift {
    let found = match &file.found {
        Ok(found) => found,
        // Only a plan that is not there is unknown (D10). One that is there and cannot be read is not what the test was
        // made from.
        Err(why) if file.identity.exists() => return Drift::Scenario { fields: vec![why.clone()] },
        Err(why) => return Drift::Unknown { why: why.clone() },
    };
    if let Some(fields) = changed(&found.plan, declared) {
        return Drift::Scenario { fields };
    }
    if found.sha256 == plan_sha256 { Drift::None } else { Drift::PlanOnly }
}

/// In what `declared` is not what `plan` says of its scenario; `None` when it is.
pub(super) fn changed(plan: &Plan, declared: &Declared) -> Option<Vec<String>> {
    let Some(scenario) = scenario_of(plan, &declared.id) else {
        return Some(vec![format!("{} is no longer in the plan", declared.id)]);
    };
    if let Some(why) = not_asked_for(scenario, &declared.id) {
        return Some(vec![why]);
    }
    if plan::scenario_digest(plan, scenario) != declared.scenario_sha256 {
        return Some(changed_fields(plan, scenario, declared));
    }
    let edited = edited_fields(plan, scenario, declared);
    let fields: Vec<String> = edited.into_iter().map(|field| format!("{field} (of the attribute)")).collect();
    (!fields.is_empty()).then_some(fields)
}

fn candidates<'a>(
    declared: &'a str,
    manifest_dir: &'a Path,
    workspace: &'a Path,
) -> impl Iterator<Item = PathBuf> + use<'a> {
    manifest_dir.ancestors().take_while(move |dir| dir.starts_with(workspace)).map(move |dir| dir.join(declared))
}

fn read(path: &Path) -> Result<FoundPlan, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let sha256 = sha256_hex(&bytes);
    let text = String::from_utf8(bytes).map_err(|_| format!("{} is not UTF-8", path.display()))?;
    // What is wrong with the text is the lint's to say.
    let (plan, _) = plan::parse(&text);
    Ok(FoundPlan { text, sha256, plan })
}

/// The scenario with this id; for an arm, the scenario it belongs to.
fn scenario_of<'a>(plan: &'a Plan, id: &str) -> Option<&'a Scenario> {
    let id = Id::parse(id)?;
    plan.scenarios.iter().find(|s| s.id.value.number() == id.number())
}

/// Why the plan asks for no test with this id, though it has the scenario.
fn not_asked_for(scenario: &Scenario, id: &str) -> Option<String> {
    let arms: Vec<String> = scenario.arm_ids().iter().map(Id::to_string).collect();
    let own = Id::parse(id)?;
    match own.arm() {
        None if !arms.is_empty() => Some(format!("the plan tests {id} by its arms: {}", arms.join(", "))),
        Some(_) if !arms.contains(&own.to_string()) => Some(format!("{id} is no arm of the plan")),
        _ => None,
    }
}

/// Fields on which the attribute and the plan differ, as far as an attribute tells.
fn changed_fields(plan: &Plan, scenario: &Scenario, declared: &Declared) -> Vec<String> {
    let mut fields = Vec::new();
    let mut differs = |what: &str, differs: bool| {
        if differs {
            fields.push(what.to_owned());
        }
    };
    let claims: Vec<String> = scenario.falsifies.iter().map(|id| id.value.to_string()).collect();
    differs("name", scenario.name.value != declared.name);
    differs("Falsifies if it FAILs", claims.iter().ne(declared.falsifies.iter().map(|(claim, _)| claim)));
    differs("budgets", scenario.arms.is_empty() && scenario.budgets != declared.budgets);
    let block = scenario.model_block.as_ref();
    let planned = matches!(declared.fault, DeclaredFault::Planned { .. });
    differs("§7.M", scenario.arms.is_empty() && block.is_none() && declared.model.is_some());
    differs("Nemesis + landing evidence", planned && block.is_some_and(|b| b.nemesis.is_none()));
    let said = |fields: &[String], name: &str| fields.iter().any(|field| field == name);
    for edited in edited_fields(plan, scenario, declared) {
        let name = match edited {
            "falsifies" if said(&fields, "Falsifies if it FAILs") => continue,
            "falsifies" => "claim categories",
            "budget" if said(&fields, "budgets") => continue,
            "budget" => "budgets",
            "model" if said(&fields, "§7.M") => continue,
            "negative_controls" => "Negative controls",
            other => other,
        };
        fields.push(name.to_owned());
    }
    if fields.is_empty() {
        fields.push("text that the attribute does not hold (workload, faults, oracle, claims, hypotheses, …)".into());
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_looked_for_in_the_package_and_above_it_but_not_outside_the_workspace() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let workspace = dir.path().join("ws");
        let package = workspace.join("crates/a");
        let write = |path: PathBuf| {
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, "# Test Plan: x\n").expect("written");
        };
        std::fs::create_dir_all(&package).expect("made");
        std::fs::write(workspace.join("Cargo.lock"), "").expect("written");
        write(dir.path().join("docs/outside.md"));
        write(workspace.join("docs/above.md"));
        write(package.join("docs/own.md"));
        let check =
            |plan: &str, expect: bool| assert_eq!(PlanFile::find(plan, &package).found.is_ok(), expect, "{plan}");
        check("docs/own.md", true);
        check("docs/above.md", true);
        check("docs/outside.md", false);
    }

    #[test]
    fn a_plan_that_is_there_and_cannot_be_read_is_drift_and_one_that_is_not_there_is_unknown() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(dir.path().join("latin1.md"), b"# Test Plan: \xe9\n").expect("written");
        std::fs::write(dir.path().join("empty.md"), "").expect("written");
        let declared = crate::session::scenario::tests::declared("S1");
        let drift = |plan: &str| drift_of(&PlanFile::find(plan, dir.path()), &declared, "");
        assert!(matches!(drift("latin1.md"), Drift::Scenario { fields } if fields[0].contains("not UTF-8")));
        assert!(matches!(drift("empty.md"), Drift::Scenario { .. }));
        assert!(matches!(drift("none.md"), Drift::Unknown { .. }));
    }

    #[test]
    fn a_test_of_an_arm_that_the_plan_lacks_or_of_the_whole_in_place_of_its_arms_is_drift() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let text = "# Test Plan: p\n\n## 7. Scenarios\n\n### Scenario S1: a\n\n### Scenario S5: b\n\n#### Arm S5/api\n- **Oracle:** x\n";
        std::fs::write(dir.path().join("plan.md"), text).expect("written");
        let (plan, _) = plan::parse(text);
        let check = |id: &str, expect: Option<&str>| {
            let mut declared = crate::session::scenario::tests::declared(id);
            // Whatever the digest says.
            let scenario = scenario_of(&plan, id).expect("in the plan");
            declared.scenario_sha256 = plan::scenario_digest(&plan, scenario);
            let drift = drift_of(&PlanFile::find("plan.md", dir.path()), &declared, "");
            let expect = expect.map(|field| Drift::Scenario { fields: vec![field.to_owned()] });
            assert_eq!(drift, expect.unwrap_or(Drift::PlanOnly), "{id}");
        };
        check("S5", Some("the plan tests S5 by its arms: S5/api"));
        check("S5/old", Some("S5/old is no arm of the plan"));
        check("S1/api", Some("S1/api is no arm of the plan"));
        check("S5/api", None);
    }

    #[test]
    fn a_changed_scenario_names_every_field_of_the_attribute_that_differs() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let text = include_str!("../../tests-data/plans/register.md");
        let (plan, _) = plan::parse(text);
        let scenario = scenario_of(&plan, "S1").expect("in the plan");
        let declared = crate::session::planned(&plan, "plan.md", scenario, &scenario.id.value);
        let check = |from: &str, to: &str, expect: &[&str]| {
            assert!(text.contains(from), "{from}");
            std::fs::write(dir.path().join("plan.md"), text.replacen(from, to, 1)).expect("written");
            let drift = drift_of(&PlanFile::find("plan.md", dir.path()), &declared, "");
            let Drift::Scenario { fields } = drift else { panic!("{from}: {drift:?}") };
            assert!(
                fields.iter().map(|field| field.split(' ').next().unwrap_or_default()).eq(expect.iter().copied()),
                "{fields:?}"
            );
        };
        check("| durability |", "| ordering |", &["claim"]);
        check(
            "`linearizability` per key, and `no-lost-ack`\n",
            "`linearizability` per key, and `exactly-once`\n",
            &["checkers"],
        );
        check("× 6s × 1 fault", "× 7s × 1 fault", &["budgets"]);
        check("16 clients", "17 clients", &["text"]);
    }

    #[test]
    fn a_slug_is_always_one_folder_name() {
        let slug = |declared: &str| {
            PlanFile { declared: declared.into(), identity: PathBuf::new(), found: Err(String::new()) }.slug()
        };
        assert_eq!(slug("docs/abd-register.md"), "abd-register");
        assert_eq!(slug("docs/.."), "plan");
        assert_eq!(slug("a b.md"), "a_b");
    }
}
