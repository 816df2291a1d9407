//! The attribute of a test against the scenario of the plan: where it says less than the plan asks.

use crate::plan::{self, Category, Fault, Id, Plan, Release, Resolved, Scenario};
use crate::verdict::{Declared, DeclaredFault, Scope};

/// Fields on which `declared` is not what the plan asks of `scenario` (for an arm, of that arm), in the words of the
/// attribute: `falsifies`, `model`, `checkers`, `nemesis`, `landing`, `budget`, `negative_controls`. Pure; linear in both. A test that
/// names the scenario where the plan wants its arms, or an arm that the plan does not have, differs in its `id`.
///
/// More than the plan asks is no difference: one more checker, one more nemesis, a larger budget. Signals are an
/// exception, since one more is one more way for a fault to count as landed. What the plan's prose does not yield is not
/// compared: whoever filled it in had to.
pub fn edited_fields(plan: &Plan, scenario: &Scenario, declared: &Declared) -> Vec<&'static str> {
    let Some(asked) = asked(plan, scenario, &declared.id) else { return vec!["id"] };
    let (nemesis, landing) = same_fault(declared, &asked.fault);
    let same = [
        ("falsifies", same_claims(declared, &asked)),
        ("model", asked.model.is_none() || declared.model == asked.model),
        ("checkers", same_checkers(declared, &asked)),
        ("nemesis", nemesis),
        ("landing", landing),
        ("budget", same_budgets(declared, &asked)),
        ("negative_controls", same_controls(declared, plan, scenario)),
    ];
    same.into_iter().filter(|(_, same)| !same).map(|(field, _)| field).collect()
}

/// What a test of `scenario`, or of its arm `id`, generated from `plan` at the path `named`, would declare: for scenarios
/// without a test that could be asked. What the plan's prose does not yield is left out.
pub fn planned(plan: &Plan, named: &str, scenario: &Scenario, id: &Id) -> Declared {
    let arm = scenario.arm(id);
    let asked = arm.map_or_else(|| plan::resolve(plan, scenario), |arm| plan::resolve_arm(plan, scenario, arm)).0;
    let scope = |per_key: bool| if per_key { Scope::PerKey } else { Scope::Whole };
    let planned = |nemeses, injector, victim| DeclaredFault::Planned { nemeses, injector, victim };
    let name = scenario.name.value.clone();
    Declared {
        id: id.to_string(),
        test: id.arm().map_or_else(|| name.clone(), |arm| format!("{name}__{arm}")),
        name,
        plan: named.to_owned(),
        scenario_sha256: plan::scenario_digest(plan, scenario),
        falsifies: asked.falsifies.into_iter().map(|(id, categories)| (id.to_string(), categories)).collect(),
        model: asked.model,
        checkers: asked.checkers.into_iter().map(|(name, per_key)| (name, scope(per_key))).collect(),
        fault: match asked.fault {
            Fault::Planned { nemeses, injector, victim } => planned(nemeses, injector, victim),
            Fault::NoFault { reason } => DeclaredFault::None { reason },
            Fault::Unresolved => planned(Vec::new(), Vec::new(), Vec::new()),
        },
        budgets: asked.budgets,
        shares_nothing: false,
        package: String::new(),
        target: String::new(),
        surface: arm.map(|arm| arm.surface().to_owned()),
        negative_controls: scenario.negative_controls(plan, arm),
    }
}

/// What the plan asks of the scenario, or of its arm, with this id. A scenario with arms is asked for by them alone: one
/// test for the whole would judge by no arm's oracle.
fn asked(plan: &Plan, scenario: &Scenario, id: &str) -> Option<Resolved> {
    let id = Id::parse(id)?;
    if id == scenario.id.value && scenario.arm_ids().is_empty() {
        return Some(plan::resolve(plan, scenario).0);
    }
    scenario.arm(&id).map(|arm| plan::resolve_arm(plan, scenario, arm).0)
}

/// Each negative control of the plan is declared; quotes, breaks and other signs do not count, since one of them may not
/// pass into source code.
fn same_controls(declared: &Declared, plan: &Plan, scenario: &Scenario) -> bool {
    let flat = |text: &String| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let have: Vec<String> = declared.negative_controls.iter().map(flat).collect();
    let arm = Id::parse(&declared.id).and_then(|id| scenario.arm(&id));
    scenario.negative_controls(plan, arm).iter().all(|wanted| have.contains(&flat(wanted)))
}

fn same_claims(declared: &Declared, asked: &Resolved) -> bool {
    let sorted = |claims: Vec<(String, Vec<Category>)>| {
        let mut claims = claims;
        claims.iter_mut().for_each(|(_, categories)| categories.sort());
        claims.sort();
        claims
    };
    let asked = asked.falsifies.iter().map(|(id, categories)| (id.to_string(), categories.clone())).collect();
    sorted(declared.falsifies.clone()) == sorted(asked)
}

fn same_checkers(declared: &Declared, asked: &Resolved) -> bool {
    let scope = |per_key: bool| if per_key { Scope::PerKey } else { Scope::Whole };
    asked.checkers.iter().all(|(name, per_key)| declared.checkers.contains(&(name.clone(), scope(*per_key))))
}

/// (nemeses, signals) are those of the plan.
fn same_fault(declared: &Declared, asked: &Fault) -> (bool, bool) {
    match (&declared.fault, asked) {
        (_, Fault::Unresolved) | (DeclaredFault::None { .. }, Fault::NoFault { .. }) => (true, true),
        (
            DeclaredFault::Planned { nemeses, injector, victim },
            Fault::Planned { nemeses: planned, injector: planned_injector, victim: planned_victim },
        ) => (
            planned.iter().all(|nemesis| nemeses.contains(nemesis)),
            injector == planned_injector && victim == planned_victim,
        ),
        _ => (false, true),
    }
}

