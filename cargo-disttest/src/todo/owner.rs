//! A scenario or an arm of it, as the plan tells of it: whose region is to be filled.

use disttest_runtime::plan::{self, Plan, Resolved, Scenario};
use serde::Serialize;

/// A claim in full.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Claim {
    /// Its id.
    pub id: String,
    /// The promise.
    pub text: String,
    /// What kinds of promise it is.
    pub categories: Vec<String>,
}

/// A hypothesis in full.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Hypothesis {
    /// Its id.
    pub id: String,
    /// What goes wrong.
    pub title: String,
    /// How, in a sentence.
    pub text: String,
}

/// A scenario or an arm of it.
pub(super) struct Owner<'a> {
    pub(super) id: String,
    pub(super) arm: Option<String>,
    pub(super) scenario: Option<&'a Scenario>,
    arm_of: Option<&'a plan::Arm>,
    /// What its prose yields.
    pub(super) resolved: Resolved,
}

impl<'a> Owner<'a> {
    /// The arm `arm` of `scenario`, or the whole of it; `id` names what the plan does not have.
    pub(super) fn of(plan: &'a Plan, scenario: Option<&'a Scenario>, arm: Option<&str>, id: &str) -> Owner<'a> {
        let named =
            |one: &&plan::Arm| one.id.value.to_string().split_once('/').is_some_and(|(_, name)| Some(name) == arm);
        let arm_of = scenario.and_then(|scenario| scenario.arms.iter().find(named));
        let resolved = match (scenario, arm_of) {
            (Some(scenario), Some(arm)) => plan::resolve_arm(plan, scenario, arm).0,
            (Some(scenario), None) => plan::resolve(plan, scenario).0,
            (None, _) => nothing(id),
        };
        let id = if scenario.is_some() { resolved.id.to_string() } else { id.to_owned() };
        Owner { id, arm: arm_of.and(arm).map(str::to_owned), scenario, arm_of, resolved }
    }

    /// The text of a field, an arm's own or the scenario's; empty when there is none.
    pub(super) fn field(&self, label: &str) -> &'a str {
        let own = self.arm_of.and_then(|arm| arm.fields.iter().find(|field| field.label == label)).map(|f| &f.value);
        let own = own.filter(|value| !value.value.is_empty());
        own.or_else(|| self.scenario.and_then(|scenario| scenario.field(label)))
            .map_or("", |value| value.value.as_str())
    }

    /// What the plan says for a region of this name (`workload`, `api/oracle`).
    pub(super) fn prose(&self, region: &str) -> Option<&'a str> {
        match region.rsplit('/').next() {
            Some("workload") => Some(self.field("Workload")),
            Some("faults") => Some(self.field(plan::FAULTS)),
            Some("oracle") => Some(self.field(plan::ORACLE)),
            _ => None,
        }
    }

    /// The text of a field of §7.M.
    pub(super) fn block(&self, label: &str) -> Option<&'a str> {
        let block = match self.arm_of {
            Some(arm) => arm.model_block.as_ref(),
            None => self.scenario.and_then(|scenario| scenario.model_block.as_ref()),
        }?;
        let field = match label {
            "Model under test" => &block.model,
            "Checker" => &block.checker,
            "Nemesis + landing evidence" => &block.nemesis,
            _ => return None,
        };
        field.as_ref().map(|field| field.value.as_str())
    }

    /// Its negative controls.
    pub(super) fn controls(&self, plan: &Plan) -> Vec<String> {
        self.scenario.map(|scenario| scenario.negative_controls(plan, self.arm_of)).unwrap_or_default()
    }

    /// The claims that it falsifies if it FAILs.
    pub(super) fn claims(&self, plan: &Plan) -> Vec<Claim> {
        let full = |(id, categories): &(plan::Id, Vec<plan::Category>)| Claim {
            id: id.to_string(),
            text: plan.claim(id).map(|claim| claim.text.value.clone()).unwrap_or_default(),
            categories: categories.iter().map(ToString::to_string).collect(),
        };
        self.resolved.falsifies.iter().map(full).collect()
    }

    /// The hypotheses that it closes.
    pub(super) fn hypotheses(&self, plan: &Plan) -> Vec<Hypothesis> {
        let closes = self.scenario.map(|scenario| scenario.closes.as_slice()).unwrap_or_default();
        let full = |id: &plan::Id| {
            let known = plan.hypothesis(id);
            Hypothesis {
                id: id.to_string(),
                title: known.map(|known| known.title.clone()).unwrap_or_default(),
                text: known.map(|known| known.text.clone()).unwrap_or_default(),
            }
        };
        closes.iter().map(|id| full(&id.value)).collect()
    }

    /// Everything the plan tells of it, for likeness with tests.
    pub(super) fn told(&self, plan: &Plan) -> String {
        let fields = ["Workload", plan::FAULTS, plan::ORACLE].map(|label| self.field(label).to_owned());
        let claims = self.claims(plan).into_iter().map(|claim| claim.text);
        let name = self.resolved.name.replace('_', " ");
        fields.into_iter().chain(claims).chain([name]).collect::<Vec<_>>().join(" ")
    }
}

/// What is resolved of a scenario that the plan does not have: nothing.
fn nothing(id: &str) -> Resolved {
    Resolved {
        id: plan::Id::parse(id).or_else(|| plan::Id::parse("S0")).expect("S0 is an id"),
        name: String::new(),
        falsifies: Vec::new(),
        model: None,
        checkers: Vec::new(),
        fault: plan::Fault::Unresolved,
        budgets: None,
    }
}
