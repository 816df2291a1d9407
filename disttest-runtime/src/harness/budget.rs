//! What one execution is asked to reach, how long it should take and how long it may.

use super::{DeclaredBudget, DeclaredBudgets, DeclaredRelease};
use crate::plan::{Budget, Budgets, Release, Tier};
use crate::run;
use std::time::Duration;

/// Effort of a legacy plan without budgets, when that was allowed (D2).
const UNBUDGETED: Budget = Budget { nodes: 3, seconds: 10, faults: 1, seeds: 1, operations: 0 };
/// Start of the cluster, baseline, final reads and checking, beside the workload.
const AROUND: Duration = Duration::from_secs(10);

/// What to reach for `tier`; a release tier without a budget asks for that of hardening.
pub(crate) fn wanted(budgets: Option<&Budgets>, tier: Tier) -> Budget {
    let Some(budgets) = budgets else { return UNBUDGETED };
    match (tier, &budgets.release) {
        (Tier::Smoke, _) => budgets.smoke,
        (Tier::Release, Release::Budget(budget)) => *budget,
        (Tier::Hardening | Tier::Release, _) => budgets.hardening,
    }
}

/// How long one execution should take.
pub(crate) fn expected(budget: &Budget) -> Duration {
    AROUND + Duration::from_secs(budget.seconds)
}

/// Longest time of one check and of its being given up, and how often each checker runs: on the history and on its
/// damaged copies.
const CHECKING: Duration = Duration::from_secs(6 * 70);

/// How long one execution may take before its process is ended from outside: what the run allows itself, the limits
/// of `checkers` checkers, and a minute for the rest. `given` (`DISTTEST_DEADLINE`, in seconds) wins.
pub(crate) fn deadline(budget: &Budget, checkers: usize, given: Option<u64>) -> Duration {
    let of_checkers = CHECKING * u32::try_from(checkers.max(1)).unwrap_or(1);
    given.map_or_else(|| run::deadline(budget) + of_checkers + Duration::from_secs(60), Duration::from_secs)
}

/// The attribute's budgets as the records hold them.
pub(crate) fn budgets(declared: &DeclaredBudgets) -> Budgets {
    Budgets {
        smoke: budget(&declared.smoke),
        hardening: budget(&declared.hardening),
        release: match declared.release {
            DeclaredRelease::Budget(declared) => Release::Budget(budget(&declared)),
            DeclaredRelease::NotProvided(text) => disclosure(text),
        },
    }
}

fn budget(declared: &DeclaredBudget) -> Budget {
    let DeclaredBudget { nodes, seconds, faults, seeds, operations } = *declared;
    Budget { nodes, seconds, faults, seeds, operations }
}

/// Splits `not provided — <reason>. Revisit when: <condition>.`; a text of another shape is all reason.
fn disclosure(text: &str) -> Release {
    let text = text.trim();
    let behind = text.strip_prefix("not provided").unwrap_or(text).trim_start();
    let behind = ["—", "--", "-", ":"].into_iter().find_map(|dash| behind.strip_prefix(dash)).unwrap_or(behind);
    let (reason, revisit) = behind.split_once("Revisit when:").unwrap_or((behind, ""));
    let clean = |part: &str| part.trim().trim_end_matches('.').to_owned();
    Release::NotProvided { reason: clean(reason), revisit: clean(revisit) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMOKE: Budget = Budget { nodes: 3, seconds: 6, faults: 1, seeds: 1, operations: 0 };
    const HARD: Budget = Budget { nodes: 5, seconds: 30, faults: 5, seeds: 3, operations: 20_000 };

    #[test]
    fn each_tier_asks_for_its_own_budget() {
        let none = Release::NotProvided { reason: String::new(), revisit: String::new() };
        let mut budgets = Budgets { smoke: SMOKE, hardening: HARD, release: none };
        assert_eq!(wanted(Some(&budgets), Tier::Smoke), SMOKE);
        assert_eq!(wanted(Some(&budgets), Tier::Release), HARD);
        budgets.release = Release::Budget(Budget { seeds: 30, ..HARD });
        assert_eq!(wanted(Some(&budgets), Tier::Release).seeds, 30);
        assert_eq!(wanted(None, Tier::Hardening), UNBUDGETED);
    }

    #[test]
    fn a_deadline_leaves_room_for_everything_that_was_asked() {
        assert!(deadline(&HARD, 2, None) > expected(&HARD) * 2);
        assert!(deadline(&HARD, 2, None) > deadline(&HARD, 1, None));
        assert_eq!(deadline(&HARD, 2, Some(5)), Duration::from_secs(5));
    }

    #[test]
    fn a_disclosure_is_split_into_reason_and_condition() {
        let check = |text: &str, reason: &str, revisit: &str| {
            let expect = Release::NotProvided { reason: reason.into(), revisit: revisit.into() };
            assert_eq!(disclosure(text), expect, "{text}");
        };
        check("not provided — no soak rig yet. Revisit when: one exists.", "no soak rig yet", "one exists");
        check("not provided -- cost. Revisit when: 1.0", "cost", "1.0");
        check("later", "later", "");
    }
}