fn same_budgets(declared: &Declared, asked: &Resolved) -> bool {
    match (&declared.budgets, &asked.budgets) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(declared), Some(asked)) => {
            let release = match (&declared.release, &asked.release) {
                (Release::Budget(declared), Release::Budget(asked)) => declared.meets(asked),
                (_, Release::NotProvided { .. }) => true,
                (Release::NotProvided { .. }, Release::Budget(_)) => false,
            };
            release && declared.smoke.meets(&asked.smoke) && declared.hardening.meets(&asked.hardening)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Budget, Budgets};

    const PLAN: &str = include_str!("../../tests-data/plans/register.md");

    /// What an honest test of the plan's first scenario declares.
    fn honest(plan: &Plan) -> Declared {
        planned(plan, "docs/plan.md", &plan.scenarios[0], &plan.scenarios[0].id.value)
    }

    fn check(edit: impl Fn(&mut Declared), expect: &[&str]) {
        let (plan, _) = plan::parse(PLAN);
        let mut declared = honest(&plan);
        edit(&mut declared);
        assert_eq!(edited_fields(&plan, &plan.scenarios[0], &declared), expect);
    }

    fn lists(declared: &mut Declared) -> (&mut Vec<String>, &mut Vec<String>, &mut Vec<String>) {
        match &mut declared.fault {
            DeclaredFault::Planned { nemeses, injector, victim } => (nemeses, injector, victim),
            DeclaredFault::None { .. } => panic!("S1 plans a fault"),
        }
    }

    fn budgets(declared: &mut Declared) -> &mut Budgets {
        declared.budgets.as_mut().expect("S1 has budgets")
    }

    #[test]
    fn an_attribute_as_generated_or_stronger_is_what_the_plan_says() {
        check(|_| {}, &[]);
        check(|d| d.checkers.push(("mine".to_owned(), Scope::Whole)), &[]);
        check(|d| lists(d).0.push("latency".to_owned()), &[]);
        check(|d| budgets(d).hardening.seconds += 1, &[]);
    }

    #[test]
    fn a_weaker_attribute_is_told_field_by_field() {
        check(|d| d.id = "S1/arm".to_owned(), &["id"]);
        check(|d| drop(d.falsifies.pop()), &["falsifies"]);
        check(|d| d.falsifies[0].1 = vec![Category::Operational], &["falsifies"]);
        check(|d| d.model = Some("map".to_owned()), &["model"]);
        check(|d| d.model = None, &["model"]);
        check(|d| drop(d.checkers.pop()), &["checkers"]);
        check(|d| d.checkers.iter_mut().for_each(|(_, scope)| *scope = flipped(*scope)), &["checkers"]);
        check(|d| drop(lists(d).0.pop()), &["nemesis"]);
        check(|d| d.fault = DeclaredFault::None { reason: "easier".to_owned() }, &["nemesis"]);
        check(|d| lists(d).1.push("proxy-passed-bytes".to_owned()), &["landing"]);
        check(|d| lists(d).2.push("client-errors".to_owned()), &["landing"]);
        check(|d| d.budgets = None, &["budget"]);
        check(|d| budgets(d).smoke = Budget { seconds: 1, ..budgets(d).smoke }, &["budget"]);
        check(|d| budgets(d).hardening.seeds = 1, &["budget"]);
        check(|d| budgets(d).hardening.operations = 0, &["budget"]);
    }

    const ARMS: &str = "## 1b. Claims under test\n\n| ID | Claim | Category | Source | Inferred? |\n|---|---|---|---|---|\n\
        | C1 | apart | boundary | x | no |\n\n## 7. Scenarios\n\n### Scenario S5: apart\n\
        - **Falsifies if it FAILs:** C1\n- **Faults:** none — about access\n\n\
        #### §7.M.S\n- **Negative controls:** tenant \"B\"\n  reads A\n- **Scenario arms:** S5/api, S5/sdk\n\n\
        #### Arm S5/api\n- **Oracle:** `linearizability`\n\n#### §7.M\n- **Model under test:** map\n\
        - **Checker:** `linearizability` per key\n";

    #[test]
    fn an_arm_is_asked_for_by_its_own_id_and_nothing_else() {
        let (plan, _) = plan::parse(ARMS);
        let scenario = &plan.scenarios[0];
        let id = |text: &str| Id::parse(text).expect("an id");
        let honest = planned(&plan, "docs/plan.md", scenario, &id("S5/api"));
        assert_eq!((honest.name.as_str(), honest.test.as_str()), ("apart", "apart__api"));
        assert_eq!((honest.surface.as_deref(), honest.model.as_deref()), (Some("api"), Some("map")));
        let check = |edit: &dyn Fn(&mut Declared), expect: &[&str]| {
            let mut declared = honest.clone();
            edit(&mut declared);
            assert_eq!(edited_fields(&plan, scenario, &declared), expect);
        };
        check(&|_| {}, &[]);
        check(&|d| d.negative_controls = vec!["tenant B reads A".to_owned(), "and more".to_owned()], &[]);
        check(&|d| d.negative_controls.clear(), &["negative_controls"]);
        check(&|d| d.model = Some("register".to_owned()), &["model"]);
        // Listed without a block, unknown, and the whole in place of its arms.
        for other in ["S5/sdk", "S5/old", "S5", "no id"] {
            check(&|d| d.id = other.to_owned(), &["id"]);
        }
    }

    fn flipped(scope: Scope) -> Scope {
        match scope {
            Scope::Whole => Scope::PerKey,
            Scope::PerKey => Scope::Whole,
        }
    }
}
