//! Which scenarios have no test in the repository, and where their tests stand in an ephemeral package.

use super::package::NAME;
use crate::author::skeleton;
use crate::declare;
use crate::plan_file::PlanFile;
use crate::targets::{Found, Target};
use crate::workspace::{Member, Placed, Workspace};
use disttest_runtime::base::diagnostic::Diagnostic;
use disttest_runtime::plan::Scenario;
use disttest_runtime::session::path_safe;
use std::path::Path;

/// A test that the repository does not hold.
#[derive(Clone, Debug)]
pub(crate) struct Unauthored {
    /// The package under test.
    pub sut: Member,
    /// Where its file is in the ephemeral package, which is the same for every run of the plan, and what it says.
    pub target: Target,
}

impl Unauthored {
    /// Path in the ephemeral package, with `/`.
    pub(crate) fn relative(&self) -> &str {
        &self.target.placed.relative
    }

    /// Its scenario.
    pub(crate) fn id(&self) -> &str {
        &self.target.wanted.attribute.id
    }
}

/// Takes out of `found` what the repository does not hold, and gives it a place in the ephemeral package in `folder`:
/// targets whose file does not exist, and `scenarios` that could have a Rust test and name no file for it. A file that
/// is there is never replaced, whatever is wrong with it: one scenario, one test. With what there is to say about them.
pub(crate) fn unauthored(
    workspace: &Workspace,
    plan: &PlanFile,
    scenarios: &[&Scenario],
    folder: &Path,
    found: &mut Found,
) -> (Vec<Unauthored>, Vec<Diagnostic>) {
    let (missing, there) = std::mem::take(&mut found.targets).into_iter().partition(is_missing);
    found.targets = there;
    let mut all: Vec<Unauthored> = Vec::new();
    for target in missing {
        let (relative, sut) = (targeted(workspace, &target.placed), target.placed.member.clone());
        all.push(Unauthored { target: Target { placed: placed(folder, &sut, relative), ..target }, sut });
    }
    let mut told = Vec::new();
    for scenario in scenarios.iter().filter(|scenario| could_be_rust(scenario)) {
        let id = scenario.id.value.to_string();
        let Some(at) = found.left_out.iter().position(|(left_out, _)| *left_out == id) else { continue };
        let Some(sut) = workspace.under_test(&plan.path) else {
            let why = "it has no `Target test file`, and its plan stands in no package: -p names the one under test";
            found.left_out[at].1 = why.to_owned();
            continue;
        };
        // The plan is named as a test of the package under test names it.
        let relative = untargeted(scenario);
        let would_be = Placed { member: sut.clone(), relative: relative.clone() };
        let (wanted, diagnostics) = declare::scenario(workspace, plan, scenario, &would_be);
        told.extend(diagnostics);
        if let Some(wanted) = wanted {
            found.left_out.remove(at);
            let (wanted, _) = skeleton::plant(wanted, &plan.text, scenario.skeleton.as_ref());
            let skeleton = scenario.skeleton.is_some();
            let target = Target { placed: placed(folder, sut, relative), wanted, skeleton };
            all.push(Unauthored { target, sut: sut.clone() });
        }
    }
    (all, told)
}

fn placed(folder: &Path, sut: &Member, relative: String) -> Placed {
    let member = Member { name: NAME.to_owned(), root: folder.to_path_buf(), edition: sut.edition, tests: Vec::new() };
    Placed { member, relative }
}

/// Nothing at all stands there; a link that leads nowhere is something.
fn is_missing(target: &Target) -> bool {
    target.placed.path().symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

fn could_be_rust(scenario: &Scenario) -> bool {
    let language = scenario.skeleton_language.as_ref().map(|language| language.value.trim().to_lowercase());
    scenario.target.is_none() && scenario.arms.is_empty() && language.is_none_or(|language| language == "rust")
}

/// As it stands in the workspace: two packages may name the same file.
fn targeted(workspace: &Workspace, placed: &Placed) -> String {
    let below = placed.member.root.strip_prefix(&workspace.root).ok();
    let below: Option<Vec<&str>> = below.and_then(|path| path.iter().map(|part| part.to_str()).collect());
    let folders = below.unwrap_or_else(|| vec![&placed.member.name]);
    folders.into_iter().chain([placed.relative.as_str()]).collect::<Vec<_>>().join("/")
}

/// In a folder of its own. Should a plan name this very file for another scenario, one of the two is refused later.
fn untargeted(scenario: &Scenario) -> String {
    let id = path_safe(&scenario.id.value.to_string());
    let name: String = crate::author::frame::function_name(&scenario.name.value).chars().take(80).collect();
    format!("tests/untargeted/{id}_{name}.rs")
}
