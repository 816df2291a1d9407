//! Verdict of a scenario with arms, from the verdicts of its arms (format.md §4, D4).

use super::Verdict;

/// The parent's verdict. An arm that did not run, or is partial, caps the whole at PARTIAL-surface, except that arms
/// which all say the same PASS, INCONCLUSIVE or NOT-RUN say it together. No arm at all is NOT-RUN.
pub fn aggregate(arms: &[Verdict]) -> Verdict {
    let Some(first) = arms.first().copied() else { return Verdict::NotRun };
    let any = |wanted: Verdict| arms.contains(&wanted);
    if any(Verdict::FailReproducible) {
        Verdict::FailReproducible
    } else if any(Verdict::FailNondeterministic) {
        Verdict::FailNondeterministic
    } else if arms.iter().all(|arm| *arm == first) && !is_partial(first) {
        first
    } else if arms.iter().any(|arm| !arm.is_pass()) {
        Verdict::PartialSurface
    } else {
        Verdict::PassSmoke
    }
}

/// `S5` of `S5/api`; `None` for a scenario that is no arm.
pub fn parent_of(id: &str) -> Option<&str> {
    id.split_once('/').map(|(parent, _)| parent)
}

fn is_partial(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::PartialSurface | Verdict::PartialModel)
}

#[cfg(test)]
mod tests {
    use super::Verdict::*;
    use super::*;

    #[test]
    fn arms_are_joined_as_the_format_says() {
        let check = |arms: &[Verdict], expect: Verdict| assert_eq!(aggregate(arms), expect, "{arms:?}");
        check(&[], NotRun);
        check(&[PassHardening, PassHardening], PassHardening);
        check(&[PassSmoke, PassHardening], PassSmoke);
        check(&[NotRun, NotRun], NotRun);
        check(&[NotRun, PassHardening], PartialSurface);
        check(&[PartialModel, PartialModel], PartialSurface);
        check(&[PartialSurface], PartialSurface);
        check(&[PartialModel, PassHardening], PartialSurface);
        check(&[InconclusiveEnv, InconclusiveEnv], InconclusiveEnv);
        check(&[InconclusiveEnv, InconclusiveFaultNotProven], PartialSurface);
        check(&[InconclusiveOracleTooWeak, PassSmoke], PartialSurface);
        check(&[FailNondeterministic, NotRun, PassHardening], FailNondeterministic);
        check(&[FailNondeterministic, FailReproducible, PartialSurface], FailReproducible);
    }

    #[test]
    fn a_joined_pass_needs_every_arm_to_pass() {
        for a in Verdict::ALL {
            for b in Verdict::ALL {
                let joined = aggregate(&[a, b]);
                assert_eq!(joined, aggregate(&[b, a]), "the order of arms does not matter");
                assert!(!joined.is_pass() || (a.is_pass() && b.is_pass()), "{a} {b}");
                assert_eq!(joined.is_fail(), a.is_fail() || b.is_fail(), "{a} {b}");
            }
        }
    }

    #[test]
    fn only_an_arm_has_a_parent() {
        assert_eq!(parent_of("S5/api"), Some("S5"));
        assert_eq!(parent_of("S5"), None);
    }
}
