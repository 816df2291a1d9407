//! The reasons of a verdict: the branch of the tree that decided, then every gate, audit and drift after it.

use super::Verdict;
use serde::{Deserialize, Serialize};

/// The branch that decided, and every cap that lowered it afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Why {
    /// The first step is the branch of the tree; the others lowered its verdict (or explain a note).
    pub steps: Vec<Step>,
}

/// One step of the decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Stable kebab-case name of the branch, gate or audit, such as `fault-not-proven`, `budget-gate`, `weak-oracle-11`.
    pub rule: String,
    /// The verdict after this step.
    pub verdict: Verdict,
    /// In one sentence, with the numbers.
    pub reason: String,
}

impl Why {
    /// The step that made the verdict what it is: the last one that changed it. `None` for an empty record.
    pub fn decisive(&self) -> Option<&Step> {
        let final_verdict = self.steps.last()?.verdict;
        let changed_at = self.steps.iter().rposition(|step| step.verdict != final_verdict).map_or(0, |i| i + 1);
        self.steps.get(changed_at)
    }

    /// One line for a terminal: the reason of the decisive step, without line breaks. A record without steps says so.
    pub fn headline(&self) -> String {
        self.decisive().map_or_else(
            || "no reason on record".to_owned(),
            |step| step.reason.split_whitespace().collect::<Vec<_>>().join(" "),
        )
    }

    /// Steps after the decisive one that changed nothing: what a reader should know beside the reason.
    pub fn notes(&self) -> impl Iterator<Item = &Step> {
        let decisive = self.decisive().map(|step| step as *const Step);
        self.steps.iter().filter(move |step| decisive.is_none_or(|d| !std::ptr::eq(*step, d)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headline_is_the_step_that_last_changed_the_verdict() {
        let step = |rule: &str, verdict| Step { rule: rule.to_owned(), verdict, reason: format!("because\n{rule}") };
        let why = Why {
            steps: vec![
                step("pass", Verdict::PassHardening),
                step("budget-gate", Verdict::PassSmoke),
                step("drift-unknown", Verdict::PassSmoke),
            ],
        };
        assert_eq!(why.headline(), "because budget-gate");
        assert_eq!(why.notes().map(|s| s.rule.as_str()).collect::<Vec<_>>(), ["pass", "drift-unknown"]);
        assert_eq!(Why::default().headline(), "no reason on record");
    }
}
