//! Arms of a scenario: which there are, and what each inherits (format §4, D4).

use super::labels::{FALSIFIES, FAULTS, HARDENING, RELEASE, SMOKE};
use super::model::{Arm, Plan, Scenario};
use super::no_fault::{self, NoFault};
use super::{Budget, Budgets, Category, Id, Release, parse};
use crate::base::diagnostic::Spanned;
use rustc_hash::FxHashSet;

/// Label in §7.M.S of the list of arms.
pub(super) const LIST: &str = "Scenario arms";
/// Label in §7.M.S, or in the block of an arm, of what must be denied.
const NEGATIVE_CONTROLS: &str = "Negative controls";

impl Scenario {
    /// Ids of all arms: those with a block, in order, then those that §7.M.S lists and that have none. What is listed is
    /// planned: a run that does not cover it must say so. What is collapsed into another arm, with a reason, is covered
    /// there and is no arm.
    pub fn arm_ids(&self) -> Vec<Id> {
        let blocks = self.arms.iter().map(|arm| arm.id.value.clone());
        let lists = self.surfaces.iter().flatten().filter(|field| field.label == LIST);
        let listed = lists.flat_map(|field| {
            let text = &field.value.value;
            let gone = collapsed(text, &|id| self.arm(id).is_some());
            parse::ids_in(text, 'S').into_iter().filter(move |id| !gone.iter().any(|(one, _)| one == id))
        });
        let listed = listed.filter(|id| id.arm().is_some() && id.number() == self.id.value.number());
        let mut seen = FxHashSet::default();
        blocks.chain(listed).filter(|id| seen.insert(id.clone())).collect()
    }

    /// Arms that §7.M.S says to be collapsed, with a reason, and the arm that each is collapsed into.
    pub(super) fn collapsed_arms(&self) -> Vec<(Id, Id)> {
        let lists = self.surfaces.iter().flatten().filter(|field| field.label == LIST);
        lists.flat_map(|field| collapsed(&field.value.value, &|id| self.arm(id).is_some())).collect()
    }

    /// The block of the arm with this id.
    pub fn arm(&self, id: &Id) -> Option<&Arm> {
        self.arms.iter().find(|arm| arm.id.value == *id)
    }

    /// Each `Negative controls` of §7.M.S; of `arm` its own, if it has any. Empty unless a boundary or fairness claim is
    /// falsified, since then nothing must be denied.
    pub fn negative_controls(&self, plan: &Plan, arm: Option<&Arm>) -> Vec<String> {
        let gates = |id: &Id| plan.claim(id).is_some_and(|c| c.categories.iter().any(gates_surfaces));
        let own = arm.map(|arm| arm.falsifies(self));
        let claims = own.unwrap_or_else(|| self.falsifies.iter().map(|id| id.value.clone()).collect());
        if !claims.iter().any(gates) {
            return Vec::new();
        }
        let texts = |fields: &[super::Field]| -> Vec<String> {
            let filled = fields.iter().filter(|f| f.label == NEGATIVE_CONTROLS && !f.value.value.trim().is_empty());
            filled.map(|f| f.value.value.clone()).collect()
        };
        let own = arm.map(|arm| texts(&arm.fields)).unwrap_or_default();
        if own.is_empty() { self.surfaces.as_deref().map(texts).unwrap_or_default() } else { own }
    }
}

fn gates_surfaces(category: &Category) -> bool {
    category.gates_surfaces()
}

