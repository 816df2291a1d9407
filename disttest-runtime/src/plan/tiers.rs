//! Each budget tier by itself: a release budget that cannot be read makes the smoke budget no less readable.

use super::labels::{FAULTS, HARDENING, RELEASE, SMOKE};
use super::model::Scenario;
use super::no_fault::{self, NoFault};
use super::{Budget, Release, parse};

impl Scenario {
    /// The smoke budget, whatever the other tiers say; `None` when it is missing or cannot be read.
    pub fn smoke(&self) -> Option<Budget> {
        self.budget(SMOKE)
    }

    /// The hardening budget, whatever the other tiers say; `None` when it is missing or cannot be read.
    pub fn hardening(&self) -> Option<Budget> {
        self.budget(HARDENING)
    }

    /// The release budget or its disclosure. A dimension it does not name is that of the hardening budget.
    pub fn release(&self) -> Option<Release> {
        let floor = self.hardening().unwrap_or_default();
        parse::release_tier(&self.field(RELEASE)?.value, &floor)
    }

    fn budget(&self, label: &str) -> Option<Budget> {
        let no_faults = self.field(FAULTS).is_some_and(|f| no_fault::read(&f.value) != NoFault::Planned);
        parse::tier(&self.field(label)?.value, no_faults)
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::{Budget, Release, parse};

    #[test]
    fn a_tier_that_cannot_be_read_spoils_no_other() {
        let scenario = |release: &str| {
            let text = format!(
                "## 7. S\n\n### S1: a\n- **Smoke budget:** 2 nodes × 6s × 1 fault × 1 seed\n- **Release budget:** {release}\n"
            );
            parse(&text).0.scenarios.remove(0)
        };
        let smoke = Budget { nodes: 2, seconds: 6, faults: 1, seeds: 1, operations: 0 };
        let vague = scenario("TBD");
        assert_eq!((vague.smoke(), vague.hardening(), vague.release()), (Some(smoke), None, None));
        assert!(vague.budgets.is_none());
        assert!(matches!(scenario("24h × 30 seeds").release(), Some(Release::Budget(b)) if b.seconds == 86_400));
    }
}
