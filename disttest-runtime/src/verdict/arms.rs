//! Verdict of a scenario with arms, from the verdicts of its arms (format.md §4, D4).

use super::{Step, Verdict, Why};

/// The parent's verdict and why, from `(id, verdict)` of each arm that the plan or the session knows; `None` is an arm
/// without a record, which did not run. Pure, total, and the order of the arms does not matter.
///
/// A FAIL of an arm is one of the parent. Arms that all say the same PASS, INCONCLUSIVE or NOT-RUN say it together. Else
/// an arm that did not pass caps the whole at PARTIAL-surface, and passes of both kinds are a PASS-smoke. No arm at all
/// is NOT-RUN.
pub fn aggregate<I: AsRef<str>>(arms: &[(I, Option<Verdict>)]) -> (Verdict, Why) {
    let arms: Vec<(&str, Verdict)> =
        arms.iter().map(|(id, verdict)| (id.as_ref(), verdict.unwrap_or(Verdict::NotRun))).collect();
    let (rule, verdict, reason) = decide(&arms);
    (verdict, Why { steps: vec![Step { rule: rule.to_owned(), verdict, reason }] })
}

fn decide(arms: &[(&str, Verdict)]) -> (&'static str, Verdict, String) {
    let Some((_, first)) = arms.first().copied() else {
        return ("arms-none", Verdict::NotRun, "it has no arm that could run".to_owned());
    };
    for fail in [Verdict::FailReproducible, Verdict::FailNondeterministic] {
        if arms.iter().any(|(_, verdict)| *verdict == fail) {
            return ("arm-failed", fail, format!("violation in {}", listed(arms, |v| v.is_fail())));
        }
    }
    if arms.iter().all(|(_, verdict)| *verdict == first) && !is_partial(first) {
        let reason = match arms.len() {
            1 => format!("its only arm: {}", listed(arms, |_| true)),
            n => format!("each of its {n} arms: {first}"),
        };
        return ("arms-agree", first, reason);
    }
    if arms.iter().any(|(_, verdict)| !verdict.is_pass()) {
        let reason = format!("capped by {}", listed(arms, |v| !v.is_pass()));
        return ("arm-missing", Verdict::PartialSurface, reason);
    }
    let reason = format!("the weakest of its arms: {}", listed(arms, |v| v == Verdict::PassSmoke));
    ("arms-differ", Verdict::PassSmoke, reason)
}

/// `S5/api NOT-RUN, S5/sdk PARTIAL-model`.
fn listed(arms: &[(&str, Verdict)], wanted: impl Fn(Verdict) -> bool) -> String {
    let wanted = arms.iter().filter(|(_, verdict)| wanted(*verdict));
    wanted.map(|(id, verdict)| format!("{id} {verdict}")).collect::<Vec<_>>().join(", ")
}

/// `S5` of `S5/api`; `None` for a scenario that is no arm.
pub fn parent_of(id: &str) -> Option<&str> {
    id.split_once('/').map(|(parent, _)| parent)
}

/// The scenario that `id` belongs to: itself, or for an arm its parent.
pub fn root_of(id: &str) -> &str {
    parent_of(id).unwrap_or(id)
}

fn is_partial(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::PartialSurface | Verdict::PartialModel)
}

#[cfg(test)]
mod tests {
    use super::Verdict::*;
    use super::*;

    fn joined(arms: &[Option<Verdict>]) -> (Verdict, Why) {
        let named: Vec<(String, Option<Verdict>)> =
            arms.iter().enumerate().map(|(i, verdict)| (format!("S5/{i}"), *verdict)).collect();
        aggregate(&named)
    }

    #[test]
    fn arms_are_joined_as_the_format_says_and_say_why() {
        let check = |arms: &[Verdict], expect: Verdict, why: &str| {
            let (verdict, reason) = joined(&arms.iter().copied().map(Some).collect::<Vec<_>>());
            assert_eq!((verdict, reason.headline().as_str()), (expect, why), "{arms:?}");
        };
        check(&[], NotRun, "it has no arm that could run");
        check(&[PassHardening, PassHardening], PassHardening, "each of its 2 arms: PASS-hardening");
        check(&[PassSmoke, PassHardening], PassSmoke, "the weakest of its arms: S5/0 PASS-smoke");
        check(&[NotRun, NotRun], NotRun, "each of its 2 arms: NOT-RUN");
        check(&[NotRun, PassHardening], PartialSurface, "capped by S5/0 NOT-RUN");
        check(&[PartialModel, PartialModel], PartialSurface, "capped by S5/0 PARTIAL-model, S5/1 PARTIAL-model");
        check(&[PassSmoke], PassSmoke, "its only arm: S5/0 PASS-smoke");
        check(
            &[FailNondeterministic, PassSmoke, FailReproducible],
            FailReproducible,
            "violation in S5/0 FAIL-nondeterministic, S5/2 FAIL-reproducible",
        );
    }

    /// The format's sentences, each as it is written there: first match.
    fn by_the_book(arms: &[Option<Verdict>]) -> &'static str {
        let text = |arm: &Option<Verdict>| arm.map_or("NOT-RUN", Verdict::as_str);
        let has = |prefix: &str| arms.iter().any(|arm| text(arm).starts_with(prefix));
        let words: std::collections::BTreeSet<&str> = arms.iter().map(text).collect();
        let one = (words.len() == 1).then(|| words.first().copied()).flatten();
        if has("FAIL-reproducible") {
            "FAIL-reproducible"
        } else if has("FAIL-nondeterministic") {
            "FAIL-nondeterministic"
        } else if let Some(same) = one.filter(|word| !word.starts_with("PARTIAL")) {
            same
        } else if has("NOT-RUN") || has("PARTIAL-") || has("INCONCLUSIVE-") {
            "PARTIAL-surface"
        } else {
            "PASS-smoke"
        }
    }

    #[test]
    fn every_set_of_up_to_three_arms_comes_to_the_verdict_of_the_format() {
        let states: Vec<Option<Verdict>> = Verdict::ALL.into_iter().map(Some).chain([None]).collect();
        let mut sets = 0;
        let mut check = |arms: &[Option<Verdict>]| {
            let (verdict, why) = joined(arms);
            assert_eq!(verdict.as_str(), by_the_book(arms), "{arms:?}");
            let passed = |arm: &Option<Verdict>| arm.is_some_and(Verdict::is_pass);
            let failed = |arm: &Option<Verdict>| arm.is_some_and(Verdict::is_fail);
            assert!(!verdict.is_pass() || arms.iter().all(passed), "a PASS with an arm that did not: {arms:?}");
            assert_eq!(verdict.is_fail(), arms.iter().any(failed), "{arms:?}");
            assert_eq!(why.steps.last().map(|step| step.verdict), Some(verdict), "{arms:?}");
            let backwards: Vec<Option<Verdict>> = arms.iter().rev().copied().collect();
            assert_eq!(joined(&backwards).0, verdict, "the order of arms does not matter: {arms:?}");
            sets += 1;
        };
        for (i, a) in states.iter().enumerate() {
            check(&[*a]);
            for (j, b) in states.iter().enumerate().skip(i) {
                check(&[*a, *b]);
                states.iter().skip(j).for_each(|c| check(&[*a, *b, *c]));
            }
        }
        assert_eq!(sets, 11 + 66 + 286, "every multiset of eleven states");
    }

    #[test]
    fn only_an_arm_has_a_parent() {
        assert_eq!(parent_of("S5/api"), Some("S5"));
        assert_eq!(parent_of("S5"), None);
        assert_eq!((root_of("S5/api"), root_of("S5")), ("S5", "S5"));
    }
}