/// Ids without a block that a list of arms says to be collapsed into an arm with one: `S5/sdk and S5/cli collapsed into
/// S5/api — one code path`; each with that arm. Whatever is said in another way, or without a reason of three words, stays planned: to leave
/// a surface out by mistake would be a false PASS.
fn collapsed(text: &str, has_block: &dyn Fn(&Id) -> bool) -> Vec<(Id, Id)> {
    const VERB: &str = "collapsed into ";
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = text.to_ascii_lowercase();
    let mut gone = Vec::new();
    for (at, _) in lower.match_indices(VERB) {
        let opens = |mark: &str| text[..at].rfind(mark).map_or(0, |found| found + mark.len());
        let clause = &text[[";", ". ", "("].into_iter().map(opens).max().unwrap_or(0)..at];
        let rest = &text[at + VERB.len()..];
        let rest = &rest[..rest.find(';').unwrap_or(rest.len())];
        let target = rest.split(|c: char| c.is_whitespace() || ":,()".contains(c)).next().unwrap_or_default();
        let Some(into) = Id::parse(target.trim_matches('`')).filter(|id| has_block(id)) else { continue };
        let reason = rest[target.len()..].split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        if reason.count() < 3 {
            continue;
        }
        // Behind an arm of its own a comma may begin another entry of the list: only the last one is meant for sure.
        let mixed = parse::ids_in(clause, 'S').iter().any(has_block);
        let subject = clause.rsplit(',').next().filter(|_| mixed).unwrap_or(clause);
        let subjects = parse::ids_in(subject, 'S').into_iter().filter(|id| id.arm().is_some() && !has_block(id));
        gone.extend(subjects.map(|id| (id, into.clone())));
    }
    gone
}

impl Arm {
    /// The arm's own text of field `label`; `None` when absent or empty.
    pub fn own(&self, label: &str) -> Option<&Spanned<String>> {
        self.fields.iter().find(|f| f.label == label).map(|f| &f.value).filter(|v| !v.value.is_empty())
    }

    /// Its own text of field `label`, else the scenario's. Not for the oracle, which is never inherited.
    pub fn field<'p>(&'p self, scenario: &'p Scenario, label: &str) -> Option<&'p Spanned<String>> {
        self.own(label).or_else(|| scenario.field(label))
    }

    /// The surface it covers: the name in its heading, else the part of its id behind the slash.
    pub fn surface(&self) -> &str {
        self.name.as_deref().or(self.id.value.arm()).unwrap_or_default()
    }

    /// Claims that it falsifies.
    pub(super) fn falsifies(&self, scenario: &Scenario) -> Vec<Id> {
        match self.own(FALSIFIES) {
            Some(own) => parse::ids_in(&own.value, 'C'),
            None => scenario.falsifies.iter().map(|id| id.value.clone()).collect(),
        }
    }

