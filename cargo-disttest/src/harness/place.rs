//! Which scenarios have no test in the repository, and where their tests stand in an ephemeral package.

use super::package::NAME;
use crate::declare;
use crate::plan_file::PlanFile;
use crate::targets::{self, Found, Target};
use crate::workspace::{Member, Placed, Workspace};
use disttest_runtime::base::diagnostic::Diagnostic;
use disttest_runtime::plan::{Arm, LANGUAGE, Scenario};
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
/// targets whose file does not exist, and `scenarios` and arms that could have a Rust test and name no file for it. A
/// file that is there is never replaced, whatever is wrong with it: one scenario, one test. With what there is to say
/// about them.
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
    for scenario in scenarios {
        let Some(arms) = without_target(scenario) else { continue };
        let ids: Vec<String> = match arms.is_empty() {
            true => vec![scenario.id.value.to_string()],
            false => arms.iter().map(|arm| arm.id.value.to_string()).collect(),
        };
        if !ids.iter().all(|id| found.left_out.iter().any(|(left_out, _)| left_out == id)) {
            continue;
        }
        let Some(sut) = workspace.under_test(&plan.path) else {
            let why = "it has no `Target test file`, and its plan stands in no package: -p names the one under test";
            let these = found.left_out.iter_mut().filter(|(left_out, _)| ids.contains(left_out));
            these.for_each(|(_, reason)| *reason = why.to_owned());
            continue;
        };
        // The plan is named as a test of the package under test names it.
        let relative = untargeted(scenario);
        let would_be = Placed { member: sut.clone(), relative: relative.clone() };
        let (wanted, diagnostics) = match arms.is_empty() {
            true => declare::scenario(workspace, plan, scenario, &would_be),
            false => declare::arms(workspace, plan, scenario, &would_be, &arms),
        };
        told.extend(diagnostics);
        if let Some(wanted) = wanted {
            found.left_out.retain(|(left_out, _)| !ids.contains(left_out));
            let (wanted, _, skeleton) = targets::planted(plan, scenario, wanted, &arms);
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

/// The arms that could have a Rust test and name no file for it, which then stand in one; none of them for a scenario
/// without arms. `None` when every part names a file, or is no Rust.
fn without_target(scenario: &Scenario) -> Option<Vec<&Arm>> {
    let could_be_rust = |arm: Option<&Arm>| {
        let own = arm.and_then(|arm| arm.own(LANGUAGE)).or(scenario.skeleton_language.as_ref());
        own.is_none_or(|language| language.value.trim().eq_ignore_ascii_case("rust"))
    };
    if scenario.target.is_some() {
        return None;
    }
    if scenario.arm_ids().is_empty() {
        return could_be_rust(None).then(Vec::new);
    }
    let arms: Vec<&Arm> = scenario.arms.iter().filter(|arm| arm.target.is_none() && could_be_rust(Some(arm))).collect();
    Some(arms).filter(|arms| !arms.is_empty())
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
