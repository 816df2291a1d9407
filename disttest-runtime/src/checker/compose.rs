//! Several checkers over one history, as one.

use super::{Answer, Checker, Evidence, Limits, Outcome, recipe};
use crate::history::History;
use std::fmt;

/// Runs checkers over the same history and gives one answer.
///
/// - Invalid when any says so, with the violations of all of them.
/// - Else unknown when any is unknown, when any says valid without having made a check or taken an operation into
///   account, and when there are none.
/// - Else valid.
///
/// Checks, partitions and bytes are summed. Operations are not: one that two checkers took is one operation, so
/// `consumed` is what the checker took that took the fewest; an operation that any left out is left out by the whole.
/// Cost: the sum of theirs. An attribute declares checkers one by one, and the verdict wants each of them; `Compose` is
/// for a property of your own that is made of several.
#[must_use = "a checker that is not run finds nothing"]
pub struct Compose {
    name: String,
    checkers: Vec<Box<dyn Checker>>,
}

impl fmt::Debug for Compose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.checkers.iter().map(|checker| checker.name()).collect();
        f.debug_struct("Compose").field("name", &self.name).field("checkers", &names).finish()
    }
}

impl Compose {
    /// A checker of this name, of nothing yet.
    pub fn new(name: &str) -> Compose {
        Compose { name: name.to_owned(), checkers: Vec::new() }
    }

    /// With one more.
    pub fn with(mut self, checker: impl Checker + 'static) -> Compose {
        self.checkers.push(Box::new(checker));
        self
    }

    pub(super) fn with_boxed(mut self, checker: Box<dyn Checker>) -> Compose {
        self.checkers.push(checker);
        self
    }

    /// What each says, with its name before it.
    fn of_each(&self, says: impl Fn(&dyn Checker) -> Vec<String>) -> Vec<String> {
        let mut all = Vec::new();
        for checker in &self.checkers {
            all.extend(says(checker.as_ref()).into_iter().map(|what| format!("{}: {what}", checker.name())));
        }
        all
    }

    /// The answer of each, in order.
    pub fn answers(&self, history: &History, limits: &dyn Limits) -> Vec<Answer> {
        self.checkers.iter().map(|checker| checker.check(history, limits)).collect()
    }
}

/// The outcome of several answers to one history.
pub fn worst(answers: &[Answer]) -> Outcome {
    let (mut violations, mut doubts) = (Vec::new(), Vec::new());
    for answer in answers {
        let name = &answer.checker;
        match &answer.outcome {
            Outcome::Invalid { violations: found } if found.is_empty() => {
                doubts.push(format!("{name}: it said invalid and named no violation"));
            }
            Outcome::Invalid { violations: found } => violations.extend(found.iter().cloned()),
            Outcome::Unknown { why } => doubts.push(format!("{name}: {why}")),
            Outcome::Valid if answer.evidence.consumed == 0 => {
                doubts.push(format!("{name}: it took no operation into account"));
            }
            Outcome::Valid if answer.evidence.fired == 0 => doubts.push(format!("{name}: it made no check")),
            Outcome::Valid => {}
        }
    }
    if answers.is_empty() {
        doubts.push("there is no checker".to_owned());
    }
    match (violations.is_empty(), doubts.is_empty()) {
        (false, _) => Outcome::Invalid { violations },
        (true, false) => Outcome::Unknown { why: doubts.join("; ") },
        (true, true) => Outcome::Valid,
    }
}

impl Checker for Compose {
    fn name(&self) -> &str {
        &self.name
    }