    /// Its budgets, each tier its own or inherited; `None` when one is missing or cannot be read.
    pub(super) fn budgets(&self, scenario: &Scenario) -> Option<Budgets> {
        let inherited = scenario.budgets.as_ref();
        let no_faults = self.field(scenario, FAULTS).is_some_and(|f| no_fault::read(&f.value) != NoFault::Planned);
        let tier = |label: &str, of: fn(&Budgets) -> Budget| match self.own(label) {
            Some(own) => parse::tier(&own.value, no_faults),
            None => inherited.map(of),
        };
        let (smoke, hardening) = (tier(SMOKE, |b| b.smoke)?, tier(HARDENING, |b| b.hardening)?);
        let release: Release = match self.own(RELEASE) {
            Some(own) => parse::release_tier(&own.value, &hardening)?,
            None => inherited?.release.clone(),
        };
        Some(Budgets { smoke, hardening, release })
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::{Budget, Id, Release, parse, resolve_arm};

    const PLAN: &str = "# Test Plan: p\n\n## 1b. Claims under test\n\n\
        | ID | Claim | Category | Source | Inferred? |\n|---|---|---|---|---|\n\
        | C1 | a | boundary | x | no |\n| C2 | b | safety | x | no |\n\n\
        ## 7. Scenarios\n\n### Scenario S5: tenants_stay_apart\n\
        - **Falsifies if it FAILs:** C1, C2\n- **Faults:** none — it is about access\n\
        - **Smoke budget:** 1 node × 2s × 0 faults × 1 seed\n\
        - **Hardening budget:** 3 nodes × 30s × 0 faults × 3 seeds\n\
        - **Release budget:** not provided — no rig. Revisit when: there is one.\n\n\
        #### §7.M.S — Surface decomposition\n- **Surfaces:** api, sdk, admin\n\
        - **Negative controls:** tenant B reads A's key\n\
        - **Scenario arms:** S5/api, S5/sdk, S5/admin\n\n\
        #### Arm S5/api: public API\n- **Oracle:** linearizability\n\n\
        #### Arm S5/sdk\n- **Oracle:** linearizability\n- **Falsifies if it FAILs:** C1\n\
        - **Hardening budget:** 9 nodes × 90s × 0 faults × 9 seeds\n- **Negative controls:** the SDK lists B's keys\n";

    #[test]
    fn an_arm_that_is_only_listed_is_planned_as_well() {
        let (plan, _) = parse(PLAN);
        let ids: Vec<String> = plan.scenarios[0].arm_ids().iter().map(Id::to_string).collect();
        assert_eq!(ids, ["S5/api", "S5/sdk", "S5/admin"]);
        let (plan, _) = parse(&PLAN.replace("S5/api, S5/sdk, S5/admin", "none: one surface (S6/api is elsewhere)"));
        assert_eq!(plan.scenarios[0].arm_ids().len(), 2);
    }

    #[test]
    fn a_surface_that_is_collapsed_into_an_arm_with_a_reason_is_no_arm() {
        let check = |list: &str, expect: &str| {
            let (plan, _) = parse(&PLAN.replace("S5/api, S5/sdk, S5/admin", list));
            let ids: Vec<String> = plan.scenarios[0].arm_ids().iter().map(Id::to_string).collect();
            assert_eq!(ids.join(" "), format!("S5/api S5/sdk{expect}"), "{list}");
        };
        check("S5/api, S5/sdk, S5/admin collapsed into S5/api — one code path", "");
        check("S5/api, S5/sdk, S5/admin and S5/cli collapsed into `S5/api`, since both call it", "");
        check("S5/api, S5/sdk; S5/admin, S5/cli Collapsed into S5/api: they are clients of it", "");
        check("S5/api, S5/sdk, S5/admin\n  collapsed\n  into S5/api because it only forwards", "");
        // Which of a list is meant is not clear, or why, or into what.
        check("S5/api, S5/cli, S5/admin collapsed into S5/api — one code path", " S5/cli");
        check("S5/api, S5/sdk, S5/admin collapsed into S5/api", " S5/admin");
        check("S5/api, S5/sdk, S5/admin collapsed into S5/api — TBD", " S5/admin");
        check("S5/api, S5/sdk, S5/admin collapsed into S5/cli — one code path", " S5/admin S5/cli");
        check("S5/api, S5/sdk, S5/admin, never collapsed", " S5/admin");
        // What has a block is an arm whatever else is said.
        check("S5/api, S5/sdk collapsed into S5/api — one code path", "");
    }

    #[test]
    fn an_arm_inherits_what_it_leaves_out() {
        let (plan, _) = parse(PLAN);
        let scenario = &plan.scenarios[0];
        let of = |arm: usize| resolve_arm(&plan, scenario, &scenario.arms[arm]).0;
        let claims = |arm: usize| of(arm).falsifies.iter().map(|(id, _)| id.to_string()).collect::<Vec<_>>();
        assert_eq!((claims(0).join(" "), claims(1).join(" ")), ("C1 C2".to_owned(), "C1".to_owned()));
        let hardening = |arm: usize| of(arm).budgets.expect("budgets").hardening;
        assert_eq!(hardening(0), Budget { nodes: 3, seconds: 30, faults: 0, seeds: 3, operations: 0 });
        assert_eq!(hardening(1), Budget { nodes: 9, seconds: 90, faults: 0, seeds: 9, operations: 0 });
        assert!(matches!(of(1).budgets.expect("budgets").release, Release::NotProvided { .. }));
        assert_eq!((scenario.arms[0].surface(), scenario.arms[1].surface()), ("public API", "sdk"));
        let controls = |arm: usize| scenario.negative_controls(&plan, Some(&scenario.arms[arm])).join("; ");
        assert_eq!(controls(0), "tenant B reads A's key");
        assert_eq!(controls(1), "the SDK lists B's keys");
        let (plan, _) = parse(&PLAN.replace("9 nodes × 90s", "many nodes"));
        let scenario = &plan.scenarios[0];
        assert_eq!(resolve_arm(&plan, scenario, &scenario.arms[1]).0.budgets, None, "never the scenario's smaller one");
    }
}
