//! The attribute of a test against the scenario of the plan: where it says less than the plan asks.

use crate::plan::{self, Arm, Category, Fault, Plan, Release, Resolved, Scenario};
use crate::verdict::{Declared, DeclaredFault, Scope};

/// Fields on which `declared` is not what the plan asks of `scenario` (for an arm, of that arm), in the words of the
/// attribute: `falsifies`, `model`, `checkers`, `nemesis`, `landing`, `budget`. Pure; linear in both.
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
    ];
    same.into_iter().filter(|(_, same)| !same).map(|(field, _)| field).collect()
}

/// What a test of `scenario`, generated from `plan` at the path `named`, would declare: for scenarios without a test
/// that could be asked. What the plan's prose does not yield is left out.
pub fn planned(plan: &Plan, named: &str, scenario: &Scenario) -> Declared {
    let asked = plan::resolve(plan, scenario).0;
    let scope = |per_key: bool| if per_key { Scope::PerKey } else { Scope::Whole };
    let planned = |nemeses, injector, victim| DeclaredFault::Planned { nemeses, injector, victim };
    Declared {
        id: asked.id.to_string(),
        test: asked.name.clone(),
        name: asked.name,
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
    }
}

/// What the plan asks of the scenario, or of its arm, with this id.
fn asked(plan: &Plan, scenario: &Scenario, id: &str) -> Option<Resolved> {
    if !id.contains('/') {
        return Some(plan::resolve(plan, scenario).0);
    }
    let is_it = |arm: &&Arm| arm.id.value.to_string() == id;
    scenario.arms.iter().find(is_it).map(|arm| plan::resolve_arm(plan, scenario, arm).0)
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
        planned(plan, "docs/plan.md", &plan.scenarios[0])
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

    fn flipped(scope: Scope) -> Scope {
        match scope {
            Scope::Whole => Scope::PerKey,
            Scope::PerKey => Scope::Whole,
        }
    }
}
