//! Where elements stand by their ids, so that a look-up costs no walk through the plan.

use super::Id;
use super::model::Plan;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// Positions of claims, hypotheses and scenarios, made at the first look-up. No part of the plan's value: a clone
/// starts without one, and all are equal.
#[derive(Default)]
pub struct Index(OnceLock<Positions>);

#[derive(Default)]
struct Positions {
    claims: Table,
    hypotheses: Table,
    scenarios: Table,
}

/// Positions in one list, and the list they are of: one that was pushed to or taken from since is walked instead.
#[derive(Default)]
struct Table {
    first: FxHashMap<Id, usize>,
    list: (usize, usize),
}

impl Table {
    fn new<T>(all: &[T], id_of: impl Fn(&T) -> &Id) -> Table {
        let mut first = FxHashMap::default();
        for (i, element) in all.iter().enumerate() {
            first.entry(id_of(element).clone()).or_insert(i);
        }
        Table { first, list: identity(all) }
    }

    fn find<'a, T>(&self, all: &'a [T], id: &Id, id_of: impl Fn(&T) -> &Id) -> Option<&'a T> {
        if self.list != identity(all) {
            return all.iter().find(|e| id_of(e) == id);
        }
        let found = all.get(*self.first.get(id)?)?;
        if id_of(found) == id { Some(found) } else { all.iter().find(|e| id_of(e) == id) }
    }
}

fn identity<T>(all: &[T]) -> (usize, usize) {
    (all.as_ptr().addr(), all.len())
}

impl Plan {
    /// The first claim with this id.
    pub fn claim(&self, id: &Id) -> Option<&super::Claim> {
        self.positions().claims.find(&self.claims, id, |c| &c.id.value)
    }

    /// The first hypothesis with this id.
    pub fn hypothesis(&self, id: &Id) -> Option<&super::Hypothesis> {
        self.positions().hypotheses.find(&self.hypotheses, id, |h| &h.id.value)
    }

    /// The first scenario with this id.
    pub fn scenario(&self, id: &Id) -> Option<&super::Scenario> {
        self.positions().scenarios.find(&self.scenarios, id, |s| &s.id.value)
    }

    /// The first technique with this id.
    pub fn technique(&self, id: &Id) -> Option<&super::Technique> {
        self.techniques.iter().find(|t| t.id.as_ref().is_some_and(|own| &own.value == id))
    }

    fn positions(&self) -> &Positions {
        self.index.0.get_or_init(|| Positions {
            claims: Table::new(&self.claims, |c| &c.id.value),
            hypotheses: Table::new(&self.hypotheses, |h| &h.id.value),
            scenarios: Table::new(&self.scenarios, |s| &s.id.value),
        })
    }
}

impl Clone for Index {
    fn clone(&self) -> Index {
        Index::default()
    }
}

impl PartialEq for Index {
    fn eq(&self, _: &Index) -> bool {
        true
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Index")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_by_id_before_and_after_the_plan_changes() {
        let rows: String = (1..=9).rev().map(|n| format!("| C{n} | t{n} | safety | s | no |\n")).collect();
        let text = format!("## 1b. C\n\n| ID | Claim | Category | Source | Inferred? |\n|---|---|---|---|---|\n{rows}");
        let (mut plan, _) = super::super::parse(&text);
        let text_of = |plan: &Plan, id: &str| plan.claim(&Id::parse(id).expect("an id")).map(|c| c.text.value.clone());
        assert_eq!(text_of(&plan, "C3").as_deref(), Some("t3"));
        assert_eq!(text_of(&plan, "C10"), None);
        plan.claims.remove(0);
        assert_eq!((text_of(&plan, "C9"), text_of(&plan, "C8").as_deref()), (None, Some("t8")));
        plan.claims[0].id.value = Id::parse("C77").expect("an id");
        assert_eq!((text_of(&plan, "C8"), text_of(&plan, "C77").as_deref()), (None, Some("t8")));
        assert_eq!(text_of(&plan.clone(), "C1").as_deref(), Some("t1"));
    }
}