    fn cannot_detect(&self) -> Vec<String> {
        let all = self.of_each(|checker| checker.cannot_detect());
        if all.is_empty() { vec!["anything: there is no checker".to_owned()] } else { all }
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::compose(&self.name, &self.checkers)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        self.of_each(|checker| checker.missing(history))
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let answers = self.answers(history, limits);
        let sum = |of: fn(&Evidence) -> u64| answers.iter().fold(0_u64, |sum, it| sum.saturating_add(of(&it.evidence)));
        let evidence = Evidence {
            recorded: history.ops().len() as u64,
            consumed: answers.iter().map(|answer| answer.evidence.consumed).min().unwrap_or(0),
            fired: sum(|evidence| evidence.fired),
            partitions: sum(|evidence| evidence.partitions),
            peak_bytes: sum(|evidence| evidence.peak_bytes),
        };
        let outcome = worst(&answers);
        Answer { checker: self.name.clone(), model: None, outcome, evidence, cannot_detect: self.cannot_detect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::{Linearizability, NoLostAck, Unlimited, Violation};
    use crate::history::notation::history;
    use crate::model::Register;

    /// Says what it was told to say.
    struct Says(Outcome, u64, u64);

    impl Checker for Says {
        fn name(&self) -> &str {
            "says"
        }

        fn cannot_detect(&self) -> Vec<String> {
            vec!["anything".to_owned()]
        }

        fn missing(&self, _: &History) -> Vec<String> {
            vec!["a field".to_owned()]
        }

        fn check(&self, history: &History, _: &dyn Limits) -> Answer {
            let recorded = history.ops().len() as u64;
            let evidence = Evidence { recorded, consumed: self.1, fired: self.2, partitions: 1, peak_bytes: 5 };
            let (checker, cannot_detect) = ("says".to_owned(), self.cannot_detect());
            Answer { checker, model: None, outcome: self.0.clone(), evidence, cannot_detect }
        }
    }

    fn invalid(kinds: &[&str]) -> Outcome {
        let violation = |kind: &&str| Violation {
            anomaly: (*kind).to_owned(),
            key: None,
            ops: vec![1],
            explanation: String::new(),
        };
        Outcome::Invalid { violations: kinds.iter().map(violation).collect() }
    }

    fn unknown() -> Outcome {
        Outcome::Unknown { why: "no time".to_owned() }
    }

    fn check(says: &[(Outcome, u64, u64)], expect: &str) {
        let each = says.iter().cloned().map(|(outcome, consumed, fired)| Says(outcome, consumed, fired));
        let compose = each.fold(Compose::new("all"), Compose::with);
        let answer = compose.check(&history("c1 read x -> 1 [0..1]\nc1 read x -> 1 [2..3]").expect("ok"), &Unlimited);
        let said = match &answer.outcome {
            Outcome::Valid => "valid".to_owned(),
            Outcome::Invalid { violations } => {
                violations.iter().map(|v| v.anomaly.as_str()).collect::<Vec<_>>().join(" ")
            }
            Outcome::Unknown { why } => why.clone(),
        };
        let Evidence { consumed, fired, .. } = answer.evidence;
        assert_eq!(format!("{said}; {consumed} {fired}"), expect);
    }

    #[test]
    fn the_worst_outcome_is_that_of_all() {
        let valid = Outcome::Valid;
        check(&[(valid.clone(), 2, 3), (valid.clone(), 2, 4)], "valid; 2 7");
        check(&[(valid.clone(), 2, 3), (valid.clone(), 1, 4)], "valid; 1 7");
        check(&[(valid.clone(), 2, 3), (invalid(&["a", "b"]), 2, 1)], "a b; 2 4");
        check(&[(unknown(), 2, 3), (invalid(&["a"]), 2, 1)], "a; 2 4");
        check(&[(invalid(&["a"]), 2, 1), (unknown(), 0, 0), (invalid(&["b"]), 2, 1)], "a b; 0 2");
        check(&[(valid.clone(), 2, 3), (unknown(), 2, 1)], "says: no time; 2 4");
        check(&[(valid.clone(), 2, 3), (valid.clone(), 0, 1)], "says: it took no operation into account; 0 4");
        check(&[(valid.clone(), 2, 3), (valid, 2, 0)], "says: it made no check; 2 3");
        check(&[(invalid(&[]), 2, 3)], "says: it said invalid and named no violation; 2 3");
        check(&[], "there is no checker; 0 0");
    }

    #[test]
    fn real_checkers_compose() {
        let both =
            || Compose::new("both").with(Linearizability::per_key(Register::new())).with(NoLostAck::overwritable());
        let said = |text: &str| both().check(&history(text).expect("a history"), &Unlimited).outcome;
        let valid = "c1 write x 1 [0..1]\nc1 write x 2 [2..3]\nc2 read x -> 2 [4..5]";
        assert_eq!(said(valid), Outcome::Valid);
        assert!(
            matches!(said(&valid.replace("-> 2", "-> 1")), Outcome::Invalid { violations } if violations.len() == 2)
        );
        assert!(matches!(said(""), Outcome::Unknown { .. }));
        assert!(both().cannot_detect().iter().any(|what| what.starts_with("no-lost-ack: ")));
        let missing = Compose::new("m").with(Says(Outcome::Valid, 1, 1)).missing(&history("").expect("empty"));
        assert_eq!(missing, ["says: a field"]);
    }
}
