//! What a scenario of a plan declares, in the words of the attribute.

use crate::author::Wanted;
use crate::author::attribute::{Attribute, Fault};
use crate::plan_file::PlanFile;
use crate::workspace::{Placed, Workspace};
use disttest_runtime::base::diagnostic::Diagnostic;
use disttest_runtime::plan::{self, Scenario};

/// The file of `scenario`; `None` when the diagnostics say why there can be none.
pub(crate) fn scenario(
    workspace: &Workspace,
    plan: &PlanFile,
    scenario: &Scenario,
    placed: &Placed,
) -> (Option<Wanted>, Vec<Diagnostic>) {
    let attribute = Attribute {
        id: scenario.id.value.to_string(),
        plan: workspace.plan_name(&plan.path, &placed.member).unwrap_or_default(),
        plan_sha256: plan.sha256.clone(),
        scenario_sha256: plan::scenario_digest(&plan.plan, scenario),
        falsifies: vec![],
        model: None,
        checkers: vec![],
        fault: Fault::None(String::new()),
        budgets: None,
        exit_criteria: None,
        negative_controls: vec![],
        unresolved: vec![],
    };
    let wanted = Wanted {
        name: scenario.name.value.clone(),
        attribute,
        generator: concat!("cargo-disttest ", env!("CARGO_PKG_VERSION")).to_owned(),
        workload: String::new(),
        faults: String::new(),
        oracle: String::new(),
    };
    (Some(wanted), vec![])
}
